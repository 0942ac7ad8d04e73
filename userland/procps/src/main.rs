//! What runs, how long and in how much memory, as `/proc` of the sandbox tells it.
//!
//! `procfs` and `sysinfo` read the `/proc` of Linux by system calls that are not there, and print nothing.

mod columns;
mod forest;
mod free;
mod grep;
mod killall;
mod lscpu;
mod process;
mod ps;
mod pstree;
mod renice;
#[cfg(test)]
mod tests;
mod top;
mod uptime;
mod users;
mod watch;

use tidebox_gnu::tool::{Main, run};

/// Every tool, ordered by name.
const TOOLS: &[(&str, Main)] = &[
    ("free", free::main),
    ("killall", killall::main),
    ("last", users::last),
    ("lscpu", lscpu::main),
    ("pgrep", grep::pgrep),
    ("pidof", grep::pidof),
    ("pkill", grep::pkill),
    ("ps", ps::main),
    ("pstree", pstree::main),
    ("renice", renice::main),
    ("top", top::main),
    ("uptime", uptime::main),
    ("users", users::users),
    ("w", users::w),
    ("watch", watch::main),
    ("who", users::who),
];

fn main() {
    run("procps", TOOLS);
}

/// Prints a text and answers the exit code.
fn print(tool: &str, text: &str, code: i32) -> i32 {
    let mut out = tidebox_gnu::stream::Output::standard();
    out.push(text.as_bytes());
    out.finish(tool, code)
}

/// A wrong command line, as the tools of procps tell it: a message and the whole summary.
fn wrong(tool: &str, message: &str, help: &str, code: i32) -> i32 {
    tidebox_gnu::message::complain(tool, message);
    tidebox_gnu::tell_part!("{help}");
    code
}
