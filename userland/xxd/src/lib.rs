//! `xxd` of Vim.

mod xxd;

pub use xxd::main as xxd;
