//! HTTP/1.1 with the servers of this sandbox, over its loopback. It needs no network policy, because no byte leaves the sandbox.

use std::io::{self, Read};
use std::net::SocketAddr;

use tidebox_rt::{Errno, Fd, Readiness};

use crate::address::Address;
use crate::{Failure, Head, Request};

/// Maximum size of the response head, and of a trailer.
const MAX_HEAD: usize = 256 << 10;

/// Maximum of the response that is kept while the request is being sent.
const MAX_EARLY: usize = 8 << 20;

/// A socket that is reported as writable takes this amount without blocking.
const PIECE: usize = 4096;

const HEADERS: usize = 128;

/// A server of this sandbox.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Server {
    at: SocketAddr,
    url: Address,
}

/// Returns the server of a URL whose host is this sandbox: `localhost`, names below it, and the addresses of the loopback.
pub(crate) fn find_server(url: &str) -> Option<Server> {
    if is_redirected_to_host() {
        return None;
    }
    let url = Address::parse(url);
    let at = tidebox_rt::local_address(&url.host, url.port().parse().ok()?)?;
    Some(Server { at, url })
}

/// Returns whether a test on the host sends everything by the command of the host.
fn is_redirected_to_host() -> bool {
    cfg!(not(target_family = "wasm")) && std::env::var_os("TIDEBOX_HTTP_COMMAND").is_some()
}

/// The rule for the end of a body.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Body {
    /// This many bytes are missing.
    Length(u64),
    /// The rest of a chunk, and the line break after it.
    Chunk(u64),
    /// The line with the size of the next chunk.
    ChunkSize,
    /// The lines after the last chunk.
    Trailers,
    UntilClosed,
    Complete,
}

/// A connection with a request in flight.
#[derive(Debug)]
pub(crate) struct Connection {
    fd: Fd,
    read: Vec<u8>,
    closed: bool,
    body: Body,
    /// Time when the request expires, in nanoseconds of the monotonic clock.
    deadline: Option<u64>,
    pub(crate) sent: u64,
}

impl Drop for Connection {
    fn drop(&mut self) {
        // The response is complete, or its rest is not needed.
        let _ = tidebox_rt::close(self.fd);
    }
}

fn failed(kind: &str, message: &str) -> Failure {
    Failure::Failed(kind.to_owned(), message.to_owned())
}

impl Connection {
    pub(crate) fn begin(
        server: &Server,
        request: &Request,
        body: Option<&mut dyn Read>,
    ) -> Result<(Self, Head), Failure> {
        if server.url.scheme != "http" {
            return Err(failed("tls", "TLS to servers of this sandbox is not available; use http://"));
        }
        let started = tidebox_rt::monotonic_ns();
        let ignore = tidebox_rt::sig_set(13, tidebox_rt::Disposition::Ignore);
        ignore.map_err(|errno| Failure::Confused(errno.text().to_owned()))?;
        let fd = tidebox_rt::connect(server.at).map_err(|errno| failed("connect", errno.text()))?;
        let connected_us = tidebox_rt::monotonic_ns().saturating_sub(started) / 1000;
        let deadline = request.total_ms.map(|ms| started.saturating_add(ms.saturating_mul(1_000_000)));
        let mut connection = Self { fd, read: Vec::new(), closed: false, body: Body::Complete, deadline, sent: 0 };
        if connection.send(&encode_head(server, request))?
            && let Some(body) = body
        {
            connection.upload(body, request.body.flatten().is_none())?;
        }
        let mut head = connection.receive_head(&request.method)?;
        head.url = request.url.clone();
        head.redirect = head
            .header("location")
            .filter(|_| (300..400).contains(&head.status))
            .map(|target| server.url.join(&String::from_utf8_lossy(target)));
        (head.ip, head.port) = (server.at.ip().to_string(), server.at.port().to_string());
        (head.resolved_us, head.connected_us) = (connected_us, connected_us);
        head.answered_us = tidebox_rt::monotonic_ns().saturating_sub(started) / 1000;
        Ok((connection, head))
    }

