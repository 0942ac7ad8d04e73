//! One way out for all providers: requests and replies as values, and what carries them.

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

use bytes::Bytes;
use tidebox_core::{BoxFuture, Error, ErrorKind, Result, Secret};

pub use client::Client;
#[cfg(target_family = "wasm")]
pub use fetch::HttpTransport;
pub use frame::{Frame, FrameReader};
#[cfg(not(target_family = "wasm"))]
pub use http::HttpTransport;
#[cfg(test)]
pub(crate) use replay::body as recorded_body;
pub use replay::{Exchange, Line, Replay};
pub use retry::{Hint, RetryPolicy};
pub use timer::{Instant, now, sleep, spawn, within};

/// How a request is sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Method {
    /// Reads.
    Get,
    /// Does something, or asks.
    Post,
    /// Puts something in its place.
    Put,
    /// Changes a part.
    Patch,
    /// Deletes.
    Delete,
}

impl Method {
    /// As it stands in the first line of a request.
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

/// The value of a header.
#[derive(Clone, Debug)]
pub enum HeaderValue {
    /// Text that anybody may see.
    Plain(String),
    /// A credential, which no message and no log shows.
    Secret(Secret),
}

impl HeaderValue {
    /// The bytes that are sent.
    pub fn expose(&self) -> &[u8] {
        match self {
            Self::Plain(text) => text.as_bytes(),
            Self::Secret(secret) => secret.expose(),
        }
    }
}

/// Whether a request may be sent a second time when it is not known what became of the first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Repeat {
    /// It has the same effect however often it arrives.
    Safe,
    /// Only when the server said that it did not do it: 429, or a connection that could not be made.
    OnlyIfRefused,
}

/// Which HTTP a request is sent by.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Protocol {
    /// What every server takes.
    #[default]
    Http1,
    /// What gRPC needs: many calls over one connection, and trailers. In JavaScript there are no trailers.
    Http2,
}

/// A request, ready to be sent, and to be sent again.
#[derive(Clone)]
pub struct Request {
    /// Its method.
    pub method: Method,
    /// Its whole URL.
    pub url: String,
    /// Its headers, names in lower case.
    pub headers: Vec<(&'static str, HeaderValue)>,
    /// Its body in pieces, none for a request without one. They are shared and never copied together.
    pub body: Vec<Bytes>,
    /// How long the head of the reply may take.
    pub head_time: Duration,
    /// How long the body of the reply may be silent.
    pub silence: Duration,
    /// Whether it may be sent again.
    pub repeat: Repeat,
    /// Which HTTP it is sent by.
    pub protocol: Protocol,
}

/// How long a head may take where nothing else is said; the official clients wait a minute too.
const HEAD_TIME: Duration = Duration::from_secs(60);

impl Request {
    /// A request without headers and body.
    pub fn new(method: Method, url: impl Into<String>) -> Self {
        let repeat = if method == Method::Post { Repeat::OnlyIfRefused } else { Repeat::Safe };
        Self {
            method,
            url: url.into(),
            headers: Vec::new(),
            body: Vec::new(),
            head_time: HEAD_TIME,
            silence: HEAD_TIME,
            repeat,
            protocol: Protocol::default(),
        }
    }

    /// Sends it by HTTP/2.
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

    /// Adds a header that is a credential.
    #[must_use]
    pub fn secret(mut self, name: &'static str, value: Secret) -> Self {
        self.headers.push((name, HeaderValue::Secret(value)));
        self
    }

    /// A body of JSON.
    #[must_use]
    pub fn json(self, value: &serde_json::Value) -> Self {
        self.body("application/json", value.to_string())
    }

    /// A body of any type.
    #[must_use]
    pub fn body(mut self, media_type: impl Into<String>, body: impl Into<Bytes>) -> Self {
        self.body = vec![body.into()];
        self.header("content-type", media_type)
    }

    /// A body in pieces.
    #[must_use]
    pub fn pieces(mut self, media_type: impl Into<String>, body: Vec<Bytes>) -> Self {
        self.body = body;
        self.header("content-type", media_type)
    }

    /// Says that sending it twice does no harm.
    #[must_use]
    pub fn repeatable(mut self) -> Self {
        self.repeat = Repeat::Safe;
        self
    }

