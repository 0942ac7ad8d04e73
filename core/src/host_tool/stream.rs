//! The streams of a call.

use std::fmt;
use std::future::poll_fn;
use std::task::{Context, Poll};

/// Bytes that one read of [`HostInput::read_to_end`] asks for.
const READ_BYTES: usize = 64 << 10;

/// Where the bytes of a [`HostInput`] come from.
pub trait ByteSource: Send {
    /// Takes up to `most` bytes. None at all means the end.
    fn poll_read(&mut self, cx: &mut Context<'_>, most: usize) -> Poll<Vec<u8>>;
}

/// Where the bytes of a [`HostOutput`] go to.
pub trait ByteSink: Send {
    /// Takes some of `bytes`, at least one, and answers how many.
    fn poll_write(&mut self, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<Result<usize, Disconnected>>;
}

/// Nobody reads what is written any more. A guest would die of SIGPIPE; a host tool usually ends with the exit code that
/// this gives, [`Disconnected::EXIT_CODE`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Disconnected;

impl Disconnected {
    /// 141: 128 and the number of SIGPIPE, as shells show it.
    pub const EXIT_CODE: u8 = 141;
}

impl fmt::Display for Disconnected {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("nobody reads this stream any more; end the call")
    }
}

impl std::error::Error for Disconnected {}

/// A stream to read from.
pub struct HostInput(Box<dyn ByteSource>);

impl fmt::Debug for HostInput {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("HostInput").finish_non_exhaustive()
    }
}

impl HostInput {
    /// A stream of what `source` gives.
    pub fn new(source: impl ByteSource + 'static) -> Self {
        Self(Box::new(source))
    }

    /// Waits for bytes and returns up to `most` of them; none at all at the end. A call of a sandbox gets 64 KiB at most.
    /// When the future is dropped before it is done, no byte is lost.
    pub async fn read(&mut self, most: usize) -> Vec<u8> {
        poll_fn(|cx| self.0.poll_read(cx, most)).await
    }

    /// Reads to the end, or `None` as soon as there are more than `most` bytes: a guest may send without end.
    pub async fn read_to_end(&mut self, most: usize) -> Option<Vec<u8>> {
        let mut all = Vec::new();
        loop {
            let bytes = self.read(READ_BYTES).await;
            if bytes.is_empty() {
                return Some(all);
            }
            if bytes.len() > most.saturating_sub(all.len()) {
                return None;
            }
            all.extend_from_slice(&bytes);
        }
    }
}

/// A stream to write to.
pub struct HostOutput(Box<dyn ByteSink>);

impl fmt::Debug for HostOutput {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("HostOutput").finish_non_exhaustive()
    }
}

impl HostOutput {
    /// A stream that ends in `sink`.
    pub fn new(sink: impl ByteSink + 'static) -> Self {
        Self(Box::new(sink))
    }

    /// Writes all of `bytes`, waiting while the reader is slow. When the future is dropped before it is done, some of them may
    /// be written.
    ///
    /// # Errors
    /// [`Disconnected`] when nobody reads any more.
    pub async fn write(&mut self, bytes: impl AsRef<[u8]> + Send) -> Result<(), Disconnected> {
        let mut rest = bytes.as_ref();
        while !rest.is_empty() {
            let written = poll_fn(|cx| self.0.poll_write(cx, rest)).await?;
            rest = rest.get(written.max(1)..).unwrap_or_default();
        }
        Ok(())
    }
}
