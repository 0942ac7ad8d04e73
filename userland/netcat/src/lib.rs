//! `nc`: reads and writes connections.

mod nc;

pub use nc::main as nc;
