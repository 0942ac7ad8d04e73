//! The border itself: the imported functions, each wrapped once. The only module of the userland's own crates that
//! holds `unsafe`, because calling an import is.
#![allow(
    unsafe_code,
    reason = "calling an imported function is unsafe; every pointer passed here comes from a live slice or local"
)]

use crate::errno::check;
use crate::{
    Entry, Errno, Fd, FileKind, Ids, Limits, Open, Readiness, Result, SpawnRequest, Started, Stat, Status, Time, Waited,
};

/// WASI descriptor of Unix descriptor *n* ≥ 3, minus *n*.
pub(crate) const FD_SHIFT: u32 = 64;
/// The preopened directory `/`.
const ROOT: u32 = 3;
/// Rights that every open asks for, by bit: all 30 but reading, writing and what belongs to them.
const RIGHTS_PLAIN: u64 = 0x3fff_ffff & !(RIGHTS_READ | RIGHTS_WRITE);
/// `fd_read`, `fd_readdir`.
const RIGHTS_READ: u64 = 1 << 1 | 1 << 14;
/// `fd_datasync`, `fd_write`, `fd_allocate`, `fd_filestat_set_size`.
const RIGHTS_WRITE: u64 = 1 | 1 << 6 | 1 << 8 | 1 << 22;

mod tidebox {
    #[link(wasm_import_module = "tidebox_v1")]
    unsafe extern "C" {
        pub(super) fn spawn(request: *const u8, len: usize, pid_out: *mut u32) -> i32;
        pub(super) fn fork(arg: i32, pid_out: *mut u32) -> i32;
        pub(super) fn wait(pid: i32, flags: u32, out: *mut [u32; 2]) -> i32;
        pub(super) fn pipe(out: *mut [u32; 2]) -> i32;
        pub(super) fn dup(fd: u32, at_least: u32, out: *mut u32) -> i32;
        pub(super) fn dup_to(fd: u32, target: u32) -> i32;
        pub(super) fn chdir(path: *const u8, len: usize) -> i32;
        pub(super) fn getcwd(buf: *mut u8, len: usize, len_out: *mut usize) -> i32;
        pub(super) fn getids(out: *mut [u32; 5]) -> i32;
        pub(super) fn setpgid(pid: u32, pgid: u32) -> i32;
        pub(super) fn kill(pid: i32, signal: u32) -> i32;
        pub(super) fn sig_set(signal: u32, disposition: u32) -> i32;
        pub(super) fn sig_take(out: *mut u64) -> i32;
        pub(super) fn umask(mask: u32, out: *mut u32) -> i32;
        pub(super) fn chmod(path: *const u8, len: usize, mode: u32) -> i32;
        pub(super) fn mkfifo(path: *const u8, len: usize, mode: u32) -> i32;
        pub(super) fn stat(path: *const u8, len: usize, flags: u32, out: *mut [u8; 64]) -> i32;
        pub(super) fn fstat(fd: u32, out: *mut [u8; 64]) -> i32;
        pub(super) fn access(path: *const u8, len: usize, mode: u32) -> i32;
        pub(super) fn limits(out: *mut RawLimits) -> i32;
        pub(super) fn started(buf: *mut u8, len: usize, len_out: *mut usize) -> i32;
        pub(super) fn shell_state_read(buf: *mut u8, len: usize, len_out: *mut usize) -> i32;
        pub(super) fn shell_state_write(from: *const u8, len: usize) -> i32;
    }

    /// What `limits` writes; the layout is that of the border.
    #[repr(C)]
    #[derive(Default)]
    pub(super) struct RawLimits {
        pub(super) memory: u64,
        pub(super) files: u64,
        pub(super) descriptors: u32,
        pub(super) processes: u32,
        pub(super) nesting: u32,
        pub(super) reserved: u32,
    }
}

