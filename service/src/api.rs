//! The REST API below `/v1`, its OpenAPI document, and `POST /run_code`.

mod auth;
mod error;
mod execute;
mod files;
mod openapi;
mod processes;
mod run_code;
mod sandboxes;
mod search;
mod snapshots;
mod terminal;
mod values;

use axum::Router;
use axum::extract::{DefaultBodyLimit, State};
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use serde_json::json;
use tidebox_emulators::{routed, save_before_response};

pub(crate) use auth::Caller;
pub(crate) use error::ApiError;
use openapi::Api;

use crate::service::Service;

/// Maximum request body: the default size of a file.
const BODY_BYTES: usize = 512 << 20;

/// Returns all routes of the REST API with their descriptions.
fn api() -> Api {
    let mut api = Api::default();
    sandboxes::add(&mut api);
    execute::add(&mut api);
    files::add(&mut api);
    search::add(&mut api);
    processes::add(&mut api);
    terminal::add(&mut api);
    snapshots::add(&mut api);
    run_code::add(&mut api);
    api
}

impl Service {
    /// Returns all routes: the REST API, `POST /run_code`, the health checks, the metrics, the OpenAPI document and the web page.
    pub fn router(&self) -> Router {
        let (routes, document) = api().finish();
        let document = document.to_string();
        let document = move || {
            let document = document.clone();
            async move { ([(header::CONTENT_TYPE, "application/json")], document) }
        };
        let routes = routes
            .route("/openapi.json", get(document))
            .route("/metrics", get(metrics))
            .merge(crate::page::router())
            .fallback(not_found)
            .method_not_allowed_fallback(not_allowed)
            .layer(DefaultBodyLimit::max(BODY_BYTES))
            .layer(axum::middleware::from_fn(save_before_response))
            .layer(axum::middleware::from_fn(auth::check_origin))
            .with_state(self.clone());
        let routes = routed(routes, self.0.store.clone(), crate::service::REST);
        let observed = crate::log::observed(self, crate::service::REST, routes);
        // Outside of the layer that denies requests while the service drains.
        observed.merge(self.health())
    }

    /// Returns the routes of the health checks.
    fn health(&self) -> Router {
        let live = async || "ok\n";
        Router::new().route("/healthz", get(live)).route("/readyz", get(ready)).with_state(self.clone())
    }

    /// Returns the route `/metrics` with the series of all tenants, for a separate address without tokens.
    pub fn metrics_router(&self) -> Router {
        let all = async |State(service): State<Self>| prometheus(service.metrics().to_text());
        Router::new().route("/metrics", get(all)).with_state(self.clone()).merge(self.health())
    }
}

async fn ready(State(service): State<Service>) -> (StatusCode, &'static str) {
    let is_joining = service.0.store.as_ref().is_some_and(|store| !store.is_ready());
    match service.0.drain.is_draining() {
        true => (StatusCode::SERVICE_UNAVAILABLE, "draining\n"),
        false if is_joining => (StatusCode::SERVICE_UNAVAILABLE, "joining\n"),
        false => (StatusCode::OK, "ready\n"),
    }
}

/// `GET /metrics`: the series of the tenant.
async fn metrics(State(service): State<Service>, caller: Caller) -> Response {
    prometheus(service.metrics().to_text_of(&caller.account.name))
}

fn prometheus(text: String) -> Response {
    ([(header::CONTENT_TYPE, "text/plain; version=0.0.4; charset=utf-8")], text).into_response()
}

async fn not_found() -> Response {
    let message = "no such path; GET /openapi.json lists them";
    ApiError::new(StatusCode::NOT_FOUND, "not_found", message).into_response()
}

async fn not_allowed() -> Response {
    let message = "the path has no such method; GET /openapi.json lists them";
    ApiError::new(StatusCode::METHOD_NOT_ALLOWED, "method_not_allowed", message).into_response()
}

/// Response without content for the client to read.
fn done() -> Response {
    (StatusCode::OK, axum::Json(json!({}))).into_response()
}
