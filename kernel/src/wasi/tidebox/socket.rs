//! Functions of `tidebox_v1` for sockets. Addresses have the layout of `docs/abi.md`.

use core::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

use crate::errno::Errno;
use crate::guest_memory::GuestMemory;
use crate::kernel::Kernel;
use crate::process::Pid;
use crate::socket::Family;
use crate::syscall::{SyscallError, SyscallOutcome, blocking_call, call};
use crate::wasi::arg::{address, put_u32};

/// Bytes of an address: family and port of 2 bytes each, and an IP address of 16 bytes (IPv4: the first four).
const ADDRESS_BYTES: usize = 20;

/// Numbers of the families, as in wasi-libc.
const INET: u16 = 1;
const INET6: u16 = 2;
const UNIX: u16 = 3;

/// Creates a socket and writes its descriptor. `AFNOSUPPORT` for families other than IPv4 and IPv6.
pub fn sock_open(k: &mut Kernel, pid: Pid, m: &mut dyn GuestMemory, family: u32, out: u32) -> SyscallOutcome {
    call(k, pid, |k| {
        let family = match u16::try_from(family) {
            Ok(INET) => Family::Inet,
            Ok(INET6) => Family::Inet6,
            _ => return Err(Errno::Afnosupport.into()),
        };
        // Written once before, so that a bad address fails before a descriptor is open.
        put_u32(m, out, 0)?;
        let fd = k.open_socket(pid, family)?;
        Ok(put_u32(m, out, fd)?)
    })
}

/// Creates two connected sockets and writes their descriptors.
pub fn sock_pair(k: &mut Kernel, pid: Pid, m: &mut dyn GuestMemory, out: u32) -> SyscallOutcome {
    call(k, pid, |k| {
        let second = address(out, 4)?;
        put_u32(m, out, 0)?;
        put_u32(m, second, 0)?;
        let (one, other) = k.open_socket_pair(pid)?;
        put_u32(m, out, one)?;
        Ok(put_u32(m, second, other)?)
    })
}

/// Gives a socket an address. Port 0 means a free port.
pub fn sock_bind(k: &mut Kernel, pid: Pid, m: &mut dyn GuestMemory, fd: u32, address: u32) -> SyscallOutcome {
    call(k, pid, |k| {
        let address = read_address(m, address)?;
        Ok(k.bind_socket(pid, fd, address)?)
    })
}

/// Starts to accept connections; at most 128 wait.
pub fn sock_listen(k: &mut Kernel, pid: Pid, m: &mut dyn GuestMemory, fd: u32, backlog: u32) -> SyscallOutcome {
    let _ = m;
    call(k, pid, |k| Ok(k.listen_socket(pid, fd, backlog)?))
}

/// Connects to a listening socket of the sandbox. Waits while its queue is full.
pub fn sock_connect(k: &mut Kernel, pid: Pid, m: &mut dyn GuestMemory, fd: u32, address: u32) -> SyscallOutcome {
    blocking_call(k, pid, |k| {
        let address = read_address(m, address)?;
        k.connect_socket(pid, fd, address)
    })
}

/// Writes the address of a socket (`of_peer` 0) or of its peer (1).
pub fn sock_name(k: &mut Kernel, pid: Pid, m: &mut dyn GuestMemory, fd: u32, of_peer: u32, out: u32) -> SyscallOutcome {
    call(k, pid, |k| {
        let of_peer = match of_peer {
            0 => false,
            1 => true,
            _ => return Err(Errno::Inval.into()),
        };
        let (family, found) = k.socket_address(pid, fd, of_peer)?;
        Ok(m.write(out, &encode(family, found))?)
    })
}

fn read_address(m: &dyn GuestMemory, at: u32) -> Result<SocketAddr, SyscallError> {
    let mut raw = [0; ADDRESS_BYTES];
    m.read(at, &mut raw)?;
    let [f0, f1, p0, p1, ip @ ..] = raw;
    let port = u16::from_le_bytes([p0, p1]);
    let [a, b, c, d, ..] = ip;
    match u16::from_le_bytes([f0, f1]) {
        INET => Ok(SocketAddr::new(IpAddr::V4(Ipv4Addr::new(a, b, c, d)), port)),
        INET6 => Ok(SocketAddr::new(IpAddr::V6(Ipv6Addr::from(ip)), port)),
        _ => Err(Errno::Afnosupport.into()),
    }
}

/// Encodes an address; one that a socket does not have yet is zero. An IPv6 socket shows IPv4 addresses as IPv6 ones.
fn encode(family: Family, address: Option<SocketAddr>) -> [u8; ADDRESS_BYTES] {
    let mut raw = [0; ADDRESS_BYTES];
    let number = match family {
        Family::Inet => INET,
        Family::Inet6 => INET6,
        Family::Unix => UNIX,
    };
    let mut put = |at: usize, bytes: &[u8]| {
        if let Some(slot) = raw.get_mut(at..at + bytes.len()) {
            slot.copy_from_slice(bytes);
        }
    };
    put(0, &number.to_le_bytes());
    let Some(address) = address else { return raw };
    put(2, &address.port().to_le_bytes());
    match address.ip() {
        IpAddr::V4(ip) if family == Family::Inet6 && !ip.is_unspecified() => put(4, &ip.to_ipv6_mapped().octets()),
        IpAddr::V4(ip) if family == Family::Inet => put(4, &ip.octets()),
        IpAddr::V4(_) => {}
        IpAddr::V6(ip) => put(4, &ip.octets()),
    }
    raw
}
