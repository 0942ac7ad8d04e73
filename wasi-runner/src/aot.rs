//! Ahead-of-time compilation cache: native code of installed modules, stored on disk across runs.
//!
//! Only modules installed by the application are cached, never modules supplied by a guest: a guest could fill the
//! disk, and a native code file must not derive from anything that a guest or a user supplied.

mod archive;
mod eviction;

use std::hash::{DefaultHasher, Hash, Hasher};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use wasmtime::component::Component;
use wasmtime::{Engine, Module};

use crate::program::Digest;
pub(crate) use archive::ArchiveCompiler;
pub use archive::ProgramArchive;

/// Suffix of all entry names.
const EXTENSION: &str = "cwasm";

/// Name prefix of a file that is being written.
const TEMP_PREFIX: &str = ".new-";

/// A private directory of native code, with one file per module and engine configuration.
///
/// Loading native code requires the same trust as linking it. The directory must therefore belong to the current user
/// and must not be writable by other users; [`CacheDir::open`] checks both.
#[derive(Clone, Debug)]
pub struct CacheDir(PathBuf);

impl CacheDir {
    /// Opens the directory and creates it with mode 0700 if it does not exist.
    ///
    /// # Errors
    ///
    /// If it cannot be created, is not a directory, or is writable by other users.
    pub fn open(path: impl Into<PathBuf>) -> io::Result<Self> {
        let path = path.into();
        make_private(&path)?;
        check_private(&path)?;
        Ok(Self(path))
    }

    /// Checks that native code can be stored. A directory that is only readable is used for what it contains.
    ///
    /// # Errors
    ///
    /// If no file can be created in it.
    pub fn check_writable(&self) -> io::Result<()> {
        tempfile::NamedTempFile::new_in(&self.0).map(drop)
    }

    fn entry(&self, engine: &Engine, digest: &Digest, kind: &str) -> PathBuf {
        let mut hasher = DefaultHasher::new();
        engine.precompile_compatibility_hash().hash(&mut hasher);
        let digest: String = digest.iter().map(|byte| format!("{byte:02x}")).collect();
        self.0.join(format!("{digest}-{:016x}.{kind}", hasher.finish()))
    }

    /// Returns the cached native code of a program.
    pub(crate) fn get<T: CachedArtifact>(&self, engine: &Engine, digest: &Digest) -> Option<T> {
        let entry = self.entry(engine, digest, T::KIND);
        let program = load_file(engine, &entry)?;
        eviction::touch(&entry, SystemTime::now());
        Some(program)
    }

    /// Loads a program's native code, or compiles and stores it if it is missing. A corrupt or incompatible file is
    /// replaced. `digest` is that of `wasm`.
    pub(crate) fn load<T: CachedArtifact>(&self, engine: &Engine, wasm: &[u8], digest: &Digest) -> wasmtime::Result<T> {
        if let Some(program) = self.get(engine, digest) {
            return Ok(program);
        }
        let entry = self.entry(engine, digest, T::KIND);
        let code = T::compile(engine, wasm)?;
        // Evict only when an entry is added, so that starting a cached program has no delay. Errors are ignored; the
        // next eviction tries again.
        let _ = eviction::evict(&self.0, SystemTime::now());
        match write_atomically(&self.0, &entry, &code).ok().and_then(|()| load_file(engine, &entry)) {
            Some(program) => Ok(program),
            // A full disk must not prevent a program from running.
            None => T::new(engine, wasm),
        }
    }
}

/// Writes a file of `dir`: with its whole content, or not at all.
fn write_atomically(dir: &Path, entry: &Path, code: &[u8]) -> io::Result<()> {
    let mut file = tempfile::Builder::new().prefix(TEMP_PREFIX).tempfile_in(dir)?;
    file.write_all(code)?;
    file.persist(entry).map_err(|error| error.error)?;
    Ok(())
}

/// A compiled artifact that can be cached: a module or a component.
pub(crate) trait CachedArtifact: Sized {
    /// Suffix of the cache file name.
    const KIND: &'static str;

    /// Compiles in memory.
    fn new(engine: &Engine, wasm: &[u8]) -> wasmtime::Result<Self>;

    /// Compiles to native code for storage.
    fn compile(engine: &Engine, wasm: &[u8]) -> wasmtime::Result<Vec<u8>>;

