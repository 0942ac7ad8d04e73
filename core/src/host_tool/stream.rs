//! Standard streams of a call.

use std::fmt;
use std::future::poll_fn;
use std::task::{Context, Poll};

/// Bytes requested by one read of [`HostInput::read_to_end`].
const READ_BYTES: usize = 64 << 10;

/// Source of a [`HostInput`].
pub trait ByteSource: Send {
    /// Returns up to `max_bytes` bytes. An empty result means the end.
    fn poll_read(&mut self, cx: &mut Context<'_>, max_bytes: usize) -> Poll<Vec<u8>>;
}

/// Destination of a [`HostOutput`].
pub trait ByteSink: Send {
    /// Accepts some of `bytes`, at least one, and returns the number.
    fn poll_write(&mut self, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<Result<usize, BrokenPipe>>;
}

/// The stream has no reader any more. A guest would be killed by SIGPIPE; a host tool usually ends with the same exit code,
/// [`BrokenPipe::EXIT_CODE`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BrokenPipe;

impl BrokenPipe {
    /// 141: 128 and the number of SIGPIPE, as in shells.
    pub const EXIT_CODE: u8 = 141;
}

impl fmt::Display for BrokenPipe {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("broken pipe: the stream has no reader; end the call")
    }
}

impl std::error::Error for BrokenPipe {}

/// An input stream.
pub struct HostInput(Box<dyn ByteSource>);

impl fmt::Debug for HostInput {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("HostInput").finish_non_exhaustive()
    }
}

impl HostInput {
    /// Creates an input stream over `source`.
    pub fn new(source: impl ByteSource + 'static) -> Self {
        Self(Box::new(source))
    }

    /// Waits for bytes and returns up to `max_bytes` of them; empty at the end. For a call from a sandbox at most 64 KiB.
    /// Dropping the future before it is ready loses no bytes.
    pub async fn read(&mut self, max_bytes: usize) -> Vec<u8> {
        poll_fn(|cx| self.0.poll_read(cx, max_bytes)).await
    }

    /// Reads to the end. Returns `None` as soon as there are more than `max_bytes` bytes: a guest may write forever.
    pub async fn read_to_end(&mut self, max_bytes: usize) -> Option<Vec<u8>> {
        let mut all = Vec::new();
        loop {
            let bytes = self.read(READ_BYTES).await;
            if bytes.is_empty() {
                return Some(all);
            }
            if bytes.len() > max_bytes.saturating_sub(all.len()) {
                return None;
            }
            all.extend_from_slice(&bytes);
        }
    }
}

/// An output stream.
pub struct HostOutput(Box<dyn ByteSink>);

impl fmt::Debug for HostOutput {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("HostOutput").finish_non_exhaustive()
    }
}

impl HostOutput {
    /// Creates an output stream over `sink`.
    pub fn new(sink: impl ByteSink + 'static) -> Self {
        Self(Box::new(sink))
    }

    /// Writes all of `bytes`, waiting for a slow reader. If the future is dropped before it is ready, some of them may be
    /// written.
    ///
    /// # Errors
    /// [`BrokenPipe`] if the stream has no reader any more.
    pub async fn write(&mut self, bytes: impl AsRef<[u8]> + Send) -> Result<(), BrokenPipe> {
        let mut rest = bytes.as_ref();
        while !rest.is_empty() {
            let written = poll_fn(|cx| self.0.poll_write(cx, rest)).await?;
            rest = rest.get(written.max(1)..).unwrap_or_default();
        }
        Ok(())
    }
}
