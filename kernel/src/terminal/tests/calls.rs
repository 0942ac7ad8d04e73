//! Terminals through system calls and the embedder's side.

use std::sync::Arc;
use std::task::{Context, Poll, Waker};

use tidebox_core::TerminalSize;
use tidebox_core::lock::Mutex;

use crate::syscall::{SyscallOutcome, Wait};
use crate::testing::{DATA, Guest, OK, OUT, WakeCounter, call, done};
use crate::wasi::{preview1, tidebox};
use crate::{Errno, HostTerminal, Pid, Signal};

const WAITS: SyscallOutcome = SyscallOutcome::Block(Wait { deadline: None });
const CATCH: u32 = 2;

fn guest() -> Guest {
    Guest::with_terminal(24, 80)
}

fn number(g: &Guest) -> u32 {
    g.k.terminal_of_execution(g.execution).expect("the execution has a terminal")
}

fn press(g: &mut Guest, keys: &[u8]) -> Option<usize> {
    let terminal = number(g);
    g.k.type_keys(terminal, keys)
}

fn screen(g: &mut Guest) -> String {
    let chunks = g.k.take_output(g.execution);
    String::from_utf8(chunks.iter().flat_map(|chunk| chunk.bytes.clone()).collect()).expect("the cases are UTF-8")
}

fn pending(g: &mut Guest) -> u64 {
    assert_eq!(call!(g, tidebox::sig_take(OUT)), OK);
    g.u64(OUT)
}

fn catch(g: &mut Guest, signal: Signal) {
    assert_eq!(call!(g, tidebox::sig_set(u32::from(signal.number()), CATCH)), OK);
}

/// A fork of the root in a separate group.
fn background(g: &mut Guest) -> Pid {
    let child = g.fork();
    let id = child.0.cast_signed();
    assert_eq!(call!(g, tidebox::setpgid(id, id)), OK);
    child
}

#[test]
fn the_standard_streams_are_one_terminal() {
    let mut g = guest();
    for fd in 0..3 {
        assert_eq!(call!(&mut g, preview1::fd_fdstat_get(fd, OUT)), OK);
        // wasi-libc's `isatty`: a character device without the rights `fd_seek` and `fd_tell`.
        assert_eq!((g.bytes(OUT, 1), g.u64(OUT + 8) & (1 << 2 | 1 << 5)), (vec![2], 0));
        assert_eq!(call!(&mut g, preview1::fd_seek(fd, 0, 1, OUT)), done(Errno::Spipe));
        assert_eq!(call!(&mut g, tidebox::fstat(fd, OUT)), OK);
        assert_eq!(g.u32(OUT + 48), 0o020_620);
    }
    assert_eq!(g.write(1, b"a\n"), Ok(2));
    assert_eq!(g.write(2, b"b\n"), Ok(2));
    assert_eq!(screen(&mut g), "a\r\nb\r\n");
    assert_eq!(g.k.resource_usage().terminals, 1);
}

#[test]
fn a_reader_waits_for_a_line_and_is_woken() {
    let mut g = guest();
    assert_eq!(g.read(0, 10), Err(WAITS));
    let woken = g.park(g.pid);
    assert_eq!(press(&mut g, b"hi\r"), Some(3));
    assert_eq!(woken.get(), 1);
    assert_eq!(g.read(0, 10), Ok(b"hi\n".to_vec()));
    assert_eq!(screen(&mut g), "hi\r\n");
}

#[test]
fn the_device_opens_the_terminal_of_the_execution() {
    let mut g = guest();
    let fd = g.open(b"dev/tty", "rw").expect("it has a terminal");
    assert_eq!(g.write(fd, b"x"), Ok(1));
    press(&mut g, b"y\n");
    assert_eq!(g.read(fd, 10), Ok(b"y\n".to_vec()));
    let mut without = Guest::new();
    assert_eq!(without.open(b"dev/tty", "rw"), Err(done(Errno::Nxio)));
    for outcome in [
        call!(&mut without, tidebox::tty_get(0, OUT)),
        call!(&mut without, tidebox::tty_set(0, 0, zeros(&mut g))),
        call!(&mut without, tidebox::tty_group(0, 0, OUT)),
    ] {
        assert_ne!(outcome, OK);
    }
    assert_eq!(call!(&mut without, tidebox::tty_get(1, OUT)), done(Errno::Notty));
    assert_eq!(call!(&mut without, tidebox::tty_get(99, OUT)), done(Errno::Badf));
}

