//! Startup data of a program: arguments, environment, clocks, randomness, exit.

use crate::GuestMemory as _;
use crate::syscall::SyscallOutcome;
use crate::testing::{DATA, Guest, MEMORY_BYTES, OK, OUT, call, done};
use crate::wasi::preview1;
use crate::{Errno, Signal};

#[test]
fn arguments_are_passed_unchanged_including_empty_ones() {
    let mut g = Guest::new();
    assert_eq!(call!(&mut g, preview1::args_sizes_get(OUT, OUT + 4)), OK);
    assert_eq!((g.u32(OUT), g.u32(OUT + 4)), (3, 10));
    assert_eq!(call!(&mut g, preview1::args_get(OUT, DATA)), OK);
    assert_eq!(g.bytes(DATA, 10), b"prog\0one\0\0");
    assert_eq!([g.u32(OUT), g.u32(OUT + 4), g.u32(OUT + 8)], [DATA, DATA + 5, DATA + 9]);
}

#[test]
fn the_environment_contains_only_the_given_variables() {
    let mut g = Guest::new();
    assert_eq!(call!(&mut g, preview1::environ_sizes_get(OUT, OUT + 4)), OK);
    assert_eq!((g.u32(OUT), g.u32(OUT + 4)), (1, 16));
    assert_eq!(call!(&mut g, preview1::environ_get(OUT, DATA)), OK);
    assert_eq!(g.bytes(DATA, 16), b"HOME=/workspace\0");
}

#[test]
fn addresses_outside_memory_are_faults() {
    let mut g = Guest::new();
    for bad in [u32::MAX, u32::MAX - 3, MEMORY_BYTES as u32 - 1] {
        assert_eq!(call!(&mut g, preview1::args_sizes_get(OUT, bad)), done(Errno::Fault));
        assert_eq!(call!(&mut g, preview1::args_get(bad, DATA)), done(Errno::Fault));
        assert_eq!(call!(&mut g, preview1::args_get(OUT, bad)), done(Errno::Fault));
        assert_eq!(call!(&mut g, preview1::environ_get(OUT, bad)), done(Errno::Fault));
        assert_eq!(call!(&mut g, preview1::environ_sizes_get(bad, OUT)), done(Errno::Fault));
        assert_eq!(call!(&mut g, preview1::clock_time_get(0, 0, bad)), done(Errno::Fault));
        assert_eq!(call!(&mut g, preview1::clock_res_get(0, bad)), done(Errno::Fault));
        assert_eq!(call!(&mut g, preview1::random_get(bad, 64)), done(Errno::Fault));
    }
}

#[test]
fn clocks_return_the_kernels_time() {
    let mut g = Guest::new();
    assert_eq!(call!(&mut g, preview1::clock_time_get(0, 0, OUT)), OK);
    assert_eq!(g.u64(OUT), 1_000_000_000_000);
    assert!(g.k.clock.advance_to(5_000));
    assert_eq!(call!(&mut g, preview1::clock_time_get(1, 0, OUT)), OK);
    assert_eq!(g.u64(OUT), 5_000);
    assert_eq!(call!(&mut g, preview1::clock_res_get(1, OUT)), OK);
    assert_eq!(g.u64(OUT), 1);
    assert_eq!(call!(&mut g, preview1::clock_time_get(2, 0, OUT)), OK);
    assert_eq!(g.u64(OUT), 0, "a deterministic sandbox shows no processor time");
    assert_eq!(call!(&mut g, preview1::clock_res_get(3, OUT)), OK);
    assert_eq!(call!(&mut g, preview1::clock_time_get(4, 0, OUT)), done(Errno::Inval));
}

#[test]
fn random_get_fills_exactly_the_buffer() {
    for lends in [true, false] {
        let mut g = Guest::new();
        g.m.supports_slices = lends;
        assert_eq!(call!(&mut g, preview1::random_get(DATA, 1500)), OK);
        let filled = g.bytes(DATA, 1500);
        for chunk in filled.chunks(100) {
            assert!(chunk.iter().any(|b| *b != 0));
        }
        assert_eq!(g.bytes(DATA + 1500, 100), [0; 100]);
        assert_eq!(call!(&mut g, preview1::random_get(DATA, 0)), OK);
        assert_eq!(call!(&mut g, preview1::random_get(DATA, u32::MAX)), done(Errno::Fault));
    }
}

#[test]
fn an_exit_code_is_passed_unchanged() {
    let mut g = Guest::new();
    assert_eq!(call!(&mut g, preview1::proc_exit(3)), SyscallOutcome::Exit(3));
    assert_eq!(call!(&mut g, preview1::proc_exit(u32::MAX)), SyscallOutcome::Exit(-1));
    assert_eq!(crate::ExitStatus::from_exit(-1).code(), 255);
    assert_eq!(crate::ExitStatus::from_exit(256).code(), 0);
}

#[test]
fn raising_a_signal_acts_before_the_call_returns() {
    let mut g = Guest::new();
    assert_eq!(call!(&mut g, preview1::proc_raise(0)), OK);
    assert_eq!(call!(&mut g, preview1::proc_raise(31)), done(Errno::Inval));
    assert_eq!(call!(&mut g, preview1::proc_raise(u32::MAX)), done(Errno::Inval));
    assert_eq!(call!(&mut g, preview1::proc_raise(16)), OK, "SIGCHLD does nothing by default");
    assert_eq!(call!(&mut g, preview1::proc_raise(15)), SyscallOutcome::Kill(Signal::Term));
    assert_eq!(call!(&mut g, preview1::sched_yield()), SyscallOutcome::Kill(Signal::Term), "and before any later one");
    assert_eq!(call!(&mut g, preview1::proc_exit(0)), SyscallOutcome::Kill(Signal::Term));
}

#[test]
fn yielding_succeeds() {
    let mut g = Guest::new();
    assert_eq!(call!(&mut g, preview1::sched_yield()), OK);
}

#[test]
fn socket_calls_distinguish_open_from_closed_descriptors() {
    let mut g = Guest::new();
    for (fd, errno) in [(0, Errno::Notsock), (3, Errno::Notsock), (99, Errno::Badf)] {
        assert_eq!(call!(&mut g, preview1::sock_accept(fd, 0, OUT)), done(errno));
        assert_eq!(call!(&mut g, preview1::sock_recv(fd, OUT, 1, 0, OUT, OUT)), done(errno));
        assert_eq!(call!(&mut g, preview1::sock_send(fd, OUT, 1, 0, OUT)), done(errno));
        assert_eq!(call!(&mut g, preview1::sock_shutdown(fd, 0)), done(errno));
    }
}

#[test]
fn an_unknown_process_is_killed() {
    let mut g = Guest::new();
    g.k.finish_execution(g.execution);
    assert_eq!(call!(&mut g, preview1::sched_yield()), SyscallOutcome::Kill(Signal::Kill));
    g.m.write(OUT, &[7]).expect("inside");
    assert_eq!(call!(&mut g, preview1::clock_time_get(0, 0, OUT)), SyscallOutcome::Kill(Signal::Kill));
    assert_eq!(g.bytes(OUT, 1), [7], "nothing was written");
}
