//! WebAssembly programs of the caller, installed as commands.

use std::collections::BTreeSet;

use tidebox_core::{Error, ErrorKind, Result};
use tidebox_kernel::fs::{FileBytes, Fs};

use crate::builder::SandboxBuilder;
use crate::image::is_command_name;
use crate::{ROOT, transfer};

/// Directory of the caller's programs. It comes first in `PATH`, so that they can override programs of the userland.
pub(crate) const COMMAND_DIR: &str = "/usr/local/bin";

/// Mode: everyone can read and run it, only root can write it.
const MODE: u32 = 0o755;

/// Version fields after the magic of a module and of a component; each has one version.
const MODULE: [u8; 4] = [1, 0, 0, 0];
const COMPONENT: [u8; 4] = [13, 0, 1, 0];

impl SandboxBuilder {
    /// Installs a WebAssembly program as the command `/usr/local/bin/<name>`: a WASI preview1 module or a component of
    /// the world `wasi:cli/command`. It is an ordinary process: it works in pipes, `which` finds it, limits apply to
    /// it. The file belongs to root, has mode 755 and is not charged to the sandbox.
    ///
    /// Sandboxes with the same `Arc` share the bytes, and equal bytes are compiled once per engine. A command of this
    /// name in `/bin` stays, but `PATH` finds this one first.
    ///
    /// [`build`](Self::build) rejects a name that is not a valid file name or is used twice, and bytes that are not
    /// WebAssembly.
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

/// Installs the programs in the command directory.
pub(crate) fn install(fs: &mut Fs, tools: Vec<Tool>) -> Result<()> {
    let mut names = BTreeSet::new();
    for tool in tools {
        let name = tool.name.as_str();
        if !is_command_name(name) {
            return Err(tool_error(name, "invalid command name; use a file name without slashes"));
        }
        if !names.insert(name.to_owned()) {
            return Err(tool_error(name, "two programs have this name; remove one of them"));
        }
        check(&tool.wasm).map_err(|what| tool_error(name, what))?;
        let path = format!("{COMMAND_DIR}/{name}");
        fs.install(path.as_bytes(), tool.wasm.clone(), MODE, ROOT.uid)
            .map_err(|errno| tool_error(name, &format!("cannot create {path}: {errno}")))?;
    }
    Ok(())
}

/// Checks the header of a program. The compiler checks the rest when the program is first started.
fn check(wasm: &[u8]) -> std::result::Result<(), &'static str> {
    match wasm.strip_prefix(transfer::WASM_MAGIC).map(<[u8]>::first_chunk) {
        Some(Some(&(MODULE | COMPONENT))) => Ok(()),
        Some(_) => Err("the bytes are WebAssembly of a version that is not known; build a module or a component"),
        None if wasm.trim_ascii_start().starts_with(b"(") => {
            Err("the bytes are WebAssembly in its text form; translate them first, for example with `wasm-tools parse`")
        }
        None => Err("the bytes are not WebAssembly; pass the contents of a .wasm file"),
    }
}

fn tool_error(name: &str, why: &str) -> Error {
    let message = format!("cannot install the tool '{}': {why}", name.escape_debug());
    Error::new(ErrorKind::InvalidRequest, "build sandbox", message)
}