mod wasi {
    #[link(wasm_import_module = "wasi_snapshot_preview1")]
    unsafe extern "C" {
        pub(super) fn args_sizes_get(count: *mut usize, bytes: *mut usize) -> i32;
        pub(super) fn args_get(pointers: *mut *mut u8, bytes: *mut u8) -> i32;
        pub(super) fn environ_sizes_get(count: *mut usize, bytes: *mut usize) -> i32;
        pub(super) fn environ_get(pointers: *mut *mut u8, bytes: *mut u8) -> i32;
        pub(super) fn clock_time_get(id: u32, precision: u64, out: *mut u64) -> i32;
        pub(super) fn random_get(buf: *mut u8, len: usize) -> i32;
        pub(super) fn fd_read(fd: u32, iovs: *const [usize; 2], count: usize, out: *mut usize) -> i32;
        pub(super) fn fd_write(fd: u32, iovs: *const [usize; 2], count: usize, out: *mut usize) -> i32;
        pub(super) fn fd_seek(fd: u32, by: i64, whence: u32, out: *mut u64) -> i32;
        pub(super) fn fd_close(fd: u32) -> i32;
        pub(super) fn fd_fdstat_get(fd: u32, out: *mut [u64; 3]) -> i32;
        pub(super) fn fd_readdir(fd: u32, buf: *mut u8, len: usize, cookie: u64, used: *mut usize) -> i32;
        pub(super) fn path_open(
            dir: u32,
            lookup: u32,
            path: *const u8,
            len: usize,
            oflags: u32,
            base: u64,
            inheriting: u64,
            fdflags: u32,
            out: *mut u32,
        ) -> i32;
        pub(super) fn path_readlink(
            dir: u32,
            path: *const u8,
            len: usize,
            buf: *mut u8,
            cap: usize,
            used: *mut usize,
        ) -> i32;
        pub(super) fn path_unlink_file(dir: u32, path: *const u8, len: usize) -> i32;
        pub(super) fn path_create_directory(dir: u32, path: *const u8, len: usize) -> i32;
        pub(super) fn path_remove_directory(dir: u32, path: *const u8, len: usize) -> i32;
        pub(super) fn path_symlink(text: *const u8, text_len: usize, dir: u32, path: *const u8, len: usize) -> i32;
        pub(super) fn path_link(
            old_dir: u32,
            lookup: u32,
            old: *const u8,
            old_len: usize,
            dir: u32,
            path: *const u8,
            len: usize,
        ) -> i32;
        pub(super) fn path_rename(
            old_dir: u32,
            old: *const u8,
            old_len: usize,
            dir: u32,
            path: *const u8,
            len: usize,
        ) -> i32;
        pub(super) fn path_filestat_set_times(
            dir: u32,
            lookup: u32,
            path: *const u8,
            len: usize,
            accessed: u64,
            changed: u64,
            which: u32,
        ) -> i32;
        pub(super) fn fd_filestat_set_size(fd: u32, size: u64) -> i32;
        pub(super) fn poll_oneoff(
            input: *const [u64; 6],
            output: *mut [u64; 4],
            count: usize,
            events: *mut usize,
        ) -> i32;
        pub(super) fn proc_exit(code: u32) -> !;
    }
}

/// The path below `/` that preview1 wants, from a path as programs write it.
fn below_root(path: &[u8]) -> Result<Vec<u8>> {
    if path.is_empty() {
        return Err(Errno::NOENT);
    }
    let mut full = Vec::new();
    if path.first() != Some(&b'/') {
        full = crate::getcwd()?;
        full.push(b'/');
    }
    full.extend_from_slice(path);
    let below = full.iter().position(|&b| b != b'/').map_or(&b"."[..], |at| full.get(at..).unwrap_or_default());
    Ok(below.to_vec())
}

pub(crate) fn open(path: &[u8], how: Open) -> Result<Fd> {
    let below = below_root(path)?;
    let oflags = u32::from(how.create)
        | u32::from(how.directory) << 1
        | u32::from(how.exclusive) << 2
        | u32::from(how.truncate) << 3;
    let mut base = RIGHTS_PLAIN;
    if how.read {
        base |= RIGHTS_READ;
    }
    if how.write {
        base |= RIGHTS_WRITE;
    }
    let inheriting = RIGHTS_PLAIN | RIGHTS_READ | RIGHTS_WRITE;
    let flags = u32::from(how.append) | u32::from(how.nonblock) << 2;
    let mut fd = 0;
    // SAFETY: the path is a live slice, `fd` a live local.
    check(unsafe { wasi::path_open(ROOT, 1, below.as_ptr(), below.len(), oflags, base, inheriting, flags, &mut fd) })?;
    Ok(fd)
}

