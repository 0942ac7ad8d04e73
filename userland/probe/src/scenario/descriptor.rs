//! Descriptors: wrong type, invalid number, and renumbering.

use crate::journal::{APPEND, BOTH, CREAT, DIRECTORY, DSYNC, FOLLOW, Fd, Journal, NONBLOCK, READ, RSYNC, SYNC, WRITE};
use crate::sys::{self, Record};

pub(crate) fn preopens(journal: &mut Journal, root: &Fd) {
    for number in 0..6 {
        let fd = Fd::new(number, format!("fd{number}"));
        let len = journal.fd_prestat_get(&fd);
        for room in [0, len.saturating_sub(1), len, len + 1] {
            journal.fd_prestat_dir_name(&fd, room);
        }
    }
    let opened = journal.open(root, "dir", READ, "opened");
    journal.fd_prestat_get(&opened);
    journal.fd_prestat_dir_name(&opened, 8);
    journal.fd_fdstat_get(root);
    journal.fd_filestat_get(root);
}

fn every_descriptor_call(journal: &Journal, fd: &Fd) {
    journal.fd_advise(fd, 0, 1, 0);
    journal.fd_allocate(fd, 0, 1);
    journal.fd_datasync(fd);
    journal.fd_sync(fd);
    journal.fd_fdstat_get(fd);
    journal.fd_fdstat_set_flags(fd, APPEND);
    journal.fd_fdstat_set_flags(fd, 0);
    journal.fd_fdstat_set_rights(fd, 0, 0);
    journal.fd_filestat_get(fd);
    journal.fd_filestat_set_size(fd, 3);
    journal.fd_pread(fd, &[4], 0);
    journal.fd_pwrite(fd, &[b"pw"], 0);
    journal.fd_read(fd, &[4]);
    journal.fd_write(fd, &[b"w\n"]);
    journal.fd_seek(fd, 0, 0);
    journal.fd_seek(fd, 0, 1);
    journal.fd_tell(fd);
    journal.fd_filestat_set_times(fd, 1, 1, 5);
    journal.fd_prestat_get(fd);
    journal.fd_prestat_dir_name(fd, 4);
    let (errno, used, _) = journal.page(fd, 128, 0);
    journal.note(
        format_args!("fd_readdir({})", fd.name),
        format_args!("{} {}", crate::text::errno(errno), errno == 0 && used > 0),
    );
}

fn every_path_call(journal: &Journal, fd: &Fd, root: &Fd) {
    journal.mkdir(fd, "made");
    journal.stat(fd, "file", FOLLOW);
    journal.stat(fd, ".", FOLLOW);
    journal.set_times(fd, "file", FOLLOW, (1, 1), 5);
    journal.link_with(fd, "file", 0, root, "l1");
    journal.link_with(root, "file", 0, fd, "l2");
    let opened = journal.open(fd, "file", READ, "opened");
    journal.fd_close(&opened);
    let opened = journal.open(fd, ".", READ, "opened");
    journal.fd_close(&opened);
    journal.readlink(fd, "link", 8);
    journal.rmdir(fd, "hollow");
    journal.rename_to(fd, "file", root, "r1");
    journal.rename_to(root, "file", fd, "r2");
    journal.symlink("x", fd, "s1");
    journal.unlink(fd, "file");
}

pub(crate) fn standard_streams(journal: &mut Journal, root: &Fd) {
    for number in [0, 2] {
        let fd = Fd::new(number, format!("fd{number}"));
        every_descriptor_call(journal, &fd);
        every_path_call(journal, &fd, root);
    }
    // Output on standard output would mix with the lines.
    let out = Fd::new(1, "fd1");
    journal.fd_fdstat_get(&out);
    journal.fd_filestat_get(&out);
    journal.fd_seek(&out, 0, 1);
    journal.fd_read(&out, &[1]);
    journal.fd_write(&out, &[b"a whole line\n"]);
    journal.fd_write(&out, &[]);
    for number in [0, 2] {
        journal.fd_close(&Fd::new(number, format!("fd{number}")));
        journal.fd_fdstat_get(&Fd::new(number, format!("fd{number}")));
    }
}

pub(crate) fn standard_input(journal: &mut Journal, _root: &Fd) {
    let fd = Fd::new(0, "stdin");
    journal.fd_read(&fd, &[5]);
    journal.fd_read(&fd, &[1]);
    journal.fd_pread(&fd, &[1], 0);
    journal.fd_read(&fd, &[100]);
    journal.fd_read(&fd, &[100]);
    journal.fd_read(&fd, &[1]);
}

pub(crate) fn closed(journal: &mut Journal, root: &Fd) {
    for path in ["file", "dir"] {
        let fd = journal.open(root, path, READ, "closed");
        journal.fd_close(&fd);
        journal.fd_close(&fd);
        every_descriptor_call(journal, &fd);
        every_path_call(journal, &fd, root);
    }
}

