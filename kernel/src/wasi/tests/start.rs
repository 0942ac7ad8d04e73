//! What a program asks for when it starts: arguments, environment, clocks, randomness, its end.

use crate::testing::{DATA, Guest, MEMORY_BYTES, OK, OUT, call, done};
use crate::wasi::p1;
use crate::wasi::{GuestMem as _, Sys};
use crate::{Errno, Signal};

#[test]
fn arguments_arrive_as_given_the_empty_one_included() {
    let mut g = Guest::new();
    assert_eq!(call!(&mut g, p1::args_sizes_get(OUT, OUT + 4)), OK);
    assert_eq!((g.u32(OUT), g.u32(OUT + 4)), (3, 10));
    assert_eq!(call!(&mut g, p1::args_get(OUT, DATA)), OK);
    assert_eq!(g.bytes(DATA, 10), b"prog\0one\0\0");
    assert_eq!([g.u32(OUT), g.u32(OUT + 4), g.u32(OUT + 8)], [DATA, DATA + 5, DATA + 9]);
}

#[test]
fn the_environment_is_only_what_was_given() {
    let mut g = Guest::new();
    assert_eq!(call!(&mut g, p1::environ_sizes_get(OUT, OUT + 4)), OK);
    assert_eq!((g.u32(OUT), g.u32(OUT + 4)), (1, 16));
    assert_eq!(call!(&mut g, p1::environ_get(OUT, DATA)), OK);
    assert_eq!(g.bytes(DATA, 16), b"HOME=/workspace\0");
}

#[test]
fn addresses_outside_memory_are_faults() {
    let mut g = Guest::new();
    for bad in [u32::MAX, u32::MAX - 3, MEMORY_BYTES as u32 - 1] {
        assert_eq!(call!(&mut g, p1::args_sizes_get(OUT, bad)), done(Errno::Fault));
        assert_eq!(call!(&mut g, p1::args_get(bad, DATA)), done(Errno::Fault));
        assert_eq!(call!(&mut g, p1::args_get(OUT, bad)), done(Errno::Fault));
        assert_eq!(call!(&mut g, p1::environ_get(OUT, bad)), done(Errno::Fault));
        assert_eq!(call!(&mut g, p1::environ_sizes_get(bad, OUT)), done(Errno::Fault));
        assert_eq!(call!(&mut g, p1::clock_time_get(0, 0, bad)), done(Errno::Fault));
        assert_eq!(call!(&mut g, p1::clock_res_get(0, bad)), done(Errno::Fault));
        assert_eq!(call!(&mut g, p1::random_get(bad, 64)), done(Errno::Fault));
    }
}

#[test]
fn clocks_show_the_kernels_time_and_there_are_two() {
    let mut g = Guest::new();
    assert_eq!(call!(&mut g, p1::clock_time_get(0, 0, OUT)), OK);
    assert_eq!(g.u64(OUT), 1_000_000_000_000);
    assert!(g.k.clock.skip_to(5_000));
    assert_eq!(call!(&mut g, p1::clock_time_get(1, 0, OUT)), OK);
    assert_eq!(g.u64(OUT), 5_000);
    assert_eq!(call!(&mut g, p1::clock_res_get(1, OUT)), OK);
    assert_eq!(g.u64(OUT), 1);
    assert_eq!(call!(&mut g, p1::clock_time_get(2, 0, OUT)), done(Errno::Badf));
    assert_eq!(call!(&mut g, p1::clock_res_get(3, OUT)), done(Errno::Badf));
    assert_eq!(call!(&mut g, p1::clock_time_get(4, 0, OUT)), done(Errno::Inval));
}

#[test]
fn randomness_fills_what_was_asked_for_and_no_more_lent_or_copied() {
    for lends in [true, false] {
        let mut g = Guest::new();
        g.m.lends = lends;
        assert_eq!(call!(&mut g, p1::random_get(DATA, 1500)), OK);
        let filled = g.bytes(DATA, 1500);
        for piece in filled.chunks(100) {
            assert!(piece.iter().any(|b| *b != 0));
        }
        assert_eq!(g.bytes(DATA + 1500, 100), [0; 100]);
        assert_eq!(call!(&mut g, p1::random_get(DATA, 0)), OK);
        assert_eq!(call!(&mut g, p1::random_get(DATA, u32::MAX)), done(Errno::Fault));
    }
}

#[test]
fn an_exit_code_is_passed_on_as_it_is() {
    let mut g = Guest::new();
    assert_eq!(call!(&mut g, p1::proc_exit(3)), Sys::Exit(3));
    assert_eq!(call!(&mut g, p1::proc_exit(u32::MAX)), Sys::Exit(-1));
    assert_eq!(crate::Status::from_exit(-1).code(), 255);
    assert_eq!(crate::Status::from_exit(256).code(), 0);
}

#[test]
fn raising_a_signal_acts_before_the_call_returns() {
    let mut g = Guest::new();
    assert_eq!(call!(&mut g, p1::proc_raise(0)), OK);
    assert_eq!(call!(&mut g, p1::proc_raise(31)), done(Errno::Inval));
    assert_eq!(call!(&mut g, p1::proc_raise(u32::MAX)), done(Errno::Inval));
    assert_eq!(call!(&mut g, p1::proc_raise(16)), OK, "SIGCHLD does nothing by default");
    assert_eq!(call!(&mut g, p1::proc_raise(15)), Sys::Kill(Signal::Term));
    assert_eq!(call!(&mut g, p1::sched_yield()), Sys::Kill(Signal::Term), "and before any later one");
    assert_eq!(call!(&mut g, p1::proc_exit(0)), Sys::Kill(Signal::Term));
}

#[test]
fn yielding_succeeds() {
    let mut g = Guest::new();
    assert_eq!(call!(&mut g, p1::sched_yield()), OK);
}

#[test]
fn sockets_are_told_apart_from_what_is_not_open() {
    let mut g = Guest::new();
    for (fd, errno) in [(0, Errno::Notsock), (3, Errno::Notsock), (99, Errno::Badf)] {
        assert_eq!(call!(&mut g, p1::sock_accept(fd, 0, OUT)), done(errno));
        assert_eq!(call!(&mut g, p1::sock_recv(fd, OUT, 1, 0, OUT, OUT)), done(errno));
        assert_eq!(call!(&mut g, p1::sock_send(fd, OUT, 1, 0, OUT)), done(errno));
        assert_eq!(call!(&mut g, p1::sock_shutdown(fd, 0)), done(errno));
    }
}

#[test]
fn a_process_that_the_kernel_does_not_know_must_end() {
    let mut g = Guest::new();
    g.k.end(g.session);
    assert_eq!(call!(&mut g, p1::sched_yield()), Sys::Kill(Signal::Kill));
    g.m.write(OUT, &[7]).expect("inside");
    assert_eq!(call!(&mut g, p1::clock_time_get(0, 0, OUT)), Sys::Kill(Signal::Kill));
    assert_eq!(g.bytes(OUT, 1), [7], "nothing was written");
}
