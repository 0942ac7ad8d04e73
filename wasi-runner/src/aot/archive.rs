//! Native code of installed programs that is shipped with the application: compiled before it is installed, so that the first
//! command needs no compiler.

use std::env::consts::{ARCH, OS};
use std::io;
use std::path::{Path, PathBuf};

use wasmtime::{Config, Engine, Module};

use crate::aot::{CachedArtifact, load_file, write_atomically};
use crate::engine::pooled;
use crate::program::Digest;

/// Processor features that the code uses. Every x86-64 processor since 2009 has them (x86-64-v2).
const X86_64_FEATURES: [&str; 5] = ["has_sse3", "has_ssse3", "has_sse41", "has_sse42", "has_popcnt"];

/// A directory of native code that is part of an installation, with one file per program.
///
/// Loading native code requires the same trust as linking it. The directory must come with the application and be as protected as
/// its binary. A program that is missing, or that this processor or this version cannot run, is compiled as without an archive.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProgramArchive(PathBuf);

impl ProgramArchive {
    /// Uses the files of a directory. `None` if it does not exist.
    pub fn open(path: impl Into<PathBuf>) -> Option<Self> {
        let path = path.into();
        path.is_dir().then_some(Self(path))
    }

    /// Returns the directory.
    pub fn path(&self) -> &Path {
        &self.0
    }

    pub(crate) fn get<T: CachedArtifact>(&self, engine: &Engine, digest: &Digest) -> Option<T> {
        load_file(engine, &entry::<T>(&self.0, digest))
    }
}

/// Compiles programs for an archive: for all processors of this architecture, whatever this one has.
pub(crate) struct ArchiveCompiler(Engine);

impl ArchiveCompiler {
    pub(crate) fn new() -> wasmtime::Result<Self> {
        let mut config = pooled(1);
        // Addresses in the module are only for backtraces, and would be a quarter of the download.
        config.generate_address_map(false);
        set_baseline(&mut config)?;
        Ok(Self(Engine::new(&config)?))
    }

    /// Compiles a module and stores its code in `dir`. Keeps a file that exists, because its name identifies its content.
    pub(crate) fn add(&self, dir: &Path, wasm: &[u8], digest: &Digest) -> io::Result<()> {
        let entry = entry::<Module>(dir, digest);
        if entry.is_file() {
            return Ok(());
        }
        let code = Module::compile(&self.0, wasm).map_err(|error| io::Error::other(format!("{error:#}")))?;
        write_atomically(dir, &entry, &code)
    }
}

fn entry<T: CachedArtifact>(dir: &Path, digest: &Digest) -> PathBuf {
    let digest: String = digest.iter().map(|byte| format!("{byte:02x}")).collect();
    dir.join(format!("{digest}.{}", T::KIND))
}

/// Selects the baseline processor of this architecture. Without a target, Cranelift uses every feature of the processor that it runs
/// on.
#[allow(unsafe_code, reason = "Wasmtime's setters of processor features are unsafe")]
fn set_baseline(config: &mut Config) -> wasmtime::Result<()> {
    let system = match OS {
        "linux" => "unknown-linux-gnu",
        "macos" => "apple-darwin",
        "windows" => "pc-windows-msvc",
        other => wasmtime::bail!("programs cannot be compiled ahead of time for {other}"),
    };
    config.target(&format!("{ARCH}-{system}"))?;
    if cfg!(target_arch = "x86_64") {
        for feature in X86_64_FEATURES {
            // SAFETY: the flags are features of processors, not options that change the meaning of code. The code is run only by
            // `load_file`, which rejects features that the processor lacks.
            unsafe { config.cranelift_flag_enable(feature) };
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicU32, Ordering};

    use tidebox_kernel::fs::FileBytes;

    use super::*;
    use crate::{EngineConfig, WasmtimeEngine};

    fn program() -> FileBytes {
        let text = r#"(module (memory (export "memory") 1) (func (export "_start")))"#;
        FileBytes::from(wat::parse_str(text).expect("the text is a module"))
    }

    fn write_archive(dir: &Path) {
        WasmtimeEngine::write_archive(dir, [&program()], |_| ()).expect("the program is valid");
    }

    fn load(dir: &Path, on_compile: fn()) {
        let archive = ProgramArchive::open(dir);
        assert!(archive.is_some());
        let config = EngineConfig { pool_slots: 4, archive, on_compile: Some(on_compile), ..EngineConfig::default() };
        WasmtimeEngine::new(config).expect("the engine starts").precompile(&program()).expect("the program is valid");
    }

    #[test]
    fn a_program_of_the_archive_needs_no_compiler() {
        let dir = tempfile::tempdir().unwrap();
        write_archive(dir.path());
        load(dir.path(), || panic!("the program is compiled"));
    }

    #[test]
    fn a_damaged_file_of_the_archive_is_compiled() {
        static COMPILED: AtomicU32 = AtomicU32::new(0);
        let dir = tempfile::tempdir().unwrap();
        write_archive(dir.path());
        let files: Vec<_> = std::fs::read_dir(dir.path()).unwrap().map(|entry| entry.unwrap().path()).collect();
        assert_eq!(files.len(), 1);
        std::fs::write(&files[0], "not native code").unwrap();
        load(dir.path(), || {
            COMPILED.fetch_add(1, Ordering::Relaxed);
        });
        assert_eq!(COMPILED.load(Ordering::Relaxed), 1);
    }

    #[test]
    fn a_missing_directory_is_no_archive() {
        assert_eq!(ProgramArchive::open("/nonexistent/programs"), None);
    }
}
