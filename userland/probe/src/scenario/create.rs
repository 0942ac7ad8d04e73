//! Names: creating and removing directories, files, hard links and symbolic links.

use crate::journal::{BOTH, CREAT, FOLLOW, Fd, Journal, NOFOLLOW, READ};

pub(crate) fn directories(journal: &mut Journal, root: &Fd) {
    for path in ["made", "made", "made/below", "file", "file/x", "missing/x", "dir", "link", "dirlink", "dangling"] {
        journal.mkdir(root, path);
    }
    for path in ["loop", "loop/x", "dangling/x", "dirlink/through", "chain", "empty"] {
        journal.mkdir(root, path);
    }
    for path in ["made", "made/below", "made", "made", "dir", "hollow", "file", "link", "dirlink", "dangling"] {
        journal.rmdir(root, path);
    }
    for path in ["loop", "file/x", "missing/x", "dirlink/through", "dir/sub", "dirlink/sub"] {
        journal.rmdir(root, path);
    }
    let here = journal.open(root, ".", READ, "here");
    journal.fd_readdir(&here, 4096);
}

pub(crate) fn unlink(journal: &mut Journal, root: &Fd) {
    for path in ["hollow", "dir", "dirlink/inner", "dirlink", "dirlink", "link", "dangling", "loop", "chain"] {
        journal.unlink(root, path);
    }
    for path in ["file", "file", "file/x", "missing/x", "dir/sub", "dir/sub/deep", "dir/inner", "empty"] {
        journal.unlink(root, path);
    }
    let here = journal.open(root, ".", READ, "here");
    journal.fd_readdir(&here, 4096);
}

pub(crate) fn hard_links(journal: &mut Journal, root: &Fd) {
    for (old, new) in [("file", "a"), ("a", "b"), ("file", "file"), ("file", "a"), ("file", "dir"), ("file", "link")] {
        journal.link(root, old, new);
    }
    for (old, new) in [("dir", "c"), ("missing", "d"), ("link", "e"), ("dangling", "f"), ("loop", "g")] {
        journal.link(root, old, new);
    }
    for (old, new) in [("file", "dangling"), ("file", "missing/x"), ("file", "file/x"), ("file", "dirlink/h")] {
        journal.link(root, old, new);
    }
    journal.link_with(root, "link", FOLLOW, root, "followed");
    journal.unlink(root, "followed");
    for name in ["file", "a", "b", "e", "dir/h"] {
        let stat = journal.stat(root, name, NOFOLLOW);
        let ino = stat.map(|stat| journal.ino(stat.ino()));
        journal.note(format_args!("inode of {name}"), format_args!("{ino:?}"));
    }
    let fd = journal.open(root, "a", BOTH, "fd");
    journal.fd_write(&fd, &[b"through a"]);
    for name in ["file", "a", "b", "dir/h"] {
        journal.fd_filestat_get(&fd);
        journal.unlink(root, name);
    }
    journal.fd_filestat_get(&fd);
    journal.fd_pread(&fd, &[40], 0);
}

pub(crate) fn symlinks(journal: &mut Journal, root: &Fd) {
    for (target, new) in [("file", "a"), ("a", "a"), ("missing", "b"), ("x", "file"), ("x", "dir"), ("x", "dangling")] {
        journal.symlink(target, root, new);
    }
    for (target, new) in [("", "empty-target"), ("x", "missing/x"), ("x", "file/x"), ("inner", "dirlink/c")] {
        journal.symlink(target, root, new);
    }
    for name in ["a", "b", "file", "dir", "link", "dangling", "loop", "missing", "dirlink/c", "chain", "file/x"] {
        journal.readlink(root, name, 64);
        journal.stat(root, name, NOFOLLOW);
        journal.stat(root, name, FOLLOW);
    }
    for room in 0..=5 {
        journal.readlink(root, "link", room);
    }
    journal.symlink("later", root, "early");
    journal.stat(root, "early", FOLLOW);
    let fd = journal.open(root, "early", BOTH.flags(CREAT), "fd");
    journal.fd_write(&fd, &[b"made through a link"]);
    journal.stat(root, "later", NOFOLLOW);
    journal.stat(root, "early", NOFOLLOW);
    for target in ["file/", "dir/", "missing/", "loop/"] {
        journal.symlink(target, root, "slash");
        journal.stat(root, "slash", FOLLOW);
        let fd = journal.open(root, "slash", READ, "fd");
        journal.fd_close(&fd);
        let fd = journal.open(root, "slash", BOTH.flags(CREAT), "fd");
        journal.fd_close(&fd);
        journal.unlink(root, "slash");
    }
    journal.symlink("../file", &journal.open(root, "dir", READ, "dir"), "up");
    journal.stat(root, "dir/up", FOLLOW);
}

/// Chains of links around the depth limit of path resolution.
pub(crate) fn link_chains(journal: &mut Journal, root: &Fd) {
    journal.symlink("file", root, "c1");
    for depth in 2..=45 {
        journal.symlink(format!("c{}", depth - 1), root, format!("c{depth}"));
    }
    for depth in [2, 8, 20, 30, 38, 39, 40, 41, 42, 45] {
        journal.stat(root, format!("c{depth}"), FOLLOW);
        let fd = journal.open(root, format!("c{depth}"), READ, "fd");
        journal.fd_close(&fd);
    }
    journal.symlink("pong", root, "ping");
    journal.symlink("ping", root, "pong");
    journal.stat(root, "ping", FOLLOW);
    journal.stat(root, "ping/x", NOFOLLOW);
    journal.symlink("again/again", root, "again");
    journal.stat(root, "again", FOLLOW);
    let made = journal.open(root, "ping", BOTH.flags(CREAT), "made");
    journal.fd_close(&made);
}
