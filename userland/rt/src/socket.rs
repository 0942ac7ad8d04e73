//! TCP sockets. In the sandbox every address of the loopback is the sandbox itself; other addresses are unreachable.

use std::net::SocketAddr;

use crate::{Fd, Result, border};

/// Opens a connection.
///
/// # Errors
/// `CONNREFUSED` if nothing listens, `NETUNREACH` for an address outside the sandbox, `NOTSUP` if the engine runs the programs
/// of a sandbox one after the other.
pub fn connect(address: SocketAddr) -> Result<Fd> {
    border::connect(address)
}

/// Opens a socket that waits for connections; at most `backlog` wait to be accepted.
///
/// # Errors
/// `ADDRINUSE` if another socket has the port.
pub fn listen(address: SocketAddr, backlog: u32) -> Result<Fd> {
    border::listen(address, backlog)
}

/// Waits for a connection. `INTR` if a caught signal arrives first.
pub fn accept(fd: Fd) -> Result<Fd> {
    border::accept(fd)
}

/// Ends the data to the peer, which can still send.
pub fn shut_down_write(fd: Fd) -> Result<()> {
    border::shut_down_write(fd)
}

/// Returns the address of the other end.
pub fn peer_address(fd: Fd) -> Result<SocketAddr> {
    border::peer_address(fd)
}
