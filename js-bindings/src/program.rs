//! Selects the module of a process, and tracks which modules JavaScript has.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use js_sys::{Uint8Array, WebAssembly};
use sha2::{Digest as _, Sha256};
use tidebox_core::Limits;
use tidebox_core::lock::Mutex;
use tidebox_kernel::Executable;
use tidebox_kernel::fs::FileBytes;
use tidebox_vfs_backend::Program;

use crate::js_imports;
use crate::pack::{Interrupts, Pack};
use crate::rewrite::{Exceptions, RewriteError, RewriteLimits, rewrite};

/// A program of the package, from its list: modules that were rewritten when the package was built.
#[derive(Clone, Debug)]
pub(crate) struct PackageProgram {
    /// Name of its file, its key in JavaScript.
    pub(crate) file: String,
    pub(crate) bytes: usize,
    /// SHA-256 of the file in hexadecimal, which identifies copies made by guests.
    pub(crate) digest: String,
    pub(crate) commands: Vec<String>,
}

impl PackageProgram {
    /// Parses a line of the list that the build passes: file, length, digest and commands, separated by spaces.
    pub(crate) fn parse(line: &str) -> Option<Self> {
        let mut words = line.split(' ');
        Some(Self {
            file: words.next()?.to_owned(),
            bytes: words.next()?.parse().ok()?,
            digest: words.next()?.to_owned(),
            commands: words.map(str::to_owned).collect(),
        })
    }
}

/// A module to run.
#[derive(Debug)]
pub(crate) enum ModuleSource {
    /// A module that JavaScript has or can load from the package.
    Loaded(String),
    /// A newly rewritten module.
    New(String, Vec<u8>),
}

/// The programs of the package.
pub(crate) struct Programs {
    by_address: BTreeMap<usize, (FileBytes, String)>,
    by_digest: BTreeMap<String, String>,
    packs: BTreeMap<usize, Pack>,
    /// The last rejected program and the memory limit: scripts may start it repeatedly, and the reason does not change.
    rejected: Mutex<Option<(String, u64, RewriteError)>>,
}

impl fmt::Debug for Programs {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Programs").field("installed", &self.by_address.len()).finish_non_exhaustive()
    }
}

impl Programs {
    /// Returns the table, and the programs of the base image. Their bytes are loaded when they are first read.
    pub(crate) fn new(package: Vec<PackageProgram>) -> (Self, Vec<Program>) {
        let mut this = Self {
            by_address: BTreeMap::new(),
            by_digest: BTreeMap::new(),
            packs: BTreeMap::new(),
            rejected: Mutex::new(None),
        };
        let mut programs = Vec::new();
        for program in package {
            let file = program.file.clone();
            let bytes = FileBytes::lazy(program.bytes, b"\0asm", move || js_imports::program_bytes(&file));
            this.by_address.insert(bytes.address(), (bytes.clone(), program.file.clone()));
            this.by_digest.insert(program.digest, program.file);
            programs.push(Program::new(program.commands, bytes));
        }
        (this, programs)
    }

    /// Adds a pack. Its commands are identified by the address of its stub.
    pub(crate) fn add(&mut self, pack: Pack) {
        self.packs.insert(pack.stub.address(), pack);
    }

    fn pack(&self, image: &Executable) -> Option<&Pack> {
        self.packs.get(&image.contents.shared()?.address())
    }

    /// Returns the signal flags of a program that is notified through its memory.
    pub(crate) fn interrupts(&self, image: &Executable) -> Option<Arc<Interrupts>> {
        self.pack(image).map(|pack| Arc::clone(&pack.interrupts))
    }

    /// Selects the module of a process of `sandbox`.
    pub(crate) fn find(&self, sandbox: u32, image: &Executable, limits: &Limits) -> Result<ModuleSource, RewriteError> {
        if let Some(pack) = self.pack(image) {
            return Ok(ModuleSource::Loaded(pack.name.clone()));
        }
        if let Some((_, file)) = image.contents.shared().and_then(|bytes| self.by_address.get(&bytes.address())) {
            return Ok(ModuleSource::Loaded(file.clone()));
        }
        let wasm = image.contents.as_bytes();
        let digest: String = Sha256::digest(&wasm).iter().map(|byte| format!("{byte:02x}")).collect();
        if let Some(file) = self.by_digest.get(&digest) {
            return Ok(ModuleSource::Loaded(file.clone()));
        }
        if js_imports::has_program(sandbox, &digest) {
            return Ok(ModuleSource::Loaded(digest));
        }
        let memory_bytes = limits.process_memory_bytes;
        let mut rejected = self.rejected.lock();
        if let Some((known, known_bytes, error)) = rejected.as_ref()
            && (known.as_str(), *known_bytes) == (digest.as_str(), memory_bytes)
        {
            return Err(error.clone());
        }
        let rewrite_limits = RewriteLimits { memory_bytes, exceptions: exceptions(), ..RewriteLimits::default() };
        rewrite(&wasm, rewrite_limits).map(|wasm| ModuleSource::New(digest.clone(), wasm)).inspect_err(|error| {
            *rejected = Some((digest, memory_bytes, error.clone()));
        })
    }
}

/// Returns a module with one function that has this body.
const fn probe(body: [u8; 6]) -> [u8; 28] {
    let [a, b, c, d, e, f] = body;
    [0, b'a', b's', b'm', 1, 0, 0, 0, 1, 4, 1, 0x60, 0, 0, 3, 2, 1, 0, 10, 8, 1, 6, a, b, c, d, e, f]
}

/// `try_table end`.
const STANDARD: [u8; 28] = probe([0, 0x1f, 0x40, 0, 0x0b, 0x0b]);
/// `try catch_all end`.
const LEGACY: [u8; 28] = probe([0, 0x06, 0x40, 0x19, 0x0b, 0x0b]);

/// Returns the exception proposals that the engine supports.
pub(crate) fn exceptions() -> Exceptions {
    thread_local! {
        static SUPPORTED: Exceptions = {
            let has = |module: &[u8]| WebAssembly::validate(&Uint8Array::from(module)).unwrap_or(false);
            Exceptions { standard: has(&STANDARD), legacy: has(&LEGACY) }
        };
    }
    SUPPORTED.with(|found| *found)
}

#[cfg(test)]
mod tests {
    use wasmparser::{Validator, WasmFeatures};

    use super::{LEGACY, STANDARD};

    #[test]
    fn probe_modules_need_exactly_one_exception_proposal() {
        let standard = WasmFeatures::WASM2.union(WasmFeatures::EXCEPTIONS);
        let validates = |features, module: &[u8]| Validator::new_with_features(features).validate_all(module).is_ok();
        assert!(validates(standard, &STANDARD) && !validates(WasmFeatures::WASM2, &STANDARD));
        assert!(validates(standard.union(WasmFeatures::LEGACY_EXCEPTIONS), &LEGACY) && !validates(standard, &LEGACY));
    }
}
