//! Listing directories.

use crate::Errno;
use crate::testing::{DATA, Guest, OK, OUT, call, done};
use crate::wasi::preview1;

#[derive(Debug, PartialEq)]
struct Entry {
    next: u64,
    ino: u64,
    filetype: u8,
    name: String,
}

/// Returns the complete entries of one call, and whether it filled the buffer.
fn page(g: &mut Guest, fd: u32, len: u32, cookie: u64) -> (Vec<Entry>, bool) {
    assert_eq!(call!(g, preview1::fd_readdir(fd, DATA, len, cookie, OUT)), OK);
    let used = g.out();
    let (mut at, mut entries) = (0, Vec::new());
    while used - at >= 24 {
        let name_len = g.u32(DATA + at + 16);
        if used - at < 24 + name_len {
            break;
        }
        entries.push(Entry {
            next: g.u64(DATA + at),
            ino: g.u64(DATA + at + 8),
            filetype: g.bytes(DATA + at + 20, 1)[0],
            name: String::from_utf8(g.bytes(DATA + at + 24, name_len)).expect("ASCII"),
        });
        at += 24 + name_len;
    }
    (entries, used == len)
}

/// Lists as C libraries do: continues after the last complete entry, until a call does not fill the buffer.
fn list(g: &mut Guest, fd: u32, len: u32, mut between: impl FnMut(&mut Guest, &[Entry])) -> Vec<String> {
    let (mut cookie, mut names) = (0, Vec::new());
    loop {
        let (entries, full) = page(g, fd, len, cookie);
        between(g, &entries);
        cookie = entries.last().map_or(cookie, |entry| entry.next);
        names.extend(entries.into_iter().map(|entry| entry.name));
        if !full {
            return names;
        }
    }
}

fn fill(g: &mut Guest, count: usize) -> u32 {
    for n in 0..count {
        let fd = g.open(format!("workspace/file{n:03}").as_bytes(), "wc").expect("created");
        g.close(fd);
    }
    g.open(b"workspace", "rd").expect("it exists")
}

#[test]
fn a_listing_has_every_name_once_for_any_buffer_size() {
    let mut g = Guest::new();
    let fd = fill(&mut g, 50);
    let all = list(&mut g, fd, 8192, |_, _| {});
    assert_eq!(all.len(), 52);
    assert_eq!(all[..3], [".", "..", "file000"]);
    for len in [32, 40, 64, 100, 500] {
        assert_eq!(list(&mut g, fd, len, |_, _| {}), all, "{len}");
    }
}

#[test]
fn entries_have_inode_number_and_kind() {
    let mut g = Guest::new();
    let fd = g.open(b"dev", "rd").expect("it exists");
    let (entries, _) = page(&mut g, fd, 4096, 0);
    let kind = |name: &str| entries.iter().find(|e| e.name == name).map(|e| e.filetype);
    assert_eq!((kind("."), kind("null"), kind("fd"), kind("none")), (Some(3), Some(2), Some(7), None));
    let (at, len) = g.put(b"dev/null");
    assert_eq!(call!(&mut g, preview1::path_filestat_get(3, 0, at, len, OUT)), OK);
    let ino = g.u64(OUT + 8);
    assert!(entries.iter().any(|e| e.name == "null" && e.ino == ino));
}

#[test]
fn removing_listed_entries_skips_nothing() {
    let mut g = Guest::new();
    let fd = fill(&mut g, 40);
    let names = list(&mut g, fd, 100, |g, entries| {
        for entry in entries.iter().filter(|entry| entry.name.starts_with("file")) {
            let (at, len) = g.put(format!("workspace/{}", entry.name).as_bytes());
            assert_eq!(call!(g, preview1::path_unlink_file(3, at, len)), OK);
        }
    });
    assert_eq!(names.len(), 42);
    assert_eq!(list(&mut g, fd, 4096, |_, _| {}), [".", ".."]);
}

#[test]
fn adding_entries_during_a_listing_repeats_nothing() {
    let mut g = Guest::new();
    let fd = fill(&mut g, 20);
    let mut added = 0;
    let mut names = list(&mut g, fd, 100, |g, _| {
        added += 1;
        for name in [format!("workspace/a{added:03}"), format!("workspace/z{added:03}")] {
            if added < 5 {
                g.open(name.as_bytes(), "wc").expect("created");
            }
        }
    });
    let listed = names.len();
    names.dedup();
    assert_eq!(names.len(), listed);
    assert_eq!(names.iter().filter(|name| name.starts_with("file")).count(), 20);
}

#[test]
fn an_old_cookie_continues_by_position() {
    let mut g = Guest::new();
    let fd = fill(&mut g, 10);
    let (all, _) = page(&mut g, fd, 4096, 0);
    for n in [5, 1, 9, 2, 0] {
        let (rest, _) = page(&mut g, fd, 4096, all[n].next);
        assert_eq!(rest, page(&mut g, fd, 4096, 0).0[n + 1..], "{n}");
    }
    for beyond in [12, 13, 1 << 40, u64::MAX] {
        assert_eq!(page(&mut g, fd, 4096, beyond), (Vec::new(), false), "{beyond}");
    }
}

#[test]
fn listing_proc_shows_processes_and_their_descriptors() {
    let mut g = Guest::new();
    let fd = g.open(b"proc", "rd").expect("it exists");
    let names = list(&mut g, fd, 64, |_, _| {});
    for name in [".", "..", "2", "self", "meminfo", "version"] {
        assert_eq!(names.iter().filter(|n| *n == name).count(), 1, "{name}");
    }
    let fd = g.open(b"proc/self/fd", "rd").expect("it exists");
    assert_eq!(list(&mut g, fd, 4096, |_, _| {}), [".", "..", "0", "1", "2", "3", "4"]);
    let inner = g.open_at(fd, b"0", "r");
    assert!(inner.is_ok(), "{inner:?}");
}

#[test]
fn listing_a_non_directory_fails() {
    let mut g = Guest::new();
    let fd = g.open(b"etc/motd", "r").expect("it exists");
    assert_eq!(call!(&mut g, preview1::fd_readdir(fd, DATA, 100, 0, OUT)), done(Errno::Notdir));
    assert_eq!(call!(&mut g, preview1::fd_readdir(99, DATA, 100, 0, OUT)), done(Errno::Badf));
    let dir = g.open(b"etc", "rd").expect("it exists");
    assert_eq!(call!(&mut g, preview1::fd_readdir(dir, u32::MAX - 8, 100, 0, OUT)), done(Errno::Fault));
    assert_eq!(call!(&mut g, preview1::fd_readdir(dir, DATA, 100, 0, u32::MAX)), done(Errno::Fault));
    assert_eq!(page(&mut g, dir, 0, 0), (Vec::new(), true));
}
