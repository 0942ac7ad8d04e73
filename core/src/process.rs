//! Processes that outlive the call that started them.
//!
//! [`SandboxBackend::spawn`] starts a process and returns its id. Everything else takes the id, so
//! that a layer, a cassette and another language can pass calls on as values. [`Process`] is a handle over a backend and an id.

mod output_log;
mod record;
mod terminal;

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use crate::backend::SandboxBackend;
use crate::error::{Error, ErrorKind, Result};
use crate::execute::{ExecuteRequest, OutputChunk, StopReason};
use crate::path::SandboxPath;

pub use record::{ProcessList, ProcessRecord};
pub use terminal::{TerminalSize, missing_terminal, unsupported_terminal};

/// The id of a process that was spawned. Unique in its sandbox; in the local backend the number that `ps` shows.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ProcessId(String);

impl ProcessId {
    /// Creates an id. An id that no process has is reported by the backend.
    pub fn new(id: impl Into<String>) -> Self {
        Self(id.into())
    }

    /// Returns the id as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for ProcessId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Standard input of a process that is spawned.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum SpawnInput {
    /// End of file.
    #[default]
    Closed,
    /// A pipe that [`SandboxBackend::write_process`] writes.
    Open,
}

/// One command that keeps running after the call that starts it.
///
/// `Debug` shows the names of variables without their values, which may be secrets.
#[derive(Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct SpawnRequest {
    /// The command line, as after `bash -c`.
    pub command: String,
    /// The program and its arguments, if no shell expands them; see [`ExecuteRequest::arguments`].
    pub arguments: Option<Vec<String>>,
    /// Working directory. `None` is the backend's default.
    pub cwd: Option<SandboxPath>,
    /// Environment variables, added to the backend's defaults. The last of two with the same name wins.
    pub env: Vec<(String, String)>,
    /// Standard input. Default [`SpawnInput::Closed`].
    pub input: SpawnInput,
    /// Size of a terminal that is standard input, output and error: the process is interactive, `TERM` is `xterm-256color`
    /// unless `env` sets it, and all output is one stream. Its input is open, whatever `input` is. Default: no terminal.
    pub terminal: Option<TerminalSize>,
    /// Wall time after which the process is killed. Default: [`Limits::background_time`](crate::Limits::background_time), which
    /// is also the maximum.
    pub timeout: Option<Duration>,
    /// A name that makes the start idempotent: while a process with this tag runs, `spawn` returns that process.
    pub tag: Option<String>,
}

impl fmt::Debug for SpawnRequest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SpawnRequest")
            .field("command", &self.command)
            .field("arguments", &self.arguments)
            .field("cwd", &self.cwd)
            .field("env", &self.env.iter().map(|(name, _)| name).collect::<Vec<_>>())
            .field("input", &self.input)
            .field("terminal", &self.terminal)
            .field("timeout", &self.timeout)
            .field("tag", &self.tag)
            .finish()
    }
}

impl SpawnRequest {
    /// Creates a request with defaults for everything except the command line.
    pub fn new(command: impl Into<String>) -> Self {
        Self::from_execute(ExecuteRequest::new(command))
    }

    /// Creates a request that runs a program with arguments, without a shell that expands them.
    ///
    /// # Errors
    /// Those of [`ExecuteRequest::from_arguments`].
    pub fn from_arguments(arguments: impl IntoIterator<Item = impl Into<String>>) -> Result<Self> {
        ExecuteRequest::from_arguments(arguments).map(Self::from_execute)
    }

    fn from_execute(request: ExecuteRequest) -> Self {
        let ExecuteRequest { command, arguments, .. } = request;
        Self {
            command,
            arguments,
            cwd: None,
            env: Vec::new(),
            input: SpawnInput::default(),
            terminal: None,
            timeout: None,
            tag: None,
        }
    }

    /// Sets the working directory.
    #[must_use]
    pub fn with_cwd(mut self, cwd: SandboxPath) -> Self {
        self.cwd = Some(cwd);
        self
    }

    /// Adds an environment variable.
    #[must_use]
    pub fn with_env(mut self, name: impl Into<String>, value: impl Into<String>) -> Self {
        self.env.push((name.into(), value.into()));
        self
    }

    /// Sets the standard input.
    #[must_use]
    pub fn with_input(mut self, input: SpawnInput) -> Self {
        self.input = input;
        self
    }

    /// Runs the process in a terminal.
    #[must_use]
    pub fn with_terminal(mut self, size: TerminalSize) -> Self {
        self.terminal = Some(size);
        self
    }

