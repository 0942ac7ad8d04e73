//! Reading, writing and offsets.

use crate::syscall::SyscallOutcome;
use crate::testing::{DATA, Guest, MEMORY_BYTES, OK, OUT, call, done};
use crate::wasi::{preview1, tidebox};
use crate::{Errno, OutputChunk, OutputStream};
use tidebox_core::Limits;

fn seek(g: &mut Guest, fd: u32, offset: i64, whence: u32) -> Result<u64, Errno> {
    match call!(g, preview1::fd_seek(fd, offset, whence, OUT)) {
        OK => Ok(g.u64(OUT)),
        crate::SyscallOutcome::Done(errno) => Err(errno),
        other => panic!("{other:?}"),
    }
}

#[test]
fn written_bytes_are_read_back_with_and_without_slices() {
    for lends in [true, false] {
        let mut g = Guest::new();
        g.m.supports_slices = lends;
        let text: Vec<u8> = (0..200_000u32).map(|n| n.to_le_bytes()[0] ^ n.to_le_bytes()[1]).collect();
        let fd = g.open(b"workspace/f", "rwc").expect("created");
        assert_eq!(g.write(fd, &text), Ok(200_000));
        assert_eq!(seek(&mut g, fd, 0, 0), Ok(0));
        g.m.bytes[DATA as usize..].fill(0);
        assert_eq!(g.read(fd, 300_000).as_deref(), Ok(text.as_slice()));
        assert_eq!(g.read(fd, 1), Ok(Vec::new()), "then EOF");
    }
}

#[test]
fn several_buffers_are_one_read_and_one_write() {
    for lends in [true, false] {
        let mut g = Guest::new();
        g.m.supports_slices = lends;
        let fd = g.open(b"workspace/f", "rwc").expect("created");
        let (a, b) = (g.put(b"hello "), g.put(b"world"));
        let list = [a, (0, 0), b, (u32::MAX, 0), a, b];
        let (iovs, count) = g.buffers(&list);
        assert_eq!(call!(&mut g, preview1::fd_write(fd, iovs, count, OUT)), OK);
        assert_eq!(g.out(), 22);
        seek(&mut g, fd, 0, 0).expect("a file");
        let (iovs, count) = g.buffers(&[(DATA, 3), (DATA + 100, 0), (DATA + 200, 100)]);
        assert_eq!(call!(&mut g, preview1::fd_read(fd, iovs, count, OUT)), OK);
        assert_eq!(g.out(), 22);
        assert_eq!((g.bytes(DATA, 3), g.bytes(DATA + 200, 19)), (b"hel".to_vec(), b"lo worldhello world".to_vec()));
    }
}

#[test]
fn positioned_calls_do_not_change_the_offset() {
    let mut g = Guest::new();
    let fd = g.open(b"workspace/f", "rwc").expect("created");
    g.write(fd, b"0123456789").expect("room");
    let (at, len) = g.put(b"xy");
    let (iovs, count) = g.buffers(&[(at, len)]);
    assert_eq!(call!(&mut g, preview1::fd_pwrite(fd, iovs, count, 4, OUT)), OK);
    let (iovs, count) = g.buffers(&[(DATA, 4)]);
    assert_eq!(call!(&mut g, preview1::fd_pread(fd, iovs, count, 3, OUT)), OK);
    assert_eq!(g.bytes(DATA, g.out()), b"3xy6");
    assert_eq!(call!(&mut g, preview1::fd_pread(fd, iovs, count, u64::MAX, OUT)), OK);
    assert_eq!(g.out(), 0);
    assert_eq!(call!(&mut g, preview1::fd_tell(fd, OUT)), OK);
    assert_eq!(g.u64(OUT), 10);
}

#[test]
fn streams_have_no_offset() {
    let mut g = Guest::with(Limits::default(), b"input");
    let (reader, writer) = g.pipe();
    let (iovs, count) = g.buffers(&[(DATA, 4)]);
    for fd in [0, 1, reader, writer] {
        assert_eq!(seek(&mut g, fd, 0, 1), Err(Errno::Spipe));
        assert_eq!(call!(&mut g, preview1::fd_tell(fd, OUT)), done(Errno::Spipe));
    }
    assert_eq!(call!(&mut g, preview1::fd_pread(0, iovs, count, 0, OUT)), done(Errno::Spipe));
    assert_eq!(call!(&mut g, preview1::fd_pread(reader, iovs, count, 0, OUT)), done(Errno::Spipe));
    assert_eq!(call!(&mut g, preview1::fd_pwrite(1, iovs, count, 0, OUT)), done(Errno::Spipe));
    assert_eq!(call!(&mut g, preview1::fd_pwrite(writer, iovs, count, 0, OUT)), done(Errno::Spipe));
}

