//! One request over a new connection.

use std::sync::Arc;
use std::time::Duration;

use http::header::{HOST, HeaderName, HeaderValue};
use http::{Method, Request, Response, Version};
use http_body_util::BodyExt;
use hyper::body::Incoming;
use hyper::client::conn::http1;
use hyper_util::rt::TokioIo;
use rustls::ClientConfig;
use tidebox_core::BoxFuture;
use tidebox_core::network::{GatewayError, GatewayErrorKind, GatewayReply, GatewayRequest, Target, Timings};
use tokio::runtime::Handle;
use tokio::sync::{mpsc, oneshot};
use tokio::time::{Instant, timeout};

use crate::body::{RequestBody, ResponseBody};
use crate::connect::{Connected, connect};
use crate::error::{http, timed_out};
use crate::gateway::Task;
use crate::header_case::{CapturingStream, HeaderCapture};

/// Response chunks buffered for the reader. Each has at most the size of one read of hyper (64 KiB).
const BUFFERED_CHUNKS: usize = 4;

/// More header lines are treated as an attack.
const MAX_HEADERS: usize = 256;

type ChunkSender = mpsc::Sender<Option<Result<Vec<u8>, GatewayError>>>;

/// Sends a request from the gateway's thread. Dropping the future or the response body closes the connection.
pub(crate) fn send(
    handle: &Handle,
    tls: Arc<ClientConfig>,
    request: GatewayRequest,
) -> BoxFuture<'static, Result<GatewayReply, GatewayError>> {
    let (head_out, head) = oneshot::channel();
    let (chunk_sender, chunks) = mpsc::channel(BUFFERED_CHUNKS);
    let task = Task(handle.spawn(run(tls, request, head_out, chunk_sender)));
    Box::pin(async move {
        let ended = |_| GatewayError::new(GatewayErrorKind::Internal, "the gateway has ended");
        let ResponseHead { minor_version, status, reason, headers, connected, timings } =
            head.await.map_err(ended)??;
        let body = Box::new(ResponseBody { chunks, _task: task });
        Ok(GatewayReply { minor_version, status, reason, headers, peer: Some(connected), timings, body })
    })
}

/// The head of a response.
struct ResponseHead {
    minor_version: u8,
    status: u16,
    reason: String,
    headers: Vec<(String, Vec<u8>)>,
    connected: std::net::SocketAddr,
    timings: Timings,
}

/// Runs the exchange within its timeout and reports its result to the receiver of the head or of the body.
async fn run(
    tls: Arc<ClientConfig>,
    request: GatewayRequest,
    head: oneshot::Sender<Result<ResponseHead, GatewayError>>,
    chunks: ChunkSender,
) {
    let mut head = Some(head);
    let within = request.request_time;
    let outcome = match timeout(within, exchange(tls, request, &mut head, &chunks)).await {
        Ok(outcome) => outcome,
        Err(_) if head.is_some() => Err(timed_out("waiting for the response")),
        Err(_) => Err(timed_out("receiving the response")),
    };
    // If the receiver was dropped, the caller no longer waits; ignore the error.
    match (outcome, head.take()) {
        (Err(error), Some(head)) => drop(head.send(Err(error))),
        (outcome, _) => drop(chunks.send(outcome.err().map(Err)).await),
    }
}

async fn exchange(
    tls: Arc<ClientConfig>,
    request: GatewayRequest,
    head: &mut Option<oneshot::Sender<Result<ResponseHead, GatewayError>>>,
    chunks: &ChunkSender,
) -> Result<(), GatewayError> {
    let started = Instant::now();
    let Connected { stream, peer, connected, encrypted } =
        connect(&request.target, &request.addresses, tls, request.connect_time).await?;
    let captured = HeaderCapture::default();
    let max_header_bytes = request.head_bytes as usize;
    let stream = CapturingStream { stream, captured: captured.clone(), max_bytes: max_header_bytes };
    let (mut sender, connection) = http1::Builder::new()
        .title_case_headers(true)
        .max_headers(MAX_HEADERS)
        // The minimum that hyper accepts.
        .max_buf_size(max_header_bytes.max(8192))
        .max_header_size(max_header_bytes)
        .handshake(TokioIo::new(stream))
        .await
        .map_err(|error| http(&error, false))?;
    // Transfers the bytes, and ends with this function.
    let _connection = Task(tokio::spawn(connection));
    let sent = sender.send_request(build_request(request)?).await;
    let reply = sent.map_err(|error| http(&error, false))?;
    let since = |moment: Instant| moment.saturating_duration_since(started);
    let timings = Timings {
        connected: since(connected),
        encrypted: encrypted.map_or(Duration::ZERO, since),
        responded: since(Instant::now()),
    };
    if let Some(head) = head.take() {
        // If the receiver was dropped, this future is dropped too; ignore the error.
        let _ = head.send(Ok(response_head(&reply, &captured, peer, timings)));
    }
    forward_body(reply.into_body(), chunks).await
}

/// Forwards the body chunk by chunk, at the reader's speed.
async fn forward_body(mut body: Incoming, chunks: &ChunkSender) -> Result<(), GatewayError> {
    while let Some(frame) = body.frame().await {
        // Trailers are ignored, as curl does not show them.
        let Ok(data) = frame.map_err(|error| http(&error, true))?.into_data() else {
            continue;
        };
        if !data.is_empty() && chunks.send(Some(Ok(data.into()))).await.is_err() {
            break;
        }
    }
    Ok(())
}

fn build_request(request: GatewayRequest) -> Result<Request<RequestBody>, GatewayError> {
    // The contract has checked all of it; this is the library's own check.
    let bad = |what: &str| GatewayError::new(GatewayErrorKind::Internal, format!("cannot send {what}"));
    let Target { path, .. } = &request.target;
    let mut http_request = Request::new(RequestBody::new(request.body));
    *http_request.method_mut() = Method::from_bytes(request.method.as_bytes()).map_err(|_| bad("the method"))?;
    *http_request.uri_mut() = path.parse().map_err(|_| bad("the path"))?;
    let authority = HeaderValue::from_str(&request.target.authority()).map_err(|_| bad("the host"))?;
    let headers = http_request.headers_mut();
    headers.insert(HOST, authority);
    for (name, value) in &request.headers {
        let header = HeaderName::from_bytes(name.as_bytes()).map_err(|_| bad("a header's name"))?;
        let mut value = HeaderValue::from_bytes(value.expose()).map_err(|_| bad("a header's value"))?;
        value.set_sensitive(true);
        headers.append(header, value);
    }
    Ok(http_request)
}

fn response_head(
    reply: &Response<Incoming>,
    captured: &HeaderCapture,
    peer: std::net::SocketAddr,
    timings: Timings,
) -> ResponseHead {
    let received_reason = reply.extensions().get::<hyper::ext::ReasonPhrase>();
    let reason = match received_reason {
        Some(received_reason) => String::from_utf8_lossy(received_reason.as_bytes()).into_owned(),
        None => reply.status().canonical_reason().unwrap_or_default().to_owned(),
    };
    let headers = reply.headers().iter();
    ResponseHead {
        minor_version: u8::from(reply.version() != Version::HTTP_10),
        status: reply.status().as_u16(),
        reason,
        headers: headers
            .map(|(name, value)| (captured.original_case(name.as_str()), value.as_bytes().to_vec()))
            .collect(),
        connected: peer,
        timings,
    }
}
