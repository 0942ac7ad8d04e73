//! Runloop: devboxes, their commands and their files, at one address.
//!
//! Statuses and formats are those that the official clients accept. The service's file errors are not public; the
//! emulator uses Linux messages.

mod devboxes;
mod executions;
mod files;
mod logs;
mod policies;
mod snapshots;
mod tunnels;
mod updates;

use std::collections::BTreeMap;
use std::sync::Arc;

use tidebox_core::lock::Mutex;

use axum::Router;
use axum::body::Body;
use axum::http::{HeaderMap, HeaderValue, StatusCode, Uri, header};
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use serde_json::{Value, json};

use crate::form::discard;
use crate::preview::{Domain, Previews, is_same};
use crate::registry::{ImageUser, SandboxRecord, SandboxRegistry};

/// Home of a devbox's user, the base of commands and relative paths.
pub(crate) const HOME: &str = "/home/user";

/// User of commands, as in Runloop's own image.
pub(crate) const USER: ImageUser = ImageUser { name: "user", home: HOME };

/// State shared by all requests.
#[derive(Clone, Debug)]
pub(crate) struct Shared {
    pub(crate) registry: SandboxRegistry,
    pub(crate) key: Arc<str>,
    /// Description of every devbox ever created, except its status.
    pub(crate) known: Arc<Mutex<BTreeMap<String, Value>>>,
    pub(crate) executions: executions::Executions,
    pub(crate) policies: Arc<Mutex<BTreeMap<String, Value>>>,
    pub(crate) snapshots: Arc<Mutex<snapshots::Snapshots>>,
    /// Created objects by request id.
    pub(crate) done: Arc<Mutex<BTreeMap<String, String>>>,
}

/// Returns all routes, and the addresses of servers in devboxes. `url` is the server's URL; `key` is required from clients.
pub(crate) fn router(registry: SandboxRegistry, url: &str, key: &str) -> (Router, Previews) {
    let shared = Shared {
        registry,
        key: key.into(),
        known: Arc::default(),
        executions: executions::Executions::default(),
        policies: Arc::default(),
        snapshots: Arc::default(),
        done: Arc::default(),
    };
    // The clients replace the host of their base URL by that of the tunnels.
    let domain = Domain::new(url, "tunnel.").with_name("tunnel.runloop.ai");
    let previews = Previews::new(domain, shared.clone());
    let router = Router::new()
        .route("/v1/devboxes", post(devboxes::create).get(devboxes::list))
        .route("/v1/devboxes/create_and_await_running", post(devboxes::create_and_await_running))
        .route("/v1/devboxes/disk_snapshots", get(snapshots::list))
        .route("/v1/devboxes/disk_snapshots/{id}", post(snapshots::update))
        .route("/v1/devboxes/disk_snapshots/{id}/status", get(snapshots::status))
        .route("/v1/devboxes/disk_snapshots/{id}/delete", post(snapshots::delete))
        .route("/v1/devboxes/{id}", get(devboxes::info).post(devboxes::update))
        .route("/v1/devboxes/{id}/snapshot_disk", post(snapshots::create))
        .route("/v1/devboxes/{id}/snapshot_disk_async", post(snapshots::create))
        .route("/v1/devboxes/{id}/logs", get(logs::list))
        .route("/v1/devboxes/{id}/usage", get(devboxes::usage))
        .route("/v1/devboxes/{id}/wait_for_status", post(devboxes::wait))
        .route("/v1/devboxes/{id}/suspend", post(devboxes::suspend))
        .route("/v1/devboxes/{id}/resume", post(devboxes::resume))
        .route("/v1/devboxes/{id}/keep_alive", post(devboxes::keep_alive))
        .route("/v1/devboxes/{id}/enable_tunnel", post(tunnels::enable))
        .route("/v1/devboxes/{id}/remove_tunnel", post(tunnels::remove))
        .route("/v1/devboxes/{id}/shutdown", post(devboxes::shutdown))
        .route("/v1/devboxes/{id}/execute", post(executions::execute))
        .route("/v1/devboxes/{id}/execute_async", post(executions::execute_async))
        .route("/v1/devboxes/{id}/execute_sync", post(executions::execute_sync))
        .route("/v1/devboxes/{id}/executions/{execution}", get(executions::info))
        .route("/v1/devboxes/{id}/executions/{execution}/wait_for_status", post(executions::wait))
        .route("/v1/devboxes/{id}/executions/{execution}/send_std_in", post(executions::send_std_in))
        .route("/v1/devboxes/{id}/executions/{execution}/kill", post(executions::kill))
        .route("/v1/devboxes/{id}/executions/{execution}/stream_stdout_updates", get(updates::stdout))
        .route("/v1/devboxes/{id}/executions/{execution}/stream_stderr_updates", get(updates::stderr))
        .route("/v1/devboxes/{id}/upload_file", post(files::upload))
        .route("/v1/devboxes/{id}/download_file", post(files::download))
        .route("/v1/devboxes/{id}/read_file_contents", post(files::read))
        .route("/v1/devboxes/{id}/write_file_contents", post(files::write))
        .route("/v1/network-policies", post(policies::create).get(policies::list))
        .route("/v1/network-policies/{id}", get(policies::info).post(policies::update))
        .route("/v1/network-policies/{id}/delete", post(policies::delete))
        .fallback(absent)
        .method_not_allowed_fallback(absent)
        .layer(axum::extract::DefaultBodyLimit::max(BODY_BYTES))
        .with_state(shared);
    (router, previews)
}

