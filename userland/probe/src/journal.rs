//! Makes calls and writes one line for each: what was asked, how it was answered.
//!
//! Two hosts that mean the same by a call write the same line. So descriptors appear by the name that a scenario gave
//! them, inode numbers by the order in which they were first seen, and a time close to now as `now`.

use std::fmt::Display;

use crate::sys::{self, Errno, Open, Record};
use crate::text;

const NO_DESCRIPTOR: u32 = 0x7fff_fff0;

/// A descriptor and what lines call it.
#[derive(Clone)]
pub(crate) struct Fd {
    pub(crate) number: u32,
    pub(crate) name: String,
}

impl Fd {
    pub(crate) fn new(number: u32, name: impl Into<String>) -> Self {
        Self { number, name: name.into() }
    }

    /// A number that no host gives out, so that what follows a failed `path_open` answers `badf` everywhere.
    pub(crate) fn none(name: impl Into<String>) -> Self {
        Self::new(NO_DESCRIPTOR, name)
    }

    pub(crate) fn is_open(&self) -> bool {
        self.number != NO_DESCRIPTOR
    }
}

pub(crate) const FOLLOW: u32 = 1;
pub(crate) const NOFOLLOW: u32 = 0;

pub(crate) const CREAT: u32 = 1;
pub(crate) const DIRECTORY: u32 = 2;
pub(crate) const EXCL: u32 = 4;
pub(crate) const TRUNC: u32 = 8;

pub(crate) const APPEND: u32 = 1;
pub(crate) const DSYNC: u32 = 2;
pub(crate) const NONBLOCK: u32 = 4;
pub(crate) const RSYNC: u32 = 8;
pub(crate) const SYNC: u32 = 16;

pub(crate) const OFLAGS: [&str; 4] = ["creat", "directory", "excl", "trunc"];
pub(crate) const FDFLAGS: [&str; 5] = ["append", "dsync", "nonblock", "rsync", "sync"];
const TIME_FLAGS: [&str; 4] = ["atim", "atim_now", "mtim", "mtim_now"];

/// Rights that decide how a file is opened.
const RIGHT_READ: u64 = 1 << 1;
const RIGHT_WRITE: u64 = 1 << 6;
/// What libc asks for beside reading and writing.
const RIGHTS_OTHERWISE: u64 = 0x1fff_ffff & !RIGHT_READ & !RIGHT_WRITE;

/// Reading and following links, as `open(path, O_RDONLY)` asks.
pub(crate) const READ: Open = Open { dirflags: FOLLOW, oflags: 0, rights: RIGHTS_OTHERWISE | RIGHT_READ, fdflags: 0 };
/// As [`READ`], for writing.
pub(crate) const WRITE: Open = Open { rights: RIGHTS_OTHERWISE | RIGHT_WRITE, ..READ };
/// As [`READ`], for both.
pub(crate) const BOTH: Open = Open { rights: RIGHTS_OTHERWISE | RIGHT_READ | RIGHT_WRITE, ..READ };

impl Open {
    pub(crate) fn flags(self, oflags: u32) -> Self {
        Self { oflags: self.oflags | oflags, ..self }
    }

    pub(crate) fn fd(self, fdflags: u32) -> Self {
        Self { fdflags: self.fdflags | fdflags, ..self }
    }

    pub(crate) fn nofollow(self) -> Self {
        Self { dirflags: NOFOLLOW, ..self }
    }

    fn text(self) -> String {
        let mode = match (self.rights & RIGHT_READ != 0, self.rights & RIGHT_WRITE != 0) {
            (true, true) => "rw",
            (true, false) => "r",
            (false, true) => "w",
            (false, false) => "neither",
        };
        let follow = if self.dirflags == FOLLOW { "" } else { " nofollow" };
        let (oflags, fdflags) = (text::flags(self.oflags, &OFLAGS), text::flags(self.fdflags, &FDFLAGS));
        format!("{mode} {oflags} {fdflags}{follow}")
    }
}

