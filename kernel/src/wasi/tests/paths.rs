//! Opening, creating and removing by path.

use crate::Errno;
use crate::syscall::SyscallOutcome;
use crate::testing::{DATA, Guest, OK, OUT, call, done};
use crate::wasi::{preview1, tidebox};

fn mkdir(g: &mut Guest, path: &[u8]) -> SyscallOutcome {
    let (at, len) = g.put(path);
    call!(g, preview1::path_create_directory(3, at, len))
}

fn symlink(g: &mut Guest, target: &[u8], path: &[u8]) -> SyscallOutcome {
    let ((target, target_len), (at, len)) = (g.put(target), g.put(path));
    call!(g, preview1::path_symlink(target, target_len, 3, at, len))
}

/// File type, size and number of names by preview1's stat.
fn stat(g: &mut Guest, path: &[u8], follow: u32) -> Result<(u8, u64, u64), SyscallOutcome> {
    let (at, len) = g.put(path);
    match call!(g, preview1::path_filestat_get(3, follow, at, len, DATA)) {
        OK => Ok((g.bytes(DATA + 16, 1)[0], g.u64(DATA + 32), g.u64(DATA + 24))),
        other => Err(other),
    }
}

#[test]
fn opening_fails_with_specific_errors() {
    let mut g = Guest::new();
    for (path, how, errno) in [
        (b"workspace/none".as_slice(), "r", Errno::Noent),
        (b"", "r", Errno::Noent),
        (b"none/file", "wc", Errno::Noent),
        (b"etc/motd/x", "r", Errno::Notdir),
        (b"etc/motd", "rd", Errno::Notdir),
        (b"etc/motd", "rcx", Errno::Exist),
        (b"workspace", "w", Errno::Isdir),
        (b"workspace", "rt", Errno::Isdir),
        (b"workspace", "rc", Errno::Isdir),
        (b"workspace/x", "rcd", Errno::Inval),
        (b"etc/motd", "w", Errno::Acces),
        (b"etc/motd", "rt", Errno::Acces),
        (b"etc/new", "wc", Errno::Acces),
        (b"/etc/motd", "r", Errno::Notcapable),
        (b"etc/m\0otd", "r", Errno::Inval),
        (b"proc/new", "wc", Errno::Rofs),
        (b"proc/version", "w", Errno::Acces),
    ] {
        let result = g.open(path, how);
        assert_eq!(result, Err(done(errno)), "{} {how}", String::from_utf8_lossy(path));
    }
    let long = vec![b'x'; 5000];
    assert_eq!(g.open(&long, "r"), Err(done(Errno::Nametoolong)));
    assert_eq!(g.open_at(0, b"etc/motd", "r"), Err(done(Errno::Notdir)));
    assert_eq!(g.open_at(99, b"etc/motd", "r"), Err(done(Errno::Badf)));
    assert_eq!(g.open(b"etc/motd", "r"), Ok(67), "no refused open kept a descriptor");
}

#[test]
fn the_list_right_opens_directories_and_not_files() {
    const LIST: u64 = 1 << 14;
    let mut g = Guest::new();
    let open = |g: &mut Guest, path: &[u8]| {
        let (at, len) = g.put(path);
        assert_eq!(call!(g, preview1::path_open(3, 0, at, len, 0, LIST, 0, 0, OUT)), OK);
        g.out()
    };
    let dir = open(&mut g, b"workspace");
    assert_eq!(call!(&mut g, preview1::fd_readdir(dir, DATA, 64, 0, OUT)), OK);
    let file = open(&mut g, b"etc/motd");
    assert_eq!(call!(&mut g, preview1::fd_pread(file, 0, 0, 0, OUT)), done(Errno::Badf));
}

#[test]
fn creating_with_a_trailing_slash_fails_with_isdir() {
    let mut g = Guest::new();
    for path in [b"etc/motd/".as_slice(), b"workspace/", b"workspace/new/"] {
        for how in ["wc", "wcx", "rc"] {
            assert_eq!(g.open(path, how), Err(done(Errno::Isdir)), "{} {how}", String::from_utf8_lossy(path));
        }
    }
    assert_eq!(g.open(b"none/new/", "wc"), Err(done(Errno::Noent)));
}

