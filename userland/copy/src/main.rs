//! The tools that copy, move, link and remove files.
//!
//! Those of uutils cannot do it here: WASI has no modes, `cp -p` and `cp -a` fail because std cannot set times there, and
//! `mv` looks for another error number when it meets another file system.

mod ask;
mod copy;
mod cp;
mod data;
mod ln;
mod mv;
mod remove;
mod rm;
mod rmdir;
mod same_file;
mod target;
#[cfg(test)]
mod tests;

use tidebox_gnu::tool::{Main, run};

/// Every tool, ordered by name.
const TOOLS: &[(&str, Main)] =
    &[("cp", cp::main), ("ln", ln::main), ("mv", mv::main), ("rm", rm::main), ("rmdir", rmdir::main)];

fn main() {
    run("copy", TOOLS);
}

/// Prints a line on stdout. A reader that has gone ends the process by a signal; what else can fail here is told.
fn say(tool: &str, line: &str) -> bool {
    match tidebox_rt::write_all(1, format!("{line}\n").as_bytes()) {
        Ok(()) => true,
        Err(error) => {
            tidebox_gnu::message::complain(tool, &format!("write error: {}", error.text()));
            false
        }
    }
}
