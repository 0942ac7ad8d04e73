use crate::process_flags::ProcessFlags;
use crate::syscall::Wait;
use crate::testing::{Guest, WakeCounter, kernel, spec};
use crate::{Errno, ExecutionSpec, ExitStatus, OutputStream, Pid, Signal, StopReason};
use std::sync::Arc;
use std::task::Waker;
use std::time::Duration;
use tidebox_core::{Limits, OutputOverflow};

#[test]
fn an_execution_starts_its_root_process_and_ends_with_a_report() {
    let mut k = kernel(Limits::default());
    let (execution, pid) = k.start_execution(spec(&[])).expect("the program exists");
    let starts = k.take_pending(execution);
    assert_eq!((starts.len(), starts[0].pid), (1, pid));
    assert_eq!(starts[0].image.contents.to_vec(), b"\0asm\x01\0\0\0");
    assert_eq!(k.program_name(pid), "prog");
    assert_eq!(k.root_status(execution), None);
    assert!(k.grow_memory(pid, 0, 1 << 20));
    k.process_exited(pid, ExitStatus::Exited(3));
    assert_eq!(k.root_status(execution), Some(ExitStatus::Exited(3)));
    let report = k.finish_execution(execution);
    assert_eq!((report.status, report.stopped_by, report.truncated), (Some(ExitStatus::Exited(3)), None, false));
    assert_eq!((report.peak_memory_bytes, report.processes_started), (1 << 20, 1));
    assert_eq!(k.finish_execution(execution), crate::ExecutionReport::default(), "it is removed");
}

#[test]
fn a_failed_execution_start_leaks_nothing() {
    let mut k = kernel(Limits::default());
    let bad = |change: fn(&mut ExecutionSpec)| {
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
        (bad(|s| s.env = [vec![b'x'; 3 << 20]].into_iter().collect()), Errno::TooBig),
        (bad(|s| s.argv = ["a\0"].into_iter().collect()), Errno::Inval),
    ] {
        assert_eq!(k.start_execution(spec).map(|_| ()), Err(errno));
    }
    assert_eq!((k.process_count(), k.files.count()), (0, 0));
}

/// Returns the flags that the engine reads.
fn flags(g: &Guest, pid: Pid) -> Arc<ProcessFlags> {
    Arc::clone(&g.k.process(pid).expect("the process exists").flags)
}

#[test]
fn finishing_an_execution_frees_all_its_resources() {
    let mut g = Guest::new();
    g.pipe();
    let child = g.fork();
    let flags = flags(&g, child);
    assert!(g.k.grow_memory(child, 0, 4096));
    let parked = g.park(child);
    let report = g.k.finish_execution(g.execution);
    assert_eq!(report.status, None);
    assert_eq!(parked.get(), 1, "a waiting process is woken");
    assert_eq!(flags.fatal_signal(), Some(Signal::Kill));
    assert_eq!((g.k.process_count(), g.k.files.count(), g.k.pipes.count(), g.k.memory_bytes), (0, 0, 0, 0));
    g.k.process_exited(child, ExitStatus::Exited(0));
    assert_eq!(g.park(child).get(), 1, "an ended process is woken");
}

#[test]
fn stopping_kills_one_execution_and_keeps_the_first_reason() {
    let mut g = Guest::new();
    let child = g.fork();
    let (_, other) = g.k.start_execution(spec(&[])).expect("a second execution");
    g.k.stop_execution(g.execution, StopReason::Timeout);
    g.k.stop_execution(g.execution, StopReason::Cancelled);
    let signals = [g.pid, child, other].map(|pid| flags(&g, pid).fatal_signal());
    assert_eq!(signals, [Some(Signal::Kill), Some(Signal::Kill), None]);
    g.k.process_exited(g.pid, ExitStatus::Killed(Signal::Kill));
    let report = g.k.finish_execution(g.execution);
    assert_eq!((report.status.map(ExitStatus::code), report.stopped_by), (Some(137), Some(StopReason::Timeout)));
    assert_eq!(g.k.process_count(), 1);
}

#[test]
fn output_beyond_the_limit_is_dropped_and_reported() {
    let mut k = kernel(Limits::default());
    let (execution, pid) =
        k.start_execution(ExecutionSpec { output_bytes: 5, ..spec(&[]) }).expect("the program exists");
    k.write_stderr(pid, "abc");
    k.write_stderr(pid, "defg");
    k.write_stderr(pid, "h");
    let chunks = k.take_output(execution);
    assert_eq!(chunks.len(), 1);
    assert_eq!((chunks[0].stream, chunks[0].bytes.as_slice()), (OutputStream::Stderr, b"abcde".as_slice()));
    k.write_stderr(pid, "i");
    assert_eq!(k.take_output(execution), [], "taking output does not raise the limit");
    assert!(k.finish_execution(execution).truncated);
}