pub(crate) fn read(fd: Fd, into: &mut [u8]) -> Result<usize> {
    let iov = [into.as_mut_ptr() as usize, into.len()];
    let mut got = 0;
    // SAFETY: the vector names exactly the live slice `into`; an array of two 32-bit words has the layout of an iovec.
    check(unsafe { wasi::fd_read(fd, &iov, 1, &mut got) })?;
    Ok(got.min(into.len()))
}

pub(crate) fn write(fd: Fd, from: &[u8]) -> Result<usize> {
    let iov = [from.as_ptr() as usize, from.len()];
    let mut put = 0;
    // SAFETY: the vector names exactly the live slice `from`; an array of two 32-bit words has the layout of a ciovec.
    check(unsafe { wasi::fd_write(fd, &iov, 1, &mut put) })?;
    Ok(put)
}

pub(crate) fn seek(fd: Fd, by: i64) -> Result<u64> {
    let mut at = 0;
    // SAFETY: `at` is a live local; 1 is `whence` current.
    check(unsafe { wasi::fd_seek(fd, by, 1, &mut at) })?;
    Ok(at)
}

pub(crate) fn seek_to(fd: Fd, to: u64) -> Result<u64> {
    let to = i64::try_from(to).map_err(|_| Errno::INVAL)?;
    let mut at = 0;
    // SAFETY: `at` is a live local; 0 is `whence` set.
    check(unsafe { wasi::fd_seek(fd, to, 0, &mut at) })?;
    Ok(at)
}

pub(crate) fn set_size(fd: Fd, size: u64) -> Result<()> {
    // SAFETY: no memory is passed.
    check(unsafe { wasi::fd_filestat_set_size(fd, size) })
}

pub(crate) fn close(fd: Fd) -> Result<()> {
    // SAFETY: no memory is passed.
    check(unsafe { wasi::fd_close(fd) })
}

pub(crate) fn pipe() -> Result<(Fd, Fd)> {
    let mut ends = [0; 2];
    // SAFETY: `ends` is a live local of the size the border writes.
    check(unsafe { tidebox::pipe(&mut ends) })?;
    Ok((ends[0], ends[1]))
}

pub(crate) fn dup(fd: Fd, at_least: Fd) -> Result<Fd> {
    let mut copy = 0;
    // SAFETY: `copy` is a live local.
    check(unsafe { tidebox::dup(fd, at_least, &mut copy) })?;
    Ok(copy)
}

pub(crate) fn dup_to(fd: Fd, target: Fd) -> Result<()> {
    // SAFETY: no memory is passed.
    check(unsafe { tidebox::dup_to(fd, target) })
}

/// wasi-libc's rule: a character device that cannot seek.
pub(crate) fn is_terminal(fd: Fd) -> bool {
    const SEEK_AND_TELL: u64 = 1 << 2 | 1 << 5;
    let mut stat = [0; 3];
    // SAFETY: `stat` is a live local of 24 bytes, the size of `fdstat`.
    let code = unsafe { wasi::fd_fdstat_get(fd, &mut stat) };
    code == 0 && stat[0] & 255 == 2 && stat[1] & SEEK_AND_TELL == 0
}

pub(crate) fn poll_read(fd: Fd, timeout_ns: u64) -> Result<Readiness> {
    const CLOCK: u64 = 0;
    const FD_READ: u64 = 1;
    let subscriptions = [[1, CLOCK, 1, timeout_ns, 0, 0], [2, FD_READ, u64::from(fd), 0, 0, 0]];
    let mut events = [[0; 4]; 2];
    let mut count = 0;
    // SAFETY: both arrays are live locals of the sizes that two subscriptions and two events have.
    check(unsafe { wasi::poll_oneoff(subscriptions.as_ptr(), events.as_mut_ptr(), 2, &mut count) })?;
    let ready = events.iter().take(count).any(|event| event[0] == 2);
    Ok(if ready { Readiness::Ready } else { Readiness::TimedOut })
}

