//! Output streams: standard output and error, and files written from an offset or at their end.

use std::sync::atomic::Ordering;

use tidebox_kernel::wasi::Halt;
use tidebox_kernel::{Errno, FileType};
use wasmtime_wasi::async_trait;
use wasmtime_wasi::p2::{OutputStream, Pollable, StreamError, StreamResult};
use wasmtime_wasi_io::bytes::Bytes;

use super::failure;
use super::handle::Handle;

/// Most bytes that a stream takes at once.
const MOST_WRITTEN: usize = 64 * 1024;

/// Most bytes that the streams of a process hold back together. A stream holds something back only when it was promised
/// room and another process took it first.
const MOST_HELD: usize = 1 << 20;

/// Where a stream writes.
#[derive(Clone, Copy, Debug)]
enum Place {
    /// Where the descriptor stands.
    Current,
    /// At this offset, which moves on.
    Offset(u64),
    /// At the end of the file.
    End,
}

/// A descriptor that is written to.
pub(super) struct Sink {
    pub(super) handle: Handle,
    fd: u32,
    place: Place,
    /// Whether the descriptor is closed with the stream.
    owned: bool,
}

impl Sink {
    /// One of the process's own descriptors.
    pub(super) fn standard(handle: Handle, fd: u32) -> Self {
        Self { handle, fd, place: Place::Current, owned: false }
    }

    /// A file, from `offset` on or at its end (`None`). What has no offsets is written where it stands.
    pub(super) fn of_file(handle: &Handle, fd: u32, offset: Option<u64>) -> Result<Self, Halt> {
        let (fd, found) = handle.ask(|kernel, pid| {
            let found = kernel.stat(pid, fd)?;
            if found.filetype == FileType::Directory {
                return Err(Errno::Isdir.into());
            }
            if !kernel.mode(pid, fd)?.write {
                return Err(Errno::Badf.into());
            }
            Ok((kernel.duplicate(pid, fd)?, found))
        })?;
        let place = match (found.filetype, offset) {
            (FileType::Regular, Some(offset)) => Place::Offset(offset),
            (FileType::Regular, None) => Place::End,
            _ => Place::Current,
        };
        Ok(Self { handle: handle.clone(), fd, place, owned: true })
    }

    /// Writes some of `bytes` without waiting and answers how many; none only when there are none.
    pub(super) fn write(&mut self, bytes: &[u8]) -> Result<usize, Halt> {
        let n = self.handle.ask(|kernel, pid| match self.place {
            Place::Current => kernel.write(pid, self.fd, bytes),
            Place::Offset(offset) => kernel.write_at(pid, self.fd, bytes, offset),
            Place::End => {
                let end = kernel.stat(pid, self.fd)?.size;
                kernel.write_at(pid, self.fd, bytes, end)
            }
        })?;
        if let Place::Offset(offset) = &mut self.place {
            *offset = offset.saturating_add(n as u64);
        }
        // A descriptor that takes nothing and does not say why would be asked for ever.
        if n == 0 && !bytes.is_empty() { Err(Errno::Io.into()) } else { Ok(n) }
    }

    /// How much a write would take now; 0 when nobody reads any more.
    pub(super) fn writable(&self) -> Result<u64, Halt> {
        self.handle.ask(|kernel, pid| kernel.writable(pid, self.fd))
    }

    /// Waits until there is room for a short write.
    async fn room(&self) -> Result<(), Halt> {
        self.handle.wait(|kernel, pid| kernel.writable(pid, self.fd)).await.map(|_| ())
    }
}

impl Drop for Sink {
    fn drop(&mut self) {
        if self.owned {
            // A process that is about to end has its descriptors closed by the kernel.
            let _ = self.handle.ask(|kernel, pid| kernel.close(pid, self.fd));
        }
    }
}

/// A stream into a descriptor.
pub(super) struct Output {
    sink: Sink,
    /// What the guest may write without asking again.
    permit: usize,
    /// What was taken and not written yet.
    held: Bytes,
}

