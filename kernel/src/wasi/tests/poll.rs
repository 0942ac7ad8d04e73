//! Waiting for clocks and descriptors.

use crate::Errno;
use crate::syscall::{SyscallOutcome, Wait};
use crate::testing::{DATA, Guest, OK, OUT, call, done};
use crate::wasi::{preview1, tidebox};
use tidebox_core::Limits;

const EVENTS: u32 = DATA + 64 * 1024;

fn clock(id: u32, timeout: u64, absolute: bool) -> [u8; 48] {
    let mut raw = [0; 48];
    raw[..8].copy_from_slice(&77u64.to_le_bytes());
    raw[16..20].copy_from_slice(&id.to_le_bytes());
    raw[24..32].copy_from_slice(&timeout.to_le_bytes());
    raw[40] = u8::from(absolute);
    raw
}

fn descriptor(kind: u8, fd: u32) -> [u8; 48] {
    let mut raw = [0; 48];
    raw[..8].copy_from_slice(&u64::from(fd).to_le_bytes());
    raw[8] = kind;
    raw[16..20].copy_from_slice(&fd.to_le_bytes());
    raw
}

#[derive(Debug, PartialEq)]
struct Event {
    userdata: u64,
    error: u16,
    kind: u8,
    bytes: u64,
    hangup: bool,
}

fn poll(g: &mut Guest, subscriptions: &[[u8; 48]]) -> Result<Vec<Event>, SyscallOutcome> {
    let (at, _) = g.put(&subscriptions.concat());
    let count = u32::try_from(subscriptions.len()).expect("few");
    match call!(g, preview1::poll_oneoff(at, EVENTS, count, OUT)) {
        OK => {}
        other => return Err(other),
    }
    Ok((0..g.out())
        .map(|n| {
            let at = EVENTS + 32 * n;
            let head = g.u64(at + 8).to_le_bytes();
            Event {
                userdata: g.u64(at),
                error: u16::from_le_bytes([head[0], head[1]]),
                kind: head[2],
                bytes: g.u64(at + 16),
                hangup: g.u64(at + 24) == 1,
            }
        })
        .collect())
}

fn until(deadline: u64) -> SyscallOutcome {
    SyscallOutcome::Block(Wait { deadline: Some(deadline) })
}

#[test]
fn a_relative_timeout_keeps_its_deadline_over_retries() {
    let mut g = Guest::new();
    assert!(g.k.clock.advance_to(100));
    let sleep = [clock(1, 1000, false)];
    assert_eq!(poll(&mut g, &sleep), Err(until(1100)));
    assert!(g.k.clock.advance_to(700));
    assert_eq!(poll(&mut g, &sleep), Err(until(1100)));
    assert!(g.k.clock.advance_to(1100));
    let woke = poll(&mut g, &sleep).expect("the deadline has passed");
    assert_eq!(woke, [Event { userdata: 77, error: 0, kind: 0, bytes: 0, hangup: false }]);
    assert_eq!(poll(&mut g, &sleep), Err(until(2100)), "the next call starts from scratch");
}

#[test]
fn an_absolute_timeout_uses_its_clock() {
    let mut g = Guest::new();
    assert_eq!(poll(&mut g, &[clock(0, 1_000_000_000_500, true)]), Err(until(500)));
    assert_eq!(poll(&mut g, &[clock(1, 300, true)]), Err(until(300)));
    assert_eq!(poll(&mut g, &[clock(0, 5, true)]).map(|e| e.len()), Ok(1), "a past deadline");
    assert_eq!(poll(&mut g, &[clock(1, u64::MAX, true)]), Err(until(u64::MAX)));
    assert_eq!(poll(&mut g, &[clock(1, u64::MAX, false)]), Err(until(u64::MAX)));
    assert_eq!(poll(&mut g, &[clock(1, 0, false)]).map(|e| e.len()), Ok(1), "a zero timeout does not wait");
}

#[test]
fn the_earliest_of_several_clocks_counts() {
    let mut g = Guest::new();
    let both = [clock(1, 900, false), clock(0, 400, false)];
    assert_eq!(poll(&mut g, &both), Err(until(400)));
    assert!(g.k.clock.advance_to(400));
    assert_eq!(poll(&mut g, &both).map(|e| e.len()), Ok(1));
}

#[test]
fn ready_descriptors_are_reported_with_their_byte_count() {
    let mut g = Guest::with(Limits::default(), b"abc");
    let file = g.open(b"etc/motd", "r").expect("it exists");
    let (reader, writer) = g.pipe();
    g.write(writer, b"12345").expect("room");
    let events = poll(
        &mut g,
        &[descriptor(1, 0), descriptor(1, file), descriptor(1, reader), descriptor(2, writer), descriptor(2, 1)],
    )
    .expect("all are ready");
    let reported: Vec<_> = events.iter().map(|e| (e.userdata, e.kind, e.bytes, e.hangup)).collect();
    let (file, reader, writer) = (u64::from(file), u64::from(reader), u64::from(writer));
    assert_eq!(
        reported,
        [
            (0, 1, 3, false),
            (file, 1, 6, false),
            (reader, 1, 5, false),
            (writer, 2, 65_531, false),
            (1, 2, 65_536, false)
        ]
    );
}

