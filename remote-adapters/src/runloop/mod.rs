//! Runloop (<https://runloop.ai>): one REST interface for devboxes, their commands and their files.
//!
//! # Commands
//! The client names each command, so starting it is idempotent: a second request returns the same command. Its output
//! is text, separated by stream; a response contains the last lines and a truncation flag, and events contain all
//! output from any byte offset. The API has no working directory, environment or time limit for a command, so a shell
//! line sets them; when the time limit expires, the command is killed by name.

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
