//! Which module a process runs, and whether JavaScript has it already.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::{Arc, Mutex};

use js_sys::{Uint8Array, WebAssembly};
use sha2::{Digest as _, Sha256};
use tidebox_core::Limits;
use tidebox_kernel::Image;
use tidebox_kernel::fs::FileBytes;
use tidebox_vfs_backend::Program;

use crate::host;
use crate::pack::{Interrupts, Pack};
use crate::rewrite::{Bounds, Exceptions, Refusal, rewrite};

/// A program of the package, as its list tells: modules that were rewritten when the package was built.
#[derive(Clone, Debug)]
pub(crate) struct Listed {
    /// Name of its file; JavaScript knows it by that.
    pub(crate) file: String,
    pub(crate) bytes: usize,
    /// SHA-256 of the file in hexadecimal, so that a copy which a guest makes is known again.
    pub(crate) digest: String,
    pub(crate) commands: Vec<String>,
}

/// A module to run.
#[derive(Debug)]
pub(crate) enum Found {
    /// One that JavaScript has, or finds in the package.
    Known(String),
    /// One that was just rewritten.
    New(String, Vec<u8>),
}

/// The programs of the package.
pub(crate) struct Programs {
    by_address: BTreeMap<usize, (FileBytes, String)>,
    by_digest: BTreeMap<String, String>,
    packs: BTreeMap<usize, Pack>,
    /// Programs that were refused are asked for again by scripts in a loop; the reason does not change.
    refused: Mutex<Option<(String, Refusal)>>,
}

impl fmt::Debug for Programs {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Programs").field("installed", &self.by_address.len()).finish_non_exhaustive()
    }
}

impl Programs {
    /// What the base image is to hold, and how to know it again. The bytes stay in the package until somebody reads them.
    pub(crate) fn new(listed: Vec<Listed>) -> (Self, Vec<Program>) {
        let mut this = Self {
            by_address: BTreeMap::new(),
            by_digest: BTreeMap::new(),
            packs: BTreeMap::new(),
            refused: Mutex::new(None),
        };
        let mut programs = Vec::new();
        for program in listed {
            let file = program.file.clone();
            let bytes = FileBytes::elsewhere(program.bytes, b"\0asm", move || host::program_bytes(&file));
            this.by_address.insert(bytes.address(), (bytes.clone(), program.file.clone()));
            this.by_digest.insert(program.digest, program.file);
            programs.push(Program::new(program.commands, bytes));
        }
        (this, programs)
    }

    /// Takes in a pack, whose commands are known by the address of what stands for its runtime.
    pub(crate) fn add(&mut self, pack: Pack) {
        self.packs.insert(pack.stub.address(), pack);
    }

    fn pack(&self, image: &Image) -> Option<&Pack> {
        self.packs.get(&image.contents.shared()?.address())
    }

    /// How a program learns of signals, where it does so by its memory.
    pub(crate) fn interrupts(&self, image: &Image) -> Option<Arc<Interrupts>> {
        self.pack(image).map(|pack| Arc::clone(&pack.interrupts))
    }

    pub(crate) fn find(&self, image: &Image, limits: &Limits) -> Result<Found, Refusal> {
        if let Some(pack) = self.pack(image) {
            return Ok(Found::Known(pack.name.clone()));
        }
        if let Some((_, file)) = image.contents.shared().and_then(|bytes| self.by_address.get(&bytes.address())) {
            return Ok(Found::Known(file.clone()));
        }
        let wasm = image.contents.as_bytes();
        let digest: String = Sha256::digest(&wasm).iter().map(|byte| format!("{byte:02x}")).collect();
        if let Some(file) = self.by_digest.get(&digest) {
            return Ok(Found::Known(file.clone()));
        }
        if host::program_known(&digest) {
            return Ok(Found::Known(digest));
        }
        let mut refused = self.refused.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        if let Some((_, refusal)) = refused.as_ref().filter(|(known, _)| *known == digest) {
            return Err(refusal.clone());
        }
        let bounds =
            Bounds { memory_bytes: limits.process_memory_bytes, exceptions: exceptions(), ..Bounds::default() };
        rewrite(&wasm, bounds).map(|wasm| Found::New(digest.clone(), wasm)).inspect_err(|refusal| {
            *refused = Some((digest, refusal.clone()));
        })
    }
}

/// A module of one function with this body.
const fn probe(body: [u8; 6]) -> [u8; 28] {
    let [a, b, c, d, e, f] = body;
    [0, b'a', b's', b'm', 1, 0, 0, 0, 1, 4, 1, 0x60, 0, 0, 3, 2, 1, 0, 10, 8, 1, 6, a, b, c, d, e, f]
}

/// `try_table end`.
const STANDARD: [u8; 28] = probe([0, 0x1f, 0x40, 0, 0x0b, 0x0b]);
/// `try catch_all end`.
const LEGACY: [u8; 28] = probe([0, 0x06, 0x40, 0x19, 0x0b, 0x0b]);

/// Which exceptions the engine that this module runs in has.
pub(crate) fn exceptions() -> Exceptions {
    thread_local! {
        static FOUND: Exceptions = {
            let has = |module: &[u8]| WebAssembly::validate(&Uint8Array::from(module)).unwrap_or(false);
            Exceptions { standard: has(&STANDARD), legacy: has(&LEGACY) }
        };
    }
    FOUND.with(|found| *found)
}

#[cfg(test)]
mod tests {
    use wasmparser::{Validator, WasmFeatures};

    use super::{LEGACY, STANDARD};

    #[test]
    fn engines_are_asked_with_modules_that_need_the_one_kind_of_exceptions() {
        let standard = WasmFeatures::WASM2.union(WasmFeatures::EXCEPTIONS);
        let validates = |features, module: &[u8]| Validator::new_with_features(features).validate_all(module).is_ok();
        assert!(validates(standard, &STANDARD) && !validates(WasmFeatures::WASM2, &STANDARD));
        assert!(validates(standard.union(WasmFeatures::LEGACY_EXCEPTIONS), &LEGACY) && !validates(standard, &LEGACY));
    }
}
