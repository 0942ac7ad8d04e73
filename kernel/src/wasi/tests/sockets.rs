//! Sockets: connections inside a sandbox, their ends, and their limits.

use crate::syscall::{SyscallOutcome, Wait};
use crate::testing::{DATA, Guest, MEMORY_BYTES, OK, OUT, call, done};
use crate::wasi::{preview1, tidebox};
use crate::{Errno, Signal};
use tidebox_core::Limits;

const WAITS: SyscallOutcome = SyscallOutcome::Block(Wait { deadline: None });
const NONBLOCK: u32 = 4;
const READABLE: u8 = 1;
const WRITABLE: u8 = 2;

/// An address in the layout of the ABI.
fn address(family: u16, port: u16, ip: &[u8]) -> Vec<u8> {
    let mut raw = [family.to_le_bytes(), port.to_le_bytes()].concat();
    raw.extend_from_slice(ip);
    raw.resize(20, 0);
    raw
}

fn local(port: u16) -> Vec<u8> {
    address(1, port, &[127, 0, 0, 1])
}

fn local6(port: u16) -> Vec<u8> {
    address(2, port, &[0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1])
}

impl Guest {
    fn socket(&mut self, family: u32) -> u32 {
        assert_eq!(call!(self, tidebox::sock_open(family, OUT)), OK);
        self.out()
    }

    fn bind(&mut self, fd: u32, address: &[u8]) -> SyscallOutcome {
        let (at, _) = self.put(address);
        call!(self, tidebox::sock_bind(fd, at))
    }

    fn connect(&mut self, fd: u32, address: &[u8]) -> SyscallOutcome {
        let (at, _) = self.put(address);
        call!(self, tidebox::sock_connect(fd, at))
    }

    /// A socket that listens at a port of 127.0.0.1.
    fn listener(&mut self, port: u16, backlog: u32) -> u32 {
        let fd = self.socket(1);
        assert_eq!(self.bind(fd, &local(port)), OK);
        assert_eq!(call!(self, tidebox::sock_listen(fd, backlog)), OK);
        fd
    }

    fn read_file(&mut self, path: &[u8]) -> Vec<u8> {
        let fd = self.open_at(3, path, "r").expect("it exists");
        let bytes = self.read(fd, 4000).expect("it can be read");
        self.close(fd);
        bytes
    }

    fn accept(&mut self, fd: u32) -> Result<u32, SyscallOutcome> {
        match call!(self, preview1::sock_accept(fd, 0, OUT)) {
            OK => Ok(self.out()),
            other => Err(other),
        }
    }

    /// A client and the accepted server of one connection, in one process.
    fn connection(&mut self) -> (u32, u32) {
        let listener = self.listener(8000, 5);
        let client = self.socket(1);
        assert_eq!(self.connect(client, &local(8000)), OK);
        let server = self.accept(listener).expect("a connection waits");
        self.close(listener);
        (client, server)
    }

    fn name(&mut self, fd: u32, of_peer: u32) -> Result<Vec<u8>, SyscallOutcome> {
        match call!(self, tidebox::sock_name(fd, of_peer, OUT)) {
            OK => Ok(self.bytes(OUT, 20)),
            other => Err(other),
        }
    }

    fn set_nonblocking(&mut self, fd: u32) {
        assert_eq!(call!(self, preview1::fd_fdstat_set_flags(fd, NONBLOCK)), OK);
    }

    fn shutdown(&mut self, fd: u32, how: u32) -> SyscallOutcome {
        call!(self, preview1::sock_shutdown(fd, how))
    }

    /// Polls one descriptor: the byte count and whether the other end was closed.
    fn poll_one(&mut self, fd: u32, kind: u8) -> Result<(u64, bool), SyscallOutcome> {
        let mut raw = [0; 48];
        raw[8] = kind;
        raw[16..20].copy_from_slice(&fd.to_le_bytes());
        let (at, _) = self.put(&raw);
        match call!(self, preview1::poll_oneoff(at, DATA, 1, OUT)) {
            OK => Ok((self.u64(DATA + 16), self.u32(DATA + 24) & 1 == 1)),
            other => Err(other),
        }
    }
}

