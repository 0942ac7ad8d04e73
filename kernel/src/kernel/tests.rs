use crate::testing::{Count, Guest, kernel, spec};
use crate::wasi::Wait;
use crate::{Errno, Pid, SessionSpec, Signal, Status, Stop, Stream};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::task::Waker;
use std::time::Duration;
use tidebox_core::Limits;

#[test]
fn a_session_begins_with_its_root_process_and_ends_with_a_report() {
    let mut k = kernel(Limits::default());
    let (session, pid) = k.begin(spec(&[])).expect("the program is there");
    let starts = k.take_starts(session);
    assert_eq!((starts.len(), starts[0].pid), (1, pid));
    assert_eq!(starts[0].image.contents.to_vec(), b"\0asm\x01\0\0\0");
    assert_eq!(k.program_name(pid), "prog");
    assert_eq!(k.root_status(session), None);
    assert!(k.grow_memory(pid, 0, 1 << 20));
    k.exited(pid, Status::Exited(3));
    assert_eq!(k.root_status(session), Some(Status::Exited(3)));
    let report = k.end(session);
    assert_eq!((report.status, report.stopped_by, report.truncated), (Some(Status::Exited(3)), None, false));
    assert_eq!((report.peak_memory_bytes, report.processes_started), (1 << 20, 1));
    assert_eq!(k.end(session), crate::Report::default(), "it is gone");
}

#[test]
fn a_session_that_cannot_begin_leaves_nothing() {
    let mut k = kernel(Limits::default());
    let bad = |change: fn(&mut SessionSpec)| {
        let mut spec = spec(&[]);
        change(&mut spec);
        spec
    };
    for (spec, errno) in [
        (bad(|s| s.program = b"/bin/none".to_vec()), Errno::Noent),
        (bad(|s| s.program = b"/bin/data".to_vec()), Errno::Noexec),
        (bad(|s| s.cwd = b"/none".to_vec()), Errno::Noent),
        (bad(|s| s.cwd = b"/etc/motd".to_vec()), Errno::Notdir),
        (bad(|s| s.cwd = Vec::new()), Errno::Noent),
        (bad(|s| s.env = vec![vec![b'x'; 3 << 20]]), Errno::TooBig),
        (bad(|s| s.argv = vec![b"a\0".to_vec()]), Errno::Inval),
    ] {
        assert_eq!(k.begin(spec).map(|_| ()), Err(errno));
    }
    assert_eq!((k.process_count(), k.files.count()), (0, 0));
}

/// What the engine reads to see whether a process must die.
fn flag(g: &Guest, pid: Pid) -> Arc<AtomicU32> {
    Arc::clone(&g.k.process(pid).expect("it lives").kill_flag)
}

#[test]
fn ending_a_session_frees_everything_it_left_behind() {
    let mut g = Guest::new();
    g.pipe();
    let child = g.fork();
    let flag = flag(&g, child);
    assert!(g.k.grow_memory(child, 0, 4096));
    let parked = g.park(child);
    let report = g.k.end(g.session);
    assert_eq!(report.status, None);
    assert_eq!(parked.get(), 1, "who waits is woken to learn it");
    assert_eq!(flag.load(Ordering::Relaxed), 9);
    assert_eq!((g.k.process_count(), g.k.files.count(), g.k.pipes.count(), g.k.memory_bytes), (0, 0, 0, 0));
    g.k.exited(child, Status::Exited(0));
    assert_eq!(g.park(child).get(), 1, "who is gone does not sleep");
}

#[test]
fn stopping_kills_all_of_a_session_and_nothing_else_and_the_first_reason_counts() {
    let mut g = Guest::new();
    let child = g.fork();
    let (_, other) = g.k.begin(spec(&[])).expect("a second session");
    g.k.stop(g.session, Stop::Time);
    g.k.stop(g.session, Stop::Caller);
    let flags = [g.pid, child, other].map(|pid| flag(&g, pid).load(Ordering::Relaxed));
    assert_eq!(flags, [9, 9, 0]);
    g.k.exited(g.pid, Status::Killed(Signal::Kill));
    let report = g.k.end(g.session);
    assert_eq!((report.status.map(Status::code), report.stopped_by), (Some(137), Some(Stop::Time)));
    assert_eq!(g.k.process_count(), 1);
}

#[test]
fn output_beyond_the_limit_is_dropped_and_said() {
    let mut k = kernel(Limits::default());
    let (session, pid) = k.begin(SessionSpec { output_bytes: 5, ..spec(&[]) }).expect("the program is there");
    k.message(pid, "abc");
    k.message(pid, "defg");
    k.message(pid, "h");
    let chunks = k.take_output(session);
    assert_eq!(chunks.len(), 1);
    assert_eq!((chunks[0].stream, chunks[0].bytes.as_slice()), (Stream::Stderr, b"abcde".as_slice()));
    k.message(pid, "i");
    assert_eq!(k.take_output(session), [], "what was taken makes no new room");
    assert!(k.end(session).truncated);
}

#[test]
fn no_output_at_all_may_be_wanted() {
    let mut k = kernel(Limits::default());
    let (session, pid) = k.begin(SessionSpec { output_bytes: 0, ..spec(&[]) }).expect("the program is there");
    k.message(pid, "abc");
    assert_eq!(k.take_output(session), []);
    assert!(k.end(session).truncated);
}

