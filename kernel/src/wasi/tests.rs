//! Guest calls: success and every failure path.

mod bytes;
mod descriptors;
mod directories;
mod fifos;
mod guest;
mod hostile;
mod interactive;
mod paths;
mod pipes;
mod plain;
mod poll;
mod processes;
mod procfs;
mod shell_state;
mod signals;
mod sockets;
mod startup;