#[test]
fn creating_applies_the_umask_and_exclusive_fails_if_it_exists() {
    let mut g = Guest::new();
    let mode = |g: &mut Guest, fd: u32| {
        assert_eq!(call!(g, tidebox::fstat(fd, DATA)), OK);
        g.u32(DATA + 48) & 0o7777
    };
    let fd = g.open(b"workspace/a", "wcx").expect("created");
    assert_eq!(mode(&mut g, fd), 0o644);
    assert_eq!(call!(&mut g, tidebox::umask(0o277, OUT)), OK);
    assert_eq!(g.out(), 0o022);
    let fd = g.open(b"workspace/b", "wc").expect("what is made may be written, whatever its mode");
    assert_eq!(mode(&mut g, fd), 0o400);
    assert_eq!(g.open(b"workspace/b", "w"), Err(done(Errno::Acces)));
    assert_eq!(call!(&mut g, tidebox::umask(u32::MAX, OUT)), OK);
    assert_eq!(g.out(), 0o277, "the check has no effect");
    assert_eq!(call!(&mut g, tidebox::umask(0o1000, OUT)), done(Errno::Inval));
    assert_eq!(call!(&mut g, tidebox::umask(0, u32::MAX)), done(Errno::Fault));
    assert_eq!(call!(&mut g, tidebox::umask(u32::MAX, OUT)), OK);
    assert_eq!(g.out(), 0o277, "a rejected call has no effect");
}

#[test]
fn truncating_empties_the_file() {
    let mut g = Guest::new();
    let fd = g.open(b"workspace/f", "wc").expect("created");
    g.write(fd, b"long").expect("room");
    let again = g.open(b"workspace/f", "wct").expect("it exists");
    g.write(again, b"x").expect("room");
    assert_eq!(stat(&mut g, b"workspace/f", 0), Ok((4, 1, 1)));
}

#[test]
fn a_link_is_followed_only_on_request() {
    let mut g = Guest::new();
    assert_eq!(symlink(&mut g, b"../etc/motd", b"workspace/l"), OK);
    assert_eq!(symlink(&mut g, b"/etc", b"workspace/d"), OK);
    let fd = g.open(b"workspace/l", "r").expect("followed");
    assert_eq!(g.read(fd, 5), Ok(b"hello".to_vec()));
    assert_eq!(g.open(b"workspace/l", "rn"), Err(done(Errno::Loop)));
    assert_eq!(g.open(b"workspace/d", "rdn"), Err(done(Errno::Notdir)));
    assert!(g.open(b"workspace/d/motd", "rn").is_ok(), "only the last one counts");
    assert_eq!(stat(&mut g, b"workspace/l", 1), Ok((4, 6, 1)));
    assert_eq!(stat(&mut g, b"workspace/l", 0), Ok((7, 11, 1)));
    let (at, len) = g.put(b"workspace/l");
    assert_eq!(call!(&mut g, preview1::path_readlink(3, at, len, DATA, 4, OUT)), OK);
    assert_eq!(g.bytes(DATA, g.out()), b"../e", "truncated to the buffer");
    let (at, len) = g.put(b"etc/motd");
    assert_eq!(call!(&mut g, preview1::path_readlink(3, at, len, DATA, 9, OUT)), done(Errno::Inval));
    assert_eq!(symlink(&mut g, b"l2", b"workspace/l1"), OK);
    assert_eq!(symlink(&mut g, b"l1", b"workspace/l2"), OK);
    assert_eq!(g.open(b"workspace/l1", "r"), Err(done(Errno::Loop)));
    assert_eq!(symlink(&mut g, b"", b"workspace/l3"), done(Errno::Noent));
    assert_eq!(symlink(&mut g, b"x", b"workspace/l1"), done(Errno::Exist));
}

