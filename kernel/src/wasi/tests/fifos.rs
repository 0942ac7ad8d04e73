//! FIFOs: blocking opens, and the lifetime of the pipe.

use crate::syscall::{SyscallOutcome, Wait};
use crate::testing::{Guest, MEMORY_BYTES, OK, OUT, call, done, kernel};
use crate::wasi::{preview1, tidebox};
use crate::{Errno, ExitStatus, Pid, Signal};
use tidebox_core::Limits;

const WAITS: SyscallOutcome = SyscallOutcome::Block(Wait { deadline: None });
const FIFO: u32 = 0o010_000;

fn mkfifo(g: &mut Guest, path: &[u8], mode: u32) -> SyscallOutcome {
    let (at, len) = g.put(path);
    call!(g, tidebox::mkfifo(at, len, mode))
}

/// A sandbox with `/tmp/f`, and a second process in it.
fn pair() -> (Guest, Pid) {
    let mut g = Guest::new();
    assert_eq!(mkfifo(&mut g, b"/tmp/f", 0o666), OK);
    let other = g.fork();
    (g, other)
}

fn open(g: &mut Guest, how: &str) -> Result<u32, SyscallOutcome> {
    g.open(b"tmp/f", how)
}

/// Opens without waiting.
fn open_now(g: &mut Guest, rights: u64) -> Result<u32, SyscallOutcome> {
    let (at, len) = g.put(b"tmp/f");
    match call!(g, preview1::path_open(3, 1, at, len, 0, rights, 0, 4, OUT)) {
        OK => Ok(g.out()),
        other => Err(other),
    }
}

const READ: u64 = 1 << 1;
const WRITE: u64 = 1 << 6;

fn mode_and_links(g: &mut Guest, path: &[u8]) -> (u32, u64) {
    let (at, len) = g.put(path);
    assert_eq!(call!(g, tidebox::stat(at, len, 0, OUT)), OK);
    (g.u32(OUT + 48), g.u64(OUT + 8))
}

#[test]
fn mkfifo_applies_the_umask_and_rejects_an_existing_name() {
    let mut g = Guest::new();
    assert_eq!(mkfifo(&mut g, b"f", 0o666), OK);
    assert_eq!(mode_and_links(&mut g, b"/workspace/f"), (FIFO | 0o644, 1));
    assert_eq!(mkfifo(&mut g, b"f", 0o666), done(Errno::Exist));
    assert_eq!(mkfifo(&mut g, b"none/f", 0o666), done(Errno::Noent));
    assert_eq!(mkfifo(&mut g, b"g/", 0o666), done(Errno::Noent));
    assert_eq!(mkfifo(&mut g, b"/etc/motd/f", 0o666), done(Errno::Notdir));
    assert_eq!(mkfifo(&mut g, b"/etc/f", 0o666), done(Errno::Acces));
    assert_eq!(mkfifo(&mut g, b"/proc/f", 0o666), done(Errno::Rofs));
    let far = u32::try_from(MEMORY_BYTES).expect("small");
    assert_eq!(call!(&mut g, tidebox::mkfifo(far, 8, 0o666)), done(Errno::Fault));
}

#[test]
fn a_reader_waits_for_a_writer_and_a_writer_for_a_reader() {
    for (first, second) in [("r", "w"), ("w", "r")] {
        let (mut g, other) = pair();
        assert_eq!(open(&mut g, first), Err(WAITS));
        let parked = g.park(g.pid);
        let theirs = g.as_process(other, |g| open(g, second)).expect("the other end is open");
        assert_eq!(parked.get(), 1, "the second wakes the first");
        let ours = open(&mut g, first).expect("both opens complete");
        let (reader, writer) = if first == "r" { (g.pid, other) } else { (other, g.pid) };
        g.as_process(writer, |g| g.write(if first == "r" { theirs } else { ours }, b"hello")).expect("room");
        let got = g.as_process(reader, |g| g.read(if first == "r" { ours } else { theirs }, 10));
        assert_eq!(got, Ok(b"hello".to_vec()));
    }
}

