//! `fd_readdir`: whole listings, pages, and concurrent changes.

use crate::journal::{BOTH, CREAT, DIRECTORY, Fd, Journal, READ};
use crate::{sys, text};

pub(crate) fn readdir(journal: &mut Journal, root: &Fd) {
    for path in [".", "dir", "dir/sub", "hollow", "dirlink"] {
        let fd = journal.open(root, path, READ.flags(DIRECTORY), path);
        let entries = journal.fd_readdir(&fd, 4096);
        for entry in entries.iter().filter(|entry| entry.name != b"..") {
            let stat = sys::path_filestat_get(fd.number, 0, &entry.name);
            let same = stat.0 == 0 && stat.1.u64(8) == entry.ino;
            journal.note(format_args!("{} and stat agree on the inode", entry.name.escape_ascii()), same);
        }
        let again: Vec<u64> = journal.page(&fd, 4096, 0).2.iter().map(|entry| entry.ino).collect();
        journal.note("the same again", again.len() == entries.len());
    }
    // Includes the descriptor assigned by the host.
    journal.fd_readdir(root, 4096);
    journal.fd_readdir(root, 0);
}

/// Creates a directory whose names are all three bytes long, so that pages have the same sizes in every order.
fn even(journal: &Journal, root: &Fd, count: usize) -> Fd {
    journal.mkdir(root, "even");
    let fd = journal.open(root, "even", READ.flags(DIRECTORY), "even");
    for number in 0..count {
        let name = format!("{number:03}");
        let made = sys::path_open(fd.number, name.as_bytes(), BOTH.flags(CREAT));
        sys::fd_close(made.1);
    }
    fd
}

/// Pages of many sizes: bytes used of each, and that together they hold every entry once.
pub(crate) fn pages(journal: &mut Journal, root: &Fd) {
    let fd = even(journal, root, 12);
    for room in [27, 28, 53, 54, 55, 64, 81, 100, 128, 256, 4096] {
        let (mut cookie, mut names, mut used_bytes) = (0, Vec::new(), Vec::new());
        loop {
            let (errno, used, page) = journal.page(&fd, room, cookie);
            used_bytes.push(used);
            let Some(last) = page.last() else {
                journal.note("last page", text::errno(errno));
                break;
            };
            cookie = last.next;
            names.extend(page.into_iter().map(|entry| entry.name));
        }
        names.sort();
        let count = names.len();
        names.dedup();
        journal.note(format_args!("pages of {room}"), format_args!("{count} {} {used_bytes:?}", names.len()));
    }
}

/// A buffer that ends within an entry is filled to its last byte; a buffer that is not full was the last.
pub(crate) fn cut_entries(journal: &mut Journal, root: &Fd) {
    let fd = even(journal, root, 3);
    for room in 0..=140 {
        let (errno, used, page) = journal.page(&fd, room, 0);
        journal.note(format_args!("room {room}"), format_args!("{} {used} {}", text::errno(errno), page.len()));
    }
    let (_, _, all) = journal.page(&fd, 4096, 0);
    for entry in &all {
        let (errno, used, rest) = journal.page(&fd, 4096, entry.next);
        journal.note("from a cookie", format_args!("{} {used} {}", text::errno(errno), rest.len()));
    }
}

/// An entry that is kept is listed once, regardless of other changes.
pub(crate) fn after_changes(journal: &mut Journal, root: &Fd) {
    let fd = even(journal, root, 6);
    journal.fd_readdir(&fd, 4096);
    journal.unlink(&fd, "003");
    journal.rename(&fd, "001", "999");
    journal.symlink("000", &fd, "lnk");
    journal.mkdir(&fd, "sub");
    journal.fd_readdir(&fd, 4096);
    journal.fd_readdir(&fd, 60);
    let (_, _, page) = journal.page(&fd, 4096, 0);
    let end = page.last().map_or(0, |entry| entry.next);
    let (errno, used, _) = journal.page(&fd, 4096, end);
    journal.note("after the last cookie", format_args!("{} {used}", text::errno(errno)));
}

pub(crate) fn many(journal: &mut Journal, root: &Fd) {
    let fd = even(journal, root, 400);
    journal.fd_readdir(&fd, 1000);
    journal.fd_readdir(&fd, 100_000);
    for number in (0..400).step_by(3) {
        sys::path_unlink_file(fd.number, format!("{number:03}").as_bytes());
    }
    journal.fd_readdir(&fd, 1000);
}

/// Calls on a directory that is removed but open.
pub(crate) fn removed(journal: &mut Journal, root: &Fd) {
    let fd = journal.open(root, "hollow", READ.flags(DIRECTORY), "gone");
    journal.rmdir(root, "hollow");
    journal.stat(root, "hollow", 0);
    journal.fd_fdstat_get(&fd);
    journal.mkdir(&fd, "x");
    let made = journal.open(&fd, "x", BOTH.flags(CREAT), "made");
    journal.fd_close(&made);
    journal.symlink("x", &fd, "y");
    journal.link_with(root, "file", 0, &fd, "linked");
    journal.rename_to(root, "file", &fd, "moved");
    journal.stat(&fd, "x", 0);
    journal.stat(&fd, ".", 0);
    journal.stat(&fd, "..", 0);
    journal.unlink(&fd, "x");
    let again = journal.open(&fd, ".", READ.flags(DIRECTORY), "again");
    journal.fd_close(&again);
    journal.mkdir(root, "hollow");
    journal.mkdir(&fd, "x");
    journal.page_line(&fd);
    journal.fd_close(&fd);
}
