//! Packs: optional runtimes, which JavaScript has found or fetched (`docs/packs.md`).

use std::sync::Arc;

use js_sys::{Array, Uint8Array};
use tidebox_kernel::fs::FileBytes;
use tidebox_kernel::wasi::GuestMem;
use tidebox_pack_module::take_apart;
use tidebox_vfs_backend::Program;
use wasm_bindgen::prelude::wasm_bindgen;
use wasm_bindgen::{JsError, JsValue};

use crate::host;
use crate::options::{self, get, text};
use crate::program::exceptions;
use crate::rewrite::rewrite_prepared;

/// A pack whose commands and files sandboxes have.
#[derive(Debug)]
pub(crate) struct Pack {
    /// What JavaScript knows its module by.
    pub(crate) name: String,
    pub(crate) commands: Vec<String>,
    /// What the file of a command holds: it only has to be a module of its own, for which the runtime is started.
    pub(crate) stub: FileBytes,
    pub(crate) interrupts: Arc<Interrupts>,
    index: String,
    /// A directory of the sandbox whose files show at another one, too, where the runtime looks at first.
    first: Option<(String, String)>,
}

impl Pack {
    /// As JavaScript describes it; see `PackSettings` in `js/messages.ts`.
    pub(crate) fn new(given: &JsValue) -> Self {
        let name = text(given, "name").unwrap_or_default();
        let commands = options::list(&get(given, "commands")).iter().filter_map(JsValue::as_string).collect();
        let stub = stub(&format!("the runtime of the pack {name} {}", text(given, "version").unwrap_or_default()));
        let interrupts = Arc::new(Interrupts::parse(&text(given, "signals").unwrap_or_default()));
        let index = text(given, "index").unwrap_or_default();
        let first = text(given, "libraryDir").zip(text(given, "firstPath"));
        Self { name, commands, stub, interrupts, index, first }
    }

    /// Its commands.
    pub(crate) fn program(&self) -> Program {
        Program::new(self.commands.iter().cloned(), self.stub.clone())
    }

    /// Its files. They are read when somebody opens them.
    pub(crate) fn files(&self) -> Vec<(String, FileBytes)> {
        let name: Arc<str> = self.name.as_str().into();
        let mut files = Vec::new();
        for line in self.index.lines() {
            let Some((len, path)) = line.split_once(' ') else { continue };
            let Ok(len) = len.parse() else { continue };
            let (pack, host) = (Arc::clone(&name), path.to_owned());
            let bytes = FileBytes::elsewhere(len, b"", move || host::pack_file(&pack, &host));
            if let Some((library, first)) = &self.first
                && let Some(rest) = path.strip_prefix(library.as_str())
            {
                files.push((format!("{first}{rest}"), bytes.clone()));
            }
            files.push((path.to_owned(), bytes));
        }
        files
    }
}

/// A module that holds nothing but this text, so that no two packs have the same.
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

/// Bits to set in a program's memory for each signal, by which it learns of it: what its own function was seen to set when the
/// memory was made.
#[derive(Debug, Default)]
pub(crate) struct Interrupts(Vec<(u32, u32, u8)>);

impl Interrupts {
    /// Lines of a signal, an address and bits.
    fn parse(text: &str) -> Self {
        let line = |line: &str| {
            let mut numbers = line.split(' ');
            Some((numbers.next()?.parse().ok()?, numbers.next()?.parse().ok()?, numbers.next()?.parse().ok()?))
        };
        Self(text.lines().filter_map(line).collect())
    }

    /// Sets those of a set of signals, of which bit *n* is signal *n*.
    pub(crate) fn set(&self, memory: &mut dyn GuestMem, signals: u64) {
        for &(signal, at, bits) in &self.0 {
            let mut byte = [0];
            if signals >> (signal & 63) & 1 == 1 && memory.read(at, &mut byte).is_ok() {
                let [byte] = byte;
                // What could be read can be written.
                let _ = memory.write(at, &[byte | bits]);
            }
        }
    }
}

/// The module of a pack as this engine runs it, to which its memory of `pages` is added as data.
///
/// # Errors
/// The reason, where it cannot run in this engine.
#[wasm_bindgen(js_name = rewritePack)]
pub fn rewrite_pack(wasm: &[u8], pages: u32) -> Result<Vec<u8>, JsError> {
    rewrite_prepared(wasm, pages, exceptions()).map_err(|refusal| JsError::new(&refusal.to_string()))
}

/// Takes the module of a runtime, as it was fetched, apart: an array of the module without its data, the number of bytes that its
/// memory begins with, and the pieces of that memory as an array of addresses and bytes in turn. `exports` are functions that the module
/// is to export too.
///
/// # Errors
/// The reason, where it cannot be taken apart.
#[wasm_bindgen(js_name = takePackApart)]
pub fn take_pack_apart(wasm: &[u8], exports: Vec<String>) -> Result<Array, JsError> {
    let exports: Vec<&str> = exports.iter().map(String::as_str).collect();
    let parts = take_apart(wasm, &exports).map_err(|error| JsError::new(&error))?;
    let data = Array::new();
    for (at, bytes) in &parts.data {
        data.push(&(*at as f64).into());
        data.push(&Uint8Array::from(&**bytes).into());
    }
    let module = Uint8Array::from(parts.module.as_slice());
    Ok(Array::of3(&module.into(), &(parts.memory_bytes as f64).into(), &data.into()))
}