#[test]
fn a_briefly_opened_end_completes_a_waiting_open() {
    let (mut g, other) = pair();
    assert_eq!(open(&mut g, "r"), Err(WAITS));
    let parked = g.park(g.pid);
    g.as_process(other, |g| {
        let fd = open(g, "w").expect("a reader waits");
        g.write(fd, b"x").expect("room");
        g.close(fd);
    });
    assert_eq!(parked.get(), 1);
    let fd = open(&mut g, "r").expect("a writer was there");
    assert_eq!(g.read(fd, 10), Ok(b"x".to_vec()), "what it wrote is kept for who waited");
    assert_eq!(g.read(fd, 10), Ok(Vec::new()), "and then EOF");
}

#[test]
fn the_last_close_drops_data_and_the_next_open_waits() {
    let (mut g, other) = pair();
    let both = open(&mut g, "rw").expect("both ends are there");
    g.write(both, b"lost").expect("room");
    g.close(both);
    assert_eq!((g.k.pipes.count(), g.k.fifos.len()), (0, 0));
    assert_eq!(open(&mut g, "r"), Err(WAITS));
    g.park(g.pid);
    let writer = g.as_process(other, |g| open(g, "w")).expect("a reader waits");
    let reader = open(&mut g, "r").expect("met");
    g.as_process(other, |g| g.close(writer));
    assert_eq!(g.read(reader, 10), Ok(Vec::new()), "no earlier data");
}

#[test]
fn opening_both_ends_never_waits_and_never_sees_eof() {
    let (mut g, _) = pair();
    let fd = open(&mut g, "rw").expect("both");
    assert_eq!(g.read(fd, 10), Err(WAITS), "it has a writer itself");
    g.write(fd, b"ab").expect("room");
    assert_eq!(g.read(fd, 1), Ok(b"a".to_vec()));
    let writer = open(&mut g, "w").expect("a reader is open");
    let reader = open(&mut g, "r").expect("a writer is there");
    g.close(fd);
    g.write(writer, b"c").expect("room");
    assert_eq!(g.read(reader, 10), Ok(b"bc".to_vec()), "it lives on without the first");
}

#[test]
fn nonblocking_opens_need_a_reader_only_for_writing() {
    let (mut g, other) = pair();
    assert_eq!(open_now(&mut g, WRITE), Err(done(Errno::Nxio)));
    assert_eq!(g.k.pipes.count(), 0, "it is removed");
    let reader = open_now(&mut g, READ).expect("no wait");
    assert_eq!(g.read(reader, 10), Ok(Vec::new()), "no writer: EOF");
    let writer = g.as_process(other, |g| open_now(g, WRITE)).expect("a reader is open");
    assert_eq!(g.read(reader, 10), Err(done(Errno::Again)));
    g.as_process(other, |g| g.write(writer, b"x")).expect("room");
    assert_eq!(g.read(reader, 10), Ok(b"x".to_vec()));
}

#[test]
fn opening_without_access_or_as_a_directory_fails() {
    let (mut g, _) = pair();
    assert_eq!(open(&mut g, ""), Err(done(Errno::Inval)));
    assert_eq!(open(&mut g, "rd"), Err(done(Errno::Notdir)));
    assert_eq!(open(&mut g, "rcx"), Err(done(Errno::Exist)));
    let (at, len) = g.put(b"/tmp/f");
    assert_eq!(call!(&mut g, tidebox::chmod(at, len, 0o200)), OK);
    assert_eq!(open(&mut g, "r"), Err(done(Errno::Acces)));
    assert_eq!(open(&mut g, "rw"), Err(done(Errno::Acces)));
    assert_eq!(open(&mut g, "wct"), Err(WAITS), "O_CREAT and O_TRUNC have no effect");
}

#[test]
fn a_poll_waits_for_the_first_writer_and_sees_the_hangup() {
    let (mut g, other) = pair();
    let reader = open_now(&mut g, READ).expect("no wait");
    let ready = |g: &mut Guest| {
        let mut raw = [0; 48];
        raw[8] = 1;
        raw[16..20].copy_from_slice(&reader.to_le_bytes());
        let (at, _) = g.put(&raw);
        match call!(g, preview1::poll_oneoff(at, 2048, 1, OUT)) {
            OK => Ok((g.u64(2048 + 16), g.u32(2048 + 24) & 1 == 1)),
            other => Err(other),
        }
    };
    assert_eq!(ready(&mut g), Err(WAITS), "no data and no hang-up");
    let parked = g.park(g.pid);
    let writer = g.as_process(other, |g| open(g, "w")).expect("a reader is open");
    assert_eq!(parked.get(), 1);
    assert_eq!(ready(&mut g), Err(WAITS));
    g.as_process(other, |g| g.write(writer, b"xyz")).expect("room");
    assert_eq!(ready(&mut g), Ok((3, false)));
    g.as_process(other, |g| g.close(writer));
    assert_eq!(g.read(reader, 10), Ok(b"xyz".to_vec()));
    assert_eq!(ready(&mut g), Ok((0, true)));
}

