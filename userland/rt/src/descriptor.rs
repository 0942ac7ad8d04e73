//! Descriptors: open, read, write, pipes, copies.

use crate::{Errno, Result, border};

/// A WASI descriptor number. [`fd_of_unix`] maps the numbers that shell scripts use.
pub type Fd = u32;

/// Open flags.
#[derive(Clone, Copy, Debug, Default)]
pub struct Open {
    /// Allow reading.
    pub read: bool,
    /// Allow writing.
    pub write: bool,
    /// Every write goes to the end.
    pub append: bool,
    /// Create the file if it is missing.
    pub create: bool,
    /// Together with `create`: refuse an existing file.
    pub exclusive: bool,
    /// Empty the file first.
    pub truncate: bool,
    /// Refuse anything but a directory.
    pub directory: bool,
    /// Never block: neither for the other end of a named pipe, nor for bytes or space.
    pub nonblock: bool,
}

/// Result of a poll.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Readiness {
    /// A read will not block.
    Ready,
    /// The timeout expired first.
    TimedOut,
}

/// Returns the WASI descriptor of Unix descriptor `n`: 3 and up are 64 higher, because 3 is a preopened directory.
pub fn fd_of_unix(n: u32) -> Fd {
    if n < 3 { n } else { n.saturating_add(border::FD_SHIFT) }
}

/// Returns the Unix descriptor of a WASI descriptor; `None` for the preopened directories and the gap after them.
pub fn unix_of_fd(fd: Fd) -> Option<u32> {
    if fd < 3 { Some(fd) } else { fd.checked_sub(border::FD_SHIFT).filter(|&n| n >= 3) }
}

/// Returns the WASI descriptor of Unix descriptor `n` if the process was started with it.
pub fn inherited(n: u32) -> Option<Fd> {
    border::inherit(n, fd_of_unix(n)).then(|| fd_of_unix(n))
}

/// Opens `path`, resolved against the working directory.
pub fn open(path: &[u8], how: Open) -> Result<Fd> {
    border::open(path, how)
}

/// Reads once. 0 bytes mean the end of the file.
pub fn read(fd: Fd, into: &mut [u8]) -> Result<usize> {
    border::read(fd, into)
}

/// Writes once and returns the number of bytes written.
pub fn write(fd: Fd, from: &[u8]) -> Result<usize> {
    border::write(fd, from)
}

/// Writes everything; retries after an interruption by a caught signal.
pub fn write_all(fd: Fd, mut from: &[u8]) -> Result<()> {
    while !from.is_empty() {
        match write(fd, from) {
            Ok(0) => return Err(Errno::IO),
            Ok(n) => from = from.get(n..).unwrap_or_default(),
            Err(Errno::INTR) => {}
            Err(errno) => return Err(errno),
        }
    }
    Ok(())
}

/// Moves the offset by `by` and returns the new one. `SPIPE` if the descriptor cannot seek.
pub fn seek(fd: Fd, by: i64) -> Result<u64> {
    border::seek(fd, by)
}

/// Sets the offset to `to` bytes from the start. `SPIPE` if the descriptor cannot seek.
pub fn seek_to(fd: Fd, to: u64) -> Result<u64> {
    border::seek_to(fd, to)
}

/// Truncates or extends a file to `size` bytes; the extension reads as zeros.
pub fn set_size(fd: Fd, size: u64) -> Result<()> {
    border::set_size(fd, size)
}

/// Lets reads, writes and connections fail with `AGAIN` instead of blocking.
pub fn set_nonblocking(fd: Fd) -> Result<()> {
    border::set_nonblocking(fd)
}

/// Closes a descriptor.
pub fn close(fd: Fd) -> Result<()> {
    border::close(fd)
}

/// Makes a pipe: (read end, write end).
pub fn pipe() -> Result<(Fd, Fd)> {
    border::pipe()
}

/// Copies to the lowest free descriptor that is at least `at_least`.
pub fn dup(fd: Fd, at_least: Fd) -> Result<Fd> {
    border::dup(fd, at_least)
}

/// Copies to `target`, closing it first. Targets 3 and 4 return `INVAL`.
pub fn dup_to(fd: Fd, target: Fd) -> Result<()> {
    border::dup_to(fd, target)
}

/// Moves a descriptor to the lowest free one that is at least `at_least` and closes the old one.
pub fn move_fd(fd: Fd, at_least: Fd) -> Result<Fd> {
    let moved = dup(fd, at_least);
    close(fd)?;
    moved
}

/// Returns whether the descriptor is a terminal.
pub fn is_terminal(fd: Fd) -> bool {
    border::is_terminal(fd)
}

/// Waits until `fd` is readable, at most `timeout_ns` nanoseconds. `INTR` if a caught signal arrives first.
pub fn poll_read(fd: Fd, timeout_ns: u64) -> Result<Readiness> {
    border::poll_read(fd, timeout_ns)
}

/// Waits until one of the descriptors is readable, and returns which are; neither after `timeout_ns` nanoseconds. `INTR` if a
/// caught signal arrives first.
pub fn poll_reads(first: Fd, second: Option<Fd>, timeout_ns: Option<u64>) -> Result<(bool, bool)> {
    border::poll_reads(first, second, timeout_ns)
}

/// Waits until `read` is readable or `write` accepts at least 4,096 bytes, and returns which. An error or hang-up counts as
/// ready: the next call reports it. `INTR` if a caught signal arrives first.
pub fn poll_both(read: Fd, write: Fd) -> Result<(bool, bool)> {
    border::poll_both(read, write)
}
