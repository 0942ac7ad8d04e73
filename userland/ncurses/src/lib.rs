//! Tools of ncurses. The crates termini and terminfo read databases, which a sandbox lacks.

mod terminal;
#[cfg(test)]
mod tests;
mod tput;

pub use tput::clear;
pub use tput::main as tput;
pub use tput::reset;
