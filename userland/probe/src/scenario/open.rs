//! `path_open`: every combination of flags on every file type.

use crate::journal::{APPEND, BOTH, CREAT, DIRECTORY, EXCL, Fd, Journal, NONBLOCK, READ, SYNC, TRUNC, WRITE};
use crate::sys::Open;

/// Opens `path(n)` with every mode, set of `oflags` and link handling, and records the result.
fn combinations(journal: &Journal, root: &Fd, path: impl Fn(u32) -> String, keep: impl Fn(Open) -> bool) {
    let mut number = 0;
    for oflags in 0..16 {
        for mode in [READ, WRITE, BOTH] {
            for how in [mode.flags(oflags), mode.flags(oflags).nofollow()] {
                if !keep(how) {
                    continue;
                }
                number += 1;
                let path = path(number);
                let fd = journal.open(root, &path, how, "it");
                journal.fd_fdstat_get(&fd);
                journal.fd_filestat_get(&fd);
                journal.fd_read(&fd, &[4]);
                journal.fd_close(&fd);
            }
        }
    }
}

pub(crate) fn file(journal: &mut Journal, root: &Fd) {
    // Truncation comes last, so that the others have content to read.
    combinations(journal, root, |_| "file".to_owned(), |how| how.oflags & TRUNC == 0);
    combinations(journal, root, |_| "file".to_owned(), |how| how.oflags & TRUNC != 0);
    journal.stat(root, "file", 1);
}

pub(crate) fn missing(journal: &mut Journal, root: &Fd) {
    combinations(journal, root, |number| format!("new{number}"), |_| true);
    let all = journal.open(root, ".", READ.flags(DIRECTORY), "all");
    journal.fd_readdir(&all, 4096);
}

pub(crate) fn dir(journal: &mut Journal, root: &Fd) {
    combinations(journal, root, |_| "dir".to_owned(), |_| true);
}

pub(crate) fn link(journal: &mut Journal, root: &Fd) {
    combinations(journal, root, |_| "link".to_owned(), |how| how.oflags & TRUNC == 0);
    combinations(journal, root, |_| "chain".to_owned(), |how| how.oflags & TRUNC != 0);
    journal.stat(root, "link", 0);
}

pub(crate) fn dirlink(journal: &mut Journal, root: &Fd) {
    combinations(journal, root, |_| "dirlink".to_owned(), |_| true);
}

pub(crate) fn dangling(journal: &mut Journal, root: &Fd) {
    combinations(journal, root, |_| "dangling".to_owned(), |how| how.oflags & CREAT == 0);
    // A separate link each, because the first open through it creates its target.
    for number in 1..=64 {
        journal.symlink(format!("made{number}"), root, format!("to{number}"));
    }
    combinations(journal, root, |number| format!("to{number}"), |how| how.oflags & CREAT != 0);
}

pub(crate) fn looping(journal: &mut Journal, root: &Fd) {
    combinations(journal, root, |_| "loop".to_owned(), |_| true);
}

/// Every set of descriptor flags for files.
pub(crate) fn fdflags(journal: &mut Journal, root: &Fd) {
    for fdflags in 0..=(APPEND | NONBLOCK | SYNC | 2 | 8) {
        for (mode, name) in [(READ, "file"), (BOTH, "file"), (READ, "dir")] {
            let fd = journal.open(root, name, mode.fd(fdflags), "it");
            journal.fd_fdstat_get(&fd);
            journal.fd_close(&fd);
        }
    }
}

/// Some guests request no rights at all and only `stat` the opened file.
pub(crate) fn without_rights(journal: &mut Journal, root: &Fd) {
    let neither = Open { rights: 0, ..READ };
    for name in ["file", "dir", "missing", "dangling"] {
        for oflags in [0, CREAT, CREAT | EXCL, TRUNC, DIRECTORY] {
            let path = if oflags & CREAT != 0 { format!("{name}{oflags}") } else { name.to_owned() };
            let fd = journal.open(root, path, neither.flags(oflags), "it");
            journal.fd_filestat_get(&fd);
            journal.fd_read(&fd, &[1]);
            journal.fd_write(&fd, &[b"x"]);
            journal.fd_close(&fd);
        }
    }
}

/// A path is resolved from the directory of the descriptor.
pub(crate) fn from_other_directories(journal: &mut Journal, root: &Fd) {
    let dir = journal.open(root, "dir", READ.flags(DIRECTORY), "dir");
    let sub = journal.open(&dir, "sub", READ.flags(DIRECTORY), "sub");
    let through = journal.open(root, "dirlink", READ.flags(DIRECTORY), "through");
    for (at, path) in [(&dir, "inner"), (&dir, "sub/deep"), (&sub, "deep"), (&through, "inner"), (&sub, "inner")] {
        let fd = journal.open(at, path, READ, "it");
        journal.fd_read(&fd, &[16]);
        journal.fd_close(&fd);
    }
    let made = journal.open(&sub, "made", BOTH.flags(CREAT | EXCL), "made");
    journal.fd_write(&made, &[b"made below sub"]);
    journal.stat(root, "dir/sub/made", 1);
    journal.rename(root, "dir", "moved");
    journal.stat(&sub, "made", 1);
    journal.stat(root, "moved/sub/made", 1);
    journal.mkdir(&sub, "after");
    journal.stat(root, "moved/sub/after", 1);
}
