//! Running a command line.

use std::borrow::Cow;
use std::fmt;
use std::time::Duration;

use crate::error::{Error, ErrorKind, Result};
use crate::path::SandboxPath;
use crate::shell_mode::ShellMode;

/// One command line and what it is run with.
///
/// `Debug` shows the names of variables and not their values, which may be secrets, and how much there is to read.
#[derive(Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct ExecuteRequest {
    /// What the shell gets, as after `bash -c`. Bytes that are not UTF-8 are written `$'\xff'`.
    pub command: String,
    /// Wall time. `None` is the backend's own default ([`crate::Limits::wall_time`]); zero ends the command at once.
    pub timeout: Option<Duration>,
    /// Working directory. `None` is the backend's default, `/workspace` in ours.
    pub cwd: Option<SandboxPath>,
    /// Environment variables, over the backend's default ones. The last of two with the same name wins.
    pub env: Vec<(String, String)>,
    /// What the command reads from standard input, then end of file.
    pub stdin: Vec<u8>,
    /// Whether the shell takes part in the sandbox's session. `None` is the sandbox's own mode, which is
    /// [`ShellMode::Fresh`] unless its maker chose otherwise. A backend without sessions answers
    /// [`ErrorKind::Unsupported`] to [`ShellMode::Persistent`].
    pub shell_mode: Option<ShellMode>,
}

impl fmt::Debug for ExecuteRequest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ExecuteRequest")
            .field("command", &self.command)
            .field("timeout", &self.timeout)
            .field("cwd", &self.cwd)
            .field("env", &self.env.iter().map(|(name, _)| name).collect::<Vec<_>>())
            .field("stdin_bytes", &self.stdin.len())
            .field("shell_mode", &self.shell_mode)
            .finish()
    }
}

impl ExecuteRequest {
    /// A command with everything else at its default.
    pub fn new(command: impl Into<String>) -> Self {
        Self { command: command.into(), timeout: None, cwd: None, env: Vec::new(), stdin: Vec::new(), shell_mode: None }
    }

    /// Ends the command after this wall time.
    #[must_use]
    pub fn with_timeout(mut self, timeout: Duration) -> Self {
        self.timeout = Some(timeout);
        self
    }

    /// Starts the command in this directory.
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

    /// Gives the command something to read.
    #[must_use]
    pub fn with_stdin(mut self, stdin: impl Into<Vec<u8>>) -> Self {
        self.stdin = stdin.into();
        self
    }

    /// Runs this one command in the sandbox's shell session, or outside of it.
    #[must_use]
    pub fn with_shell_mode(mut self, mode: ShellMode) -> Self {
        self.shell_mode = Some(mode);
        self
    }
}

/// Which of the two output streams.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum OutputStream {
    /// Standard output.
    Stdout,
    /// Standard error.
    Stderr,
}

/// A piece of output as it arrived.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OutputEvent {
    /// Where it was written to.
    pub stream: OutputStream,
    /// The bytes; pieces may end in the middle of a line or of a character.
    pub bytes: Vec<u8>,
}

/// Why a command was stopped before its own end.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum StopReason {
    /// Its wall time was up. Exit code 124, as of `timeout(1)`.
    Timeout,
    /// It asked for more memory than it may have and could not go on. Exit code 137, as after the kernel's OOM killer.
    Memory,
    /// It wrote more than it may and was ended for it.
    Output,
    /// The caller closed the sandbox or cancelled the command.
    Cancelled,
}

impl StopReason {
    /// A stable name for other languages.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Timeout => "timeout",
            Self::Memory => "memory",
            Self::Output => "output",
            Self::Cancelled => "cancelled",
        }
    }
}