    /// Says how long the reply may take to begin, and how long it may be silent.
    #[must_use]
    pub fn patience(mut self, head_time: Duration, silence: Duration) -> Self {
        (self.head_time, self.silence) = (head_time, silence);
        self
    }
}

impl fmt::Debug for Request {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // A body may hold variables of the environment, and so secrets of the caller's.
        let bytes: usize = self.body.iter().map(Bytes::len).sum();
        f.debug_struct("Request")
            .field("method", &self.method.as_str())
            .field("url", &self.url)
            .field("headers", &self.headers)
            .field("body_bytes", &bytes)
            .finish_non_exhaustive()
    }
}

/// The body of a reply on its way.
pub trait Pieces: Send {
    /// The next piece, `None` at the end.
    fn next(&mut self) -> BoxFuture<'_, Result<Option<Bytes>>>;

    /// The headers that came behind the last piece, names in lower case.
    fn trailers(&mut self) -> Vec<(String, String)> {
        Vec::new()
    }
}

/// A reply whose head is there.
pub struct Reply {
    /// Its status.
    pub status: u16,
    /// Its headers, names in lower case.
    pub headers: Vec<(String, String)>,
    body: Box<dyn Pieces>,
}

impl fmt::Debug for Reply {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Reply").field("status", &self.status).finish_non_exhaustive()
    }
}

/// The longest answer that is read whole. Lists and file entries stay far below.
const WHOLE_BYTES: usize = 64 << 20;

impl Reply {
    /// A reply with this body.
    pub fn new(status: u16, headers: Vec<(String, String)>, body: Box<dyn Pieces>) -> Self {
        Self { status, headers, body }
    }

    /// Whether the status is one of 200 to 299.
    pub fn is_success(&self) -> bool {
        (200..300).contains(&self.status)
    }

    /// The value of a header.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(given, _)| given == name).map(|(_, value)| value.as_str())
    }

    /// The next piece of the body, `None` at the end.
    ///
    /// # Errors
    /// [`ErrorKind::Unavailable`] and [`ErrorKind::Timeout`] when the connection breaks or is silent.
    pub async fn next(&mut self) -> Result<Option<Bytes>> {
        self.body.next().await
    }

    /// The headers behind the body, once the body has ended. Only HTTP/2 is asked for them.
    pub fn trailers(&mut self) -> Vec<(String, String)> {
        self.body.trailers()
    }

    /// The whole body.
    ///
    /// # Errors
    /// Those of [`next`](Self::next), and [`ErrorKind::Protocol`] beyond 64 MiB.
    pub async fn whole(mut self) -> Result<Vec<u8>> {
        let mut whole = Vec::new();
        while let Some(piece) = self.next().await? {
            if whole.len() + piece.len() > WHOLE_BYTES {
                return Err(Error::new(ErrorKind::Protocol, "read a reply", "the reply is longer than 64 MiB"));
            }
            whole.extend_from_slice(&piece);
        }
        Ok(whole)
    }
}

/// What carries requests. It neither repeats them nor looks at statuses.
pub trait Transport: Send + Sync + fmt::Debug {
    /// Sends a request and returns when the head of the reply is there. Dropping the reply ends it.
    ///
    /// Fails with [`ErrorKind::Unavailable`] when there is no connection, and with [`ErrorKind::Timeout`] when there is no
    /// reply in time. No error shows a credential.
    fn send<'a>(&'a self, request: &'a Request) -> BoxFuture<'a, std::result::Result<Reply, Unsent>>;

    /// Asks for a WebSocket. The request is a `GET`, and what belongs to the handshake is added to its headers.
    ///
    /// Fails as [`send`](Self::send) does, and with [`ErrorKind::Unsupported`] where there are none: JavaScript lets nobody set
    /// headers on them, and so no credential.
    fn open<'a>(&'a self, request: &'a Request) -> BoxFuture<'a, std::result::Result<socket::Opening, Unsent>> {
        let _ = request;
        Box::pin(async {
            let message = "WebSockets with credentials cannot be opened here; use a program outside of a browser";
            Err(Unsent { error: Error::new(ErrorKind::Unsupported, "open a WebSocket", message), unseen: true })
        })
    }
}

/// Why there is no reply.
#[derive(Debug)]
pub struct Unsent {
    /// What is told.
    pub error: Error,
    /// Whether the server cannot have seen the request.
    pub unseen: bool,
}

/// What goes into a URL behind a slash or an equals sign: everything but letters, digits and `-._~` as percents.
pub fn escape(text: impl AsRef<[u8]>) -> String {
    use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, percent_encode};
    const KEPT: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~');
    percent_encode(text.as_ref(), KEPT).to_string()
}
