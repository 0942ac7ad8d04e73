//! Tenants of one emulator: each has its own routes and sandboxes.
//!
//! A request with a tenant's token reaches the routes of the tenant, with the token replaced by their own key. Requests without
//! one (the data plane of a sandbox, a server in it, a signed URL) reach the routes whose sandbox they name, or those that accept
//! them. In any case the routes check the credentials that the provider defines, so that a wrong choice can only deny a request.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use axum::Router;
use axum::body::Body;
use axum::extract::{Request, State};
use axum::http::header::{AUTHORIZATION, CONTENT_LENGTH, HOST, TRANSFER_ENCODING, UPGRADE};
use axum::http::{HeaderMap, HeaderName, HeaderValue};
use axum::response::Response;
use tidebox_core::lock::Mutex;
use tidebox_core::{Error, ErrorKind};
use tower_service::Service as _;

use crate::registry::{SandboxRegistry, random_token};
use crate::saved::{SandboxStore, is_id, unavailable_response};

/// Status of a creation denied by a quota.
pub(crate) const QUOTA_STATUS: u16 = 429;

/// Returns the status of a failed creation.
pub(crate) fn creation_status(error: &Error) -> u16 {
    if error.kind() == ErrorKind::QuotaExceeded { QUOTA_STATUS } else { 500 }
}

/// Name of the tenant of a request or response, in its extensions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TenantName(pub String);

/// Finds tenants and their sandboxes.
pub trait TenantPort: Send + Sync + fmt::Debug {
    /// Returns the name of the tenant with this token.
    fn find(&self, token: &[u8]) -> Option<String>;

    /// Returns the tenant's sandboxes for a provider, the same ones for every call. `None` if the tenant does not exist any more.
    fn registry(&self, tenant: &str, provider: &str) -> Option<SandboxRegistry>;

    /// Returns the store of all sandboxes, if they are saved.
    fn store(&self) -> Option<Arc<dyn SandboxStore>>;

    /// Adds layers to the routes of a provider, for example a log.
    fn observe(&self, provider: &str, router: Router) -> Router;
}

/// Bytes of a request that is offered to several tenants.
const SMALL_REQUEST: usize = 64 << 10;

/// Headers with a tenant's token: those of E2B and LangSmith, and of Modal. Others send `Authorization: Bearer`.
const KEY_HEADERS: [HeaderName; 2] =
    [HeaderName::from_static("x-api-key"), HeaderName::from_static("x-modal-token-secret")];

/// The routes of one tenant.
#[derive(Clone)]
struct TenantRoutes {
    registry: SandboxRegistry,
    key: String,
    router: Router,
}

#[derive(Clone)]
struct Dispatch {
    tenants: Arc<dyn TenantPort>,
    provider: Arc<str>,
    url: Arc<str>,
    routes: Arc<Mutex<BTreeMap<String, TenantRoutes>>>,
    /// For requests that belong to no tenant.
    without: Router,
}

/// Returns the routes of all tenants.
pub(crate) fn router(tenants: Arc<dyn TenantPort>, provider: &str, url: &str, without: Router) -> Router {
    let dispatch = Dispatch { tenants, provider: provider.into(), url: url.into(), routes: Arc::default(), without };
    Router::new().fallback(serve).with_state(dispatch)
}

async fn serve(State(dispatch): State<Dispatch>, mut request: Request) -> Response {
    if let Some(tenant) = dispatch.tenant_of_token(request.headers()) {
        let Some(routes) = dispatch.routes_of(&tenant) else { return call(dispatch.without, request).await };
        replace_token(request.headers_mut(), &routes.key);
        return call_as(&tenant, routes, request).await;
    }
    let all = dispatch.all_routes();
    let ids = sandbox_ids(&request);
    if let Some((tenant, routes)) = all.iter().find(|(_, routes)| ids.iter().any(|id| routes.registry.contains(id))) {
        return call_as(tenant, routes.clone(), request).await;
    }
    match dispatch.saved_tenant(&ids).await {
        Ok(Some(tenant)) => match dispatch.routes_of(&tenant) {
            Some(routes) => call_as(&tenant, routes, request).await,
            None => call(dispatch.without, request).await,
        },
        Ok(None) => dispatch.offer(all, request).await,
        Err(error) => unavailable_response(&error),
    }
}

impl Dispatch {
    fn tenant_of_token(&self, headers: &HeaderMap) -> Option<String> {
        let keys = KEY_HEADERS.into_iter().filter_map(|name| headers.get(name).map(HeaderValue::as_bytes));
        keys.chain(bearer(headers)).find_map(|token| self.tenants.find(token))
    }

