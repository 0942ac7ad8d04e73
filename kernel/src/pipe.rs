//! Pipes: a ring buffer between descriptors, and its waiters.

use std::collections::VecDeque;
use std::task::Waker;

use crate::errno::Errno;
use crate::fs::Ino;
use crate::kernel::Kernel;
use crate::open_file::FileObject;
use crate::process::Pid;
use crate::waiters::Waiters;

/// Writes of at most this many bytes are atomic, as POSIX requires for `PIPE_BUF`.
pub(crate) const ATOMIC_BYTES: usize = 4096;

/// Number of opens of each end of a FIFO.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct OpenCounts {
    pub(crate) readers: u64,
    pub(crate) writers: u64,
}

/// A pipe. The ring starts empty and grows on demand, because most pipes of a shell carry a line or two.
#[derive(Debug, Default)]
pub(crate) struct Pipe {
    ring: VecDeque<u8>,
    capacity: usize,
    /// Open files that read or write, not descriptors.
    pub(crate) readers: u32,
    pub(crate) writers: u32,
    /// The inode of a FIFO, which is held while this is open.
    pub(crate) ino: Option<Ino>,
    /// Open counts of a FIFO, so that a waiting process notices an end that was open only briefly.
    pub(crate) opened: OpenCounts,
    /// A writer was killed because a spooled pipe was full: the reader must not treat the end of the data as EOF.
    pub(crate) truncated: bool,
    /// The writer was the end of a connection, and was closed with unread data: the reader gets `CONNRESET` at the end.
    pub(crate) is_reset: bool,
    waiters: Waiters,
}

impl Pipe {
    /// `capacity` must be at least [`ATOMIC_BYTES`], or an atomic write could never succeed.
    pub(crate) fn new(capacity: usize) -> Self {
        Self { capacity: capacity.max(ATOMIC_BYTES), readers: 1, writers: 1, ..Self::default() }
    }

    pub(crate) fn len(&self) -> usize {
        self.ring.len()
    }

    pub(crate) fn available(&self) -> usize {
        self.capacity.saturating_sub(self.ring.len())
    }

    /// Returns whether it is a FIFO that was never opened for reading.
    pub(crate) fn lacks_reader(&self) -> bool {
        self.ino.is_some() && self.opened.readers == 0
    }

    /// Appends the bytes of `src` that fit and returns their number.
    pub(crate) fn push(&mut self, src: &[u8]) -> usize {
        let n = src.len().min(self.available());
        let Some(src) = src.get(..n) else { return 0 };
        if self.ring.len() + n > self.ring.capacity() {
            let requested = (self.ring.len() + n).next_power_of_two().min(self.capacity);
            self.ring.reserve_exact(requested - self.ring.len());
        }
        self.ring.extend(src);
        n
    }

    /// Copies bytes starting `past` bytes after the front without consuming them, so that a memory fault loses no data.
    pub(crate) fn peek(&self, past: u64, dst: &mut [u8]) -> usize {
        let past = usize::try_from(past).unwrap_or(usize::MAX);
        let (front, back) = self.ring.as_slices();
        let back_offset = past.saturating_sub(front.len());
        let first = copy(front.get(past..).unwrap_or_default(), dst);
        let rest = dst.get_mut(first..).unwrap_or_default();
        first + copy(back.get(back_offset..).unwrap_or_default(), rest)
    }

    pub(crate) fn skip(&mut self, n: usize) {
        self.ring.drain(..n.min(self.ring.len()));
    }

    /// Registers a caller of the host.
    pub(crate) fn add_host_waiter(&mut self, waker: &Waker) {
        self.waiters.add_host(waker);
    }

    pub(crate) fn add_waiter(&mut self, pid: Pid) {
        self.waiters.add_process(pid);
    }
}

/// Copies the bytes of `src` that fit.
fn copy(src: &[u8], dst: &mut [u8]) -> usize {
    let n = src.len().min(dst.len());
    if let (Some(dst), Some(src)) = (dst.get_mut(..n), src.get(..n)) {
        dst.copy_from_slice(src);
    }
    n
}

/// Total capacity above which new pipes are small. Linux's `pipe-user-pages-soft` is the same 64 MiB.
const SOFT_BYTES: usize = 64 << 20;
/// Maximum total capacity including small pipes, so that a program that fills thousands of pipes does not fill the host's memory.
const HARD_BYTES: usize = 96 << 20;

/// Total capacity of all spooled pipes of a sandbox, in full pipes.
const SPOOLED_PIPES: usize = 8;

