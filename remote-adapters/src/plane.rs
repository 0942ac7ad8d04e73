//! What one sandbox at a provider can do by itself.

use std::fmt;
use std::time::Duration;

use tidebox_core::shell_backend::PieceSink;
use tidebox_core::{BoxFuture, Outcome, Result, SandboxId, SandboxPath, Upload, UploadResult};

use crate::output::Output;

/// A command line and what it runs with. Its `Debug` shows no values of variables.
#[derive(Clone)]
pub struct Command {
    /// What the shell gets, as after `bash -c`.
    pub script: String,
    /// Where it runs. `None` is the provider's choice.
    pub cwd: Option<String>,
    /// Variables of its environment, over those of the sandbox.
    pub env: Vec<(String, String)>,
    /// How long it may run.
    pub time: Duration,
}

impl fmt::Debug for Command {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Command")
            .field("script", &self.script)
            .field("cwd", &self.cwd)
            .field("env", &Names(&self.env))
            .field("time", &self.time)
            .finish()
    }
}

/// Variables, of which only the names are printed: what they hold may be secrets of the caller's.
pub(crate) struct Names<'a>(pub(crate) &'a [(String, String)]);

impl fmt::Debug for Names<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.0.iter().map(|(name, _)| name)).finish()
    }
}

/// How a command ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ending {
    /// By itself, or by a signal: 128 and its number.
    Exit(i32),
    /// The provider does not say how.
    Unknown,
    /// Its time was up, and it was killed.
    Timeout,
}

/// The data plane of one sandbox: what the rest of the contract is made of.
///
/// What a provider does in its own way stands here; file operations are derived from `run`, `fetch` and `store`, see
/// [`tidebox_core::shell_backend`].
pub trait Plane: Send + Sync + fmt::Debug + 'static {
    /// The sandbox's name.
    fn id(&self) -> &SandboxId;

    /// Whether output arrives byte for byte.
    fn passes_bytes(&self) -> bool;

    /// Runs a command to its end and hands over what it writes as it arrives.
    ///
    /// When its time is up, or when this future is dropped, the command is killed.
    fn run<'a>(&'a self, command: Command, output: &'a mut Output<'_>) -> BoxFuture<'a, Result<Ending>>;

    /// Hands the content of a regular file to `sink`.
    fn fetch<'a>(&'a self, path: &'a SandboxPath, sink: PieceSink<'a>) -> Outcome<'a, ()>;

    /// Puts files into the sandbox, with the directories above them. The paths are good, and no two are the same. One result
    /// per file, in the same order.
    fn store(&self, files: Vec<(SandboxPath, Upload)>) -> BoxFuture<'_, Result<Vec<UploadResult>>>;
}
