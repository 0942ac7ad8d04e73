//! Pipes: order, atomic writes, waiting, and both ends' ends.

use crate::testing::{DATA, Guest, OK, OUT, call, done};
use crate::wasi::{Sys, Wait, ext, p1};
use crate::{Errno, Signal};
use tidebox_core::Limits;

const WAITS: Sys = Sys::Block(Wait { deadline: None });

fn set_nonblock(g: &mut Guest, fd: u32) {
    assert_eq!(call!(g, p1::fd_fdstat_set_flags(fd, 4)), OK);
}

#[test]
fn what_goes_in_comes_out_lent_or_copied() {
    for lends in [true, false] {
        let mut g = Guest::new();
        g.m.lends = lends;
        let (reader, writer) = g.pipe();
        assert_eq!((reader, writer), (67, 68));
        let text: Vec<u8> = (0..60_000u32).map(|n| n.to_le_bytes()[1]).collect();
        assert_eq!(g.write(writer, &text), Ok(60_000));
        g.m.bytes[DATA as usize..].fill(0);
        let mut got = Vec::new();
        while got.len() < text.len() {
            got.extend(g.read(reader, 7000).expect("there is more"));
        }
        assert_eq!(got, text);
    }
}

#[test]
fn an_empty_pipe_blocks_until_bytes_or_the_last_writer_go() {
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
    assert_eq!(parked.get(), 1, "the last writer's end wakes the reader");
    assert_eq!(g.read(reader, 10), Ok(Vec::new()));
}

#[test]
fn a_wake_up_between_the_answer_and_the_parking_is_not_lost() {
    let mut g = Guest::new();
    let (reader, writer) = g.pipe();
    let child = g.fork();
    assert_eq!(g.read(reader, 10), Err(WAITS));
    g.as_process(child, |g| g.write(writer, b"hi")).expect("room");
    let parked = g.park(g.pid);
    assert_eq!(parked.get(), 1);
}