impl Kernel {
    /// Creates a pipe with one reader and one writer, charged by its capacity. `NFILE` if the total capacity is exceeded.
    pub(crate) fn new_pipe(&mut self) -> Result<u32, Errno> {
        if let Some(spool) = self.spool_bytes {
            // Charged on write: hardly any pipe is ever full.
            return Ok(self.pipes.insert(Pipe::new(spool)));
        }
        let requested = (self.limits.pipe_bytes as usize).clamp(ATOMIC_BYTES, SOFT_BYTES);
        let capacity = if self.pipe_bytes + requested <= SOFT_BYTES { requested } else { ATOMIC_BYTES };
        if self.pipe_bytes + capacity > HARD_BYTES {
            return Err(Errno::Nfile);
        }
        self.pipe_bytes += capacity;
        Ok(self.pipes.insert(Pipe::new(capacity)))
    }

    /// Switches to spooled pipes, for an engine that cannot run two processes concurrently: a pipe holds up to `bytes` (at least
    /// a page), all pipes of a sandbox together eight times as much. A writer that fills the pipe gets SIGPIPE, because the
    /// reader has not started and cannot drain it. At the truncation point the reader gets `IO`, never EOF.
    pub fn spool_pipes(&mut self, bytes: usize) {
        self.spool_bytes = Some(bytes.max(ATOMIC_BYTES));
    }

    /// Returns whether a process that has not started reads a pipe that another process can still write. It would wait for that
    /// process, which may be below it on the stack; other processes must start first.
    pub fn would_block(&self, pid: Pid) -> bool {
        let Ok(process) = self.process(pid) else { return false };
        let ends = || process.fds.iter().filter_map(|(_, entry)| self.files.get(entry.file)).map(|file| &file.what);
        let writes = |pipe: u32| {
            ends().any(|end| matches!(end, FileObject::Writer(other) | FileObject::Both(other) if *other == pipe))
        };
        let written = |pipe: u32| self.pipes.get(pipe).is_some_and(|found| found.writers > 0);
        ends().any(|end| matches!(end, FileObject::Reader(pipe) if written(*pipe) && !writes(*pipe)))
    }

    /// Returns the bytes that a spooled pipe accepts now; `None` if pipes are not spooled.
    pub(crate) fn spool_room(&self, pipe: u32) -> Option<usize> {
        let spool = self.spool_bytes?;
        let of_all = spool.saturating_mul(SPOOLED_PIPES).saturating_sub(self.pipe_bytes);
        Some(self.pipes.get(pipe).map_or(0, Pipe::available).min(of_all))
    }

    /// Wakes all waiters of the pipe.
    pub(crate) fn wake_pipe(&mut self, pipe: u32) {
        if let Some(found) = self.pipes.get_mut(pipe) {
            found.waiters.wake(&mut self.processes);
        }
    }

    pub(crate) fn close_pipe_end(&mut self, pipe: u32, writer: bool) {
        let Some(found) = self.pipes.get_mut(pipe) else {
            return;
        };
        let ends = if writer { &mut found.writers } else { &mut found.readers };
        *ends = ends.saturating_sub(1);
        let spooled = self.spool_bytes.is_some();
        if found.readers == 0 && found.writers == 0 && !(spooled && found.lacks_reader() && found.len() > 0) {
            self.free_pipe(pipe);
        } else {
            self.wake_pipe(pipe);
        }
    }

    pub(crate) fn free_pipe(&mut self, pipe: u32) {
        let Some(found) = self.pipes.remove(pipe) else { return };
        let charged = if self.spool_bytes.is_some() { found.len() } else { found.capacity };
        self.pipe_bytes = self.pipe_bytes.saturating_sub(charged);
        if let Some(ino) = found.ino {
            self.drop_fifo_pipe(ino, pipe);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_keep_their_order_across_the_end_of_the_ring() {
        let mut pipe = Pipe::new(4096);
        let mut expected = 0u8;
        let mut next = 0u8;
        for round in 0..200 {
            let src: Vec<u8> = (0..1000 + round)
                .map(|_| {
                    next = next.wrapping_add(1);
                    next
                })
                .collect();
            assert_eq!(pipe.push(&src), src.len());
            let mut dst = vec![0; src.len()];
            assert_eq!(pipe.peek(0, &mut dst), src.len());
            pipe.skip(dst.len());
            for byte in dst {
                expected = expected.wrapping_add(1);
                assert_eq!(byte, expected);
            }
        }
    }

    #[test]
    fn a_full_pipe_rejects_bytes_and_stays_at_its_capacity() {
        let mut pipe = Pipe::new(10_000);
        assert_eq!(pipe.ring.capacity(), 0, "an unused pipe costs nothing");
        assert_eq!(pipe.push(&[1; 20_000]), 10_000);
        assert_eq!(pipe.push(&[1; 1]), 0);
        assert!(pipe.ring.capacity() <= 16_384);
    }
}