#[test]
fn a_dangling_link_is_created_through_unless_exclusive() {
    let mut g = Guest::new();
    assert_eq!(symlink(&mut g, b"target", b"workspace/l"), OK);
    assert_eq!(g.open(b"workspace/l", "wcx"), Err(done(Errno::Exist)));
    assert!(g.open(b"workspace/l", "wc").is_ok());
    assert_eq!(stat(&mut g, b"workspace/target", 0), Ok((4, 0, 1)));
}

#[test]
fn paths_cannot_leave_a_directory_descriptor() {
    let mut g = Guest::new();
    assert_eq!(mkdir(&mut g, b"workspace/in"), OK);
    assert_eq!(symlink(&mut g, b"/etc/motd", b"workspace/in/out"), OK);
    let dir = g.open(b"workspace/in", "rd").expect("it exists");
    for path in [b"../f".as_slice(), b"out", b"/etc/motd", b".."] {
        assert_eq!(g.open_at(dir, path, "r"), Err(done(Errno::Notcapable)));
    }
    assert_eq!(g.open_at(dir, b"../f", "wc"), Err(done(Errno::Notcapable)));
    let (at, len) = g.put(b"../made");
    assert_eq!(call!(&mut g, preview1::path_create_directory(dir, at, len)), done(Errno::Notcapable));
    assert!(g.open_at(dir, b"inside", "wc").is_ok());
    assert_eq!(stat(&mut g, b"workspace/in/inside", 0), Ok((4, 0, 1)));
    assert!(g.open(b"workspace/../etc/motd", "r").is_ok(), "below / there is nothing to leave");
}

#[test]
fn names_are_linked_moved_and_removed() {
    let mut g = Guest::new();
    let fd = g.open(b"workspace/a", "wc").expect("created");
    g.write(fd, b"abc").expect("room");
    let ((a, alen), (b, blen), (c, clen)) = (g.put(b"workspace/a"), g.put(b"workspace/b"), g.put(b"workspace/c"));
    assert_eq!(call!(&mut g, preview1::path_link(3, 0, a, alen, 3, b, blen)), OK);
    assert_eq!(stat(&mut g, b"workspace/b", 0), Ok((4, 3, 2)));
    assert_eq!(call!(&mut g, preview1::path_link(3, 0, a, alen, 3, b, blen)), done(Errno::Exist));
    assert_eq!(call!(&mut g, preview1::path_link(3, 0, c, clen, 3, c, clen)), done(Errno::Noent));
    assert_eq!(call!(&mut g, preview1::path_link(99, 0, a, alen, 3, c, clen)), done(Errno::Badf));
    assert_eq!(call!(&mut g, preview1::path_rename(3, a, alen, 3, c, clen)), OK);
    assert_eq!(stat(&mut g, b"workspace/a", 0), Err(done(Errno::Noent)));
    assert_eq!(call!(&mut g, preview1::path_rename(3, a, alen, 3, c, clen)), done(Errno::Noent));
    assert_eq!(call!(&mut g, preview1::path_rename(3, a, alen, 99, c, clen)), done(Errno::Badf));
    assert_eq!(call!(&mut g, preview1::path_unlink_file(3, b, blen)), OK);
    assert_eq!(stat(&mut g, b"workspace/c", 0), Ok((4, 3, 1)));
    assert_eq!(call!(&mut g, preview1::path_unlink_file(3, b, blen)), done(Errno::Noent));
    let (motd, len) = g.put(b"etc/motd");
    assert_eq!(call!(&mut g, preview1::path_unlink_file(3, motd, len)), done(Errno::Acces));
    assert_eq!(call!(&mut g, preview1::path_remove_directory(3, c, clen)), done(Errno::Notdir));
}

