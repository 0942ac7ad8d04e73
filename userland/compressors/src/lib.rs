//! The compressors `gzip`, `bzip2`, `xz` and `zstd`, with their aliases.
//!
//! Libraries implement the formats; this crate implements command lines, file replacement and messages, because scripts depend on
//! all three. [`job`] has what the compressors share.

mod bzip2;
mod gzip;
mod job;
mod place;
mod stream;
#[cfg(test)]
mod tests;
mod wrappers;
mod xz;
mod zstd;

pub use bzip2::main as bzip2;
pub use gzip::main as gzip;
pub use wrappers::{compare, grep, page};
pub use xz::main as xz;
pub use zstd::main as zstd;
