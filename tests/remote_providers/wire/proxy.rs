//! A proxy that records and forwards the requests of clients.

use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;

use tidebox_core::lock::Mutex;

use axum::Router;
use axum::body::{Body, Bytes, to_bytes};
use axum::extract::ws::{Message, WebSocket, WebSocketUpgrade};
use axum::extract::{FromRequestParts as _, Path, Request, State};
use axum::http::request::Parts;
use axum::http::{HeaderMap, StatusCode, Uri, Version};
use axum::response::{IntoResponse as _, Response};
use axum::routing::post;
use axum::serve::ListenerExt as _;
use futures_util::{SinkExt as _, StreamExt as _};
use hyper_util::client::legacy::Client;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::rt::TokioExecutor;
use tidebox_emulators::{Emulator, Serving};
use tokio::net::{TcpListener, TcpStream};
use tokio_tungstenite::tungstenite::{Error as WireError, Message as Wire, client::IntoClientRequest as _};

use crate::{KEY, registry};

/// One request, and its messages if it became a WebSocket.
#[derive(Clone, Debug)]
pub(crate) struct Call {
    /// The client's current step.
    pub(crate) step: String,
    pub(crate) method: String,
    pub(crate) path: String,
    pub(crate) query: String,
    pub(crate) headers: HeaderMap,
    pub(crate) body: Bytes,
    /// Step and text of each message.
    pub(crate) messages: Vec<(String, String)>,
}

#[derive(Debug, Default)]
struct Book {
    step: String,
    calls: Vec<Call>,
}

#[derive(Clone, Debug)]
struct ProxyState {
    target: SocketAddr,
    book: Arc<Mutex<Book>>,
    http1: Client<HttpConnector, Body>,
    http2: Client<HttpConnector, Body>,
}

/// An emulator that clients reach only through a proxy.
#[derive(Debug)]
pub(crate) struct Proxy {
    pub(crate) serving: Serving,
    book: Arc<Mutex<Book>>,
    address: SocketAddr,
    task: tokio::task::JoinHandle<()>,
}

impl Drop for Proxy {
    fn drop(&mut self) {
        self.task.abort();
    }
}

impl Proxy {
    pub(crate) async fn start(provider: &str) -> Self {
        let local = SocketAddr::from((Ipv4Addr::LOCALHOST, 0));
        let listener = TcpListener::bind(local).await.expect("a port is free");
        let address = listener.local_addr().expect("a local address");
        let emulator = Emulator { provider: provider.to_owned(), key: KEY.to_owned() };
        let serving = emulator.serve_at_url(local, registry(), &format!("http://{address}")).await;
        let serving = serving.expect("the emulator serves");
        let book = Arc::<Mutex<Book>>::default();
        let client = |http2: bool| {
            let mut connector = HttpConnector::new();
            connector.set_nodelay(true);
            Client::builder(TokioExecutor::new()).http2_only(http2).build(connector)
        };
        let state = ProxyState {
            target: serving.address(),
            book: Arc::clone(&book),
            http1: client(false),
            http2: client(true),
        };
        let router = Router::new().route("/_tidebox/step/{name}", post(step)).fallback(pass).with_state(state);
        let task = tokio::spawn(async move {
            let listener = listener.tap_io(|connection| drop(connection.set_nodelay(true)));
            // It ends with the test.
            let _ = axum::serve(listener, router).await;
        });
        Self { serving, book, address, task }
    }

    /// URL to which a client reports its next step.
    pub(crate) fn steps(&self) -> String {
        format!("http://{}/_tidebox/step", self.address)
    }

    pub(crate) fn begin(&self, step: &str) {
        step.clone_into(&mut self.book.lock().step);
    }

    /// Returns the calls since the last time.
    pub(crate) fn take(&self) -> Vec<Call> {
        std::mem::take(&mut *self.book.lock()).calls
    }
}

async fn step(State(state): State<ProxyState>, Path(name): Path<String>) -> StatusCode {
    state.book.lock().step = name;
    StatusCode::NO_CONTENT
}

/// Records a request and returns its index.
fn write_down(state: &ProxyState, parts: &Parts, body: Bytes) -> usize {
    let mut book = state.book.lock();
    let call = Call {
        step: book.step.clone(),
        method: parts.method.to_string(),
        path: parts.uri.path().to_owned(),
        query: parts.uri.query().unwrap_or_default().to_owned(),
        headers: parts.headers.clone(),
        body,
        messages: Vec::new(),
    };
    book.calls.push(call);
    book.calls.len() - 1
}

