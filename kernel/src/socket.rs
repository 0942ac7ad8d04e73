//! Stream sockets inside one sandbox. A connection is two pipes, one for each direction, so partial transfers, waiting and limits
//! are those of pipes. Nothing here reaches a socket of the host.

use core::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::collections::{BTreeMap, VecDeque};

use crate::errno::Errno;
use crate::kernel::Kernel;
use crate::open_file::{FileObject, OpenFile, flag};
use crate::pipe::Pipe;
use crate::process::Pid;
use crate::slab::Slab;
use crate::syscall::SyscallError;

/// Maximum of waiting connections, as Linux's `SOMAXCONN` was for long; `listen` lowers a larger number to it.
const MAX_BACKLOG: usize = 128;

/// Ports that the kernel chooses, in ascending order, so that a deterministic run gets the same ones.
const FIRST_FREE_PORT: u16 = 32768;
const LAST_FREE_PORT: u16 = 60999;

/// Address family of a socket.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Family {
    Inet,
    Inet6,
    /// Only connected pairs: sockets with a path do not exist.
    Unix,
}

/// The end of a connection that a socket holds.
#[derive(Clone, Copy, Debug)]
struct Connection {
    peer: Option<SocketAddr>,
    /// The pipe that this end reads, whose reader it is.
    incoming: u32,
    /// The pipe that this end writes. It may not exist after [`is_write_shut`](Self::is_write_shut).
    outgoing: u32,
    is_read_shut: bool,
    is_write_shut: bool,
}

#[derive(Debug)]
enum State {
    /// Neither listening nor connected.
    Idle,
    Listening {
        backlog: usize,
        /// Sockets of connections that were not accepted yet.
        queue: VecDeque<u32>,
    },
    /// A non-blocking `connect` that waits for room in the listener's queue.
    Connecting(SocketAddr),
    Connected(Connection),
}

#[derive(Debug)]
pub(crate) struct Socket {
    family: Family,
    local: Option<SocketAddr>,
    state: State,
    /// Processes that wait for a connection, or for room in the queue.
    waiting: Vec<Pid>,
}

/// The sockets of a sandbox, and their ports.
#[derive(Debug)]
pub(crate) struct Sockets {
    open: Slab<Socket>,
    /// Sockets that hold a port. Accepted ones share the port of their listener without holding it.
    bound: BTreeMap<u16, Vec<u32>>,
    next_port: u16,
}

impl Default for Sockets {
    fn default() -> Self {
        Self { open: Slab::default(), bound: BTreeMap::new(), next_port: FIRST_FREE_PORT }
    }
}

/// Direction that [`Kernel::shut_down_socket`] closes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Shutdown {
    pub(crate) read: bool,
    pub(crate) write: bool,
}

/// The part of a socket that a transfer or a poll uses.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Stream {
    /// The pipe to read or write.
    Pipe(u32),
    /// This direction was shut down.
    Shut,
    /// Not connected.
    Missing,
}

/// A row of `/proc/net/tcp`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SocketInfo {
    pub(crate) local: SocketAddr,
    pub(crate) peer: Option<SocketAddr>,
    pub(crate) number: u32,
    pub(crate) is_ipv6: bool,
    pub(crate) is_listening: bool,
    /// Bytes to read, or connections to accept.
    pub(crate) queued: usize,
}

impl Sockets {
    fn get(&self, socket: u32) -> Result<&Socket, Errno> {
        self.open.get(socket).ok_or(Errno::Badf)
    }

    fn get_mut(&mut self, socket: u32) -> Result<&mut Socket, Errno> {
        self.open.get_mut(socket).ok_or(Errno::Badf)
    }

    /// Returns the socket that listens at an address.
    fn listener(&self, at: SocketAddr) -> Option<u32> {
        let listens = |socket: &&u32| {
            let found = self.open.get(**socket);
            found.is_some_and(|found| {
                matches!(found.state, State::Listening { .. })
                    && found.local.is_some_and(|local| covers(local.ip(), at.ip()))
            })
        };
        self.bound.get(&at.port())?.iter().find(listens).copied()
    }

