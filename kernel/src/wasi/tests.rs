//! Calls as guests make them, on their way of success and on every way of failing.

mod bytes;
mod descriptors;
mod directories;
mod fifos;
mod hostile;
mod paths;
mod pipes;
mod plain;
mod poll;
mod processes;
mod shell_state;
mod signals;
mod start;
mod talk;
