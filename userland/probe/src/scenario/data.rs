//! Bytes of files: reading, writing, offsets, sizes.

use crate::journal::{APPEND, BOTH, CREAT, EXCL, FOLLOW, Fd, Journal, READ, TRUNC, WRITE};

const SET: u32 = 0;
const CUR: u32 = 1;
const END: u32 = 2;

pub(crate) fn read_and_seek(journal: &mut Journal, root: &Fd) {
    let fd = journal.open(root, "file", READ, "fd");
    journal.fd_tell(&fd);
    for size in [0, 1, 5, 100, 100] {
        journal.fd_read(&fd, &[size]);
        journal.fd_tell(&fd);
    }
    let moves = [
        (0, SET),
        (3, SET),
        (2, CUR),
        (-5, CUR),
        (-1, CUR),
        (0, END),
        (-4, END),
        (-14, END),
        (7, END),
        (-1, SET),
        (i64::MIN, SET),
        (i64::MIN, CUR),
        (i64::MIN, END),
    ];
    for (offset, whence) in moves {
        journal.fd_seek(&fd, offset, whence);
        journal.fd_read(&fd, &[3]);
        journal.fd_tell(&fd);
    }
    for (sizes, offset) in [(4, 0), (4, 10), (4, 13), (4, 1000), (0, 0)] {
        journal.fd_pread(&fd, &[sizes], offset);
        journal.fd_tell(&fd);
    }
    let twice = journal.open(root, "file", READ, "twice");
    journal.fd_read(&twice, &[5]);
    journal.fd_tell(&fd);
}

/// Reads a whole file with several buffers, as `readv` in a loop does.
pub(crate) fn read_vectors(journal: &mut Journal, root: &Fd) {
    let fd = journal.open(root, "file", READ, "fd");
    journal.fd_read(&fd, &[]);
    journal.fd_read(&fd, &[0, 0]);
    journal.fd_read(&fd, &[0, 4]);
    journal.fd_pread(&fd, &[], 0);
    journal.fd_pread(&fd, &[0, 3, 0], 2);
    journal.fd_read(&fd, &[2, 3]);
    journal.fd_seek(&fd, 0, SET);
    let mut whole = Vec::new();
    loop {
        // Do not record the bytes per call: a host may fill only the first buffer.
        let (mut a, mut b) = ([0; 4], [0; 3]);
        let (errno, count) = crate::sys::fd_read(fd.number, &mut [&mut a, &mut b]);
        let both: Vec<u8> = a.into_iter().chain(b).take(count as usize).collect();
        whole.extend(both);
        if errno != 0 || count == 0 {
            break;
        }
    }
    journal.note("read in vectors of 4 and 3", crate::text::bytes(&whole));
}

pub(crate) fn write_vectors(journal: &mut Journal, root: &Fd) {
    let fd = journal.open(root, "new", BOTH.flags(CREAT), "fd");
    journal.fd_write(&fd, &[]);
    journal.fd_write(&fd, &[b"", b""]);
    journal.fd_write(&fd, &[b"", b"one"]);
    journal.fd_pwrite(&fd, &[b"", b"TWO", b""], 5);
    journal.fd_tell(&fd);
    journal.fd_pread(&fd, &[64], 0);
    journal.fd_write(&fd, &[b"ab", b"cd"]);
    let rest: &[u8] = b"written in turns";
    let mut left = rest;
    journal.fd_seek(&fd, 0, SET);
    while let Some((first, second)) = left.split_at_checked(left.len() / 2) {
        let (errno, count) = crate::sys::fd_write(fd.number, &[first, second]);
        left = left.get(count as usize..).unwrap_or_default();
        if errno != 0 || count == 0 {
            break;
        }
    }
    journal.fd_pread(&fd, &[64], 0);
}

pub(crate) fn write_and_overwrite(journal: &mut Journal, root: &Fd) {
    let fd = journal.open(root, "file", BOTH, "fd");
    journal.fd_write(&fd, &[b"HELLO"]);
    journal.fd_read(&fd, &[100]);
    journal.fd_write(&fd, &[b" and more"]);
    journal.fd_pwrite(&fd, &[b"<>"], 5);
    journal.fd_pwrite(&fd, &[b""], 9999);
    journal.fd_tell(&fd);
    journal.fd_pread(&fd, &[100], 0);
    journal.fd_filestat_get(&fd);
    let again = journal.open(root, "file", WRITE.flags(TRUNC), "again");
    journal.fd_filestat_get(&fd);
    journal.fd_tell(&fd);
    journal.fd_write(&fd, &[b"late"]);
    journal.fd_write(&again, &[b"early"]);
    journal.fd_pread(&fd, &[100], 0);
}

