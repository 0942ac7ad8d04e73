//! Plain guests: their C library passes every path, without its leading slash, to descriptor 4.

use crate::Errno;
use crate::testing::{DATA, Guest, OK, OUT, call, done};
use crate::wasi::preview1;

fn exists(g: &mut Guest, path: &[u8]) -> bool {
    let (at, len) = g.put(path);
    call!(g, preview1::path_filestat_get(3, 0, at, len, DATA)) == OK
}

#[test]
fn the_second_preopened_directory_is_named_dot() {
    let mut g = Guest::plain();
    assert_eq!(call!(&mut g, preview1::fd_prestat_get(4, OUT)), OK);
    assert_eq!(g.u32(OUT + 4), 1);
    assert_eq!(call!(&mut g, preview1::fd_prestat_dir_name(4, DATA, 8)), OK);
    assert_eq!(g.bytes(DATA, 1), b".");
    assert_eq!(call!(&mut g, preview1::fd_prestat_get(5, OUT)), done(Errno::Badf));
}

#[test]
fn a_tidebox_guest_loses_the_working_directory_descriptor() {
    let mut g = Guest::plain();
    g.k.set_tidebox_guest(g.pid, true);
    assert_eq!(call!(&mut g, preview1::fd_prestat_get(4, OUT)), done(Errno::Badf));
    assert_eq!(call!(&mut g, preview1::fd_prestat_get(3, OUT)), OK);
}

#[test]
fn paths_resolve_in_the_working_directory_before_the_root() {
    let mut g = Guest::plain();
    assert!(g.open_at(4, b"etc/motd", "r").is_ok(), "an absolute path");
    assert_eq!(g.open_at(4, b"motd", "r"), Err(done(Errno::Noent)));
    let (at, len) = g.put(b"workspace/etc");
    assert_eq!(call!(&mut g, preview1::path_create_directory(3, at, len)), OK);
    let own = g.open(b"workspace/etc/motd", "wc").expect("created");
    g.write(own, b"mine").expect("room");
    let fd = g.open_at(4, b"etc/motd", "r").expect("it exists");
    assert_eq!(g.read(fd, 9), Ok(b"mine".to_vec()));
}

#[test]
fn new_files_go_to_the_cwd_unless_only_root_has_the_parent() {
    let mut g = Guest::plain();
    assert!(g.open_at(4, b"new", "wc").is_ok());
    assert!(exists(&mut g, b"workspace/new"));
    assert!(g.open_at(4, b"tmp/new", "wc").is_ok());
    assert!(exists(&mut g, b"tmp/new"));
    assert!(g.open_at(4, b"workspace/other", "wc").is_ok());
    assert!(exists(&mut g, b"workspace/other"));
    let (at, len) = g.put(b"tmp");
    assert_eq!(call!(&mut g, preview1::path_create_directory(4, at, len)), done(Errno::Exist), "it means /tmp");
    let (at, len) = g.put(b"sub");
    assert_eq!(call!(&mut g, preview1::path_create_directory(4, at, len)), OK);
    assert!(exists(&mut g, b"workspace/sub"));
    assert!(g.open_at(4, b"sub/new", "wc").is_ok());
    assert!(exists(&mut g, b"workspace/sub/new"));
    assert_eq!(g.open_at(4, b"none/new", "wc"), Err(done(Errno::Noent)));
}

#[test]
fn dot_dot_paths_resolve_as_in_unix() {
    let mut g = Guest::plain();
    assert!(g.open_at(4, b"../etc/motd", "r").is_ok());
    assert!(g.open_at(4, b".", "rd").is_ok());
}

#[test]
fn renaming_and_removing_search_cwd_and_root() {
    let mut g = Guest::plain();
    g.open_at(4, b"tmp/a", "wc").expect("created");
    let ((a, alen), (b, blen)) = (g.put(b"tmp/a"), g.put(b"b"));
    assert_eq!(call!(&mut g, preview1::path_rename(4, a, alen, 4, b, blen)), OK);
    assert!(exists(&mut g, b"workspace/b"));
    assert_eq!(call!(&mut g, preview1::path_unlink_file(4, b, blen)), OK);
    assert!(!exists(&mut g, b"workspace/b"));
}
