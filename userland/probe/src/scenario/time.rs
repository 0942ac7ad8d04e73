//! Timestamps set by the guest and by the host.

use crate::journal::{BOTH, FOLLOW, Fd, Journal, NOFOLLOW, READ, Stat};
use crate::sys;

const ATIM: u32 = 1;
const ATIM_NOW: u32 = 2;
const MTIM: u32 = 4;
const MTIM_NOW: u32 = 8;

/// 2001 and 2004, with nanoseconds.
const OLD: (u64, u64) = (1_000_000_000_123_456_789, 1_100_000_000_987_654_321);

/// A time set by the guest, or `now` if within a day of the clock.
fn time(time: u64) -> String {
    let (_, now) = sys::clock_time_get(0);
    if now.abs_diff(time) < 86_400_000_000_000 { "now".to_owned() } else { time.to_string() }
}

fn show(journal: &Journal, what: &str, stat: Option<Stat>) {
    let times = stat.map(|stat| (time(stat.atime()), time(stat.mtime())));
    journal.note(format_args!("times of {what}"), format_args!("{times:?}"));
}

pub(crate) fn set_times(journal: &mut Journal, root: &Fd) {
    let fd = journal.open(root, "file", BOTH, "fd");
    show(journal, "file", journal.fd_filestat_get(&fd));
    let dir = journal.open(root, "dir", READ, "dir");
    for which in 0..16 {
        journal.fd_filestat_set_times(&fd, OLD.0, OLD.1, which);
        show(journal, "file", journal.fd_filestat_get(&fd));
        journal.fd_filestat_set_times(&dir, OLD.1, OLD.0, which);
        show(journal, "dir", journal.fd_filestat_get(&dir));
        journal.set_times(root, "empty", FOLLOW, OLD, which);
        show(journal, "empty", journal.stat(root, "empty", FOLLOW));
    }
    journal.fd_filestat_set_times(&fd, 0, 0, ATIM | MTIM);
    show(journal, "file", journal.fd_filestat_get(&fd));
    journal.fd_filestat_set_times(&fd, 1, 999_999_999, ATIM | MTIM);
    show(journal, "file", journal.fd_filestat_get(&fd));
    journal.set_times(root, "missing", FOLLOW, OLD, ATIM);
    let reader = journal.open(root, "file", READ, "reader");
    journal.fd_filestat_set_times(&reader, OLD.0, OLD.1, ATIM | MTIM);
    show(journal, "file", journal.fd_filestat_get(&reader));
}

pub(crate) fn on_links(journal: &mut Journal, root: &Fd) {
    journal.set_times(root, "link", NOFOLLOW, OLD, ATIM | MTIM);
    show(journal, "link", journal.stat(root, "link", NOFOLLOW));
    show(journal, "file", journal.stat(root, "file", NOFOLLOW));
    journal.set_times(root, "link", FOLLOW, (OLD.1, OLD.0), ATIM | MTIM);
    show(journal, "file", journal.stat(root, "file", NOFOLLOW));
    for follow in [NOFOLLOW, FOLLOW] {
        journal.set_times(root, "dangling", follow, OLD, MTIM);
        journal.set_times(root, "loop", follow, OLD, MTIM);
        journal.set_times(root, "dirlink", follow, OLD, MTIM);
    }
    show(journal, "dir", journal.stat(root, "dir", NOFOLLOW));
    journal.set_times(root, "link", NOFOLLOW, OLD, ATIM_NOW | MTIM_NOW);
}

/// Sleeps long enough for the clock of any file system to advance.
fn tick(journal: &Journal) {
    let mut pause = sys::Record::new();
    pause.put(16, &1_u32.to_le_bytes());
    pause.put(24, &30_000_000_u64.to_le_bytes());
    journal.poll("30 ms", &[pause]);
}

/// Operations that change a modification time, and the affected file.
pub(crate) fn move_on(journal: &mut Journal, root: &Fd) {
    let fd = journal.open(root, "file", BOTH, "fd");
    let acts: [(&str, &dyn Fn()); 14] = [
        ("nothing", &|| ()),
        ("reading", &|| drop(journal.fd_read(&fd, &[4]))),
        ("writing", &|| _ = journal.fd_write(&fd, &[b"x"])),
        ("writing nothing", &|| _ = journal.fd_write(&fd, &[b""])),
        ("setting the size", &|| journal.fd_filestat_set_size(&fd, 20)),
        ("setting the same size", &|| journal.fd_filestat_set_size(&fd, 20)),
        ("linking", &|| journal.link(root, "file", "dir/linked")),
        ("renaming", &|| journal.rename(root, "file", "file")),
        ("making a directory", &|| journal.mkdir(root, "dir/made")),
        ("removing it", &|| journal.rmdir(root, "dir/made")),
        ("making a link", &|| journal.symlink("x", root, "dir/link")),
        ("unlinking", &|| journal.unlink(root, "dir/link")),
        ("moving away", &|| journal.rename(root, "dir/inner", "inner")),
        ("moving below", &|| journal.rename(root, "inner", "dir/sub/inner")),
    ];
    for (name, act) in acts {
        let stats = || ["file", "dir"].map(|path| sys::path_filestat_get(root.number, 0, path.as_bytes()).1.u64(48));
        let before = stats();
        tick(journal);
        act();
        let after = stats();
        let [file, dir] = [0, 1].map(|at| if after[at] > before[at] { "moved" } else { "kept" });
        journal.note(format_args!("{name} and the time of modification"), format_args!("file {file}, dir {dir}"));
    }
}
