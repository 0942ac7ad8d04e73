//! Tools of psmisc.

mod killall;
mod pstree;

pub use killall::main as killall;
pub use pstree::main as pstree;
