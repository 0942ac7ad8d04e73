//! What GNU tools share: command lines, patterns, and the words of their messages.
//!
//! Tools that no crate offers in a form which runs here (`grep`, `find`, `xargs`, `chmod` ...) are written on top of
//! this, so that they read options, patterns and globs in one way.

pub mod answer;
pub mod backup;
pub mod calendar;
pub mod choice;
pub mod command;
pub mod command_line;
pub mod datetime;
pub mod escape;
pub mod getopt;
pub mod glob;
pub mod message;
pub mod mode;
pub mod regex;
pub mod room;
pub mod stamp;
pub mod stream;
pub mod strftime;
pub mod tool;
pub mod user;
pub mod version_order;
pub mod zone;
