//! A root process that receives one request after the other.

use std::time::Duration;

use tidebox_core::Limits;

use crate::syscall::SyscallOutcome;
use crate::testing::{DATA, Guest, OK, OUT, call, done, kernel, spec};
use crate::wasi::tidebox;
use crate::{Errno, ExecutionSpec, OutputStream};

const SECOND: Duration = Duration::from_secs(1);

fn conversation(limits: Limits) -> Guest {
    let mut g = Guest::new();
    g.k = kernel(limits);
    (g.execution, g.pid) =
        g.k.start_execution(ExecutionSpec { interactive: true, ..spec(&[]) }).expect("the program exists");
    g
}

#[test]
fn requests_and_replies_alternate() {
    let mut g = conversation(Limits::default());
    for (requested, answered) in [(b"first".as_slice(), b"one".as_slice()), (b"second", b"two")] {
        assert!(matches!(call!(&mut g, tidebox::listen(DATA, 8, OUT)), SyscallOutcome::Block(_)), "no data yet");
        assert!(g.k.send_request(g.execution, requested.to_vec(), SECOND));
        assert_eq!((g.k.take_new_deadline(g.execution), g.k.take_new_deadline(g.execution)), (Some(SECOND), None));
        assert_eq!(call!(&mut g, tidebox::listen(DATA, 4, OUT)), done(Errno::Range));
        assert_eq!(g.out() as usize, requested.len(), "the charge is exact");
        assert_eq!(call!(&mut g, tidebox::listen(DATA, 8, OUT)), OK);
        assert_eq!(g.bytes(DATA, requested.len() as u32), requested);
        assert_eq!(g.k.take_reply(g.execution), None);
        let (at, len) = g.put(answered);
        assert_eq!(call!(&mut g, tidebox::reply(at, len)), OK);
        assert_eq!(g.k.take_reply(g.execution).as_deref(), Some(answered));
    }
}

#[test]
fn only_an_interactive_root_process_receives_requests() {
    let mut plain = Guest::new();
    assert_eq!(call!(&mut plain, tidebox::listen(DATA, 8, OUT)), done(Errno::Notsup));
    assert_eq!(call!(&mut plain, tidebox::reply(DATA, 1)), done(Errno::Notsup));
    assert!(!plain.k.send_request(plain.execution, b"x".to_vec(), SECOND));
    let mut g = conversation(Limits::default());
    let child = g.fork();
    g.as_process(child, |g| {
        assert_eq!(call!(g, tidebox::listen(DATA, 8, OUT)), done(Errno::Notsup));
        assert_eq!(call!(g, tidebox::reply(DATA, 1)), done(Errno::Notsup));
    });
}

#[test]
fn each_request_resets_the_output_limit() {
    let mut limits = Limits::default();
    limits.output_bytes = 4;
    let mut g = conversation(limits);
    let execution = g.execution;
    for _ in 0..2 {
        assert!(g.k.send_request(execution, Vec::new(), SECOND));
        assert!(!g.k.report(execution).truncated);
        g.k.write_stderr(g.pid, "too much");
        assert!(g.k.report(execution).truncated);
        let printed: Vec<_> = g.k.take_output(execution).into_iter().map(|chunk| (chunk.stream, chunk.bytes)).collect();
        assert_eq!(printed, [(OutputStream::Stderr, b"too ".to_vec())]);
    }
    assert_eq!(call!(&mut g, tidebox::reply(DATA, 5)), done(Errno::TooBig));
}

#[test]
fn an_ended_process_receives_no_requests() {
    let mut g = conversation(Limits::default());
    g.k.process_exited(g.pid, crate::ExitStatus::Exited(0));
    assert!(!g.k.send_request(g.execution, b"x".to_vec(), SECOND));
    g.k.finish_execution(g.execution);
    assert!(!g.k.send_request(g.execution, b"x".to_vec(), SECOND) && g.k.take_reply(g.execution).is_none());
}
