//! The shell state that an execution receives and stores.

use tidebox_core::Limits;

use crate::testing::{DATA, Guest, MEMORY_BYTES, OK, OUT, call, done, kernel, spec};
use crate::wasi::tidebox;
use crate::{Errno, ExecutionSpec};

#[test]
fn the_root_process_reads_the_state_of_the_embedder() {
    for lends in [true, false] {
        let mut g = Guest::new();
        g.m.supports_slices = lends;
        assert_eq!(call!(&mut g, tidebox::shell_state_read(DATA, 4, OUT)), done(Errno::Range));
        assert_eq!(g.out(), 5, "the charge is exact");
        assert_eq!(call!(&mut g, tidebox::shell_state_read(DATA, 5, OUT)), OK);
        assert_eq!(g.bytes(DATA, 6), b"state\0");
        assert_eq!(call!(&mut g, tidebox::startup_info(DATA, 4096, OUT)), OK);
        assert_eq!(g.u32(DATA + 4), 1, "the flag reports a state");
    }
}

#[test]
fn the_last_stored_state_is_reported() {
    let mut g = Guest::new();
    for text in [b"first".as_slice(), b"second"] {
        let (at, len) = g.put(text);
        assert_eq!(call!(&mut g, tidebox::shell_state_write(at, len)), OK);
    }
    assert_eq!(call!(&mut g, tidebox::shell_state_read(DATA, 5, OUT)), OK);
    assert_eq!(g.bytes(DATA, 5), b"state", "the input state does not change");
    assert_eq!(g.k.finish_execution(g.execution).shell_state.as_deref(), Some(b"second".as_slice()));
    let mut silent = Guest::new();
    assert_eq!(silent.k.finish_execution(silent.execution).shell_state, None);
}

#[test]
fn only_the_root_process_has_access_to_the_state() {
    let mut g = Guest::new();
    let child = g.fork();
    let (at, len) = g.put(b"false");
    g.as_process(child, |g| {
        assert_eq!(call!(g, tidebox::shell_state_read(DATA, 5, OUT)), done(Errno::Notsup));
        assert_eq!(call!(g, tidebox::shell_state_write(at, len)), done(Errno::Notsup));
    });
    assert_eq!(g.k.finish_execution(g.execution).shell_state, None);
}

#[test]
fn an_execution_without_state_rejects_reads_and_writes() {
    let mut g = Guest::new();
    let mut k = kernel(Limits::default());
    (g.execution, g.pid) =
        k.start_execution(ExecutionSpec { shell_state: None, ..spec(&[]) }).expect("the program exists");
    g.k = k;
    let (at, len) = g.put(b"state");
    assert_eq!(call!(&mut g, tidebox::shell_state_read(DATA, 5, OUT)), done(Errno::Notsup));
    assert_eq!(call!(&mut g, tidebox::shell_state_write(at, len)), done(Errno::Notsup));
}

#[test]
fn a_state_beyond_the_limit_is_rejected_before_the_copy() {
    let mut limits = Limits::default();
    limits.shell_state_bytes = 8;
    let mut g = Guest::with(limits, &[]);
    assert_eq!(call!(&mut g, tidebox::shell_state_write(DATA, 8)), OK);
    assert_eq!(call!(&mut g, tidebox::shell_state_write(DATA, 9)), done(Errno::TooBig));
    assert_eq!(call!(&mut g, tidebox::shell_state_write(u32::MAX, u32::MAX)), done(Errno::TooBig));
    assert_eq!(
        g.k.finish_execution(g.execution).shell_state.as_deref(),
        Some([0; 8].as_slice()),
        "the previous state stays"
    );
}

#[test]
fn ranges_outside_memory_are_faults() {
    let mut g = Guest::new();
    let end = MEMORY_BYTES as u32;
    assert_eq!(call!(&mut g, tidebox::shell_state_read(end - 1, 5, OUT)), done(Errno::Fault));
    assert_eq!(call!(&mut g, tidebox::shell_state_read(DATA, 5, end - 1)), done(Errno::Fault));
    for (at, len) in [(end, 1), (end - 1, 2), (u32::MAX, 2)] {
        assert_eq!(call!(&mut g, tidebox::shell_state_write(at, len)), done(Errno::Fault));
    }
    assert_eq!(g.k.finish_execution(g.execution).shell_state, None);
}
