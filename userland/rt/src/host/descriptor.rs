//! Open files, pipes and their descriptors.

use super::errno::{check, last_error};
use super::path::system_path;
use crate::{Errno, Fd, Open, Readiness, Result};

/// Equal to the distance in the sandbox, so that descriptors of scripts and of the shell stay apart here too.
pub(crate) const FD_SHIFT: u32 = 64;

pub(super) fn raw(fd: Fd) -> i32 {
    i32::try_from(fd).unwrap_or(-1)
}

fn fd(raw: i32) -> Fd {
    Fd::try_from(raw).unwrap_or(Fd::MAX)
}

pub(crate) fn set_nonblocking(fd: Fd) -> Result<()> {
    // SAFETY: no memory is passed.
    let flags = unsafe { libc::fcntl(raw(fd), libc::F_GETFL) };
    // SAFETY: no memory is passed.
    check(unsafe { libc::fcntl(raw(fd), libc::F_SETFL, flags | libc::O_NONBLOCK) }).map(drop)
}

pub(crate) fn open(path: &[u8], how: Open) -> Result<Fd> {
    let path = system_path(path)?;
    let mut flags = libc::O_CLOEXEC;
    flags |= match (how.read, how.write) {
        (true, true) => libc::O_RDWR,
        (false, true) => libc::O_WRONLY,
        _ => libc::O_RDONLY,
    };
    for (wanted, flag) in [
        (how.append, libc::O_APPEND),
        (how.create, libc::O_CREAT),
        (how.exclusive, libc::O_EXCL),
        (how.truncate, libc::O_TRUNC),
        (how.directory, libc::O_DIRECTORY),
        (how.nonblock, libc::O_NONBLOCK),
    ] {
        if wanted {
            flags |= flag;
        }
    }
    // SAFETY: the path is NUL-terminated and live.
    check(unsafe { libc::open(path.as_ptr(), flags, 0o666) }).map(fd)
}

pub(crate) fn read(fd: Fd, into: &mut [u8]) -> Result<usize> {
    // SAFETY: the buffer is a live slice.
    let got = unsafe { libc::read(raw(fd), into.as_mut_ptr().cast(), into.len()) };
    usize::try_from(got).map_err(|_| last_error())
}

pub(crate) fn write(fd: Fd, from: &[u8]) -> Result<usize> {
    // SAFETY: the buffer is a live slice.
    let put = unsafe { libc::write(raw(fd), from.as_ptr().cast(), from.len()) };
    usize::try_from(put).map_err(|_| last_error())
}

pub(crate) fn seek(fd: Fd, by: i64) -> Result<u64> {
    // SAFETY: no memory is passed.
    let at = unsafe { libc::lseek(raw(fd), by, libc::SEEK_CUR) };
    u64::try_from(at).map_err(|_| last_error())
}

pub(crate) fn seek_to(fd: Fd, to: u64) -> Result<u64> {
    let to = i64::try_from(to).map_err(|_| Errno::INVAL)?;
    // SAFETY: no memory is passed.
    let at = unsafe { libc::lseek(raw(fd), to, libc::SEEK_SET) };
    u64::try_from(at).map_err(|_| last_error())
}

pub(crate) fn set_size(fd: Fd, size: u64) -> Result<()> {
    let size = i64::try_from(size).map_err(|_| Errno::FBIG)?;
    // SAFETY: no memory is passed.
    check(unsafe { libc::ftruncate(raw(fd), size) }).map(drop)
}

pub(crate) fn close(fd: Fd) -> Result<()> {
    // SAFETY: no memory is passed.
    check(unsafe { libc::close(raw(fd)) }).map(drop)
}

pub(crate) fn pipe() -> Result<(Fd, Fd)> {
    let mut ends = [0; 2];
    // SAFETY: `ends` is a live local.
    check(unsafe { libc::pipe2(ends.as_mut_ptr(), libc::O_CLOEXEC) })?;
    Ok((fd(ends[0]), fd(ends[1])))
}

pub(crate) fn dup(from: Fd, at_least: Fd) -> Result<Fd> {
    // SAFETY: no memory is passed.
    check(unsafe { libc::fcntl(raw(from), libc::F_DUPFD_CLOEXEC, raw(at_least)) }).map(fd)
}

pub(crate) fn dup_to(fd: Fd, target: Fd) -> Result<()> {
    // SAFETY: no memory is passed.
    check(unsafe { libc::dup2(raw(fd), raw(target)) }).map(drop)
}

/// Moves a descriptor that the process was started with to its number in the sandbox; returns whether it exists.
pub(crate) fn inherit(n: u32, target: Fd) -> bool {
    // SAFETY: no memory is passed, and the marked descriptor is closed only when another program starts.
    let flags = unsafe { libc::fcntl(raw(n), libc::F_GETFD) };
    let open = flags >= 0 && flags & libc::FD_CLOEXEC == 0 && dup_to(n, target).is_ok();
    if open {
        // SAFETY: as above.
        unsafe { libc::fcntl(raw(n), libc::F_SETFD, libc::FD_CLOEXEC) };
    }
    open
}

pub(crate) fn is_terminal(fd: Fd) -> bool {
    // SAFETY: no memory is passed.
    unsafe { libc::isatty(raw(fd)) == 1 }
}

pub(crate) fn poll_read(fd: Fd, timeout_ns: u64) -> Result<Readiness> {
    let mut wanted = libc::pollfd { fd: raw(fd), events: libc::POLLIN, revents: 0 };
    let timeout_ms = i32::try_from(timeout_ns.div_ceil(1_000_000)).unwrap_or(i32::MAX);
    // SAFETY: `wanted` is one live entry.
    let ready = check(unsafe { libc::poll(&mut wanted, 1, timeout_ms) })?;
    Ok(if ready > 0 { Readiness::Ready } else { Readiness::TimedOut })
}

pub(crate) fn poll_reads(first: Fd, second: Option<Fd>, timeout_ns: Option<u64>) -> Result<(bool, bool)> {
    let wanted = |fd| libc::pollfd { fd, events: libc::POLLIN, revents: 0 };
    // A negative descriptor is ignored.
    let mut both = [wanted(raw(first)), wanted(second.map_or(-1, raw))];
    let timeout_ms = timeout_ns.map_or(-1, |ns| i32::try_from(ns.div_ceil(1_000_000)).unwrap_or(i32::MAX));
    // SAFETY: `both` is two live entries.
    check(unsafe { libc::poll(both.as_mut_ptr(), 2, timeout_ms) })?;
    Ok((both[0].revents != 0, both[1].revents != 0))
}

pub(crate) fn poll_both(read: Fd, write: Fd) -> Result<(bool, bool)> {
    let wanted = |fd, events| libc::pollfd { fd: raw(fd), events, revents: 0 };
    let mut both = [wanted(read, libc::POLLIN), wanted(write, libc::POLLOUT)];
    // SAFETY: `both` is two live entries.
    check(unsafe { libc::poll(both.as_mut_ptr(), 2, -1) })?;
    Ok((both[0].revents != 0, both[1].revents != 0))
}