#[test]
fn a_writer_without_readers_gets_sigpipe() {
    let (mut g, other) = pair();
    assert_eq!(open(&mut g, "w"), Err(WAITS));
    g.park(g.pid);
    g.as_process(other, |g| {
        let fd = open(g, "r").expect("a writer waits");
        g.close(fd);
    });
    let writer = open(&mut g, "w").expect("a reader was there");
    assert_eq!(g.write(writer, b"x"), Err(SyscallOutcome::Kill(Signal::Pipe)));
}

#[test]
fn a_waiting_open_survives_removal_of_the_name() {
    let (mut g, other) = pair();
    assert_eq!(open(&mut g, "r"), Err(WAITS));
    g.park(g.pid);
    let (from, from_len) = g.put(b"tmp/f");
    let (to, to_len) = g.put(b"tmp/g");
    g.as_process(other, |g| {
        assert_eq!(call!(g, preview1::path_link(3, 0, from, from_len, 3, to, to_len)), OK);
        assert_eq!(call!(g, preview1::path_unlink_file(3, from, from_len)), OK);
        assert_eq!(mkfifo(g, b"/tmp/f", 0o666), OK);
        assert_eq!(open(g, "w"), Err(WAITS), "the new one is another");
        g.k.cancel_pending_opens(g.pid);
        let fd = g.open(b"tmp/g", "w").expect("the old one has a reader");
        g.write(fd, b"old").expect("room");
        assert_eq!(call!(g, preview1::path_unlink_file(3, to, to_len)), OK);
    });
    let fd = open(&mut g, "r").expect("met");
    assert_eq!(g.read(fd, 10), Ok(b"old".to_vec()));
    assert_eq!(call!(&mut g, tidebox::fstat(fd, OUT)), OK);
    assert_eq!((g.u64(OUT + 8), g.u32(OUT + 48)), (0, FIFO | 0o644), "a fifo without a name");
}

#[test]
fn a_caught_signal_ends_the_wait_and_closes_the_end() {
    let (mut g, other) = pair();
    assert_eq!(call!(&mut g, tidebox::sig_set(10, 2)), OK);
    assert_eq!(open(&mut g, "r"), Err(WAITS));
    let parked = g.park(g.pid);
    let number = i32::try_from(g.pid.0).expect("small");
    g.as_process(other, |g| assert_eq!(call!(g, tidebox::kill(number, 10)), OK));
    assert_eq!(parked.get(), 1);
    assert_eq!(open(&mut g, "r"), Err(done(Errno::Intr)));
    assert_eq!((g.k.pipes.count(), g.k.pipe_bytes), (0, 0));
    assert_eq!(g.as_process(other, |g| open(g, "w")), Err(WAITS), "no reader is left");
}

#[test]
fn a_process_that_exits_while_waiting_leaks_nothing() {
    let (mut g, other) = pair();
    let files = g.k.files.count();
    assert_eq!(g.as_process(other, |g| open(g, "w")), Err(WAITS));
    g.park(other);
    g.k.process_exited(other, ExitStatus::Killed(Signal::Kill));
    assert_eq!((g.k.pipes.count(), g.k.fifos.len(), g.k.pipe_bytes), (0, 0, 0));
    assert!(g.k.files.count() <= files);
    assert_eq!(open(&mut g, "r"), Err(WAITS));
    g.k.finish_execution(g.execution);
    assert_eq!((g.k.pipes.count(), g.k.files.count(), g.k.process_count()), (0, 0, 0));
}

#[test]
fn fifos_are_charged_like_pipes() {
    let mut g = Guest::new();
    let mut open = 0;
    let rejected = loop {
        let path = format!("/tmp/{open}");
        assert_eq!(mkfifo(&mut g, path.as_bytes(), 0o666), OK);
        match g.open(&path.as_bytes()[1..], "rw") {
            Ok(_) => open += 1,
            Err(sys) => break sys,
        }
    };
    // Descriptors run out first with these limits; the total pipe capacity is checked after that.
    assert!([done(Errno::Mfile), done(Errno::Nfile)].contains(&rejected), "{rejected:?}");
    assert!(open > 10 && g.k.pipe_bytes <= 96 << 20);
}

