//! The transport over HTTP: `/mcp` is one sandbox, `/mcp/NAME` others.
//!
//! The name in the URL selects the sandbox, and never a session, because version 2026-07-28 of the protocol has no sessions.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::body::Body;
use axum::extract::{Path, Request, State};
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{IntoResponse as _, Response};
use axum::routing::any;
use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;
use rmcp::transport::{StreamableHttpServerConfig, StreamableHttpService};
use sha2::{Digest as _, Sha256};
use tidebox_core::Secret;
use tidebox_core::lock::Mutex;
use tokio::net::TcpListener;
use tokio::select;

use crate::error::ServeError;
use crate::server::{MAX_MESSAGE_BYTES, Server, Settings};
use crate::source::SandboxSource;
use crate::workspace::Workspace;

/// Maximum number of sandboxes. Each one may use as much memory as its limits allow.
const MAX_SANDBOXES: usize = 64;

/// Maximum length of a sandbox's name.
const MAX_NAME_BYTES: usize = 64;

/// Time after which a session without messages is forgotten. Longer than the longest command, because it counts as inactive while
/// a command without output runs.
const SESSION_IDLE: Duration = Duration::from_secs(3600);

/// Time for which requests in progress may end after a shutdown signal.
const SHUTDOWN: Duration = Duration::from_secs(5);

/// Options of the transport.
#[derive(Clone, Debug)]
pub struct HttpConfig {
    /// Address to listen at. With port 0 the system chooses one.
    pub address: SocketAddr,
    /// Token that every request must have in the header `Authorization: Bearer TOKEN`.
    pub token: Secret,
    /// Name of the sandbox at `/mcp`.
    pub default_name: String,
    /// Accepted values of the header `Host`, with or without a port, in addition to those of the loopback interface. Other values
    /// are rejected, because a web page could direct its own host name to this address.
    pub allowed_hosts: Vec<String>,
    /// Accepted values of the header `Origin`, such as `https://app.example.com:443`. Requests with another value come from a web
    /// page of another site and are rejected; requests without the header are accepted.
    pub allowed_origins: Vec<String>,
}

type Service = StreamableHttpService<Server, LocalSessionManager>;

/// A server that listens.
#[derive(Debug)]
pub struct HttpServer {
    listener: TcpListener,
    address: SocketAddr,
    sandboxes: Arc<Sandboxes>,
}

/// The sandboxes by name.
struct Sandboxes {
    source: Arc<dyn SandboxSource>,
    settings: Arc<Settings>,
    default_name: String,
    token: [u8; 32],
    transport: StreamableHttpServerConfig,
    by_name: Mutex<BTreeMap<String, Sandbox>>,
}

struct Sandbox {
    workspace: Arc<Workspace>,
    service: Service,
}

impl std::fmt::Debug for Sandboxes {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Sandboxes").field("source", &self.source).finish_non_exhaustive()
    }
}

impl HttpServer {
    /// Binds the address.
    ///
    /// # Errors
    /// If the address cannot be used, or the token is empty.
    pub async fn bind(
        config: HttpConfig,
        source: Arc<dyn SandboxSource>,
        settings: Settings,
    ) -> Result<Self, ServeError> {
        if config.token.expose().is_empty() {
            return Err(ServeError::new("cannot serve over HTTP: the token is empty; set one"));
        }
        let cannot_listen = |error| ServeError::io(format!("cannot listen at {}", config.address), error);
        let listener = TcpListener::bind(config.address).await.map_err(cannot_listen)?;
        let address = listener.local_addr().map_err(cannot_listen)?;
        let hosts = ["localhost", "127.0.0.1", "::1"].map(str::to_owned).into_iter().chain(config.allowed_hosts);
        let transport = StreamableHttpServerConfig::default()
            .with_allowed_hosts(hosts)
            .with_allowed_origins(config.allowed_origins)
            .enforce_origin_validation()
            .with_max_request_body_bytes(MAX_MESSAGE_BYTES);
        let sandboxes = Sandboxes {
            source,
            settings: Arc::new(settings),
            default_name: config.default_name,
            token: digest(config.token.expose()),
            transport,
            by_name: Mutex::default(),
        };
        Ok(Self { listener, address, sandboxes: Arc::new(sandboxes) })
    }

    /// Returns the URL of the default sandbox.
    pub fn url(&self) -> String {
        format!("http://{}/mcp", self.address)
    }