fn zeros(g: &mut Guest) -> u32 {
    g.put(&[0; 64]).0
}

#[test]
fn settings_and_size_are_read_and_changed() {
    let mut g = guest();
    catch(&mut g, Signal::Winch);
    assert_eq!(call!(&mut g, tidebox::tty_get(0, OUT)), OK);
    let mut state = g.bytes(OUT, 64);
    assert_eq!(state[..4], [1, 0, 0, 0]);
    assert_eq!((&state[20..24], &state[24..27]), (&[24, 0, 80, 0][..], &[3, 0x1c, 0x7f][..]));
    // No canonical mode, no echo, and 30 rows.
    state[16] &= !0o12;
    state[20] = 30;
    let (at, _) = g.put(&state);
    assert_eq!(call!(&mut g, tidebox::tty_set(0, 0, at)), OK);
    assert_eq!(pending(&mut g), 1 << 28);
    press(&mut g, b"x");
    assert_eq!((g.read(0, 10), screen(&mut g)), (Ok(b"x".to_vec()), String::new()));
    assert_eq!(call!(&mut g, tidebox::tty_get(1, OUT)), OK);
    assert_eq!(g.bytes(OUT, 64), state);
    press(&mut g, b"lost");
    assert_eq!(call!(&mut g, tidebox::tty_set(0, 2, at)), OK);
    assert_eq!(g.read(0, 10), Err(WAITS));
    assert_eq!(call!(&mut g, tidebox::tty_set(0, 3, at)), done(Errno::Inval));
    let zeros = zeros(&mut g);
    assert_eq!(call!(&mut g, tidebox::tty_set(0, 0, zeros)), done(Errno::Inval), "the version is 0");
    assert_eq!(call!(&mut g, tidebox::tty_set(0, 0, u32::MAX - 8)), done(Errno::Fault));
    assert_eq!(call!(&mut g, tidebox::tty_get(0, u32::MAX - 8)), done(Errno::Fault));
}

#[test]
fn a_resize_signals_the_foreground_if_the_size_changes() {
    let mut g = guest();
    catch(&mut g, Signal::Winch);
    let (terminal, size) = (number(&g), TerminalSize { rows: 40, columns: 100 });
    g.k.set_terminal_size(terminal, size);
    assert_eq!(pending(&mut g), 1 << 28);
    g.k.set_terminal_size(terminal, size);
    assert_eq!(pending(&mut g), 0);
    assert_eq!(call!(&mut g, tidebox::tty_get(0, OUT)), OK);
    assert_eq!(g.bytes(OUT + 20, 4), [40, 0, 100, 0]);
}

#[test]
fn the_interrupt_key_signals_the_foreground_group_only() {
    let mut g = guest();
    catch(&mut g, Signal::Int);
    let child = background(&mut g);
    assert_eq!(call!(&mut g, tidebox::tty_group(0, 0, OUT)), OK);
    assert_eq!(g.out(), g.pid.0);
    press(&mut g, b"\x03");
    assert_eq!(pending(&mut g), 1 << 2);
    assert_eq!(g.as_process(child, pending), 0);
    assert_eq!(call!(&mut g, tidebox::tty_group(0, child.0, OUT)), OK);
    press(&mut g, b"\x03");
    assert_eq!((pending(&mut g), g.as_process(child, pending)), (0, 1 << 2));
    assert_eq!(call!(&mut g, tidebox::tty_group(0, 9999, OUT)), done(Errno::Perm));
}

#[test]
fn a_waiting_reader_is_interrupted_by_a_key() {
    let mut g = guest();
    catch(&mut g, Signal::Int);
    assert_eq!(g.read(0, 10), Err(WAITS));
    let woken = g.park(g.pid);
    press(&mut g, b"\x03");
    assert_eq!(woken.get(), 1);
    assert_eq!(g.read(0, 10), Err(done(Errno::Intr)));
    assert_eq!(screen(&mut g), "^C");
}

const UNTRACED: u32 = 2;
const IGNORE: u32 = 1;

