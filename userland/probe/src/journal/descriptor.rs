//! Calls on descriptors.

use super::{FDFLAGS, Fd, Journal, Stat, TIME_FLAGS};
use crate::sys::{self, Errno};
use crate::text;

impl Journal {
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

    /// Only the rights that a libc uses: read, write, seek.
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

    /// Reads into buffers of the given sizes and records all bytes.
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
}

fn slices(buffers: &[&[u8]]) -> String {
    let list: Vec<String> = buffers.iter().map(|buffer| text::bytes(buffer)).collect();
    format!("[{}]", list.join(" "))
}
