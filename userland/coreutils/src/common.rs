//! Parts that several tools share.

pub(crate) mod ask;
pub(crate) mod block_size;
pub(crate) mod check;
pub(crate) mod copy;
pub(crate) mod data;
pub(crate) mod digest;
pub(crate) mod follow;
pub(crate) mod input;
pub(crate) mod number;
pub(crate) mod owner;
pub(crate) mod remove;
pub(crate) mod run;
pub(crate) mod same_file;
pub(crate) mod signal;
pub(crate) mod target;

use tidebox_gnu::command_line::FromEarlyExit;
use tidebox_gnu::exit::{IntoExitCode, ToolResult};
use tidebox_gnu::message::print_error;
use tidebox_gnu::tool::usage;
use tidebox_rt::Errno;

/// Reason for an early exit of a tool.
#[derive(Debug, PartialEq, Eq)]
pub enum Failure {
    /// The command line is invalid.
    Usage(String),
    /// The request is not supported.
    Unsupported(String),
    /// Standard output cannot be written.
    Write(Errno),
    /// Result of `--help`, `--version` or an invalid option.
    Exit(ToolResult),
}

impl FromEarlyExit for Failure {
    fn from_early_exit(_: &str, result: ToolResult) -> Self {
        Self::Exit(result)
    }
}

impl IntoExitCode for Failure {
    fn into_exit_code(self, name: &str) -> i32 {
        match self {
            Self::Usage(message) => return usage(name, &message, 1),
            Self::Exit(result) => return result.into_exit_code(name),
            Self::Unsupported(message) => print_error(name, &message),
            // EPIPE is reported only if the tool ignores SIGPIPE. Otherwise the signal ends it.
            Self::Write(errno) => print_error(name, &format!("write error: {}", errno.text())),
        }
        1
    }
}

tidebox_gnu::options! {
    /// Options of tools that have only `--help` and `--version`.
    pub(crate) enum StandardFlag {
        Help = "--help", "";
    }
}

/// Prints a line on stdout. Reports a write error and returns `false`.
pub(crate) fn print_line(tool: &str, line: &str) -> bool {
    match tidebox_rt::write_all(1, format!("{line}\n").as_bytes()) {
        Ok(()) => true,
        Err(error) => {
            print_error(tool, &format!("write error: {}", error.text()));
            false
        }
    }
}
