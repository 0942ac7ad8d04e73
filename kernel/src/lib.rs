//! The kernel: a small Unix as a pure library.

#![forbid(unsafe_code)]

mod errno;
pub mod fs;

pub use errno::Errno;