    /// Sets the wall time after which the process is killed.
    #[must_use]
    pub fn with_timeout(mut self, timeout: Duration) -> Self {
        self.timeout = Some(timeout);
        self
    }

    /// Sets the tag.
    #[must_use]
    pub fn with_tag(mut self, tag: impl Into<String>) -> Self {
        self.tag = Some(tag.into());
        self
    }
}

/// State of a process.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ProcessState {
    /// It runs, or waits.
    Running,
    /// It has ended.
    Ended {
        /// Exit code; 128 + *n* after signal *n*. `None` only if the backend does not know it.
        exit_code: Option<i32>,
        /// The reason, if the sandbox stopped it or it failed at a limit.
        stopped_by: Option<StopReason>,
    },
}

impl ProcessState {
    /// Returns whether the process has ended.
    pub fn has_ended(&self) -> bool {
        matches!(self, Self::Ended { .. })
    }
}

/// Properties of a process.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProcessInfo {
    /// The id.
    pub id: ProcessId,
    /// The tag of the request.
    pub tag: Option<String>,
    /// The command line.
    pub command: String,
    /// Start, as the time since the Unix epoch by the sandbox's clock.
    pub started: Duration,
    /// Its state. Ended processes are listed until the backend forgets them.
    pub state: ProcessState,
    /// Bytes that it wrote to standard output and standard error.
    pub written_bytes: u64,
}

/// A position in the output of a process. Starts at [`OutputCursor::START`]; every page has the next one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct OutputCursor(u64);

impl OutputCursor {
    /// The start of the output.
    pub const START: Self = Self(0);

    /// Creates the cursor after this number of bytes of both streams, in the order of arrival.
    pub fn new(bytes: u64) -> Self {
        Self(bytes)
    }

    /// Returns the number of bytes before the cursor.
    pub fn bytes(self) -> u64 {
        self.0
    }
}

/// A request for output of a process.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReadOutput {
    /// Position at which to start. Default: the oldest output that is kept.
    pub after: OutputCursor,
    /// Maximum time to wait for output after the cursor while the process runs. Default: zero.
    pub wait: Duration,
    /// Maximum number of bytes. Default 1 MiB.
    pub max_bytes: usize,
}

impl Default for ReadOutput {
    fn default() -> Self {
        Self { after: OutputCursor::START, wait: Duration::ZERO, max_bytes: 1 << 20 }
    }
}

impl ReadOutput {
    /// Requests the output after a cursor.
    pub fn after(cursor: OutputCursor) -> Self {
        Self { after: cursor, ..Self::default() }
    }

    /// Waits for output.
    #[must_use]
    pub fn with_wait(mut self, wait: Duration) -> Self {
        self.wait = wait;
        self
    }

    /// Sets the maximum number of bytes.
    #[must_use]
    pub fn with_max_bytes(mut self, max_bytes: usize) -> Self {
        self.max_bytes = max_bytes;
        self
    }
}

/// Output of a process. Reading takes nothing away: several readers see the same bytes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OutputPage {
    /// The output in the order of arrival.
    pub chunks: Vec<OutputChunk>,
    /// The cursor after it.
    pub next: OutputCursor,
    /// Bytes between the requested cursor and the first chunk that are no longer kept.
    pub dropped: u64,
    /// State of the process. If it has ended and the page is empty, all output was read.
    pub state: ProcessState,
}

impl OutputPage {
    /// Returns the bytes of both streams in the order of arrival.
    pub fn bytes(&self) -> Vec<u8> {
        self.chunks.iter().flat_map(|chunk| chunk.bytes.iter().copied()).collect()
    }
}

/// Input for a process.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ProcessInput {
    /// Bytes for its standard input.
    Bytes(Vec<u8>),
    /// End of file. In a terminal it is the key Ctrl-D, and more can be written.
    End,
}

/// A signal that a caller may send, by its POSIX name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ProcessSignal {
    /// SIGHUP.
    Hup,
    /// SIGINT, as by Ctrl-C.
    Int,
    /// SIGQUIT.
    Quit,
    /// SIGKILL, which cannot be ignored.
    Kill,
    /// SIGUSR1.
    Usr1,
    /// SIGUSR2.
    Usr2,
    /// SIGTERM.
    Term,
    /// SIGCONT.
    Cont,
    /// SIGSTOP, which cannot be ignored.
    Stop,
}

impl ProcessSignal {
    /// All values.
    pub const ALL: [Self; 9] =
        [Self::Hup, Self::Int, Self::Quit, Self::Kill, Self::Usr1, Self::Usr2, Self::Term, Self::Cont, Self::Stop];