#[test]
fn seeking_has_three_origins_and_rejects_negative_offsets() {
    let mut g = Guest::new();
    let fd = g.open(b"workspace/f", "rwc").expect("created");
    g.write(fd, b"0123456789").expect("room");
    assert_eq!(seek(&mut g, fd, -3, 2), Ok(7));
    assert_eq!(seek(&mut g, fd, 1, 1), Ok(8));
    assert_eq!(seek(&mut g, fd, 1 << 40, 0), Ok(1 << 40));
    assert_eq!(g.read(fd, 4), Ok(Vec::new()), "no bytes beyond the end");
    for (offset, whence) in [(-1, 0), (i64::MIN, 1), (i64::MAX, 1), (-11, 2), (0, 3), (0, u32::MAX)] {
        assert_eq!(seek(&mut g, fd, offset, whence), Err(Errno::Inval), "{offset} {whence}");
    }
    assert_eq!(seek(&mut g, fd, 0, 1), Ok(1 << 40), "a rejected seek does not move the offset");
    assert_eq!(seek(&mut g, 3, 0, 0), Err(Errno::Badf), "a directory");
    assert_eq!(seek(&mut g, 99, 0, 0), Err(Errno::Badf));
}

#[test]
fn appending_never_overwrites_another_writer() {
    let mut g = Guest::new();
    let one = g.open(b"workspace/log", "ac").expect("created");
    let two = g.open(b"workspace/log", "a").expect("it exists");
    g.write(one, b"a").expect("room");
    g.write(two, b"b").expect("room");
    g.write(one, b"c").expect("room");
    let log = g.open(b"workspace/log", "r").expect("it exists");
    assert_eq!(g.read(log, 10), Ok(b"abc".to_vec()));
}

#[test]
fn dup_shares_the_offset_and_a_second_open_does_not() {
    let mut g = Guest::new();
    let fd = g.open(b"etc/motd", "r").expect("it exists");
    assert_eq!(call!(&mut g, tidebox::dup(fd, 0, OUT)), OK);
    let (copy, own) = (g.out(), g.open(b"etc/motd", "r").expect("it exists"));
    assert_eq!(g.read(fd, 2), Ok(b"he".to_vec()));
    assert_eq!(g.read(copy, 2), Ok(b"ll".to_vec()));
    assert_eq!(g.read(own, 2), Ok(b"he".to_vec()));
    g.close(fd);
    assert_eq!(g.read(copy, 9), Ok(b"o\n".to_vec()), "the copy outlives the original");
}

