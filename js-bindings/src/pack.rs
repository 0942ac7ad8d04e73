//! Packs: optional runtimes that JavaScript has located or downloaded (`docs/packs.md`).

use std::sync::Arc;

use js_sys::{Array, Uint8Array};
use tidebox_kernel::GuestMemory;
use tidebox_kernel::fs::FileBytes;
use tidebox_pack_split::split_module;
use tidebox_vfs_backend::{BaseFile, Program};
use wasm_bindgen::prelude::wasm_bindgen;
use wasm_bindgen::{JsError, JsValue};

use crate::js_imports;
use crate::options::{self, get, text};
use crate::program::exceptions;
use crate::rewrite::{RewriteLimits, rewrite, rewrite_preinit};

/// A pack of a sandbox.
#[derive(Debug)]
pub(crate) struct Pack {
    /// Key of its module in JavaScript.
    pub(crate) name: String,
    pub(crate) commands: Vec<String>,
    /// Content of its command files: a unique module that identifies the runtime.
    pub(crate) stub: FileBytes,
    pub(crate) interrupts: Arc<Interrupts>,
    index: String,
    /// A directory of the sandbox whose files also appear in a second one, which the runtime searches first.
    initial_library: Option<(String, String)>,
    /// True if it is a program like those of the package, and its files may be programs and scripts.
    is_program: bool,
}

impl Pack {
    /// Reads a pack; see `PackSettings` in `js/messages.ts`.
    pub(crate) fn new(settings: &JsValue) -> Self {
        let name = text(settings, "name").unwrap_or_default();
        let commands = options::list(&get(settings, "commands")).iter().filter_map(JsValue::as_string).collect();
        let stub = stub(&format!("the runtime of the pack {name} {}", text(settings, "version").unwrap_or_default()));
        let interrupts = Arc::new(Interrupts::parse(&text(settings, "signals").unwrap_or_default()));
        let index = text(settings, "index").unwrap_or_default();
        let initial_library = text(settings, "libraryDir").zip(text(settings, "firstPath"));
        let is_program = get(settings, "isProgram").as_bool().unwrap_or_default();
        Self { name, commands, stub, interrupts, index, initial_library, is_program }
    }

    /// Returns its commands.
    pub(crate) fn program(&self) -> Program {
        Program::new(self.commands.iter().cloned(), self.stub.clone())
    }

    /// Returns its files. Their content is read when they are opened.
    pub(crate) fn files(&self) -> Vec<BaseFile> {
        let name: Arc<str> = self.name.as_str().into();
        let mut files = Vec::new();
        for line in self.index.lines() {
            let Some((len, path)) = line.split_once(' ') else { continue };
            let Ok(len) = len.parse() else { continue };
            let (pack, host) = (Arc::clone(&name), path.to_owned());
            let executable = self.is_program && is_executable(&js_imports::pack_file(&pack, &host));
            let bytes = FileBytes::lazy(len, b"", move || js_imports::pack_file(&pack, &host));
            if let Some((library, initial_library)) = &self.initial_library
                && let Some(rest) = path.strip_prefix(library.as_str())
            {
                files.push(BaseFile { path: format!("{initial_library}{rest}"), bytes: bytes.clone(), executable });
            }
            files.push(BaseFile { path: path.to_owned(), bytes, executable });
        }
        files
    }
}

/// Returns whether a file of a program pack can be executed: a script or a module.
fn is_executable(content: &[u8]) -> bool {
    content.starts_with(b"#!") || content.starts_with(b"\0asm")
}

/// Returns a module that contains only this text, so that each pack has a different one.
fn stub(text: &str) -> FileBytes {
    let name = b"tidebox.pack";
    let mut bytes = b"\0asm\x01\0\0\0\0".to_vec();
    let text = text.get(..text.len().min(100)).unwrap_or_default();
    bytes.push((1 + name.len() + text.len()) as u8);
    bytes.push(name.len() as u8);
    bytes.extend_from_slice(name);
    bytes.extend_from_slice(text.as_bytes());
    bytes.into()
}

/// Bits to set in a program's memory for each signal. They were determined when the memory was created.
#[derive(Debug, Default)]
pub(crate) struct Interrupts(Vec<(u32, u32, u8)>);

impl Interrupts {
    /// Parses lines of signal, address and bits.
    fn parse(text: &str) -> Self {
        let line = |line: &str| {
            let mut numbers = line.split(' ');
            Some((numbers.next()?.parse().ok()?, numbers.next()?.parse().ok()?, numbers.next()?.parse().ok()?))
        };
        Self(text.lines().filter_map(line).collect())
    }

    /// Sets the bits of all signals in `signals`, where bit *n* is signal *n*.
    pub(crate) fn set(&self, memory: &mut dyn GuestMemory, signals: u64) {
        for &(signal, at, bits) in &self.0 {
            let mut byte = [0];
            if signals >> (signal & 63) & 1 == 1 && memory.read(at, &mut byte).is_ok() {
                let [byte] = byte;
                // A readable address is writable.
                let _ = memory.write(at, &[byte | bits]);
            }
        }
    }
}

/// Returns the module of a pack as rewritten for this engine. The caller appends its memory of `pages` pages as data.
///
/// # Errors
/// The reason, if this engine cannot run it.
#[wasm_bindgen(js_name = rewritePack)]
pub fn rewrite_pack(wasm: &[u8], pages: u32) -> Result<Vec<u8>, JsError> {
    rewrite_preinit(wasm, pages, exceptions()).map_err(|error| JsError::new(&error.to_string()))
}

/// Returns the module of a program pack as rewritten for this engine.
///
/// # Errors
/// The reason, if this engine cannot run it.
#[wasm_bindgen(js_name = rewriteProgram)]
pub fn rewrite_program(wasm: &[u8]) -> Result<Vec<u8>, JsError> {
    let limits = RewriteLimits { exceptions: exceptions(), ..RewriteLimits::default() };
    rewrite(wasm, limits).map_err(|error| JsError::new(&error.to_string()))
}

/// Splits the downloaded module of a runtime. Returns an array of the module without its data, the size of its initial memory in
/// bytes, and an array of alternating addresses and bytes of that memory. `exports` are functions that the module has to export
/// additionally.
///
/// # Errors
/// The reason, if the module cannot be split.
#[wasm_bindgen(js_name = splitPackModule)]
pub fn split_pack_module(wasm: &[u8], exports: Vec<String>) -> Result<Array, JsError> {
    let exports: Vec<&str> = exports.iter().map(String::as_str).collect();
    let parts = split_module(wasm, &exports).map_err(|error| JsError::new(&error))?;
    let data = Array::new();
    for (at, bytes) in &parts.data {
        data.push(&(*at as f64).into());
        data.push(&Uint8Array::from(&**bytes).into());
    }
    let module = Uint8Array::from(parts.module.as_slice());
    Ok(Array::of3(&module.into(), &(parts.memory_bytes as f64).into(), &data.into()))
}
