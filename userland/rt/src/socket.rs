//! TCP sockets. In the sandbox every address of the loopback is the sandbox itself; other addresses are unreachable.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};

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

/// Returns the descriptors of two connected sockets.
pub fn socket_pair() -> Result<(Fd, Fd)> {
    border::socket_pair()
}

/// Returns the address of this end.
pub fn own_address(fd: Fd) -> Result<SocketAddr> {
    border::own_address(fd)
}

/// Starts a connection with a descriptor that never blocks. Returns it and whether the connection exists already; otherwise call
/// [`finish_connect`] when it can be written.
///
/// # Errors
/// As [`connect`].
pub fn start_connect(address: SocketAddr) -> Result<(Fd, bool)> {
    border::start_connect(address)
}

/// Continues [`start_connect`]. Returns whether the connection exists.
///
/// # Errors
/// As [`connect`].
pub fn finish_connect(fd: Fd, address: SocketAddr) -> Result<bool> {
    border::finish_connect(fd, address)
}

/// Returns the address of a name of the sandbox: `localhost` and names below it, and the addresses of the loopback, IPv6 ones
/// with or without brackets. `None` for the names and addresses of other hosts.
pub fn local_address(host: &str, port: u16) -> Option<SocketAddr> {
    let name = host.trim_end_matches('.').to_ascii_lowercase();
    let ip = if name == "localhost" || name.ends_with(".localhost") {
        IpAddr::V4(Ipv4Addr::LOCALHOST)
    } else {
        let bare = name.strip_prefix('[').and_then(|name| name.strip_suffix(']')).unwrap_or(&name);
        bare.parse::<IpAddr>().ok()?
    };
    let canonical = ip.to_canonical();
    (canonical.is_loopback() || canonical.is_unspecified()).then(|| SocketAddr::new(ip, port))
}
