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

use tidebox_gnu::tool::{Main, run};

/// Every tool, ordered by name.
const TOOLS: &[(&str, Main)] = &[
    ("bunzip2", |words| bzip2::main("bunzip2", words)),
    ("bzcat", |words| bzip2::main("bzcat", words)),
    ("bzip2", |words| bzip2::main("bzip2", words)),
    ("gunzip", |words| gzip::main("gunzip", words)),
    ("gzip", |words| gzip::main("gzip", words)),
    ("lzcat", |words| xz::main("lzcat", words)),
    ("lzma", |words| xz::main("lzma", words)),
    ("unlzma", |words| xz::main("unlzma", words)),
    ("unxz", |words| xz::main("unxz", words)),
    ("unzstd", |words| zstd::main("unzstd", words)),
    ("xz", |words| xz::main("xz", words)),
    ("xzcat", |words| xz::main("xzcat", words)),
    ("zcat", |words| gzip::main("zcat", words)),
    ("zstd", |words| zstd::main("zstd", words)),
    ("zstdcat", |words| zstd::main("zstdcat", words)),
    ("zstdmt", |words| zstd::main("zstdmt", words)),
];

fn main() {
    run("compress", TOOLS);
}
