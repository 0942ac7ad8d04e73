//! Tools of util-linux and bsdmainutils.
//!
//! Crates that dump bytes (hexyl, hexdump, hexplay) or print tables (tabled, comfy-table) have other layouts. Scripts parse the
//! layout of util-linux.

mod cal;
mod column;
mod flock;
mod getopt;
mod hexdump;
mod ionice;
mod lscpu;
mod mountpoint;
mod rev;
mod script;
mod setsid;
mod taskset;
#[cfg(test)]
mod tests;
mod uuidgen;
mod whereis;

use tidebox_gnu::command::Command;
use tidebox_rt::Errno;

pub use cal::cal;
pub use column::main as column;
pub use flock::main as flock;
pub use getopt::main as getopt;
pub use hexdump::canonical as hd;
pub use hexdump::main as hexdump;
pub use ionice::ionice;
pub use lscpu::main as lscpu;
pub use mountpoint::main as mountpoint;
pub use rev::main as rev;
pub use script::main as script;
pub use setsid::main as setsid;
pub use taskset::taskset;
pub use uuidgen::uuidgen;
pub use whereis::main as whereis;

/// Prints `NAME: ERROR` and returns exit code 1.
fn cannot(tool: &str, name: &[u8], errno: tidebox_rt::Errno) -> i32 {
    tidebox_gnu::message::print_error(tool, &format!("{}: {}", String::from_utf8_lossy(name), errno.text()));
    1
}

/// Runs a program, waits for it and returns its exit code.
fn run_command(tool: &str, words: &[Vec<u8>]) -> i32 {
    let words: Vec<&[u8]> = words.iter().map(Vec::as_slice).collect();
    match Command::new(&words).run() {
        Ok(status) => i32::from(status.code()),
        Err(error) => {
            let name = String::from_utf8_lossy(words.first().copied().unwrap_or_default()).into_owned();
            tidebox_gnu::message::print_error(tool, &format!("failed to execute {name}: {}", error.text()));
            if error == Errno::NOENT { 127 } else { 126 }
        }
    }
}