/// What a `filestat` says, as far as hosts agree on it.
#[derive(Clone, Copy)]
pub(crate) struct Stat(Record<64>);

impl Stat {
    pub(crate) fn ino(self) -> u64 {
        self.0.u64(8)
    }

    pub(crate) fn is_dir(self) -> bool {
        self.0.u8(16) == 3
    }

    pub(crate) fn size(self) -> u64 {
        self.0.u64(32)
    }

    pub(crate) fn atime(self) -> u64 {
        self.0.u64(40)
    }

    pub(crate) fn mtime(self) -> u64 {
        self.0.u64(48)
    }

    /// Size and links of a directory are a file system's private affair, so they are left out.
    fn text(self) -> String {
        let kind = text::file_type(self.0.u8(16));
        if self.is_dir() { kind.to_owned() } else { format!("{kind} nlink={} size={}", self.0.u64(24), self.size()) }
    }
}

/// One entry as `fd_readdir` wrote it.
pub(crate) struct Entry {
    pub(crate) next: u64,
    pub(crate) ino: u64,
    pub(crate) kind: u8,
    pub(crate) name: Vec<u8>,
}

/// Makes the calls.
pub(crate) struct Journal {
    inos: Vec<u64>,
}

impl Journal {
    pub(crate) fn new() -> Self {
        Self { inos: Vec::new() }
    }

    /// Writes a line that is no call: a relation between results.
    pub(crate) fn note(&self, what: impl Display, holds: impl Display) {
        println!("{what}: {holds}");
    }

    fn line(&self, call: impl Display, errno: Errno, result: impl Display) {
        match errno {
            0 => println!("{call} = ok {result}"),
            _ => println!("{call} = {}", text::errno(errno)),
        }
    }

    fn done(&self, call: impl Display, errno: Errno) -> bool {
        self.line(call, errno, "");
        errno == 0
    }

    /// A short name for an inode: the order in which this journal first saw it.
    pub(crate) fn ino(&mut self, ino: u64) -> usize {
        let known = self.inos.iter().position(|seen| *seen == ino);
        known.unwrap_or_else(|| {
            self.inos.push(ino);
            self.inos.len() - 1
        })
    }

    pub(crate) fn args(&self) {
        let (errno, count, size) = sys::args_sizes_get();
        self.line("args_sizes_get()", errno, format_args!("{count} {size}"));
        let (errno, list) = sys::args_get();
        self.line("args_get()", errno, quoted(&list));
    }

    pub(crate) fn environ(&self) {
        let (errno, count, size) = sys::environ_sizes_get();
        self.line("environ_sizes_get()", errno, format_args!("{count} {size}"));
        let (errno, list) = sys::environ_get();
        self.line("environ_get()", errno, quoted(&list));
    }

    pub(crate) fn clock_res_get(&self, id: u32) {
        let (errno, resolution) = sys::clock_res_get(id);
        let sane = resolution > 0 && resolution <= 1_000_000_000;
        self.line(format_args!("clock_res_get({id})"), errno, format_args!("between 1 ns and 1 s: {sane}"));
    }

    pub(crate) fn clock_time_get(&self, id: u32) -> u64 {
        let (errno, time) = sys::clock_time_get(id);
        self.line(format_args!("clock_time_get({id})"), errno, "");
        time
    }

    pub(crate) fn fd_advise(&self, fd: &Fd, offset: u64, len: u64, advice: u32) {
        let errno = sys::fd_advise(fd.number, offset, len, advice);
        self.done(format_args!("fd_advise({}, {offset}, {len}, {advice})", fd.name), errno);
    }

    pub(crate) fn fd_allocate(&self, fd: &Fd, offset: u64, len: u64) {
        self.done(format_args!("fd_allocate({}, {offset}, {len})", fd.name), sys::fd_allocate(fd.number, offset, len));
    }

    pub(crate) fn fd_close(&self, fd: &Fd) -> bool {
        self.done(format_args!("fd_close({})", fd.name), sys::fd_close(fd.number))
    }