#[test]
fn directories_are_created_and_removed() {
    let mut g = Guest::new();
    assert_eq!(mkdir(&mut g, b"workspace/d/"), OK);
    assert_eq!(mkdir(&mut g, b"workspace/d"), done(Errno::Exist));
    assert_eq!(mkdir(&mut g, b"workspace/d/e"), OK);
    assert_eq!(mkdir(&mut g, b"proc/d"), done(Errno::Rofs));
    let ((d, dlen), (e, elen)) = (g.put(b"workspace/d"), g.put(b"workspace/d/e"));
    assert_eq!(call!(&mut g, preview1::path_remove_directory(3, d, dlen)), done(Errno::Notempty));
    assert_eq!(call!(&mut g, preview1::path_unlink_file(3, e, elen)), done(Errno::Isdir));
    assert_eq!(call!(&mut g, preview1::path_remove_directory(3, e, elen)), OK);
    assert_eq!(call!(&mut g, preview1::path_remove_directory(3, d, dlen)), OK);
    assert_eq!(stat(&mut g, b"workspace/d", 0), Err(done(Errno::Noent)));
}

#[test]
fn times_can_be_set_by_path() {
    let mut g = Guest::new();
    g.open(b"workspace/f", "wc").expect("created");
    let (at, len) = g.put(b"workspace/f");
    assert_eq!(call!(&mut g, preview1::path_filestat_set_times(3, 1, at, len, 5, 7, 1 | 4)), OK);
    assert_eq!(call!(&mut g, preview1::path_filestat_get(3, 1, at, len, DATA)), OK);
    assert_eq!((g.u64(DATA + 40), g.u64(DATA + 48)), (5, 7));
    assert_eq!(call!(&mut g, preview1::path_filestat_set_times(3, 1, at, len, 5, 7, 3)), done(Errno::Inval));
    let (at, len) = g.put(b"etc/motd");
    assert_eq!(call!(&mut g, preview1::path_filestat_set_times(3, 1, at, len, 5, 7, 1 | 4)), done(Errno::Perm));
    let (at, len) = g.put(b"proc/version");
    assert_eq!(call!(&mut g, preview1::path_filestat_set_times(3, 1, at, len, 5, 7, 1 | 4)), done(Errno::Perm));
    assert_eq!(call!(&mut g, preview1::path_filestat_get(3, 1, at, len, u32::MAX)), done(Errno::Fault));
}

#[test]
fn the_working_directory_can_be_changed_and_read() {
    let mut g = Guest::new();
    let cwd = |g: &mut Guest| {
        assert_eq!(call!(g, tidebox::getcwd(DATA, 100, OUT)), OK);
        String::from_utf8(g.bytes(DATA, g.out())).expect("ASCII")
    };
    assert_eq!(cwd(&mut g), "/workspace");
    assert_eq!(call!(&mut g, tidebox::getcwd(DATA, 3, OUT)), done(Errno::Range));
    assert_eq!(g.out(), 10, "the length is reported");
    for (path, expected) in [(b"..".as_slice(), "/"), (b"tmp/./", "/tmp"), (b"/proc/self/fd/..", "/proc/2")] {
        let (at, len) = g.put(path);
        assert_eq!(call!(&mut g, tidebox::chdir(at, len)), OK);
        assert_eq!(cwd(&mut g), expected);
    }
    for (path, errno) in [
        (b"/none".as_slice(), Errno::Noent),
        (b"/etc/motd", Errno::Notdir),
        (b"/proc/version", Errno::Notdir),
        (b"", Errno::Noent),
        (b"/\0", Errno::Inval),
    ] {
        let (at, len) = g.put(path);
        assert_eq!(call!(&mut g, tidebox::chdir(at, len)), done(errno));
    }
    assert_eq!(call!(&mut g, tidebox::chdir(u32::MAX, 10)), done(Errno::Fault));
    assert_eq!(call!(&mut g, tidebox::chdir(0, u32::MAX)), done(Errno::Nametoolong));
}