async fn pass(State(state): State<ProxyState>, request: Request) -> Response {
    let (mut parts, body) = request.into_parts();
    if parts.headers.get("upgrade").is_some_and(|value| value.as_bytes().eq_ignore_ascii_case(b"websocket")) {
        let place = write_down(&state, &parts, Bytes::new());
        let upgrade = WebSocketUpgrade::from_request_parts(&mut parts, &()).await.expect("a handshake");
        return open(state, parts, upgrade, place).await;
    }
    let body = to_bytes(body, usize::MAX).await.expect("the request body is complete");
    write_down(&state, &parts, body.clone());
    let (client, http2) = if parts.version == Version::HTTP_2 { (&state.http2, true) } else { (&state.http1, false) };
    let path = parts.uri.path_and_query().map_or("/", |path| path.as_str());
    let mut onward = Request::builder().method(parts.method).uri(format!("http://{}{path}", state.target));
    if http2 {
        onward = onward.version(Version::HTTP_2);
    }
    let mut onward = onward.body(Body::from(body)).expect("a valid request");
    let mut headers = parts.headers;
    for name in ["connection", "transfer-encoding", "content-length"] {
        headers.remove(name);
    }
    *onward.headers_mut() = headers;
    match client.request(onward).await {
        Ok(reply) => {
            let mut reply = reply.map(Body::new);
            reply.headers_mut().remove("transfer-encoding");
            reply.headers_mut().remove("connection");
            reply
        }
        Err(error) => (StatusCode::BAD_GATEWAY, error.to_string()).into_response(),
    }
}

/// Returns whether a header belongs to the handshake, which each side of a proxy does separately.
fn is_of_handshake(name: &str) -> bool {
    name.starts_with("sec-websocket-") || matches!(name, "upgrade" | "connection" | "host" | "content-length")
}

fn others(headers: &HeaderMap) -> impl Iterator<Item = (axum::http::HeaderName, axum::http::HeaderValue)> {
    headers
        .iter()
        .filter(|(name, _)| !is_of_handshake(name.as_str()))
        .map(|(name, value)| (name.clone(), value.clone()))
}

async fn open(state: ProxyState, parts: Parts, upgrade: WebSocketUpgrade, place: usize) -> Response {
    let path = parts.uri.path_and_query().map_or("/", |path| path.as_str());
    let uri: Uri = format!("ws://{}{path}", state.target).parse().expect("a valid path");
    let mut onward = uri.into_client_request().expect("a handshake");
    onward.headers_mut().extend(others(&parts.headers));
    let stream = TcpStream::connect(state.target).await.expect("the emulator is reachable");
    stream.set_nodelay(true).expect("a socket of TCP");
    match tokio_tungstenite::client_async(onward, stream).await {
        Ok((far, result)) => {
            let mut response = upgrade.on_upgrade(move |near| relay(state, near, far, place));
            response.headers_mut().extend(others(result.headers()));
            response
        }
        Err(WireError::Http(rejection)) => {
            let body = rejection.body().clone().unwrap_or_default();
            (rejection.status(), others(rejection.headers()).collect::<HeaderMap>(), body).into_response()
        }
        Err(error) => (StatusCode::BAD_GATEWAY, error.to_string()).into_response(),
    }
}

async fn relay(state: ProxyState, near: WebSocket, far: tokio_tungstenite::WebSocketStream<TcpStream>, place: usize) {
    let ((mut to_near, mut from_near), (mut to_far, mut from_far)) = (near.split(), far.split());
    let out = async {
        while let Some(Ok(message)) = from_near.next().await {
            let message = match message {
                Message::Text(text) => {
                    let mut book = state.book.lock();
                    let step = book.step.clone();
                    if let Some(call) = book.calls.get_mut(place) {
                        call.messages.push((step, text.as_str().to_owned()));
                    }
                    Wire::text(text.as_str().to_owned())
                }
                Message::Binary(bytes) => Wire::Binary(bytes),
                Message::Close(_) => Wire::Close(None),
                // Each side responds to its own.
                Message::Ping(_) | Message::Pong(_) => continue,
            };
            if to_far.send(message).await.is_err() {
                break;
            }
        }
    };
    let back = async {
        while let Some(Ok(message)) = from_far.next().await {
            let message = match message {
                Wire::Text(text) => Message::text(text.as_str().to_owned()),
                Wire::Binary(bytes) => Message::Binary(bytes),
                Wire::Close(_) => Message::Close(None),
                _ => continue,
            };
            if to_near.send(message).await.is_err() {
                break;
            }
        }
    };
    // When one side has closed, the other is closed as well.
    futures_util::future::select(Box::pin(out), Box::pin(back)).await;
}
