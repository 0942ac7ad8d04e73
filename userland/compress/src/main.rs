//! The compressors: `gzip`, `bzip2`, `xz` and `zstd` with their other names.
//!
//! The formats come from libraries; what is here are the command lines, the files they replace and the words they use,
//! because scripts look at all three.

mod bzip2;
mod gzip;
mod place;
mod stream;
#[cfg(test)]
mod tests;
mod words;
mod xz;
mod zstd;

use std::process::exit;

use tidebox_gnu::message::{arguments, complain, program};

/// Runs a tool: the name under which it was started and the arguments after it, to its exit code.
type Main = fn(&str, Vec<Vec<u8>>) -> i32;

/// Every tool, ordered by name.
const TOOLS: &[(&str, Main)] = &[
    ("bunzip2", bzip2::main),
    ("bzcat", bzip2::main),
    ("bzip2", bzip2::main),
    ("gunzip", gzip::main),
    ("gzip", gzip::main),
    ("lzcat", xz::main),
    ("lzma", xz::main),
    ("unlzma", xz::main),
    ("unxz", xz::main),
    ("unzstd", zstd::main),
    ("xz", xz::main),
    ("xzcat", xz::main),
    ("zcat", gzip::main),
    ("zstd", zstd::main),
    ("zstdcat", zstd::main),
    ("zstdmt", zstd::main),
];

fn find(name: &str) -> Option<(&'static str, Main)> {
    let at = TOOLS.binary_search_by(|(known, _)| known.cmp(&name)).ok()?;
    TOOLS.get(at).copied()
}

fn main() {
    tidebox_rt::start();
    let mut arguments = arguments();
    let mut name = program();
    // `compress gzip` does what `gzip` does.
    if find(&name).is_none() && !arguments.is_empty() {
        name = String::from_utf8_lossy(&arguments.remove(0)).into_owned();
    }
    let Some((name, tool)) = find(&name) else {
        let names: Vec<&str> = TOOLS.iter().map(|(name, _)| *name).collect();
        complain("compress", &format!("unknown program '{name}'; there are: {}", names.join(" ")));
        exit(127);
    };
    let code = tool(name, arguments);
    // Returning is the cheaper way to exit code 0: leaving from inside unwinds the instance.
    if code != 0 {
        exit(code);
    }
}
