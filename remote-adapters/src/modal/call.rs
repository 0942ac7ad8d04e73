//! gRPC calls: encoding of requests, decoding of responses and statuses, and retries.
//!
//! Every call of Modal may be retried: control plane calls carry an idempotency key that is equal for all attempts, and
//! the client chooses the ids of commands.

use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD_NO_PAD;
use bytes::Bytes;
use prost::Message;
use tidebox_core::{Error, ErrorKind, Result};

use super::messages::{RpcRetryPolicy, StatusDetails};
use crate::transport::{Client, Frame, FrameReader, Method, Request, Response, RetryPolicy, sleep};

/// gRPC status codes used here.
pub(super) mod code {
    pub(crate) const CANCELLED: u32 = 1;
    pub(crate) const UNKNOWN: u32 = 2;
    pub(crate) const INVALID_ARGUMENT: u32 = 3;
    pub(crate) const DEADLINE_EXCEEDED: u32 = 4;
    pub(crate) const NOT_FOUND: u32 = 5;
    pub(crate) const ALREADY_EXISTS: u32 = 6;
    pub(crate) const PERMISSION_DENIED: u32 = 7;
    pub(crate) const RESOURCE_EXHAUSTED: u32 = 8;
    pub(crate) const FAILED_PRECONDITION: u32 = 9;
    pub(crate) const ABORTED: u32 = 10;
    pub(crate) const UNIMPLEMENTED: u32 = 12;
    pub(crate) const INTERNAL: u32 = 13;
    pub(crate) const UNAVAILABLE: u32 = 14;
    pub(crate) const UNAUTHENTICATED: u32 = 16;
}

/// Status of a failed call.
#[derive(Clone, Debug, PartialEq)]
pub struct Status {
    /// gRPC code, never 0.
    pub code: u32,
    /// Message of the server.
    pub message: String,
    /// Pause requested by the server.
    pub retry_after: Option<Duration>,
}

impl Status {
    /// Returns whether a retry may succeed.
    pub(super) fn is_transient(&self) -> bool {
        use code::{CANCELLED, DEADLINE_EXCEEDED, INTERNAL, RESOURCE_EXHAUSTED, UNAVAILABLE, UNKNOWN};
        match self.code {
            CANCELLED | UNKNOWN | DEADLINE_EXCEEDED | INTERNAL | UNAVAILABLE => true,
            // Without a pause it is a quota, which does not change by waiting.
            RESOURCE_EXHAUSTED => self.retry_after.is_some(),
            _ => false,
        }
    }

    /// Converts to [`Error`].
    pub(super) fn error(self, operation: &'static str) -> Error {
        let (kind, advice) = match self.code {
            code::INVALID_ARGUMENT | code::FAILED_PRECONDITION => {
                (ErrorKind::InvalidRequest, "Modal rejected the request")
            }
            code::NOT_FOUND => (ErrorKind::SandboxNotFound, "the sandbox does not exist, or it has ended"),
            code::UNAUTHENTICATED => {
                (ErrorKind::Unauthenticated, "Modal rejected the key; check MODAL_TOKEN_ID and MODAL_TOKEN_SECRET")
            }
            code::PERMISSION_DENIED => (ErrorKind::Forbidden, "Modal does not permit this with this key"),
            code::RESOURCE_EXHAUSTED => (ErrorKind::RateLimited, "Modal's rate limit is exceeded; try again later"),
            code::CANCELLED | code::UNKNOWN | code::INTERNAL | code::UNAVAILABLE | code::DEADLINE_EXCEEDED => {
                (ErrorKind::Unavailable, "Modal is unavailable; try again later")
            }
            _ => (ErrorKind::Protocol, "unexpected response from Modal"),
        };
        let error = Error::new(kind, operation, advice).with_context("grpc_status", self.code.to_string());
        if self.message.is_empty() { error } else { error.with_context("message", self.message) }
    }

    /// Status of a response that is not gRPC, such as a proxy's.
    fn of_http(status: u16) -> Self {
        let code = match status {
            401 => code::UNAUTHENTICATED,
            403 => code::PERMISSION_DENIED,
            404 => code::UNIMPLEMENTED,
            429 | 502..=504 => code::UNAVAILABLE,
            _ => code::UNKNOWN,
        };
        Self { code, message: format!("HTTP status {status}"), retry_after: None }
    }

    /// Reads the status in headers or trailers; `None` for success.
    fn read(headers: &[(String, String)]) -> std::result::Result<Option<Self>, Error> {
        let header = |name: &str| headers.iter().find(|(given, _)| given == name).map(|(_, value)| value.as_str());
        let missing = || Error::new(ErrorKind::Unavailable, "read a reply", "Modal's reply ended without a status");
        let code: u32 = header("grpc-status").and_then(|code| code.trim().parse().ok()).ok_or_else(missing)?;
        if code == 0 {
            return Ok(None);
        }
        let escaped = header("grpc-message").unwrap_or_default();
        let message = percent_encoding::percent_decode_str(escaped).decode_utf8_lossy().into_owned();
        Ok(Some(Self { code, message, retry_after: header("grpc-status-details-bin").and_then(retry_after) }))
    }
}

