//! Checksums, texts that stand for bytes, and character sets.
//!
//! Those of uutils print nothing of an encoded text that is wrong at its end, and read no escaped names when they check.

mod alphabet;
mod base;
mod charset;
mod check;
mod cksum;
mod digest;
mod help;
mod iconv;
mod shasum;
mod sum;
#[cfg(test)]
mod tests;

use tidebox_gnu::tool::Main;

/// Every tool, ordered by name.
const TOOLS: &[(&str, Main)] = &[
    ("b2sum", |arguments| sum::main("b2sum", arguments)),
    ("base32", |arguments| base::main("base32", arguments)),
    ("base64", |arguments| base::main("base64", arguments)),
    ("basenc", |arguments| base::main("basenc", arguments)),
    ("cksum", cksum::cksum),
    ("iconv", iconv::main),
    ("md5sum", |arguments| sum::main("md5sum", arguments)),
    ("sha1sum", |arguments| sum::main("sha1sum", arguments)),
    ("sha224sum", |arguments| sum::main("sha224sum", arguments)),
    ("sha256sum", |arguments| sum::main("sha256sum", arguments)),
    ("sha384sum", |arguments| sum::main("sha384sum", arguments)),
    ("sha512sum", |arguments| sum::main("sha512sum", arguments)),
    ("shasum", shasum::main),
    ("sum", cksum::sum),
];

fn main() {
    tidebox_gnu::tool::run("encode", TOOLS);
}
