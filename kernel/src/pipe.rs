//! Pipes: a ring of bytes between descriptors, and who waits for it.

use std::collections::VecDeque;

use crate::errno::Errno;
use crate::fs::Ino;
use crate::kernel::Kernel;
use crate::open_file::What;
use crate::process::Pid;

/// Writes of at most this many bytes are never torn apart, as POSIX's `PIPE_BUF` promises.
pub(crate) const ATOMIC_BYTES: usize = 4096;

/// How often the ends of a named pipe were opened.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Opened {
    pub(crate) readers: u64,
    pub(crate) writers: u64,
}

/// The ring starts empty and grows with what is written, because most pipes of a shell carry a line or two.
#[derive(Debug, Default)]
pub(crate) struct Pipe {
    ring: VecDeque<u8>,
    capacity: usize,
    /// Open files that read or write, not descriptors.
    pub(crate) readers: u32,
    pub(crate) writers: u32,
    /// The inode of a named pipe, which is held as long as this is open.
    pub(crate) ino: Option<Ino>,
    /// How often a named pipe was opened, so that who waits for the other end sees one that was there for a moment only.
    pub(crate) opened: Opened,
    /// Whether a writer was ended because a spooled pipe was full: the reader must not take the end for the end.
    pub(crate) cut: bool,
    waiting: Vec<Pid>,
}

impl Pipe {
    /// `capacity` is at least [`ATOMIC_BYTES`], or a write that must not be torn could never succeed.
    pub(crate) fn new(capacity: usize) -> Self {
        Self { capacity: capacity.max(ATOMIC_BYTES), readers: 1, writers: 1, ..Self::default() }
    }

    pub(crate) fn len(&self) -> usize {
        self.ring.len()
    }

    pub(crate) fn room(&self) -> usize {
        self.capacity.saturating_sub(self.ring.len())
    }

    /// Whether it is a named one that nobody has opened for reading yet.
    pub(crate) fn is_left(&self) -> bool {
        self.ino.is_some() && self.opened.readers == 0
    }

    /// Takes as much of `src` as there is room for.
    pub(crate) fn push(&mut self, src: &[u8]) -> usize {
        let n = src.len().min(self.room());
        let Some(src) = src.get(..n) else { return 0 };
        if self.ring.len() + n > self.ring.capacity() {
            let wanted = (self.ring.len() + n).next_power_of_two().min(self.capacity);
            self.ring.reserve_exact(wanted - self.ring.len());
        }
        self.ring.extend(src);
        n
    }

    /// Copies what lies `past` bytes from the front without taking it, so that a fault loses nothing.
    pub(crate) fn peek(&self, past: u64, dst: &mut [u8]) -> usize {
        let past = usize::try_from(past).unwrap_or(usize::MAX);
        let (front, back) = self.ring.as_slices();
        let behind = past.saturating_sub(front.len());
        let first = copy(front.get(past..).unwrap_or_default(), dst);
        let rest = dst.get_mut(first..).unwrap_or_default();
        first + copy(back.get(behind..).unwrap_or_default(), rest)
    }

    pub(crate) fn skip(&mut self, n: usize) {
        self.ring.drain(..n.min(self.ring.len()));
    }

    pub(crate) fn wait(&mut self, pid: Pid) {
        if !self.waiting.contains(&pid) {
            self.waiting.push(pid);
        }
    }
}

/// Copies as much of `src` as fits.
fn copy(src: &[u8], dst: &mut [u8]) -> usize {
    let n = src.len().min(dst.len());
    if let (Some(dst), Some(src)) = (dst.get_mut(..n), src.get(..n)) {
        dst.copy_from_slice(src);
    }
    n
}

/// What all pipes of a sandbox may hold. Linux's `pipe-user-pages-soft` is the same 64 MiB, and beyond it new pipes
/// are small there too.
const SOFT_BYTES: usize = 64 << 20;
/// With small pipes only this far, so that a program that fills thousands of pipes does not fill the host's memory.
const HARD_BYTES: usize = 96 << 20;