    /// Sends bytes, and reads in between, because a server may respond before it has read everything. Returns `false` if the
    /// server reads no more.
    fn send(&mut self, mut bytes: &[u8]) -> Result<bool, Failure> {
        while !bytes.is_empty() {
            match tidebox_rt::poll_both(self.fd, self.fd) {
                Ok((_, true)) => {
                    let piece = bytes.get(..PIECE.min(bytes.len())).unwrap_or_default();
                    match tidebox_rt::write(self.fd, piece) {
                        Ok(count) => bytes = bytes.get(count..).unwrap_or_default(),
                        Err(Errno::INTR) => {}
                        // Its response may have arrived.
                        Err(Errno::PIPE | Errno::CONNRESET) => return Ok(false),
                        Err(errno) => return Err(failed("send", errno.text())),
                    }
                }
                Ok((true, false)) if self.closed || self.read.len() > MAX_EARLY => return Ok(false),
                Ok((true, false)) => self.receive()?,
                Ok((false, false)) | Err(Errno::INTR) => {}
                Err(errno) => return Err(failed("send", errno.text())),
            }
        }
        Ok(true)
    }

    fn upload(&mut self, body: &mut dyn Read, is_chunked: bool) -> Result<(), Failure> {
        let mut piece = [0; 16 << 10];
        loop {
            let count = match body.read(&mut piece) {
                Ok(count) => count,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(error) => return Err(Failure::Unreadable(tidebox_gnu::message::error_text(&error))),
            };
            let bytes = piece.get(..count).unwrap_or_default();
            let continues = if is_chunked {
                self.send(&[format!("{count:x}\r\n").as_bytes(), bytes, b"\r\n"].concat())?
            } else {
                self.send(bytes)?
            };
            if count == 0 || !continues {
                return Ok(());
            }
            self.sent += count as u64;
        }
    }

    /// Waits for bytes, at most until the deadline, and reads them.
    fn receive(&mut self) -> Result<(), Failure> {
        let mut bytes = [0; 64 << 10];
        loop {
            if let Some(deadline) = self.deadline {
                match tidebox_rt::poll_read(self.fd, deadline.saturating_sub(tidebox_rt::monotonic_ns())) {
                    Ok(Readiness::Ready) | Err(Errno::INTR) => {}
                    Ok(Readiness::TimedOut) => return Err(failed("timeout", "the time of the request has expired")),
                    Err(errno) => return Err(failed("receive", errno.text())),
                }
            }
            match tidebox_rt::read(self.fd, &mut bytes) {
                Ok(count) => {
                    self.closed = count == 0;
                    self.read.extend_from_slice(bytes.get(..count).unwrap_or_default());
                    return Ok(());
                }
                Err(Errno::INTR) => {}
                Err(errno) => return Err(failed("receive", errno.text())),
            }
        }
    }

    fn receive_head(&mut self, method: &str) -> Result<Head, Failure> {
        loop {
            if let Some((length, head)) = parse_head(&self.read)? {
                self.read.drain(..length);
                // Interim responses, such as 100 Continue.
                if (100..200).contains(&head.status) && head.status != 101 {
                    continue;
                }
                self.body = body_of(&head, method)?;
                return Ok(head);
            }
            if self.closed {
                let kind = if self.read.is_empty() { "empty" } else { "receive" };
                return Err(failed(kind, "the server closed the connection in the response head"));
            }
            if self.read.len() > MAX_HEAD {
                return Err(failed("protocol", "the response head is too large"));
            }
            self.receive()?;
        }
    }

    pub(crate) fn next_chunk(&mut self) -> Result<Option<Vec<u8>>, Failure> {
        loop {
            match self.body {
                Body::Complete | Body::Length(0) => return Ok(None),
                Body::Chunk(0) => {
                    if self.read.len() >= 2 {
                        self.read.drain(..2);
                        self.body = Body::ChunkSize;
                        continue;
                    }
                }
                Body::ChunkSize => {
                    if let Some(next) = self.take_chunk_size()? {
                        self.body = next;
                        continue;
                    }
                }
                Body::Trailers => {
                    if self.take_trailers()? {
                        self.body = Body::Complete;
                        continue;
                    }
                }
                Body::Length(_) | Body::Chunk(_) | Body::UntilClosed if !self.read.is_empty() => {
                    return Ok(Some(self.take_data()));
                }
                Body::UntilClosed if self.closed => return Ok(None),
                Body::Length(_) | Body::Chunk(_) | Body::UntilClosed => {}
            }
            if self.closed {
                return Err(failed("receive", "the server closed the connection in the body"));
            }
            self.receive()?;
        }
    }

