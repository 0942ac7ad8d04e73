//! Descriptors: status, duplication and limits.

use crate::Errno;
use crate::testing::{DATA, Guest, OK, OUT, call, done};
use crate::wasi::{preview1, tidebox};
use tidebox_core::Limits;

fn fdstat(g: &mut Guest, fd: u32) -> (u8, u16, u64, u64) {
    assert_eq!(call!(g, preview1::fd_fdstat_get(fd, OUT)), OK);
    let bytes = g.bytes(OUT, 4);
    (bytes[0], u16::from_le_bytes([bytes[2], bytes[3]]), g.u64(OUT + 8), g.u64(OUT + 16))
}

const SEEK_TELL: u64 = (1 << 2) | (1 << 5);
const CHARACTER: u8 = 2;

/// wasi-libc's `isatty`.
fn is_terminal(g: &mut Guest, fd: u32) -> bool {
    let (filetype, _, rights, _) = fdstat(g, fd);
    filetype == CHARACTER && rights & SEEK_TELL == 0
}

#[test]
fn no_descriptor_is_a_terminal() {
    let mut g = Guest::new();
    let (reader, writer) = g.pipe();
    let null = g.open(b"dev/null", "rw").expect("it exists");
    for fd in [0, 1, 2, 3, reader, writer, null] {
        assert!(!is_terminal(&mut g, fd), "{fd}");
    }
}

#[test]
fn rights_reflect_the_open_mode() {
    let mut g = Guest::new();
    let (read, write) = (1 << 1, 1 << 6);
    let fd = g.open(b"etc/motd", "r").expect("it exists");
    let (filetype, flags, rights, _) = fdstat(&mut g, fd);
    assert_eq!((filetype, flags, rights & (read | write)), (4, 0, read));
    let fd = g.open(b"workspace/f", "ac").expect("created");
    let (_, flags, rights, _) = fdstat(&mut g, fd);
    assert_eq!((flags, rights & (read | write)), (1, write));
    let (filetype, _, rights, inheriting) = fdstat(&mut g, 3);
    assert_eq!((filetype, rights & (read | write)), (3, 0));
    assert_eq!(inheriting & (read | write), read | write);
    assert_eq!(call!(&mut g, preview1::fd_fdstat_get(99, OUT)), done(Errno::Badf));
    assert_eq!(call!(&mut g, preview1::fd_fdstat_get(3, u32::MAX)), done(Errno::Fault));
}

#[test]
fn flags_can_be_set_and_unknown_ones_are_rejected() {
    let mut g = Guest::new();
    let fd = g.open(b"workspace/f", "rwc").expect("created");
    g.write(fd, b"12").expect("room");
    assert_eq!(call!(&mut g, preview1::fd_seek(fd, 0, 0, OUT)), OK);
    assert_eq!(call!(&mut g, preview1::fd_fdstat_set_flags(fd, 1)), OK);
    g.write(fd, b"3").expect("room");
    assert_eq!(call!(&mut g, preview1::fd_seek(fd, 0, 0, OUT)), OK);
    assert_eq!(g.read(fd, 9), Ok(b"123".to_vec()), "it appends now");
    for bad in [32, 0x1_0001, u32::MAX] {
        assert_eq!(call!(&mut g, preview1::fd_fdstat_set_flags(fd, bad)), done(Errno::Inval));
    }
    assert_eq!(call!(&mut g, preview1::fd_fdstat_set_flags(99, 0)), done(Errno::Badf));
    assert_eq!(call!(&mut g, preview1::fd_fdstat_set_rights(fd, 0, 0)), done(Errno::Notsup));
    assert_eq!(call!(&mut g, preview1::fd_fdstat_set_rights(99, 0, 0)), done(Errno::Badf));
}

