//! Commands of the sandbox that the application implements.

mod files;
mod stream;
#[cfg(test)]
mod tests;

pub use files::{FileAccess, HostFiles};
pub use stream::{BrokenPipe, ByteSink, ByteSource, HostInput, HostOutput};

use std::borrow::Cow;

use crate::backend::BoxFuture;
use crate::path::SandboxPath;
use crate::provider::SandboxId;

/// A command that runs in the application instead of in the sandbox, with the application's authority.
///
/// In the sandbox it is a command like any other: arguments, standard streams, an exit code. Resources of the tool (a token, a
/// connection, a database) stay in the application. Every `Fn(HostCall) -> impl Future<Output = u8>` is a host tool.
///
/// The content of a [`HostCall`] is chosen by a guest and must be treated as hostile. The future is dropped when the command is
/// killed or times out. It is polled in the task of the guests, so it must not block: run long computations on a separate thread.
/// A panic ends the command like an abort, with exit code 134.
pub trait HostTool: Send + Sync {
    /// Handles one call and returns the command's exit code.
    fn call(&self, call: HostCall) -> BoxFuture<'static, u8>;
}

impl<F, Answer> HostTool for F
where
    F: Fn(HostCall) -> Answer + Send + Sync,
    Answer: Future<Output = u8> + Send + 'static,
{
    fn call(&self, call: HostCall) -> BoxFuture<'static, u8> {
        Box::pin(self(call))
    }
}

/// One call of a host tool: the environment of a new process.
#[derive(Debug)]
#[non_exhaustive]
pub struct HostCall {
    /// The calling sandbox.
    pub sandbox: SandboxId,
    /// The arguments. The first is the name by which the tool was called.
    pub arguments: Vec<Vec<u8>>,
    /// The environment, each `NAME=value`.
    pub environment: Vec<Vec<u8>>,
    /// The working directory.
    pub cwd: SandboxPath,
    /// Standard input.
    pub stdin: HostInput,
    /// Standard output.
    pub stdout: HostOutput,
    /// Standard error.
    pub stderr: HostOutput,
    /// The sandbox's files, with the permissions of its user.
    pub files: HostFiles,
}

impl HostCall {
    /// Creates a call without arguments, environment and files, for backend implementations and tests of a tool.
    pub fn new(sandbox: SandboxId, cwd: SandboxPath, stdin: HostInput, stdout: HostOutput, stderr: HostOutput) -> Self {
        let files = HostFiles::none();
        Self { sandbox, arguments: Vec::new(), environment: Vec::new(), cwd, stdin, stdout, stderr, files }
    }

    /// Returns an argument as text, with `U+FFFD` for invalid UTF-8. The first argument after the name is 1.
    pub fn argument(&self, number: usize) -> Option<Cow<'_, str>> {
        self.arguments.get(number).map(|bytes| String::from_utf8_lossy(bytes))
    }

    /// Returns the value of the environment variable `name`.
    pub fn variable(&self, name: &str) -> Option<&[u8]> {
        self.environment.iter().find_map(|pair| pair.strip_prefix(name.as_bytes())?.strip_prefix(b"="))
    }
}