pub(crate) fn write_past_the_end(journal: &mut Journal, root: &Fd) {
    let fd = journal.open(root, "sparse", BOTH.flags(CREAT | EXCL), "fd");
    journal.fd_pwrite(&fd, &[b"far"], 100_000);
    journal.fd_filestat_get(&fd);
    journal.fd_pread(&fd, &[16], 50_000);
    journal.fd_pread(&fd, &[16], 99_998);
    journal.fd_seek(&fd, 10, END);
    journal.fd_read(&fd, &[16]);
    journal.fd_write(&fd, &[b"beyond"]);
    journal.fd_filestat_get(&fd);
    journal.fd_seek(&fd, 4096, SET);
    journal.fd_write(&fd, &[b"middle"]);
    journal.fd_pread(&fd, &[200_000], 0);
    journal.fd_filestat_set_size(&fd, 4098);
    journal.fd_filestat_set_size(&fd, 5000);
    journal.fd_pread(&fd, &[200_000], 4090);
}

pub(crate) fn append(journal: &mut Journal, root: &Fd) {
    let fd = journal.open(root, "file", BOTH.fd(APPEND), "fd");
    let plain = journal.open(root, "file", BOTH, "plain");
    journal.fd_tell(&fd);
    journal.fd_read(&fd, &[5]);
    journal.fd_write(&fd, &[b"one"]);
    journal.fd_tell(&fd);
    journal.fd_read(&fd, &[5]);
    journal.fd_seek(&fd, 2, SET);
    journal.fd_write(&fd, &[b"two"]);
    journal.fd_seek(&plain, 0, END);
    journal.fd_write(&plain, &[b"plain"]);
    journal.fd_write(&fd, &[b"three"]);
    journal.fd_pread(&plain, &[100], 0);
    journal.fd_fdstat_set_flags(&fd, 0);
    journal.fd_seek(&fd, 0, SET);
    journal.fd_write(&fd, &[b"START"]);
    journal.fd_fdstat_set_flags(&plain, APPEND);
    journal.fd_seek(&plain, 0, SET);
    journal.fd_write(&plain, &[b"END"]);
    journal.fd_pread(&fd, &[100], 0);
    // Linux ignores the offset here, documented in its manual under "bugs"; a host that does the same must do so visibly.
    journal.fd_pwrite(&plain, &[b"*"], 1);
    journal.fd_pread(&fd, &[100], 0);
}

/// Reads from descriptors opened for writing, and the reverse.
pub(crate) fn wrong_mode(journal: &mut Journal, root: &Fd) {
    let reader = journal.open(root, "file", READ, "reader");
    let writer = journal.open(root, "file", WRITE, "writer");
    journal.fd_write(&reader, &[b"x"]);
    journal.fd_write(&reader, &[b""]);
    journal.fd_pwrite(&reader, &[b"x"], 0);
    journal.fd_read(&writer, &[4]);
    journal.fd_read(&writer, &[0]);
    journal.fd_pread(&writer, &[4], 0);
    journal.fd_filestat_set_size(&reader, 3);
    journal.fd_filestat_set_size(&writer, 3);
    journal.fd_seek(&writer, 0, END);
    journal.fd_allocate(&reader, 0, 10);
    journal.fd_sync(&reader);
    journal.fd_datasync(&writer);
    journal.fd_pread(&reader, &[20], 0);
}

pub(crate) fn sizes(journal: &mut Journal, root: &Fd) {
    let fd = journal.open(root, "big", BOTH, "fd");
    journal.fd_seek(&fd, 9000, SET);
    for size in [10_000, 20_000, 8192, 4096, 4095, 4097, 1, 0, 12_288] {
        journal.fd_filestat_set_size(&fd, size);
        journal.fd_filestat_get(&fd);
        journal.fd_tell(&fd);
        journal.fd_pread(&fd, &[30_000], 0);
    }
    journal.fd_read(&fd, &[10]);
    journal.stat(root, "big", FOLLOW);
}