    /// Returns whether no socket holds the port at an overlapping address.
    fn is_free(&self, at: SocketAddr) -> bool {
        let held = self.bound.get(&at.port()).into_iter().flatten().filter_map(|socket| self.open.get(*socket)?.local);
        held.into_iter().all(|local| !covers(local.ip(), at.ip()) && !covers(at.ip(), local.ip()))
    }

    /// Returns the next free port. `ADDRNOTAVAIL` if all are in use.
    fn free_port(&mut self, ip: IpAddr) -> Result<u16, Errno> {
        let count = LAST_FREE_PORT - FIRST_FREE_PORT + 1;
        for _ in 0..count {
            let port = self.next_port;
            self.next_port = if port == LAST_FREE_PORT { FIRST_FREE_PORT } else { port + 1 };
            if self.is_free(SocketAddr::new(ip, port)) {
                return Ok(port);
            }
        }
        Err(Errno::Addrnotavail)
    }

    fn hold_port(&mut self, socket: u32, local: SocketAddr) -> Result<(), Errno> {
        self.get_mut(socket)?.local = Some(local);
        self.bound.entry(local.port()).or_default().push(socket);
        Ok(())
    }

    /// Frees all ports without closing a socket. Connections that exist continue.
    pub(crate) fn forget_ports(&mut self) {
        self.bound.clear();
    }

    fn release_port(&mut self, socket: u32, local: Option<SocketAddr>) {
        let Some(local) = local else { return };
        if let Some(holders) = self.bound.get_mut(&local.port()) {
            holders.retain(|holder| *holder != socket);
            if holders.is_empty() {
                self.bound.remove(&local.port());
            }
        }
    }
}

/// Returns whether a socket at the address `bound` gets connections to `to`. As on Linux, `::` includes IPv4.
fn covers(bound: IpAddr, to: IpAddr) -> bool {
    bound == to || if bound.is_ipv6() { bound.is_unspecified() } else { bound.is_unspecified() && to.is_ipv4() }
}

/// Returns the address inside the sandbox; IPv4 addresses written as IPv6 are IPv4. `None` for addresses elsewhere.
fn inside(address: SocketAddr) -> Option<SocketAddr> {
    let ip = address.ip().to_canonical();
    (ip.is_loopback() || ip.is_unspecified()).then(|| SocketAddr::new(ip, address.port()))
}

impl Kernel {
    /// Returns the sockets of TCP with an address, in the order of their ports.
    pub(crate) fn socket_infos(&self) -> Vec<SocketInfo> {
        let info = |number: u32| {
            let socket = self.sockets.open.get(number)?;
            let (peer, queued) = match &socket.state {
                State::Connected(connection) => {
                    (connection.peer, self.pipes.get(connection.incoming).map_or(0, Pipe::len))
                }
                State::Listening { queue, .. } => (None, queue.len()),
                State::Idle | State::Connecting(_) => (None, 0),
            };
            let is_listening = matches!(socket.state, State::Listening { .. });
            let is_ipv6 = socket.family == Family::Inet6;
            Some(SocketInfo { local: socket.local?, peer, number, is_ipv6, is_listening, queued })
        };
        let mut infos: Vec<_> = self.sockets.open.keys().filter_map(info).collect();
        infos.sort_by_key(|info| (info.local.port(), info.number));
        infos
    }

    /// Creates a socket and returns its descriptor. `NFILE` beyond the limit; `NOTSUP` if this engine runs the programs of a
    /// sandbox one after the other, because both ends of a connection must run.
    pub(crate) fn open_socket(&mut self, pid: Pid, family: Family) -> Result<u32, Errno> {
        let socket = self.new_socket(family)?;
        self.open_fd(pid, OpenFile::new(FileObject::Socket(socket), true, true, 0))
    }