pub(crate) fn out_of_range(journal: &mut Journal, root: &Fd) {
    for number in [5, 66, 1024, 99_999, 0x7fff_ffff, 0x8000_0000, 0xffff_ffff] {
        let fd = Fd::new(number, format!("{number:#x}"));
        every_descriptor_call(journal, &fd);
        every_path_call(journal, &fd, root);
        journal.fd_close(&fd);
        journal.fd_renumber(&fd, &fd);
    }
}

pub(crate) fn file_as_directory(journal: &mut Journal, root: &Fd) {
    let fd = journal.open(root, "empty", BOTH, "file");
    every_path_call(journal, &fd, root);
    every_descriptor_call(journal, &fd);
}

pub(crate) fn directory_as_file(journal: &mut Journal, root: &Fd) {
    let fd = journal.open(root, "dir", READ.flags(DIRECTORY), "dir");
    every_descriptor_call(journal, &fd);
    every_descriptor_call(journal, root);
}

pub(crate) fn flags(journal: &mut Journal, root: &Fd) {
    let file = journal.open(root, "file", BOTH, "file");
    let dir = journal.open(root, "dir", READ, "dir");
    for flags in [APPEND, NONBLOCK, APPEND | NONBLOCK, DSYNC, RSYNC, SYNC, 31, 0] {
        for fd in [&file, &dir] {
            journal.fd_fdstat_set_flags(fd, flags);
            journal.fd_fdstat_get(fd);
        }
    }
}

pub(crate) fn rights(journal: &mut Journal, root: &Fd) {
    journal.rights(root);
    for (mode, path) in [(READ, "file"), (WRITE, "file"), (BOTH, "file"), (READ, "dir")] {
        let fd = journal.open(root, path, mode, "it");
        journal.rights(&fd);
        journal.fd_fdstat_set_rights(&fd, 2, 2);
        journal.fd_fdstat_set_rights(&fd, 0x1fff_ffff, 0x1fff_ffff);
        journal.rights(&fd);
        journal.fd_read(&fd, &[1]);
        journal.fd_close(&fd);
    }
    for number in 0..3 {
        journal.rights(&Fd::new(number, format!("fd{number}")));
    }
}

pub(crate) fn renumber(journal: &mut Journal, root: &Fd) {
    let a = journal.open(root, "file", BOTH, "a");
    let b = journal.open(root, "big", READ, "b");
    journal.fd_read(&a, &[3]);
    journal.fd_renumber(&a, &b);
    journal.fd_read(&b, &[4]);
    journal.fd_read(&a, &[4]);
    journal.fd_close(&a);
    journal.fd_renumber(&b, &b);
    journal.fd_tell(&b);
    let dir = journal.open(root, "dir", READ, "dir");
    journal.fd_renumber(&dir, &b);
    journal.stat(&b, "inner", FOLLOW);
    journal.fd_tell(&b);
    let gone = journal.open(root, "empty", BOTH, "gone");
    journal.unlink(root, "empty");
    let other = journal.open(root, "file", READ, "other");
    journal.fd_renumber(&other, &gone);
    journal.fd_read(&gone, &[4]);
    let input = Fd::new(0, "stdin");
    journal.fd_renumber(&gone, &input);
    journal.fd_read(&input, &[4]);
    journal.fd_tell(&input);
}

pub(crate) fn renumber_errors(journal: &mut Journal, root: &Fd) {
    let fd = journal.open(root, "file", READ, "fd");
    let closed = journal.open(root, "file", READ, "closed");
    journal.fd_close(&closed);
    journal.fd_renumber(&closed, &fd);
    journal.fd_renumber(&fd, &Fd::none("none"));
    journal.fd_renumber(&Fd::none("none"), &fd);
    journal.fd_renumber(&fd, &Fd::new(u32::MAX, "max"));
    journal.fd_read(&fd, &[4]);
}

pub(crate) fn close_preopen(journal: &mut Journal, root: &Fd) {
    let kept = journal.open(root, "dir", READ, "kept");
    journal.fd_close(root);
    journal.stat(root, "file", FOLLOW);
    journal.fd_prestat_get(root);
    journal.stat(&kept, "inner", FOLLOW);
    let made = journal.open(&kept, "made", BOTH.flags(CREAT), "made");
    journal.fd_write(&made, &[b"x"]);
}

pub(crate) fn sockets(journal: &mut Journal, root: &Fd) {
    let file = journal.open(root, "file", BOTH, "file");
    for fd in [&file, root, &Fd::new(0, "fd0"), &Fd::none("none")] {
        journal.sockets(fd);
    }
    // A subscription to a descriptor that is not a stream.
    let mut read = Record::new();
    read.put(8, &[1]);
    read.put(16, &Fd::none("none").number.to_le_bytes());
    journal.poll("bad descriptor", &[read]);
    let _unused = sys::sched_yield();
}