    fn take_data(&mut self) -> Vec<u8> {
        let at_most = match &mut self.body {
            Body::Length(left) | Body::Chunk(left) => {
                let count = usize::try_from(*left).unwrap_or(usize::MAX).min(self.read.len());
                *left = left.saturating_sub(count as u64);
                count
            }
            _ => self.read.len(),
        };
        self.read.drain(..at_most).collect()
    }

    fn take_chunk_size(&mut self) -> Result<Option<Body>, Failure> {
        match httparse::parse_chunk_size(&self.read) {
            Ok(httparse::Status::Complete((length, size))) => {
                self.read.drain(..length);
                Ok(Some(if size == 0 { Body::Trailers } else { Body::Chunk(size) }))
            }
            Ok(httparse::Status::Partial) if self.read.len() <= MAX_HEAD => Ok(None),
            _ => Err(failed("protocol", "the size of a chunk is not valid")),
        }
    }

    fn take_trailers(&mut self) -> Result<bool, Failure> {
        let mut headers = [httparse::EMPTY_HEADER; HEADERS];
        let length = match httparse::parse_headers(&self.read, &mut headers) {
            Ok(httparse::Status::Complete((length, _))) => length,
            Ok(httparse::Status::Partial) if self.read.len() <= MAX_HEAD => return Ok(false),
            _ => return Err(failed("protocol", "the trailers are not valid")),
        };
        self.read.drain(..length);
        Ok(true)
    }
}

fn encode_head(server: &Server, request: &Request) -> Vec<u8> {
    let target = request.url.splitn(4, '/').nth(3).unwrap_or_default();
    let mut head = format!("{} /{target} HTTP/1.1\r\n", request.method).into_bytes();
    let has = |wanted: &str| request.headers.iter().any(|(name, _)| name.eq_ignore_ascii_case(wanted));
    let mut put = |name: &str, value: &[u8]| {
        head.extend_from_slice(&[name.as_bytes(), b": ", value, b"\r\n"].concat());
    };
    if !has("host") {
        put("Host", server.url.authority().as_bytes());
    }
    for (name, value) in &request.headers {
        put(name, value);
    }
    match request.body {
        Some(Some(length)) if !has("content-length") => put("Content-Length", length.to_string().as_bytes()),
        Some(None) if !has("transfer-encoding") => put("Transfer-Encoding", b"chunked"),
        _ => {}
    }
    head.extend_from_slice(b"\r\n");
    head
}

/// Returns the head of a response and its length; `None` if it is not complete.
fn parse_head(bytes: &[u8]) -> Result<Option<(usize, Head)>, Failure> {
    let mut headers = [httparse::EMPTY_HEADER; HEADERS];
    let mut response = httparse::Response::new(&mut headers);
    match response.parse(bytes) {
        Ok(httparse::Status::Complete(length)) => {
            let header = |header: &httparse::Header<'_>| (header.name.to_owned(), header.value.to_vec());
            let head = Head {
                version: format!("1.{}", response.version.unwrap_or(1)),
                status: response.code.unwrap_or(0),
                reason: response.reason.unwrap_or_default().to_owned(),
                headers: response.headers.iter().map(header).collect(),
                ..Head::default()
            };
            Ok(Some((length, head)))
        }
        Ok(httparse::Status::Partial) => Ok(None),
        Err(httparse::Error::Version | httparse::Error::Token) => {
            Err(failed("protocol", "Received HTTP/0.9 when not allowed"))
        }
        Err(error) => Err(failed("protocol", &format!("the response head is not valid: {error}"))),
    }
}

/// Returns how the body ends, by RFC 9112, section 6.3.
fn body_of(head: &Head, method: &str) -> Result<Body, Failure> {
    if method == "HEAD" || head.status < 200 || matches!(head.status, 204 | 304) {
        return Ok(Body::Complete);
    }
    let is_chunked = head.header("transfer-encoding").is_some_and(|value| {
        value.rsplit(|byte| *byte == b',').next().is_some_and(|last| last.trim_ascii().eq_ignore_ascii_case(b"chunked"))
    });
    if is_chunked {
        return Ok(Body::ChunkSize);
    }
    match head.header("content-length") {
        None => Ok(Body::UntilClosed),
        Some(value) => {
            let length = std::str::from_utf8(value).ok().and_then(|text| text.trim().parse().ok());
            length.map(Body::Length).ok_or_else(|| failed("protocol", "the Content-Length is not valid"))
        }
    }
}