#[test]
fn polling_a_pipe_waits_and_eof_is_a_hangup() {
    let mut g = Guest::new();
    let (reader, writer) = g.pipe();
    let read = [descriptor(1, reader), clock(1, 5000, false)];
    assert_eq!(poll(&mut g, &read), Err(until(5000)));
    let parked = g.park(g.pid);
    let child = g.fork();
    g.as_process(child, |g| g.write(writer, b"x")).expect("room");
    assert_eq!(parked.get(), 1);
    let events = poll(&mut g, &read).expect("ready");
    assert_eq!(events.iter().map(|e| (e.kind, e.bytes)).collect::<Vec<_>>(), [(1, 1)]);
    g.read(reader, 1).expect("a byte");
    g.close(writer);
    g.as_process(child, |g| g.close(writer));
    let events = poll(&mut g, &read).expect("EOF is readable");
    assert!(events[0].hangup);
}

#[test]
fn polling_a_full_pipe_waits_and_no_reader_is_a_hangup() {
    let mut g = Guest::new();
    let (reader, writer) = g.pipe();
    g.write(writer, &[0; 62_000]).expect("room");
    let write = [descriptor(2, writer)];
    assert_eq!(poll(&mut g, &write), Err(SyscallOutcome::Block(Wait::default())), "no capacity for an atomic write");
    g.read(reader, 600).expect("bytes");
    assert_eq!(poll(&mut g, &write).map(|e| e[0].bytes), Ok(65_536 - 61_400));
    g.close(reader);
    assert_eq!(poll(&mut g, &write).map(|e| e[0].hangup), Ok(true));
}

#[test]
fn a_subscription_error_is_reported_in_its_event() {
    let mut g = Guest::new();
    let file = g.open(b"etc/motd", "r").expect("it exists");
    let wrong = [descriptor(1, 99), descriptor(2, file), clock(2, 0, false), clock(9, 0, false)];
    let events = poll(&mut g, &wrong).expect("events");
    let errors: Vec<u16> = events.iter().map(|e| e.error).collect();
    let (badf, inval) = (Errno::Badf as u16, Errno::Inval as u16);
    assert_eq!(errors, [badf, badf, badf, inval]);
}

#[test]
fn invalid_subscriptions_are_rejected() {
    let mut g = Guest::new();
    assert_eq!(poll(&mut g, &[]), Err(done(Errno::Inval)));
    assert_eq!(poll(&mut g, &[descriptor(3, 0)]), Err(done(Errno::Inval)));
    for count in [4097, u32::MAX] {
        assert_eq!(call!(&mut g, preview1::poll_oneoff(DATA, EVENTS, count, OUT)), done(Errno::Inval));
    }
    let (at, _) = g.put(&descriptor(2, 1));
    assert_eq!(call!(&mut g, preview1::poll_oneoff(u32::MAX - 8, EVENTS, 2, OUT)), done(Errno::Fault));
    assert_eq!(call!(&mut g, preview1::poll_oneoff(at, u32::MAX - 8, 1, OUT)), done(Errno::Fault));
    assert_eq!(call!(&mut g, preview1::poll_oneoff(at, EVENTS, 1, u32::MAX)), done(Errno::Fault));
}

#[test]
fn a_caught_signal_ends_a_sleep() {
    let mut g = Guest::new();
    assert_eq!(call!(&mut g, tidebox::sig_set(15, 2)), OK);
    let sleep = [clock(1, 1000, false)];
    assert_eq!(poll(&mut g, &sleep), Err(until(1000)));
    let parked = g.park(g.pid);
    let (pid, child) = (g.pid.0.cast_signed(), g.fork());
    assert_eq!(g.as_process(child, |g| call!(g, tidebox::kill(pid, 15))), OK);
    assert_eq!(parked.get(), 1);
    assert_eq!(poll(&mut g, &sleep), Err(done(Errno::Intr)));
    assert_eq!(poll(&mut g, &sleep), Err(until(1000)), "one arrival interrupts one call");
}

#[test]
fn a_process_woken_by_its_timer_is_busy_again() {
    let mut g = Guest::new();
    let sleep = [clock(1, 1000, false)];
    assert_eq!(poll(&mut g, &sleep), Err(until(1000)));
    let waiting = Wait { deadline: Some(1000) };
    g.k.park(g.pid, waiting, std::task::Waker::noop());
    assert!(g.k.clock.advance_to(1000));
    assert_eq!(poll(&mut g, &sleep).map(|e| e.len()), Ok(1));
    assert!(!g.k.advance_clock(g.execution), "a busy process stops the clock");
}
