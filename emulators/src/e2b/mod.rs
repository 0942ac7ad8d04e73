//! E2B: its control plane, and the daemon `envd` of each sandbox, at one address.
//!
//! Messages and statuses of the daemon are those of the real one (0.6.13); those of the control plane are what its
//! official clients accept.

mod control;
mod envd;
mod exec;
mod files;
mod filesystem;

use std::collections::BTreeMap;
use std::sync::Arc;

use tidebox_core::lock::Mutex;

use axum::Router;
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use axum::routing::{delete, get, post};
use serde_json::json;
use tokio::sync::oneshot;

use crate::registry::SandboxRegistry;

/// Reported version of `envd`.
pub(crate) const ENVD_VERSION: &str = "0.6.13";

/// Default working directory of commands, as in E2B's own templates.
pub(crate) const HOME: &str = "/home/user";

/// Commands in progress by sandbox and process id, with their kill signals.
type Processes = BTreeMap<(String, u64), oneshot::Sender<()>>;

/// State shared by all requests.
#[derive(Clone, Debug)]
pub(crate) struct Shared {
    pub(crate) registry: SandboxRegistry,
    pub(crate) key: Arc<str>,
    pub(crate) processes: Arc<Mutex<Processes>>,
    /// Created sandboxes by idempotency key.
    pub(crate) created: Arc<Mutex<BTreeMap<String, String>>>,
}

/// Returns all routes. `key` is required from clients as `X-API-Key`.
pub fn router(registry: SandboxRegistry, key: &str) -> Router {
    let shared = Shared { registry, key: key.into(), processes: Arc::default(), created: Arc::default() };
    Router::new()
        .route("/v2/sandboxes", post(control::create).get(control::list))
        .route("/v2/sandboxes/{id}/connect", post(control::connect))
        .route("/sandboxes", post(control::create))
        .route("/sandboxes/{id}", delete(control::delete).get(control::info))
        .route("/sandboxes/{id}/connect", post(control::connect))
        .route("/sandboxes/{id}/timeout", post(control::set_timeout))
        .route("/sandboxes/{id}/pause", post(control::pause))
        .route("/health", get(envd::health))
        .route("/files", get(files::download).post(files::upload))
        .route("/process.Process/Start", post(exec::start))
        .route("/process.Process/SendSignal", post(exec::send_signal))
        .route("/process.Process/List", post(exec::list))
        .route("/filesystem.Filesystem/Stat", post(filesystem::stat))
        .route("/filesystem.Filesystem/ListDir", post(filesystem::list_dir))
        .route("/filesystem.Filesystem/MakeDir", post(filesystem::make_dir))
        .route("/filesystem.Filesystem/Move", post(filesystem::rename))
        .route("/filesystem.Filesystem/Remove", post(filesystem::remove))
        .layer(axum::extract::DefaultBodyLimit::max(BODY_BYTES))
        .with_state(shared)
}

/// Maximum file size of one request.
const BODY_BYTES: usize = 1 << 30;

/// Environment variables that point E2B's clients to an emulator.
pub fn variables(url: &str, key: &str) -> Vec<(String, String)> {
    [("E2B_API_URL", url), ("E2B_SANDBOX_URL", url), ("E2B_API_KEY", key)]
        .map(|(name, value)| (name.to_owned(), value.to_owned()))
        .into()
}

/// Error response of the control plane and of `envd`'s plain calls.
pub(crate) fn error_response(status: u16, message: &str) -> Response {
    let body = axum::Json(json!({ "code": status, "message": message }));
    (StatusCode::from_u16(status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR), body).into_response()
}
