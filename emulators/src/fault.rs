//! Fault injection: failures of a real service, triggered by a test.

use std::sync::Arc;
use std::time::Duration;

use tidebox_core::lock::Mutex;

use axum::body::Body;
use axum::extract::{Request, State};
use axum::http::uri::PathAndQuery;
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::middleware::Next;
use axum::response::Response;
use bytes::Bytes;
use futures_util::{StreamExt as _, stream};
use http_body::Frame;
use http_body_util::{BodyStream, StreamBody};
use serde::Deserialize;

/// Kind of a fault.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FaultKind {
    /// Responds with this HTTP status and an optional `Retry-After`. Called `refuse` in JSON.
    #[serde(rename = "refuse")]
    HttpStatus {
        /// Status.
        status: u16,
        /// Seconds.
        retry_after: Option<u64>,
        /// Body.
        #[serde(default)]
        body: String,
    },
    /// Responds with this gRPC status.
    GrpcStatus {
        /// gRPC code.
        code: u32,
        /// Message.
        message: String,
        /// Requested retry pause in seconds, in Modal's status details.
        retry_after_secs: Option<f32>,
    },
    /// Handles the request as if its token had expired: the provider rejects it in its own way.
    ExpiredToken,
    /// Closes the connection after this many bytes of the response.
    BreakAfter {
        /// Bytes that still arrive.
        bytes: usize,
    },
    /// Sends the response in chunks of this size.
    Split {
        /// Bytes per chunk.
        bytes: usize,
    },
    /// On a WebSocket, sends stream chunks before the response that names the stream.
    EarlyChunks,
    /// Closes a WebSocket without a close message after this many server messages.
    CloseAfter {
        /// Messages that still arrive.
        messages: usize,
    },
    /// Delays the response.
    Delay {
        /// Milliseconds.
        millis: u64,
    },
}

/// Faults of a WebSocket being opened.
#[derive(Clone, Debug, Default)]
pub(crate) struct SocketFault {
    /// Send chunks before the response that names their stream.
    pub(crate) early: bool,
    /// Close after this many messages.
    pub(crate) hang_up_after: Option<usize>,
}

/// A fault and the requests it applies to.
#[derive(Clone, Debug, PartialEq, Deserialize)]
pub struct InjectedFault {
    /// Prefix of the request path, including the query as sent.
    pub path: String,
    /// Number of requests affected.
    pub times: u32,
    /// Kind of the fault.
    pub kind: FaultKind,
}

/// Pending faults.
#[derive(Clone, Debug, Default)]
pub struct FaultInjector(Arc<Mutex<Vec<InjectedFault>>>);

impl FaultInjector {
    /// Adds a fault.
    pub fn add(&self, fault: InjectedFault) {
        self.0.lock().push(fault);
    }

    /// Returns the number of pending faults.
    pub fn left(&self) -> usize {
        self.0.lock().len()
    }

    /// Removes all pending faults.
    pub fn clear(&self) {
        self.0.lock().clear();
    }

    fn take(&self, path: &str) -> Option<FaultKind> {
        let mut faults = self.0.lock();
        let at = faults.iter().position(|fault| path.starts_with(&fault.path))?;
        let fault = faults.get_mut(at)?;
        let kind = fault.kind.clone();
        fault.times = fault.times.saturating_sub(1);
        if fault.times == 0 {
            faults.remove(at);
        }
        Some(kind)
    }
}

/// Applies pending faults to requests.
pub(crate) async fn inject_faults(State(faults): State<FaultInjector>, mut request: Request, next: Next) -> Response {
    let path = request.uri().path_and_query().map_or("/", PathAndQuery::as_str);
    match faults.take(path) {
        None => next.run(request).await,
        Some(FaultKind::HttpStatus { status, retry_after, body }) => respond_with_error(status, retry_after, body),
        Some(FaultKind::GrpcStatus { code, message, retry_after_secs }) => {
            crate::modal::error_response_with_retry(code, &message, retry_after_secs)
        }
        Some(FaultKind::ExpiredToken) => {
            expire_token(request.headers_mut());
            next.run(request).await
        }
        Some(FaultKind::EarlyChunks) => {
            request.extensions_mut().insert(SocketFault { early: true, hang_up_after: None });
            next.run(request).await
        }
        Some(FaultKind::CloseAfter { messages }) => {
            request.extensions_mut().insert(SocketFault { early: false, hang_up_after: Some(messages) });
            next.run(request).await
        }
        Some(FaultKind::Delay { millis }) => {
            tokio::time::sleep(Duration::from_millis(millis)).await;
            next.run(request).await
        }
        Some(FaultKind::Split { bytes }) => {
            next.run(request).await.map(|body| Body::new(StreamBody::new(split(body, bytes))))
        }
        Some(FaultKind::BreakAfter { bytes }) => {
            let mut response = next.run(request).await;
            // With a content length, a server that sends less would not start to respond.
            response.headers_mut().remove(header::CONTENT_LENGTH);
            response.map(|body| Body::new(StreamBody::new(cut(body, bytes))))
        }
    }
}

/// Headers with the tokens of the providers. The first one of a request counts: others can carry a key or a user.
const TOKENS: [&str; 5] =
    ["x-modal-auth-token", "x-access-token", "x-api-key", "authorization", "x-modal-token-secret"];

/// Replaces the token of a request by one that no provider accepts.
fn expire_token(headers: &mut HeaderMap) {
    if let Some(name) = TOKENS.into_iter().find(|name| headers.contains_key(*name)) {
        headers.insert(name, HeaderValue::from_static("Bearer expired"));
    }
}

fn respond_with_error(status: u16, retry_after: Option<u64>, body: String) -> Response {
    let mut response = Response::new(Body::from(body));
    *response.status_mut() = StatusCode::from_u16(status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    if let Some(seconds) = retry_after {
        response.headers_mut().insert(header::RETRY_AFTER, HeaderValue::from(seconds));
    }
    response
}

/// A body frame: data or trailers.
type BodyFrame = Result<Frame<Bytes>, axum::Error>;

fn chunks(body: Body) -> impl futures_util::Stream<Item = BodyFrame> + Unpin {
    BodyStream::new(body)
}

fn split(body: Body, size: usize) -> impl futures_util::Stream<Item = BodyFrame> {
    let size = size.max(1);
    chunks(body).flat_map(move |chunk| {
        let chunks: Vec<BodyFrame> = match chunk.map(Frame::into_data) {
            Ok(Ok(bytes)) => bytes.chunks(size).map(|part| Ok(Frame::data(Bytes::copy_from_slice(part)))).collect(),
            Ok(Err(trailers)) => vec![Ok(trailers)],
            Err(error) => vec![Err(error)],
        };
        stream::iter(chunks)
    })
}

fn cut(body: Body, bytes: usize) -> impl futures_util::Stream<Item = BodyFrame> {
    let broken = || axum::Error::new(std::io::Error::from(std::io::ErrorKind::ConnectionReset));
    stream::unfold((chunks(body), Some(bytes)), move |(mut body, left)| async move {
        let left = left?;
        if left == 0 {
            return Some((Err(broken()), (body, None)));
        }
        Some(match body.next().await?.map(Frame::into_data) {
            Ok(Ok(bytes)) => {
                let kept = bytes.slice(..bytes.len().min(left));
                let rest = left - kept.len();
                (Ok(Frame::data(kept)), (body, Some(rest)))
            }
            Ok(Err(trailers)) => (Ok(trailers), (body, Some(left))),
            Err(error) => (Err(error), (body, None)),
        })
    })
}
