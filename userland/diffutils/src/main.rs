//! Tools that compare files.
//!
//! The program name selects the tool. All tools read files, pipes and devices.

mod cmp;
mod columns;
mod diff;
mod diff3;
mod edits;
mod file;
mod folders;
mod format;
mod groups;
mod options;
mod output;
mod script;
mod sdiff;
#[cfg(test)]
mod tests;

use tidebox_gnu::command_line::FromEarlyExit;
use tidebox_gnu::exit::{IntoExitCode, ToolResult};
use tidebox_gnu::message::print_error;
use tidebox_gnu::tool::{ToolMain, run};
use tidebox_rt::Errno;

/// Exit code when files differ.
const DIFFERENT: i32 = 1;
/// Exit code of an error.
const TROUBLE: i32 = 2;

/// Every tool, ordered by name.
const TOOLS: &[(&str, ToolMain<Result<i32, Failure>>)] =
    &[("cmp", cmp::main), ("diff", diff::main), ("diff3", diff3::main), ("sdiff", sdiff::main)];

/// Early exit of a tool.
#[derive(Debug, PartialEq, Eq)]
enum Failure {
    /// The command line is invalid.
    Usage(String),
    /// Another error, with a message.
    Other(String),
    /// Standard output cannot be written.
    Write(Errno),
    /// The command line requested a text.
    Asked(ToolResult),
}

impl FromEarlyExit for Failure {
    fn from_early_exit(_: &str, answer: ToolResult) -> Self {
        match answer {
            ToolResult::Usage(message, _) => Self::Usage(message),
            answer => Self::Asked(answer),
        }
    }
}

fn main() {
    run("diffutils", TOOLS);
}

impl IntoExitCode for Failure {
    fn into_exit_code(self, name: &str) -> i32 {
        match self {
            Self::Usage(message) => {
                print_error(name, &message);
                print_error(name, &format!("Try '{name} --help' for more information."));
            }
            Self::Asked(answer) => return if answer.into_exit_code(name) == 0 { 0 } else { TROUBLE },
            Self::Other(message) => print_error(name, &message),
            Self::Write(errno) => print_error(name, &format!("standard output: {}", errno.text())),
        }
        TROUBLE
    }
}
