//! Output streams: standard output and error, and files written from an offset or appended.

use std::sync::atomic::Ordering;

use tidebox_kernel::{Errno, FileType, SyscallError};
use wasmtime_wasi::async_trait;
use wasmtime_wasi::p2::{OutputStream, Pollable, StreamError, StreamResult};
use wasmtime_wasi_io::bytes::Bytes;

use super::errors;
use super::handle::ProcessHandle;

/// Maximum bytes that a stream accepts per write.
const MAX_WRITTEN: usize = 64 * 1024;

/// Maximum bytes buffered by all streams of a process. A stream buffers only if space was promised and another process
/// used it first.
const MAX_BUFFERED_BYTES: usize = 1 << 20;

/// Position of the next write.
#[derive(Clone, Copy, Debug)]
enum WritePosition {
    /// The descriptor's own position.
    Current,
    /// This offset, advanced by each write.
    Offset(u64),
    /// End of the file.
    End,
}

/// A descriptor to write to, and a position.
pub(super) struct Sink {
    pub(super) handle: ProcessHandle,
    fd: u32,
    position: WritePosition,
    /// True if the descriptor is closed with the stream.
    owned: bool,
}

impl Sink {
    /// One of the process's standard descriptors.
    pub(super) fn standard(handle: ProcessHandle, fd: u32) -> Self {
        Self { handle, fd, position: WritePosition::Current, owned: false }
    }

    /// A file, written from `offset` or appended (`None`). A file that is not seekable is written at its current
    /// position.
    pub(super) fn of_file(handle: &ProcessHandle, fd: u32, offset: Option<u64>) -> Result<Self, SyscallError> {
        let (fd, found) = handle.call(|kernel, pid| {
            let found = kernel.stat(pid, fd)?;
            if found.filetype == FileType::Directory {
                return Err(Errno::Isdir.into());
            }
            if !kernel.mode(pid, fd)?.write {
                return Err(Errno::Badf.into());
            }
            Ok((kernel.duplicate(pid, fd)?, found))
        })?;
        let position = match (found.filetype, offset) {
            (FileType::Regular, Some(offset)) => WritePosition::Offset(offset),
            (FileType::Regular, None) => WritePosition::End,
            _ => WritePosition::Current,
        };
        Ok(Self { handle: handle.clone(), fd, position, owned: true })
    }

    /// Writes some of `bytes` without waiting and returns the count, which is 0 only for empty input.
    pub(super) fn write(&mut self, bytes: &[u8]) -> Result<usize, SyscallError> {
        let n = self.handle.call(|kernel, pid| match self.position {
            WritePosition::Current => kernel.write(pid, self.fd, bytes),
            WritePosition::Offset(offset) => kernel.write_at(pid, self.fd, bytes, offset),
            WritePosition::End => {
                let end = kernel.stat(pid, self.fd)?.size;
                kernel.write_at(pid, self.fd, bytes, end)
            }
        })?;
        if let WritePosition::Offset(offset) = &mut self.position {
            *offset = offset.saturating_add(n as u64);
        }
        // Accepting 0 bytes without an error would make the caller retry forever.
        if n == 0 && !bytes.is_empty() { Err(Errno::Io.into()) } else { Ok(n) }
    }

    /// Number of bytes that a write would accept now; 0 if no reader is left.
    pub(super) fn writable(&self) -> Result<u64, SyscallError> {
        self.handle.call(|kernel, pid| kernel.writable(pid, self.fd))
    }

    /// Waits until a short write is possible.
    async fn wait_writable(&self) -> Result<(), SyscallError> {
        self.handle.wait(|kernel, pid| kernel.writable(pid, self.fd)).await.map(|_| ())
    }
}

impl Drop for Sink {
    fn drop(&mut self) {
        if self.owned {
            // If the process is exiting, the kernel closes its descriptors.
            let _ = self.handle.call(|kernel, pid| kernel.close(pid, self.fd));
        }
    }
}

/// An output stream into a descriptor.
pub(super) struct Output {
    sink: Sink,
    /// Bytes that the guest may write before it must check again.
    permit: usize,
    /// Accepted bytes that are not written yet.
    buffered: Bytes,
}

impl From<Sink> for Output {
    fn from(sink: Sink) -> Self {
        Self { sink, permit: 0, buffered: Bytes::new() }
    }
}