    pub(crate) fn fd_datasync(&self, fd: &Fd) {
        self.done(format_args!("fd_datasync({})", fd.name), sys::fd_datasync(fd.number));
    }

    pub(crate) fn fd_sync(&self, fd: &Fd) {
        self.done(format_args!("fd_sync({})", fd.name), sys::fd_sync(fd.number));
    }

    /// Type and flags.
    pub(crate) fn fd_fdstat_get(&self, fd: &Fd) {
        let (errno, stat) = sys::fd_fdstat_get(fd.number);
        let flags = text::flags(u32::from(stat.u16(2)), &FDFLAGS);
        self.line(
            format_args!("fd_fdstat_get({})", fd.name),
            errno,
            format_args!("{} {flags}", text::file_type(stat.u8(0))),
        );
    }

    /// Of the rights only those that a libc looks at: may it read, write, seek.
    pub(crate) fn rights(&self, fd: &Fd) {
        let (errno, stat) = sys::fd_fdstat_get(fd.number);
        let rights = |at| text::flags((stat.u64(at) & 0x46) as u32, &["", "read", "seek", "", "", "", "write"]);
        self.line(
            format_args!("fd_fdstat_get({}, rights)", fd.name),
            errno,
            format_args!("{} inheriting {}", rights(8), rights(16)),
        );
    }

    pub(crate) fn fd_fdstat_set_flags(&self, fd: &Fd, flags: u32) {
        let errno = sys::fd_fdstat_set_flags(fd.number, flags);
        self.done(format_args!("fd_fdstat_set_flags({}, {})", fd.name, text::flags(flags, &FDFLAGS)), errno);
    }

    pub(crate) fn fd_fdstat_set_rights(&self, fd: &Fd, base: u64, inheriting: u64) {
        let errno = sys::fd_fdstat_set_rights(fd.number, base, inheriting);
        self.done(format_args!("fd_fdstat_set_rights({}, {base:#x}, {inheriting:#x})", fd.name), errno);
    }

    pub(crate) fn fd_filestat_get(&self, fd: &Fd) -> Option<Stat> {
        let (errno, stat) = sys::fd_filestat_get(fd.number);
        self.line(format_args!("fd_filestat_get({})", fd.name), errno, Stat(stat).text());
        (errno == 0).then_some(Stat(stat))
    }

    pub(crate) fn fd_filestat_set_size(&self, fd: &Fd, size: u64) {
        let errno = sys::fd_filestat_set_size(fd.number, size);
        self.done(format_args!("fd_filestat_set_size({}, {size})", fd.name), errno);
    }

    pub(crate) fn fd_filestat_set_times(&self, fd: &Fd, atime: u64, mtime: u64, which: u32) {
        let errno = sys::fd_filestat_set_times(fd.number, atime, mtime, which);
        let which = text::flags(which, &TIME_FLAGS);
        self.done(format_args!("fd_filestat_set_times({}, {atime}, {mtime}, {which})", fd.name), errno);
    }

    /// Reads into buffers of the given sizes and writes down all that arrived.
    pub(crate) fn fd_read(&self, fd: &Fd, sizes: &[usize]) -> Vec<u8> {
        self.read("fd_read", fd, sizes, "", sys::fd_read)
    }

    pub(crate) fn fd_pread(&self, fd: &Fd, sizes: &[usize], offset: u64) -> Vec<u8> {
        let at = format!(", {offset}");
        self.read("fd_pread", fd, sizes, &at, |fd, buffers| sys::fd_pread(fd, buffers, offset))
    }