/// Waits for either descriptor and says which are ready. An event that tells of an error counts: the call that follows
/// meets the error.
pub(crate) fn poll_both(read: Fd, write: Fd) -> Result<(bool, bool)> {
    const FD_READ: u64 = 1;
    const FD_WRITE: u64 = 2;
    let subscriptions = [[1, FD_READ, u64::from(read), 0, 0, 0], [2, FD_WRITE, u64::from(write), 0, 0, 0]];
    let mut events = [[0; 4]; 2];
    let mut count = 0;
    // SAFETY: both arrays are live locals of the sizes that two subscriptions and two events have.
    check(unsafe { wasi::poll_oneoff(subscriptions.as_ptr(), events.as_mut_ptr(), 2, &mut count) })?;
    let told = |which: u64| events.iter().take(count).any(|event| event[0] == which);
    Ok((told(1), told(2)))
}

pub(crate) fn stat(path: &[u8], follow: bool) -> Result<Stat> {
    let mut raw = [0; 64];
    // SAFETY: the path is a live slice, `raw` a live local of the size the border writes.
    check(unsafe { tidebox::stat(path.as_ptr(), path.len(), u32::from(follow), &mut raw) })?;
    Ok(Stat::decode(&raw))
}

pub(crate) fn fstat(fd: Fd) -> Result<Stat> {
    let mut raw = [0; 64];
    // SAFETY: `raw` is a live local of the size the border writes.
    check(unsafe { tidebox::fstat(fd, &mut raw) })?;
    Ok(Stat::decode(&raw))
}

/// Whether the process was started with this descriptor, which lies at its place already.
pub(crate) fn inherit(_: u32, at: Fd) -> bool {
    fstat(at).is_ok()
}

pub(crate) fn access(path: &[u8], mode: u32) -> Result<()> {
    // SAFETY: the path is a live slice.
    check(unsafe { tidebox::access(path.as_ptr(), path.len(), mode) })
}

pub(crate) fn chmod(path: &[u8], mode: u32) -> Result<()> {
    // SAFETY: the path is a live slice.
    check(unsafe { tidebox::chmod(path.as_ptr(), path.len(), mode) })
}

pub(crate) fn umask(mask: u32) -> Result<u32> {
    let mut old = 0;
    // SAFETY: `old` is a live local.
    check(unsafe { tidebox::umask(mask, &mut old) })?;
    Ok(old)
}

pub(crate) fn chdir(path: &[u8]) -> Result<()> {
    // SAFETY: the path is a live slice.
    check(unsafe { tidebox::chdir(path.as_ptr(), path.len()) })
}

/// The length written, or the error together with the length that was needed.
pub(crate) fn getcwd(into: &mut [u8]) -> core::result::Result<usize, (Errno, usize)> {
    let mut len = 0;
    // SAFETY: the buffer is a live slice, `len` a live local.
    let code = unsafe { tidebox::getcwd(into.as_mut_ptr(), into.len(), &mut len) };
    check(code).map(|()| len.min(into.len())).map_err(|errno| (errno, len))
}

pub(crate) fn started() -> Started {
    let mut bytes = vec![0; Started::FIRST_BYTES];
    loop {
        let mut len = 0;
        // SAFETY: the buffer is a live slice, `len` a live local.
        let code = unsafe { tidebox::started(bytes.as_mut_ptr(), bytes.len(), &mut len) };
        if check(code) != Err(Errno::RANGE) || len <= bytes.len() {
            let told = Started::decode(bytes.get(..len).unwrap_or_default());
            return told.unwrap_or_else(|| another_version());
        }
        bytes.resize(len, 0);
    }
}

/// Ends the program: without its arguments it would do something else than it was asked for.
fn another_version() -> ! {
    let message =
        b"tidebox: this program and the sandbox around it are of different versions: build or install both anew\n";
    // Nothing is left to do for one whose messages cannot be written.
    let _ = crate::write_all(2, message);
    exit(126)
}

/// The length written, or the error together with the length that was needed.
pub(crate) fn shell_state_read(into: &mut [u8]) -> core::result::Result<usize, (Errno, usize)> {
    let mut len = 0;
    // SAFETY: the buffer is a live slice, `len` a live local.
    let code = unsafe { tidebox::shell_state_read(into.as_mut_ptr(), into.len(), &mut len) };
    check(code).map(|()| len.min(into.len())).map_err(|errno| (errno, len))
}

pub(crate) fn shell_state_write(state: &[u8]) -> Result<()> {
    // SAFETY: the state is a live slice.
    check(unsafe { tidebox::shell_state_write(state.as_ptr(), state.len()) })
}