impl Output {
    /// Writes as much of `bytes` as possible without waiting.
    fn write_available(&mut self, bytes: &mut Bytes) -> Result<(), SyscallError> {
        while !bytes.is_empty() {
            match self.sink.write(bytes) {
                Ok(n) => drop(bytes.split_to(n.min(bytes.len()))),
                Err(SyscallError::Block(_)) => break,
                Err(halt) => return Err(halt),
            }
        }
        Ok(())
    }

    /// Writes as many buffered bytes as possible without waiting.
    fn flush_buffered(&mut self) -> Result<(), SyscallError> {
        if self.buffered.is_empty() {
            return Ok(());
        }
        let mut buffered_bytes = std::mem::take(&mut self.buffered);
        let before = buffered_bytes.len();
        let put = self.write_available(&mut buffered_bytes);
        self.sink.handle.waits.buffered_bytes.fetch_sub(before - buffered_bytes.len(), Ordering::Relaxed);
        self.buffered = buffered_bytes;
        if put.is_err() {
            self.discard_buffered();
        }
        put
    }

    fn buffer(&mut self, rest: Bytes) -> StreamResult<()> {
        let buffered_bytes = self.sink.handle.waits.buffered_bytes.fetch_add(rest.len(), Ordering::Relaxed);
        self.buffered = rest;
        if buffered_bytes + self.buffered.len() > MAX_BUFFERED_BYTES {
            self.discard_buffered();
            return Err(StreamError::trap("the write exceeds the maximum buffered output"));
        }
        Ok(())
    }

    fn discard_buffered(&mut self) {
        let buffered_bytes = std::mem::take(&mut self.buffered);
        self.sink.handle.waits.buffered_bytes.fetch_sub(buffered_bytes.len(), Ordering::Relaxed);
    }

    /// Waits until all buffered bytes are written.
    async fn drain(&mut self) -> Result<(), SyscallError> {
        loop {
            self.flush_buffered()?;
            if self.buffered.is_empty() {
                return Ok(());
            }
            self.sink.wait_writable().await?;
        }
    }
}

impl Drop for Output {
    fn drop(&mut self) {
        self.discard_buffered();
    }
}

#[async_trait]
impl Pollable for Output {
    async fn ready(&mut self) {
        // The next call reports an error.
        if self.drain().await.is_ok() {
            let _ = self.sink.wait_writable().await;
        }
    }
}

#[async_trait]
impl OutputStream for Output {
    fn check_write(&mut self) -> StreamResult<usize> {
        self.flush_buffered().map_err(errors::stream_error)?;
        self.permit = 0;
        if !self.buffered.is_empty() {
            return Ok(0);
        }
        match self.sink.writable() {
            // No reader is left; the next write reports it.
            Ok(0) => self.permit = MAX_WRITTEN,
            Ok(space) => self.permit = usize::try_from(space).unwrap_or(usize::MAX).min(MAX_WRITTEN),
            Err(SyscallError::Block(_)) => {}
            Err(halt) => return Err(errors::stream_error(halt)),
        }
        Ok(self.permit)
    }

    fn write(&mut self, bytes: Bytes) -> StreamResult<()> {
        if bytes.len() > self.permit {
            return Err(StreamError::trap("the write exceeds the size allowed by check-write"));
        }
        self.permit -= bytes.len();
        let mut bytes = bytes;
        self.write_available(&mut bytes).map_err(errors::stream_error)?;
        if bytes.is_empty() { Ok(()) } else { self.buffer(bytes) }
    }

    fn flush(&mut self) -> StreamResult<()> {
        self.flush_buffered().map_err(errors::stream_error)
    }

    async fn blocking_write_and_flush(&mut self, bytes: Bytes) -> StreamResult<()> {
        let mut bytes = bytes;
        self.drain().await.map_err(errors::stream_error)?;
        self.sink.wait_writable().await.map_err(errors::stream_error)?;
        loop {
            self.write_available(&mut bytes).map_err(errors::stream_error)?;
            if bytes.is_empty() {
                return Ok(());
            }
            self.sink.wait_writable().await.map_err(errors::stream_error)?;
        }
    }

    /// Delivers buffered bytes when the guest drops the stream.
    async fn cancel(&mut self) {
        // The stream is dropped, so an error cannot be reported.
        let _ = self.drain().await;
    }
}
