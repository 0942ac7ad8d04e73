//! Kernel calls by value, as component engines make them. Calls from guest memory are tested with their decoder.

use crate::syscall::SyscallError;
use crate::testing::Guest;
use crate::{Errno, FileType, OpenOptions, TimeSpec};

const READ: OpenOptions = OpenOptions {
    create: false,
    directory: false,
    exclusive: false,
    truncate: false,
    read: true,
    list: true,
    write: false,
    follow: true,
    flags: 0,
};

/// The working directory of a plain guest.
const HERE: u32 = 4;

#[test]
fn a_plain_guest_has_two_preopened_directories() {
    let mut g = Guest::plain();
    assert_eq!(g.k.preopens(g.pid), Ok(vec![(3, "/"), (4, ".")]));
    assert_eq!(g.k.working_directory(g.pid), Ok(b"/workspace".to_vec()));
    assert!(!g.k.arguments(g.pid).expect("it has a name").is_empty());
}

#[test]
fn files_are_created_inspected_and_removed_by_value() {
    let mut g = Guest::plain();
    let making = OpenOptions { create: true, write: true, ..READ };
    let file = g.k.open_at(g.pid, HERE, b"made", making).expect("created");
    assert_eq!(g.k.write(g.pid, file, b"hello"), Ok(5));
    assert_eq!(g.k.resize(g.pid, file, 3), Ok(()));
    let found = g.k.stat_at(g.pid, HERE, b"made", true).expect("it exists");
    assert_eq!((found.size, found.filetype), (3, FileType::Regular));
    assert_eq!(g.k.stat(g.pid, file), Ok(found));
    assert_eq!(g.k.set_times(g.pid, file, TimeSpec::At(5), TimeSpec::Omit), Ok(()));
    let touched = g.k.stat(g.pid, file).expect("it is open");
    assert_eq!((touched.atime, touched.mtime), (5, found.mtime));
    assert_eq!(g.k.open_at(g.pid, HERE, b"made", OpenOptions { exclusive: true, ..making }), Err(Errno::Exist.into()));
    let mode = g.k.mode(g.pid, file).expect("it is open");
    assert!(mode.read && mode.write);
    assert_eq!(g.k.unlink_at(g.pid, HERE, b"made"), Ok(()));
    assert_eq!(g.k.stat_at(g.pid, HERE, b"made", true), Err(Errno::Noent.into()));
    assert_eq!(g.k.stat(g.pid, file).map(|left| left.nlink), Ok(0), "open files stay usable");
    assert_eq!(g.k.close(g.pid, file), Ok(()));
    assert_eq!(g.k.close(g.pid, file), Err(Errno::Badf.into()));
}

#[test]
fn a_listing_continues_after_a_removed_name() {
    let mut g = Guest::plain();
    assert_eq!(g.k.make_dir_at(g.pid, HERE, b"d"), Ok(()));
    for name in [&b"d/a"[..], b"d/b", b"d/\xff"] {
        g.k.open_at(g.pid, HERE, name, OpenOptions { create: true, write: true, ..READ }).expect("created");
    }
    let dir = g.k.open_at(g.pid, HERE, b"d", READ).expect("it exists");
    let names = |listed: Result<Vec<crate::DirEntry>, SyscallError>| {
        listed.expect("a directory").into_iter().map(|entry| entry.name).collect::<Vec<_>>()
    };
    assert_eq!(names(g.k.read_dir(g.pid, dir, None, 2)), [b"a", b"b"]);
    assert_eq!(g.k.unlink_at(g.pid, HERE, b"d/b"), Ok(()));
    assert_eq!(names(g.k.read_dir(g.pid, dir, Some(b"b"), 9)), [b"\xff"]);
    let proc = g.k.open_at(g.pid, 3, b"proc/self/fd", READ).expect("it exists");
    assert!(names(g.k.read_dir(g.pid, proc, None, 100)).contains(&b"0".to_vec()));
    assert_eq!(g.k.read_dir(g.pid, 0, None, 9), Err(Errno::Notdir.into()));
}

#[test]
fn paths_by_value_are_checked() {
    let mut g = Guest::plain();
    let long = vec![b'x'; 5000];
    for (path, errno) in [
        (&b"a\0b"[..], Errno::Inval),
        (&long, Errno::Nametoolong),
        (b"", Errno::Noent),
        (b"..", Errno::Success),
        (b"/etc", Errno::Notcapable),
    ] {
        let response = g.k.stat_at(g.pid, 3, path, true).err();
        assert_eq!(response, (errno != Errno::Success).then(|| errno.into()), "{path:?}");
    }
    assert_eq!(g.k.symlink_at(g.pid, b"a\0", HERE, b"l"), Err(Errno::Inval.into()));
    assert_eq!(g.k.stat_at(g.pid, 0, b"x", true), Err(Errno::Notdir.into()));
    assert_eq!(g.k.stat_at(g.pid, 99, b"x", true), Err(Errno::Badf.into()));
}

#[test]
fn readiness_matches_the_result_of_a_read_or_write() {
    let mut g = Guest::new();
    let (reader, writer) = g.pipe();
    assert_eq!(g.k.readable(g.pid, reader), Err(SyscallError::Block(None)));
    let parked = g.park(g.pid);
    assert_eq!(g.k.write(g.pid, writer, b"four"), Ok(4));
    assert_eq!(parked.get(), 1);
    assert_eq!(g.k.readable(g.pid, reader), Ok(4));
    assert!(g.k.writable(g.pid, writer).is_ok_and(|room| room >= 4096));
    let copy = g.k.duplicate(g.pid, reader).expect("capacity is available");
    assert!(copy >= 67, "a copy is no standard stream");
    g.close(reader);
    assert!(g.k.writable(g.pid, writer).is_ok_and(|room| room >= 4096), "the copy still reads");
    assert_eq!(g.k.close(g.pid, copy), Ok(()));
    assert_eq!(g.k.writable(g.pid, writer), Ok(0), "no reader");
    assert_eq!(g.k.readable(g.pid, writer), Ok(0), "the end of the reader is an event");
    let (_reader, writer) = g.pipe();
    assert_eq!(g.k.readable(g.pid, writer), Err(SyscallError::Block(None)), "a write end has no input");
    assert_eq!(g.k.readable(g.pid, 1), Err(SyscallError::Block(None)), "neither has the standard output");
}
