//! Signals and process groups.

use crate::syscall::{SyscallOutcome, Wait};
use crate::testing::{DATA, Guest, OK, OUT, call, done};
use crate::wasi::{preview1, tidebox};
use crate::{Errno, Pid, Signal};

fn kill(g: &mut Guest, target: i32, signal: u32) -> SyscallOutcome {
    call!(g, tidebox::kill(target, signal))
}

fn signed(pid: Pid) -> i32 {
    pid.0.cast_signed()
}

#[test]
fn a_fatal_signal_acts_at_the_next_call_and_sets_the_flag() {
    let mut g = Guest::new();
    let child = g.fork();
    let flags = std::sync::Arc::clone(&g.k.process(child).expect("the process exists").flags);
    assert_eq!(flags.fatal_signal(), None);
    assert_eq!(kill(&mut g, signed(child), 15), OK);
    assert_eq!(flags.fatal_signal(), Some(Signal::Term));
    assert_eq!(g.as_process(child, |g| call!(g, preview1::sched_yield())), SyscallOutcome::Kill(Signal::Term));
    assert_eq!(kill(&mut g, signed(child), 9), OK);
    assert_eq!(flags.fatal_signal(), Some(Signal::Kill), "SIGKILL wins");
    assert_eq!(kill(&mut g, signed(child), 15), OK);
    assert_eq!(flags.fatal_signal(), Some(Signal::Kill));
}

#[test]
fn a_fatal_signal_wakes_a_waiting_process() {
    let mut g = Guest::new();
    let (reader, _writer) = g.pipe();
    let child = g.fork();
    assert_eq!(g.as_process(child, |g| g.read(reader, 1)), Err(SyscallOutcome::Block(Wait::default())));
    let parked = g.park(child);
    assert_eq!(kill(&mut g, signed(child), 2), OK);
    assert_eq!(parked.get(), 1);
    assert_eq!(g.as_process(child, |g| g.read(reader, 1)), Err(SyscallOutcome::Kill(Signal::Int)));
}

#[test]
fn signal_zero_only_checks() {
    let mut g = Guest::new();
    let child = g.fork();
    assert_eq!(kill(&mut g, signed(child), 0), OK);
    assert_eq!(kill(&mut g, 4000, 0), done(Errno::Srch));
    assert_eq!(kill(&mut g, 4000, 15), done(Errno::Srch));
    assert_eq!(kill(&mut g, signed(child), 32), done(Errno::Inval));
    assert_eq!(kill(&mut g, signed(child), u32::MAX), done(Errno::Inval));
    assert_eq!(kill(&mut g, i32::MIN, 15), done(Errno::Srch));
    assert_eq!(g.as_process(child, |g| call!(g, preview1::sched_yield())), OK);
}

#[test]
fn signalling_itself_acts_before_the_call_returns() {
    let mut g = Guest::new();
    let pid = signed(g.pid);
    assert_eq!(kill(&mut g, pid, 1), SyscallOutcome::Kill(Signal::Hup));
}

#[test]
fn kill_and_stop_cannot_be_ignored() {
    let mut g = Guest::new();
    let pid = signed(g.pid);
    assert_eq!(call!(&mut g, tidebox::sig_set(15, 1)), OK);
    assert_eq!(kill(&mut g, pid, 15), OK);
    for (signal, disposition) in [(9, 1), (9, 0), (19, 2), (0, 0), (32, 0), (15, 3), (u32::MAX, 0)] {
        assert_eq!(call!(&mut g, tidebox::sig_set(signal, disposition)), done(Errno::Inval));
    }
    for quiet in [17, 18, 23, 28] {
        assert_eq!(kill(&mut g, pid, quiet), OK, "{quiet} does nothing by default");
    }
    assert_eq!(call!(&mut g, tidebox::sig_set(15, 0)), OK);
    assert_eq!(kill(&mut g, pid, 15), SyscallOutcome::Kill(Signal::Term));
}

#[test]
fn caught_signals_are_collected_until_taken() {
    let mut g = Guest::new();
    let pid = signed(g.pid);
    for signal in [2, 15] {
        assert_eq!(call!(&mut g, tidebox::sig_set(signal, 2)), OK);
        assert_eq!(kill(&mut g, pid, signal), OK);
    }
    assert_eq!(call!(&mut g, tidebox::sig_take(u32::MAX)), done(Errno::Fault));
    assert_eq!(call!(&mut g, tidebox::sig_take(OUT)), OK);
    assert_eq!(g.u64(OUT), 1 << 2 | 1 << 15, "a bad address lost nothing");
    assert_eq!(call!(&mut g, tidebox::sig_take(OUT)), OK);
    assert_eq!(g.u64(OUT), 0);
    assert_eq!(kill(&mut g, pid, 2), OK);
    assert_eq!(call!(&mut g, tidebox::sig_set(2, 1)), OK);
    assert_eq!(call!(&mut g, tidebox::sig_take(OUT)), OK);
    assert_eq!(g.u64(OUT), 0, "an ignored signal is not caught");
}

