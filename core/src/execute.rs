//! Requests and responses of commands.

use std::borrow::Cow;
use std::fmt;
use std::time::Duration;

use crate::error::{Error, ErrorKind, Result};
use crate::output_overflow::OutputOverflow;
use crate::path::SandboxPath;
use crate::process::ProcessId;
use crate::shell_backend::quote;
use crate::shell_mode::ShellMode;

/// One command line and its environment.
///
/// `Debug` shows the names of variables without their values, which may be secrets, and the length of the input.
#[derive(Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct ExecuteRequest {
    /// The command line, as after `bash -c`. Bytes that are not UTF-8 are written as `$'\xff'`.
    pub command: String,
    /// The program and its arguments, if the request was created by [`from_arguments`](Self::from_arguments). `command` is then
    /// the same as a command line. A backend that can starts the program without a shell; others run the command line.
    pub arguments: Option<Vec<String>>,
    /// Timeout of the wall time. `None` is the backend's default ([`crate::Limits::wall_time`]); zero stops the command
    /// immediately.
    pub timeout: Option<Duration>,
    /// Working directory. `None` is the backend's default, `/workspace` in the local backend.
    pub cwd: Option<SandboxPath>,
    /// Environment variables, added to the backend's defaults. The last of two with the same name wins.
    pub env: Vec<(String, String)>,
    /// Standard input of the command, followed by end of file.
    pub stdin: Vec<u8>,
    /// Shell mode. `None` is the sandbox's mode, which is [`ShellMode::Fresh`] unless configured otherwise. A backend without
    /// shell sessions returns [`ErrorKind::Unsupported`] for [`ShellMode::Persistent`].
    pub shell_mode: Option<ShellMode>,
    /// Action when the output exceeds the backend's limit. Default [`OutputOverflow::KeepHead`]. Backends without an output
    /// limit ignore it.
    pub output_overflow: OutputOverflow,
    /// Treatment of processes that still run when the command has ended. Default [`Background::End`].
    pub background: Background,
}

impl fmt::Debug for ExecuteRequest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ExecuteRequest")
            .field("command", &self.command)
            .field("arguments", &self.arguments)
            .field("timeout", &self.timeout)
            .field("cwd", &self.cwd)
            .field("env", &self.env.iter().map(|(name, _)| name).collect::<Vec<_>>())
            .field("stdin_bytes", &self.stdin.len())
            .field("shell_mode", &self.shell_mode)
            .field("output_overflow", &self.output_overflow)
            .field("background", &self.background)
            .finish()
    }
}

/// Treatment of processes that still run when the command that started them has ended, such as a server started by
/// `server &`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Background {
    /// They are killed.
    #[default]
    End,
    /// They run on as one process of the sandbox, [`ExecuteResponse::process`]. A backend that cannot keep them returns
    /// [`ErrorKind::Unsupported`]. If the command is stopped, or its future dropped before it has ended, they are killed.
    Keep,
}

impl Background {
    /// All values.
    pub const ALL: [Self; 2] = [Self::End, Self::Keep];

    /// Returns a stable name for other languages.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::End => "end",
            Self::Keep => "keep",
        }
    }
}

impl ExecuteRequest {
    /// Creates a request with defaults for everything except the command.
    pub fn new(command: impl Into<String>) -> Self {
        Self {
            command: command.into(),
            arguments: None,
            timeout: None,
            cwd: None,
            env: Vec::new(),
            stdin: Vec::new(),
            shell_mode: None,
            output_overflow: OutputOverflow::default(),
            background: Background::default(),
        }
    }

