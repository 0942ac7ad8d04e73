//! Server of an emulator.

use std::net::SocketAddr;
use std::time::Duration;

use axum::Router;
use axum::extract::Request;
use axum::http::StatusCode;
use axum::http::header::CONTENT_LENGTH;
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use axum::serve::ListenerExt as _;
use tidebox_remote_adapters::Options;
use tokio::net::TcpListener;
use tokio::sync::oneshot;

use crate::fault::FaultInjector;
use crate::registry::SandboxRegistry;

/// Providers that can be emulated.
pub const EMULATORS: &[&str] = &["daytona", "deno", "e2b", "langsmith", "modal", "runloop"];

/// Provider and key of an emulator.
#[derive(Clone, Debug)]
pub struct Emulator {
    /// One of [`EMULATORS`].
    pub provider: String,
    /// Key required from clients. It is printed, because an emulator's key is not secret.
    pub key: String,
}

/// An emulator that runs until this value is dropped.
#[derive(Debug)]
pub struct Serving {
    provider: String,
    key: String,
    address: SocketAddr,
    url: String,
    variables: Vec<(String, String)>,
    registry: SandboxRegistry,
    faults: FaultInjector,
    stop: oneshot::Sender<()>,
    task: tokio::task::JoinHandle<()>,
}

/// Time to wait for requests in progress at shutdown.
const LAST_REQUESTS: Duration = Duration::from_secs(2);

/// Bytes of a request that are read before responding.
const SMALL_REQUEST: usize = 64 << 10;

impl Emulator {
    /// Serves at `listen`; port 0 selects a free port. Faults can also be injected with `POST /_tidebox/faults`.
    ///
    /// # Errors
    /// The provider is not one of [`EMULATORS`], or the address is unavailable.
    pub async fn serve(self, listen: SocketAddr, registry: SandboxRegistry) -> std::io::Result<Serving> {
        let listener = TcpListener::bind(listen).await?;
        let url = format!("http://{}", listener.local_addr()?);
        self.serve_over(listener, registry, url)
    }

    /// Serves at `listen` behind a proxy: clients receive and use `url`, which has no trailing slash.
    ///
    /// # Errors
    /// Same as [`serve`](Self::serve).
    pub async fn serve_at_url(
        self,
        listen: SocketAddr,
        registry: SandboxRegistry,
        url: &str,
    ) -> std::io::Result<Serving> {
        let listener = TcpListener::bind(listen).await?;
        self.serve_over(listener, registry, url.to_owned())
    }

    fn serve_over(self, listener: TcpListener, registry: SandboxRegistry, url: String) -> std::io::Result<Serving> {
        let address = listener.local_addr()?;
        let (key, api) = (self.key.as_str(), registry.clone());
        let (router, previews, variables) = match self.provider.as_str() {
            "daytona" => {
                let (router, previews) = crate::daytona::router(api, &url, key);
                (router, Some(previews), crate::daytona::variables(&url, key))
            }
            "deno" => {
                let (router, previews) = crate::deno::router(api, &url, key);
                (router, Some(previews), crate::deno::variables(&url, key))
            }
            "e2b" => {
                let (router, previews) = crate::e2b::router(api, &url, key);
                (router, Some(previews), crate::e2b::variables(&url, key))
            }
            "langsmith" => {
                let (router, previews) = crate::langsmith::router(api, &url, key);
                (router, Some(previews), crate::langsmith::variables(&url, key))
            }
            "modal" => (crate::modal::router(api, key, &url), None, crate::modal::variables(&url, key)),
            "runloop" => {
                let (router, previews) = crate::runloop::router(api, &url, key);
                (router, Some(previews), crate::runloop::variables(&url, key))
            }
            unknown => {
                let message = format!("unknown provider `{unknown}`; expected one of: {}", EMULATORS.join(", "));
                return Err(std::io::Error::new(std::io::ErrorKind::InvalidInput, message));
            }
        };
        let faults = FaultInjector::default();
        let mut router = with_faults(router, &faults).layer(axum::middleware::from_fn(buffer_small_request));
        if let Some(previews) = previews {
            // Outermost: no other route may see a request for a server in a sandbox.
            router = router.layer(axum::middleware::from_fn_with_state(previews, crate::preview::route));
        }
        let (stop, stopped) = oneshot::channel::<()>();
        let task = tokio::spawn(async move {
            // Messages are small; do not delay one until the previous one is acknowledged.
            let listener = listener.tap_io(|connection| {
                // A lost connection is detected when it is used.
                let _ = connection.set_nodelay(true);
            });
            let serving = axum::serve(listener, router).with_graceful_shutdown(async move {
                // Dropping the sender ends it as well.
                let _ = stopped.await;
            });
            // The listener ends with its program or on the shutdown signal.
            let _ = serving.await;
        });
        Ok(Serving { provider: self.provider, key: self.key, address, url, variables, registry, faults, stop, task })
    }
}

