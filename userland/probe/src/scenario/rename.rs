//! `path_rename`: allowed and rejected replacements.

use crate::journal::{BOTH, CREAT, DIRECTORY, FOLLOW, Fd, Journal, NOFOLLOW, READ};

fn show(journal: &Journal, root: &Fd) {
    let here = journal.open(root, ".", READ.flags(DIRECTORY), "here");
    journal.fd_readdir(&here, 4096);
    journal.fd_close(&here);
}

pub(crate) fn files(journal: &mut Journal, root: &Fd) {
    let kept = journal.open(root, "empty", BOTH, "kept");
    let cases = [
        ("missing", "a"),
        ("missing", "file"),
        ("file", "a"),
        ("a", "a"),
        ("a", "empty"),
        ("empty", "dir"),
        ("empty", "hollow"),
        ("empty", "missing/x"),
        ("empty", "big/x"),
        ("empty", "dir/inner"),
        ("dir/inner", "dirlink/sub"),
        ("dir/inner", "dirlink/deeper"),
        ("dir/deeper", "dangling/x"),
        ("dir/deeper", "loop/x"),
        ("dir/deeper/x", "b"),
        ("dir/deeper", ""),
        ("", "b"),
    ];
    for (old, new) in cases {
        journal.rename(root, old, new);
        show(journal, root);
    }
    journal.fd_filestat_get(&kept);
    journal.stat(root, "dir/deeper", FOLLOW);
}

pub(crate) fn directories(journal: &mut Journal, root: &Fd) {
    let cases = [
        ("dir", "moved"),
        ("moved", "moved"),
        ("moved", "hollow"),
        ("file", "hollow"),
        ("hollow", "file"),
        ("hollow", "link"),
        ("hollow", "dirlink"),
        ("hollow/sub", "top"),
        ("hollow", "top"),
        ("top", "hollow"),
        ("top", "hollow/again"),
        ("hollow/again/deep", "hollow"),
        ("hollow", "missing/x"),
        ("hollow", "file/x"),
    ];
    for (old, new) in cases {
        journal.rename(root, old, new);
        show(journal, root);
    }
    journal.stat(root, "hollow/again/deep", FOLLOW);
}

pub(crate) fn into_itself(journal: &mut Journal, root: &Fd) {
    let cases = [
        ("dir", "dir"),
        ("dir", "dir/x"),
        ("dir", "dir/sub"),
        ("dir", "dir/sub/x"),
        ("dir", "dirlink/x"),
        ("dir/sub", "dir"),
        ("dir/sub", "dir/sub"),
        ("dir/inner", "dir"),
        ("dir/.", "x"),
        ("dir/..", "x"),
        (".", "x"),
        ("..", "x"),
        ("hollow", "."),
        ("hollow", ".."),
        ("hollow", "dir/."),
        ("hollow", "dir/.."),
    ];
    for (old, new) in cases {
        journal.rename(root, old, new);
    }
    show(journal, root);
    journal.stat(root, "dir/sub/deep", FOLLOW);
}

pub(crate) fn links(journal: &mut Journal, root: &Fd) {
    let cases = [
        ("link", "renamed"),
        ("renamed", "file"),
        ("dangling", "file"),
        ("dirlink", "hollow"),
        ("dirlink", "dir"),
        ("dir", "dirlink"),
        ("empty", "dirlink"),
        ("loop", "dangling"),
        ("loop", "chain"),
        ("chain", "chain"),
        ("big", "chain"),
    ];
    for (old, new) in cases {
        journal.rename(root, old, new);
        show(journal, root);
    }
    journal.readlink(root, "file", 64);
    journal.stat(root, "chain", NOFOLLOW);
}

/// Two hard links to one file: renaming one over the other changes nothing.
pub(crate) fn hard_links(journal: &mut Journal, root: &Fd) {
    journal.link(root, "file", "second");
    journal.link(root, "file", "dir/third");
    journal.rename(root, "second", "file");
    show(journal, root);
    journal.rename(root, "file", "dir/third");
    journal.stat(root, "file", FOLLOW);
    journal.rename(root, "empty", "second");
    journal.stat(root, "file", FOLLOW);
    journal.stat(root, "second", FOLLOW);
    journal.unlink(root, "dir/third");
    journal.stat(root, "file", FOLLOW);
}

pub(crate) fn between_directories(journal: &mut Journal, root: &Fd) {
    let dir = journal.open(root, "dir", READ.flags(DIRECTORY), "dir");
    let hollow = journal.open(root, "hollow", READ.flags(DIRECTORY), "hollow");
    let file = journal.open(root, "dir/inner", BOTH, "file");
    journal.rename_to(&dir, "inner", &hollow, "taken");
    journal.fd_write(&file, &[b"moved"]);
    journal.fd_readdir(&hollow, 4096);
    journal.fd_readdir(&dir, 4096);
    journal.rename_to(&hollow, "taken", &dir, "sub");
    journal.rename_to(&dir, "sub", &hollow, "taken");
    journal.rename_to(&dir, "sub", &hollow, "sub");
    journal.fd_readdir(&hollow, 4096);
    journal.rename_to(&hollow, "sub", root, "hollow");
    journal.rename_to(root, "hollow", &hollow, "sub/x");
    journal.rename_to(&dir, ".", root, "x");
    journal.link_with(&hollow, "taken", NOFOLLOW, &dir, "linked");
    journal.stat(&dir, "linked", FOLLOW);
    let made = journal.open(&hollow, "sub/new", BOTH.flags(CREAT), "made");
    journal.fd_close(&made);
    journal.fd_readdir(&dir, 4096);
    show(journal, root);
}