pub(crate) fn read_dir(path: &[u8]) -> Result<Vec<Entry>> {
    let fd = open(path, Open { read: true, directory: true, ..Open::default() })?;
    let listed = list(fd);
    close(fd)?;
    listed
}

/// Reads all entries. A buffer that came back full may end within an entry, which is then read again from its cookie.
fn list(fd: Fd) -> Result<Vec<Entry>> {
    let mut entries = Vec::new();
    let mut buffer = vec![0; 4096];
    let mut cookie = 0;
    loop {
        let mut used = 0;
        // SAFETY: the buffer is a live slice, `used` a live local.
        check(unsafe { wasi::fd_readdir(fd, buffer.as_mut_ptr(), buffer.len(), cookie, &mut used) })?;
        let used = used.min(buffer.len());
        let mut rest = buffer.get(..used).unwrap_or_default();
        let before = cookie;
        while let Some((next, entry, after)) = split_entry(rest) {
            cookie = next;
            rest = after;
            if entry.name != b"." && entry.name != b".." {
                entries.push(entry);
            }
        }
        if used < buffer.len() {
            return Ok(entries);
        }
        if cookie == before {
            let longer = buffer.len() * 2;
            buffer.resize(longer, 0);
        }
    }
}

/// The first entry of a listing: (cookie of the next, entry, what follows).
fn split_entry(raw: &[u8]) -> Option<(u64, Entry, &[u8])> {
    let (head, rest) = raw.split_at_checked(24)?;
    let next = u64::from_le_bytes(head.get(..8)?.try_into().ok()?);
    let len = u32::from_le_bytes(head.get(16..20)?.try_into().ok()?) as usize;
    let kind = match head.get(20)? {
        // preview1 has no number for named pipes, and the kernel's listings have nothing else without one.
        0 => FileKind::Pipe,
        1 => FileKind::BlockDevice,
        2 => FileKind::CharDevice,
        3 => FileKind::Dir,
        4 => FileKind::File,
        5 | 6 => FileKind::Socket,
        7 => FileKind::Symlink,
        _ => FileKind::Unknown,
    };
    let (name, after) = rest.split_at_checked(len)?;
    Some((next, Entry { name: name.to_vec(), kind }, after))
}

pub(crate) fn read_link(path: &[u8]) -> Result<Vec<u8>> {
    let below = below_root(path)?;
    let mut text = vec![0; 4096];
    let mut used = 0;
    // SAFETY: path and buffer are live slices, `used` a live local.
    check(unsafe { wasi::path_readlink(ROOT, below.as_ptr(), below.len(), text.as_mut_ptr(), text.len(), &mut used) })?;
    text.truncate(used);
    Ok(text)
}

pub(crate) fn unlink(path: &[u8]) -> Result<()> {
    let below = below_root(path)?;
    // SAFETY: the path is a live slice.
    check(unsafe { wasi::path_unlink_file(ROOT, below.as_ptr(), below.len()) })
}

pub(crate) fn make_dir(path: &[u8]) -> Result<()> {
    let below = below_root(path)?;
    // SAFETY: the path is a live slice.
    check(unsafe { wasi::path_create_directory(ROOT, below.as_ptr(), below.len()) })
}

pub(crate) fn remove_dir(path: &[u8]) -> Result<()> {
    let below = below_root(path)?;
    // SAFETY: the path is a live slice.
    check(unsafe { wasi::path_remove_directory(ROOT, below.as_ptr(), below.len()) })
}

pub(crate) fn symlink(text: &[u8], path: &[u8]) -> Result<()> {
    let below = below_root(path)?;
    // SAFETY: text and path are live slices.
    check(unsafe { wasi::path_symlink(text.as_ptr(), text.len(), ROOT, below.as_ptr(), below.len()) })
}

pub(crate) fn make_fifo(path: &[u8], mode: u32) -> Result<()> {
    // SAFETY: the path is a live slice.
    check(unsafe { tidebox::mkfifo(path.as_ptr(), path.len(), mode) })
}

pub(crate) fn link(existing: &[u8], path: &[u8]) -> Result<()> {
    let (old, new) = (below_root(existing)?, below_root(path)?);
    // SAFETY: both paths are live slices.
    check(unsafe { wasi::path_link(ROOT, 0, old.as_ptr(), old.len(), ROOT, new.as_ptr(), new.len()) })
}

