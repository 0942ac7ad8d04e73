//! The state that a shell takes over and leaves behind.

use tidebox_core::Limits;

use crate::testing::{DATA, Guest, MEMORY_BYTES, OK, OUT, call, done, kernel, spec};
use crate::wasi::ext;
use crate::{Errno, SessionSpec};

#[test]
fn the_root_process_reads_what_the_embedder_handed_in() {
    for lends in [true, false] {
        let mut g = Guest::new();
        g.m.lends = lends;
        assert_eq!(call!(&mut g, ext::shell_state_read(DATA, 4, OUT)), done(Errno::Range));
        assert_eq!(g.out(), 5, "so much room is needed");
        assert_eq!(call!(&mut g, ext::shell_state_read(DATA, 5, OUT)), OK);
        assert_eq!(g.bytes(DATA, 6), b"state\0");
        assert_eq!(call!(&mut g, ext::started(DATA, 4096, OUT)), OK);
        assert_eq!(g.u32(DATA + 4), 1, "it is told that there is a state");
    }
}

#[test]
fn the_last_state_that_was_left_is_reported_at_the_end() {
    let mut g = Guest::new();
    for text in [b"first".as_slice(), b"second"] {
        let (at, len) = g.put(text);
        assert_eq!(call!(&mut g, ext::shell_state_write(at, len)), OK);
    }
    assert_eq!(call!(&mut g, ext::shell_state_read(DATA, 5, OUT)), OK);
    assert_eq!(g.bytes(DATA, 5), b"state", "what was handed in stays what is read");
    assert_eq!(g.k.end(g.session).shell_state.as_deref(), Some(b"second".as_slice()));
    let mut silent = Guest::new();
    assert_eq!(silent.k.end(silent.session).shell_state, None);
}

#[test]
fn only_the_root_process_is_asked_and_heard() {
    let mut g = Guest::new();
    let child = g.fork();
    let (at, len) = g.put(b"false");
    g.as_process(child, |g| {
        assert_eq!(call!(g, ext::shell_state_read(DATA, 5, OUT)), done(Errno::Notsup));
        assert_eq!(call!(g, ext::shell_state_write(at, len)), done(Errno::Notsup));
    });
    assert_eq!(g.k.end(g.session).shell_state, None);
}

#[test]
fn a_session_without_state_has_none_to_read_and_takes_none() {
    let mut g = Guest::new();
    let mut k = kernel(Limits::default());
    (g.session, g.pid) = k.begin(SessionSpec { shell_state: None, ..spec(&[]) }).expect("the program is there");
    g.k = k;
    let (at, len) = g.put(b"state");
    assert_eq!(call!(&mut g, ext::shell_state_read(DATA, 5, OUT)), done(Errno::Notsup));
    assert_eq!(call!(&mut g, ext::shell_state_write(at, len)), done(Errno::Notsup));
}

#[test]
fn a_state_beyond_the_limit_is_refused_before_it_is_copied() {
    let mut limits = Limits::default();
    limits.shell_state_bytes = 8;
    let mut g = Guest::with(limits, &[]);
    assert_eq!(call!(&mut g, ext::shell_state_write(DATA, 8)), OK);
    assert_eq!(call!(&mut g, ext::shell_state_write(DATA, 9)), done(Errno::TooBig));
    assert_eq!(call!(&mut g, ext::shell_state_write(u32::MAX, u32::MAX)), done(Errno::TooBig));
    assert_eq!(g.k.end(g.session).shell_state.as_deref(), Some([0; 8].as_slice()), "the one before stays");
}

#[test]
fn ranges_outside_memory_are_faults() {
    let mut g = Guest::new();
    let end = MEMORY_BYTES as u32;
    assert_eq!(call!(&mut g, ext::shell_state_read(end - 1, 5, OUT)), done(Errno::Fault));
    assert_eq!(call!(&mut g, ext::shell_state_read(DATA, 5, end - 1)), done(Errno::Fault));
    for (at, len) in [(end, 1), (end - 1, 2), (u32::MAX, 2)] {
        assert_eq!(call!(&mut g, ext::shell_state_write(at, len)), done(Errno::Fault));
    }
    assert_eq!(g.k.end(g.session).shell_state, None);
}