impl fmt::Display for StopReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// How a command went. Failures of the command are in here, not in an `Err`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct ExecuteResponse {
    /// What it wrote to standard output.
    pub stdout: Vec<u8>,
    /// What it wrote to standard error, our own message about a limit included.
    pub stderr: Vec<u8>,
    /// Both, in the order in which they arrived.
    pub output: Vec<u8>,
    /// Its exit code, 128 + *n* after signal *n*. `None` only when the backend does not know; it is never made up.
    pub exit_code: Option<i32>,
    /// Output was dropped because there was more than [`crate::Limits::output_bytes`].
    pub truncated: bool,
    /// Why it was stopped, `None` when it ended by itself.
    pub stopped_by: Option<StopReason>,
    /// Time it took, by the sandbox's clock.
    pub duration: Duration,
    /// The most linear memory that its processes held together. 0 when the backend does not know.
    pub peak_memory_bytes: u64,
}

impl ExecuteResponse {
    /// Standard output as text, with U+FFFD for what is not UTF-8.
    pub fn stdout_text(&self) -> Cow<'_, str> {
        String::from_utf8_lossy(&self.stdout)
    }

    /// Standard error as text, with U+FFFD for what is not UTF-8.
    pub fn stderr_text(&self) -> Cow<'_, str> {
        String::from_utf8_lossy(&self.stderr)
    }

    /// Both streams in arrival order as text, with U+FFFD for what is not UTF-8.
    pub fn output_text(&self) -> Cow<'_, str> {
        String::from_utf8_lossy(&self.output)
    }

    /// Adds a piece of output to its stream and to the joint one.
    pub fn push(&mut self, event: &OutputEvent) {
        self.push_bytes(event.stream, &event.bytes);
    }

    /// The same for bytes that nobody else needs.
    pub fn push_bytes(&mut self, stream: OutputStream, bytes: &[u8]) {
        match stream {
            OutputStream::Stdout => self.stdout.extend_from_slice(bytes),
            OutputStream::Stderr => self.stderr.extend_from_slice(bytes),
        }
        self.output.extend_from_slice(bytes);
    }

    /// For a direct caller who wants a failed command to be an error.
    ///
    /// # Errors
    /// [`ErrorKind::CommandTimeout`] when its time was up, [`ErrorKind::CommandFailed`] when the exit code is not 0 or
    /// not known. The message holds the last line of standard error.
    pub fn success(self) -> Result<Self> {
        if self.stopped_by == Some(StopReason::Timeout) {
            let message = format!("the command was stopped after {:?}", self.duration);
            return Err(Error::new(ErrorKind::CommandTimeout, "execute", message));
        }
        match self.exit_code {
            Some(0) => Ok(self),
            code => {
                let stderr = self.stderr_text();
                let last = stderr.lines().rfind(|line| !line.trim().is_empty()).unwrap_or("nothing on standard error");
                let message = match code {
                    Some(code) => format!("the command ended with exit code {code}: {last}"),
                    None => format!("the command ended without a known exit code: {last}"),
                };
                Err(Error::new(ErrorKind::CommandFailed, "execute", message))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ended(exit_code: Option<i32>, stderr: &str) -> ExecuteResponse {
        ExecuteResponse { exit_code, stderr: stderr.into(), ..ExecuteResponse::default() }
    }

    #[test]
    fn success_lets_only_exit_code_zero_through() {
        assert!(ended(Some(0), "a warning").success().is_ok());
        let failed = ended(Some(2), "first\nls: no such file\n\n").success().unwrap_err();
        assert_eq!(failed.kind(), ErrorKind::CommandFailed);
        assert!(failed.message().ends_with("exit code 2: ls: no such file"), "{failed}");
        assert_eq!(ended(None, "").success().unwrap_err().kind(), ErrorKind::CommandFailed);
        let slow = ExecuteResponse { stopped_by: Some(StopReason::Timeout), ..ended(Some(124), "") };
        assert_eq!(slow.success().unwrap_err().kind(), ErrorKind::CommandTimeout);
    }

    #[test]
    fn pushed_output_is_kept_by_stream_and_in_arrival_order() {
        let mut response = ExecuteResponse::default();
        for (stream, bytes) in [(OutputStream::Stdout, "a"), (OutputStream::Stderr, "b"), (OutputStream::Stdout, "c")] {
            response.push(&OutputEvent { stream, bytes: bytes.into() });
        }
        assert_eq!(response.output_text(), "abc");
        assert_eq!((&*response.stdout_text(), &*response.stderr_text()), ("ac", "b"));
    }
}
