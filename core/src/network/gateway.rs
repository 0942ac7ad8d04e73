//! The port through which requests leave the process.

use core::net::{IpAddr, SocketAddr};
use std::fmt;
use std::task::{Context, Poll};
use std::time::Duration;

use super::target::Target;
use crate::backend::BoxFuture;
use crate::secret::Secret;

/// Connects, encrypts and transfers bytes. A gateway makes no policy decisions.
///
/// # For implementors
/// A gateway must connect only to one of [`GatewayRequest::addresses`]: no second look-up, no proxy, no reused connection. It
/// must not follow redirects, add headers other than those of the framing (`Host`, `Content-Length` or `Transfer-Encoding`,
/// `Connection`), keep cookies or decompress. Dropping a future or a body must close the connection.
pub trait HttpGateway: Send + Sync + fmt::Debug {
    /// Returns whether the platform resolves names itself and cannot connect to a given address, as in browsers. Names are then
    /// neither resolved nor are their addresses checked before the request is sent, and [`GatewayRequest::addresses`] is empty.
    /// Default: `false`.
    fn connects_by_name(&self) -> bool {
        false
    }

    /// Resolves a name. An empty list counts as [`GatewayErrorKind::Resolve`].
    fn resolve(&self, host: String, within: Duration) -> BoxFuture<'static, Result<Vec<IpAddr>, GatewayError>>;

    /// Sends a request and returns as soon as the head of the response has arrived. The body of the request may still be read
    /// while the response arrives.
    fn send(&self, request: GatewayRequest) -> BoxFuture<'static, Result<GatewayReply, GatewayError>>;
}

/// A stream of byte chunks.
pub trait Body: Send {
    /// Returns the next chunk, which is not empty; `None` at the end. Must not be called again after the end or an error.
    fn poll_chunk(&mut self, cx: &mut Context<'_>) -> Poll<Option<Result<Vec<u8>, GatewayError>>>;
}

/// A request that was checked.
pub struct GatewayRequest {
    /// The method.
    pub method: String,
    /// The destination. Its host is for the `Host` header and for the server's certificate, not for a look-up.
    pub target: Target,
    /// The addresses to try, in this order.
    pub addresses: Vec<IpAddr>,
    /// The headers in order. Any of them may be a credential.
    pub headers: Vec<(String, Secret)>,
    /// The body and, if known, its exact length.
    pub body: Option<(Box<dyn Body>, Option<u64>)>,
    /// Maximum size of the response head, in bytes.
    pub head_bytes: u32,
    /// Timeout until the connection is established.
    pub connect_time: Duration,
    /// Timeout of the whole exchange, up to the last byte of the response.
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

/// Durations of the phases of an exchange, each measured from the start of [`HttpGateway::send`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Timings {
    /// Until the connection was established.
    pub connected: Duration,
    /// Until the TLS handshake was complete; zero without encryption.
    pub encrypted: Duration,
    /// Until the head of the response arrived.
    pub responded: Duration,
}

/// The head of a response and its body stream.
pub struct GatewayReply {
    /// Minor version of HTTP/1: 0 or 1.
    pub minor_version: u8,
    /// Status code, 100 to 999.
    pub status: u16,
    /// The reason phrase, which may be empty.
    pub reason: String,
    /// The headers in order; names in the server's case if the gateway knows it.
    pub headers: Vec<(String, Vec<u8>)>,
    /// The address of the server.
    pub peer: Option<SocketAddr>,
    /// Durations of the phases.
    pub timings: Timings,
    /// The body, without its framing.
    pub body: Box<dyn Body>,
}

impl fmt::Debug for GatewayReply {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("GatewayReply").field("status", &self.status).field("peer", &self.peer).finish_non_exhaustive()
    }
}

/// Kind of a network failure, as a stable name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum GatewayErrorKind {
    /// The name has no address.
    Resolve,
    /// No address accepted the connection.
    Connect,
    /// The TLS handshake failed.
    Tls,
    /// The server's certificate is not trusted by the host, or is for another name.
    Certificate,
    /// The timeout expired.
    Timeout,
    /// The request could not be sent completely.
    Send,
    /// The server closed the connection without a response.
    Empty,
    /// The connection closed within the response.
    Receive,
    /// The response is not HTTP, or its head is too large.
    Protocol,
    /// The gateway itself failed on the host.
    Internal,
}

impl GatewayErrorKind {
    /// Returns the stable name.
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

/// A request without a complete response.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GatewayError {
    /// Kind of the failure.
    pub kind: GatewayErrorKind,
    /// One sentence with the cause. It must contain no header of the request.
    pub message: String,
}

impl GatewayError {
    /// Creates an error.
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