/// The change that `wait` with `UNTRACED` returns without blocking: pid and status, or zeros.
fn change(g: &mut Guest) -> (u32, u32) {
    assert_eq!(call!(g, tidebox::wait(-1, UNTRACED | 1, OUT)), OK);
    (g.u32(OUT), g.u32(OUT + 4))
}

#[test]
fn a_background_reader_is_stopped_until_it_may_read() {
    let mut g = guest();
    let child = background(&mut g);
    press(&mut g, b"line\n");
    assert_eq!(g.as_process(child, |g| g.read(0, 10)), Err(WAITS));
    assert_eq!(change(&mut g), (child.0, 512 + 21));
    assert_eq!(change(&mut g), (0, 0), "a stop is reported once");
    let group = child.0.cast_signed();
    assert_eq!(call!(&mut g, tidebox::kill(-group, 18)), OK);
    assert_eq!(g.as_process(child, |g| g.read(0, 10)), Err(WAITS), "it is still in the background");
    assert_eq!(change(&mut g), (child.0, 512 + 21));
    assert_eq!(call!(&mut g, tidebox::tty_group(0, child.0, OUT)), OK);
    assert_eq!(call!(&mut g, tidebox::kill(-group, 18)), OK);
    assert_eq!(g.as_process(child, |g| g.read(0, 10)), Ok(b"line\n".to_vec()));
    // A group that no shell could continue, and one that ignores the signal, get an error.
    assert_eq!(g.read(0, 10), Err(done(Errno::Io)));
    let other = background(&mut g);
    assert_eq!(g.as_process(other, |g| call!(g, tidebox::sig_set(21, IGNORE))), OK);
    assert_eq!(g.as_process(other, |g| g.read(0, 10)), Err(done(Errno::Io)));
}

#[test]
fn background_output_stops_if_tostop_is_set() {
    let mut g = guest();
    let child = background(&mut g);
    assert_eq!(g.as_process(child, |g| g.write(1, b"out")), Ok(3));
    assert_eq!(call!(&mut g, tidebox::tty_get(0, OUT)), OK);
    let mut state = g.bytes(OUT, 64);
    state[17] |= 1;
    let (at, _) = g.put(&state);
    assert_eq!(call!(&mut g, tidebox::tty_set(0, 0, at)), OK);
    assert_eq!(g.as_process(child, |g| g.write(1, b"out")), Err(WAITS));
    assert_eq!(change(&mut g), (child.0, 512 + 22));
    assert_eq!(g.write(1, b"x"), Ok(1), "the foreground writes");
    let group = child.0.cast_signed();
    assert_eq!(call!(&mut g, tidebox::kill(-group, 18)), OK);
    assert_eq!(g.as_process(child, |g| call!(g, tidebox::tty_set(0, 0, at))), WAITS, "settings too");
    assert_eq!(change(&mut g), (child.0, 512 + 22));
    assert_eq!(call!(&mut g, tidebox::kill(-group, 18)), OK);
    assert_eq!(g.as_process(child, |g| call!(g, tidebox::sig_set(22, IGNORE))), OK);
    assert_eq!(g.as_process(child, |g| g.write(1, b"out")), Ok(3), "SIGTTOU is ignored");
}

#[test]
fn the_suspend_key_stops_the_foreground_job() {
    let mut g = guest();
    let child = background(&mut g);
    assert_eq!(call!(&mut g, tidebox::tty_group(0, child.0, OUT)), OK);
    press(&mut g, b"\x1a");
    assert_eq!(change(&mut g), (child.0, 512 + 20));
    // After the end of its parent no process could continue it.
    g.k.process_exited(g.pid, crate::ExitStatus::Exited(0));
    assert_eq!(g.as_process(child, |g| g.write(1, b"x")), Err(SyscallOutcome::Kill(Signal::Hup)));
    let mut alone = guest();
    press(&mut alone, b"\x1a");
    assert_eq!(screen(&mut alone), "^Z");
    assert_eq!(alone.write(1, b"x"), Ok(1), "a group without a shell is not stopped");
    assert!(alone.k.process(alone.pid).is_ok_and(|process| process.stopped.is_none()));
}

