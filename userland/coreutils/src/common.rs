//! Parts that several tools share.

pub(crate) mod ask;
pub(crate) mod block_size;
pub(crate) mod check;
pub(crate) mod copy;
pub(crate) mod data;
pub(crate) mod digest;
pub(crate) mod follow;
pub(crate) mod help;
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
    /// The command line is wrong.
    Usage(String),
    /// The request is not supported.
    Unsupported(String),
    /// Standard output does not take what is written.
    Write(Errno),
    /// The command line has its answer: help, or what is wrong.
    Answered(ToolResult),
}

impl FromEarlyExit for Failure {
    fn from_early_exit(_: &str, answer: ToolResult) -> Self {
        Self::Answered(answer)
    }
}

impl IntoExitCode for Failure {
    fn into_exit_code(self, name: &str) -> i32 {
        match self {
            Self::Usage(message) => return usage(name, &message, 1),
            Self::Answered(answer) => return answer.into_exit_code(name),
            Self::Unsupported(message) => print_error(name, &message),
            // A reader that has gone is met here only by whoever ignores SIGPIPE; the kernel ends all others quietly.
            Self::Write(errno) => print_error(name, &format!("write error: {}", errno.text())),
        }
        1
    }
}

/// A word of the command line as messages quote it: with curly marks where the locale has them.
pub(crate) fn curly(word: &[u8]) -> String {
    let text = String::from_utf8_lossy(word);
    if tidebox_gnu::message::unicode_locale() { format!("‘{text}’") } else { format!("'{text}'") }
}

/// A file's name as messages quote it.
pub(crate) fn quoted(name: &[u8]) -> String {
    let shown = tidebox_gnu::message::display_name(name);
    if shown.starts_with(['\'', '"']) { shown.into_owned() } else { format!("'{shown}'") }
}

/// Prints a line on stdout. A reader that has gone ends the process by a signal; what else can fail here is told.
pub(crate) fn say(tool: &str, line: &str) -> bool {
    match tidebox_rt::write_all(1, format!("{line}\n").as_bytes()) {
        Ok(()) => true,
        Err(error) => {
            print_error(tool, &format!("write error: {}", error.text()));
            false
        }
    }
}
