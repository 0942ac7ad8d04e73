//! Runloop (<https://runloop.ai>): one REST interface for devboxes, their commands and their files.
//!
//! # Commands
//! A command has a name that its caller gives it, so starting one may be repeated: the second time it is the same command. Its
//! output is text, kept apart by stream; an answer holds the last lines of it and says whether it was cut, and events hold all
//! of it from any byte on. There is no directory, no environment and no time limit for a command, so a line of shell sets them;
//! when its time is up it is killed by name.

mod config;
mod execution;
mod provider;
mod sandbox;
pub mod wire;

#[cfg(test)]
mod tests;

pub use config::RunloopConfig;
pub use provider::{RunloopControl, RunloopProvider};
pub use sandbox::RunloopSandbox;