#[test]
fn a_client_and_a_server_exchange_bytes_in_both_directions() {
    let mut g = Guest::new();
    let listener = g.listener(8000, 5);
    let other = g.fork();
    assert_eq!(g.accept(listener), Err(WAITS));
    let parked = g.park(g.pid);
    let client = g.as_process(other, |g| {
        let client = g.socket(1);
        assert_eq!(g.connect(client, &local(8000)), OK);
        g.write(client, b"question").expect("room");
        client
    });
    assert_eq!(parked.get(), 1, "the connection wakes the server");
    let server = g.accept(listener).expect("a connection waits");
    assert_eq!(g.read(server, 100), Ok(b"question".to_vec()));
    g.write(server, b"answer").expect("room");
    g.close(server);
    g.as_process(other, |g| {
        assert_eq!(g.read(client, 100), Ok(b"answer".to_vec()));
        assert_eq!(g.read(client, 100), Ok(Vec::new()), "the server has closed");
    });
}

#[test]
fn a_connection_exists_before_it_is_accepted() {
    let mut g = Guest::new();
    let listener = g.listener(8000, 5);
    let client = g.socket(1);
    assert_eq!(g.connect(client, &local(8000)), OK);
    g.write(client, b"early").expect("room");
    let server = g.accept(listener).expect("a connection waits");
    assert_eq!(g.read(server, 100), Ok(b"early".to_vec()));
}

#[test]
fn addresses_of_both_ends_are_those_of_the_connection() {
    let mut g = Guest::new();
    let (client, server) = g.connection();
    assert_eq!(g.name(client, 1), Ok(local(8000)));
    assert_eq!(g.name(server, 0), Ok(local(8000)));
    assert_eq!(g.name(client, 0), Ok(local(32768)), "free ports are chosen in order");
    assert_eq!(g.name(server, 1), Ok(local(32768)));
}

#[test]
fn every_spelling_of_the_loopback_reaches_only_the_sandbox() {
    let mut g = Guest::new();
    let any = g.socket(2);
    assert_eq!(g.bind(any, &address(2, 80, &[0; 16])), OK);
    assert_eq!(call!(&mut g, tidebox::sock_listen(any, 50)), OK);
    let mapped = |last: [u8; 4]| [vec![0; 10], vec![255, 255], last.to_vec()].concat();
    for (family, ip) in [
        (1, vec![127, 0, 0, 1]),
        (1, vec![127, 9, 8, 7]),
        (1, vec![0, 0, 0, 0]),
        (2, local6(0)[4..].to_vec()),
        (2, vec![0; 16]),
        (2, mapped([127, 0, 0, 1])),
    ] {
        let client = g.socket(family.into());
        assert_eq!(g.connect(client, &address(family, 80, &ip)), OK, "{ip:?}");
        let server = g.accept(any).expect("a connection waits");
        g.close(client);
        g.close(server);
    }
    for (family, ip) in [(1, vec![10, 0, 0, 1]), (1, vec![169, 254, 169, 254]), (2, mapped([10, 0, 0, 1]))] {
        let client = g.socket(family.into());
        assert_eq!(g.connect(client, &address(family, 80, &ip)), done(Errno::Netunreach), "{ip:?}");
        assert_eq!(g.bind(client, &address(family, 81, &ip)), done(Errno::Addrnotavail), "{ip:?}");
        g.close(client);
    }
}