#[test]
fn a_long_write_is_delivered_whole_over_several_turns() {
    let mut g = Guest::new();
    let (reader, writer) = g.pipe();
    let child = g.fork();
    let text: Vec<u8> = (0..150_000u32).map(|n| n.to_le_bytes()[0] ^ n.to_le_bytes()[1]).collect();
    // The guest's memory is one for both here, so the text is put where reads do not land.
    g.m.bytes[512 * 1024..][..text.len()].copy_from_slice(&text);
    let (iovs, count) = g.buffers(&[(512 * 1024, 50_000), (512 * 1024 + 50_000, 100_000)]);
    let mut got = Vec::new();
    let mut turns = 0;
    loop {
        let sys = call!(&mut g, p1::fd_write(writer, iovs, count, OUT));
        if sys == OK {
            break;
        }
        assert_eq!(sys, WAITS);
        let parked = g.park(g.pid);
        got.extend(g.as_process(child, |g| g.read(reader, 40_000)).expect("there is more"));
        assert_eq!(parked.get(), 1, "room wakes the writer");
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
fn a_short_write_is_never_torn() {
    let mut g = Guest::new();
    let (reader, writer) = g.pipe();
    g.write(writer, &[b'x'; 65_536 - 10]).expect("room");
    assert_eq!(g.write(writer, &[b'y'; 11]), Err(WAITS), "it would not fit as a whole");
    set_nonblock(&mut g, writer);
    assert_eq!(g.write(writer, &[b'y'; 11]), Err(done(Errno::Again)));
    assert_eq!(g.write(writer, &[b'y'; 10]), Ok(10));
    assert_eq!(g.write(writer, &[b'y'; 5000]), Err(done(Errno::Again)), "a full pipe takes nothing");
    g.read(reader, 100).expect("bytes");
    assert_eq!(g.write(writer, &[b'z'; 5000]), Ok(100), "a long one may be cut");
}

#[test]
fn nonblocking_reads_ask_to_come_again() {
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
fn writing_without_readers_ends_the_writer_with_141_unless_it_ignores_that() {
    let mut g = Guest::new();
    let (reader, writer) = g.pipe();
    g.close(reader);
    assert_eq!(call!(&mut g, ext::sig_set(13, 1)), OK);
    assert_eq!(g.write(writer, b"x"), Err(done(Errno::Pipe)));
    assert_eq!(call!(&mut g, ext::sig_set(13, 2)), OK);
    assert_eq!(g.write(writer, b"x"), Err(done(Errno::Pipe)), "noted, and an error too");
    assert_eq!(call!(&mut g, ext::sig_take(OUT)), OK);
    assert_eq!(g.u64(OUT), 1 << 13);
    assert_eq!(call!(&mut g, ext::sig_set(13, 0)), OK);
    assert_eq!(g.write(writer, b"x"), Err(Sys::Kill(Signal::Pipe)));
    assert_eq!(crate::Status::Killed(Signal::Pipe).code(), 141);
}

#[test]
fn a_writer_that_waits_learns_that_the_last_reader_went() {
    let mut g = Guest::new();
    let (reader, writer) = g.pipe();
    let child = g.fork();
    g.close(reader);
    g.write(writer, &[0; 65_536]).expect("room");
    assert_eq!(g.write(writer, b"x"), Err(WAITS));
    let parked = g.park(g.pid);
    g.k.exited(child, crate::Status::Exited(0));
    assert_eq!(parked.get(), 1);
    assert_eq!(g.write(writer, b"x"), Err(Sys::Kill(Signal::Pipe)));
}

#[test]
fn a_bad_address_loses_no_bytes_of_the_pipe() {
    for lends in [true, false] {
        let mut g = Guest::new();
        g.m.lends = lends;
        let (reader, writer) = g.pipe();
        g.write(writer, b"kept").expect("room");
        let (iovs, count) = g.buffers(&[(u32::MAX - 2, 8)]);
        assert_eq!(call!(&mut g, p1::fd_read(reader, iovs, count, OUT)), done(Errno::Fault));
        assert_eq!(call!(&mut g, p1::fd_write(writer, iovs, count, OUT)), done(Errno::Fault));
        assert_eq!(g.read(reader, 9), Ok(b"kept".to_vec()));
    }
}

#[test]
fn reading_and_writing_nothing_never_waits() {
    let mut g = Guest::new();
    let (reader, writer) = g.pipe();
    assert_eq!(g.read(reader, 0), Ok(Vec::new()));
    assert_eq!(g.write(writer, b""), Ok(0));
    assert_eq!(call!(&mut g, p1::fd_read(reader, 0, 0, OUT)), OK);
}

#[test]
fn a_tiny_capacity_still_takes_a_short_write() {
    let mut limits = Limits::default();
    limits.pipe_bytes = 1;
    let mut g = Guest::with(limits, &[]);
    let (reader, writer) = g.pipe();
    assert_eq!(g.write(writer, &[1; 4096]), Ok(4096));
    assert_eq!(g.write(writer, &[1; 1]), Err(WAITS));
    assert_eq!(g.read(reader, 1), Ok(vec![1]));
}

#[test]
fn all_pipes_together_are_bounded() {
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
    while call!(&mut g, ext::pipe(OUT)) == OK {
        more += 1;
    }
    assert_eq!(more, (32 << 20) / 4096 - 1);
    assert_eq!(call!(&mut g, ext::pipe(OUT)), done(Errno::Nfile));
    g.close(reader);
    g.close(writer);
    assert_eq!(call!(&mut g, ext::pipe(OUT)), OK, "what is closed makes room");
    g.k.end(g.session);
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
    g.k.exited(child, crate::Status::Exited(0));
    assert_eq!(g.k.pipes.count(), 0);
    assert_eq!(call!(&mut g, ext::pipe(u32::MAX - 4)), done(Errno::Fault));
    assert_eq!((g.k.pipes.count(), g.pipe()), (0, (67, 68)), "ends that cannot be told are closed");
}

#[test]
fn a_spooled_pipe_takes_what_fits_and_then_ends_its_writer() {
    let mut g = Guest::new();
    g.k.spool_pipes(100_000);
    let (reader, writer) = g.pipe();
    assert_eq!(g.write(writer, &[b'x'; 90_000]), Ok(90_000), "more than a pipe holds, and nobody reads");
    assert_eq!(g.write(writer, &[b'x'; 20_000]), Ok(10_000));
    assert_eq!(call!(&mut g, ext::sig_set(13, 1)), OK);
    assert_eq!(g.write(writer, b"x"), Err(done(Errno::Pipe)));
    assert_eq!(call!(&mut g, ext::sig_set(13, 0)), OK);
    assert_eq!(g.write(writer, b"x"), Err(Sys::Kill(Signal::Pipe)));
    assert_eq!(g.k.pipe_bytes, 100_000);
    assert_eq!(reader, 67);
    g.k.end(g.session);
    assert_eq!(g.k.pipe_bytes, 0, "what nobody read is given back");
}

#[test]
fn a_reader_is_told_when_it_comes_to_the_end_of_a_pipe_that_was_cut() {
    let mut g = Guest::new();
    g.k.spool_pipes(10_000);
    let (reader, writer) = g.pipe();
    assert_eq!(call!(&mut g, ext::sig_set(13, 1)), OK);
    assert_eq!(g.write(writer, &[b'x'; 10_000]), Ok(10_000));
    assert_eq!(g.write(writer, b"x"), Err(done(Errno::Pipe)));
    g.close(writer);
    assert_eq!(g.read(reader, 20_000).map(|bytes| bytes.len()), Ok(10_000));
    assert_eq!(g.read(reader, 1), Err(done(Errno::Io)), "not the end");
    let told: Vec<u8> = g.k.take_output(g.session).into_iter().flat_map(|chunk| chunk.bytes).collect();
    assert!(String::from_utf8_lossy(&told).contains("the pipe was cut"));
}

#[test]
fn spooled_pipes_together_hold_no_more_than_eight_full_ones() {
    let mut g = Guest::new();
    g.k.spool_pipes(4096);
    for _ in 0..8 {
        let (_, writer) = g.pipe();
        assert_eq!(g.write(writer, &[b'x'; 4096]), Ok(4096));
    }
    let (_, writer) = g.pipe();
    assert_eq!(g.write(writer, b"x"), Err(Sys::Kill(Signal::Pipe)));
}

#[test]
fn a_process_would_wait_for_a_pipe_that_another_one_can_still_write() {
    let mut g = Guest::new();
    let (reader, writer) = g.pipe();
    let child = g.fork();
    assert!(!g.k.would_wait(child), "it may write by itself");
    let entry = g.k.process_mut(child).unwrap().fds.remove(writer).unwrap();
    g.k.drop_file(entry.file);
    assert!(g.k.would_wait(child));
    g.close(writer);
    assert!(!g.k.would_wait(child), "the end is there");
    g.close(reader);
}
