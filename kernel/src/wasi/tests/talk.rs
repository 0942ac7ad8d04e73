//! A root process that is asked one thing after the other.

use std::time::Duration;

use tidebox_core::Limits;

use crate::testing::{DATA, Guest, OK, OUT, call, done, kernel, spec};
use crate::wasi::{Sys, ext};
use crate::{Errno, SessionSpec, Stream};

const SECOND: Duration = Duration::from_secs(1);

fn conversation(limits: Limits) -> Guest {
    let mut g = Guest::new();
    g.k = kernel(limits);
    (g.session, g.pid) = g.k.begin(SessionSpec { conversation: true, ..spec(&[]) }).expect("the program is there");
    g
}

#[test]
fn requests_are_heard_and_answered_one_after_the_other() {
    let mut g = conversation(Limits::default());
    for (asked, answered) in [(b"first".as_slice(), b"one".as_slice()), (b"second", b"two")] {
        assert!(matches!(call!(&mut g, ext::listen(DATA, 8, OUT)), Sys::Block(_)), "there is nothing yet");
        assert!(g.k.ask(g.session, asked.to_vec(), SECOND));
        assert_eq!((g.k.take_time(g.session), g.k.take_time(g.session)), (Some(SECOND), None));
        assert_eq!(call!(&mut g, ext::listen(DATA, 4, OUT)), done(Errno::Range));
        assert_eq!(g.out() as usize, asked.len(), "so much room is needed");
        assert_eq!(call!(&mut g, ext::listen(DATA, 8, OUT)), OK);
        assert_eq!(g.bytes(DATA, asked.len() as u32), asked);
        assert_eq!(g.k.take_reply(g.session), None);
        let (at, len) = g.put(answered);
        assert_eq!(call!(&mut g, ext::reply(at, len)), OK);
        assert_eq!(g.k.take_reply(g.session).as_deref(), Some(answered));
    }
}

#[test]
fn only_the_root_process_of_a_conversation_is_asked_and_heard() {
    let mut plain = Guest::new();
    assert_eq!(call!(&mut plain, ext::listen(DATA, 8, OUT)), done(Errno::Notsup));
    assert_eq!(call!(&mut plain, ext::reply(DATA, 1)), done(Errno::Notsup));
    assert!(!plain.k.ask(plain.session, b"x".to_vec(), SECOND));
    let mut g = conversation(Limits::default());
    let child = g.fork();
    g.as_process(child, |g| {
        assert_eq!(call!(g, ext::listen(DATA, 8, OUT)), done(Errno::Notsup));
        assert_eq!(call!(g, ext::reply(DATA, 1)), done(Errno::Notsup));
    });
}

#[test]
fn each_request_may_print_as_much_as_a_session() {
    let mut limits = Limits::default();
    limits.output_bytes = 4;
    let mut g = conversation(limits);
    let session = g.session;
    for _ in 0..2 {
        assert!(g.k.ask(session, Vec::new(), SECOND));
        assert!(!g.k.is_truncated(session));
        g.k.message(g.pid, "too much");
        assert!(g.k.is_truncated(session));
        let printed: Vec<_> = g.k.take_output(session).into_iter().map(|chunk| (chunk.stream, chunk.bytes)).collect();
        assert_eq!(printed, [(Stream::Stderr, b"too ".to_vec())]);
    }
    assert_eq!(call!(&mut g, ext::reply(DATA, 5)), done(Errno::TooBig));
}

#[test]
fn who_has_ended_is_asked_nothing() {
    let mut g = conversation(Limits::default());
    g.k.exited(g.pid, crate::Status::Exited(0));
    assert!(!g.k.ask(g.session, b"x".to_vec(), SECOND));
    g.k.end(g.session);
    assert!(!g.k.ask(g.session, b"x".to_vec(), SECOND) && g.k.take_reply(g.session).is_none());
}