/// Offsets beyond any file. Results are truncated again, because the trees are read afterwards.
pub(crate) fn huge_offsets(journal: &mut Journal, root: &Fd) {
    let fd = journal.open(root, "file", BOTH, "fd");
    for size in [u64::MAX, 1 << 63, i64::MAX as u64] {
        // Only some file systems allow the largest size.
        if size > i64::MAX as u64 {
            journal.fd_filestat_set_size(&fd, size);
        }
        journal.fd_pwrite(&fd, &[b"x"], size);
        journal.fd_pwrite(&fd, &[b""], size);
        journal.fd_pread(&fd, &[1], size);
        journal.fd_filestat_get(&fd);
    }
    journal.fd_seek(&fd, i64::MAX, SET);
    journal.fd_read(&fd, &[1]);
    journal.fd_write(&fd, &[b"x"]);
    journal.fd_seek(&fd, i64::MAX, CUR);
    journal.fd_tell(&fd);
    journal.fd_seek(&fd, i64::MAX, SET);
    journal.fd_seek(&fd, 1, CUR);
    journal.fd_seek(&fd, i64::MAX, END);
    journal.fd_filestat_set_size(&fd, 13);
    journal.fd_pread(&fd, &[20], 0);
}

pub(crate) fn allocate_and_advise(journal: &mut Journal, root: &Fd) {
    let fd = journal.open(root, "file", BOTH, "fd");
    for advice in 0..6 {
        journal.fd_advise(&fd, 0, 4, advice);
    }
    journal.fd_advise(&fd, u64::MAX, 1, 0);
    journal.fd_allocate(&fd, 0, 5);
    journal.fd_allocate(&fd, 10, 10);
    journal.fd_allocate(&fd, 0, 0);
    journal.fd_allocate(&fd, u64::MAX, 2);
    journal.fd_filestat_get(&fd);
    journal.fd_filestat_set_size(&fd, 13);
    journal.fd_sync(&fd);
    journal.fd_datasync(&fd);
}

/// Two descriptors and two names of one file show the same bytes; each descriptor has its own offset.
pub(crate) fn shared_contents(journal: &mut Journal, root: &Fd) {
    journal.link(root, "file", "second");
    let first = journal.open(root, "file", BOTH, "first");
    let second = journal.open(root, "second", BOTH, "second");
    let link = journal.open(root, "link", BOTH, "link");
    journal.fd_write(&first, &[b"by first, "]);
    journal.fd_read(&second, &[8]);
    journal.fd_seek(&link, 0, END);
    journal.fd_write(&link, &[b"by link"]);
    journal.fd_read(&second, &[100]);
    journal.fd_filestat_set_size(&second, 4);
    journal.fd_tell(&first);
    journal.fd_read(&first, &[100]);
    let stats = [journal.fd_filestat_get(&first), journal.stat(root, "second", FOLLOW)];
    let [a, b] = stats.map(|stat| stat.map(|stat| journal.ino(stat.ino())));
    journal.note("inodes", format_args!("{a:?} {b:?}"));
}

pub(crate) fn open_after_unlink(journal: &mut Journal, root: &Fd) {
    let fd = journal.open(root, "file", BOTH, "fd");
    journal.unlink(root, "file");
    journal.stat(root, "file", FOLLOW);
    journal.fd_filestat_get(&fd);
    journal.fd_read(&fd, &[5]);
    journal.fd_write(&fd, &[b" still here"]);
    journal.fd_pread(&fd, &[100], 0);
    let new = journal.open(root, "file", BOTH.flags(CREAT | EXCL), "new");
    journal.fd_write(&new, &[b"another"]);
    journal.fd_pread(&fd, &[100], 0);
    journal.fd_close(&fd);
    journal.fd_pread(&new, &[100], 0);
    let over = journal.open(root, "dir/inner", BOTH, "over");
    journal.rename(root, "file", "dir/inner");
    journal.fd_filestat_get(&over);
    journal.fd_write(&over, &[b"lost"]);
    journal.fd_filestat_get(&new);
    let dir = journal.open(root, "hollow", READ, "hollow");
    journal.rmdir(root, "hollow");
    journal.fd_filestat_get(&dir);
}

/// Writes and reads across the edges of any block size from 512 to 64 KiB.
pub(crate) fn blocks(journal: &mut Journal, root: &Fd) {
    let fd = journal.open(root, "new", BOTH.flags(CREAT), "fd");
    let pattern: Vec<u8> = (0..70_000_u32).map(|n| (n % 251) as u8).collect();
    journal.fd_write(&fd, &[&pattern]);
    for edge in [512_u64, 1024, 4096, 8192, 16_384, 32_768, 65_536] {
        journal.fd_pread(&fd, &[7], edge - 3);
        journal.fd_pwrite(&fd, &[b"edge"], edge - 2);
        journal.fd_pread(&fd, &[10], edge - 5);
        journal.fd_pread(&fd, &[1], edge);
    }
    journal.fd_pread(&fd, &[80_000], 1);
    journal.fd_filestat_get(&fd);
}