#[test]
fn a_hang_up_signals_and_ends_input_and_output() {
    let mut g = guest();
    catch(&mut g, Signal::Hup);
    press(&mut g, b"unread\n");
    let terminal = number(&g);
    g.k.hang_up_terminal(terminal);
    assert_eq!(pending(&mut g), 1 << 1);
    assert_eq!(g.read(0, 10), Ok(vec![]));
    assert_eq!(g.write(1, b"x"), Err(done(Errno::Io)));
    assert_eq!(call!(&mut g, tidebox::tty_get(0, OUT)), done(Errno::Io));
    assert_eq!(press(&mut g, b"x"), None);
    g.k.hang_up_terminal(terminal);
    assert_eq!(pending(&mut g), 0);
}

#[test]
fn the_end_of_the_root_hangs_up_its_group() {
    let mut g = guest();
    let (member, other) = (g.fork(), background(&mut g));
    g.k.process_exited(g.pid, crate::ExitStatus::Exited(0));
    assert_eq!(g.as_process(member, |g| g.write(1, b"x")), Err(SyscallOutcome::Kill(Signal::Hup)));
    assert_eq!(g.as_process(other, |g| g.write(1, b"x")), Err(done(Errno::Io)));
}

#[test]
fn a_terminal_is_freed_with_its_last_descriptor() {
    let mut g = guest();
    let (second, other) = {
        let spec = crate::testing::spec(b"");
        let (execution, pid) = g.k.start_execution(spec).expect("the program exists");
        g.k.set_tidebox_guest(pid, true);
        (execution, pid)
    };
    let path = format!("proc/{}/fd/0", g.pid);
    let fd = g.as_process(other, |g| g.open(path.as_bytes(), "rw")).expect("the descriptor is shared");
    g.k.finish_execution(g.execution);
    assert_eq!(g.k.resource_usage().terminals, 1);
    assert_eq!(g.as_process(other, |g| g.write(fd, b"x")), Err(done(Errno::Io)));
    assert_eq!(g.as_process(other, |g| g.read(fd, 1)), Ok(vec![]));
    g.as_process(other, |g| g.close(fd));
    assert_eq!(g.k.resource_usage().terminals, 0);
    g.k.finish_execution(second);
}

#[test]
fn a_poll_sees_a_line() {
    let mut g = guest();
    let subscription = {
        let mut raw = [0; 48];
        raw[8] = 1;
        raw
    };
    let (at, _) = g.put(&subscription);
    assert_eq!(call!(&mut g, preview1::poll_oneoff(at, DATA, 1, OUT)), WAITS);
    press(&mut g, b"ab");
    assert_eq!(call!(&mut g, preview1::poll_oneoff(at, DATA, 1, OUT)), WAITS);
    press(&mut g, b"\n");
    assert_eq!(call!(&mut g, preview1::poll_oneoff(at, DATA, 1, OUT)), OK);
    assert_eq!(g.u64(DATA + 16), 3);
}

#[test]
fn a_full_terminal_makes_the_embedder_wait() {
    let g = guest();
    let execution = g.execution;
    let pid = g.pid;
    let kernel = Arc::new(Mutex::new(g.k));
    let terminal = HostTerminal::of_execution(&kernel, execution).expect("it has a terminal");
    let count = Arc::new(WakeCounter::default());
    let waker = Waker::from(Arc::clone(&count));
    let mut cx = Context::from_waker(&waker);
    let flood = b"0123456\n".repeat(64 << 10);
    let mut typed = 0;
    loop {
        match terminal.poll_write(&mut cx, &flood) {
            Poll::Ready(Ok(0) | Err(_)) => panic!("the terminal is open"),
            Poll::Ready(Ok(count)) => typed += count,
            Poll::Pending => break,
        }
    }
    assert!(typed <= 64 << 10, "{typed}");
    let read = kernel.lock().read(pid, 0, &mut [0; 64]);
    assert_eq!((read, count.get()), (Ok(8), 1));
    assert!(matches!(terminal.poll_write(&mut cx, b"\x03"), Poll::Ready(Ok(1))), "an interrupt never waits");
    assert_eq!(terminal.end_key(), 4);
    drop(terminal);
    assert!(matches!(kernel.lock().read(pid, 0, &mut [0; 64]), Err(crate::SyscallError::Kill(Signal::Int))));
    kernel.lock().finish_execution(execution);
    assert_eq!(kernel.lock().resource_usage().terminals, 0);
}
