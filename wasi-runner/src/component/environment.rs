//! `wasi:cli/environment` and `wasi:cli/exit`: arguments, variables, working directory and exit.

use wasmtime_wasi::p2::bindings::cli::{environment, exit};

use super::errors;
use super::host::Host;
use crate::call::GuestExit;

/// Converts to UTF-8, as components require; invalid bytes become U+FFFD.
fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

impl environment::Host for Host {
    fn get_environment(&mut self) -> wasmtime::Result<Vec<(String, String)>> {
        let variables = self.handle.call(|kernel, pid| kernel.environment(pid)).map_err(errors::trap)?;
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
        let arguments = self.handle.call(|kernel, pid| kernel.arguments(pid)).map_err(errors::trap)?;
        Ok(arguments.iter().map(|argument| text(argument)).collect())
    }

    fn initial_cwd(&mut self) -> wasmtime::Result<Option<String>> {
        // A removed directory has no path.
        Ok(self.handle.call(|kernel, pid| kernel.working_directory(pid)).ok().map(|path| text(&path)))
    }
}

impl exit::Host for Host {
    fn exit(&mut self, status: Result<(), ()>) -> wasmtime::Result<()> {
        Err(wasmtime::Error::new(GuestExit::Exit(i32::from(status.is_err()))))
    }

    fn exit_with_code(&mut self, code: u8) -> wasmtime::Result<()> {
        Err(wasmtime::Error::new(GuestExit::Exit(code.into())))
    }
}
