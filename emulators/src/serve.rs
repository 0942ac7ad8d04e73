//! Server of an emulator.

use std::net::SocketAddr;
use std::sync::Arc;
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
use crate::preview::Previews;
use crate::registry::{SandboxRegistry, random_token};
use crate::tenants::TenantPort;

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

    /// Serves at `listen`, with a layer round the routes of the provider. Clients receive and use `public_url`, which has no trailing
    /// slash, if the server is behind a proxy.
    ///
    /// # Errors
    /// Same as [`serve`](Self::serve).
    pub async fn serve_observed(
        self,
        listen: SocketAddr,
        registry: SandboxRegistry,
        public_url: Option<&str>,
        observe: impl FnOnce(Router) -> Router,
    ) -> std::io::Result<Serving> {
        let listener = TcpListener::bind(listen).await?;
        let url = url_of(&listener, public_url)?;
        let mut routes = routes(&self.provider, registry.clone(), &url, &self.key)?;
        let faults = FaultInjector::default();
        routes.api = observe(with_faults(routes.api, &faults));
        let variables = std::mem::take(&mut routes.variables);
        let router = crate::hop::routed(routes.into_router(), registry.sandbox_store(), &self.provider);
        self.start(listener, Started { registry, url, variables, faults }, router)
    }

    /// Serves at `listen` for several tenants: each one has its own sandboxes and routes, and no request of one reaches those of
    /// another. The key of `self` is only printed. Faults cannot be injected. `public_url` is as for
    /// [`serve_observed`](Self::serve_observed).
    ///
    /// # Errors
    /// Same as [`serve`](Self::serve).
    pub async fn serve_tenants(
        self,
        listen: SocketAddr,
        tenants: Arc<dyn TenantPort>,
        public_url: Option<&str>,
    ) -> std::io::Result<Serving> {
        let listener = TcpListener::bind(listen).await?;
        let url = url_of(&listener, public_url)?;
        // They send the provider's response to requests that belong to no tenant. No request has their key.
        let empty = SandboxRegistry::new(Arc::new(|_| {
            Box::pin(std::future::ready(Err(tidebox_core::Error::closed("create sandbox"))))
        }));
        let key = random_token().map_err(std::io::Error::other)?;
        let mut without = routes(&self.provider, empty.clone(), &url, &key)?;
        without.api = tenants.observe(&self.provider, without.api);
        let shown = std::mem::take(&mut without.variables).into_iter();
        let variables = shown.map(|(name, value)| (name, value.replace(&key, &self.key))).collect();
        let store = tenants.store();
        let router = crate::tenants::router(tenants, &self.provider, &url, without.into_router());
        let router = crate::hop::routed(router, store, &self.provider);
        let started = Started { registry: empty, url, variables, faults: FaultInjector::default() };
        self.start(listener, started, router)
    }

    fn serve_over(self, listener: TcpListener, registry: SandboxRegistry, url: String) -> std::io::Result<Serving> {
        let mut routes = routes(&self.provider, registry.clone(), &url, &self.key)?;
        let faults = FaultInjector::default();
        routes.api = with_faults(routes.api, &faults);
        let variables = std::mem::take(&mut routes.variables);
        self.start(listener, Started { registry, url, variables, faults }, routes.into_router())
    }

    fn start(self, listener: TcpListener, started: Started, router: Router) -> std::io::Result<Serving> {
        let address = listener.local_addr()?;
        let Started { registry, url, variables, faults } = started;
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

/// Returns the URL for clients.
fn url_of(listener: &TcpListener, public: Option<&str>) -> std::io::Result<String> {
    match public {
        Some(url) => Ok(url.trim_end_matches('/').to_owned()),
        None => Ok(format!("http://{}", listener.local_addr()?)),
    }
}

/// Values of a started server.
struct Started {
    registry: SandboxRegistry,
    url: String,
    variables: Vec<(String, String)>,
    faults: FaultInjector,
}

/// The routes of a provider, and the variables that point its clients to them.
pub(crate) struct Routes {
    pub(crate) api: Router,
    previews: Option<Previews>,
    variables: Vec<(String, String)>,
}

impl Routes {
    pub(crate) fn into_router(self) -> Router {
        let router = self.api.layer(axum::middleware::from_fn(buffer_small_request));
        match self.previews {
            // Outermost: no other route may see a request for a server in a sandbox.
            Some(previews) => router.layer(axum::middleware::from_fn_with_state(previews, crate::preview::route)),
            None => router,
        }
    }
}

/// Returns the routes of a provider with the sandboxes of a registry.
///
/// # Errors
/// The provider is not one of [`EMULATORS`].
pub(crate) fn routes(provider: &str, registry: SandboxRegistry, url: &str, key: &str) -> std::io::Result<Routes> {
    let saved = registry.store.is_some().then(|| (registry.clone(), Arc::<str>::from(provider)));
    let (mut api, previews, variables) = match provider {
        "daytona" => {
            let (router, previews) = crate::daytona::router(registry, url, key);
            (router, Some(previews), crate::daytona::variables(url, key))
        }
        "deno" => {
            let (router, previews) = crate::deno::router(registry, url, key);
            (router, Some(previews), crate::deno::variables(url, key))
        }
        "e2b" => {
            let (router, previews) = crate::e2b::router(registry, url, key);
            (router, Some(previews), crate::e2b::variables(url, key))
        }
        "langsmith" => {
            let (router, previews) = crate::langsmith::router(registry, url, key);
            (router, Some(previews), crate::langsmith::variables(url, key))
        }
        "modal" => (crate::modal::router(registry, key, url), None, crate::modal::variables(url, key)),
        "runloop" => {
            let (router, previews) = crate::runloop::router(registry, url, key);
            (router, Some(previews), crate::runloop::variables(url, key))
        }
        unknown => {
            let message = format!("unknown provider `{unknown}`; expected one of: {}", EMULATORS.join(", "));
            return Err(std::io::Error::new(std::io::ErrorKind::InvalidInput, message));
        }
    };
    if let Some(saved) = saved {
        api = api.layer(axum::middleware::from_fn_with_state(saved, crate::saved::route));
    }
    Ok(Routes { api, previews, variables })
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
    /// Stops accepting requests and closes all sandboxes with their processes. Saved ones stay in their store. Returns when done.
    pub async fn end(self) {
        // The server may have ended with its runtime.
        let _ = self.stop.send(());
        self.registry.end().await;
        // Do not wait for clients that keep a connection open.
        let _ = tokio::time::timeout(LAST_REQUESTS, self.task).await;
    }

    /// Stops accepting connections, and waits at most `limit` until the requests in progress have ended. The sandboxes stay.
    pub async fn drain(self, limit: Duration) {
        let _ = self.stop.send(());
        let _ = tokio::time::timeout(limit, self.task).await;
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