#[test]
fn a_port_without_a_listener_refuses_connections() {
    let mut g = Guest::new();
    let client = g.socket(1);
    assert_eq!(g.connect(client, &local(8000)), done(Errno::Connrefused));
    let bound = g.socket(1);
    assert_eq!(g.bind(bound, &local(8000)), OK);
    assert_eq!(g.connect(client, &local(8000)), done(Errno::Connrefused), "it does not listen");
    assert_eq!(call!(&mut g, tidebox::sock_listen(bound, 1)), OK);
    assert_eq!(g.connect(client, &local(8000)), OK);
    assert_eq!(g.connect(client, &local(8000)), done(Errno::Isconn));
}

#[test]
fn a_port_belongs_to_one_socket_until_it_is_closed() {
    let mut g = Guest::new();
    let first = g.listener(8000, 1);
    let second = g.socket(1);
    assert_eq!(g.bind(second, &local(8000)), done(Errno::Addrinuse));
    assert_eq!(g.bind(second, &address(1, 8000, &[0; 4])), done(Errno::Addrinuse), "it overlaps");
    assert_eq!(g.bind(second, &address(1, 8000, &[127, 0, 0, 2])), OK, "another address");
    assert_eq!(g.bind(second, &local(8001)), done(Errno::Inval), "it has an address");
    g.close(first);
    let third = g.socket(1);
    assert_eq!(g.bind(third, &local(8000)), OK);
}

#[test]
fn unaccepted_connections_are_reset_when_the_listener_closes() {
    let mut g = Guest::new();
    let listener = g.listener(8000, 5);
    let client = g.socket(1);
    assert_eq!(g.connect(client, &local(8000)), OK);
    g.close(listener);
    assert_eq!(g.read(client, 1), Err(done(Errno::Connreset)));
    assert_eq!(g.read(client, 1), Ok(Vec::new()));
}

#[test]
fn closing_with_unread_data_resets_the_other_end_after_its_data() {
    let mut g = Guest::new();
    let (client, server) = g.connection();
    g.write(client, b"unread").expect("room");
    g.write(server, b"last").expect("room");
    g.close(server);
    assert_eq!(g.read(client, 100), Ok(b"last".to_vec()));
    assert_eq!(g.read(client, 100), Err(done(Errno::Connreset)));
}

#[test]
fn a_shut_direction_ends_and_the_other_continues() {
    let mut g = Guest::new();
    let (client, server) = g.connection();
    g.write(client, b"all").expect("room");
    assert_eq!(g.shutdown(client, 2), OK);
    assert_eq!(g.shutdown(client, 2), OK);
    assert_eq!(g.read(server, 100), Ok(b"all".to_vec()));
    assert_eq!(g.read(server, 100), Ok(Vec::new()));
    g.write(server, b"answer").expect("the other direction is open");
    assert_eq!(g.read(client, 100), Ok(b"answer".to_vec()));
    assert_eq!(g.shutdown(client, 1), OK);
    assert_eq!(g.read(client, 100), Ok(Vec::new()));
    g.close(server);
    g.close(client);
    assert_eq!(g.k.pipes.count(), 0);
    let (client, _server) = g.connection();
    assert_eq!(g.shutdown(client, 2), OK);
    assert_eq!(g.write(client, b"more"), Err(SyscallOutcome::Kill(Signal::Pipe)));
}

#[test]
fn a_writer_to_a_closed_end_gets_sigpipe_or_the_error() {
    let mut g = Guest::new();
    let (client, server) = g.connection();
    g.close(server);
    assert_eq!(call!(&mut g, tidebox::sig_set(13, 1)), OK, "SIGPIPE is ignored");
    assert_eq!(g.write(client, b"x"), Err(done(Errno::Pipe)));
}

