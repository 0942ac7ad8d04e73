//! Tools that compare files.
//!
//! The program's name chooses the tool. Both read whatever can be opened: files, pipes and devices.

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
mod pages;
mod script;
mod sdiff;
#[cfg(test)]
mod tests;

use tidebox_gnu::answer::{Answer, Ending};
use tidebox_gnu::command_line::Early;
use tidebox_gnu::message::complain;
use tidebox_gnu::tool::{Main, run};
use tidebox_rt::Errno;

/// Exit code when files differ.
const DIFFERENT: i32 = 1;
/// Exit code of trouble.
const TROUBLE: i32 = 2;

/// Every tool, ordered by name.
const TOOLS: &[(&str, Main<Result<i32, Failure>>)] =
    &[("cmp", cmp::main), ("diff", diff::main), ("diff3", diff3::main), ("sdiff", sdiff::main)];

/// Why a tool ended early.
#[derive(Debug, PartialEq, Eq)]
enum Failure {
    /// The command line is wrong.
    Usage(String),
    /// Something else is, told by a message.
    Other(String),
    /// Standard output does not take what is written.
    Write(Errno),
    /// The command line asked for a text.
    Asked(Answer),
}

impl Early for Failure {
    fn early(_: &str, answer: Answer) -> Self {
        match answer {
            Answer::Usage(message, _) => Self::Usage(message),
            answer => Self::Asked(answer),
        }
    }
}

fn main() {
    run("diffutils", TOOLS);
}

impl Ending for Failure {
    fn end(self, name: &str) -> i32 {
        match self {
            Self::Usage(message) => {
                complain(name, &message);
                complain(name, &format!("Try '{name} --help' for more information."));
            }
            Self::Asked(answer) => return if answer.end(name) == 0 { 0 } else { TROUBLE },
            Self::Other(message) => complain(name, &message),
            Self::Write(errno) => complain(name, &format!("standard output: {}", errno.text())),
        }
        TROUBLE
    }
}