#[test]
fn a_tidebox_guest_has_one_preopened_directory() {
    let mut g = Guest::new();
    assert_eq!(call!(&mut g, preview1::fd_prestat_get(3, OUT)), OK);
    assert_eq!((g.u32(OUT), g.u32(OUT + 4)), (0, 1));
    assert_eq!(call!(&mut g, preview1::fd_prestat_dir_name(3, DATA, 1)), OK);
    assert_eq!(g.bytes(DATA, 1), b"/");
    assert_eq!(call!(&mut g, preview1::fd_prestat_dir_name(3, DATA, 0)), done(Errno::Nametoolong));
    assert_eq!(call!(&mut g, preview1::fd_prestat_dir_name(3, u32::MAX, 1)), done(Errno::Fault));
    assert_eq!(call!(&mut g, preview1::fd_prestat_get(3, u32::MAX - 3)), done(Errno::Fault));
    for fd in [0, 4, 67, u32::MAX] {
        assert_eq!(call!(&mut g, preview1::fd_prestat_get(fd, OUT)), done(Errno::Badf));
        assert_eq!(call!(&mut g, preview1::fd_prestat_dir_name(fd, DATA, 9)), done(Errno::Badf));
    }
}

#[test]
fn the_lowest_free_descriptor_is_assigned() {
    let mut g = Guest::new();
    let first = g.open(b"etc/motd", "r").expect("it exists");
    let second = g.open(b"etc/motd", "r").expect("it exists");
    assert_eq!((first, second), (67, 68));
    g.close(first);
    g.close(0);
    assert_eq!(g.open(b"etc/motd", "r"), Ok(0), "a closed standard stream is the lowest");
    assert_eq!(g.open(b"etc/motd", "r"), Ok(67));
    assert_eq!(call!(&mut g, preview1::fd_close(67)), OK);
    assert_eq!(call!(&mut g, preview1::fd_close(67)), done(Errno::Badf));
    assert_eq!(call!(&mut g, preview1::fd_close(5)), done(Errno::Badf));
    assert_eq!(call!(&mut g, preview1::fd_close(u32::MAX)), done(Errno::Badf));
}

#[test]
fn every_call_obeys_the_descriptor_limit() {
    let mut limits = Limits::default();
    limits.descriptors = 5;
    let mut g = Guest::with(limits, &[]);
    g.open(b"etc/motd", "r").expect("it exists");
    assert_eq!(call!(&mut g, tidebox::pipe(OUT)), done(Errno::Mfile));
    let last = g.open(b"etc/motd", "r").expect("it exists");
    assert_eq!(g.open(b"workspace/new", "wc"), Err(done(Errno::Mfile)));
    assert_eq!(call!(&mut g, tidebox::dup(0, 0, OUT)), done(Errno::Mfile));
    assert_eq!(call!(&mut g, tidebox::dup_to(0, 69)), done(Errno::Badf));
    assert_eq!(call!(&mut g, tidebox::dup_to(0, 68)), OK);
    g.close(last);
    assert_eq!(g.open(b"workspace/new", "r"), Err(done(Errno::Noent)), "the refused open made nothing");
    assert_eq!(g.k.files.count(), 5, "the rejected pipe left only 3 streams, 1 directory and 1 file");
}

#[test]
fn dup_and_dup_to_select_the_right_number() {
    let mut g = Guest::new();
    let fd = g.open(b"etc/motd", "r").expect("it exists");
    assert_eq!(call!(&mut g, tidebox::dup(fd, 70, OUT)), OK);
    assert_eq!(g.out(), 70);
    assert_eq!(call!(&mut g, tidebox::dup_to(fd, 0)), OK);
    assert_eq!(g.read(0, 3), Ok(b"hel".to_vec()));
    assert_eq!(call!(&mut g, tidebox::dup_to(fd, fd)), OK);
    for target in [3, 4] {
        assert_eq!(call!(&mut g, tidebox::dup_to(fd, target)), done(Errno::Inval));
    }
    for target in [5, 66] {
        assert_eq!(call!(&mut g, tidebox::dup_to(fd, target)), OK);
        assert_eq!(call!(&mut g, preview1::fd_close(target + 64)), OK, "they are two numbers of one descriptor");
    }
    for target in [64 + 1024, u32::MAX] {
        assert_eq!(call!(&mut g, tidebox::dup_to(fd, target)), done(Errno::Badf));
    }
    assert_eq!(call!(&mut g, tidebox::dup_to(99, 80)), done(Errno::Badf));
    assert_eq!(call!(&mut g, tidebox::dup(99, 0, OUT)), done(Errno::Badf));
    assert_eq!(call!(&mut g, tidebox::dup(fd, 0, u32::MAX)), done(Errno::Fault));
    assert_eq!(g.open(b"etc/motd", "r"), Ok(68), "the copy that could not be told was closed");
}

