//! Tools that came from BSD and that every Linux has: dumps of bytes, columns, pagers.
//!
//! The crates that dump bytes (hexyl, hexdump, hexplay) or make tables (tabled, comfy-table) have their own layout; what
//! scripts read is the one of `xxd` and of util-linux.

mod cal;
mod col;
mod colrm;
mod column;
mod hexdump;
mod look;
mod pager;
mod rev;
mod strings;
#[cfg(test)]
mod tests;
mod xxd;

use tidebox_gnu::tool::{Main, run};

/// Every tool, ordered by name.
const TOOLS: &[(&str, Main)] = &[
    ("cal", cal::cal),
    ("col", col::main),
    ("colrm", colrm::main),
    ("column", column::main),
    ("hd", hexdump::canonical),
    ("hexdump", hexdump::main),
    ("less", pager::less),
    ("look", look::main),
    ("more", pager::more),
    ("ncal", cal::ncal),
    ("pager", pager::less),
    ("rev", rev::main),
    ("strings", strings::main),
    ("xxd", xxd::main),
];

fn main() {
    run("bsd", TOOLS);
}

/// `NAME: what the system says`, as the tools of util-linux put it.
fn cannot(tool: &str, name: &[u8], errno: tidebox_rt::Errno) -> i32 {
    tidebox_gnu::message::complain(tool, &format!("{}: {}", String::from_utf8_lossy(name), errno.text()));
    1
}
