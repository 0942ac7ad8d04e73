//! Open files, pipes and queries on their descriptors.

use super::fstat;
use super::path::{ROOT, below_root};
use super::raw::tidebox;
use super::raw::wasi;
use crate::errno::check;
use crate::{Errno, Fd, Open, Readiness, Result};

/// WASI descriptor of Unix descriptor *n* ≥ 3, minus *n*.
pub(crate) const FD_SHIFT: u32 = 64;
/// Rights requested by every open, as bits: all 30 except reading, writing and related rights.
const RIGHTS_PLAIN: u64 = 0x3fff_ffff & !(RIGHTS_READ | RIGHTS_WRITE);
/// `fd_read`, `fd_readdir`.
const RIGHTS_READ: u64 = 1 << 1 | 1 << 14;
/// `fd_datasync`, `fd_write`, `fd_allocate`, `fd_filestat_set_size`.
const RIGHTS_WRITE: u64 = 1 | 1 << 6 | 1 << 8 | 1 << 22;

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
    // SAFETY: the vector names exactly the live slice `into`; `[usize; 2]` has the layout of an iovec.
    check(unsafe { wasi::fd_read(fd, &iov, 1, &mut got) })?;
    Ok(got.min(into.len()))
}

pub(crate) fn write(fd: Fd, from: &[u8]) -> Result<usize> {
    let iov = [from.as_ptr() as usize, from.len()];
    let mut put = 0;
    // SAFETY: the vector names exactly the live slice `from`; `[usize; 2]` has the layout of a ciovec.
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

pub(crate) fn set_nonblocking(fd: Fd) -> Result<()> {
    const NONBLOCK: u32 = 1 << 2;
    // SAFETY: no memory is passed.
    check(unsafe { wasi::fd_fdstat_set_flags(fd, NONBLOCK) })
}

pub(crate) fn close(fd: Fd) -> Result<()> {
    // SAFETY: no memory is passed.
    check(unsafe { wasi::fd_close(fd) })
}

pub(crate) fn pipe() -> Result<(Fd, Fd)> {
    let mut ends = [0; 2];
    // SAFETY: `ends` is a live local of the size the kernel writes.
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

/// Returns whether the process was started with this descriptor, which already has its number.
pub(crate) fn inherit(_: u32, at: Fd) -> bool {
    fstat(at).is_ok()
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

/// Waits until a descriptor is readable, and returns which are.
pub(crate) fn poll_reads(first: Fd, second: Option<Fd>, timeout_ns: Option<u64>) -> Result<(bool, bool)> {
    const CLOCK: u64 = 0;
    const FD_READ: u64 = 1;
    let mut subscriptions = [[0; 6]; 3];
    let wanted = [
        Some([1, FD_READ, u64::from(first), 0, 0, 0]),
        second.map(|fd| [2, FD_READ, u64::from(fd), 0, 0, 0]),
        timeout_ns.map(|timeout| [3, CLOCK, 1, timeout, 0, 0]),
    ];
    let mut len = 0;
    for (slot, subscription) in subscriptions.iter_mut().zip(wanted.into_iter().flatten()) {
        *slot = subscription;
        len += 1;
    }
    let mut events = [[0; 4]; 3];
    let mut count = 0;
    // SAFETY: both arrays are live locals of the sizes that three subscriptions and three events have, and `len` is at most 3.
    check(unsafe { wasi::poll_oneoff(subscriptions.as_ptr(), events.as_mut_ptr(), len, &mut count) })?;
    let is_ready = |which: u64| events.iter().take(count).any(|event| event[0] == which);
    Ok((is_ready(1), is_ready(2)))
}

/// Waits for either descriptor and returns which are ready. An error event counts as ready: the next call reports the error.
pub(crate) fn poll_both(read: Fd, write: Fd) -> Result<(bool, bool)> {
    const FD_READ: u64 = 1;
    const FD_WRITE: u64 = 2;
    let subscriptions = [[1, FD_READ, u64::from(read), 0, 0, 0], [2, FD_WRITE, u64::from(write), 0, 0, 0]];
    let mut events = [[0; 4]; 2];
    let mut count = 0;
    // SAFETY: both arrays are live locals of the sizes that two subscriptions and two events have.
    check(unsafe { wasi::poll_oneoff(subscriptions.as_ptr(), events.as_mut_ptr(), 2, &mut count) })?;
    let encoded = |which: u64| events.iter().take(count).any(|event| event[0] == which);
    Ok((encoded(1), encoded(2)))
}