    fn new_socket(&mut self, family: Family) -> Result<u32, Errno> {
        if self.spool_bytes.is_some() {
            return Err(Errno::Notsup);
        }
        if self.sockets.open.count() >= self.limits.sockets as usize {
            return Err(Errno::Nfile);
        }
        let socket = Socket { family, local: None, state: State::Idle, waiting: Vec::new() };
        Ok(self.sockets.open.insert(socket))
    }

    /// Creates two connected sockets and returns their descriptors. On an error neither is open.
    pub(crate) fn open_socket_pair(&mut self, pid: Pid) -> Result<(u32, u32), Errno> {
        let first = self.new_socket(Family::Unix)?;
        let second = self.new_socket(Family::Unix).inspect_err(|_| self.close_socket(first))?;
        self.connect_sockets(first, None, second, None).inspect_err(|_| {
            self.close_socket(first);
            self.close_socket(second);
        })?;
        let open = |socket| OpenFile::new(FileObject::Socket(socket), true, true, 0);
        let one = self.open_fd(pid, open(first)).inspect_err(|_| self.close_socket(second))?;
        let other = self.open_fd(pid, open(second)).inspect_err(|_| {
            // It was opened above, and closing a socket reports no error.
            let _ = self.close_fd(pid, one);
        })?;
        Ok((one, other))
    }

    /// Returns the socket of a descriptor, and whether calls on it do not wait. `NOTSOCK` for other descriptors.
    pub(crate) fn socket_of(&self, pid: Pid, fd: u32) -> Result<(u32, bool), Errno> {
        let open = self.open_file(pid, fd)?;
        match open.what {
            FileObject::Socket(socket) => Ok((socket, open.has(flag::NONBLOCK))),
            _ => Err(Errno::Notsock),
        }
    }

    /// Gives a socket an address; port 0 means a free one. `ADDRNOTAVAIL` for addresses outside the sandbox.
    pub(crate) fn bind_socket(&mut self, pid: Pid, fd: u32, address: SocketAddr) -> Result<(), Errno> {
        let (socket, _) = self.socket_of(pid, fd)?;
        let found = self.sockets.get(socket)?;
        if found.local.is_some() || !matches!(found.state, State::Idle) {
            return Err(Errno::Inval);
        }
        check_family(found.family, address)?;
        let mut local = inside(address).ok_or(Errno::Addrnotavail)?;
        if local.port() == 0 {
            local.set_port(self.sockets.free_port(local.ip())?);
        } else if !self.sockets.is_free(local) {
            return Err(Errno::Addrinuse);
        }
        self.sockets.hold_port(socket, local)
    }

    /// Starts to accept connections. A socket without an address gets a free port at all addresses.
    pub(crate) fn listen_socket(&mut self, pid: Pid, fd: u32, backlog: u32) -> Result<(), Errno> {
        let (socket, _) = self.socket_of(pid, fd)?;
        let found = self.sockets.get_mut(socket)?;
        let wanted = usize::try_from(backlog).unwrap_or(MAX_BACKLOG).clamp(1, MAX_BACKLOG);
        match &mut found.state {
            State::Listening { backlog, .. } => *backlog = wanted,
            State::Idle if found.family == Family::Unix => return Err(Errno::Notsup),
            State::Idle => {
                let any = if found.family == Family::Inet {
                    IpAddr::V4(Ipv4Addr::UNSPECIFIED)
                } else {
                    IpAddr::V6(Ipv6Addr::UNSPECIFIED)
                };
                if found.local.is_none() {
                    let port = self.sockets.free_port(any)?;
                    self.sockets.hold_port(socket, SocketAddr::new(any, port))?;
                }
                self.sockets.get_mut(socket)?.state = State::Listening { backlog: wanted, queue: VecDeque::new() };
            }
            State::Connecting(_) | State::Connected(_) => return Err(Errno::Inval),
        }
        Ok(())
    }

