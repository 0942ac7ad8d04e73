//! Code shared by GNU-compatible tools: command lines, patterns and messages.
//!
//! Tools for which no suitable crate exists (`grep`, `find`, `xargs`, `chmod` ...) use this crate, so that they parse options,
//! patterns and globs consistently.

pub mod backup;
pub mod calendar;
pub mod choice;
pub mod command;
pub mod command_line;
pub mod datetime;
pub mod disk_usage;
pub mod escape;
pub mod exit;
pub mod getopt;
pub mod glob;
pub mod message;
pub mod mode;
pub mod options;
pub mod posix_time;
pub mod regex;
pub mod signal;
pub mod stream;
pub mod strftime;
pub mod tool;
pub mod user;
pub mod version_order;
pub mod zone;