#[test]
fn the_open_mode_limits_reads_and_writes() {
    let mut g = Guest::new();
    let read = g.open(b"etc/motd", "r").expect("it exists");
    let write = g.open(b"workspace/f", "wc").expect("created");
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
fn devices_behave_as_named() {
    for lends in [true, false] {
        let mut g = Guest::new();
        g.m.supports_slices = lends;
        let mut open = |name: &str| g.open(name.as_bytes(), "rw").expect("it exists");
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
fn standard_input_delivers_all_bytes_then_eof() {
    let mut g = Guest::with(Limits::default(), b"a line\n");
    assert_eq!(g.read(0, 3), Ok(b"a l".to_vec()));
    assert_eq!(g.read(0, 30), Ok(b"ine\n".to_vec()));
    assert_eq!(g.read(0, 30), Ok(Vec::new()));
}

#[test]
fn output_keeps_arrival_order_across_both_streams() {
    let mut g = Guest::new();
    for (fd, text) in [(1, "a"), (1, "b"), (2, "e"), (1, "c")] {
        assert_eq!(g.write(fd, text.as_bytes()), Ok(1));
    }
    let chunk = |stream, text: &str| OutputChunk { stream, bytes: text.as_bytes().to_vec() };
    let expected =
        [chunk(OutputStream::Stdout, "ab"), chunk(OutputStream::Stderr, "e"), chunk(OutputStream::Stdout, "c")];
    assert_eq!(g.k.take_output(g.execution), expected);
    assert_eq!(g.k.take_output(g.execution), []);
}

#[test]
fn writing_beyond_a_quota_fails_and_keeps_old_content() {
    let mut limits = Limits::default();
    limits.single_file_bytes = 8192;
    let mut g = Guest::with(limits, &[]);
    let fd = g.open(b"workspace/f", "rwc").expect("created");
    g.write(fd, b"kept").expect("room");
    seek(&mut g, fd, 1 << 20, 0).expect("a file");
    assert_eq!(g.write(fd, b"x"), Err(done(Errno::Fbig)));
    let (iovs, count) = g.buffers(&[(DATA, 1)]);
    assert_eq!(call!(&mut g, preview1::fd_pwrite(fd, iovs, count, u64::MAX, OUT)), done(Errno::Inval));
    seek(&mut g, fd, 0, 0).expect("a file");
    assert_eq!(g.read(fd, 10), Ok(b"kept".to_vec()));
}

#[test]
fn buffer_lists_are_bounded_and_checked() {
    for lends in [true, false] {
        let mut g = Guest::new();
        g.m.supports_slices = lends;
        let fd = g.open(b"workspace/f", "rwc").expect("created");
        let many: Vec<(u32, u32)> = (0..1024).map(|_| (DATA, 1)).collect();
        let (iovs, count) = g.buffers(&many);
        assert_eq!(call!(&mut g, preview1::fd_write(fd, iovs, count, OUT)), OK);
        assert_eq!(g.out(), 1024);
        assert_eq!(call!(&mut g, preview1::fd_write(fd, iovs, 1025, OUT)), done(Errno::Inval));
        assert_eq!(call!(&mut g, preview1::fd_write(fd, iovs, u32::MAX, OUT)), done(Errno::Inval));
        let (iovs, count) = g.buffers(&[(DATA, i32::MAX as u32), (DATA, 1)]);
        assert_eq!(call!(&mut g, preview1::fd_write(fd, iovs, count, OUT)), done(Errno::Inval));
        assert_eq!(call!(&mut g, preview1::fd_read(fd, iovs, count, OUT)), done(Errno::Inval));
        for bad in [u32::MAX, MEMORY_BYTES as u32 - 4] {
            assert_eq!(call!(&mut g, preview1::fd_write(fd, bad, 1, OUT)), done(Errno::Fault));
            assert_eq!(call!(&mut g, preview1::fd_read(fd, bad, 5, OUT)), done(Errno::Fault));
        }
        let (iovs, count) = g.buffers(&[(MEMORY_BYTES as u32 - 4, 8)]);
        for fd in [fd, 1] {
            assert_eq!(call!(&mut g, preview1::fd_write(fd, iovs, count, OUT)), done(Errno::Fault));
        }
        let motd = g.open(b"etc/motd", "r").expect("it exists");
        let (iovs, count) = g.buffers(&[(u32::MAX - 1, 8)]);
        assert_eq!(call!(&mut g, preview1::fd_read(motd, iovs, count, OUT)), done(Errno::Fault));
    }
}

#[test]
fn a_fault_after_progress_is_reported_by_the_next_call() {
    for lends in [true, false] {
        let mut g = Guest::new();
        g.m.supports_slices = lends;
        let fd = g.open(b"etc/motd", "r").expect("it exists");
        let (iovs, count) = g.buffers(&[(DATA, 2), (u32::MAX - 1, 8)]);
        assert_eq!(call!(&mut g, preview1::fd_read(fd, iovs, count, OUT)), OK);
        assert_eq!(g.out(), 2);
        assert_eq!(g.read(fd, 9), Ok(b"llo\n".to_vec()), "no data was lost");
    }
}

/// Makes a transfer in chunks, as an engine does, and returns the byte count and the number of chunks.
fn in_pieces(g: &mut Guest, reads: bool, fd: u32, list: &[(u32, u32)]) -> (SyscallOutcome, u32, u32) {
    let (iovs, count) = g.buffers(list);
    let mut progress = preview1::Progress::default();
    let mut chunks = 0;
    loop {
        chunks += 1;
        let (k, pid, m) = (&mut g.k, g.pid, &mut g.m);
        let sys = match reads {
            true => preview1::fd_read_chunk(k, pid, m, fd, iovs, count, OUT, &mut progress),
            false => preview1::fd_write_chunk(k, pid, m, fd, iovs, count, OUT, &mut progress),
        };
        if !progress.more() {
            return (sys, g.out(), chunks);
        }
        assert_eq!(sys, OK);
    }
}

#[test]
fn a_long_transfer_is_split_into_chunks() {
    for lends in [true, false] {
        let mut g = Guest::new();
        g.m.supports_slices = lends;
        let zero = g.open(b"dev/zero", "r").expect("it exists");
        let file = g.open(b"workspace/f", "rwc").expect("created");
        // Uses one address range repeatedly: 5 MiB and a bit through a smaller memory.
        let list: Vec<(u32, u32)> = (0..53).map(|n| (DATA + n, 100_000)).collect();
        assert_eq!(in_pieces(&mut g, true, zero, &list), (OK, 5_300_000, 6));
        assert_eq!(in_pieces(&mut g, false, file, &list), (OK, 5_300_000, 6));
        assert_eq!(seek(&mut g, file, 0, 1), Ok(5_300_000));
        assert_eq!(seek(&mut g, file, 3_000_000, 0), Ok(3_000_000));
        assert_eq!(in_pieces(&mut g, true, file, &list), (OK, 2_300_000, 3), "EOF at the end of the file");
        assert_eq!(in_pieces(&mut g, true, file, &list), (OK, 0, 1));
        assert_eq!(in_pieces(&mut g, true, 1, &list).0, SyscallOutcome::Done(Errno::Badf));
        assert_eq!(in_pieces(&mut g, true, zero, &[]), (OK, 0, 1));
    }
}

#[test]
fn an_error_after_the_first_chunk_is_reported_next_time() {
    let mut limits = Limits::default();
    limits.single_file_bytes = 1_500_000;
    let mut g = Guest::with(limits, &[]);
    let file = g.open(b"workspace/f", "rwc").expect("created");
    let list: Vec<(u32, u32)> = (0..30).map(|_| (DATA, 100_000)).collect();
    assert_eq!(in_pieces(&mut g, false, file, &list), (OK, 1_500_000, 2));
    assert_eq!(in_pieces(&mut g, false, file, &list).0, SyscallOutcome::Done(Errno::Fbig));
}
