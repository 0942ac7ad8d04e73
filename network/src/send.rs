//! One request over a connection of its own.

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

use crate::body::{ReplyBody, RequestBody};
use crate::connect::{Connected, connect};
use crate::error::{http, timed_out};
use crate::gateway::Task;
use crate::spelling::{Heard, Listening};

/// Pieces of a reply that wait for their reader. Each is at most what hyper reads at once (64 KiB).
const PIECES: usize = 4;

/// More header lines than any server sends are an attack.
const MOST_HEADERS: usize = 256;

type Pieces = mpsc::Sender<Option<Result<Vec<u8>, GatewayError>>>;

/// Sends a request from the gateway's thread. Dropping the future or the body of the reply ends the connection.
pub(crate) fn send(
    handle: &Handle,
    tls: Arc<ClientConfig>,
    request: GatewayRequest,
) -> BoxFuture<'static, Result<GatewayReply, GatewayError>> {
    let (head_out, head) = oneshot::channel();
    let (pieces_out, pieces) = mpsc::channel(PIECES);
    let task = Task(handle.spawn(run(tls, request, head_out, pieces_out)));
    Box::pin(async move {
        let ended = |_| GatewayError::new(GatewayErrorKind::Internal, "the network has ended");
        let Head { minor_version, status, reason, headers, connected, timings } = head.await.map_err(ended)??;
        let body = Box::new(ReplyBody { pieces, _task: task });
        Ok(GatewayReply { minor_version, status, reason, headers, peer: Some(connected), timings, body })
    })
}

/// The head of a reply.
struct Head {
    minor_version: u8,
    status: u16,
    reason: String,
    headers: Vec<(String, Vec<u8>)>,
    connected: std::net::SocketAddr,
    timings: Timings,
}

/// Runs the exchange within its time and reports how it ended to whoever waits: for the head, or for the body.
async fn run(
    tls: Arc<ClientConfig>,
    request: GatewayRequest,
    head: oneshot::Sender<Result<Head, GatewayError>>,
    pieces: Pieces,
) {
    let mut head = Some(head);
    let within = request.request_time;
    let outcome = match timeout(within, exchange(tls, request, &mut head, &pieces)).await {
        Ok(outcome) => outcome,
        Err(_) if head.is_some() => Err(timed_out("the answer was waited for")),
        Err(_) => Err(timed_out("the reply was coming")),
    };
    // Who does not wait any more has dropped the other ends.
    match (outcome, head.take()) {
        (Err(error), Some(head)) => drop(head.send(Err(error))),
        (outcome, _) => drop(pieces.send(outcome.err().map(Err)).await),
    }
}

async fn exchange(
    tls: Arc<ClientConfig>,
    request: GatewayRequest,
    head: &mut Option<oneshot::Sender<Result<Head, GatewayError>>>,
    pieces: &Pieces,
) -> Result<(), GatewayError> {
    let started = Instant::now();
    let Connected { stream, peer, connected, encrypted } =
        connect(&request.target, &request.addresses, tls, request.connect_time).await?;
    let heard = Heard::default();
    let most = request.head_bytes as usize;
    let stream = Listening { stream, heard: heard.clone(), most };
    let (mut sender, connection) = http1::Builder::new()
        .title_case_headers(true)
        .max_headers(MOST_HEADERS)
        // hyper's smallest.
        .max_buf_size(most.max(8192))
        .max_header_size(most)
        .handshake(TokioIo::new(stream))
        .await
        .map_err(|error| http(&error, false))?;
    // Moves the bytes, and ends with this function.
    let _connection = Task(tokio::spawn(connection));
    let sent = sender.send_request(outgoing(request)?).await;
    let reply = sent.map_err(|error| http(&error, false))?;
    let since = |moment: Instant| moment.saturating_duration_since(started);
    let timings = Timings {
        connected: since(connected),
        encrypted: encrypted.map_or(Duration::ZERO, since),
        answered: since(Instant::now()),
    };
    if let Some(head) = head.take() {
        // Who does not wait any more has dropped this future, too.
        let _ = head.send(Ok(incoming(&reply, &heard, peer, timings)));
    }
    pass_on(reply.into_body(), pieces).await
}

/// Passes the body on piece by piece, as fast as it is read.
async fn pass_on(mut body: Incoming, pieces: &Pieces) -> Result<(), GatewayError> {
    while let Some(frame) = body.frame().await {
        // Trailers are nothing that curl would show.
        let Ok(data) = frame.map_err(|error| http(&error, true))?.into_data() else {
            continue;
        };
        if !data.is_empty() && pieces.send(Some(Ok(data.into()))).await.is_err() {
            break;
        }
    }
    Ok(())
}

fn outgoing(request: GatewayRequest) -> Result<Request<RequestBody>, GatewayError> {
    // The contract has checked all of it; this is the library's own check.
    let bad = |what: &str| GatewayError::new(GatewayErrorKind::Internal, format!("{what} cannot be sent"));
    let Target { path, .. } = &request.target;
    let mut outgoing = Request::new(RequestBody::new(request.body));
    *outgoing.method_mut() = Method::from_bytes(request.method.as_bytes()).map_err(|_| bad("the method"))?;
    *outgoing.uri_mut() = path.parse().map_err(|_| bad("the path"))?;
    let authority = HeaderValue::from_str(&request.target.authority()).map_err(|_| bad("the host"))?;
    let headers = outgoing.headers_mut();
    headers.insert(HOST, authority);
    for (name, value) in &request.headers {
        let header = HeaderName::from_bytes(name.as_bytes()).map_err(|_| bad("a header's name"))?;
        let mut value = HeaderValue::from_bytes(value.expose()).map_err(|_| bad("a header's value"))?;
        value.set_sensitive(true);
        headers.append(header, value);
    }
    Ok(outgoing)
}

fn incoming(reply: &Response<Incoming>, heard: &Heard, peer: std::net::SocketAddr, timings: Timings) -> Head {
    let said = reply.extensions().get::<hyper::ext::ReasonPhrase>();
    let reason = match said {
        Some(said) => String::from_utf8_lossy(said.as_bytes()).into_owned(),
        None => reply.status().canonical_reason().unwrap_or_default().to_owned(),
    };
    let headers = reply.headers().iter();
    Head {
        minor_version: u8::from(reply.version() != Version::HTTP_10),
        status: reply.status().as_u16(),
        reason,
        headers: headers.map(|(name, value)| (heard.spelled(name.as_str()), value.as_bytes().to_vec())).collect(),
        connected: peer,
        timings,
    }
}