    /// Serves until `shutdown` completes. Then requests in progress may end for five seconds, and the sandboxes are closed.
    ///
    /// # Errors
    /// If a sandbox cannot be saved.
    pub async fn serve(self, shutdown: impl Future<Output = ()> + Send + 'static) -> Result<(), ServeError> {
        let Self { listener, sandboxes, .. } = self;
        let routes = Router::new().route("/mcp", any(serve_default)).route("/mcp/{name}", any(serve_named));
        let stop = sandboxes.transport.cancellation_token.clone();
        let stopped = stop.clone();
        let signal = async move {
            shutdown.await;
            // Ends the event streams, which otherwise never end.
            stop.cancel();
        };
        let serving = axum::serve(listener, routes.with_state(Arc::clone(&sandboxes))).with_graceful_shutdown(signal);
        let late = async {
            stopped.cancelled().await;
            tokio::time::sleep(SHUTDOWN).await;
        };
        let served = select! {
            served = serving.into_future() => served.map_err(|error| ServeError::io("cannot serve over HTTP", error)),
            () = late => Ok(()),
        };
        let closed = sandboxes.close().await;
        served.and(closed)
    }
}

async fn serve_default(State(sandboxes): State<Arc<Sandboxes>>, request: Request) -> Response {
    let name = sandboxes.default_name.clone();
    sandboxes.handle(&name, request).await
}

async fn serve_named(State(sandboxes): State<Arc<Sandboxes>>, Path(name): Path<String>, request: Request) -> Response {
    sandboxes.handle(&name, request).await
}

impl Sandboxes {
    async fn handle(&self, name: &str, request: Request) -> Response {
        if !self.is_authorized(request.headers()) {
            let message = "missing or wrong token; send the header Authorization: Bearer TOKEN\n";
            return (StatusCode::UNAUTHORIZED, [(header::WWW_AUTHENTICATE, "Bearer")], message).into_response();
        }
        match self.service(name) {
            Ok(service) => service.handle(request).await.map(Body::new),
            Err((status, message)) => (status, message).into_response(),
        }
    }

    /// Compares digests, so that the time does not depend on the number of equal characters.
    fn is_authorized(&self, headers: &HeaderMap) -> bool {
        let value = headers.get(header::AUTHORIZATION).map(|value| value.as_bytes());
        let token = value.and_then(|value| {
            let (scheme, token) = value.split_at_checked(7)?;
            scheme.eq_ignore_ascii_case(b"bearer ").then_some(token)
        });
        token.is_some_and(|token| digest(token.trim_ascii()) == self.token)
    }

    /// Returns the service of a sandbox. Its sandbox is opened by the first tool call.
    fn service(&self, name: &str) -> Result<Service, (StatusCode, String)> {
        if !is_valid_name(name) {
            let message = format!(
                "invalid sandbox name {name:?}: use 1 to {MAX_NAME_BYTES} letters, digits, hyphens and underscores\n"
            );
            return Err((StatusCode::NOT_FOUND, message));
        }
        let mut by_name = self.by_name.lock();
        if let Some(sandbox) = by_name.get(name) {
            return Ok(sandbox.service.clone());
        }
        if by_name.len() >= MAX_SANDBOXES {
            let message = format!("cannot create sandbox {name:?}: the server has {MAX_SANDBOXES}, the maximum\n");
            return Err((StatusCode::TOO_MANY_REQUESTS, message));
        }
        let sandbox = self.create(name);
        let service = sandbox.service.clone();
        by_name.insert(name.to_owned(), sandbox);
        Ok(service)
    }

    fn create(&self, name: &str) -> Sandbox {
        let workspace = Arc::new(Workspace::new(name, Arc::clone(&self.source)));
        let server = Server::new(Arc::clone(&workspace), Arc::clone(&self.settings));
        let mut sessions = LocalSessionManager::default();
        sessions.session_config.keep_alive = Some(SESSION_IDLE);
        let service =
            StreamableHttpService::new(move || Ok(server.clone()), Arc::new(sessions), self.transport.clone());
        Sandbox { workspace, service }
    }

    async fn close(&self) -> Result<(), ServeError> {
        let workspaces: Vec<_> = self.by_name.lock().values().map(|sandbox| Arc::clone(&sandbox.workspace)).collect();
        let mut result = Ok(());
        for workspace in workspaces {
            let closed = workspace.close().await;
            result = result.and(closed.map_err(|error| ServeError::new(format!("cannot close a sandbox: {error}"))));
        }
        result
    }
}

fn is_valid_name(name: &str) -> bool {
    let is_name_byte = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'_';
    (1..=MAX_NAME_BYTES).contains(&name.len()) && name.bytes().all(is_name_byte)
}

fn digest(bytes: &[u8]) -> [u8; 32] {
    Sha256::digest(bytes).into()
}

#[cfg(test)]
mod tests {
    use super::is_valid_name;

    #[test]
    fn names_of_sandboxes_are_simple() {
        for name in ["a", "thread-7", "A_b", &"x".repeat(64)] {
            assert!(is_valid_name(name), "{name}");
        }
        for name in ["", "a b", "../a", "a/b", "ü", "a.b", &"x".repeat(65)] {
            assert!(!is_valid_name(name), "{name}");
        }
    }
}
