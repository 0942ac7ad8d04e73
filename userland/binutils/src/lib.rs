//! Tools of binutils.

mod strings;

pub use strings::main as strings;