    /// Connects a socket to a listening one of the sandbox. As on Linux the connection exists before it is accepted.
    ///
    /// # Errors
    /// `CONNREFUSED` if nothing listens, `NETUNREACH` for addresses outside the sandbox, `INPROGRESS` and then `ALREADY` if the
    /// queue is full and the socket does not wait.
    pub(crate) fn connect_socket(&mut self, pid: Pid, fd: u32, address: SocketAddr) -> Result<(), SyscallError> {
        let (socket, nonblock) = self.socket_of(pid, fd)?;
        let found = self.sockets.get(socket)?;
        let was_connecting = match found.state {
            State::Idle => false,
            State::Connecting(_) => true,
            State::Connected(_) => return Err(Errno::Isconn.into()),
            State::Listening { .. } => return Err(Errno::Inval.into()),
        };
        check_family(found.family, address)?;
        let mut to = inside(address).ok_or(Errno::Netunreach)?;
        if to.ip().is_unspecified() {
            to.set_ip(if to.is_ipv4() { Ipv4Addr::LOCALHOST.into() } else { Ipv6Addr::LOCALHOST.into() });
        }
        match self.try_connect(socket, to, Some(pid)) {
            Ok(true) => Ok(()),
            Ok(false) if !nonblock => Err(SyscallError::Block(None)),
            Ok(false) => {
                self.sockets.get_mut(socket)?.state = State::Connecting(to);
                Err(if was_connecting { Errno::Already } else { Errno::Inprogress }.into())
            }
            Err(errno) => {
                self.sockets.get_mut(socket)?.state = State::Idle;
                Err(errno.into())
            }
        }
    }

    /// Completes a connection if the listener's queue has room; otherwise the process, if any, is registered as a waiter.
    fn try_connect(&mut self, socket: u32, to: SocketAddr, pid: Option<Pid>) -> Result<bool, Errno> {
        let listener = self.sockets.listener(to).ok_or(Errno::Connrefused)?;
        let found = self.sockets.get_mut(listener)?;
        let family = found.family;
        let State::Listening { backlog, queue } = &mut found.state else { return Err(Errno::Connrefused) };
        if queue.len() >= *backlog {
            if let Some(pid) = pid {
                add_waiter(&mut found.waiting, pid);
            }
            return Ok(false);
        }
        let local = match self.sockets.get(socket)?.local {
            Some(local) => local,
            None => {
                let port = self.sockets.free_port(to.ip())?;
                let local = SocketAddr::new(to.ip(), port);
                self.sockets.hold_port(socket, local)?;
                local
            }
        };
        let accepted = self.new_socket(family)?;
        self.connect_sockets(socket, Some(local), accepted, Some(to)).inspect_err(|_| self.close_socket(accepted))?;
        self.sockets.get_mut(accepted)?.local = Some(to);
        if let State::Listening { queue, .. } = &mut self.sockets.get_mut(listener)?.state {
            queue.push_back(accepted);
        }
        self.wake_socket(listener);
        Ok(true)
    }

    /// Connects a new socket, which no process has, to a port. IPv4 is tried first.
    ///
    /// # Errors
    /// `CONNREFUSED` if nothing listens, `AGAIN` if the queue is full, `NFILE` beyond a limit.
    pub(crate) fn connect_host(&mut self, port: u16) -> Result<u32, Errno> {
        let addresses: [(Family, IpAddr); 2] =
            [(Family::Inet, Ipv4Addr::LOCALHOST.into()), (Family::Inet6, Ipv6Addr::LOCALHOST.into())];
        let listens = |(_, ip): &(Family, IpAddr)| self.sockets.listener(SocketAddr::new(*ip, port)).is_some();
        let (family, ip) = addresses.into_iter().find(listens).ok_or(Errno::Connrefused)?;
        let socket = self.new_socket(family)?;
        let connected = self.try_connect(socket, SocketAddr::new(ip, port), None);
        match connected {
            Ok(true) => Ok(socket),
            Ok(false) => {
                self.close_socket(socket);
                Err(Errno::Again)
            }
            Err(errno) => {
                self.close_socket(socket);
                Err(errno)
            }
        }
    }

    /// Returns the ports at which programs listen, in ascending order.
    pub fn listening_ports(&self) -> Vec<u16> {
        let mut ports: Vec<u16> =
            self.socket_infos().iter().filter(|info| info.is_listening).map(|info| info.local.port()).collect();
        ports.dedup();
        ports
    }

