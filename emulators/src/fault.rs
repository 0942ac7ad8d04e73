//! Faults that a test asks for: what a real service does now and then, at a moment of one's own choice.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use axum::body::Body;
use axum::extract::{Request, State};
use axum::http::uri::PathAndQuery;
use axum::http::{HeaderValue, StatusCode, header};
use axum::middleware::Next;
use axum::response::Response;
use bytes::Bytes;
use futures_util::{StreamExt as _, stream};
use http_body::Frame;
use http_body_util::{BodyStream, StreamBody};
use serde::Deserialize;

/// What goes wrong.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FaultKind {
    /// The request is refused with this status, and `Retry-After` in seconds where that is said.
    Refuse {
        /// The status.
        status: u16,
        /// Seconds.
        retry_after: Option<u64>,
        /// The body.
        #[serde(default)]
        body: String,
    },
    /// The call is refused with this status of gRPC.
    GrpcStatus {
        /// The code.
        code: u32,
        /// The words.
        message: String,
        /// When the client is to ask again, in seconds, as Modal says it.
        retry_after_secs: Option<f32>,
    },
    /// The connection breaks after so many bytes of the reply.
    BreakAfter {
        /// Bytes that still arrive.
        bytes: usize,
    },
    /// The reply comes in pieces of this size.
    Split {
        /// Bytes of one piece.
        bytes: usize,
    },
    /// On a WebSocket, pieces of a stream come before the answer that names it.
    EarlyPieces,
    /// A WebSocket breaks without a word after so many messages of the server.
    HangUpAfter {
        /// Messages that still arrive.
        messages: usize,
    },
    /// The reply comes so many milliseconds late.
    Delay {
        /// Milliseconds.
        millis: u64,
    },
}

/// What goes wrong on a WebSocket that is opened now.
#[derive(Clone, Debug, Default)]
pub(crate) struct SocketFault {
    /// Pieces come before the answer that names their stream.
    pub(crate) early: bool,
    /// It breaks after so many messages.
    pub(crate) hang_up_after: Option<usize>,
}

/// A fault and the requests that it befalls.
#[derive(Clone, Debug, PartialEq, Deserialize)]
pub struct Fault {
    /// Requests whose path begins like this. A query belongs to it, as it was sent.
    pub path: String,
    /// How many of them.
    pub times: u32,
    /// What goes wrong.
    pub kind: FaultKind,
}

/// The faults that are still to come.
#[derive(Clone, Debug, Default)]
pub struct Faults(Arc<Mutex<Vec<Fault>>>);

impl Faults {
    /// Adds a fault.
    pub fn add(&self, fault: Fault) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).push(fault);
    }

    /// How many are still to come.
    pub fn left(&self) -> usize {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).len()
    }

    /// Takes back those that are still to come.
    pub fn clear(&self) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clear();
    }

    fn take(&self, path: &str) -> Option<FaultKind> {
        let mut faults = self.0.lock().unwrap_or_else(PoisonError::into_inner);
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

/// Befalls requests with the faults that were asked for.
pub(crate) async fn befall(State(faults): State<Faults>, mut request: Request, next: Next) -> Response {
    let path = request.uri().path_and_query().map_or("/", PathAndQuery::as_str);
    match faults.take(path) {
        None => next.run(request).await,
        Some(FaultKind::Refuse { status, retry_after, body }) => refuse(status, retry_after, body),
        Some(FaultKind::GrpcStatus { code, message, retry_after_secs }) => {
            crate::modal::refused_with(code, &message, retry_after_secs)
        }
        Some(FaultKind::EarlyPieces) => {
            request.extensions_mut().insert(SocketFault { early: true, hang_up_after: None });
            next.run(request).await
        }
        Some(FaultKind::HangUpAfter { messages }) => {
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
            // With a length, a server that sends less does not even begin.
            response.headers_mut().remove(header::CONTENT_LENGTH);
            response.map(|body| Body::new(StreamBody::new(cut(body, bytes))))
        }
    }
}

fn refuse(status: u16, retry_after: Option<u64>, body: String) -> Response {
    let mut response = Response::new(Body::from(body));
    *response.status_mut() = StatusCode::from_u16(status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    if let Some(seconds) = retry_after {
        response.headers_mut().insert(header::RETRY_AFTER, HeaderValue::from(seconds));
    }
    response
}

/// A piece of a body, or its trailers.
type Piece = Result<Frame<Bytes>, axum::Error>;

fn pieces(body: Body) -> impl futures_util::Stream<Item = Piece> + Unpin {
    BodyStream::new(body)
}

fn split(body: Body, size: usize) -> impl futures_util::Stream<Item = Piece> {
    let size = size.max(1);
    pieces(body).flat_map(move |piece| {
        let pieces: Vec<Piece> = match piece.map(Frame::into_data) {
            Ok(Ok(bytes)) => bytes.chunks(size).map(|chunk| Ok(Frame::data(Bytes::copy_from_slice(chunk)))).collect(),
            Ok(Err(trailers)) => vec![Ok(trailers)],
            Err(error) => vec![Err(error)],
        };
        stream::iter(pieces)
    })
}

fn cut(body: Body, bytes: usize) -> impl futures_util::Stream<Item = Piece> {
    let broken = || axum::Error::new(std::io::Error::from(std::io::ErrorKind::ConnectionReset));
    stream::unfold((pieces(body), Some(bytes)), move |(mut body, left)| async move {
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
