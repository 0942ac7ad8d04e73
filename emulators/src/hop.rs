//! Requests for sandboxes of other nodes. They are passed on once, over connections that are kept.

use std::any::Any;
use std::fmt;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use axum::Router;
use axum::body::{Body, Bytes};
use axum::extract::{Request, State};
use axum::http::{HeaderName, HeaderValue};
use axum::middleware::Next;
use axum::response::Response;
use http_body::{Frame, SizeHint};
use hyper_util::client::legacy::Client;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::rt::{TokioExecutor, TokioTimer};
use tidebox_core::lock::Mutex;
use tokio::net::TcpStream;

use crate::form::discard;
use crate::preview::{ConnectionEnd, MAX_HEAD_BYTES, for_address, for_client, send_over, wants_upgrade};
use crate::saved::{SandboxLocation, SandboxStore, is_id, unavailable, unavailable_response};
use crate::tenants::sandbox_ids;

/// Marks a request of another node.
const HOP_HEADER: HeaderName = HeaderName::from_static("x-tidebox-hop");

/// Time for a connection to another node.
const CONNECT_TIME: Duration = Duration::from_secs(2);

/// Pause between two checks whether the other node still serves the sandbox while its response is awaited.
const CHECK_INTERVAL: Duration = Duration::from_millis(500);

/// Idle connections to each node that are kept, and their time. A request waits for no connection: it opens another one.
const IDLE_CONNECTIONS: usize = 64;
const IDLE_TIME: Duration = Duration::from_secs(30);

#[derive(Clone)]
struct Hops {
    store: Arc<dyn SandboxStore>,
    api: Arc<str>,
    client: Client<HttpConnector, Body>,
}

/// The reason that a request was not passed on.
#[derive(Debug, PartialEq, Eq)]
enum HopError {
    /// No connection: the request did not run.
    Unreachable,
    /// The connection has ended: the request may have run.
    Broken,
}

/// Adds a layer that sends requests for sandboxes of other nodes to them, if the store has several nodes.
pub fn routed(router: Router, store: Option<Arc<dyn SandboxStore>>, api: &str) -> Router {
    match store.filter(|store| store.has_nodes()) {
        Some(store) => {
            let hops = Hops { store, api: api.into(), client: client() };
            router.layer(axum::middleware::from_fn_with_state(hops, route))
        }
        None => router,
    }
}

async fn route(State(hops): State<Hops>, request: Request, next: Next) -> Response {
    let ids = sandbox_ids(&request);
    // Requests of clients name one sandbox.
    let Some(id) = ids.into_iter().find(|id| is_id(&hops.api, id)) else { return next.run(request).await };
    let is_hop = request.headers().contains_key(HOP_HEADER);
    match hops.store.locate(&hops.api, &id) {
        SandboxLocation::Here(guard) => {
            let response = next.run(request).await;
            response.map(|body| Body::new(GuardedBody::new(body, guard)))
        }
        SandboxLocation::Elsewhere(address) if !is_hop => hops.pass_on(&id, &address, request).await,
        SandboxLocation::Elsewhere(_) => reject(request, "the sandbox has just moved to another node; try again").await,
        SandboxLocation::Nowhere => reject(request, "no node serves the sandbox at the moment; try again").await,
    }
}

/// Sends a request to a node and returns its response.
async fn send(client: &Client<HttpConnector, Body>, address: &str, request: Request) -> Result<Response, HopError> {
    if wants_upgrade(&request) {
        return upgrade(address, request).await;
    }
    let (head, body) = request.into_parts();
    let (lent, body) = LentBody::new(body);
    let request = for_address(Request::from_parts(head, Body::new(lent)), address).ok_or(HopError::Unreachable)?;
    match client.request(request).await {
        Ok(response) => Ok(for_client(response)),
        Err(error) if error.is_connect() => {
            let body = std::mem::take(&mut *body.lock());
            discard(body).await;
            Err(HopError::Unreachable)
        }
        Err(_) => Err(HopError::Broken),
    }
}

/// Sends a request to upgrade to another protocol, over a separate connection.
async fn upgrade(address: &str, request: Request) -> Result<Response, HopError> {
    let connected = tokio::time::timeout(CONNECT_TIME, TcpStream::connect(address)).await;
    let Ok(Ok(stream)) = connected else {
        discard(request.into_body()).await;
        return Err(HopError::Unreachable);
    };
    // As for kept connections.
    let _ = stream.set_nodelay(true);
    send_over(stream, ConnectionEnd::by_peers(), request, |_| {}).await.map_err(|_| HopError::Broken)
}

async fn reject(request: Request, message: &str) -> Response {
    discard(request.into_body()).await;
    unavailable_response(&unavailable("find sandbox", message))
}

/// Returns a client that keeps connections. It repeats a request only if a kept connection was closed before any byte of the request
/// was written.
fn client() -> Client<HttpConnector, Body> {
    let mut connector = HttpConnector::new();
    connector.set_connect_timeout(Some(CONNECT_TIME));
    // Messages are small; do not delay one until the previous one is acknowledged.
    connector.set_nodelay(true);
    Client::builder(TokioExecutor::new())
        .pool_timer(TokioTimer::new())
        .pool_idle_timeout(IDLE_TIME)
        .pool_max_idle_per_host(IDLE_CONNECTIONS)
        .http1_max_buf_size(MAX_HEAD_BYTES)
        .build(connector)
}

impl Hops {
    /// Sends a request to another node and returns its response.
    async fn pass_on(&self, id: &str, address: &str, mut request: Request) -> Response {
        request.headers_mut().insert(HOP_HEADER, HeaderValue::from_static("1"));
        let response = tokio::select! {
            response = send(&self.client, address, request) => response,
            () = self.moved(id, address) => Err(HopError::Broken),
        };
        response.unwrap_or_else(|error| {
            let message = match error {
                HopError::Unreachable => "the node of the sandbox does not respond; try again",
                HopError::Broken => "the node of the sandbox has failed; the request may have run",
            };
            unavailable_response(&unavailable("pass the request on", message))
        })
    }

    /// Completes when another node serves the sandbox.
    async fn moved(&self, id: &str, address: &str) {
        loop {
            tokio::time::sleep(CHECK_INTERVAL).await;
            match self.store.locate(&self.api, id) {
                SandboxLocation::Elsewhere(current) if current == address => {}
                _ => return,
            }
        }
    }
}

/// The body of a request that can be taken back, because the client drops it if it cannot connect.
struct LentBody(Arc<Mutex<Body>>);

impl LentBody {
    fn new(body: Body) -> (Self, Arc<Mutex<Body>>) {
        let body = Arc::new(Mutex::new(body));
        (Self(Arc::clone(&body)), body)
    }
}

impl http_body::Body for LentBody {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, Self::Error>>> {
        Pin::new(&mut *self.0.lock()).poll_frame(context)
    }

    fn is_end_stream(&self) -> bool {
        self.0.lock().is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.0.lock().size_hint()
    }
}

/// The body of a response that holds a guard, until it was sent or is dropped.
pub struct GuardedBody {
    body: Body,
    _guard: Box<dyn Any + Send + Sync>,
}

impl GuardedBody {
    /// Creates a body that holds `guard`.
    #[must_use]
    pub fn new(body: Body, guard: Box<dyn Any + Send + Sync>) -> Self {
        Self { body, _guard: guard }
    }
}

impl fmt::Debug for GuardedBody {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("GuardedBody").finish_non_exhaustive()
    }
}

impl http_body::Body for GuardedBody {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Self::Error>>> {
        Pin::new(&mut self.body).poll_frame(context)
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

#[cfg(test)]
mod tests;
