//! What a process was started with, and how it leaves.

use wasmtime_wasi::p2::bindings::cli::{environment, exit};

use super::failure;
use super::host::Host;
use crate::call::Leave;

/// Strings of components are UTF-8; what is not becomes U+FFFD.
fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

impl environment::Host for Host {
    fn get_environment(&mut self) -> wasmtime::Result<Vec<(String, String)>> {
        let variables = self.handle.ask(|kernel, pid| kernel.environment(pid)).map_err(failure::trap)?;
        Ok(variables
            .iter()
            .map(|variable| match variable.iter().position(|byte| *byte == b'=') {
                Some(at) => {
                    let (name, value) = variable.split_at(at);
                    (text(name), text(value.strip_prefix(b"=").unwrap_or(value)))
                }
                None => (text(variable), String::new()),
            })
            .collect())
    }

    fn get_arguments(&mut self) -> wasmtime::Result<Vec<String>> {
        let arguments = self.handle.ask(|kernel, pid| kernel.arguments(pid)).map_err(failure::trap)?;
        Ok(arguments.iter().map(|argument| text(argument)).collect())
    }

    fn initial_cwd(&mut self) -> wasmtime::Result<Option<String>> {
        // A directory that was removed has no path.
        Ok(self.handle.ask(|kernel, pid| kernel.working_directory(pid)).ok().map(|path| text(&path)))
    }
}

impl exit::Host for Host {
    fn exit(&mut self, status: Result<(), ()>) -> wasmtime::Result<()> {
        Err(wasmtime::Error::new(Leave::Exit(i32::from(status.is_err()))))
    }

    fn exit_with_code(&mut self, code: u8) -> wasmtime::Result<()> {
        Err(wasmtime::Error::new(Leave::Exit(code.into())))
    }
}