    /// Creates a request that runs a program with arguments, without a shell that expands them. The first one is the program: a path
    /// with a slash, or a name that is searched in `PATH`. A missing program gives exit code 127, one that cannot be run 126.
    ///
    /// # Errors
    /// [`ErrorKind::InvalidRequest`] without a program, or if an argument contains a NUL byte.
    pub fn from_arguments(arguments: impl IntoIterator<Item = impl Into<String>>) -> Result<Self> {
        let arguments: Vec<String> = arguments.into_iter().map(Into::into).collect();
        let invalid = |message: &str| Err(Error::new(ErrorKind::InvalidRequest, "execute", message));
        if arguments.first().is_none_or(String::is_empty) {
            return invalid("the list of arguments names no program; its first element must be a name or a path");
        }
        if arguments.iter().any(|argument| argument.contains('\0')) {
            return invalid("an argument contains a NUL byte, which no program can receive");
        }
        let words: Vec<_> = arguments.iter().map(|argument| quote(argument)).collect();
        Ok(Self { arguments: Some(arguments), ..Self::new(words.join(" ")) })
    }

    /// Sets the timeout of the wall time.
    #[must_use]
    pub fn with_timeout(mut self, timeout: Duration) -> Self {
        self.timeout = Some(timeout);
        self
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
    pub fn with_stdin(mut self, stdin: impl Into<Vec<u8>>) -> Self {
        self.stdin = stdin.into();
        self
    }

    /// Sets the shell mode for this command.
    #[must_use]
    pub fn with_shell_mode(mut self, mode: ShellMode) -> Self {
        self.shell_mode = Some(mode);
        self
    }

    /// Sets the treatment of processes that still run when the command has ended.
    #[must_use]
    pub fn with_background(mut self, background: Background) -> Self {
        self.background = background;
        self
    }

    /// Sets the action at the output limit.
    #[must_use]
    pub fn with_output_overflow(mut self, action: OutputOverflow) -> Self {
        self.output_overflow = action;
        self
    }
}

/// One of the two output streams.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum OutputStream {
    /// Standard output.
    Stdout,
    /// Standard error.
    Stderr,
}

/// A chunk of output as it arrived.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OutputChunk {
    /// The stream it was written to.
    pub stream: OutputStream,
    /// The bytes. A chunk may end in the middle of a line or of a character.
    pub bytes: Vec<u8>,
}

/// Reason why a command was stopped, or the limit that it reached before it failed. `docs/limits.md` lists messages and exit
/// codes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum StopReason {
    /// The timeout expired. Exit code 124, as of `timeout(1)`.
    Timeout,
    /// It used up its processor time. Exit code 152, as after SIGXCPU.
    CpuTime,
    /// Memory was denied. Exit code 137 if a process was killed for it, as by Linux's OOM killer; else that of the program that
    /// failed.
    Memory,
    /// It exceeded the output limit with [`OutputOverflow::Stop`]. Exit code 137.
    Output,
    /// It failed after the space for files, or the maximum size of one file, was reached.
    Files,
    /// It failed after the maximum number of files was reached.
    Inodes,
    /// It failed after the maximum number of descriptors, or the capacity of all pipes, was reached.
    Descriptors,
    /// It failed after the maximum number of processes was reached.
    Processes,
    /// It failed after the maximum depth of nested processes or function calls was reached.
    Nesting,
    /// The caller closed the sandbox or cancelled the command.
    Cancelled,
}

impl StopReason {
    /// All values.
    pub const ALL: [Self; 10] = [
        Self::Timeout,
        Self::CpuTime,
        Self::Memory,
        Self::Output,
        Self::Files,
        Self::Inodes,
        Self::Descriptors,
        Self::Processes,
        Self::Nesting,
        Self::Cancelled,
    ];

    /// Returns a stable name for other languages.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Timeout => "timeout",
            Self::CpuTime => "cpu_time",
            Self::Memory => "memory",
            Self::Output => "output",
            Self::Files => "files",
            Self::Inodes => "inodes",
            Self::Descriptors => "descriptors",
            Self::Processes => "processes",
            Self::Nesting => "nesting",
            Self::Cancelled => "cancelled",
        }
    }
}