#[test]
fn renumbering_requires_an_open_target() {
    let mut g = Guest::new();
    let (a, b) = (g.open(b"etc/motd", "r").expect("it exists"), g.open(b"dev/null", "r").expect("it exists"));
    assert_eq!(call!(&mut g, preview1::fd_renumber(a, b)), OK);
    assert_eq!(g.read(b, 2), Ok(b"he".to_vec()));
    assert_eq!(g.read(a, 2), Err(done(Errno::Badf)));
    assert_eq!(call!(&mut g, preview1::fd_renumber(b, b)), OK);
    assert_eq!(call!(&mut g, preview1::fd_renumber(b, a)), done(Errno::Badf));
    assert_eq!(call!(&mut g, preview1::fd_renumber(99, b)), done(Errno::Badf));
    assert_eq!(g.read(b, 2), Ok(b"ll".to_vec()));
}

#[test]
fn a_file_is_open_until_its_last_descriptor_is_closed() {
    let mut g = Guest::new();
    let fd = g.open(b"workspace/f", "rwc").expect("created");
    g.write(fd, b"still").expect("room");
    let (at, len) = g.put(b"workspace/f");
    assert_eq!(call!(&mut g, preview1::path_unlink_file(3, at, len)), OK);
    let before = g.k.fs().usage().inodes;
    assert_eq!(call!(&mut g, preview1::fd_seek(fd, 0, 0, OUT)), OK);
    assert_eq!(g.read(fd, 9), Ok(b"still".to_vec()));
    g.close(fd);
    assert_eq!(g.k.fs().usage().inodes, before - 1);
}

#[test]
fn advise_and_sync_are_accepted_on_files() {
    let mut g = Guest::new();
    let fd = g.open(b"workspace/f", "wc").expect("created");
    assert_eq!(call!(&mut g, preview1::fd_advise(fd, 0, 10, 4)), OK);
    assert_eq!(call!(&mut g, preview1::fd_advise(fd, 0, 10, 6)), done(Errno::Inval));
    assert_eq!(call!(&mut g, preview1::fd_advise(fd, u64::MAX, 10, 0)), done(Errno::Inval));
    assert_eq!(call!(&mut g, preview1::fd_advise(1, 0, 10, 0)), done(Errno::Spipe));
    assert_eq!(call!(&mut g, preview1::fd_advise(3, 0, 10, 0)), done(Errno::Badf));
    for (fd, expected) in [(fd, OK), (3, OK), (1, done(Errno::Inval)), (99, done(Errno::Badf))] {
        assert_eq!(call!(&mut g, preview1::fd_sync(fd)), expected);
        assert_eq!(call!(&mut g, preview1::fd_datasync(fd)), expected);
    }
}