    /// Ends the data of a connection that the host holds.
    pub(crate) fn shut_down_host(&mut self, socket: u32) {
        // A connection that has ended has nothing to shut down.
        let _ = self.shut_down(socket, Shutdown { read: false, write: true });
    }

    /// Connects two sockets by two pipes. `NFILE` if the total pipe capacity is exceeded.
    fn connect_sockets(
        &mut self,
        first: u32,
        first_address: Option<SocketAddr>,
        second: u32,
        second_address: Option<SocketAddr>,
    ) -> Result<(), Errno> {
        let to_first = self.new_pipe()?;
        let to_second = self.new_pipe().inspect_err(|_| self.free_pipe(to_first))?;
        let connected = |peer, incoming, outgoing| {
            State::Connected(Connection { peer, incoming, outgoing, is_read_shut: false, is_write_shut: false })
        };
        self.sockets.get_mut(first)?.state = connected(second_address, to_first, to_second);
        self.sockets.get_mut(second)?.state = connected(first_address, to_second, to_first);
        Ok(())
    }

    /// Returns a descriptor for the next connection, and its peer.
    ///
    /// # Errors
    /// [`SyscallError::Block`] if the queue is empty, or `AGAIN` if the socket does not wait; `INVAL` if it does not listen.
    pub(crate) fn accept_socket(&mut self, pid: Pid, fd: u32, flags: u16) -> Result<u32, SyscallError> {
        let (socket, nonblock) = self.socket_of(pid, fd)?;
        // Before a connection is taken from the queue, so that an error loses none.
        self.process(pid)?.fds.lowest_free(0, self.limits.descriptors)?;
        let found = self.sockets.get_mut(socket)?;
        let State::Listening { queue, .. } = &mut found.state else { return Err(Errno::Inval.into()) };
        let Some(accepted) = queue.pop_front() else {
            if nonblock {
                return Err(Errno::Again.into());
            }
            add_waiter(&mut found.waiting, pid);
            return Err(SyscallError::Block(None));
        };
        self.wake_socket(socket);
        Ok(self.open_fd(pid, OpenFile::new(FileObject::Socket(accepted), true, true, flags))?)
    }

    /// Closes directions of a connection. `NOTCONN` if it is not connected.
    pub(crate) fn shut_down_socket(&mut self, pid: Pid, fd: u32, how: Shutdown) -> Result<(), Errno> {
        let (socket, _) = self.socket_of(pid, fd)?;
        self.shut_down(socket, how)
    }

    fn shut_down(&mut self, socket: u32, how: Shutdown) -> Result<(), Errno> {
        let State::Connected(connection) = &mut self.sockets.get_mut(socket)?.state else { return Err(Errno::Notconn) };
        let ends_writing = how.write && !connection.is_write_shut;
        connection.is_write_shut |= how.write;
        connection.is_read_shut |= how.read;
        let Connection { incoming, outgoing, .. } = *connection;
        if ends_writing {
            self.close_pipe_end(outgoing, true);
        }
        if how.read {
            self.wake_pipe(incoming);
        }
        Ok(())
    }

    /// Returns the address of a socket, or of its peer. `None` for an address without a port.
    pub(crate) fn socket_address(
        &self,
        pid: Pid,
        fd: u32,
        of_peer: bool,
    ) -> Result<(Family, Option<SocketAddr>), Errno> {
        let (socket, _) = self.socket_of(pid, fd)?;
        let found = self.sockets.get(socket)?;
        let address = match &found.state {
            State::Connected(connection) if of_peer => connection.peer,
            _ if of_peer => return Err(Errno::Notconn),
            _ => found.local,
        };
        Ok((found.family, address))
    }

