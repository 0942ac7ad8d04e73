//! Daytona (<https://daytona.io>), the platform its clients call v0: a REST control plane, and in each sandbox a
//! daemon, the *toolbox*, that runs commands and transfers files.
//!
//! # Commands
//! The daemon runs a command in one request and responds when it has exited, with both streams merged into one text; at
//! its own time limit it kills the command and discards the output. Its *sessions* separate the streams, but lose NUL
//! bytes, add line feeds, and never receive the exit code of `exit 3`. The adapter therefore wraps each command in a
//! small script (`job`) for any POSIX sh. The script redirects both streams to files and returns their content at the
//! end of the single response. While a command runs, the adapter polls these files: often when output is streamed,
//! rarely otherwise, which also marks the sandbox as in use. Polling also detects the exit of a command whose response
//! was lost; no command is ever sent twice.

mod config;
mod job;
mod provider;
mod sandbox;
mod terminal;
pub mod wire;

#[cfg(test)]
mod tests;

pub use config::DaytonaConfig;
pub use provider::{DaytonaControl, DaytonaProvider};
pub use sandbox::DaytonaSandbox;