    /// Loads native code from a file.
    ///
    /// # Safety
    ///
    /// The file must contain the unmodified output of [`compile`](Self::compile) and must not change afterwards.
    #[allow(unsafe_code, reason = "native code is trusted as a linked library is")]
    unsafe fn from_file(engine: &Engine, file: &Path) -> wasmtime::Result<Self>;

    /// Loads native code from memory.
    ///
    /// # Safety
    ///
    /// The bytes must be the unmodified output of [`compile`](Self::compile).
    #[allow(unsafe_code, reason = "native code is trusted as a linked library is")]
    unsafe fn from_bytes(engine: &Engine, code: &[u8]) -> wasmtime::Result<Self>;
}

impl CachedArtifact for Module {
    const KIND: &'static str = "cwasm";

    fn new(engine: &Engine, wasm: &[u8]) -> wasmtime::Result<Self> {
        Self::new(engine, wasm)
    }

    fn compile(engine: &Engine, wasm: &[u8]) -> wasmtime::Result<Vec<u8>> {
        engine.precompile_module(wasm)
    }

    #[allow(unsafe_code, reason = "native code can only be loaded by an unsafe call")]
    unsafe fn from_file(engine: &Engine, file: &Path) -> wasmtime::Result<Self> {
        // SAFETY: the caller upholds the contract of `from_file`.
        unsafe { Self::deserialize_file(engine, file) }
    }

    #[allow(unsafe_code, reason = "native code can only be loaded by an unsafe call")]
    unsafe fn from_bytes(engine: &Engine, code: &[u8]) -> wasmtime::Result<Self> {
        // SAFETY: the caller upholds the contract of `from_bytes`.
        unsafe { Self::deserialize(engine, code) }
    }
}

impl CachedArtifact for Component {
    const KIND: &'static str = "component.cwasm";

    fn new(engine: &Engine, wasm: &[u8]) -> wasmtime::Result<Self> {
        Self::new(engine, wasm)
    }

    fn compile(engine: &Engine, wasm: &[u8]) -> wasmtime::Result<Vec<u8>> {
        engine.precompile_component(wasm)
    }

    #[allow(unsafe_code, reason = "native code can only be loaded by an unsafe call")]
    unsafe fn from_file(engine: &Engine, file: &Path) -> wasmtime::Result<Self> {
        // SAFETY: the caller upholds the contract of `from_file`.
        unsafe { Self::deserialize_file(engine, file) }
    }

    #[allow(unsafe_code, reason = "native code can only be loaded by an unsafe call")]
    unsafe fn from_bytes(engine: &Engine, code: &[u8]) -> wasmtime::Result<Self> {
        // SAFETY: the caller upholds the contract of `from_bytes`.
        unsafe { Self::deserialize(engine, code) }
    }
}

#[allow(unsafe_code, reason = "native code can only be loaded by an unsafe call")]
fn load_file<T: CachedArtifact>(engine: &Engine, entry: &Path) -> Option<T> {
    if !entry.is_file() {
        return None;
    }
    // SAFETY: the file is in a directory that only this user can write (`check_private`), or in one that the application
    // ships with its binary. Only `write_atomically` creates files there, with code from this engine's own compiler.
    // Wasmtime rejects files of another version or configuration, or for another processor.
    unsafe { T::from_file(engine, entry) }.ok()
}

#[cfg(unix)]
fn make_private(path: &Path) -> io::Result<()> {
    use std::os::unix::fs::DirBuilderExt;
    std::fs::DirBuilder::new().recursive(true).mode(0o700).create(path)
}

#[cfg(not(unix))]
fn make_private(path: &Path) -> io::Result<()> {
    std::fs::create_dir_all(path)
}

#[cfg(unix)]
fn check_private(path: &Path) -> io::Result<()> {
    use std::os::unix::fs::MetadataExt;
    let found = std::fs::metadata(path)?;
    // A directory that this process cannot write is fine: a confined process only reads it.
    if !found.is_dir() || found.mode() & 0o022 != 0 || found.uid() != rustix::process::geteuid().as_raw() {
        return Err(io::Error::new(
            io::ErrorKind::PermissionDenied,
            format!(
                "{}: cannot store native code in a directory that other users can write; run `chmod 700` on it or choose another",
                path.display()
            ),
        ));
    }
    Ok(())
}

#[cfg(not(unix))]
fn check_private(path: &Path) -> io::Result<()> {
    std::fs::metadata(path).map(|_| ())
}
