//! Requests for sandboxes of other nodes. They are passed on once.

use std::any::Any;
use std::fmt;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use axum::Router;
use axum::body::{Body, Bytes};
use axum::extract::{Request, State};
use axum::http::{HeaderMap, HeaderName, HeaderValue};
use axum::middleware::Next;
use axum::response::Response;
use http_body::{Frame, SizeHint};
use tokio::net::TcpStream;

use crate::form::discard;
use crate::preview::{ConnectionEnd, send_over};
use crate::saved::{SandboxLocation, SandboxStore, is_id, unavailable, unavailable_response};
use crate::tenants::sandbox_ids;

/// Marks a request of another node.
const HOP_HEADER: HeaderName = HeaderName::from_static("x-tidebox-hop");

/// Time for a connection to another node.
const CONNECT_TIME: Duration = Duration::from_secs(2);

/// Pause between two checks whether the other node still serves the sandbox while its response is awaited.
const CHECK_INTERVAL: Duration = Duration::from_millis(500);

#[derive(Clone)]
struct Hops {
    store: Arc<dyn SandboxStore>,
    api: Arc<str>,
}

/// Adds a layer that sends requests for sandboxes of other nodes to them, if the store has several nodes.
pub fn routed(router: Router, store: Option<Arc<dyn SandboxStore>>, api: &str) -> Router {
    match store.filter(|store| store.has_nodes()) {
        Some(store) => router.layer(axum::middleware::from_fn_with_state(Hops { store, api: api.into() }, route)),
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

async fn reject(request: Request, message: &str) -> Response {
    discard(request.into_body()).await;
    unavailable_response(&unavailable("find sandbox", message))
}

impl Hops {
    /// Sends a request to another node and returns its response.
    async fn pass_on(&self, id: &str, address: &str, request: Request) -> Response {
        let connected = tokio::time::timeout(CONNECT_TIME, TcpStream::connect(address)).await;
        let Ok(Ok(stream)) = connected else {
            return reject(request, "the node of the sandbox does not respond; try again").await;
        };
        // Messages are small; do not delay one until the previous one is acknowledged.
        let _ = stream.set_nodelay(true);
        let mark = |headers: &mut HeaderMap| {
            headers.insert(HOP_HEADER, HeaderValue::from_static("1"));
        };
        let response = tokio::select! {
            response = send_over(stream, ConnectionEnd::by_peers(), request, mark) => response.ok(),
            () = self.moved(id, address) => None,
        };
        response.unwrap_or_else(|| {
            let message = "the node of the sandbox has failed; the request may have run";
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
