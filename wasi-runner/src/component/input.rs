//! Input streams: standard input, and files read from an offset.

use tidebox_kernel::FileType;
use tidebox_kernel::wasi::Halt;
use wasmtime_wasi::async_trait;
use wasmtime_wasi::p2::{InputStream, Pollable, StreamError, StreamResult};
use wasmtime_wasi_io::bytes::Bytes;

use super::failure;
use super::handle::Handle;

/// Most bytes of one read, as `wasmtime-wasi` has it: they are on the host before they are in the guest.
pub(super) const MOST_READ: usize = 64 * 1024;

/// A stream of what a descriptor reads.
pub(super) struct Input {
    source: Source,
}

impl From<Source> for Input {
    fn from(source: Source) -> Self {
        Self { source }
    }
}

/// What is read.
pub(super) struct Source {
    pub(super) handle: Handle,
    fd: u32,
    /// Where the next byte is, for what has offsets; else the stream goes on where the descriptor stands.
    offset: Option<u64>,
    /// Whether the descriptor is closed with the stream.
    owned: bool,
}

impl Source {
    /// One of the process's own descriptors.
    pub(super) fn standard(handle: Handle, fd: u32) -> Self {
        Self { handle, fd, offset: None, owned: false }
    }

    /// A file from `offset` on. What has no offsets is read from where it stands.
    pub(super) fn of_file(handle: &Handle, fd: u32, offset: u64) -> Result<Self, Halt> {
        let (fd, found) = handle.ask(|kernel, pid| {
            let found = kernel.stat(pid, fd)?;
            if found.filetype == FileType::Directory {
                return Err(tidebox_kernel::Errno::Isdir.into());
            }
            Ok((kernel.duplicate(pid, fd)?, found))
        })?;
        let offset = (found.filetype == FileType::Regular).then_some(offset);
        Ok(Self { handle: handle.clone(), fd, offset, owned: true })
    }
}

impl Source {
    /// Reads what is there, without waiting; 0 is the end.
    pub(super) fn read(&mut self, buffer: &mut [u8]) -> Result<usize, Halt> {
        let n = self.handle.ask(|kernel, pid| match self.offset {
            Some(offset) => kernel.read_at(pid, self.fd, buffer, offset),
            None => kernel.read(pid, self.fd, buffer),
        })?;
        self.offset = self.offset.map(|offset| offset.saturating_add(n as u64));
        Ok(n)
    }

    /// How much a read would find now.
    #[cfg(feature = "wasi-p3")]
    pub(super) fn readable(&self) -> Result<u64, Halt> {
        self.handle.ask(|kernel, pid| kernel.readable(pid, self.fd))
    }

    async fn ready(&self) {
        // What is wrong with the descriptor is told by the read that follows.
        let _ = self.handle.wait(|kernel, pid| kernel.readable(pid, self.fd)).await;
    }
}

impl Drop for Source {
    fn drop(&mut self) {
        if self.owned {
            // A process that is about to end has its descriptors closed by the kernel.
            let _ = self.handle.ask(|kernel, pid| kernel.close(pid, self.fd));
        }
    }
}

#[async_trait]
impl Pollable for Input {
    async fn ready(&mut self) {
        self.source.ready().await;
    }
}

#[async_trait]
impl InputStream for Input {
    fn read(&mut self, size: usize) -> StreamResult<Bytes> {
        let mut buffer = vec![0; size.min(MOST_READ)];
        match self.source.read(&mut buffer) {
            Ok(0) if size > 0 => Err(StreamError::Closed),
            Ok(n) => {
                buffer.truncate(n);
                Ok(buffer.into())
            }
            Err(Halt::Block(_)) => Ok(Bytes::new()),
            Err(halt) => Err(failure::stream(halt)),
        }
    }

    async fn blocking_read(&mut self, size: usize) -> StreamResult<Bytes> {
        loop {
            self.source.ready().await;
            // Between the two another process may have read what was there.
            let read = self.read(size)?;
            if !read.is_empty() || size == 0 {
                return Ok(read);
            }
        }
    }
}