impl From<Sink> for Output {
    fn from(sink: Sink) -> Self {
        Self { sink, permit: 0, held: Bytes::new() }
    }
}

impl Output {
    /// Writes all of `bytes` that goes without waiting.
    fn put_all(&mut self, bytes: &mut Bytes) -> Result<(), Halt> {
        while !bytes.is_empty() {
            match self.sink.write(bytes) {
                Ok(n) => drop(bytes.split_to(n.min(bytes.len()))),
                Err(Halt::Block(_)) => break,
                Err(halt) => return Err(halt),
            }
        }
        Ok(())
    }

    /// Writes what was held back, as far as it goes.
    fn release(&mut self) -> Result<(), Halt> {
        if self.held.is_empty() {
            return Ok(());
        }
        let mut held = std::mem::take(&mut self.held);
        let before = held.len();
        let put = self.put_all(&mut held);
        self.sink.handle.waits.held.fetch_sub(before - held.len(), Ordering::Relaxed);
        self.held = held;
        if put.is_err() {
            self.forget();
        }
        put
    }

    fn hold(&mut self, rest: Bytes) -> StreamResult<()> {
        let held = self.sink.handle.waits.held.fetch_add(rest.len(), Ordering::Relaxed);
        self.held = rest;
        if held + self.held.len() > MOST_HELD {
            self.forget();
            return Err(StreamError::trap("more was written at once than the sandbox holds back"));
        }
        Ok(())
    }

    fn forget(&mut self) {
        let held = std::mem::take(&mut self.held);
        self.sink.handle.waits.held.fetch_sub(held.len(), Ordering::Relaxed);
    }

    /// Waits until what was held back is written.
    async fn drain(&mut self) -> Result<(), Halt> {
        loop {
            self.release()?;
            if self.held.is_empty() {
                return Ok(());
            }
            self.sink.room().await?;
        }
    }
}

impl Drop for Output {
    fn drop(&mut self) {
        self.forget();
    }
}

#[async_trait]
impl Pollable for Output {
    async fn ready(&mut self) {
        // What is wrong is told by the call that follows.
        if self.drain().await.is_ok() {
            let _ = self.sink.room().await;
        }
    }
}

#[async_trait]
impl OutputStream for Output {
    fn check_write(&mut self) -> StreamResult<usize> {
        self.release().map_err(failure::stream)?;
        self.permit = 0;
        if !self.held.is_empty() {
            return Ok(0);
        }
        match self.sink.writable() {
            // Nobody reads: the write that follows tells so.
            Ok(0) => self.permit = MOST_WRITTEN,
            Ok(room) => self.permit = usize::try_from(room).unwrap_or(usize::MAX).min(MOST_WRITTEN),
            Err(Halt::Block(_)) => {}
            Err(halt) => return Err(failure::stream(halt)),
        }
        Ok(self.permit)
    }

    fn write(&mut self, bytes: Bytes) -> StreamResult<()> {
        if bytes.len() > self.permit {
            return Err(StreamError::trap("a write beyond what check-write allowed"));
        }
        self.permit -= bytes.len();
        let mut bytes = bytes;
        self.put_all(&mut bytes).map_err(failure::stream)?;
        if bytes.is_empty() { Ok(()) } else { self.hold(bytes) }
    }

    fn flush(&mut self) -> StreamResult<()> {
        self.release().map_err(failure::stream)
    }

    async fn blocking_write_and_flush(&mut self, bytes: Bytes) -> StreamResult<()> {
        let mut bytes = bytes;
        self.drain().await.map_err(failure::stream)?;
        self.sink.room().await.map_err(failure::stream)?;
        loop {
            self.put_all(&mut bytes).map_err(failure::stream)?;
            if bytes.is_empty() {
                return Ok(());
            }
            self.sink.room().await.map_err(failure::stream)?;
        }
    }

    /// A stream that the guest drops still delivers what it took.
    async fn cancel(&mut self) {
        // Nobody is left to tell of an error.
        let _ = self.drain().await;
    }
}
