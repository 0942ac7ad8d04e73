//! Reading, writing and offsets.

use crate::testing::{DATA, Guest, MEMORY_BYTES, OK, OUT, call, done};
use crate::wasi::{Sys, ext, p1};
use crate::{Chunk, Errno, Stream};
use tidebox_core::Limits;

fn seek(g: &mut Guest, fd: u32, offset: i64, whence: u32) -> Result<u64, Errno> {
    match call!(g, p1::fd_seek(fd, offset, whence, OUT)) {
        OK => Ok(g.u64(OUT)),
        crate::wasi::Sys::Done(errno) => Err(errno),
        other => panic!("{other:?}"),
    }
}

#[test]
fn what_was_written_is_read_lent_or_copied() {
    for lends in [true, false] {
        let mut g = Guest::new();
        g.m.lends = lends;
        let text: Vec<u8> = (0..200_000u32).map(|n| n.to_le_bytes()[0] ^ n.to_le_bytes()[1]).collect();
        let fd = g.open(b"workspace/f", "rwc").expect("made");
        assert_eq!(g.write(fd, &text), Ok(200_000));
        assert_eq!(seek(&mut g, fd, 0, 0), Ok(0));
        g.m.bytes[DATA as usize..].fill(0);
        assert_eq!(g.read(fd, 300_000).as_deref(), Ok(text.as_slice()));
        assert_eq!(g.read(fd, 1), Ok(Vec::new()), "then comes the end");
    }
}

#[test]
fn several_buffers_are_one_read_and_one_write() {
    for lends in [true, false] {
        let mut g = Guest::new();
        g.m.lends = lends;
        let fd = g.open(b"workspace/f", "rwc").expect("made");
        let (a, b) = (g.put(b"hello "), g.put(b"world"));
        let list = [a, (0, 0), b, (u32::MAX, 0), a, b];
        let (iovs, count) = g.buffers(&list);
        assert_eq!(call!(&mut g, p1::fd_write(fd, iovs, count, OUT)), OK);
        assert_eq!(g.out(), 22);
        seek(&mut g, fd, 0, 0).expect("a file");
        let (iovs, count) = g.buffers(&[(DATA, 3), (DATA + 100, 0), (DATA + 200, 100)]);
        assert_eq!(call!(&mut g, p1::fd_read(fd, iovs, count, OUT)), OK);
        assert_eq!(g.out(), 22);
        assert_eq!((g.bytes(DATA, 3), g.bytes(DATA + 200, 19)), (b"hel".to_vec(), b"lo worldhello world".to_vec()));
    }
}

#[test]
fn positioned_calls_leave_the_offset_alone() {
    let mut g = Guest::new();
    let fd = g.open(b"workspace/f", "rwc").expect("made");
    g.write(fd, b"0123456789").expect("room");
    let (at, len) = g.put(b"xy");
    let (iovs, count) = g.buffers(&[(at, len)]);
    assert_eq!(call!(&mut g, p1::fd_pwrite(fd, iovs, count, 4, OUT)), OK);
    let (iovs, count) = g.buffers(&[(DATA, 4)]);
    assert_eq!(call!(&mut g, p1::fd_pread(fd, iovs, count, 3, OUT)), OK);
    assert_eq!(g.bytes(DATA, g.out()), b"3xy6");
    assert_eq!(call!(&mut g, p1::fd_pread(fd, iovs, count, u64::MAX, OUT)), OK);
    assert_eq!(g.out(), 0);
    assert_eq!(call!(&mut g, p1::fd_tell(fd, OUT)), OK);
    assert_eq!(g.u64(OUT), 10);
}

#[test]
fn streams_have_no_offset() {
    let mut g = Guest::with(Limits::default(), b"input");
    let (reader, writer) = g.pipe();
    let (iovs, count) = g.buffers(&[(DATA, 4)]);
    for fd in [0, 1, reader, writer] {
        assert_eq!(seek(&mut g, fd, 0, 1), Err(Errno::Spipe));
        assert_eq!(call!(&mut g, p1::fd_tell(fd, OUT)), done(Errno::Spipe));
    }
    assert_eq!(call!(&mut g, p1::fd_pread(0, iovs, count, 0, OUT)), done(Errno::Spipe));
    assert_eq!(call!(&mut g, p1::fd_pread(reader, iovs, count, 0, OUT)), done(Errno::Spipe));
    assert_eq!(call!(&mut g, p1::fd_pwrite(1, iovs, count, 0, OUT)), done(Errno::Spipe));
    assert_eq!(call!(&mut g, p1::fd_pwrite(writer, iovs, count, 0, OUT)), done(Errno::Spipe));
}

