//! The port through which requests leave the process.

use core::net::{IpAddr, SocketAddr};
use std::fmt;
use std::task::{Context, Poll};
use std::time::Duration;

use super::target::Target;
use crate::backend::BoxFuture;
use crate::secret::Secret;

/// What connects, encrypts and moves bytes. It decides nothing.
///
/// # For implementors
/// A gateway connects to one of [`GatewayRequest::addresses`] and to nothing else: no second look-up, no proxy, no
/// connection that stood before. It follows no redirect, adds no header but those of the frame (`Host`, `Content-Length`
/// or `Transfer-Encoding`, `Connection`), keeps no cookies and does not decompress. Dropping a future or a body ends the
/// connection.
pub trait HttpGateway: Send + Sync + fmt::Debug {
    /// Whether the platform looks names up by itself when it connects and cannot be told an address, as in browsers. Names
    /// are then neither resolved nor are their addresses checked before the request is sent, and
    /// [`GatewayRequest::addresses`] is empty. Default: no.
    fn connects_by_name(&self) -> bool {
        false
    }

    /// Looks a name up. An empty answer is [`GatewayErrorKind::Resolve`].
    fn resolve(&self, host: String, within: Duration) -> BoxFuture<'static, Result<Vec<IpAddr>, GatewayError>>;

    /// Sends a request and returns as soon as the head of the reply is there. The body of the request may be read while
    /// the reply is already coming.
    fn send(&self, request: GatewayRequest) -> BoxFuture<'static, Result<GatewayReply, GatewayError>>;
}

/// A stream of bytes in pieces.
pub trait Body: Send {
    /// The next piece, which is not empty; `None` at the end. Not to be asked again after the end or an error.
    fn poll_chunk(&mut self, cx: &mut Context<'_>) -> Poll<Option<Result<Vec<u8>, GatewayError>>>;
}

/// A request that was checked.
pub struct GatewayRequest {
    /// The method.
    pub method: String,
    /// Where to. Its host is for the `Host` header and for the server's certificate, not for a look-up.
    pub target: Target,
    /// The addresses to try, in this order.
    pub addresses: Vec<IpAddr>,
    /// The headers in order. Any may be a credential.
    pub headers: Vec<(String, Secret)>,
    /// The body and, when it is known, its exact length.
    pub body: Option<(Box<dyn Body>, Option<u64>)>,
    /// Largest head of the reply, in bytes.
    pub head_bytes: u32,
    /// Time until the connection stands.
    pub connect_time: Duration,
    /// Time for everything, to the last byte of the reply.
    pub request_time: Duration,
}

impl fmt::Debug for GatewayRequest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("GatewayRequest")
            .field("method", &self.method)
            .field("target", &self.target)
            .field("addresses", &self.addresses)
            .field("headers", &self.headers)
            .finish_non_exhaustive()
    }
}

/// How long the parts of an exchange took, each from the beginning of [`HttpGateway::send`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Timings {
    /// Until the connection stood.
    pub connected: Duration,
    /// Until it was encrypted; zero without encryption.
    pub encrypted: Duration,
    /// Until the head of the reply was there.
    pub answered: Duration,
}

/// The head of a reply and the body to come.
pub struct GatewayReply {
    /// Minor version of HTTP/1: 0 or 1.
    pub minor_version: u8,
    /// Status code, 100 to 999.
    pub status: u16,
    /// The words after the code, which may be empty.
    pub reason: String,
    /// The headers in order, names as the server spelled them where the gateway knows.
    pub headers: Vec<(String, Vec<u8>)>,
    /// Who answered.
    pub peer: Option<SocketAddr>,
    /// How long it took.
    pub timings: Timings,
    /// The body, without its frame.
    pub body: Box<dyn Body>,
}

impl fmt::Debug for GatewayReply {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("GatewayReply").field("status", &self.status).field("peer", &self.peer).finish_non_exhaustive()
    }
}

/// What went wrong on the way, as a stable name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum GatewayErrorKind {
    /// The name leads to no address.
    Resolve,
    /// No address took the connection.
    Connect,
    /// The encryption could not be agreed upon.
    Tls,
    /// The server's certificate is not one for this host that this machine trusts.
    Certificate,
    /// The time was up.
    Timeout,
    /// The request could not be sent to its end.
    Send,
    /// The server closed the connection without an answer.
    Empty,
    /// The reply broke off.
    Receive,
    /// The answer is not HTTP, or its head is too large.
    Protocol,
    /// The gateway itself failed, on our side.
    Internal,
}

impl GatewayErrorKind {
    /// The stable name.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Resolve => "resolve",
            Self::Connect => "connect",
            Self::Tls => "tls",
            Self::Certificate => "certificate",
            Self::Timeout => "timeout",
            Self::Send => "send",
            Self::Empty => "empty",
            Self::Receive => "receive",
            Self::Protocol => "protocol",
            Self::Internal => "internal",
        }
    }
}

/// A request that did not get its reply.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GatewayError {
    /// What went wrong.
    pub kind: GatewayErrorKind,
    /// One sentence with the cause. It must hold no header of the request.
    pub message: String,
}

impl GatewayError {
    /// An error from its parts.
    pub fn new(kind: GatewayErrorKind, message: impl Into<String>) -> Self {
        Self { kind, message: message.into() }
    }
}

impl fmt::Display for GatewayError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for GatewayError {}
