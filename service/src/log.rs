//! The request log, and what is measured of every request.

use std::io::Write as _;
use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use axum::Router;
use axum::body::Body;
use axum::extract::{MatchedPath, Request, State};
use axum::http::{HeaderValue, StatusCode, header};
use axum::middleware::Next;
use axum::response::{IntoResponse as _, Response};
use serde_json::json;
use tidebox_core::lock::Mutex;
use tidebox_emulators::{GuardedBody, TenantName};

use crate::otlp::{ActiveSpan, Value};
use crate::service::Service;

/// Writes lines of JSON to stderr, if enabled.
#[derive(Clone, Debug)]
pub(crate) struct RequestLog {
    is_enabled: bool,
}

/// The tenant and the sandbox of a request for its log, in the extensions of the request. Handlers set them.
#[derive(Clone, Debug, Default)]
pub(crate) struct RequestNotes(Arc<Mutex<Notes>>);

#[derive(Debug, Default)]
struct Notes {
    tenant: Option<String>,
    sandbox: Option<String>,
}

impl RequestNotes {
    pub(crate) fn set_tenant(&self, name: &str) {
        self.0.lock().tenant = Some(name.to_owned());
    }

    pub(crate) fn set_sandbox(&self, id: &str) {
        self.0.lock().sandbox = Some(id.to_owned());
    }
}

/// Route of a request that no template matches.
const UNMATCHED: &str = "unmatched";

impl RequestLog {
    pub(crate) fn new(is_enabled: bool) -> Self {
        Self { is_enabled }
    }

    fn write(&self, line: &serde_json::Value) {
        if self.is_enabled {
            // The reader may have exited; the service is still useful.
            let _ = writeln!(std::io::stderr().lock(), "{line}");
        }
    }
}

#[derive(Clone)]
struct Observed {
    service: Service,
    api: String,
}

/// Returns a router whose requests are counted, logged, and denied while the service drains.
pub(crate) fn observed(service: &Service, api: &str, router: Router) -> Router {
    let observed = Observed { service: service.clone(), api: api.to_owned() };
    router.layer(axum::middleware::from_fn_with_state(observed, observe))
}

async fn observe(State(Observed { service, api }): State<Observed>, mut request: Request, next: Next) -> Response {
    let start = Instant::now();
    let method = request.method().as_str().to_owned();
    let route = request.extensions().get::<MatchedPath>().map_or(UNMATCHED, MatchedPath::as_str).to_owned();
    let notes = RequestNotes::default();
    if let Some(TenantName(tenant)) = request.extensions().get() {
        notes.set_tenant(tenant);
    }
    if let Some(id) = sandbox_of(&route, request.uri().path()) {
        notes.set_sandbox(&id);
    }
    request.extensions_mut().insert(notes.clone());
    let Some(running) = service.0.drain.enter() else { return draining() };
    let parent = request.headers().get("traceparent").and_then(|parent| parent.to_str().ok()).map(str::to_owned);
    let mut span = service.0.spans.start_request(format!("{method} {route}"), parent.as_deref());
    let response = match &span {
        Some(span) => span.scope(next.run(request)).await,
        None => next.run(request).await,
    };
    let exchange = Exchange { api, method, route, status: response.status().as_u16(), time: start.elapsed(), notes };
    service.0.metrics.count_request(&exchange.api, &exchange.method, &exchange.route, exchange.status, exchange.time);
    if let Some(span) = &mut span {
        exchange.describe(span);
    }
    if service.0.log.is_enabled {
        service.0.log.write(&exchange.to_line());
    }
    response.map(|body| Body::new(GuardedBody::new(body, Box::new(running))))
}

/// A request with the head of its response.
struct Exchange {
    api: String,
    method: String,
    route: String,
    status: u16,
    time: Duration,
    notes: RequestNotes,
}

impl Exchange {
    /// Sets the attributes of its span.
    fn describe(&self, span: &mut ActiveSpan) {
        let notes = self.notes.0.lock();
        span.set("http.request.method", Value::Text(self.method.clone()));
        span.set("http.route", Value::Text(self.route.clone()));
        span.set("http.response.status_code", Value::Integer(self.status.into()));
        span.set("tidebox.api", Value::Text(self.api.clone()));
        for (name, value) in [("tidebox.tenant", &notes.tenant), ("tidebox.sandbox", &notes.sandbox)] {
            if let Some(value) = value {
                span.set(name, Value::Text(value.clone()));
            }
        }
        if self.status >= 500 {
            span.fail();
        }
    }

    /// Returns its line of the log: never a body, a token or a query.
    fn to_line(&self) -> serde_json::Value {
        let notes = self.notes.0.lock();
        json!({
            "time": SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_secs_f64(),
            "api": self.api,
            "method": self.method,
            "route": self.route,
            "status": self.status,
            "duration_ms": self.time.as_secs_f64() * 1000.0,
            "tenant": notes.tenant,
            "sandbox": notes.sandbox,
        })
    }
}

/// Returns the id in the path: the value of the first parameter `{id}` of the template.
fn sandbox_of(route: &str, path: &str) -> Option<String> {
    let position = route.split('/').position(|part| part == "{id}")?;
    path.split('/').nth(position).map(str::to_owned)
}

/// Response to a request while the service drains.
fn draining() -> Response {
    let body =
        json!({ "error": { "kind": "draining", "message": "the service is shutting down; use another instance" } });
    let mut response = (StatusCode::SERVICE_UNAVAILABLE, axum::Json(body)).into_response();
    response.headers_mut().insert(header::RETRY_AFTER, HeaderValue::from_static("5"));
    response.headers_mut().insert(header::CONNECTION, HeaderValue::from_static("close"));
    response
}

#[cfg(test)]
mod tests {
    use super::sandbox_of;

    #[test]
    fn the_sandbox_is_the_first_parameter_id() {
        assert_eq!(sandbox_of("/v1/sandboxes/{id}/files", "/v1/sandboxes/sb-1/files").as_deref(), Some("sb-1"));
        assert_eq!(sandbox_of("/v1/sandboxes", "/v1/sandboxes"), None);
    }
}
