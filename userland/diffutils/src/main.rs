//! Tools that compare files.
//!
//! The program's name chooses the tool. Both read whatever can be opened: files, pipes and devices.

mod cmp;
mod columns;
mod diff;
mod edits;
mod file;
mod format;
mod groups;
mod options;
mod output;
mod script;
#[cfg(test)]
mod tests;

use std::process::exit;

use tidebox_gnu::message::{arguments, complain, program};
use tidebox_rt::Errno;

/// Exit code when files differ.
const DIFFERENT: i32 = 1;
/// Exit code of trouble.
const TROUBLE: i32 = 2;

/// Runs a tool: arguments without its name, to its exit code or what is wrong.
type Main = fn(Vec<Vec<u8>>) -> Result<i32, Failure>;

/// Every tool, ordered by name.
const TOOLS: &[(&str, Main)] = &[("cmp", cmp::main), ("diff", diff::main)];

/// Why a tool ended early.
#[derive(Debug, PartialEq, Eq)]
enum Failure {
    /// The command line is wrong.
    Usage(String),
    /// Something else is, told by a message.
    Other(String),
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
    // `diffutils diff` does what `diff` does.
    if find(&name).is_none() && !arguments.is_empty() {
        name = String::from_utf8_lossy(&arguments.remove(0)).into_owned();
    }
    let Some((name, tool)) = find(&name) else {
        let names: Vec<&str> = TOOLS.iter().map(|(name, _)| *name).collect();
        complain("diffutils", &format!("unknown program '{name}'; there are: {}", names.join(" ")));
        exit(127);
    };
    let code = tool(arguments).unwrap_or_else(|failure| {
        match failure {
            Failure::Usage(message) => {
                complain(name, &message);
                complain(name, &format!("Try '{name} --help' for more information."));
            }
            Failure::Other(message) => complain(name, &message),
            Failure::Write(errno) => complain(name, &format!("standard output: {}", errno.text())),
        }
        TROUBLE
    });
    // Returning is the cheaper way to exit code 0: leaving from inside unwinds the instance.
    if code != 0 {
        exit(code);
    }
}
