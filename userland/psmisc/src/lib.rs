//! Tools of psmisc.

mod killall;

pub use killall::main as killall;
