//! Protocol between guest and host for a request: frames over two pipes, specified in `docs/network.md`.

use std::time::Duration;

use tidebox_core::HostInput;
use tidebox_core::network::{Exchange, NetworkError};

/// First line of a head. The number must change when the meaning of a frame changes.
const VERSION: &str = "tidebox-http 1";

/// Frame types: head of a request or a reply, chunk of a body, end of a body, error.
pub(super) const HEAD: u8 = b'H';
pub(super) const DATA: u8 = b'D';
pub(super) const END: u8 = b'E';
pub(super) const FAILURE: u8 = b'F';

/// Maximum payload in both directions: the largest head and its first lines.
const MAX_PAYLOAD_BYTES: usize = 256 << 10;

/// Maximum body chunk sent by the host.
const CHUNK_BYTES: usize = 64 << 10;

/// One frame.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Frame {
    pub(super) kind: u8,
    pub(super) payload: Vec<u8>,
}

/// Reason why a frame cannot be read.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum FrameError {
    /// The stream ended, between two frames or within one.
    Eof,
    /// The frame exceeds the maximum size.
    TooLarge,
}

/// Reads frames written by a guest.
pub(super) struct Frames {
    input: HostInput,
    read: Vec<u8>,
}

impl Frames {
    pub(super) fn new(input: HostInput) -> Self {
        Self { input, read: Vec::new() }
    }

    pub(super) async fn next(&mut self) -> Result<Frame, FrameError> {
        self.fill(5).await?;
        let (kind, length) = match self.read.first_chunk::<5>() {
            Some([kind, length @ ..]) => (*kind, u32::from_le_bytes(*length) as usize),
            None => return Err(FrameError::Eof),
        };
        if length > MAX_PAYLOAD_BYTES {
            return Err(FrameError::TooLarge);
        }
        self.fill(5 + length).await?;
        let payload = self.read.drain(..5 + length).skip(5).collect();
        Ok(Frame { kind, payload })
    }

    async fn fill(&mut self, bytes: usize) -> Result<(), FrameError> {
        while self.read.len() < bytes {
            let more = self.input.read(bytes - self.read.len()).await;
            if more.is_empty() {
                return Err(FrameError::Eof);
            }
            self.read.extend_from_slice(&more);
        }
        Ok(())
    }
}

/// Encodes a frame.
pub(super) fn frame(kind: u8, payload: &[u8]) -> Vec<u8> {
    let length = u32::try_from(payload.len()).unwrap_or(u32::MAX);
    [&[kind], length.to_le_bytes().as_slice(), payload].concat()
}

/// Encodes a body chunk as frames.
pub(super) fn data(chunk: &[u8]) -> impl Iterator<Item = Vec<u8>> {
    chunk.chunks(CHUNK_BYTES).map(|chunk| frame(DATA, chunk))
}

/// A guest's request.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct RequestHead {
    pub(super) method: String,
    pub(super) url: String,
    pub(super) headers: Vec<(String, Vec<u8>)>,
    /// `None`: no body. `Some(None)`: a body of unknown length.
    pub(super) body: Option<Option<u64>>,
    pub(super) connect_time: Option<Duration>,
    pub(super) request_time: Option<Duration>,
}

impl RequestHead {
    /// Parses the payload of a head. The error is a message for the author of the client.
    pub(super) fn parse(payload: &[u8]) -> Result<Self, String> {
        let mut lines = payload.split(|byte| *byte == b'\n');
        if lines.next() != Some(VERSION.as_bytes()) {
            return Err(format!("the request must start with the line '{VERSION}'"));
        }
        let mut head = Self::default();
        for line in lines.filter(|line| !line.is_empty()) {
            head.line(line)?;
        }
        Ok(head)
    }

    fn line(&mut self, line: &[u8]) -> Result<(), String> {
        let shown = || String::from_utf8_lossy(line).chars().take(80).collect::<String>();
        let unread = || format!("invalid line '{}' in the request", shown());
        let at = line.iter().position(|byte| *byte == b' ').ok_or_else(unread)?;
        let (key, value) = line.split_at_checked(at).ok_or_else(unread)?;
        let value = value.get(1..).unwrap_or_default();
        let text = || std::str::from_utf8(value).map_err(|_| unread());
        let millis = || text()?.parse().map(Duration::from_millis).map_err(|_| unread());
        match key {
            b"method" => self.method = text()?.to_owned(),
            b"url" => self.url = text()?.to_owned(),
            b"connect-ms" => self.connect_time = Some(millis()?),
            b"total-ms" => self.request_time = Some(millis()?),
            b"body" => {
                self.body = match value {
                    b"none" => None,
                    b"stream" => Some(None),
                    _ => Some(Some(text()?.parse().map_err(|_| unread())?)),
                }
            }
            b"header" => {
                let colon = value.iter().position(|byte| *byte == b':').ok_or_else(unread)?;
                let (name, value) = value.split_at_checked(colon).ok_or_else(unread)?;
                let name = std::str::from_utf8(name).map_err(|_| unread())?;
                let value = value.get(1..).unwrap_or_default().trim_ascii();
                self.headers.push((name.to_owned(), value.to_vec()));
            }
            _ => return Err(unread()),
        }
        Ok(())
    }
}

/// Encodes the head of a reply.
pub(super) fn reply_head(exchange: &Exchange) -> Vec<u8> {
    let mut text = format!("{VERSION}\nurl {}\n", exchange.target);
    if let Some(redirect) = &exchange.redirect {
        text.push_str(&format!("redirect {redirect}\n"));
    }
    if let Some(peer) = exchange.peer {
        text.push_str(&format!("peer {} {}\n", peer.ip(), peer.port()));
    }
    let times = exchange.timings;
    let encrypted = if times.encrypted.is_zero() { Duration::ZERO } else { exchange.resolved + times.encrypted };
    for (name, time) in [
        ("resolved-us", exchange.resolved),
        ("connected-us", exchange.resolved + times.connected),
        ("encrypted-us", encrypted),
        ("answered-us", exchange.resolved + times.responded),
    ] {
        text.push_str(&format!("{name} {}\n", time.as_micros()));
    }
    text.push_str(&format!("status 1.{} {} {}\n", exchange.minor_version, exchange.status, exchange.reason));
    let mut payload = text.into_bytes();
    for (name, value) in &exchange.headers {
        payload.extend_from_slice(&[b"header ", name.as_bytes(), b": ", value.as_slice(), b"\n"].concat());
    }
    frame(HEAD, &payload)
}

/// Encodes an error.
pub(super) fn failure(failure: &NetworkError) -> Vec<u8> {
    let (who, kind) = match failure {
        NetworkError::Denied(denial) => ("refused", denial.kind.as_str()),
        NetworkError::Failed(error) => ("failed", error.kind.as_str()),
    };
    let message: String = failure.to_string().chars().map(|char| if char.is_control() { ' ' } else { char }).collect();
    frame(FAILURE, format!("{who} {kind}\nmessage {message}\n").as_bytes())
}