#[test]
fn seeking_knows_three_origins_and_refuses_what_lies_before_the_start() {
    let mut g = Guest::new();
    let fd = g.open(b"workspace/f", "rwc").expect("made");
    g.write(fd, b"0123456789").expect("room");
    assert_eq!(seek(&mut g, fd, -3, 2), Ok(7));
    assert_eq!(seek(&mut g, fd, 1, 1), Ok(8));
    assert_eq!(seek(&mut g, fd, 1 << 40, 0), Ok(1 << 40));
    assert_eq!(g.read(fd, 4), Ok(Vec::new()), "behind the end there is nothing");
    for (offset, whence) in [(-1, 0), (i64::MIN, 1), (i64::MAX, 1), (-11, 2), (0, 3), (0, u32::MAX)] {
        assert_eq!(seek(&mut g, fd, offset, whence), Err(Errno::Inval), "{offset} {whence}");
    }
    assert_eq!(seek(&mut g, fd, 0, 1), Ok(1 << 40), "a refused seek moves nothing");
    assert_eq!(seek(&mut g, 3, 0, 0), Err(Errno::Badf), "a directory");
    assert_eq!(seek(&mut g, 99, 0, 0), Err(Errno::Badf));
}

#[test]
fn appending_always_writes_at_the_end_and_no_writer_overwrites_another() {
    let mut g = Guest::new();
    let one = g.open(b"workspace/log", "ac").expect("made");
    let two = g.open(b"workspace/log", "a").expect("there");
    g.write(one, b"a").expect("room");
    g.write(two, b"b").expect("room");
    g.write(one, b"c").expect("room");
    let log = g.open(b"workspace/log", "r").expect("there");
    assert_eq!(g.read(log, 10), Ok(b"abc".to_vec()));
}

#[test]
fn a_copied_descriptor_shares_the_offset_and_a_second_open_does_not() {
    let mut g = Guest::new();
    let fd = g.open(b"etc/motd", "r").expect("there");
    assert_eq!(call!(&mut g, ext::dup(fd, 0, OUT)), OK);
    let (copy, own) = (g.out(), g.open(b"etc/motd", "r").expect("there"));
    assert_eq!(g.read(fd, 2), Ok(b"he".to_vec()));
    assert_eq!(g.read(copy, 2), Ok(b"ll".to_vec()));
    assert_eq!(g.read(own, 2), Ok(b"he".to_vec()));
    g.close(fd);
    assert_eq!(g.read(copy, 9), Ok(b"o\n".to_vec()), "the copy outlives the original");
}

#[test]
fn how_a_file_was_opened_decides_what_can_be_done() {
    let mut g = Guest::new();
    let read = g.open(b"etc/motd", "r").expect("there");
    let write = g.open(b"workspace/f", "wc").expect("made");
    assert_eq!(g.write(read, b"x"), Err(done(Errno::Badf)));
    assert_eq!(g.read(write, 1), Err(done(Errno::Badf)));
    assert_eq!(g.read(1, 1), Err(done(Errno::Badf)));
    assert_eq!(g.write(0, b"x"), Err(done(Errno::Badf)));
    assert_eq!(g.read(3, 1), Err(done(Errno::Isdir)));
    assert_eq!(g.write(3, b"x"), Err(done(Errno::Badf)));
    assert_eq!(g.read(99, 1), Err(done(Errno::Badf)));
    assert_eq!(g.write(99, b"x"), Err(done(Errno::Badf)));
}

