//! Tools of debianutils.

mod which;

pub use which::main as which;
