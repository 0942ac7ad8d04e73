//! The ahead-of-time cache: native code of modules that ship with the program, kept between runs.
//!
//! Only modules that the application installed are kept on disk, never one that a guest brought: a guest could fill
//! the disk, and a file of native code must not have its origin in anything a guest or a user supplied.

mod upkeep;

use std::hash::{DefaultHasher, Hash, Hasher};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use wasmtime::component::Component;
use wasmtime::{Engine, Module};

use crate::program::Digest;

/// Ends the names of all entries.
const EXTENSION: &str = "cwasm";

/// Begins the name of a file that is being written.
const UNFINISHED: &str = ".new-";

/// A private folder of native code, one file for each module and engine configuration.
///
/// Loading native code is as trusting as linking it, so the folder must belong to the current user and be writable by
/// nobody else; [`CacheDir::open`] makes sure of that.
#[derive(Clone, Debug)]
pub struct CacheDir(PathBuf);

impl CacheDir {
    /// Opens the folder, making it (mode 0700) when it does not exist.
    ///
    /// # Errors
    /// When it cannot be made, is no folder, or can be written by other users.
    pub fn open(path: impl Into<PathBuf>) -> io::Result<Self> {
        let path = path.into();
        make_private(&path)?;
        check_private(&path)?;
        Ok(Self(path))
    }

    fn entry(&self, engine: &Engine, digest: &Digest, kind: &str) -> PathBuf {
        let mut hasher = DefaultHasher::new();
        engine.precompile_compatibility_hash().hash(&mut hasher);
        let digest: String = digest.iter().map(|byte| format!("{byte:02x}")).collect();
        self.0.join(format!("{digest}-{:016x}.{kind}", hasher.finish()))
    }

    /// A program's native code, where it is kept.
    pub(crate) fn find<T: Native>(&self, engine: &Engine, digest: &Digest) -> Option<T> {
        let entry = self.entry(engine, digest, T::KIND);
        let program = load_file(engine, &entry)?;
        upkeep::note_use(&entry, SystemTime::now());
        Some(program)
    }

    /// Loads a program's native code, compiling and keeping it when it is not there yet. A damaged or foreign file is
    /// replaced. `digest` is that of `wasm`.
    pub(crate) fn load<T: Native>(&self, engine: &Engine, wasm: &[u8], digest: &Digest) -> wasmtime::Result<T> {
        if let Some(program) = self.find(engine, digest) {
            return Ok(program);
        }
        let entry = self.entry(engine, digest, T::KIND);
        let code = T::compile(engine, wasm)?;
        // Only who adds to the folder looks what it holds: a program that is there already starts without delay. What
        // cannot be cleaned is the worry of whoever cleans next.
        let _ = upkeep::clean(&self.0, SystemTime::now());
        match self.store(&entry, &code).ok().and_then(|()| load_file(engine, &entry)) {
            Some(program) => Ok(program),
            // A full disk must not keep a program from running.
            None => T::new(engine, wasm),
        }
    }

    fn store(&self, entry: &Path, code: &[u8]) -> io::Result<()> {
        let mut file = tempfile::Builder::new().prefix(UNFINISHED).tempfile_in(&self.0)?;
        file.write_all(code)?;
        file.persist(entry).map_err(|error| error.error)?;
        Ok(())
    }
}

/// What is compiled.
pub(crate) trait Native: Sized {
    /// Ends the name of a file that holds one.
    const KIND: &'static str;

    /// Compiles it in memory.
    fn new(engine: &Engine, wasm: &[u8]) -> wasmtime::Result<Self>;

    /// Its native code, to be kept.
    fn compile(engine: &Engine, wasm: &[u8]) -> wasmtime::Result<Vec<u8>>;

    /// Takes native code from a file.
    ///
    /// # Safety
    /// The file must hold what [`compile`](Self::compile) made, unchanged, and stay so.
    #[allow(unsafe_code, reason = "native code is trusted as a linked library is")]
    unsafe fn from_file(engine: &Engine, file: &Path) -> wasmtime::Result<Self>;
}

impl Native for Module {
    const KIND: &'static str = "cwasm";

    fn new(engine: &Engine, wasm: &[u8]) -> wasmtime::Result<Self> {
        Self::new(engine, wasm)
    }

    fn compile(engine: &Engine, wasm: &[u8]) -> wasmtime::Result<Vec<u8>> {
        engine.precompile_module(wasm)
    }

    #[allow(unsafe_code, reason = "native code can only be loaded by an unsafe call")]
    unsafe fn from_file(engine: &Engine, file: &Path) -> wasmtime::Result<Self> {
        // SAFETY: as the caller promises.
        unsafe { Self::deserialize_file(engine, file) }
    }
}

impl Native for Component {
    const KIND: &'static str = "component.cwasm";

    fn new(engine: &Engine, wasm: &[u8]) -> wasmtime::Result<Self> {
        Self::new(engine, wasm)
    }

    fn compile(engine: &Engine, wasm: &[u8]) -> wasmtime::Result<Vec<u8>> {
        engine.precompile_component(wasm)
    }

    #[allow(unsafe_code, reason = "native code can only be loaded by an unsafe call")]
    unsafe fn from_file(engine: &Engine, file: &Path) -> wasmtime::Result<Self> {
        // SAFETY: as the caller promises.
        unsafe { Self::deserialize_file(engine, file) }
    }
}

#[allow(unsafe_code, reason = "native code can only be loaded by an unsafe call")]
fn load_file<T: Native>(engine: &Engine, entry: &Path) -> Option<T> {
    if !entry.is_file() {
        return None;
    }
    // SAFETY: the file lies in a folder that only this user can write (`check_private`), and only `store` above puts
    // files there, whole or not at all, with code that this engine's own compiler made. Wasmtime itself refuses a file
    // of another version or configuration.
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
    // A file just made belongs to the current user: its owner is compared, since the standard library cannot ask for
    // the user id.
    let probe = tempfile::NamedTempFile::new_in(path)?.as_file().metadata()?;
    if !found.is_dir() || found.mode() & 0o022 != 0 || found.uid() != probe.uid() {
        return Err(io::Error::new(
            io::ErrorKind::PermissionDenied,
            format!(
                "{}: native code is not kept in a folder that other users can write; run `chmod 700` on it or name another",
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