    /// Returns what a read uses.
    pub(crate) fn incoming(&self, socket: u32) -> Stream {
        match self.sockets.open.get(socket).map(|found| &found.state) {
            Some(State::Connected(connection)) => {
                let is_empty = self.pipes.get(connection.incoming).is_none_or(|pipe| pipe.len() == 0);
                if connection.is_read_shut && is_empty { Stream::Shut } else { Stream::Pipe(connection.incoming) }
            }
            _ => Stream::Missing,
        }
    }

    /// Returns what a write uses.
    pub(crate) fn outgoing(&self, socket: u32) -> Stream {
        match self.sockets.open.get(socket).map(|found| &found.state) {
            Some(State::Connected(connection)) if connection.is_write_shut => Stream::Shut,
            Some(State::Connected(connection)) => Stream::Pipe(connection.outgoing),
            _ => Stream::Missing,
        }
    }

    /// Returns the number of connections that wait for `accept`; `None` if the socket does not listen. Registers the process as a
    /// waiter if the queue is empty.
    pub(crate) fn poll_accept(&mut self, socket: u32, pid: Pid) -> Option<usize> {
        let found = self.sockets.open.get_mut(socket)?;
        let State::Listening { queue, .. } = &found.state else { return None };
        let count = queue.len();
        if count == 0 {
            add_waiter(&mut found.waiting, pid);
        }
        Some(count)
    }

    /// Returns whether a non-blocking `connect` still waits; otherwise repeating the call reports its result.
    pub(crate) fn poll_connect(&mut self, socket: u32, pid: Pid) -> bool {
        let Some(State::Connecting(to)) = self.sockets.open.get(socket).map(|found| &found.state) else { return false };
        matches!(self.try_connect(socket, *to, Some(pid)), Ok(false))
    }

    /// Closes a socket after its last descriptor. Its peer reads the end of the data, or `CONNRESET` if data was not read, as on
    /// Linux.
    pub(crate) fn close_socket(&mut self, socket: u32) {
        self.wake_socket(socket);
        let Some(closed) = self.sockets.open.remove(socket) else { return };
        self.sockets.release_port(socket, closed.local);
        match closed.state {
            State::Idle | State::Connecting(_) => {}
            State::Listening { queue, .. } => queue.into_iter().for_each(|accepted| self.reset_socket(accepted)),
            State::Connected(connection) => self.close_connection(connection, false),
        }
    }

    /// Closes a connection that was not accepted.
    fn reset_socket(&mut self, socket: u32) {
        if let Some(Socket { state: State::Connected(connection), .. }) = self.sockets.open.remove(socket) {
            self.close_connection(connection, true);
        }
    }

    fn close_connection(&mut self, connection: Connection, is_reset: bool) {
        let Connection { incoming, outgoing, is_write_shut, .. } = connection;
        let is_unread = self.pipes.get(incoming).is_some_and(|pipe| pipe.len() > 0);
        if !is_write_shut {
            if let Some(pipe) = self.pipes.get_mut(outgoing) {
                pipe.is_reset |= is_reset || is_unread;
            }
            self.close_pipe_end(outgoing, true);
        }
        self.close_pipe_end(incoming, false);
    }

    /// Wakes all waiters of a socket; each repeats its call.
    fn wake_socket(&mut self, socket: u32) {
        let Some(found) = self.sockets.open.get_mut(socket) else { return };
        for pid in std::mem::take(&mut found.waiting) {
            if let Some(process) = self.processes.get_mut(pid) {
                process.wake();
            }
        }
    }
}

fn add_waiter(waiting: &mut Vec<Pid>, pid: Pid) {
    if !waiting.contains(&pid) {
        waiting.push(pid);
    }
}

/// IPv4 sockets take IPv4 addresses only; IPv6 sockets take both.
fn check_family(family: Family, address: SocketAddr) -> Result<(), Errno> {
    match family {
        Family::Inet if address.is_ipv4() => Ok(()),
        Family::Inet6 => Ok(()),
        _ => Err(Errno::Afnosupport),
    }
}

impl Pipe {
    /// Returns whether the other end of a connection was closed without reading its data, once.
    pub(crate) fn take_reset(&mut self) -> bool {
        std::mem::take(&mut self.is_reset)
    }
}
