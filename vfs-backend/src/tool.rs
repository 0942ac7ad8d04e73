//! Programs of the caller: WebAssembly that the sandbox has as a command.

use std::collections::BTreeSet;

use tidebox_core::{Error, ErrorKind, Result};
use tidebox_kernel::fs::{FileBytes, Fs};

use crate::builder::SandboxBuilder;
use crate::image::is_command_name;
use crate::{ROOT, transfer};

/// Where a caller's programs are. It comes first in `PATH`, so that one of them can take the place of a program of the
/// userland.
pub(crate) const FOLDER: &str = "/usr/local/bin";

/// Read and run by everybody, changed by nobody.
const MODE: u32 = 0o755;

/// What follows the magic in a module and in a component, of which each has one version so far.
const MODULE: [u8; 4] = [1, 0, 0, 0];
const COMPONENT: [u8; 4] = [13, 0, 1, 0];

impl SandboxBuilder {
    /// Makes a WebAssembly program a command, `/usr/local/bin/<name>`: a WASI preview1 module or a component of the world
    /// `wasi:cli/command`. It is a process like every other: it works in pipes, `which` finds it, limits bind it. The file
    /// belongs to root, has mode 755 and is not charged to the sandbox.
    ///
    /// Sandboxes that are given the same `Arc` share the bytes, and equal bytes are compiled once for an engine. A
    /// command of this name in `/bin` stays, but `PATH` finds this one first.
    ///
    /// [`build`](Self::build) refuses a name that cannot be a file's or is given twice, and bytes that are no WebAssembly.
    #[must_use]
    pub fn tool(mut self, name: impl Into<String>, wasm: impl Into<FileBytes>) -> Self {
        self.tools.push(Tool { name: name.into(), wasm: wasm.into() });
        self
    }
}

/// A program to install.
#[derive(Clone, Debug)]
pub(crate) struct Tool {
    pub(crate) name: String,
    wasm: FileBytes,
}

/// Puts the programs where commands are looked for.
pub(crate) fn install(fs: &mut Fs, tools: Vec<Tool>) -> Result<()> {
    let mut names = BTreeSet::new();
    for tool in tools {
        let name = tool.name.as_str();
        if !is_command_name(name) {
            return Err(refused(name, "this cannot be a command's name; use a file name without slashes"));
        }
        if !names.insert(name.to_owned()) {
            return Err(refused(name, "two programs were given this name; leave one of them out"));
        }
        check(&tool.wasm).map_err(|what| refused(name, what))?;
        let path = format!("{FOLDER}/{name}");
        fs.install(path.as_bytes(), tool.wasm.clone(), MODE, ROOT.uid)
            .map_err(|errno| refused(name, &format!("{path} cannot be made: {errno}")))?;
    }
    Ok(())
}

/// Whether it begins as a program does. What comes after that is for the compiler, when the program is first started.
fn check(wasm: &[u8]) -> std::result::Result<(), &'static str> {
    match wasm.strip_prefix(transfer::WASM_MAGIC).map(<[u8]>::first_chunk) {
        Some(Some(&(MODULE | COMPONENT))) => Ok(()),
        Some(_) => Err("the bytes are WebAssembly of a version that is not known; build a module or a component"),
        None if wasm.trim_ascii_start().starts_with(b"(") => {
            Err("the bytes are WebAssembly in its text form; translate them first, for example with `wasm-tools parse`")
        }
        None => Err("the bytes are no WebAssembly; give the contents of a .wasm file"),
    }
}

fn refused(name: &str, why: &str) -> Error {
    let message = format!("the tool '{}' cannot be installed: {why}", name.escape_debug());
    Error::new(ErrorKind::InvalidRequest, "make sandbox", message)
}