#[test]
fn a_full_queue_makes_clients_wait_until_one_is_accepted() {
    let mut g = Guest::new();
    let listener = g.listener(8000, 1);
    let first = g.socket(1);
    assert_eq!(g.connect(first, &local(8000)), OK);
    let second = g.socket(1);
    assert_eq!(g.connect(second, &local(8000)), WAITS);
    let third = g.socket(1);
    g.set_nonblocking(third);
    assert_eq!(g.connect(third, &local(8000)), done(Errno::Inprogress));
    assert_eq!(g.connect(third, &local(8000)), done(Errno::Already));
    assert_eq!(g.poll_one(third, WRITABLE), Err(WAITS));
    g.accept(listener).expect("the first");
    assert_eq!(g.poll_one(third, WRITABLE).map(|(_, hangup)| hangup), Ok(false), "it is connected now");
    assert_eq!(g.connect(third, &local(8000)), done(Errno::Isconn));
    assert_eq!(g.connect(second, &local(8000)), WAITS, "the third has the place");
    g.close(listener);
    assert_eq!(g.connect(second, &local(8000)), done(Errno::Connrefused));
}

#[test]
fn a_listener_that_closes_ends_the_wait_of_a_nonblocking_client() {
    let mut g = Guest::new();
    let listener = g.listener(8000, 1);
    let first = g.socket(1);
    assert_eq!(g.connect(first, &local(8000)), OK);
    let second = g.socket(1);
    g.set_nonblocking(second);
    assert_eq!(g.connect(second, &local(8000)), done(Errno::Inprogress));
    assert_eq!(g.poll_one(second, WRITABLE), Err(WAITS));
    let parked = g.park(g.pid);
    let other = g.fork();
    g.close(listener);
    g.as_process(other, |g| g.close(listener));
    assert_eq!(parked.get(), 1);
    assert_eq!(g.poll_one(second, WRITABLE), Ok((0, true)));
    assert_eq!(g.connect(second, &local(8000)), done(Errno::Connrefused));
}

#[test]
fn polls_report_connections_bytes_and_ends() {
    let mut g = Guest::new();
    let listener = g.listener(8000, 5);
    assert_eq!(g.poll_one(listener, READABLE), Err(WAITS));
    let client = g.socket(1);
    assert_eq!(g.poll_one(client, WRITABLE), Ok((0, true)), "not connected");
    assert_eq!(g.connect(client, &local(8000)), OK);
    assert_eq!(g.poll_one(listener, READABLE), Ok((1, false)));
    let server = g.accept(listener).expect("a connection waits");
    assert_eq!(g.poll_one(server, READABLE), Err(WAITS));
    g.write(client, b"four").expect("room");
    assert_eq!(g.poll_one(server, READABLE), Ok((4, false)));
    g.close(client);
    assert_eq!(g.read(server, 10), Ok(b"four".to_vec()));
    assert_eq!(g.poll_one(server, READABLE), Ok((0, true)));
    assert_eq!(g.poll_one(server, WRITABLE), Ok((0, true)));
}

#[test]
fn sockets_without_waiting_return_again() {
    let mut g = Guest::new();
    let listener = g.listener(8000, 5);
    g.set_nonblocking(listener);
    assert_eq!(g.accept(listener), Err(done(Errno::Again)));
    let client = g.socket(1);
    assert_eq!(g.connect(client, &local(8000)), OK);
    assert_eq!(call!(&mut g, preview1::sock_accept(listener, NONBLOCK, OUT)), OK);
    let server = g.out();
    assert_eq!(g.read(server, 1), Err(done(Errno::Again)));
}

#[test]
fn a_peeked_byte_is_read_again() {
    let mut g = Guest::new();
    let (client, server) = g.connection();
    g.write(client, b"abc").expect("room");
    let (iovs, count) = g.buffers(&[(DATA, 2)]);
    for (flags, expected) in [(1, b"ab".as_slice()), (0, b"ab"), (0, b"c")] {
        assert_eq!(call!(&mut g, preview1::sock_recv(server, iovs, count, flags, OUT, OUT + 8)), OK);
        assert_eq!(g.bytes(DATA, g.out()), expected);
    }
    let (at, len) = g.put(b"hello");
    let (iovs, count) = g.buffers(&[(at, len)]);
    assert_eq!(call!(&mut g, preview1::sock_send(server, iovs, count, 0, OUT)), OK);
    assert_eq!(g.out(), 5);
    assert_eq!(g.read(client, 9), Ok(b"hello".to_vec()));
    assert_eq!(call!(&mut g, preview1::sock_recv(server, iovs, count, 2, OUT, OUT + 8)), done(Errno::Notsup));
    assert_eq!(call!(&mut g, preview1::sock_send(server, iovs, count, 1, OUT)), done(Errno::Inval));
}

