//! Tools of debianutils.

mod run_parts;
mod which;

pub use run_parts::main as run_parts;
pub use which::main as which;
