//! GNU `time`.

mod time;

pub use time::main as time;