#[test]
fn a_message_goes_where_the_process_sends_its_errors() {
    let mut g = Guest::new();
    let fd = g.open(b"workspace/log", "rac").expect("made");
    assert_eq!(crate::testing::call!(&mut g, crate::wasi::ext::dup_to(fd, 2)), crate::testing::OK);
    g.k.message(g.pid, "out of memory\n");
    assert_eq!(g.read(fd, 99), Ok(Vec::new()), "a log is written at its end, and the offset follows");
    let log = g.open(b"workspace/log", "r").expect("there");
    assert_eq!(g.read(log, 99), Ok(b"out of memory\n".to_vec()));
    let (reader, writer) = g.pipe();
    assert_eq!(crate::testing::call!(&mut g, crate::wasi::ext::dup_to(writer, 2)), crate::testing::OK);
    g.k.message(g.pid, "killed\n");
    assert_eq!(g.read(reader, 99), Ok(b"killed\n".to_vec()));
    g.close(2);
    g.k.message(g.pid, "nobody hears this\n");
    assert_eq!(g.k.take_output(g.session), []);
}

#[test]
fn memory_is_bounded_per_process_and_for_all_together() {
    let mut limits = Limits::default();
    limits.process_memory_bytes = 1000;
    limits.sandbox_memory_bytes = 1500;
    let mut g = Guest::with(limits, &[]);
    let child = g.fork();
    assert!(g.k.grow_memory(g.pid, 0, 1000));
    assert!(!g.k.grow_memory(g.pid, 1000, 1001));
    assert!(!g.k.grow_memory(child, 0, 501));
    assert!(g.k.grow_memory(child, 0, 300));
    assert!(g.k.grow_memory(child, 300, 500));
    assert!(!g.k.grow_memory(child, 0, u64::MAX));
    g.k.exited(child, Status::Exited(0));
    let other = g.fork();
    assert!(g.k.grow_memory(other, 0, 400), "what ended gave its memory back");
    assert_eq!(g.k.end(g.session).peak_memory_bytes, 1500);
}

#[test]
fn running_out_of_memory_stops_a_session_only_by_its_root_process() {
    let mut g = Guest::new();
    let child = g.fork();
    g.k.out_of_memory(child);
    assert_eq!(g.k.sessions[&g.session].stopped_by, None);
    g.k.out_of_memory(g.pid);
    assert_eq!(g.k.end(g.session).stopped_by, Some(Stop::Memory));
}

#[test]
fn time_passes_when_all_wait_and_wakes_who_is_due() {
    let mut g = Guest::new();
    let (own, child) = (g.pid, g.fork());
    let parked = |g: &mut Guest, pid, deadline| {
        let count = Arc::new(Count::default());
        g.k.park(pid, Wait { deadline }, &Waker::from(Arc::clone(&count)));
        count
    };
    let root = parked(&mut g, own, Some(900));
    assert!(!g.k.skip_waiting(g.session), "the child is busy");
    let sleeper = parked(&mut g, child, Some(400));
    assert!(g.k.skip_waiting(g.session));
    assert_eq!((g.k.monotonic(), root.get(), sleeper.get()), (400, 0, 1));
    assert!(!g.k.skip_waiting(g.session), "the child is awake");
    parked(&mut g, child, None);
    assert!(g.k.skip_waiting(g.session));
    assert_eq!((g.k.monotonic(), root.get()), (900, 1));
    parked(&mut g, own, None);
    assert!(!g.k.skip_waiting(g.session), "nobody waits for a time");
}

#[test]
fn a_session_that_waits_longer_than_it_may_is_stopped_when_its_time_is_up() {
    let mut g = Guest::new();
    let (pid, waker) = (g.pid, Waker::from(Arc::new(Count::default())));
    g.k.limit_waiting(g.session, Duration::from_nanos(1000));
    g.k.park(pid, Wait { deadline: Some(400) }, &waker);
    assert!(g.k.skip_waiting(g.session));
    g.k.park(pid, Wait { deadline: Some(1000) }, &waker);
    assert!(g.k.skip_waiting(g.session), "a wait that ends with the time is in time");
    assert_eq!((g.k.monotonic(), g.k.sessions[&g.session].stopped_by), (1000, None));
    g.k.park(pid, Wait { deadline: Some(1001) }, &waker);
    assert!(g.k.skip_waiting(g.session));
    assert_eq!((g.k.monotonic(), g.k.end(g.session).stopped_by), (1000, Some(Stop::Time)));
}

#[test]
fn two_sessions_share_files_and_nothing_else() {
    let mut g = Guest::new();
    let (session, pid) = g.k.begin(SessionSpec { stdin: b"other".to_vec(), ..spec(&[]) }).expect("a second session");
    g.k.set_aware(pid, true);
    g.write(1, b"first").expect("room");
    let fd = g.open(b"workspace/f", "wc").expect("made");
    g.write(fd, b"shared").expect("room");
    g.as_process(pid, |g| {
        assert_eq!(g.read(0, 9), Ok(b"other".to_vec()));
        let fd = g.open(b"workspace/f", "r").expect("there");
        assert_eq!(g.read(fd, 9), Ok(b"shared".to_vec()));
    });
    assert_eq!(g.k.take_output(session), []);
    assert_eq!(g.k.take_output(g.session)[0].bytes, b"first");
}

#[test]
fn many_processes_come_and_go_and_numbers_increase() {
    let mut limits = Limits::default();
    limits.processes = 500;
    let mut g = Guest::with(limits, &[]);
    let mut last = g.pid;
    for round in 0..5 {
        let children: Vec<_> = (0..400).map(|_| g.fork()).collect();
        for child in &children {
            assert!(*child > last, "round {round}");
            last = *child;
        }
        for child in children {
            assert_eq!(g.k.processes.get(child).map(|p| p.pid), Some(child));
            g.k.abandon(child);
        }
    }
    assert_eq!(g.k.process_count(), 1);
}
