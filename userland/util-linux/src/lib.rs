//! Tools of util-linux, and of bsdmainutils which it took over (`cal`, `col`, `hexdump`, `look`).
//!
//! The crates that dump bytes (hexyl, hexdump, hexplay) or make tables (tabled, comfy-table) have their own layout; scripts read the
//! one of util-linux.

mod cal;
mod col;
mod colrm;
mod column;
mod flock;
mod getopt;
mod hexdump;
mod ionice;
mod last;
mod look;
mod lscpu;
mod mountpoint;
mod namei;
mod renice;
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
pub use cal::ncal;
pub use col::main as col;
pub use colrm::main as colrm;
pub use column::main as column;
pub use flock::main as flock;
pub use getopt::main as getopt;
pub use hexdump::canonical as hd;
pub use hexdump::main as hexdump;
pub use ionice::ionice;
pub use last::last;
pub use look::main as look;
pub use lscpu::main as lscpu;
pub use mountpoint::main as mountpoint;
pub use namei::main as namei;
pub use renice::main as renice;
pub use rev::main as rev;
pub use script::main as script;
pub use setsid::main as setsid;
pub use taskset::taskset;
pub use uuidgen::mcookie;
pub use uuidgen::uuidgen;
pub use whereis::main as whereis;

/// `NAME: what the system says`, as the tools of util-linux put it.
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
