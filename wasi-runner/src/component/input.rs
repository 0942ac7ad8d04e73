//! Input streams: standard input, and files read from an offset.

use tidebox_kernel::{FileType, SyscallError};

use wasmtime_wasi::async_trait;
use wasmtime_wasi::p2::{InputStream, Pollable, StreamError, StreamResult};
use wasmtime_wasi_io::bytes::Bytes;

use super::errors;
use super::handle::ProcessHandle;

/// Maximum bytes per read, as in `wasmtime-wasi`: they are buffered on the host before they reach the guest.
pub(super) const MAX_READ: usize = 64 * 1024;

/// An input stream that reads from a descriptor.
pub(super) struct Input {
    source: Source,
}

impl From<Source> for Input {
    fn from(source: Source) -> Self {
        Self { source }
    }
}

/// A descriptor to read from, and a position.
pub(super) struct Source {
    pub(super) handle: ProcessHandle,
    fd: u32,
    /// Position of the next byte for seekable files. `None` uses the descriptor's own position.
    offset: Option<u64>,
    /// True if the descriptor is closed with the stream.
    owned: bool,
}

impl Source {
    /// One of the process's standard descriptors.
    pub(super) fn standard(handle: ProcessHandle, fd: u32) -> Self {
        Self { handle, fd, offset: None, owned: false }
    }

    /// A file, read from `offset`. A file that is not seekable is read from its current position.
    pub(super) fn of_file(handle: &ProcessHandle, fd: u32, offset: u64) -> Result<Self, SyscallError> {
        let (fd, found) = handle.call(|kernel, pid| {
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
    /// Reads available bytes without waiting; 0 means end of file.
    pub(super) fn read(&mut self, buffer: &mut [u8]) -> Result<usize, SyscallError> {
        let n = self.handle.call(|kernel, pid| match self.offset {
            Some(offset) => kernel.read_at(pid, self.fd, buffer, offset),
            None => kernel.read(pid, self.fd, buffer),
        })?;
        self.offset = self.offset.map(|offset| offset.saturating_add(n as u64));
        Ok(n)
    }

    /// Number of bytes available to read now.
    #[cfg(feature = "wasi-p3")]
    pub(super) fn readable(&self) -> Result<u64, SyscallError> {
        self.handle.call(|kernel, pid| kernel.readable(pid, self.fd))
    }

    async fn ready(&self) {
        // The next read reports an error of the descriptor.
        let _ = self.handle.wait(|kernel, pid| kernel.readable(pid, self.fd)).await;
    }
}

impl Drop for Source {
    fn drop(&mut self) {
        if self.owned {
            // If the process is exiting, the kernel closes its descriptors.
            let _ = self.handle.call(|kernel, pid| kernel.close(pid, self.fd));
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
        let mut buffer = vec![0; size.min(MAX_READ)];
        match self.source.read(&mut buffer) {
            Ok(0) if size > 0 => Err(StreamError::Closed),
            Ok(n) => {
                buffer.truncate(n);
                Ok(buffer.into())
            }
            Err(SyscallError::Block(_)) => Ok(Bytes::new()),
            Err(halt) => Err(errors::stream_error(halt)),
        }
    }

    async fn blocking_read(&mut self, size: usize) -> StreamResult<Bytes> {
        loop {
            self.source.ready().await;
            // Another process may consume the available bytes between the two calls.
            let read = self.read(size)?;
            if !read.is_empty() || size == 0 {
                return Ok(read);
            }
        }
    }
}
