//! Sockets of the operating system.

use std::mem::ManuallyDrop;
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::os::fd::{FromRawFd, IntoRawFd};
use std::os::unix::net::UnixStream;

use super::descriptor::raw;
use crate::{Errno, Fd, Result};

fn errno(error: std::io::Error) -> Errno {
    error.raw_os_error().map_or(Errno::IO, super::errno::errno_of)
}

fn descriptor(socket: impl IntoRawFd) -> Fd {
    Fd::try_from(socket.into_raw_fd()).unwrap_or(Fd::MAX)
}

/// Borrows a descriptor as a socket of std.
fn borrow<T: FromRawFd>(fd: Fd) -> ManuallyDrop<T> {
    // SAFETY: the value is never dropped, so that the descriptor stays open; a wrong descriptor only fails.
    ManuallyDrop::new(unsafe { T::from_raw_fd(raw(fd)) })
}

pub(crate) fn connect(address: SocketAddr) -> Result<Fd> {
    TcpStream::connect(address).map(descriptor).map_err(errno)
}

pub(crate) fn listen(address: SocketAddr, _backlog: u32) -> Result<Fd> {
    TcpListener::bind(address).map(descriptor).map_err(errno)
}

pub(crate) fn accept(fd: Fd) -> Result<Fd> {
    borrow::<TcpListener>(fd).accept().map(|(stream, _)| descriptor(stream)).map_err(errno)
}

pub(crate) fn shut_down_write(fd: Fd) -> Result<()> {
    borrow::<TcpStream>(fd).shutdown(Shutdown::Write).map_err(errno)
}

pub(crate) fn peer_address(fd: Fd) -> Result<SocketAddr> {
    borrow::<TcpStream>(fd).peer_addr().map_err(errno)
}

pub(crate) fn own_address(fd: Fd) -> Result<SocketAddr> {
    borrow::<TcpStream>(fd).local_addr().map_err(errno)
}

pub(crate) fn start_connect(address: SocketAddr) -> Result<(Fd, bool)> {
    let fd = connect(address)?;
    super::set_nonblocking(fd)?;
    Ok((fd, true))
}

pub(crate) fn finish_connect(_fd: Fd, _address: SocketAddr) -> Result<bool> {
    Ok(true)
}

pub(crate) fn socket_pair() -> Result<(Fd, Fd)> {
    UnixStream::pair().map(|(one, other)| (descriptor(one), descriptor(other))).map_err(errno)
}