/// Reads a small request before responding. Otherwise the server closes a connection whose request is still arriving,
/// and a client that reuses the connection fails its next request.
async fn buffer_small_request(request: Request, next: Next) -> Response {
    let length = request.headers().get(CONTENT_LENGTH).and_then(|length| length.to_str().ok()?.parse::<usize>().ok());
    if length.is_none_or(|length| length > SMALL_REQUEST) {
        return next.run(request).await;
    }
    let (head, body) = request.into_parts();
    match axum::body::to_bytes(body, SMALL_REQUEST).await {
        Ok(body) => next.run(Request::from_parts(head, body.into())).await,
        Err(_) => StatusCode::BAD_REQUEST.into_response(),
    }
}

fn with_faults(router: Router, faults: &FaultInjector) -> Router {
    use axum::extract::{Json, State};
    use axum::routing::post;
    let add = |State(faults): State<FaultInjector>, Json(fault): Json<crate::fault::InjectedFault>| async move {
        faults.add(fault);
        StatusCode::NO_CONTENT
    };
    let befallen = router.layer(axum::middleware::from_fn_with_state(faults.clone(), crate::fault::inject_faults));
    befallen.merge(Router::new().route("/_tidebox/faults", post(add)).with_state(faults.clone()))
}

impl Serving {
    /// Stops accepting requests and closes all sandboxes with their processes. Returns when done.
    pub async fn end(self) {
        // The server may have ended with its runtime.
        let _ = self.stop.send(());
        self.registry.close_all().await;
        // Do not wait for clients that keep a connection open.
        let _ = tokio::time::timeout(LAST_REQUESTS, self.task).await;
    }

    /// Returns the emulated provider.
    pub fn provider(&self) -> &str {
        &self.provider
    }

    /// Returns the listening address.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Returns the URL used by clients.
    pub fn url(&self) -> String {
        self.url.clone()
    }

    /// Returns the environment variables that point the provider's own clients to it. The adapter reads the same ones.
    pub fn variables(&self) -> &[(String, String)] {
        &self.variables
    }

    /// Returns the adapter options that point to it.
    pub fn options(&self) -> Options {
        let options = Options::default().with_api_url(self.url()).with_api_key(self.key.as_str());
        match self.provider.as_str() {
            "daytona" => options.with_api_url(format!("{}/api", self.url())),
            "deno" => options.with_extra("sandbox_url", self.url()).with_extra("org", crate::deno::ORG),
            "e2b" => options.with_extra("sandbox_url", self.url()),
            "modal" => options.with_extra("token_id", crate::modal::token_id()),
            _ => options,
        }
    }

    /// Returns its sandboxes.
    pub fn registry(&self) -> &SandboxRegistry {
        &self.registry
    }

    /// Returns its pending faults.
    pub fn faults(&self) -> &FaultInjector {
        &self.faults
    }
}