/// What all pipes of a sandbox hold together when they are spooled, in full pipes.
const SPOOLED_PIPES: usize = 8;

impl Kernel {
    /// A pipe with one reader and one writer, charged by its capacity. `NFILE` when all pipes together are too many.
    pub(crate) fn new_pipe(&mut self) -> Result<u32, Errno> {
        if let Some(spool) = self.spool_bytes {
            // Charged when it is written to: hardly any pipe is ever full.
            return Ok(self.pipes.insert(Pipe::new(spool)));
        }
        let wanted = (self.limits.pipe_bytes as usize).clamp(ATOMIC_BYTES, SOFT_BYTES);
        let capacity = if self.pipe_bytes + wanted <= SOFT_BYTES { wanted } else { ATOMIC_BYTES };
        if self.pipe_bytes + capacity > HARD_BYTES {
            return Err(Errno::Nfile);
        }
        self.pipe_bytes += capacity;
        Ok(self.pipes.insert(Pipe::new(capacity)))
    }

    /// For an engine that cannot run two processes at the same time: pipes take up to `bytes` (at least a page), all of a
    /// sandbox together eight times as much, and a writer that finds no room gets SIGPIPE, because whoever would read
    /// has not begun. A reader that comes to the end of a pipe that was cut so is told, and gets `IO`.
    pub fn spool_pipes(&mut self, bytes: usize) {
        self.spool_bytes = Some(bytes.max(ATOMIC_BYTES));
    }

    /// For such an engine: whether a process that has not begun reads a pipe that another one can still write. It would wait
    /// for that one, which may wait below it on the stack: others are to begin first.
    pub fn would_wait(&self, pid: Pid) -> bool {
        let Ok(process) = self.process(pid) else { return false };
        let ends = || process.fds.iter().filter_map(|(_, entry)| self.files.get(entry.file)).map(|file| &file.what);
        let writes =
            |pipe: u32| ends().any(|end| matches!(end, What::Writer(other) | What::Both(other) if *other == pipe));
        let written = |pipe: u32| self.pipes.get(pipe).is_some_and(|found| found.writers > 0);
        ends().any(|end| matches!(end, What::Reader(pipe) if written(*pipe) && !writes(*pipe)))
    }

    /// Bytes that a spooled pipe takes now; `None` when pipes are not spooled.
    pub(crate) fn spool_room(&self, pipe: u32) -> Option<usize> {
        let spool = self.spool_bytes?;
        let of_all = spool.saturating_mul(SPOOLED_PIPES).saturating_sub(self.pipe_bytes);
        Some(self.pipes.get(pipe).map_or(0, Pipe::room).min(of_all))
    }

    /// Lets everyone who waits for the pipe look again. Readers and writers wait in one list: a pipe has one or two
    /// of them, and a wake-up too many costs one retried call.
    pub(crate) fn wake_pipe(&mut self, pipe: u32) {
        let Some(found) = self.pipes.get_mut(pipe) else {
            return;
        };
        for pid in found.waiting.drain(..) {
            if let Some(process) = self.processes.get_mut(pid) {
                process.wake();
            }
        }
    }

    pub(crate) fn close_pipe_end(&mut self, pipe: u32, writer: bool) {
        let Some(found) = self.pipes.get_mut(pipe) else {
            return;
        };
        let ends = if writer { &mut found.writers } else { &mut found.readers };
        *ends = ends.saturating_sub(1);
        let spooled = self.spool_bytes.is_some();
        if found.readers == 0 && found.writers == 0 && !(spooled && found.is_left() && found.len() > 0) {
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
            self.leave_fifo(ino, pipe);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_come_out_in_order_across_the_seam_of_the_ring() {
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
    fn a_full_pipe_takes_no_more_and_memory_stays_at_the_capacity() {
        let mut pipe = Pipe::new(10_000);
        assert_eq!(pipe.ring.capacity(), 0, "an unused pipe costs nothing");
        assert_eq!(pipe.push(&[1; 20_000]), 10_000);
        assert_eq!(pipe.push(&[1; 1]), 0);
        assert!(pipe.ring.capacity() <= 16_384);
    }
}