#[test]
fn one_signal_interrupts_one_call() {
    let mut g = Guest::new();
    let (reader, _writer) = g.pipe();
    let pid = signed(g.pid);
    assert_eq!(call!(&mut g, tidebox::sig_set(15, 2)), OK);
    assert_eq!(kill(&mut g, pid, 15), OK);
    assert_eq!(g.read(reader, 1), Err(done(Errno::Intr)), "the event precedes the wait");
    assert_eq!(g.read(reader, 1), Err(SyscallOutcome::Block(Wait::default())));
    assert_eq!(kill(&mut g, pid, 15), OK);
    assert_eq!(call!(&mut g, tidebox::sig_take(OUT)), OK);
    assert_eq!(g.read(reader, 1), Err(SyscallOutcome::Block(Wait::default())));
}

#[test]
fn an_interrupted_long_write_returns_its_count() {
    let mut g = Guest::new();
    let (_reader, writer) = g.pipe();
    assert_eq!(call!(&mut g, tidebox::sig_set(15, 2)), OK);
    assert_eq!(g.write(writer, &[0; 100_000]), Err(SyscallOutcome::Block(Wait::default())));
    let pid = signed(g.pid);
    let child = g.fork();
    assert_eq!(g.as_process(child, |g| kill(g, pid, 15)), OK);
    assert_eq!(g.write(writer, &[0; 100_000]), Ok(65_536));
}

#[test]
fn groups_are_joined_and_signalled_together() {
    let mut g = Guest::new();
    let (a, b, c) = (g.fork(), g.fork(), g.fork());
    assert_eq!(call!(&mut g, tidebox::setpgid(signed(a), 0)), OK);
    assert_eq!(call!(&mut g, tidebox::setpgid(signed(b), signed(a))), OK);
    let group = |g: &mut Guest, pid| {
        g.as_process(pid, |g| {
            assert_eq!(call!(g, tidebox::getids(DATA)), OK);
            g.u32(DATA + 8)
        })
    };
    let root = g.pid;
    assert_eq!([group(&mut g, a), group(&mut g, b), group(&mut g, c)], [a.0, a.0, root.0]);
    assert_eq!(kill(&mut g, -signed(a), 15), OK);
    let dying = |g: &mut Guest, pid| g.as_process(pid, |g| call!(g, preview1::sched_yield())) != OK;
    assert_eq!([dying(&mut g, a), dying(&mut g, b), dying(&mut g, c)], [true, true, false]);
    assert_eq!(kill(&mut g, -1, 15), OK);
    assert!(dying(&mut g, c));
    assert_eq!(call!(&mut g, preview1::sched_yield()), OK, "-1 spares the caller");
    assert_eq!(kill(&mut g, 0, 15), SyscallOutcome::Kill(Signal::Term), "0 does not");
}

#[test]
fn setpgid_moves_itself_and_children_to_existing_groups() {
    let mut g = Guest::new();
    let child = g.fork();
    let other = g.k.start_execution(crate::testing::spec(&[])).expect("a second execution").1;
    let root = signed(g.pid);
    assert_eq!(g.as_process(child, |g| call!(g, tidebox::setpgid(root, 0))), done(Errno::Srch));
    assert_eq!(call!(&mut g, tidebox::setpgid(signed(child), 4000)), done(Errno::Perm));
    assert_eq!(
        call!(&mut g, tidebox::setpgid(signed(child), signed(other))),
        done(Errno::Perm),
        "of another execution"
    );
    assert_eq!(call!(&mut g, tidebox::setpgid(4000, 0)), done(Errno::Srch));
    assert_eq!(call!(&mut g, tidebox::setpgid(-1, 0)), done(Errno::Inval));
    assert_eq!(call!(&mut g, tidebox::setpgid(0, i32::MIN)), done(Errno::Inval));
    assert_eq!(call!(&mut g, tidebox::setpgid(0, 0)), OK);
}

#[test]
fn a_group_of_another_execution_can_be_signalled() {
    let mut g = Guest::new();
    let other = g.k.start_execution(crate::testing::spec(&[])).expect("a second execution").1;
    assert_eq!(kill(&mut g, -signed(other), 15), OK);
    assert_eq!(g.as_process(other, |g| call!(g, preview1::sched_yield())), SyscallOutcome::Kill(Signal::Term));
}

#[test]
fn a_signal_to_all_stays_in_its_execution() {
    let mut g = Guest::new();
    let other = g.k.start_execution(crate::testing::spec(&[])).expect("a second execution").1;
    assert_eq!(kill(&mut g, -1, 15), done(Errno::Srch));
    assert_eq!(g.as_process(other, |g| call!(g, preview1::sched_yield())), OK);
}
