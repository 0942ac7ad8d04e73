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
mod input;
mod nl;
mod number;
mod render;
mod tac;
mod tail;
#[cfg(test)]
mod tests;
mod wc;

use std::process::exit;

use tidebox_gnu::message::{arguments, complain, program};
use tidebox_rt::Errno;

/// Runs a tool: arguments without its name, to its exit code or what is wrong.
type Main = fn(Vec<Vec<u8>>) -> Result<i32, Failure>;

/// Every tool, ordered by name.
const TOOLS: &[(&str, Main)] = &[
    ("cat", cat::main),
    ("fmt", fmt::main),
    ("fold", fold::main),
    ("nl", nl::main),
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
}

fn find(name: &str) -> Option<(&'static str, Main)> {
    let at = TOOLS.binary_search_by(|(known, _)| known.cmp(&name)).ok()?;
    TOOLS.get(at).copied()
}

fn main() {
    tidebox_rt::start();
    let mut arguments = arguments();
    let mut name = program();
    // `text cat` does what `cat` does.
    if find(&name).is_none() && !arguments.is_empty() {
        name = String::from_utf8_lossy(&arguments.remove(0)).into_owned();
    }
    let Some((name, tool)) = find(&name) else {
        let names: Vec<&str> = TOOLS.iter().map(|(name, _)| *name).collect();
        complain("text", &format!("unknown program '{name}'; there are: {}", names.join(" ")));
        exit(127);
    };
    let code = tool(arguments).unwrap_or_else(|failure| explain(name, &failure));
    // Returning is the cheaper way to exit code 0: leaving from inside unwinds the instance.
    if code != 0 {
        exit(code);
    }
}

fn explain(name: &str, failure: &Failure) -> i32 {
    match failure {
        Failure::Usage(message) => {
            complain(name, message);
            eprintln!("Try '{name} --help' for more information.");
        }
        Failure::Unsupported(message) => complain(name, message),
        // A reader that has gone is met here only by whoever ignores SIGPIPE; the kernel ends all others quietly.
        Failure::Write(errno) => complain(name, &format!("write error: {}", errno.text())),
    }
    1
}
