//! Pipes: order, atomic writes, waiting, and closing both ends.

use crate::syscall::{SyscallOutcome, Wait};
use crate::testing::{DATA, Guest, OK, OUT, call, done};
use crate::wasi::{preview1, tidebox};
use crate::{Errno, Signal};
use tidebox_core::Limits;

const WAITS: SyscallOutcome = SyscallOutcome::Block(Wait { deadline: None });

fn set_nonblock(g: &mut Guest, fd: u32) {
    assert_eq!(call!(g, preview1::fd_fdstat_set_flags(fd, 4)), OK);
}

#[test]
fn pipe_data_is_delivered_with_and_without_slices() {
    for lends in [true, false] {
        let mut g = Guest::new();
        g.m.supports_slices = lends;
        let (reader, writer) = g.pipe();
        assert_eq!((reader, writer), (67, 68));
        let text: Vec<u8> = (0..60_000u32).map(|n| n.to_le_bytes()[1]).collect();
        assert_eq!(g.write(writer, &text), Ok(60_000));
        g.m.bytes[DATA as usize..].fill(0);
        let mut got = Vec::new();
        while got.len() < text.len() {
            got.extend(g.read(reader, 7000).expect("more entries follow"));
        }
        assert_eq!(got, text);
    }
}

#[test]
fn an_empty_pipe_blocks_until_data_or_eof() {
    let mut g = Guest::new();
    let (reader, writer) = g.pipe();
    assert_eq!(g.read(reader, 10), Err(WAITS));
    let parked = g.park(g.pid);
    let child = g.fork();
    g.as_process(child, |g| g.write(writer, b"hi")).expect("room");
    assert_eq!(parked.get(), 1, "a write wakes the reader");
    assert_eq!(g.read(reader, 10), Ok(b"hi".to_vec()));
    g.close(writer);
    assert_eq!(g.read(reader, 10), Err(WAITS), "the child can still write");
    let parked = g.park(g.pid);
    g.as_process(child, |g| g.close(writer));
    assert_eq!(parked.get(), 1, "the exit of the last writer wakes the reader");
    assert_eq!(g.read(reader, 10), Ok(Vec::new()));
}

#[test]
fn a_wake_up_before_parking_is_not_lost() {
    let mut g = Guest::new();
    let (reader, writer) = g.pipe();
    let child = g.fork();
    assert_eq!(g.read(reader, 10), Err(WAITS));
    g.as_process(child, |g| g.write(writer, b"hi")).expect("room");
    let parked = g.park(g.pid);
    assert_eq!(parked.get(), 1);
}

#[test]
fn a_long_write_is_delivered_over_several_calls() {
    let mut g = Guest::new();
    let (reader, writer) = g.pipe();
    let child = g.fork();
    let text: Vec<u8> = (0..150_000u32).map(|n| n.to_le_bytes()[0] ^ n.to_le_bytes()[1]).collect();
    // Both processes share one memory here, so the text is stored where reads do not write.
    g.m.bytes[512 * 1024..][..text.len()].copy_from_slice(&text);
    let (iovs, count) = g.buffers(&[(512 * 1024, 50_000), (512 * 1024 + 50_000, 100_000)]);
    let mut got = Vec::new();
    let mut turns = 0;
    loop {
        let sys = call!(&mut g, preview1::fd_write(writer, iovs, count, OUT));
        if sys == OK {
            break;
        }
        assert_eq!(sys, WAITS);
        let parked = g.park(g.pid);
        got.extend(g.as_process(child, |g| g.read(reader, 40_000)).expect("more entries follow"));
        assert_eq!(parked.get(), 1, "free capacity wakes the writer");
        turns += 1;
    }
    assert_eq!(g.out(), 150_000);
    assert!(turns > 1);
    g.close(writer);
    g.as_process(child, |g| g.close(writer));
    loop {
        let more = g.as_process(child, |g| g.read(reader, 40_000)).expect("no wait: no writer");
        if more.is_empty() {
            break;
        }
        got.extend(more);
    }
    assert_eq!(got, text);
}

#[test]
fn a_short_write_is_atomic() {
    let mut g = Guest::new();
    let (reader, writer) = g.pipe();
    g.write(writer, &[b'x'; 65_536 - 10]).expect("room");
    assert_eq!(g.write(writer, &[b'y'; 11]), Err(WAITS), "it would not fit completely");
    set_nonblock(&mut g, writer);
    assert_eq!(g.write(writer, &[b'y'; 11]), Err(done(Errno::Again)));
    assert_eq!(g.write(writer, &[b'y'; 10]), Ok(10));
    assert_eq!(g.write(writer, &[b'y'; 5000]), Err(done(Errno::Again)), "a full pipe accepts no bytes");
    g.read(reader, 100).expect("bytes");
    assert_eq!(g.write(writer, &[b'z'; 5000]), Ok(100), "a long one may be truncated");
}

