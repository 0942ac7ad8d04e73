//! Transport layer of all providers: requests and responses as values, and the [`Transport`] trait that carries them.

mod client;
#[cfg(target_family = "wasm")]
mod fetch;
mod frame;
#[cfg(not(target_family = "wasm"))]
mod http;
pub mod multipart;
mod replay;
mod retry;
pub mod socket;
pub mod sse;
mod timer;

use std::fmt;
use std::time::Duration;

use async_trait::async_trait;
use bytes::Bytes;
use tidebox_core::{Error, ErrorKind, Result, Secret};

pub use client::Client;
#[cfg(target_family = "wasm")]
pub use fetch::HttpTransport;
pub use frame::{Frame, FrameReader};
#[cfg(not(target_family = "wasm"))]
pub use http::HttpTransport;
#[cfg(test)]
pub(crate) use replay::body as recorded_body;
pub use replay::{RecordedExchange, ReplayTransport, SocketMessage};
pub use retry::{RetryHint, RetryPolicy};
pub use timer::{Instant, now, sleep, spawn, timeout};

/// HTTP method.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Method {
    /// Reads.
    Get,
    /// Executes or queries.
    Post,
    /// Replaces.
    Put,
    /// Modifies partially.
    Patch,
    /// Deletes.
    Delete,
}

impl Method {
    /// Returns the name used in the request line.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Get => "GET",
            Self::Post => "POST",
            Self::Put => "PUT",
            Self::Patch => "PATCH",
            Self::Delete => "DELETE",
        }
    }
}

/// Value of a header.
#[derive(Clone, Debug)]
pub enum HeaderValue {
    /// Text that is not secret.
    Plain(String),
    /// A credential, omitted from messages and logs.
    Secret(Secret),
}

impl HeaderValue {
    /// Returns the bytes to send.
    pub fn expose(&self) -> &[u8] {
        match self {
            Self::Plain(text) => text.as_bytes(),
            Self::Secret(secret) => secret.expose(),
        }
    }
}

/// Permission to send a request again if the outcome of the first attempt is unknown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Idempotency {
    /// Has the same effect however often it arrives.
    Idempotent,
    /// Retry only if the server did not execute it: 429, or a failed connection.
    RetryIfRejected,
}

/// HTTP version of a request.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Protocol {
    /// Supported by every server.
    #[default]
    Http1,
    /// Required by gRPC: multiplexed calls and trailers. JavaScript provides no trailers.
    Http2,
}

/// A request that can be sent repeatedly.
#[derive(Clone)]
pub struct Request {
    /// Method.
    pub method: Method,
    /// Full URL.
    pub url: String,
    /// Headers, names in lower case.
    pub headers: Vec<(&'static str, HeaderValue)>,
    /// Body as chunks, empty for a request without one. Chunks are shared and never concatenated.
    pub body: Vec<Bytes>,
    /// Timeout of the response headers.
    pub header_timeout: Duration,
    /// Timeout between two chunks of the response body.
    pub idle_timeout: Duration,
    /// Permission to send the request again.
    pub repeat: Idempotency,
    /// HTTP version.
    pub protocol: Protocol,
}

/// Default header timeout; the official clients wait a minute too.
const HEAD_TIME: Duration = Duration::from_secs(60);

impl Request {
    /// Creates a request without headers and body.
    pub fn new(method: Method, url: impl Into<String>) -> Self {
        let repeat = if method == Method::Post { Idempotency::RetryIfRejected } else { Idempotency::Idempotent };
        Self {
            method,
            url: url.into(),
            headers: Vec::new(),
            body: Vec::new(),
            header_timeout: HEAD_TIME,
            idle_timeout: HEAD_TIME,
            repeat,
            protocol: Protocol::default(),
        }
    }

    /// Uses HTTP/2.
    #[must_use]
    pub fn http2(mut self) -> Self {
        self.protocol = Protocol::Http2;
        self
    }

    /// Adds a header.
    #[must_use]
    pub fn header(mut self, name: &'static str, value: impl Into<String>) -> Self {
        self.headers.push((name, HeaderValue::Plain(value.into())));
        self
    }

    /// Adds a header with a credential.
    #[must_use]
    pub fn secret(mut self, name: &'static str, value: Secret) -> Self {
        self.headers.push((name, HeaderValue::Secret(value)));
        self
    }

    /// Sets a JSON body.
    #[must_use]
    pub fn json(self, value: &serde_json::Value) -> Self {
        self.body("application/json", value.to_string())
    }

    /// Sets a body with this media type.
    #[must_use]
    pub fn body(mut self, media_type: impl Into<String>, body: impl Into<Bytes>) -> Self {
        self.body = vec![body.into()];
        self.header("content-type", media_type)
    }

    /// Sets a body of several chunks.
    #[must_use]
    pub fn chunked_body(mut self, media_type: impl Into<String>, body: Vec<Bytes>) -> Self {
        self.body = body;
        self.header("content-type", media_type)
    }

