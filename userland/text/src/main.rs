//! Tools that copy and count text.
//!
//! The `cat` of uutils asks for the kind of a file through std, which knows neither pipes nor devices in WASI, and
//! refuses both. Its `tail` cannot follow files there; its `fold` and `wc` count columns and words otherwise than GNU, its
//! `nl` indents lines without a number otherwise, and its `fmt` breaks paragraphs by other rules.

mod breaks;
mod cat;
mod fmt;
mod fold;
mod follow;
mod head;
mod input;
mod nl;
mod number;
mod pr;
mod render;
mod sort;
mod split;
mod tac;
mod tail;
#[cfg(test)]
mod tests;
mod wc;

use tidebox_gnu::answer::{Answer, Ending};
use tidebox_gnu::command_line::Early;
use tidebox_gnu::message::complain;
use tidebox_gnu::tool::{Main, run, usage};
use tidebox_rt::Errno;

/// Every tool, ordered by name.
const TOOLS: &[(&str, Main<Result<i32, Failure>>)] = &[
    ("cat", cat::main),
    ("fmt", fmt::main),
    ("fold", fold::main),
    ("head", head::main),
    ("nl", nl::main),
    ("pr", pr::main),
    ("sort", sort::main),
    ("split", split::main),
    ("tac", tac::main),
    ("tail", tail::main),
    ("wc", wc::main),
];

/// Why a tool ended early.
#[derive(Debug, PartialEq, Eq)]
enum Failure {
    /// The command line is wrong.
    Usage(String),
    /// It asks for what cannot be done.
    Unsupported(String),
    /// Standard output does not take what is written.
    Write(Errno),
    /// The command line has its answer: help, or what is wrong.
    Answered(Answer),
}

impl Early for Failure {
    fn early(_: &str, answer: Answer) -> Self {
        Self::Answered(answer)
    }
}

fn main() {
    run("text", TOOLS);
}

impl Ending for Failure {
    fn end(self, name: &str) -> i32 {
        match self {
            Self::Usage(message) => return usage(name, &message, 1),
            Self::Answered(answer) => return answer.end(name),
            Self::Unsupported(message) => complain(name, &message),
            // A reader that has gone is met here only by whoever ignores SIGPIPE; the kernel ends all others quietly.
            Self::Write(errno) => complain(name, &format!("write error: {}", errno.text())),
        }
        1
    }
}
