//! Tools that list the sockets of the sandbox, from `/proc/net/tcp`.

mod lsof;
mod netstat;
mod socket;
mod ss;

pub use lsof::main as lsof;
pub use netstat::main as netstat;
pub use ss::main as ss;