#[test]
fn a_removed_working_directory_has_no_path() {
    let mut g = Guest::new();
    assert_eq!(mkdir(&mut g, b"workspace/d"), OK);
    let (at, len) = g.put(b"/workspace/d");
    assert_eq!(call!(&mut g, tidebox::chdir(at, len)), OK);
    let (d, dlen) = g.put(b"workspace/d");
    assert_eq!(call!(&mut g, preview1::path_remove_directory(3, d, dlen)), OK);
    assert_eq!(call!(&mut g, tidebox::getcwd(DATA, 100, OUT)), done(Errno::Noent));
    let (up, uplen) = g.put(b"..");
    assert_eq!(call!(&mut g, tidebox::chdir(at, len)), done(Errno::Noent));
    let _ = call!(&mut g, tidebox::chdir(up, uplen));
    let (root, len) = g.put(b"/");
    assert_eq!(call!(&mut g, tidebox::chdir(root, len)), OK, ".. always resolves");
}

#[test]
fn tidebox_v1_paths_start_at_the_working_directory() {
    let mut g = Guest::new();
    g.open(b"workspace/f", "wc").expect("created");
    let (at, len) = g.put(b"f");
    assert_eq!(call!(&mut g, tidebox::chmod(at, len, 0o4750)), OK);
    assert_eq!(call!(&mut g, tidebox::stat(at, len, 1, DATA)), OK);
    assert_eq!(g.u32(DATA + 48), 0o104_750);
    assert_eq!(call!(&mut g, tidebox::access(at, len, 7)), OK);
    assert_eq!(call!(&mut g, tidebox::access(at, len, 8)), done(Errno::Inval));
    for (path, mode, errno) in [
        (b"/etc/motd".as_slice(), 4, Errno::Success),
        (b"/etc/motd", 2, Errno::Acces),
        (b"/etc/motd", 1, Errno::Acces),
        (b"/etc/none", 0, Errno::Noent),
        (b"/proc/version", 4, Errno::Success),
        (b"/proc/version", 2, Errno::Acces),
        (b"/dev/stdout", 2, Errno::Success),
    ] {
        let (at, len) = g.put(path);
        assert_eq!(call!(&mut g, tidebox::access(at, len, mode)), done(errno), "{}", String::from_utf8_lossy(path));
    }
    let fd = g.open(b"workspace/f", "r").expect("it exists");
    let shown = crate::fd::to_unix(fd).expect("it has a Unix number");
    let (shown, shown_len) = g.put(format!("/proc/self/fd/{shown}").as_bytes());
    assert_eq!(call!(&mut g, tidebox::chmod(shown, shown_len, 0o640)), OK, "as fchmod");
    let (at, len) = g.put(b"f");
    assert_eq!(call!(&mut g, tidebox::stat(at, len, 1, DATA)), OK);
    assert_eq!(g.u32(DATA + 48), 0o100_640);
    for (path, errno) in
        [(b"/etc/motd".as_slice(), Errno::Perm), (b"/proc/version", Errno::Perm), (b"/proc/self/fd/99", Errno::Noent)]
    {
        let (at, len) = g.put(path);
        assert_eq!(call!(&mut g, tidebox::chmod(at, len, 0o777)), done(errno));
    }
    assert_eq!(symlink(&mut g, b"f", b"workspace/l"), OK);
    let (at, len) = g.put(b"l");
    assert_eq!(call!(&mut g, tidebox::stat(at, len, 0, DATA)), OK);
    assert_eq!(g.u32(DATA + 48) & 0o170_000, 0o120_000);
    assert_eq!(call!(&mut g, tidebox::stat(at, len, 0, u32::MAX)), done(Errno::Fault));
}

#[test]
fn limits_are_reported() {
    let mut g = Guest::new();
    assert_eq!(call!(&mut g, tidebox::limits(DATA)), OK);
    assert_eq!((g.u64(DATA), g.u64(DATA + 8)), (512 << 20, 512 << 20));
    assert_eq!([g.u32(DATA + 16), g.u32(DATA + 20), g.u32(DATA + 24), g.u32(DATA + 28)], [1024, 256, 1000, 0]);
    assert_eq!(call!(&mut g, tidebox::limits(u32::MAX - 20)), done(Errno::Fault));
}