    /// Returns the name, such as `TERM`.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Hup => "HUP",
            Self::Int => "INT",
            Self::Quit => "QUIT",
            Self::Kill => "KILL",
            Self::Usr1 => "USR1",
            Self::Usr2 => "USR2",
            Self::Term => "TERM",
            Self::Cont => "CONT",
            Self::Stop => "STOP",
        }
    }

    /// Returns the number on Linux.
    pub fn number(self) -> u8 {
        match self {
            Self::Hup => 1,
            Self::Int => 2,
            Self::Quit => 3,
            Self::Kill => 9,
            Self::Usr1 => 10,
            Self::Usr2 => 12,
            Self::Term => 15,
            Self::Cont => 18,
            Self::Stop => 19,
        }
    }

    /// Parses a name, with or without `SIG`, or a number.
    pub fn parse(text: &str) -> Option<Self> {
        let name = text.to_ascii_uppercase();
        let name = name.strip_prefix("SIG").unwrap_or(&name);
        Self::ALL.into_iter().find(|signal| signal.as_str() == name || signal.number().to_string() == name)
    }
}

impl fmt::Display for ProcessSignal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// Returns the error of a backend that has no processes which outlive a call. `reason` completes "this backend ...".
pub fn unsupported_process(operation: &'static str, reason: &str) -> Error {
    let message = format!("this backend {reason}; run the command with execute and wait for its end");
    Error::new(ErrorKind::Unsupported, operation, message)
}

/// Implements the methods of [`SandboxBackend`] about processes for a backend that has none. The argument
/// completes the sentence "this backend ..." in the error of kind [`ErrorKind::Unsupported`].
#[macro_export]
macro_rules! without_processes {
    ($reason:expr) => {
        fn spawn(&self, _: $crate::SpawnRequest) -> $crate::BoxFuture<'_, $crate::Result<$crate::ProcessId>> {
            Box::pin(async { Err($crate::unsupported_process("spawn", $reason)) })
        }

        fn processes(&self) -> $crate::BoxFuture<'_, $crate::Result<Vec<$crate::ProcessInfo>>> {
            Box::pin(async { Err($crate::unsupported_process("processes", $reason)) })
        }

        fn read_process<'a>(
            &'a self,
            _: &'a $crate::ProcessId,
            _: $crate::ReadOutput,
        ) -> $crate::BoxFuture<'a, $crate::Result<$crate::OutputPage>> {
            Box::pin(async { Err($crate::unsupported_process("read_process", $reason)) })
        }

        fn write_process<'a>(
            &'a self,
            _: &'a $crate::ProcessId,
            _: $crate::ProcessInput,
        ) -> $crate::BoxFuture<'a, $crate::Result<usize>> {
            Box::pin(async { Err($crate::unsupported_process("write_process", $reason)) })
        }

        fn signal_process<'a>(
            &'a self,
            _: &'a $crate::ProcessId,
            _: $crate::ProcessSignal,
        ) -> $crate::BoxFuture<'a, $crate::Result<()>> {
            Box::pin(async { Err($crate::unsupported_process("signal_process", $reason)) })
        }

        fn resize_process<'a>(
            &'a self,
            _: &'a $crate::ProcessId,
            _: $crate::TerminalSize,
        ) -> $crate::BoxFuture<'a, $crate::Result<()>> {
            Box::pin(async { Err($crate::unsupported_process("resize_process", $reason)) })
        }
    };
}

/// Returns the error for an id that no process of the sandbox has.
pub fn unknown_process(operation: &'static str, id: &ProcessId) -> Error {
    let message = format!("no process has the id '{id}'; it may have ended long ago, list the others with processes");
    Error::new(ErrorKind::InvalidRequest, operation, message)
}

/// Returns the error for bytes that are written to a process whose standard input is closed.
pub fn closed_process_input(operation: &'static str, id: &ProcessId) -> Error {
    let message = format!(
        "the standard input of process {id} is closed; spawn it with open input, and write before it ends or closes it"
    );
    Error::new(ErrorKind::InvalidRequest, operation, message)
}

/// Time for which [`Process`] waits in one call for output or the end.
const LONG_POLL: Duration = Duration::from_secs(20);

/// A handle of a process. It is only a name: dropping it does not stop the process.
#[derive(Clone, Debug)]
pub struct Process {
    backend: Arc<dyn SandboxBackend>,
    id: ProcessId,
}