/// Maximum request body.
const BODY_BYTES: usize = 1 << 30;

/// Environment variables that point Runloop's clients to an emulator.
pub fn variables(url: &str, key: &str) -> Vec<(String, String)> {
    [("RUNLOOP_BASE_URL", url), ("RUNLOOP_API_KEY", key)]
        .map(|(name, value)| (name.to_owned(), value.to_owned()))
        .into()
}

impl Shared {
    /// Rejects a request without the right key.
    pub(crate) fn authorised(&self, headers: &HeaderMap) -> Result<(), Box<Response>> {
        let sent = headers.get(header::AUTHORIZATION).and_then(|value| value.to_str().ok()?.strip_prefix("Bearer "));
        if sent.is_some_and(|sent| is_same(sent, &*self.key)) {
            return Ok(());
        }
        Err(Box::new(error_response(401, "unauthorized", "Invalid API key")))
    }

    /// Returns the running devbox with this id.
    pub(crate) async fn authorized_sandbox(
        &self,
        id: &str,
        headers: &HeaderMap,
    ) -> Result<SandboxRecord, Box<Response>> {
        self.authorised(headers)?;
        match self.registry.find(id).await {
            Some(sandbox) if sandbox.paused => {
                Err(Box::new(error_response(400, "bad_request", "Devbox is not running")))
            }
            Some(sandbox) => Ok(sandbox),
            None if self.known.lock().contains_key(id) => {
                Err(Box::new(error_response(400, "bad_request", "Devbox is not running")))
            }
            None => Err(Box::new(error_response(404, "not_found", "Devbox not found"))),
        }
    }
}

/// Error response.
pub(crate) fn error_response(status: u16, code: &str, message: &str) -> Response {
    let body = axum::Json(json!({ "code": code, "message": message }));
    (StatusCode::from_u16(status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR), body).into_response()
}

/// Error response for a feature of Runloop that the emulator does not have. Clients do not repeat the request.
pub(crate) fn absent_response(feature: &str) -> Response {
    let mut response =
        error_response(501, "not_implemented", &format!("Tidebox's emulator of Runloop has no {feature}"));
    response.headers_mut().insert("x-should-retry", HeaderValue::from_static("false"));
    response
}

/// Features of Runloop that the emulator does not have, by a part of the path.
const ABSENT: [(&str, &str); 17] = [
    ("/create_gateway_token", "gateways"),
    ("/create_mcp_token", "MCP servers"),
    ("/create_pty_tunnel", "terminals (PTY)"),
    ("/create_ssh_key", "SSH access"),
    ("/evictions", "evictions"),
    ("/accounts", "accounts"),
    ("/apikeys", "API keys"),
    ("/restricted_keys", "restricted keys"),
    ("/axons", "axons"),
    ("/blueprints", "blueprints: devboxes have Tidebox's own files"),
    ("/gateway-configs", "gateways"),
    ("/mcp-configs", "MCP servers"),
    ("/objects", "storage objects"),
    ("/pty", "terminals (PTY)"),
    ("/secrets", "secrets"),
    ("/repositories", "repositories"),
    ("/benchmarks", "benchmarks"),
];

/// Response of all other paths.
async fn absent(uri: Uri, body: Body) -> Response {
    discard(body).await;
    let path = uri.path();
    match ABSENT.iter().find(|(part, _)| path.contains(part)) {
        Some((_, feature)) => absent_response(feature),
        None => absent_response(&format!("call {path}")),
    }
}

/// Returns the request's idempotency key, equal for all attempts.
pub(crate) fn request_id(headers: &HeaderMap) -> Option<String> {
    headers.get("x-request-id").and_then(|id| id.to_str().ok()).map(str::to_owned)
}

/// Returns a random id with a prefix.
pub(crate) fn id(word: &str) -> String {
    let letters: String = (0..22).map(|_| fastrand::alphanumeric()).collect();
    format!("{word}_{letters}")
}