impl fmt::Display for StopReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// Result of a command. Failures of the command are represented here, not as `Err`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct ExecuteResponse {
    /// Content of standard output.
    pub stdout: Vec<u8>,
    /// Content of standard error, including messages of the sandbox about limits.
    pub stderr: Vec<u8>,
    /// Both streams in the order of arrival.
    pub output: Vec<u8>,
    /// Exit code; 128 + *n* after signal *n*. `None` only if the backend does not know it; it is never guessed.
    pub exit_code: Option<i32>,
    /// Output was dropped because it exceeded [`crate::Limits::output_bytes`].
    pub truncated: bool,
    /// The stop reason, or the first limit that was reached if the command then ended with a non-zero exit code. `None` if it
    /// succeeded, or failed without reaching a limit.
    pub stopped_by: Option<StopReason>,
    /// Duration by the sandbox's clock.
    pub duration: Duration,
    /// Peak linear memory of all its processes together, in bytes. 0 if the backend does not know it.
    pub peak_memory_bytes: u64,
    /// Processor time of all its processes together. `None` if the backend does not measure it, and in a deterministic sandbox.
    pub cpu_time: Option<Duration>,
    /// The process that runs on after the command, with [`Background::Keep`]. Its output until then is in this response.
    pub process: Option<ProcessId>,
}

impl ExecuteResponse {
    /// Returns standard output as text, with U+FFFD for invalid UTF-8.
    pub fn stdout_text(&self) -> Cow<'_, str> {
        String::from_utf8_lossy(&self.stdout)
    }

    /// Returns standard error as text, with U+FFFD for invalid UTF-8.
    pub fn stderr_text(&self) -> Cow<'_, str> {
        String::from_utf8_lossy(&self.stderr)
    }

    /// Returns both streams in order of arrival as text, with U+FFFD for invalid UTF-8.
    pub fn output_text(&self) -> Cow<'_, str> {
        String::from_utf8_lossy(&self.output)
    }

    /// Adds a chunk to its stream and to the joint output.
    pub fn push_chunk(&mut self, event: &OutputChunk) {
        self.push_bytes(event.stream, &event.bytes);
    }

    /// Adds owned bytes without copying them.
    pub fn push_bytes(&mut self, stream: OutputStream, bytes: &[u8]) {
        match stream {
            OutputStream::Stdout => self.stdout.extend_from_slice(bytes),
            OutputStream::Stderr => self.stderr.extend_from_slice(bytes),
        }
        self.output.extend_from_slice(bytes);
    }

    /// Turns a failed command into an error, for direct callers.
    ///
    /// # Errors
    /// [`ErrorKind::CommandTimeout`] if it timed out, [`ErrorKind::CommandFailed`] if the exit code is not 0 or unknown. The
    /// message contains the last line of standard error.
    pub fn into_success(self) -> Result<Self> {
        if self.stopped_by == Some(StopReason::Timeout) {
            let message = format!("the command was stopped after {:?}", self.duration);
            return Err(Error::new(ErrorKind::CommandTimeout, "execute", message));
        }
        match self.exit_code {
            Some(0) => Ok(self),
            code => {
                let stderr = self.stderr_text();
                let last =
                    stderr.lines().rfind(|line| !line.trim().is_empty()).unwrap_or("no message on standard error");
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
    fn into_success_accepts_only_exit_code_zero() {
        assert!(ended(Some(0), "a warning").into_success().is_ok());
        let failed = ended(Some(2), "first\nls: no such file\n\n").into_success().unwrap_err();
        assert_eq!(failed.kind(), ErrorKind::CommandFailed);
        assert!(failed.message().ends_with("exit code 2: ls: no such file"), "{failed}");
        assert_eq!(ended(None, "").into_success().unwrap_err().kind(), ErrorKind::CommandFailed);
        let slow = ExecuteResponse { stopped_by: Some(StopReason::Timeout), ..ended(Some(124), "") };
        assert_eq!(slow.into_success().unwrap_err().kind(), ErrorKind::CommandTimeout);
    }

    #[test]
    fn push_chunk_keeps_streams_and_arrival_order() {
        let mut response = ExecuteResponse::default();
        for (stream, bytes) in [(OutputStream::Stdout, "a"), (OutputStream::Stderr, "b"), (OutputStream::Stdout, "c")] {
            response.push_chunk(&OutputChunk { stream, bytes: bytes.into() });
        }
        assert_eq!(response.output_text(), "abc");
        assert_eq!((&*response.stdout_text(), &*response.stderr_text()), ("ac", "b"));
    }
}
