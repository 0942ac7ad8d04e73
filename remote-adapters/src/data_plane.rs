//! Operations of one sandbox at a provider.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use futures_channel::oneshot;
use tidebox_core::shell_backend::ChunkSink;
use tidebox_core::{FileResult, PortEndpoint, Result, SandboxId, SandboxPath, TerminalSize, Upload, UploadResult};

use crate::output::OutputCollector;

/// A command line with its working directory and environment. `Debug` omits the values of variables.
#[derive(Clone)]
pub struct Command {
    /// Script passed to the shell, as with `bash -c`.
    pub script: String,
    /// Working directory. `None` uses the provider's default.
    pub cwd: Option<String>,
    /// Environment variables, added to those of the sandbox.
    pub env: Vec<(String, String)>,
    /// Time limit.
    pub timeout: Duration,
}

impl fmt::Debug for Command {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Command")
            .field("script", &self.script)
            .field("cwd", &self.cwd)
            .field("env", &EnvNames(&self.env))
            .field("timeout", &self.timeout)
            .finish()
    }
}

/// Environment variables whose `Debug` prints only the names: the values may be secrets.
pub(crate) struct EnvNames<'a>(pub(crate) &'a [(String, String)]);

impl fmt::Debug for EnvNames<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.0.iter().map(|(name, _)| name)).finish()
    }
}

/// Result of a command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CommandOutcome {
    /// Exit code, or 128 plus the signal number.
    Exit(i32),
    /// The provider reported no exit code.
    Unknown,
    /// Killed after the time limit.
    Timeout,
}

/// The controls of a terminal that is open.
#[async_trait]
pub trait TerminalControl: Send + Sync + fmt::Debug {
    /// Types keys.
    async fn write(&self, keys: Vec<u8>) -> Result<()>;

    /// Changes the size, which is in the bounds.
    async fn resize(&self, size: TerminalSize) -> Result<()>;
}

/// A terminal to open.
#[derive(Debug)]
pub struct NewTerminal {
    /// Its size, in the bounds.
    pub size: TerminalSize,
    /// Receives the controls when it is open.
    pub opened: oneshot::Sender<Arc<dyn TerminalControl>>,
}

/// Commands in terminals.
#[async_trait]
pub trait Terminals: Send + Sync {
    /// Runs a command in a terminal until it exits, like [`DataPlane::run`]. All output is standard output.
    async fn run_in_terminal(
        &self,
        command: Command,
        terminal: NewTerminal,
        output: &mut OutputCollector<'_>,
    ) -> Result<CommandOutcome>;
}

/// Data plane of one sandbox.
///
/// Implement what is specific to the provider; file operations are derived from `run`, `fetch` and `store`, see
/// [`tidebox_core::shell_backend`].
#[async_trait]
pub trait DataPlane: Send + Sync + fmt::Debug + 'static {
    /// The sandbox's id.
    fn id(&self) -> &SandboxId;

    /// True if output is passed through byte for byte.
    fn is_binary_safe(&self) -> bool;

    /// Runs a command until it exits and passes its output on as it arrives.
    ///
    /// Kills the command when the time limit expires or this future is dropped.
    async fn run(&self, command: Command, output: &mut OutputCollector<'_>) -> Result<CommandOutcome>;

    /// Writes the content of a regular file to `sink`.
    async fn fetch(&self, path: &SandboxPath, sink: ChunkSink<'_>) -> Result<FileResult<()>>;

    /// Uploads files and creates missing parent directories. Paths must be valid and distinct. Returns one result per
    /// file, in the same order.
    async fn store(&self, files: Vec<(SandboxPath, Upload)>) -> Result<Vec<UploadResult>>;

    /// Returns what runs commands in terminals.
    ///
    /// # Errors
    /// [`tidebox_core::ErrorKind::Unsupported`] with the reason if nothing does.
    fn terminals(&self) -> Result<&dyn Terminals>;

    /// Returns the provider's address of a server in the sandbox, with its credential. The port is not 0.
    ///
    /// # Errors
    /// [`tidebox_core::ErrorKind::Unsupported`] if the provider has no such addresses.
    async fn port_endpoint(&self, port: u16) -> Result<PortEndpoint>;
}