impl Process {
    /// Starts a process.
    ///
    /// # Errors
    /// Those of [`SandboxBackend::spawn`].
    pub async fn spawn(backend: Arc<dyn SandboxBackend>, request: SpawnRequest) -> Result<Self> {
        let id = backend.spawn(request).await?;
        Ok(Self { backend, id })
    }

    /// Returns the handle of a process with a known id.
    pub fn new(backend: Arc<dyn SandboxBackend>, id: ProcessId) -> Self {
        Self { backend, id }
    }

    /// Returns the id.
    pub fn id(&self) -> &ProcessId {
        &self.id
    }

    /// Reads output.
    ///
    /// # Errors
    /// Those of [`SandboxBackend::read_process`].
    pub async fn read(&self, request: ReadOutput) -> Result<OutputPage> {
        self.backend.read_process(&self.id, request).await
    }

    /// Waits for the end and returns the last state.
    ///
    /// # Errors
    /// Those of [`SandboxBackend::read_process`].
    pub async fn wait(&self) -> Result<ProcessState> {
        let mut after = OutputCursor::START;
        loop {
            let page = self.read(ReadOutput::after(after).with_wait(LONG_POLL)).await?;
            if page.state.has_ended() {
                return Ok(page.state);
            }
            after = page.next;
        }
    }

    /// Waits until the output contains `text`, and returns the cursor after what was read. `None` if the process ends before.
    ///
    /// # Errors
    /// Those of [`SandboxBackend::read_process`].
    pub async fn wait_for_output(&self, text: &str) -> Result<Option<OutputCursor>> {
        let (mut after, mut output) = (OutputCursor::START, Vec::new());
        loop {
            let page = self.read(ReadOutput::after(after).with_wait(LONG_POLL)).await?;
            output.extend(page.bytes());
            after = page.next;
            if text.is_empty() || output.windows(text.len()).any(|window| window == text.as_bytes()) {
                return Ok(Some(after));
            }
            if page.state.has_ended() && page.chunks.is_empty() {
                return Ok(None);
            }
            // Only an unfinished occurrence matters.
            output.drain(..output.len().saturating_sub(text.len()));
        }
    }

    /// Writes all bytes to its standard input; waits while the pipe is full.
    ///
    /// # Errors
    /// Those of [`SandboxBackend::write_process`].
    pub async fn write_all(&self, bytes: &[u8]) -> Result<()> {
        let mut rest = bytes;
        while !rest.is_empty() {
            let written = self.backend.write_process(&self.id, ProcessInput::Bytes(rest.to_vec())).await?;
            rest = rest.get(written..).unwrap_or_default();
        }
        Ok(())
    }

    /// Closes its standard input. In a terminal this is the key Ctrl-D, which ends the input of the program that reads.
    ///
    /// # Errors
    /// Those of [`SandboxBackend::write_process`].
    pub async fn close_input(&self) -> Result<()> {
        self.backend.write_process(&self.id, ProcessInput::End).await.map(drop)
    }

    /// Sends a signal to the process and its children.
    ///
    /// # Errors
    /// Those of [`SandboxBackend::signal_process`].
    pub async fn signal(&self, signal: ProcessSignal) -> Result<()> {
        self.backend.signal_process(&self.id, signal).await
    }

    /// Changes the size of its terminal.
    ///
    /// # Errors
    /// Those of [`SandboxBackend::resize_process`].
    pub async fn resize(&self, size: TerminalSize) -> Result<()> {
        self.backend.resize_process(&self.id, size).await
    }

    /// Kills the process and its children.
    ///
    /// # Errors
    /// Those of [`SandboxBackend::signal_process`].
    pub async fn kill(&self) -> Result<()> {
        self.signal(ProcessSignal::Kill).await
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn signals_are_parsed_by_name_and_number() {
        for signal in ProcessSignal::ALL {
            assert_eq!(ProcessSignal::parse(signal.as_str()), Some(signal));
            assert_eq!(ProcessSignal::parse(&format!("SIG{signal}")), Some(signal));
            assert_eq!(ProcessSignal::parse(&signal.number().to_string()), Some(signal));
        }
        assert_eq!(ProcessSignal::parse("sigterm"), Some(ProcessSignal::Term));
        assert_eq!(ProcessSignal::parse("WINCH"), None);
    }

    #[test]
    fn debug_hides_the_values_of_variables() {
        let request = SpawnRequest::new("server").with_env("TOKEN", "secret");
        let text = format!("{request:?}");
        assert!(text.contains("TOKEN") && !text.contains("secret"), "{text}");
    }
}