    fn read(
        &self,
        name: &str,
        fd: &Fd,
        sizes: &[usize],
        at: &str,
        call: impl Fn(u32, &mut [&mut [u8]]) -> (Errno, u32),
    ) -> Vec<u8> {
        let mut buffers: Vec<Vec<u8>> = sizes.iter().map(|size| vec![b'?'; *size]).collect();
        let mut slices: Vec<&mut [u8]> = buffers.iter_mut().map(Vec::as_mut_slice).collect();
        let (errno, count) = call(fd.number, &mut slices);
        let mut read = buffers.concat();
        let untouched = read.iter().skip(count as usize).all(|byte| *byte == b'?');
        read.truncate(count as usize);
        let rest = if untouched { "" } else { " and wrote beyond it" };
        self.line(
            format_args!("{name}({}, {sizes:?}{at})", fd.name),
            errno,
            format_args!("{count} {}{rest}", text::bytes(&read)),
        );
        if errno == 0 { read } else { Vec::new() }
    }

    pub(crate) fn fd_write(&self, fd: &Fd, buffers: &[&[u8]]) -> bool {
        let (errno, count) = sys::fd_write(fd.number, buffers);
        self.line(format_args!("fd_write({}, {})", fd.name, slices(buffers)), errno, count);
        errno == 0
    }

    pub(crate) fn fd_pwrite(&self, fd: &Fd, buffers: &[&[u8]], offset: u64) {
        let (errno, count) = sys::fd_pwrite(fd.number, buffers, offset);
        self.line(format_args!("fd_pwrite({}, {}, {offset})", fd.name, slices(buffers)), errno, count);
    }

    pub(crate) fn fd_prestat_get(&self, fd: &Fd) -> usize {
        let (errno, stat) = sys::fd_prestat_get(fd.number);
        let len = stat.u32(4);
        self.line(format_args!("fd_prestat_get({})", fd.name), errno, format_args!("kind {} {len}", stat.u8(0)));
        if errno == 0 { len as usize } else { 0 }
    }

    pub(crate) fn fd_prestat_dir_name(&self, fd: &Fd, room: usize) {
        let mut buffer = vec![0; room];
        let errno = sys::fd_prestat_dir_name(fd.number, &mut buffer);
        self.line(format_args!("fd_prestat_dir_name({}, {room})", fd.name), errno, text::bytes(&buffer));
    }

    /// One page, quietly: entries whole, the bytes of a cut one are left out.
    pub(crate) fn page(&self, fd: &Fd, room: usize, cookie: u64) -> (Errno, usize, Vec<Entry>) {
        let mut buffer = vec![0; room];
        let (errno, used) = sys::fd_readdir(fd.number, &mut buffer, cookie);
        let mut rest = buffer.get(..used as usize).unwrap_or_default();
        let mut entries = Vec::new();
        while let Some((head, tail)) = rest.split_at_checked(24) {
            let mut record = Record::<24>::new();
            record.put(0, head);
            let Some((name, tail)) = tail.split_at_checked(record.u32(16) as usize) else { break };
            let entry = Entry { next: record.u64(0), ino: record.u64(8), kind: record.u8(20), name: name.to_vec() };
            entries.push(entry);
            rest = tail;
        }
        (errno, used as usize, entries)
    }

    /// Everything in a directory, page by page, sorted: order is the host's business.
    pub(crate) fn fd_readdir(&self, fd: &Fd, room: usize) -> Vec<Entry> {
        let (mut all, mut cookie) = (Vec::new(), 0);
        let failed = loop {
            let (errno, used, page) = self.page(fd, room, cookie);
            let Some(last) = page.last().filter(|_| errno == 0) else { break errno };
            cookie = last.next;
            all.extend(page);
            if used < room {
                break 0;
            }
        };
        all.sort_by(|a, b| a.name.cmp(&b.name));
        let names: Vec<String> = all.iter().map(entry_text).collect();
        self.line(format_args!("fd_readdir({}, {room})", fd.name), failed, names.join(" "));
        all
    }

    /// Whether one large page of a directory can be had, whatever is in it.
    pub(crate) fn page_line(&self, fd: &Fd) {
        let (errno, ..) = self.page(fd, 4096, 0);
        self.line(format_args!("fd_readdir({})", fd.name), errno, "");
    }