    /// Returns the routes of a tenant, created by its first request. `None` if the tenant does not exist any more.
    fn routes_of(&self, tenant: &str) -> Option<TenantRoutes> {
        let registry = self.tenants.registry(tenant, &self.provider)?;
        let mut routes = self.routes.lock();
        if let Some(known) = routes.get(tenant).filter(|known| known.registry.is_same(&registry)) {
            return Some(known.clone());
        }
        // A failure of the random numbers or of the provider's name would have prevented the start of the server.
        let key = random_token().ok()?;
        let mut made = crate::serve::routes(&self.provider, registry.clone(), &self.url, &key).ok()?;
        made.api = self.tenants.observe(&self.provider, made.api);
        let made = TenantRoutes { registry, key, router: made.into_router() };
        routes.insert(tenant.to_owned(), made.clone());
        Some(made)
    }

    /// Returns the tenant of a saved sandbox that may not be in memory.
    async fn saved_tenant(&self, ids: &[String]) -> tidebox_core::Result<Option<String>> {
        let Some(store) = self.tenants.store() else { return Ok(None) };
        for id in ids.iter().filter(|id| is_id(&self.provider, id)) {
            if let Some(record) = store.find(&self.provider, id).await? {
                return Ok(Some(record.tenant));
            }
        }
        Ok(None)
    }

    /// Returns the routes of all tenants that exist.
    fn all_routes(&self) -> Vec<(String, TenantRoutes)> {
        let mut routes = self.routes.lock();
        routes.retain(|tenant, known| {
            self.tenants.registry(tenant, &self.provider).is_some_and(|registry| registry.is_same(&known.registry))
        });
        routes.iter().map(|(tenant, routes)| (tenant.clone(), routes.clone())).collect()
    }

    /// Offers a request to the tenants until one accepts it. Its URL may be signed by one of them.
    async fn offer(self, all: Vec<(String, TenantRoutes)>, request: Request) -> Response {
        let is_small = is_small(request.headers());
        if !is_small || request.headers().contains_key(UPGRADE) || all.is_empty() {
            return call(self.without, request).await;
        }
        let (head, body) = request.into_parts();
        let Ok(body) = axum::body::to_bytes(body, SMALL_REQUEST).await else {
            return call(self.without, Request::from_parts(head, Body::empty())).await;
        };
        let again = || Request::from_parts(head.clone(), Body::from(body.clone()));
        for (tenant, routes) in all {
            let response = call_as(&tenant, routes, again()).await;
            if response.status().is_success() || response.status().is_redirection() {
                return response;
            }
        }
        call(self.without, again()).await
    }
}

fn bearer(headers: &HeaderMap) -> Option<&[u8]> {
    headers.get(AUTHORIZATION)?.as_bytes().strip_prefix(b"Bearer ")
}

fn is_small(headers: &HeaderMap) -> bool {
    match headers.get(CONTENT_LENGTH).and_then(|length| length.to_str().ok()?.parse::<usize>().ok()) {
        Some(length) => length <= SMALL_REQUEST,
        None => !headers.contains_key(TRANSFER_ENCODING),
    }
}

/// Replaces the token by the key of the tenant's routes, in every header that the provider may read.
fn replace_token(headers: &mut HeaderMap, key: &str) {
    // The letters of a key are valid in a header.
    let Ok(value) = HeaderValue::from_str(key) else { return };
    for name in KEY_HEADERS {
        if headers.contains_key(&name) {
            headers.insert(name, value.clone());
        }
    }
    if bearer(headers).is_some()
        && let Ok(value) = HeaderValue::from_str(&format!("Bearer {key}"))
    {
        headers.insert(AUTHORIZATION, value);
    }
}

/// Returns all that may be the id of a sandbox: parts of the path, of the host and of the headers that name one.
pub(crate) fn sandbox_ids(request: &Request) -> Vec<String> {
    let text = |name: &str| request.headers().get(name).and_then(|value| value.to_str().ok()).map(str::to_owned);
    let mut ids: Vec<String> = request.uri().path().split('/').map(str::to_owned).collect();
    ids.extend(text("e2b-sandbox-id"));
    let host = text(HOST.as_str()).or_else(|| request.uri().host().map(str::to_owned));
    let label = host.as_deref().and_then(|host| host.split('.').next()).map(str::to_owned);
    for label in [label, text("x-tidebox-preview")].into_iter().flatten() {
        ids.extend(label.split_once('-').map(|(_, id)| id.to_ascii_lowercase()));
    }
    ids.retain(|id| !id.is_empty());
    ids
}

async fn call_as(tenant: &str, routes: TenantRoutes, mut request: Request) -> Response {
    let name = TenantName(tenant.to_owned());
    request.extensions_mut().insert(name);
    call(routes.router, request).await
}

async fn call(mut router: Router, request: Request) -> Response {
    match router.call(request).await {
        Ok(response) => response,
        Err(never) => match never {},
    }
}