#[test]
fn an_output_limit_of_zero_drops_all_output() {
    let mut k = kernel(Limits::default());
    let (execution, pid) =
        k.start_execution(ExecutionSpec { output_bytes: 0, ..spec(&[]) }).expect("the program exists");
    k.write_stderr(pid, "abc");
    assert_eq!(k.take_output(execution), []);
    assert!(k.finish_execution(execution).truncated);
}

#[test]
fn a_stop_at_the_output_limit_kills_the_execution() {
    let mut k = kernel(Limits::default());
    let stop = ExecutionSpec { output_bytes: 5, output_overflow: OutputOverflow::Stop, ..spec(&[]) };
    let (execution, pid) = k.start_execution(stop).expect("the program exists");
    k.write_stderr(pid, "abcde");
    assert_eq!(k.executions[&execution].stopped_by, None, "the limit is inclusive");
    k.write_stderr(pid, "f");
    let report = k.finish_execution(execution);
    assert_eq!((report.stopped_by, report.truncated, report.written_bytes), (Some(StopReason::Output), true, 6));
}

#[test]
fn a_reached_limit_is_reported_only_if_the_execution_fails() {
    for (status, reason) in [(0, None), (1, Some(StopReason::Memory))] {
        let mut limits = Limits::default();
        limits.process_memory_bytes = 1000;
        let mut g = Guest::with(limits, &[]);
        assert!(!g.k.grow_memory(g.pid, 0, 1001));
        g.k.record_limit(g.pid, StopReason::Files);
        g.k.process_exited(g.pid, ExitStatus::Exited(status));
        assert_eq!(g.k.finish_execution(g.execution).stopped_by, reason, "the first limit counts");
    }
}

#[test]
fn processor_time_is_charged_to_process_parent_and_execution() {
    let mut limits = Limits::default();
    limits.cpu_time = Some(Duration::from_millis(100));
    let mut g = Guest::with(limits, &[]);
    let child = g.fork();
    g.k.charge_cpu_time(g.execution, g.pid, Duration::from_millis(30));
    g.k.charge_cpu_time(g.execution, child, Duration::from_millis(50));
    assert_eq!(g.k.remaining_cpu_time(g.execution), Some(Duration::from_millis(20)));
    g.k.process_exited(child, ExitStatus::Exited(0));
    assert_eq!(g.k.process(g.pid).expect("it runs").cpu_time.children, 0, "it was not waited for");
    g.k.reap(child);
    let time = g.k.process(g.pid).expect("it runs").cpu_time;
    assert_eq!((time.own, time.children), (30_000_000, 50_000_000));
    g.k.charge_cpu_time(g.execution, child, Duration::from_millis(50));
    assert_eq!(g.k.remaining_cpu_time(g.execution), Some(Duration::ZERO));
    assert_eq!(g.k.executions[&g.execution].report(false).cpu_time, Some(Duration::from_millis(130)));
    assert_eq!(g.k.finish_execution(g.execution).cpu_time, None, "the clock of the test is deterministic");
}

#[test]
fn a_stopped_process_is_not_run_until_it_continues() {
    let mut g = Guest::new();
    let child = g.fork();
    let signal = |g: &mut Guest, signal| g.k.signal_all(Some(signal), |p| p.pid == child).expect("it exists");
    let woken = Arc::new(WakeCounter::default());
    let waker = Waker::from(Arc::clone(&woken));
    assert!(!g.k.park_if_stopped(child, &waker));
    signal(&mut g, Signal::Stop);
    assert!(g.k.park_if_stopped(child, &waker));
    signal(&mut g, Signal::Term);
    assert_eq!(g.k.process(child).expect("it exists").fatal(), None, "it is held until the process continues");
    signal(&mut g, Signal::Cont);
    assert!(!g.k.park_if_stopped(child, &waker));
    assert_eq!(g.k.process(child).expect("it exists").fatal(), Some(Signal::Term));
    assert_eq!(woken.get(), 1);
    signal(&mut g, Signal::Stop);
    assert!(g.k.park_if_stopped(child, &waker));
    signal(&mut g, Signal::Kill);
    assert!(!g.k.park_if_stopped(child, &waker), "SIGKILL ends a stopped process");
}