    /// Moves `from` to the number of `to`.
    pub(crate) fn fd_renumber(&self, from: &Fd, to: &Fd) -> bool {
        let errno = sys::fd_renumber(from.number, to.number);
        self.done(format_args!("fd_renumber({}, {})", from.name, to.name), errno)
    }

    pub(crate) fn fd_seek(&self, fd: &Fd, offset: i64, whence: u32) {
        let (errno, at) = sys::fd_seek(fd.number, offset, whence);
        let from = ["set", "cur", "end"].get(whence as usize).copied().unwrap_or("bad-whence");
        self.line(format_args!("fd_seek({}, {offset}, {from})", fd.name), errno, at);
    }

    pub(crate) fn fd_tell(&self, fd: &Fd) {
        let (errno, at) = sys::fd_tell(fd.number);
        self.line(format_args!("fd_tell({})", fd.name), errno, at);
    }

    pub(crate) fn mkdir(&self, at: &Fd, path: impl AsRef<[u8]>) {
        let path = path.as_ref();
        let errno = sys::path_create_directory(at.number, path);
        self.done(format_args!("path_create_directory({}, {})", at.name, text::bytes(path)), errno);
    }

    pub(crate) fn stat(&self, at: &Fd, path: impl AsRef<[u8]>, follow: u32) -> Option<Stat> {
        let path = path.as_ref();
        let (errno, stat) = sys::path_filestat_get(at.number, follow, path);
        let flag = if follow == FOLLOW { " follow" } else { "" };
        self.line(
            format_args!("path_filestat_get({}, {}{flag})", at.name, text::bytes(path)),
            errno,
            Stat(stat).text(),
        );
        (errno == 0).then_some(Stat(stat))
    }

    pub(crate) fn set_times(&self, at: &Fd, path: impl AsRef<[u8]>, follow: u32, times: (u64, u64), which: u32) {
        let path = path.as_ref();
        let errno = sys::path_filestat_set_times(at.number, follow, path, times.0, times.1, which);
        let (path, which) = (text::bytes(path), text::flags(which, &TIME_FLAGS));
        let flag = if follow == FOLLOW { " follow" } else { "" };
        self.done(format_args!("path_filestat_set_times({}, {path}{flag}, {times:?}, {which})", at.name), errno);
    }

    pub(crate) fn link_with(&self, at: &Fd, old: impl AsRef<[u8]>, follow: u32, to: &Fd, new: impl AsRef<[u8]>) {
        let (old, new) = (old.as_ref(), new.as_ref());
        let errno = sys::path_link(at.number, follow, old, to.number, new);
        let flag = if follow == FOLLOW { " follow" } else { "" };
        let (old, new) = (text::bytes(old), text::bytes(new));
        self.done(format_args!("path_link({}, {old}{flag}, {}, {new})", at.name, to.name), errno);
    }

    pub(crate) fn link(&self, at: &Fd, old: impl AsRef<[u8]>, new: impl AsRef<[u8]>) {
        self.link_with(at, old, NOFOLLOW, at, new);
    }

    pub(crate) fn open(&self, at: &Fd, path: impl AsRef<[u8]>, how: Open, name: impl Into<String>) -> Fd {
        let (path, name) = (path.as_ref(), name.into());
        let (errno, number) = sys::path_open(at.number, path, how);
        let call = format!("path_open({}, {}, {})", at.name, text::bytes(path), how.text());
        self.line(call, errno, &name);
        if errno == 0 { Fd::new(number, name) } else { Fd::none(name) }
    }

    pub(crate) fn readlink(&self, at: &Fd, path: impl AsRef<[u8]>, room: usize) {
        let path = path.as_ref();
        let mut buffer = vec![0; room];
        let (errno, used) = sys::path_readlink(at.number, path, &mut buffer);
        buffer.truncate(used as usize);
        self.line(
            format_args!("path_readlink({}, {}, {room})", at.name, text::bytes(path)),
            errno,
            format_args!("{used} {}", text::bytes(&buffer)),
        );
    }