#[test]
fn nonblocking_reads_return_again() {
    let mut g = Guest::new();
    let (reader, writer) = g.pipe();
    set_nonblock(&mut g, reader);
    assert_eq!(g.read(reader, 1), Err(done(Errno::Again)));
    g.write(writer, b"x").expect("room");
    assert_eq!(g.read(reader, 1), Ok(b"x".to_vec()));
    g.close(writer);
    assert_eq!(g.read(reader, 1), Ok(Vec::new()));
}

#[test]
fn writing_without_readers_exits_with_141_unless_ignored() {
    let mut g = Guest::new();
    let (reader, writer) = g.pipe();
    g.close(reader);
    assert_eq!(call!(&mut g, tidebox::sig_set(13, 1)), OK);
    assert_eq!(g.write(writer, b"x"), Err(done(Errno::Pipe)));
    assert_eq!(call!(&mut g, tidebox::sig_set(13, 2)), OK);
    assert_eq!(g.write(writer, b"x"), Err(done(Errno::Pipe)), "noted, and an error too");
    assert_eq!(call!(&mut g, tidebox::sig_take(OUT)), OK);
    assert_eq!(g.u64(OUT), 1 << 13);
    assert_eq!(call!(&mut g, tidebox::sig_set(13, 0)), OK);
    assert_eq!(g.write(writer, b"x"), Err(SyscallOutcome::Kill(Signal::Pipe)));
    assert_eq!(crate::ExitStatus::Killed(Signal::Pipe).code(), 141);
}

#[test]
fn a_waiting_writer_wakes_when_the_last_reader_closes() {
    let mut g = Guest::new();
    let (reader, writer) = g.pipe();
    let child = g.fork();
    g.close(reader);
    g.write(writer, &[0; 65_536]).expect("room");
    assert_eq!(g.write(writer, b"x"), Err(WAITS));
    let parked = g.park(g.pid);
    g.k.process_exited(child, crate::ExitStatus::Exited(0));
    assert_eq!(parked.get(), 1);
    assert_eq!(g.write(writer, b"x"), Err(SyscallOutcome::Kill(Signal::Pipe)));
}

#[test]
fn a_bad_address_loses_no_pipe_data() {
    for lends in [true, false] {
        let mut g = Guest::new();
        g.m.supports_slices = lends;
        let (reader, writer) = g.pipe();
        g.write(writer, b"kept").expect("room");
        let (iovs, count) = g.buffers(&[(u32::MAX - 2, 8)]);
        assert_eq!(call!(&mut g, preview1::fd_read(reader, iovs, count, OUT)), done(Errno::Fault));
        assert_eq!(call!(&mut g, preview1::fd_write(writer, iovs, count, OUT)), done(Errno::Fault));
        assert_eq!(g.read(reader, 9), Ok(b"kept".to_vec()));
    }
}

#[test]
fn reading_and_writing_nothing_never_waits() {
    let mut g = Guest::new();
    let (reader, writer) = g.pipe();
    assert_eq!(g.read(reader, 0), Ok(Vec::new()));
    assert_eq!(g.write(writer, b""), Ok(0));
    assert_eq!(call!(&mut g, preview1::fd_read(reader, 0, 0, OUT)), OK);
}

#[test]
fn a_tiny_capacity_accepts_an_atomic_write() {
    let mut limits = Limits::default();
    limits.pipe_bytes = 1;
    let mut g = Guest::with(limits, &[]);
    let (reader, writer) = g.pipe();
    assert_eq!(g.write(writer, &[1; 4096]), Ok(4096));
    assert_eq!(g.write(writer, &[1; 1]), Err(WAITS));
    assert_eq!(g.read(reader, 1), Ok(vec![1]));
}