    /// Marks the request as safe to repeat.
    #[must_use]
    pub fn idempotent(mut self) -> Self {
        self.repeat = Idempotency::Idempotent;
        self
    }

    /// Sets the header timeout and the idle timeout of the response.
    #[must_use]
    pub fn timeouts(mut self, header_timeout: Duration, idle_timeout: Duration) -> Self {
        (self.header_timeout, self.idle_timeout) = (header_timeout, idle_timeout);
        self
    }
}

impl fmt::Debug for Request {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Omit the body: it may contain environment variables with secrets.
        let bytes: usize = self.body.iter().map(Bytes::len).sum();
        f.debug_struct("Request")
            .field("method", &self.method.as_str())
            .field("url", &self.url)
            .field("headers", &self.headers)
            .field("body_bytes", &bytes)
            .finish_non_exhaustive()
    }
}

/// A response body being received.
#[async_trait]
pub trait BodyStream: Send {
    /// Returns the next chunk, `None` at the end.
    async fn next(&mut self) -> Result<Option<Bytes>>;

    /// Returns the trailers, names in lower case.
    fn trailers(&mut self) -> Vec<(String, String)> {
        Vec::new()
    }
}

/// A response whose headers have arrived.
pub struct Response {
    /// Status.
    pub status: u16,
    /// Headers, names in lower case.
    pub headers: Vec<(String, String)>,
    body: Box<dyn BodyStream>,
}

impl fmt::Debug for Response {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Reply").field("status", &self.status).finish_non_exhaustive()
    }
}

/// Maximum body read by [`Response::bytes`]. Lists and file entries are far smaller.
const WHOLE_BYTES: usize = 64 << 20;

impl Response {
    /// Creates a response with this body.
    pub fn new(status: u16, headers: Vec<(String, String)>, body: Box<dyn BodyStream>) -> Self {
        Self { status, headers, body }
    }

    /// Returns whether the status is 200 to 299.
    pub fn is_success(&self) -> bool {
        (200..300).contains(&self.status)
    }

    /// Returns the value of a header.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(given, _)| given == name).map(|(_, value)| value.as_str())
    }

    /// Returns the next chunk of the body, `None` at the end.
    ///
    /// # Errors
    /// [`ErrorKind::Unavailable`] if the connection is lost, [`ErrorKind::Timeout`] if it is silent.
    pub async fn next(&mut self) -> Result<Option<Bytes>> {
        self.body.next().await
    }

    /// Returns the trailers, once the body has ended. HTTP/2 only.
    pub fn trailers(&mut self) -> Vec<(String, String)> {
        self.body.trailers()
    }

    /// Returns the whole body.
    ///
    /// # Errors
    /// Those of [`next`](Self::next), and [`ErrorKind::Protocol`] beyond 64 MiB.
    pub async fn bytes(mut self) -> Result<Vec<u8>> {
        let mut whole = Vec::new();
        while let Some(chunk) = self.next().await? {
            if whole.len() + chunk.len() > WHOLE_BYTES {
                return Err(Error::new(ErrorKind::Protocol, "read a reply", "the response is longer than 64 MiB"));
            }
            whole.extend_from_slice(&chunk);
        }
        Ok(whole)
    }
}

/// Carries requests. Does not retry and does not check the status.
#[async_trait]
pub trait Transport: Send + Sync + fmt::Debug {
    /// Sends a request and returns once the response headers have arrived. Dropping the response cancels the request.
    ///
    /// Fails with [`ErrorKind::Unavailable`] without a connection, and with [`ErrorKind::Timeout`] without a timely
    /// response. Errors never contain a credential.
    async fn send(&self, request: &Request) -> std::result::Result<Response, SendError>;

    /// Opens a WebSocket. The request is a `GET`; the handshake headers are added to it.
    ///
    /// Fails as [`send`](Self::send) does, and with [`ErrorKind::Unsupported`] in JavaScript, which cannot set headers,
    /// and therefore credentials, on a WebSocket.
    async fn open(&self, request: &Request) -> std::result::Result<socket::UpgradeResult, SendError> {
        let _ = request;
        let message = "JavaScript cannot open WebSockets with credentials; use a native program";
        Err(SendError { error: Error::new(ErrorKind::Unsupported, "open a WebSocket", message), not_sent: true })
    }
}

/// Failure without a response.
#[derive(Debug)]
pub struct SendError {
    /// The error.
    pub error: Error,
    /// True if the server cannot have received the request.
    pub not_sent: bool,
}

/// Percent-encodes a path segment or parameter: everything except letters, digits and `-._~`.
pub fn percent_encode(text: impl AsRef<[u8]>) -> String {
    use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, percent_encode};
    const KEPT: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~');
    percent_encode(text.as_ref(), KEPT).to_string()
}
