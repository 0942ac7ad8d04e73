//! The sockets of the sandbox and the processes that have them.

use std::collections::BTreeMap;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

use tidebox_gnu::stream::read_all;

/// A socket with a port.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Socket {
    pub(crate) local: SocketAddr,
    pub(crate) peer: SocketAddr,
    pub(crate) is_listening: bool,
    /// Bytes to read, or connections to accept.
    pub(crate) queued: u32,
    inode: u64,
    pub(crate) owners: Vec<Owner>,
}

/// A descriptor of a process.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Owner {
    pub(crate) pid: u32,
    pub(crate) command: String,
    pub(crate) fd: u32,
}

impl Socket {
    /// Its number among the objects of the kernel.
    pub(crate) fn inode(&self) -> u64 {
        self.inode
    }

    pub(crate) fn is_ipv6(&self) -> bool {
        self.local.is_ipv6()
    }
}

/// Writes an address, with `*` for port 0. `ss` shows IPv6 addresses in brackets.
pub(crate) fn address_text(address: SocketAddr, brackets: bool) -> String {
    let ip = if brackets && address.is_ipv6() { format!("[{}]", address.ip()) } else { address.ip().to_string() };
    if address.port() == 0 { format!("{ip}:*") } else { format!("{ip}:{}", address.port()) }
}

/// Lists the sockets: those of IPv4 first.
pub(crate) fn list() -> Vec<Socket> {
    let mut owners = owners();
    let mut sockets = Vec::new();
    for (path, is_ipv6) in [(b"/proc/net/tcp".as_slice(), false), (b"/proc/net/tcp6", true)] {
        let text = read_all(path).unwrap_or_default();
        let text = String::from_utf8_lossy(&text);
        sockets.extend(text.lines().skip(1).filter_map(|row| parse(row, is_ipv6)));
    }
    for socket in &mut sockets {
        socket.owners = owners.remove(&socket.inode).unwrap_or_default();
    }
    sockets
}

fn parse(row: &str, is_ipv6: bool) -> Option<Socket> {
    let mut fields = row.split_whitespace().skip(1);
    let local = parse_address(fields.next()?, is_ipv6)?;
    let peer = parse_address(fields.next()?, is_ipv6)?;
    let is_listening = fields.next()? == "0A";
    let queued = u32::from_str_radix(fields.next()?.split_once(':')?.1, 16).ok()?;
    let inode = fields.nth(4)?.parse().ok()?;
    Some(Socket { local, peer, is_listening, queued, inode, owners: Vec::new() })
}

fn parse_address(text: &str, is_ipv6: bool) -> Option<SocketAddr> {
    let (ip, port) = text.split_once(':')?;
    let mut octets = Vec::new();
    for word in ip.as_bytes().as_chunks::<8>().0 {
        let word = u32::from_str_radix(std::str::from_utf8(word).ok()?, 16).ok()?;
        octets.extend_from_slice(&word.to_le_bytes());
    }
    let ip = if is_ipv6 {
        IpAddr::V6(Ipv6Addr::from(<[u8; 16]>::try_from(octets).ok()?))
    } else {
        IpAddr::V4(Ipv4Addr::from(<[u8; 4]>::try_from(octets).ok()?))
    };
    Some(SocketAddr::new(ip, u16::from_str_radix(port, 16).ok()?))
}

/// Returns the descriptors of each socket.
fn owners() -> BTreeMap<u64, Vec<Owner>> {
    let mut owners: BTreeMap<u64, Vec<Owner>> = BTreeMap::new();
    let numbers = |path: &str| {
        let entries = tidebox_rt::read_dir(path.as_bytes()).unwrap_or_default();
        let number = |name: Vec<u8>| String::from_utf8(name).ok()?.parse::<u32>().ok();
        let mut numbers: Vec<u32> = entries.into_iter().filter_map(|entry| number(entry.name)).collect();
        numbers.sort_unstable();
        numbers
    };
    for pid in numbers("/proc") {
        for fd in numbers(&format!("/proc/{pid}/fd")) {
            let target = tidebox_rt::read_link(format!("/proc/{pid}/fd/{fd}").as_bytes()).unwrap_or_default();
            let target = String::from_utf8_lossy(&target).into_owned();
            let inode = target.strip_prefix("socket:[").and_then(|rest| rest.strip_suffix(']')?.parse().ok());
            if let Some(inode) = inode {
                let command = read_all(format!("/proc/{pid}/comm").as_bytes()).unwrap_or_default();
                let command = String::from_utf8_lossy(&command).trim().to_owned();
                owners.entry(inode).or_default().push(Owner { pid, command, fd });
            }
        }
    }
    owners
}

#[cfg(test)]
mod tests {
    use super::{address_text, parse};

    #[test]
    fn rows_of_linux_are_parsed() {
        let row = "   0: 0100007F:1F40 00000000:0000 0A 00000000:00000002 00:00000000 00000000  1000        0 17 1 0";
        let socket = parse(row, false).expect("valid");
        assert_eq!(
            (socket.local.to_string().as_str(), socket.is_listening, socket.queued),
            ("127.0.0.1:8000", true, 2)
        );
        assert_eq!((socket.inode, address_text(socket.peer, true).as_str()), (17, "0.0.0.0:*"));
        let row = "   1: 00000000000000000000000001000000:1F40 00000000000000000000000001000000:8000 01 00000000:00000000 0 0 0 0 5";
        let socket = parse(row, true).expect("valid");
        assert_eq!((address_text(socket.local, true).as_str(), socket.is_listening), ("[::1]:8000", false));
        assert!(parse("nonsense", false).is_none());
    }
}
