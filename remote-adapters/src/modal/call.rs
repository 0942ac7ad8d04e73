//! Calls of gRPC: a message to a request, a reply to a message or a status, and another attempt where that may help.
//!
//! Every call of Modal may be sent again: those of the control plane carry a key that is the same for all attempts, and commands
//! have names that the client makes.

use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD_NO_PAD;
use bytes::Bytes;
use prost::Message;
use tidebox_core::{Error, ErrorKind, Result};

use super::messages::{RpcRetryPolicy, StatusDetails};
use crate::transport::{Client, Frame, FrameReader, Method, Reply, Request, RetryPolicy, sleep};

/// Codes of gRPC, as far as they are told apart.
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

/// Why a call has no answer.
#[derive(Clone, Debug, PartialEq)]
pub struct Status {
    /// The code of gRPC, never 0.
    pub code: u32,
    /// The words of the server.
    pub message: String,
    /// When the server wants to be asked again.
    pub retry_after: Option<Duration>,
}

impl Status {
    /// Whether another attempt may go better.
    pub(super) fn is_passing(&self) -> bool {
        use code::{CANCELLED, DEADLINE_EXCEEDED, INTERNAL, RESOURCE_EXHAUSTED, UNAVAILABLE, UNKNOWN};
        match self.code {
            CANCELLED | UNKNOWN | DEADLINE_EXCEEDED | INTERNAL | UNAVAILABLE => true,
            // Without a time it is a quota, which waiting does not change.
            RESOURCE_EXHAUSTED => self.retry_after.is_some(),
            _ => false,
        }
    }

    /// The status as an error of ours.
    pub(super) fn error(self, operation: &'static str) -> Error {
        let (kind, advice) = match self.code {
            code::INVALID_ARGUMENT | code::FAILED_PRECONDITION => {
                (ErrorKind::InvalidRequest, "Modal refuses the request")
            }
            code::NOT_FOUND => (ErrorKind::SandboxNotFound, "there is no such sandbox, or it has ended"),
            code::UNAUTHENTICATED => (
                ErrorKind::Unauthenticated,
                "Modal does not accept the key; look at MODAL_TOKEN_ID and MODAL_TOKEN_SECRET",
            ),
            code::PERMISSION_DENIED => (ErrorKind::Forbidden, "Modal refuses it to this key"),
            code::RESOURCE_EXHAUSTED => (ErrorKind::RateLimited, "Modal asks for fewer requests; try again later"),
            code::CANCELLED | code::UNKNOWN | code::INTERNAL | code::UNAVAILABLE | code::DEADLINE_EXCEEDED => {
                (ErrorKind::Unavailable, "Modal is not well; try again later")
            }
            _ => (ErrorKind::Protocol, "Modal answered something that its protocol does not have here"),
        };
        let error = Error::new(kind, operation, advice).with_context("grpc_status", self.code.to_string());
        if self.message.is_empty() { error } else { error.with_context("message", self.message) }
    }

    /// The status of a reply that is none of gRPC: some proxy answered.
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

    /// The status in headers or trailers; `None` when it is that all went well.
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

/// The pause that the details of a refusal ask for.
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

/// A request whose body is still to be set.
pub(super) fn stream_request(url: &str, path: &str) -> Request {
    Request::new(Method::Post, format!("{url}{path}")).header("te", "trailers").http2().repeatable()
}

/// What a call is answered with.
pub(super) type Answer<R> = std::result::Result<R, Status>;

/// Sends a call until it is answered, or until no other attempt makes sense.
pub(super) async fn unary<R: Message + Default>(client: &Client, request: &Request) -> Result<Answer<R>> {
    let policy = RetryPolicy::default();
    let mut attempt = 1;
    loop {
        let answer = once(client, request).await;
        let pause = match &answer {
            Ok(Err(status)) if status.is_passing() => status.retry_after.unwrap_or_else(|| policy.pause(attempt)),
            // The connection broke under the reply.
            Err(error) if error.retryable() => policy.pause(attempt),
            _ => return answer,
        };
        if attempt >= policy.attempts || pause > policy.most_patience {
            return answer;
        }
        sleep(pause).await;
        attempt += 1;
    }
}

/// Sends a call once.
pub(super) async fn once<R: Message + Default>(client: &Client, request: &Request) -> Result<Answer<R>> {
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
    // A message without fields may be left out by a server that has nothing to say.
    R::decode(first.unwrap_or_default()).map(Ok).map_err(|error| unread(&error))
}

pub(super) fn unread(error: &prost::DecodeError) -> Error {
    let message = format!("Modal sent a message that cannot be read: {error}");
    Error::new(ErrorKind::Protocol, "read a reply", message)
}

/// The messages of a reply, and the status at its end.
pub(super) struct Messages {
    reply: Reply,
    reader: FrameReader,
    waiting: std::collections::VecDeque<Frame>,
}

impl Messages {
    /// The messages, or the refusal that stands in the head of the reply.
    pub(super) fn begin(reply: Reply) -> Result<Answer<Self>> {
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

    /// The next message, `None` after the last one.
    pub(super) async fn next(&mut self) -> Result<Answer<Option<Bytes>>> {
        loop {
            if let Some(frame) = self.waiting.pop_front() {
                if frame.flags != 0 {
                    let message = "Modal compressed a message although it was not asked to";
                    return Err(Error::new(ErrorKind::Protocol, "read a reply", message));
                }
                return Ok(Ok(Some(frame.message)));
            }
            let Some(piece) = self.reply.next().await? else { return self.end() };
            let too_long =
                || Error::new(ErrorKind::Protocol, "read a reply", "Modal sent a message of more than 16 MiB");
            self.waiting.extend(self.reader.push(&piece).ok_or_else(too_long)?);
        }
    }

    fn end(&mut self) -> Result<Answer<Option<Bytes>>> {
        let mut trailers = self.reply.trailers();
        // A reply without messages may have it in its head.
        trailers.extend(self.reply.headers.iter().cloned());
        match Status::read(&trailers)? {
            Some(status) => Ok(Err(status)),
            None => Ok(Ok(None)),
        }
    }
}