#[test]
fn a_fifo_is_charged_one_inode_and_refunded() {
    let mut limits = Limits::default();
    limits.inodes = 3;
    let mut g = Guest::with(limits, b"");
    let mut made = 0;
    while mkfifo(&mut g, format!("/tmp/{made}").as_bytes(), 0o666) == OK {
        made += 1;
    }
    assert_eq!(made, 3);
    assert_eq!(mkfifo(&mut g, b"/tmp/more", 0o666), done(Errno::Nospc));
    let (at, len) = g.put(b"tmp/0");
    assert_eq!(call!(&mut g, preview1::path_unlink_file(3, at, len)), OK);
    assert_eq!(mkfifo(&mut g, b"/tmp/more", 0o666), OK);
}

#[test]
fn a_write_updates_the_modification_time() {
    let (mut g, _) = pair();
    let fd = open(&mut g, "rw").expect("both");
    let mtime = |g: &mut Guest| {
        assert_eq!(call!(g, tidebox::fstat(fd, OUT)), OK);
        g.u64(OUT + 32)
    };
    let ino = g.k.ino_of(&g.k.open_file(g.pid, fd).expect("open").what.clone()).expect("it has a name");
    let stat = g.k.fs.stat(ino).expect("it exists");
    g.k.fs.set_stat(ino, &crate::fs::Stat { mtime: 5, ..stat }).expect("it exists");
    assert_eq!(mtime(&mut g), 5);
    g.write(fd, b"x").expect("room");
    assert_eq!(mtime(&mut g), g.k.now());
}

#[test]
fn a_snapshot_keeps_a_fifo_without_its_data() {
    let (mut g, _) = pair();
    let fd = open(&mut g, "rw").expect("both");
    g.write(fd, b"x").expect("room");
    let snapshot = g.k.snapshot();
    g.k.restore(&snapshot).expect("no block");
    assert!(g.k.fifos.is_empty(), "a later open does not meet the killed processes");
    g.k.finish_execution(g.execution);
    assert_eq!((g.k.pipes.count(), g.k.pipe_bytes), (0, 0));
    let mut other = kernel(Limits::default());
    other.restore(&snapshot).expect("no block");
    let crate::fs::Resolved::Node(ino) =
        other.fs.walk(&crate::kernel::USER, other.fs.root(), b"/tmp/f", true).expect("kept")
    else {
        panic!("it is not a file of /proc");
    };
    assert_eq!(other.fs.stat(ino).expect("kept").kind, crate::fs::Kind::Fifo);
    assert_eq!((other.fs.contents(ino).map(drop), other.fs.read_all(ino, 10)), (Err(Errno::Inval), Err(Errno::Inval)));
}

#[test]
fn a_spooled_fifo_keeps_its_data_for_the_first_reader() {
    let (mut g, other) = pair();
    g.k.spool_pipes(1 << 20);
    let writer = open(&mut g, "w").expect("it does not wait");
    g.write(writer, b"kept").expect("no hang-up");
    g.close(writer);
    assert_eq!((g.k.pipes.count(), g.k.pipe_bytes), (1, 4));
    let reader = g.as_process(other, |g| open(g, "r")).expect("there is something to read");
    assert_eq!(g.as_process(other, |g| g.read(reader, 10)), Ok(b"kept".to_vec()));
    assert_eq!(g.as_process(other, |g| g.read(reader, 10)), Ok(Vec::new()));
    g.as_process(other, |g| g.close(reader));
    assert_eq!((g.k.pipes.count(), g.k.pipe_bytes), (0, 0));
    assert_eq!(open(&mut g, "r"), Err(WAITS), "the next one waits for the next writer");
}

#[test]
fn unread_spooled_data_is_dropped_after_the_last_command() {
    let (mut g, _) = pair();
    g.k.spool_pipes(1 << 20);
    let writer = open(&mut g, "w").expect("it does not wait");
    g.write(writer, b"left").expect("no hang-up");
    g.k.finish_execution(g.execution);
    assert_eq!((g.k.pipes.count(), g.k.fifos.len(), g.k.pipe_bytes), (0, 0, 0));
}
