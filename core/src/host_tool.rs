//! Commands of the sandbox that the application answers itself.

mod files;
mod stream;
#[cfg(test)]
mod tests;

pub use files::{FileAccess, HostFiles};
pub use stream::{ByteSink, ByteSource, Disconnected, HostInput, HostOutput};

use std::borrow::Cow;

use crate::backend::BoxFuture;
use crate::path::SandboxPath;
use crate::provider::SandboxId;

/// A command that runs in the application instead of in the sandbox, with the application's authority.
///
/// The sandbox sees a command like any other: arguments, standard streams, an exit code. What the tool knows (a token, a
/// connection, a database) stays outside. Every `Fn(HostCall) -> impl Future<Output = u8>` is a host tool.
///
/// What arrives in a [`HostCall`] was chosen by a guest and is as hostile as any guest input. The future is dropped when
/// the command is killed or its time is up. It is polled beside the guests, in their task, so it must not block: long
/// computations belong in a thread of their own. A panic ends the command as an abort would, with exit code 134.
pub trait HostTool: Send + Sync {
    /// Answers one call. The number is the command's exit code.
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

/// One call of a host tool: what a process is given when it starts.
#[derive(Debug)]
#[non_exhaustive]
pub struct HostCall {
    /// The sandbox that calls.
    pub sandbox: SandboxId,
    /// The arguments. The first is the name that the tool was called by.
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
    /// The sandbox's files, with the rights of its user.
    pub files: HostFiles,
}

impl HostCall {
    /// A call with these parts and without arguments, environment and files, for whoever implements a backend or tests a
    /// tool by itself.
    pub fn new(sandbox: SandboxId, cwd: SandboxPath, stdin: HostInput, stdout: HostOutput, stderr: HostOutput) -> Self {
        let files = HostFiles::none();
        Self { sandbox, arguments: Vec::new(), environment: Vec::new(), cwd, stdin, stdout, stderr, files }
    }

    /// An argument as text, where bytes that are not UTF-8 become `U+FFFD`. The first argument after the name is 1.
    pub fn argument(&self, number: usize) -> Option<Cow<'_, str>> {
        self.arguments.get(number).map(|bytes| String::from_utf8_lossy(bytes))
    }

    /// What the environment says of `name`.
    pub fn variable(&self, name: &str) -> Option<&[u8]> {
        self.environment.iter().find_map(|pair| pair.strip_prefix(name.as_bytes())?.strip_prefix(b"="))
    }
}