    pub(crate) fn rmdir(&self, at: &Fd, path: impl AsRef<[u8]>) {
        let path = path.as_ref();
        let errno = sys::path_remove_directory(at.number, path);
        self.done(format_args!("path_remove_directory({}, {})", at.name, text::bytes(path)), errno);
    }

    pub(crate) fn rename_to(&self, at: &Fd, old: impl AsRef<[u8]>, to: &Fd, new: impl AsRef<[u8]>) {
        let (old, new) = (old.as_ref(), new.as_ref());
        let errno = sys::path_rename(at.number, old, to.number, new);
        let (old, new) = (text::bytes(old), text::bytes(new));
        self.done(format_args!("path_rename({}, {old}, {}, {new})", at.name, to.name), errno);
    }

    pub(crate) fn rename(&self, at: &Fd, old: impl AsRef<[u8]>, new: impl AsRef<[u8]>) {
        self.rename_to(at, old, at, new);
    }

    pub(crate) fn symlink(&self, target: impl AsRef<[u8]>, at: &Fd, new: impl AsRef<[u8]>) {
        let (target, new) = (target.as_ref(), new.as_ref());
        let errno = sys::path_symlink(target, at.number, new);
        let (target, new) = (text::bytes(target), text::bytes(new));
        self.done(format_args!("path_symlink({target}, {}, {new})", at.name), errno);
    }

    pub(crate) fn unlink(&self, at: &Fd, path: impl AsRef<[u8]>) {
        let path = path.as_ref();
        let errno = sys::path_unlink_file(at.number, path);
        self.done(format_args!("path_unlink_file({}, {})", at.name, text::bytes(path)), errno);
    }

    /// Waits for `subscriptions`, called `what` in the line; the events are written in the order of their user data.
    pub(crate) fn poll(&self, what: &str, subscriptions: &[Record<48>]) {
        let (errno, mut events) = sys::poll_oneoff(subscriptions);
        events.sort_by_key(|event| event.u64(0));
        let events: Vec<String> = events.iter().map(event_text).collect();
        self.line(format_args!("poll_oneoff({what})"), errno, format_args!("[{}]", events.join(", ")));
    }

    pub(crate) fn proc_raise(&self, signal: u32) {
        self.done(format_args!("proc_raise({signal})"), sys::proc_raise(signal));
    }

    pub(crate) fn random_get(&self, len: usize) -> Vec<u8> {
        let mut buffer = vec![0; len];
        self.done(format_args!("random_get({len})"), sys::random_get(&mut buffer));
        buffer
    }

    pub(crate) fn sched_yield(&self) {
        self.done("sched_yield()", sys::sched_yield());
    }

    /// All four socket calls on one descriptor.
    pub(crate) fn sockets(&self, fd: &Fd) {
        self.done(format_args!("sock_accept({})", fd.name), sys::sock_accept(fd.number));
        self.done(format_args!("sock_recv({})", fd.name), sys::sock_recv(fd.number, &mut [0; 4]));
        self.done(format_args!("sock_send({})", fd.name), sys::sock_send(fd.number, b"data"));
        self.done(format_args!("sock_shutdown({})", fd.name), sys::sock_shutdown(fd.number, 1));
    }
}

fn entry_text(entry: &Entry) -> String {
    format!("{}:{}", entry.name.escape_ascii(), text::file_type(entry.kind))
}

fn event_text(event: &Record<32>) -> String {
    let kind = ["clock", "read", "write"].get(usize::from(event.u8(10))).copied().unwrap_or("bad-type");
    let hangup = if event.u16(24) & 1 == 1 { " hangup" } else { "" };
    format!("{} {kind} {}{hangup}", event.u64(0), text::errno(event.u16(8)))
}

fn quoted(list: &[Vec<u8>]) -> String {
    let list: Vec<String> = list.iter().map(|item| text::bytes(item)).collect();
    list.join(" ")
}

fn slices(buffers: &[&[u8]]) -> String {
    let list: Vec<String> = buffers.iter().map(|buffer| text::bytes(buffer)).collect();
    format!("[{}]", list.join(" "))
}
