//! Daytona (<https://daytona.io>), the platform that its clients call v0: a REST control plane, and in each sandbox a daemon, the
//! *toolbox*, that runs commands and moves files.
//!
//! # Commands
//! The daemon runs a command in one request and answers when it ended, with both streams as one text; at its own time limit it
//! kills the command and loses the output. Its *sessions* keep streams apart, but lose NUL bytes, add line feeds, and never
//! learn the exit code of `exit 3`. So a command is wrapped here: a small script (`job`) that any POSIX sh understands sends
//! both streams to files, and ends its one answer with what they hold. While a command runs, its files are looked at:
//! often when somebody watches, now and then otherwise, which also tells Daytona that the sandbox is in use. The same look
//! finds the end of a command whose answer was lost; no command is ever sent twice.

mod config;
mod job;
mod provider;
mod sandbox;
pub mod wire;

#[cfg(test)]
mod tests;

pub use config::DaytonaConfig;
pub use provider::{DaytonaControl, DaytonaProvider};
pub use sandbox::DaytonaSandbox;