#[test]
fn host_messages_go_to_the_standard_error_of_the_process() {
    let mut g = Guest::new();
    let fd = g.open(b"workspace/log", "rac").expect("created");
    assert_eq!(g.k.duplicate_to(g.pid, fd, 2), Ok(()));
    g.k.write_stderr(g.pid, "out of memory\n");
    assert_eq!(g.read(fd, 99), Ok(Vec::new()), "a log is written at its end, and the offset follows");
    let log = g.open(b"workspace/log", "r").expect("it exists");
    assert_eq!(g.read(log, 99), Ok(b"out of memory\n".to_vec()));
    let (reader, writer) = g.pipe();
    assert_eq!(g.k.duplicate_to(g.pid, writer, 2), Ok(()));
    g.k.write_stderr(g.pid, "killed\n");
    assert_eq!(g.read(reader, 99), Ok(b"killed\n".to_vec()));
    g.close(2);
    g.k.write_stderr(g.pid, "dropped\n");
    assert_eq!(g.k.take_output(g.execution), []);
}

#[test]
fn memory_is_limited_per_process_and_per_sandbox() {
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
    g.k.process_exited(child, ExitStatus::Exited(0));
    let other = g.fork();
    assert!(g.k.grow_memory(other, 0, 400), "an ended process has released its memory");
    assert_eq!(g.k.finish_execution(g.execution).peak_memory_bytes, 1500);
}

#[test]
fn out_of_memory_of_the_root_process_stops_an_execution() {
    let mut g = Guest::new();
    let child = g.fork();
    g.k.report_out_of_memory(child);
    assert_eq!(g.k.executions[&g.execution].stopped_by, None);
    g.k.report_out_of_memory(g.pid);
    assert_eq!(g.k.finish_execution(g.execution).stopped_by, Some(StopReason::Memory));
}

#[test]
fn the_clock_advances_when_all_wait_and_wakes_due_processes() {
    let mut g = Guest::new();
    let (own, child) = (g.pid, g.fork());
    let parked = |g: &mut Guest, pid, deadline| {
        let count = Arc::new(WakeCounter::default());
        g.k.park(pid, Wait { deadline }, &Waker::from(Arc::clone(&count)));
        count
    };
    let root = parked(&mut g, own, Some(900));
    assert!(!g.k.advance_clock(g.execution), "the child is busy");
    let sleeper = parked(&mut g, child, Some(400));
    assert!(g.k.advance_clock(g.execution));
    assert_eq!((g.k.monotonic(), root.get(), sleeper.get()), (400, 0, 1));
    assert!(!g.k.advance_clock(g.execution), "the child is awake");
    parked(&mut g, child, None);
    assert!(g.k.advance_clock(g.execution));
    assert_eq!((g.k.monotonic(), root.get()), (900, 1));
    parked(&mut g, own, None);
    assert!(!g.k.advance_clock(g.execution), "no process waits with a deadline");
}

#[test]
fn an_execution_is_stopped_at_its_virtual_time_limit() {
    let mut g = Guest::new();
    let (pid, waker) = (g.pid, Waker::from(Arc::new(WakeCounter::default())));
    g.k.limit_virtual_time(g.execution, Duration::from_nanos(1000));
    g.k.park(pid, Wait { deadline: Some(400) }, &waker);
    assert!(g.k.advance_clock(g.execution));
    g.k.park(pid, Wait { deadline: Some(1000) }, &waker);
    assert!(g.k.advance_clock(g.execution), "a wait that ends at the limit succeeds");
    assert_eq!((g.k.monotonic(), g.k.executions[&g.execution].stopped_by), (1000, None));
    g.k.park(pid, Wait { deadline: Some(1001) }, &waker);
    assert!(g.k.advance_clock(g.execution));
    assert_eq!((g.k.monotonic(), g.k.finish_execution(g.execution).stopped_by), (1000, Some(StopReason::Timeout)));
}

#[test]
fn two_executions_share_only_files() {
    let mut g = Guest::new();
    let (execution, pid) =
        g.k.start_execution(ExecutionSpec { stdin: b"other".to_vec(), ..spec(&[]) }).expect("a second execution");
    g.k.set_tidebox_guest(pid, true);
    g.write(1, b"first").expect("room");
    let fd = g.open(b"workspace/f", "wc").expect("created");
    g.write(fd, b"shared").expect("room");
    g.as_process(pid, |g| {
        assert_eq!(g.read(0, 9), Ok(b"other".to_vec()));
        let fd = g.open(b"workspace/f", "r").expect("it exists");
        assert_eq!(g.read(fd, 9), Ok(b"shared".to_vec()));
    });
    assert_eq!(g.k.take_output(execution), []);
    assert_eq!(g.k.take_output(g.execution)[0].bytes, b"first");
}

#[test]
fn pids_increase_over_many_processes() {
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
            g.k.cancel_spawn(child);
        }
    }
    assert_eq!(g.k.process_count(), 1);
}