/// Reads the pause requested in the status details.
fn retry_after(details: &str) -> Option<Duration> {
    let bytes = STANDARD_NO_PAD.decode(details.trim_end_matches('=')).ok()?;
    let details = StatusDetails::decode(bytes.as_slice()).ok()?;
    let policy = details.details.iter().find(|detail| detail.type_url.ends_with("/modal.client.RPCRetryPolicy"))?;
    let seconds = RpcRetryPolicy::decode(policy.value.clone()).ok()?.retry_after_secs;
    Duration::try_from_secs_f32(seconds.max(0.1)).ok()
}

/// A request with one message.
pub(super) fn request(url: &str, path: &str, message: &impl Message) -> Request {
    stream_request(url, path).body("application/grpc", Frame::write(0, &message.encode_to_vec()))
}

/// A request without a body.
pub(super) fn stream_request(url: &str, path: &str) -> Request {
    Request::new(Method::Post, format!("{url}{path}")).header("te", "trailers").http2().idempotent()
}

/// Result of a call.
pub(super) type RpcResult<R> = std::result::Result<R, Status>;

/// Sends a call, with retries.
pub(super) async fn unary<R: Message + Default>(client: &Client, request: &Request) -> Result<RpcResult<R>> {
    let policy = RetryPolicy::default();
    let mut attempt = 1;
    loop {
        let response = once(client, request).await;
        let pause = match &response {
            Ok(Err(status)) if status.is_transient() => status.retry_after.unwrap_or_else(|| policy.pause(attempt)),
            // The connection was lost during the response.
            Err(error) if error.retryable() => policy.pause(attempt),
            _ => return response,
        };
        if attempt >= policy.attempts || pause > policy.max_retry_after {
            return response;
        }
        sleep(pause).await;
        attempt += 1;
    }
}

/// Sends a call once.
pub(super) async fn once<R: Message + Default>(client: &Client, request: &Request) -> Result<RpcResult<R>> {
    let mut messages = match Messages::begin(client.send(request).await?)? {
        Ok(messages) => messages,
        Err(status) => return Ok(Err(status)),
    };
    let mut first = None;
    loop {
        match messages.next().await? {
            Ok(Some(message)) => first = first.or(Some(message)),
            Ok(None) => break,
            Err(status) => return Ok(Err(status)),
        }
    }
    // A server may omit an empty message.
    R::decode(first.unwrap_or_default()).map(Ok).map_err(|error| decode_error(&error))
}

pub(super) fn decode_error(error: &prost::DecodeError) -> Error {
    let message = format!("cannot decode a message from Modal: {error}");
    Error::new(ErrorKind::Protocol, "read a reply", message)
}

/// Messages of a response, followed by its status.
pub(super) struct Messages {
    reply: Response,
    reader: FrameReader,
    waiting: std::collections::VecDeque<Frame>,
}

impl Messages {
    /// Returns the messages, or the status in the response headers.
    pub(super) fn begin(reply: Response) -> Result<RpcResult<Self>> {
        if reply.status != 200 {
            return Ok(Err(Status::of_http(reply.status)));
        }
        if reply.header("grpc-status").is_some()
            && let Some(status) = Status::read(&reply.headers)?
        {
            return Ok(Err(status));
        }
        Ok(Ok(Self { reply, reader: FrameReader::default(), waiting: std::collections::VecDeque::new() }))
    }

    /// Returns the next message, `None` after the last one.
    pub(super) async fn next(&mut self) -> Result<RpcResult<Option<Bytes>>> {
        loop {
            if let Some(frame) = self.waiting.pop_front() {
                if frame.flags != 0 {
                    let message = "Modal sent a compressed message without negotiation";
                    return Err(Error::new(ErrorKind::Protocol, "read a reply", message));
                }
                return Ok(Ok(Some(frame.message)));
            }
            let Some(chunk) = self.reply.next().await? else { return self.end() };
            let too_long =
                || Error::new(ErrorKind::Protocol, "read a reply", "Modal sent a message of more than 16 MiB");
            self.waiting.extend(self.reader.push(&chunk).ok_or_else(too_long)?);
        }
    }

    fn end(&mut self) -> Result<RpcResult<Option<Bytes>>> {
        let mut trailers = self.reply.trailers();
        // A response without messages may have its status in the headers.
        trailers.extend(self.reply.headers.iter().cloned());
        match Status::read(&trailers)? {
            Some(status) => Ok(Err(status)),
            None => Ok(Ok(None)),
        }
    }
}