pub(crate) fn rename(from: &[u8], to: &[u8]) -> Result<()> {
    let (old, new) = (below_root(from)?, below_root(to)?);
    // SAFETY: both paths are live slices.
    check(unsafe { wasi::path_rename(ROOT, old.as_ptr(), old.len(), ROOT, new.as_ptr(), new.len()) })
}

pub(crate) fn set_times(path: &[u8], follow: bool, accessed: Time, changed: Time) -> Result<()> {
    let below = below_root(path)?;
    let (accessed, sets_accessed) = match accessed {
        Time::Keep => (0, 0),
        Time::At(ns) => (ns, 1),
    };
    let (changed, sets_changed) = match changed {
        Time::Keep => (0, 0),
        Time::At(ns) => (ns, 1 << 2),
    };
    // SAFETY: the path is a live slice.
    check(unsafe {
        wasi::path_filestat_set_times(
            ROOT,
            u32::from(follow),
            below.as_ptr(),
            below.len(),
            accessed,
            changed,
            sets_accessed | sets_changed,
        )
    })
}

pub(crate) fn spawn(request: &SpawnRequest<'_>) -> Result<u32> {
    let bytes = request.encode();
    let mut pid = 0;
    // SAFETY: the request is a live slice, `pid` a live local.
    check(unsafe { tidebox::spawn(bytes.as_ptr(), bytes.len(), &mut pid) })?;
    Ok(pid)
}

pub(crate) fn fork<'a>(child: Box<dyn FnOnce() + 'a>) -> Result<u32> {
    // The address of a fat box is one word, which is what `arg` carries.
    let boxed: *mut Box<dyn FnOnce() + 'a> = Box::into_raw(Box::new(child));
    let mut pid = 0;
    // SAFETY: `pid` is a live local. The kernel copies this memory before the call returns, so the copy of the
    // closure, and everything that it borrows, is whole in the child whatever happens to it here afterwards.
    let code = unsafe { tidebox::fork(boxed as usize as i32, &mut pid) };
    // SAFETY: the pointer came from `into_raw` above, and only the child's own memory had another use for it.
    drop(unsafe { Box::from_raw(boxed) });
    check(code)?;
    Ok(pid)
}

/// Where a forked child starts. The kernel passes the `arg` of the `fork` call that made the child.
#[unsafe(no_mangle)]
extern "C" fn tidebox_fork_child(arg: i32) {
    let boxed = arg as usize as *mut Box<dyn FnOnce()>;
    // SAFETY: `fork` above made the pointer and left it whole in this copy of the memory; nobody else in this process
    // knows it. What the closure borrows lies in frames below which this call's stack starts, so it outlives the call.
    let child = unsafe { Box::from_raw(boxed) };
    child();
    exit(0)
}

pub(crate) fn wait(pid: i32, block: bool) -> Result<Option<Waited>> {
    let mut out = [0; 2];
    // SAFETY: `out` is a live local of the size the border writes.
    check(unsafe { tidebox::wait(pid, u32::from(!block), &mut out) })?;
    Ok((out[0] != 0).then_some(Waited { pid: out[0], status: Status::decode(out[1]) }))
}

pub(crate) fn getids() -> Result<Ids> {
    let mut ids = [0; 5];
    // SAFETY: `ids` is a live local of the size the border writes.
    check(unsafe { tidebox::getids(&mut ids) })?;
    let [pid, ppid, pgid, uid, gid] = ids;
    Ok(Ids { pid, ppid, pgid, uid, gid })
}

pub(crate) fn setpgid(pid: u32, pgid: u32) -> Result<()> {
    // SAFETY: no memory is passed.
    check(unsafe { tidebox::setpgid(pid, pgid) })
}

pub(crate) fn kill(pid: i32, signal: u32) -> Result<()> {
    // SAFETY: no memory is passed.
    check(unsafe { tidebox::kill(pid, signal) })
}

pub(crate) fn sig_set(signal: u32, disposition: u32) -> Result<()> {
    // SAFETY: no memory is passed.
    check(unsafe { tidebox::sig_set(signal, disposition) })
}

pub(crate) fn sig_take() -> Result<u64> {
    let mut set = 0;
    // SAFETY: `set` is a live local.
    check(unsafe { tidebox::sig_take(&mut set) })?;
    Ok(set)
}