#[test]
fn the_total_pipe_capacity_is_limited() {
    let mut limits = Limits::default();
    limits.pipe_bytes = 32 << 20;
    limits.descriptors = 1 << 16;
    let mut g = Guest::with(limits, &[]);
    let (reader, writer) = g.pipe();
    g.pipe();
    let (small, into_small) = g.pipe();
    assert_eq!(g.write(writer, &[0; 5000]), Ok(5000));
    assert_eq!(g.write(into_small, &[0; 5000]), Err(WAITS), "later ones are small");
    assert_eq!(g.read(small, 5000).map(|b| b.len()), Ok(4096));
    let mut more = 0;
    while call!(&mut g, tidebox::pipe(OUT)) == OK {
        more += 1;
    }
    assert_eq!(more, (32 << 20) / 4096 - 1);
    assert_eq!(call!(&mut g, tidebox::pipe(OUT)), done(Errno::Nfile));
    g.close(reader);
    g.close(writer);
    assert_eq!(call!(&mut g, tidebox::pipe(OUT)), OK, "closing frees capacity");
    g.k.finish_execution(g.execution);
    assert_eq!(g.k.pipe_bytes, 0);
}

#[test]
fn closing_both_ends_frees_the_pipe() {
    let mut g = Guest::new();
    let (reader, writer) = g.pipe();
    let child = g.fork();
    for fd in [reader, writer] {
        g.close(fd);
    }
    assert_eq!(g.k.pipes.count(), 1);
    g.k.process_exited(child, crate::ExitStatus::Exited(0));
    assert_eq!(g.k.pipes.count(), 0);
    assert_eq!(call!(&mut g, tidebox::pipe(u32::MAX - 4)), done(Errno::Fault));
    assert_eq!((g.k.pipes.count(), g.pipe()), (0, (67, 68)), "ends are closed if the result cannot be written");
}

#[test]
fn a_full_spooled_pipe_kills_its_writer() {
    let mut g = Guest::new();
    g.k.spool_pipes(100_000);
    let (reader, writer) = g.pipe();
    assert_eq!(g.write(writer, &[b'x'; 90_000]), Ok(90_000), "more than the capacity, without a reader");
    assert_eq!(g.write(writer, &[b'x'; 20_000]), Ok(10_000));
    assert_eq!(call!(&mut g, tidebox::sig_set(13, 1)), OK);
    assert_eq!(g.write(writer, b"x"), Err(done(Errno::Pipe)));
    assert_eq!(call!(&mut g, tidebox::sig_set(13, 0)), OK);
    assert_eq!(g.write(writer, b"x"), Err(SyscallOutcome::Kill(Signal::Pipe)));
    assert_eq!(g.k.pipe_bytes, 100_000);
    assert_eq!(reader, 67);
    g.k.finish_execution(g.execution);
    assert_eq!(g.k.pipe_bytes, 0, "unread data is refunded");
}

#[test]
fn reading_past_a_truncated_pipe_fails_with_io() {
    let mut g = Guest::new();
    g.k.spool_pipes(10_000);
    let (reader, writer) = g.pipe();
    assert_eq!(call!(&mut g, tidebox::sig_set(13, 1)), OK);
    assert_eq!(g.write(writer, &[b'x'; 10_000]), Ok(10_000));
    assert_eq!(g.write(writer, b"x"), Err(done(Errno::Pipe)));
    g.close(writer);
    assert_eq!(g.read(reader, 20_000).map(|bytes| bytes.len()), Ok(10_000));
    assert_eq!(g.read(reader, 1), Err(done(Errno::Io)), "not the end");
    let reported: Vec<u8> = g.k.take_output(g.execution).into_iter().flat_map(|chunk| chunk.bytes).collect();
    assert!(String::from_utf8_lossy(&reported).contains("the pipe was truncated"));
}

#[test]
fn spooled_pipes_hold_at_most_eight_full_pipes() {
    let mut g = Guest::new();
    g.k.spool_pipes(4096);
    for _ in 0..8 {
        let (_, writer) = g.pipe();
        assert_eq!(g.write(writer, &[b'x'; 4096]), Ok(4096));
    }
    let (_, writer) = g.pipe();
    assert_eq!(g.write(writer, b"x"), Err(SyscallOutcome::Kill(Signal::Pipe)));
}

#[test]
fn would_block_while_another_process_can_write_the_pipe() {
    let mut g = Guest::new();
    let (reader, writer) = g.pipe();
    let child = g.fork();
    assert!(!g.k.would_block(child), "it may write");
    let entry = g.k.process_mut(child).unwrap().fds.remove(writer).unwrap();
    g.k.unref_file(entry.file);
    assert!(g.k.would_block(child));
    g.close(writer);
    assert!(!g.k.would_block(child), "EOF is reached");
    g.close(reader);
}