#[test]
fn devices_behave_as_their_names_say() {
    for lends in [true, false] {
        let mut g = Guest::new();
        g.m.lends = lends;
        let mut open = |name: &str| g.open(name.as_bytes(), "rw").expect("there");
        let (null, zero, full, random) = (open("dev/null"), open("dev/zero"), open("dev/full"), open("dev/urandom"));
        assert_eq!(g.read(null, 8), Ok(Vec::new()));
        assert_eq!(g.write(null, b"gone"), Ok(4));
        g.m.bytes[DATA as usize..][..8].fill(9);
        assert_eq!(g.read(zero, 8), Ok(vec![0; 8]));
        assert_eq!(g.write(zero, b"gone"), Ok(4));
        assert_eq!(g.read(full, 2), Ok(vec![0; 2]));
        assert_eq!(g.write(full, b"x"), Err(done(Errno::Nospc)));
        let (a, b) = (g.read(random, 32), g.read(random, 32));
        assert!(a.is_ok() && a != b);
        assert_eq!(seek(&mut g, null, 10, 0), Ok(0));
        assert_eq!(g.open(b"dev/tty", "rw"), Err(done(Errno::Nxio)), "there is no terminal");
    }
}

#[test]
fn standard_input_delivers_what_the_session_was_given_and_then_its_end() {
    let mut g = Guest::with(Limits::default(), b"a line\n");
    assert_eq!(g.read(0, 3), Ok(b"a l".to_vec()));
    assert_eq!(g.read(0, 30), Ok(b"ine\n".to_vec()));
    assert_eq!(g.read(0, 30), Ok(Vec::new()));
}

#[test]
fn output_keeps_the_order_of_arrival_across_both_streams() {
    let mut g = Guest::new();
    for (fd, text) in [(1, "a"), (1, "b"), (2, "e"), (1, "c")] {
        assert_eq!(g.write(fd, text.as_bytes()), Ok(1));
    }
    let chunk = |stream, text: &str| Chunk { stream, bytes: text.as_bytes().to_vec() };
    let expected = [chunk(Stream::Stdout, "ab"), chunk(Stream::Stderr, "e"), chunk(Stream::Stdout, "c")];
    assert_eq!(g.k.take_output(g.session), expected);
    assert_eq!(g.k.take_output(g.session), []);
}

#[test]
fn writing_beyond_a_quota_is_an_error_and_what_was_there_stays() {
    let mut limits = Limits::default();
    limits.single_file_bytes = 8192;
    let mut g = Guest::with(limits, &[]);
    let fd = g.open(b"workspace/f", "rwc").expect("made");
    g.write(fd, b"kept").expect("room");
    seek(&mut g, fd, 1 << 20, 0).expect("a file");
    assert_eq!(g.write(fd, b"x"), Err(done(Errno::Fbig)));
    let (iovs, count) = g.buffers(&[(DATA, 1)]);
    assert_eq!(call!(&mut g, p1::fd_pwrite(fd, iovs, count, u64::MAX, OUT)), done(Errno::Inval));
    seek(&mut g, fd, 0, 0).expect("a file");
    assert_eq!(g.read(fd, 10), Ok(b"kept".to_vec()));
}

#[test]
fn buffer_lists_are_bounded_and_checked() {
    for lends in [true, false] {
        let mut g = Guest::new();
        g.m.lends = lends;
        let fd = g.open(b"workspace/f", "rwc").expect("made");
        let many: Vec<(u32, u32)> = (0..1024).map(|_| (DATA, 1)).collect();
        let (iovs, count) = g.buffers(&many);
        assert_eq!(call!(&mut g, p1::fd_write(fd, iovs, count, OUT)), OK);
        assert_eq!(g.out(), 1024);
        assert_eq!(call!(&mut g, p1::fd_write(fd, iovs, 1025, OUT)), done(Errno::Inval));
        assert_eq!(call!(&mut g, p1::fd_write(fd, iovs, u32::MAX, OUT)), done(Errno::Inval));
        let (iovs, count) = g.buffers(&[(DATA, i32::MAX as u32), (DATA, 1)]);
        assert_eq!(call!(&mut g, p1::fd_write(fd, iovs, count, OUT)), done(Errno::Inval));
        assert_eq!(call!(&mut g, p1::fd_read(fd, iovs, count, OUT)), done(Errno::Inval));
        for bad in [u32::MAX, MEMORY_BYTES as u32 - 4] {
            assert_eq!(call!(&mut g, p1::fd_write(fd, bad, 1, OUT)), done(Errno::Fault));
            assert_eq!(call!(&mut g, p1::fd_read(fd, bad, 5, OUT)), done(Errno::Fault));
        }
        let (iovs, count) = g.buffers(&[(MEMORY_BYTES as u32 - 4, 8)]);
        for fd in [fd, 1] {
            assert_eq!(call!(&mut g, p1::fd_write(fd, iovs, count, OUT)), done(Errno::Fault));
        }
        let motd = g.open(b"etc/motd", "r").expect("there");
        let (iovs, count) = g.buffers(&[(u32::MAX - 1, 8)]);
        assert_eq!(call!(&mut g, p1::fd_read(motd, iovs, count, OUT)), done(Errno::Fault));
    }
}