#[test]
fn a_pair_is_connected_and_has_no_address() {
    let mut g = Guest::new();
    assert_eq!(call!(&mut g, tidebox::sock_pair(OUT)), OK);
    let (one, other) = (g.u32(OUT), g.u32(OUT + 4));
    g.write(one, b"x").expect("room");
    assert_eq!(g.read(other, 5), Ok(b"x".to_vec()));
    assert_eq!(g.name(one, 0), Ok(address(3, 0, &[])));
    assert_eq!(call!(&mut g, preview1::fd_fdstat_get(one, OUT)), OK);
    assert_eq!(g.bytes(OUT, 1), [6], "a stream socket");
    g.close(one);
    g.close(other);
    assert_eq!(g.k.pipes.count(), 0);
}

#[test]
fn unsuitable_calls_fail_and_change_nothing() {
    let mut g = Guest::new();
    for family in [0, 3, 4, 1 << 20] {
        assert_eq!(call!(&mut g, tidebox::sock_open(family, OUT)), done(Errno::Afnosupport));
    }
    let far = u32::try_from(MEMORY_BYTES).expect("small");
    assert_eq!(call!(&mut g, tidebox::sock_open(1, far)), done(Errno::Fault));
    assert_eq!(call!(&mut g, tidebox::sock_pair(far - 4)), done(Errno::Fault));
    let (reader, _) = g.pipe();
    assert_eq!(g.bind(reader, &local(1)), done(Errno::Notsock));
    assert_eq!(g.connect(99, &local(1)), done(Errno::Badf));
    let fd = g.socket(1);
    assert_eq!(call!(&mut g, tidebox::sock_bind(fd, far)), done(Errno::Fault));
    assert_eq!(g.bind(fd, &local6(1)), done(Errno::Afnosupport), "an IPv6 address for an IPv4 socket");
    assert_eq!(g.bind(fd, &address(3, 1, &[])), done(Errno::Afnosupport));
    assert_eq!(g.accept(fd), Err(done(Errno::Inval)), "it does not listen");
    assert_eq!(g.read(fd, 1), Err(done(Errno::Notconn)));
    assert_eq!(g.write(fd, b"x"), Err(done(Errno::Notconn)));
    assert_eq!(g.shutdown(fd, 3), done(Errno::Notconn));
    assert_eq!(g.shutdown(fd, 0), done(Errno::Inval));
    assert_eq!(g.name(fd, 1), Err(done(Errno::Notconn)));
    assert_eq!(g.name(fd, 2), Err(done(Errno::Inval)));
    assert_eq!(g.name(fd, 0), Ok(address(1, 0, &[])));
    assert_eq!(call!(&mut g, preview1::fd_seek(fd, 0, 0, OUT)), done(Errno::Spipe));
    assert_eq!(call!(&mut g, tidebox::sock_listen(fd, 1)), OK, "at a free port");
    assert_eq!(g.name(fd, 0), Ok(address(1, 32768, &[])));
    assert_eq!(g.connect(fd, &local(1)), done(Errno::Inval), "it listens");
}

#[test]
fn a_listener_keeps_its_connections_when_descriptors_run_out() {
    let mut limits = Limits::default();
    limits.descriptors = 6;
    let mut g = Guest::with(limits, &[]);
    let listener = g.listener(8000, 5);
    let client = g.socket(1);
    assert_eq!(g.connect(client, &local(8000)), OK);
    let spare = g.socket(1);
    assert_eq!(g.accept(listener), Err(done(Errno::Mfile)));
    g.close(spare);
    assert!(g.accept(listener).is_ok());
}

