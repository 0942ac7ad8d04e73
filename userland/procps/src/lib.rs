//! Tools of procps, which read `/proc` of the sandbox.
//!
//! `procfs` and `sysinfo` need Linux system calls that the sandbox lacks.

mod columns;
mod forest;
mod free;
mod pgrep;
mod process;
mod ps;
#[cfg(test)]
mod tests;
mod top;
mod uptime;
mod w;

pub use free::main as free;
pub use pgrep::pgrep;
pub use pgrep::pidof;
pub use pgrep::pkill;
pub use process::Process;
pub use ps::main as ps;
pub use top::main as top;
pub use uptime::main as uptime;
pub use w::w;

/// Prints a text and returns the exit code.
fn print(tool: &str, text: &str, code: i32) -> i32 {
    let mut out = tidebox_gnu::stream::Output::standard();
    out.push(text.as_bytes());
    out.finish(tool, code)
}

/// A usage error in the format of procps: a message and the whole usage.
fn usage_error(tool: &str, message: &str, help: &str, code: i32) -> i32 {
    tidebox_gnu::message::print_error(tool, message);
    tidebox_gnu::eprint_part!("{help}");
    code
}