#[test]
fn a_fault_after_progress_is_left_for_the_next_call() {
    for lends in [true, false] {
        let mut g = Guest::new();
        g.m.lends = lends;
        let fd = g.open(b"etc/motd", "r").expect("there");
        let (iovs, count) = g.buffers(&[(DATA, 2), (u32::MAX - 1, 8)]);
        assert_eq!(call!(&mut g, p1::fd_read(fd, iovs, count, OUT)), OK);
        assert_eq!(g.out(), 2);
        assert_eq!(g.read(fd, 9), Ok(b"llo\n".to_vec()), "nothing was lost");
    }
}

/// Makes a transfer in pieces, as an engine does, and answers the count and how many pieces there were.
fn in_pieces(g: &mut Guest, reads: bool, fd: u32, list: &[(u32, u32)]) -> (Sys, u32, u32) {
    let (iovs, count) = g.buffers(list);
    let mut progress = p1::Progress::default();
    let mut pieces = 0;
    loop {
        pieces += 1;
        let (k, pid, m) = (&mut g.k, g.pid, &mut g.m);
        let sys = match reads {
            true => p1::fd_read_piece(k, pid, m, fd, iovs, count, OUT, &mut progress),
            false => p1::fd_write_piece(k, pid, m, fd, iovs, count, OUT, &mut progress),
        };
        if !progress.more() {
            return (sys, g.out(), pieces);
        }
        assert_eq!(sys, OK);
    }
}

#[test]
fn a_long_transfer_is_made_in_pieces_and_counts_all_of_them() {
    for lends in [true, false] {
        let mut g = Guest::new();
        g.m.lends = lends;
        let zero = g.open(b"dev/zero", "r").expect("there");
        let file = g.open(b"workspace/f", "rwc").expect("made");
        // The same place over and over: 5 MiB and a bit through a memory that is smaller.
        let list: Vec<(u32, u32)> = (0..53).map(|n| (DATA + n, 100_000)).collect();
        assert_eq!(in_pieces(&mut g, true, zero, &list), (OK, 5_300_000, 6));
        assert_eq!(in_pieces(&mut g, false, file, &list), (OK, 5_300_000, 6));
        assert_eq!(seek(&mut g, file, 0, 1), Ok(5_300_000));
        assert_eq!(seek(&mut g, file, 3_000_000, 0), Ok(3_000_000));
        assert_eq!(in_pieces(&mut g, true, file, &list), (OK, 2_300_000, 3), "the end of the file is the end");
        assert_eq!(in_pieces(&mut g, true, file, &list), (OK, 0, 1));
        assert_eq!(in_pieces(&mut g, true, 1, &list).0, Sys::Done(Errno::Badf));
        assert_eq!(in_pieces(&mut g, true, zero, &[]), (OK, 0, 1));
    }
}

#[test]
fn what_fails_after_the_first_piece_is_told_by_the_next_call() {
    let mut limits = Limits::default();
    limits.single_file_bytes = 1_500_000;
    let mut g = Guest::with(limits, &[]);
    let file = g.open(b"workspace/f", "rwc").expect("made");
    let list: Vec<(u32, u32)> = (0..30).map(|_| (DATA, 100_000)).collect();
    assert_eq!(in_pieces(&mut g, false, file, &list), (OK, 1_500_000, 2));
    assert_eq!(in_pieces(&mut g, false, file, &list).0, Sys::Done(Errno::Fbig));
}