#[test]
fn the_limit_counts_the_sockets_of_all_processes_and_queues() {
    let mut limits = Limits::default();
    limits.sockets = 3;
    let mut g = Guest::with(limits, &[]);
    let listener = g.listener(8000, 5);
    let client = g.socket(1);
    assert_eq!(g.connect(client, &local(8000)), OK);
    assert_eq!(call!(&mut g, tidebox::sock_open(1, OUT)), done(Errno::Nfile));
    let other = g.fork();
    g.as_process(other, |g| {
        assert_eq!(call!(g, tidebox::sock_pair(OUT)), done(Errno::Nfile));
        g.close(listener);
    });
    g.close(listener);
    let free = g.socket(1);
    assert_eq!(g.connect(free, &local(8000)), done(Errno::Connrefused));
}

#[test]
fn ended_processes_leave_no_socket_and_no_pipe() {
    let mut g = Guest::new();
    let listener = g.listener(8000, 5);
    for _ in 0..3 {
        let client = g.socket(1);
        assert_eq!(g.connect(client, &local(8000)), OK);
    }
    g.accept(listener).expect("a connection waits");
    assert_eq!(call!(&mut g, tidebox::sock_pair(OUT)), OK);
    g.k.finish_execution(g.execution);
    assert_eq!((g.k.pipes.count(), g.k.socket_infos().len()), (0, 0));
}

#[test]
fn processes_from_before_a_restore_are_not_met() {
    let mut g = Guest::new();
    let before = g.k.snapshot();
    g.listener(8000, 5);
    g.k.restore(&before).expect("the snapshot fits");
    let (execution, pid) = g.k.start_execution(crate::testing::spec(&[])).expect("the program exists");
    g.k.set_tidebox_guest(pid, true);
    g.as_process(pid, |g| {
        let client = g.socket(1);
        assert_eq!(g.connect(client, &local(8000)), done(Errno::Connrefused));
    });
    g.k.finish_execution(execution);
}

#[test]
fn engines_without_concurrent_programs_have_no_sockets() {
    let mut g = Guest::new();
    g.k.spool_pipes(1 << 20);
    assert_eq!(call!(&mut g, tidebox::sock_open(1, OUT)), done(Errno::Notsup));
    assert_eq!(call!(&mut g, tidebox::sock_pair(OUT)), done(Errno::Notsup));
}

#[test]
fn proc_lists_sockets_as_linux_does() {
    let mut g = Guest::new();
    let listener = g.listener(8000, 5);
    let client = g.socket(1);
    assert_eq!(g.connect(client, &local(8000)), OK);
    let bound = g.socket(1);
    assert_eq!(g.bind(bound, &local(9000)), OK);
    let listener6 = g.socket(2);
    assert_eq!(g.bind(listener6, &local6(8001)), OK);
    assert_eq!(call!(&mut g, tidebox::sock_listen(listener6, 5)), OK);
    g.write(client, b"abc").expect("room");
    let text = String::from_utf8(g.read_file(b"proc/net/tcp")).expect("text");
    let rows: Vec<Vec<&str>> = text.lines().skip(1).map(|row| row.split_whitespace().take(5).collect()).collect();
    let queues = |rx: &str| format!("00000000:{rx}");
    let (one, none, three) = (queues("00000001"), queues("00000000"), queues("00000003"));
    assert_eq!(
        rows,
        [
            ["0:", "0100007F:1F40", "00000000:0000", "0A", &one],
            ["1:", "0100007F:1F40", "0100007F:8000", "01", &three],
            ["2:", "0100007F:8000", "0100007F:1F40", "01", &none],
        ]
    );
    let text = String::from_utf8(g.read_file(b"proc/net/tcp6")).expect("text");
    assert!(text.contains("00000000000000000000000001000000:1F41 00000000000000000000000000000000:0000 0A"), "{text}");
    g.close(listener);
}
