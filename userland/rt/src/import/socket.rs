//! Sockets. The layout of addresses is that of `docs/abi.md`.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

use super::descriptor::{close, set_nonblocking};
use super::raw::{tidebox, wasi};
use crate::errno::check;
use crate::{Errno, Fd, Result};

const INET: u16 = 1;
const INET6: u16 = 2;

fn family(address: SocketAddr) -> u16 {
    if address.is_ipv4() { INET } else { INET6 }
}

fn encode(address: SocketAddr) -> [u8; 20] {
    let mut bytes = [0; 20];
    bytes[0..2].copy_from_slice(&family(address).to_le_bytes());
    bytes[2..4].copy_from_slice(&address.port().to_le_bytes());
    match address.ip() {
        IpAddr::V4(ip) => bytes[4..8].copy_from_slice(&ip.octets()),
        IpAddr::V6(ip) => bytes[4..20].copy_from_slice(&ip.octets()),
    }
    bytes
}

fn decode(bytes: [u8; 20]) -> SocketAddr {
    let [f0, f1, p0, p1, ip @ ..] = bytes;
    let [a, b, c, d, ..] = ip;
    let ip = match u16::from_le_bytes([f0, f1]) {
        INET6 => IpAddr::V6(Ipv6Addr::from(ip)),
        _ => IpAddr::V4(Ipv4Addr::new(a, b, c, d)),
    };
    SocketAddr::new(ip, u16::from_le_bytes([p0, p1]))
}

/// Opens a socket of the family of an address, and closes it if `use_it` fails.
fn open(address: SocketAddr, use_it: impl FnOnce(Fd) -> Result<()>) -> Result<Fd> {
    let mut fd = 0;
    // SAFETY: `fd` is a live local.
    check(unsafe { tidebox::sock_open(u32::from(family(address)), &mut fd) })?;
    match use_it(fd) {
        Ok(()) => Ok(fd),
        Err(errno) => {
            // Nothing was written to it.
            let _ = close(fd);
            Err(errno)
        }
    }
}

pub(crate) fn connect(address: SocketAddr) -> Result<Fd> {
    let encoded = encode(address);
    open(address, |fd| {
        loop {
            // SAFETY: the address is a live local of the size that the kernel reads.
            match check(unsafe { tidebox::sock_connect(fd, &encoded) }) {
                Err(Errno::INTR) => {}
                done => return done,
            }
        }
    })
}

pub(crate) fn listen(address: SocketAddr, backlog: u32) -> Result<Fd> {
    let encoded = encode(address);
    open(address, |fd| {
        // SAFETY: the address is a live local of the size that the kernel reads.
        check(unsafe { tidebox::sock_bind(fd, &encoded) })?;
        // SAFETY: no memory is passed.
        check(unsafe { tidebox::sock_listen(fd, backlog) })
    })
}

pub(crate) fn accept(fd: Fd) -> Result<Fd> {
    let mut accepted = 0;
    // SAFETY: `accepted` is a live local.
    check(unsafe { wasi::sock_accept(fd, 0, &mut accepted) })?;
    Ok(accepted)
}

pub(crate) fn shut_down_write(fd: Fd) -> Result<()> {
    const WRITE: u32 = 2;
    // SAFETY: no memory is passed.
    check(unsafe { wasi::sock_shutdown(fd, WRITE) })
}

pub(crate) fn peer_address(fd: Fd) -> Result<SocketAddr> {
    name(fd, 1)
}

pub(crate) fn own_address(fd: Fd) -> Result<SocketAddr> {
    name(fd, 0)
}

fn name(fd: Fd, of_peer: u32) -> Result<SocketAddr> {
    let mut bytes = [0; 20];
    // SAFETY: `bytes` is a live local of the size that the kernel writes.
    check(unsafe { tidebox::sock_name(fd, of_peer, &mut bytes) })?;
    Ok(decode(bytes))
}

pub(crate) fn start_connect(address: SocketAddr) -> Result<(Fd, bool)> {
    let mut connected = false;
    let fd = open(address, |fd| {
        set_nonblocking(fd)?;
        connected = finish_connect(fd, address)?;
        Ok(())
    })?;
    Ok((fd, connected))
}

pub(crate) fn finish_connect(fd: Fd, address: SocketAddr) -> Result<bool> {
    let encoded = encode(address);
    // SAFETY: the address is a live local of the size that the kernel reads.
    match check(unsafe { tidebox::sock_connect(fd, &encoded) }) {
        Ok(()) | Err(Errno::ISCONN) => Ok(true),
        Err(Errno::INPROGRESS | Errno::ALREADY | Errno::INTR) => Ok(false),
        Err(errno) => Err(errno),
    }
}

pub(crate) fn socket_pair() -> Result<(Fd, Fd)> {
    let mut fds = [0; 2];
    // SAFETY: `fds` is a live local of the size that the kernel writes.
    check(unsafe { tidebox::sock_pair(&mut fds) })?;
    Ok((fds[0], fds[1]))
}
