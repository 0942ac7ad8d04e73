//! Original case of response header names.
//!
//! hyper returns names in lower case. `curl -i` prints the original case, and scripts search for `Location:`. So the first
//! received bytes are kept, and names are looked up in them. hyper's parsed head remains authoritative: only the case of letters
//! is taken from the kept bytes.

use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};

use tidebox_core::lock::Mutex;

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

use crate::connect::Stream;

/// The first received bytes.
#[derive(Clone, Default)]
pub(crate) struct HeaderCapture(Arc<Mutex<Vec<u8>>>);

impl HeaderCapture {
    fn capture(&self, bytes: &[u8], max_bytes: usize) {
        let mut captured = self.0.lock();
        let available = max_bytes.saturating_sub(captured.len());
        captured.extend_from_slice(bytes.get(..available).unwrap_or(bytes));
    }

    /// Returns a name in the server's case, or as hyper returns it if not found.
    pub(crate) fn original_case(&self, name: &str) -> String {
        let captured = self.0.lock();
        let found = head_lines(&captured).find_map(|line| {
            let original = line.get(..name.len())?;
            let follows = line.get(name.len()) == Some(&b':');
            (follows && original.eq_ignore_ascii_case(name.as_bytes())).then(|| String::from_utf8_lossy(original))
        });
        found.map_or_else(|| name.to_owned(), |original| original.into_owned())
    }
}

/// Returns the lines of all leading heads: interim responses (100 to 199) and the final one.
fn head_lines(bytes: &[u8]) -> impl Iterator<Item = &[u8]> {
    let mut interim = true;
    let lines = bytes.split(|byte| *byte == b'\n').map(|line| line.strip_suffix(b"\r").unwrap_or(line));
    lines.take_while(move |line| {
        if let Some(status) = line.strip_prefix(b"HTTP/1.") {
            interim = status.get(2) == Some(&b'1');
        }
        !line.is_empty() || interim
    })
}

/// A stream that keeps the first bytes that are read.
pub(crate) struct CapturingStream {
    pub(crate) stream: Pin<Box<dyn Stream>>,
    pub(crate) captured: HeaderCapture,
    pub(crate) max_bytes: usize,
}

impl AsyncRead for CapturingStream {
    fn poll_read(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        let before = buf.filled().len();
        ready!(self.stream.as_mut().poll_read(cx, buf))?;
        self.captured.capture(buf.filled().get(before..).unwrap_or_default(), self.max_bytes);
        Poll::Ready(Ok(()))
    }
}

impl AsyncWrite for CapturingStream {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        self.stream.as_mut().poll_write(cx, bytes)
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.stream.as_mut().poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.stream.as_mut().poll_shutdown(cx)
    }
}

#[cfg(test)]
mod tests {
    use super::HeaderCapture;

    #[test]
    fn header_names_have_the_case_of_the_head() {
        let captured = HeaderCapture::default();
        captured.capture(b"HTTP/1.1 103 Early\r\nLINK: a\r\n\r\nHTTP/1.1 200 OK\r\nETag: x\r\n", 4096);
        captured.capture(b"X-aB: 1\r\n\r\nSERVER: no\r\n", 4096);
        for (name, original) in [("etag", "ETag"), ("x-ab", "X-aB"), ("link", "LINK"), ("server", "server"), ("x", "x")]
        {
            assert_eq!(captured.original_case(name), original);
        }
    }

    #[test]
    fn only_the_first_bytes_are_kept() {
        let captured = HeaderCapture::default();
        captured.capture(&[b'a'; 100], 10);
        captured.capture(&[b'a'; 100], 10);
        assert_eq!(captured.0.lock().len(), 10);
    }
}