#[test]
fn a_file_size_can_be_set_and_allocated() {
    let mut g = Guest::new();
    let fd = g.open(b"workspace/f", "rwc").expect("created");
    g.write(fd, b"0123456789").expect("room");
    let size = |g: &mut Guest, fd: u32| {
        assert_eq!(call!(g, preview1::fd_filestat_get(fd, OUT)), OK);
        g.u64(OUT + 32)
    };
    assert_eq!(call!(&mut g, preview1::fd_filestat_set_size(fd, 4)), OK);
    assert_eq!(size(&mut g, fd), 4);
    assert_eq!(call!(&mut g, preview1::fd_allocate(fd, 2, 8)), OK);
    assert_eq!(size(&mut g, fd), 10);
    assert_eq!(call!(&mut g, preview1::fd_allocate(fd, 0, 1)), OK);
    assert_eq!(size(&mut g, fd), 10, "allocate never truncates");
    assert_eq!(call!(&mut g, preview1::fd_allocate(fd, 0, 0)), done(Errno::Inval));
    assert_eq!(call!(&mut g, preview1::fd_allocate(fd, u64::MAX, 2)), done(Errno::Fbig));
    assert_eq!(call!(&mut g, preview1::fd_filestat_set_size(fd, u64::MAX)), done(Errno::Inval));
    let read = g.open(b"etc/motd", "r").expect("it exists");
    for (fd, errno) in [(read, Errno::Badf), (3, Errno::Badf), (1, Errno::Inval), (99, Errno::Badf)] {
        assert_eq!(call!(&mut g, preview1::fd_filestat_set_size(fd, 0)), done(errno));
        assert_eq!(call!(&mut g, preview1::fd_allocate(fd, 0, 1)), done(errno));
    }
}

#[test]
fn times_are_set_according_to_the_flags() {
    let mut g = Guest::new();
    let fd = g.open(b"workspace/f", "wc").expect("created");
    assert_eq!(call!(&mut g, preview1::fd_filestat_set_times(fd, 5, 7, 1 | 4)), OK);
    assert_eq!(call!(&mut g, preview1::fd_filestat_get(fd, OUT)), OK);
    assert_eq!((g.u64(OUT + 40), g.u64(OUT + 48)), (5, 7));
    assert_eq!(call!(&mut g, preview1::fd_filestat_set_times(fd, 0, 0, 8)), OK);
    assert_eq!(call!(&mut g, preview1::fd_filestat_get(fd, OUT)), OK);
    assert_eq!((g.u64(OUT + 40), g.u64(OUT + 48)), (5, 1_000_000_000_000));
    for bad in [3, 12, 16, u32::MAX] {
        assert_eq!(call!(&mut g, preview1::fd_filestat_set_times(fd, 0, 0, bad)), done(Errno::Inval));
    }
    assert_eq!(call!(&mut g, preview1::fd_filestat_set_times(1, 0, 0, 2)), done(Errno::Perm));
    assert_eq!(call!(&mut g, preview1::fd_filestat_set_times(99, 0, 0, 2)), done(Errno::Badf));
}

#[test]
fn both_forms_of_stat_agree() {
    let mut g = Guest::new();
    let fd = g.open(b"workspace/f", "wc").expect("created");
    g.write(fd, b"12345").expect("room");
    assert_eq!(call!(&mut g, preview1::fd_filestat_get(fd, OUT)), OK);
    assert_eq!(call!(&mut g, tidebox::fstat(fd, DATA)), OK);
    assert_eq!((g.u64(OUT + 8), g.u64(OUT + 24), g.u64(OUT + 32)), (g.u64(DATA), g.u64(DATA + 8), g.u64(DATA + 16)));
    assert_eq!((g.u64(OUT + 16), g.u64(DATA + 16)), (4, 5));
    assert_eq!([g.u32(DATA + 48), g.u32(DATA + 52), g.u32(DATA + 56)], [0o100_644, 1000, 1000]);
    // Standard input is empty, so descriptor 0 is the null device and not a pipe.
    for (fd, mode) in [(0, 0o020_666), (1, 0o010_600), (3, 0o040_755)] {
        assert_eq!(call!(&mut g, tidebox::fstat(fd, DATA)), OK);
        assert_eq!(g.u32(DATA + 48), mode);
    }
    assert_eq!(call!(&mut g, tidebox::fstat(99, DATA)), done(Errno::Badf));
    assert_eq!(call!(&mut g, tidebox::fstat(0, u32::MAX)), done(Errno::Fault));
    assert_eq!(call!(&mut g, preview1::fd_filestat_get(99, DATA)), done(Errno::Badf));
}
