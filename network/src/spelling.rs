//! How the server spelled the names of its headers.
//!
//! hyper gives names in lower case. `curl -i` shows them as they came, and scripts look for `Location:`. So the beginning
//! of what is read is kept, and names are looked up in it. What hyper understood stays what counts: of the kept bytes
//! only the case of letters is used.

use std::io;
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll, ready};

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

use crate::connect::Stream;

/// The beginning of what was read.
#[derive(Clone, Default)]
pub(crate) struct Heard(Arc<Mutex<Vec<u8>>>);

impl Heard {
    fn hear(&self, bytes: &[u8], most: usize) {
        let mut heard = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let room = most.saturating_sub(heard.len());
        heard.extend_from_slice(bytes.get(..room).unwrap_or(bytes));
    }

    /// A name as the server spelled it; else as hyper gives it.
    pub(crate) fn spelled(&self, name: &str) -> String {
        let heard = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let found = lines_of_head(&heard).find_map(|line| {
            let spelled = line.get(..name.len())?;
            let follows = line.get(name.len()) == Some(&b':');
            (follows && spelled.eq_ignore_ascii_case(name.as_bytes())).then(|| String::from_utf8_lossy(spelled))
        });
        found.map_or_else(|| name.to_owned(), |spelled| spelled.into_owned())
    }
}

/// The lines of all heads at the beginning: interim answers (100 to 199) and the final one.
fn lines_of_head(bytes: &[u8]) -> impl Iterator<Item = &[u8]> {
    let mut interim = true;
    let lines = bytes.split(|byte| *byte == b'\n').map(|line| line.strip_suffix(b"\r").unwrap_or(line));
    lines.take_while(move |line| {
        if let Some(status) = line.strip_prefix(b"HTTP/1.") {
            interim = status.get(2) == Some(&b'1');
        }
        !line.is_empty() || interim
    })
}

/// A stream that keeps the first bytes it reads.
pub(crate) struct Listening {
    pub(crate) stream: Pin<Box<dyn Stream>>,
    pub(crate) heard: Heard,
    pub(crate) most: usize,
}

impl AsyncRead for Listening {
    fn poll_read(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        let before = buf.filled().len();
        ready!(self.stream.as_mut().poll_read(cx, buf))?;
        self.heard.hear(buf.filled().get(before..).unwrap_or_default(), self.most);
        Poll::Ready(Ok(()))
    }
}

impl AsyncWrite for Listening {
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
    use super::Heard;

    #[test]
    fn names_are_spelled_as_in_the_head_and_not_as_in_the_body() {
        let heard = Heard::default();
        heard.hear(b"HTTP/1.1 103 Early\r\nLINK: a\r\n\r\nHTTP/1.1 200 OK\r\nETag: x\r\n", 4096);
        heard.hear(b"X-aB: 1\r\n\r\nSERVER: no\r\n", 4096);
        for (name, spelled) in [("etag", "ETag"), ("x-ab", "X-aB"), ("link", "LINK"), ("server", "server"), ("x", "x")]
        {
            assert_eq!(heard.spelled(name), spelled);
        }
    }

    #[test]
    fn only_the_beginning_is_kept() {
        let heard = Heard::default();
        heard.hear(&[b'a'; 100], 10);
        heard.hear(&[b'a'; 100], 10);
        assert_eq!(heard.0.lock().expect("one thread").len(), 10);
    }
}