pub(crate) fn limits() -> Result<Limits> {
    let mut raw = tidebox::RawLimits::default();
    // SAFETY: `raw` is a live local with the layout that the border writes.
    check(unsafe { tidebox::limits(&mut raw) })?;
    Ok(Limits {
        process_memory_bytes: raw.memory,
        file_bytes: raw.files,
        descriptors: raw.descriptors,
        processes: raw.processes,
        nesting: raw.nesting,
    })
}

pub(crate) fn exit(code: u8) -> ! {
    // SAFETY: the call does not return.
    unsafe { wasi::proc_exit(u32::from(code)) }
}

pub(crate) fn args() -> Vec<Vec<u8>> {
    strings(wasi::args_sizes_get, wasi::args_get)
}

pub(crate) fn environ() -> Vec<Vec<u8>> {
    strings(wasi::environ_sizes_get, wasi::environ_get)
}

type Sizes = unsafe extern "C" fn(*mut usize, *mut usize) -> i32;
type Fill = unsafe extern "C" fn(*mut *mut u8, *mut u8) -> i32;

/// Fetches a list of NUL-terminated strings. The strings lie one after the other, so the pointers are not needed.
fn strings(sizes: Sizes, fill: Fill) -> Vec<Vec<u8>> {
    let (mut count, mut len) = (0, 0);
    // SAFETY: both are live locals.
    if unsafe { sizes(&mut count, &mut len) } != 0 {
        return Vec::new();
    }
    let mut pointers = vec![core::ptr::null_mut(); count];
    let mut bytes = vec![0; len];
    // SAFETY: both buffers have the sizes that the kernel just named.
    if unsafe { fill(pointers.as_mut_ptr(), bytes.as_mut_ptr()) } != 0 {
        return Vec::new();
    }
    bytes.split(|&b| b == 0).take(count).map(<[u8]>::to_vec).collect()
}

pub(crate) fn clock(id: u32) -> u64 {
    let mut now = 0;
    // SAFETY: `now` is a live local. The two clocks asked for always exist, so the code says nothing.
    unsafe { wasi::clock_time_get(id, 1, &mut now) };
    now
}

pub(crate) fn random(into: &mut [u8]) -> Result<()> {
    // SAFETY: the buffer is a live slice.
    check(unsafe { wasi::random_get(into.as_mut_ptr(), into.len()) })
}

/// The allocator of std with an end in words: where there is no memory left, it writes a message and ends the program, where
/// std would end it in a trap.
#[derive(Debug)]
pub struct EndingAllocator {
    /// What is written to standard error.
    pub message: &'static [u8],
    /// The exit code.
    pub code: u8,
    /// Allocations of so many bytes and more fail as usual, so that who made them by `try_reserve` can answer.
    pub fails_from: usize,
}

impl EndingAllocator {
    fn checked(&self, at: *mut u8, size: usize) -> *mut u8 {
        if at.is_null() && size < self.fails_from {
            // Nothing may be allocated here, so the number of bytes stays untold; without standard error nobody is told.
            let _ = write(2, self.message);
            exit(self.code);
        }
        at
    }
}

// SAFETY: every call goes to the system's allocator with the arguments it came with, and what that answers is answered.
unsafe impl std::alloc::GlobalAlloc for EndingAllocator {
    unsafe fn alloc(&self, layout: std::alloc::Layout) -> *mut u8 {
        // SAFETY: the caller's promises are those that the system's allocator asks for.
        self.checked(unsafe { std::alloc::System.alloc(layout) }, layout.size())
    }

    unsafe fn alloc_zeroed(&self, layout: std::alloc::Layout) -> *mut u8 {
        // SAFETY: as above.
        self.checked(unsafe { std::alloc::System.alloc_zeroed(layout) }, layout.size())
    }

    unsafe fn dealloc(&self, at: *mut u8, layout: std::alloc::Layout) {
        // SAFETY: as above.
        unsafe { std::alloc::System.dealloc(at, layout) }
    }

    unsafe fn realloc(&self, at: *mut u8, layout: std::alloc::Layout, size: usize) -> *mut u8 {
        // SAFETY: as above.
        self.checked(unsafe { std::alloc::System.realloc(at, layout, size) }, size)
    }
}
