//! E2B: its control plane, and the daemon `envd` of each sandbox, at one address.
//!
//! Messages and statuses of the daemon are those of the real one (0.6.13); those of the control plane are what its
//! official clients accept.

mod control;
mod envd;
mod exec;
mod files;
mod filesystem;
mod previews;
mod pty;
mod signature;
mod snapshots;
mod watch;

use std::collections::BTreeMap;
use std::sync::Arc;

use tidebox_core::lock::Mutex;

use axum::Router;
use axum::body::Body;
use axum::http::{StatusCode, Uri};
use axum::response::{IntoResponse, Response};
use axum::routing::{any, delete, get, post};
use serde_json::json;

use crate::form::discard;
use crate::preview::{Domain, Previews};
use crate::registry::{ImageUser, SandboxRegistry};

/// Reported version of `envd`.
pub(crate) const ENVD_VERSION: &str = "0.6.13";

/// Default working directory of commands, as in E2B's own templates.
pub(crate) const HOME: &str = "/home/user";

/// User of commands, as in E2B's own templates.
pub(crate) const USER: ImageUser = ImageUser { name: "user", home: HOME };

/// Commands in progress by sandbox and process id.
type Processes = BTreeMap<(String, u64), exec::Process>;

/// State shared by all requests.
#[derive(Clone, Debug)]
pub(crate) struct Shared {
    pub(crate) registry: SandboxRegistry,
    pub(crate) key: Arc<str>,
    /// Domain of the servers in sandboxes.
    pub(crate) domain: Domain,
    pub(crate) processes: Arc<Mutex<Processes>>,
    /// Created sandboxes by idempotency key.
    pub(crate) created: Arc<Mutex<BTreeMap<String, String>>>,
    pub(crate) snapshots: Arc<Mutex<snapshots::Snapshots>>,
    pub(crate) watchers: Arc<Mutex<watch::Watchers>>,
}

/// Returns all routes, and the addresses of servers in sandboxes. `url` is the server's URL; `key` is required from clients as
/// `X-API-Key`.
pub(crate) fn router(registry: SandboxRegistry, url: &str, key: &str) -> (Router, Previews) {
    let shared = Shared {
        registry,
        key: key.into(),
        domain: Domain::new(url, ""),
        processes: Arc::default(),
        created: Arc::default(),
        snapshots: Arc::default(),
        watchers: Arc::default(),
    };
    let previews = Previews::new(shared.domain.clone(), shared.clone());
    let router = Router::new()
        .route("/v2/sandboxes", post(control::create).get(control::list))
        .route("/v2/sandboxes/{id}/connect", post(control::connect))
        .route("/sandboxes", post(control::create))
        .route("/sandboxes/{id}", delete(control::delete).get(control::info))
        .route("/sandboxes/{id}/connect", post(control::connect))
        .route("/sandboxes/{id}/timeout", post(control::set_timeout))
        .route("/sandboxes/{id}/pause", post(control::pause))
        .route("/sandboxes/{id}/fork", post(control::fork))
        .route("/sandboxes/{id}/metrics", get(control::metrics))
        .route("/sandboxes/{id}/snapshots", post(snapshots::create))
        .route("/snapshots", get(snapshots::list))
        .route("/templates/tags", any(absent))
        .route("/templates/{id}", delete(snapshots::delete))
        .route("/health", get(envd::health))
        .route("/files", get(files::download).post(files::upload))
        .route("/process.Process/Start", post(exec::start))
        .route("/process.Process/Connect", post(exec::connect))
        .route("/process.Process/SendInput", post(exec::send_input))
        .route("/process.Process/StreamInput", post(exec::stream_input))
        .route("/process.Process/CloseStdin", post(exec::close_stdin))
        .route("/process.Process/SendSignal", post(exec::send_signal))
        .route("/process.Process/List", post(exec::list))
        .route("/process.Process/Update", post(pty::update))
        .route("/filesystem.Filesystem/Stat", post(filesystem::stat))
        .route("/filesystem.Filesystem/ListDir", post(filesystem::list_dir))
        .route("/filesystem.Filesystem/MakeDir", post(filesystem::make_dir))
        .route("/filesystem.Filesystem/Move", post(filesystem::rename))
        .route("/filesystem.Filesystem/Remove", post(filesystem::remove))
        .route("/filesystem.Filesystem/WatchDir", post(watch::stream))
        .route("/filesystem.Filesystem/CreateWatcher", post(watch::create))
        .route("/filesystem.Filesystem/GetWatcherEvents", post(watch::events))
        .route("/filesystem.Filesystem/RemoveWatcher", post(watch::remove))
        .fallback(absent)
        .method_not_allowed_fallback(absent)
        .layer(axum::extract::DefaultBodyLimit::max(BODY_BYTES))
        .with_state(shared);
    (router, previews)
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

/// Error response for a feature of E2B that the emulator does not have.
pub(crate) fn absent_response(feature: &str) -> Response {
    error_response(501, &absent_message(feature))
}

/// Message that names a missing feature.
pub(crate) fn absent_message(feature: &str) -> String {
    format!("Tidebox's emulator of E2B has no {feature}")
}

/// Features of E2B that the emulator does not have, by a part of the path.
const ABSENT: [(&str, &str); 8] = [
    ("/network", "network rules: local sandboxes have no network"),
    ("/logs", "logs of sandboxes"),
    ("/tags", "template tags"),
    ("/templates", "templates: every template has Tidebox's own files"),
    ("/secrets", "secrets"),
    ("/volumes", "volumes"),
    ("/refreshes", "refreshes; use the timeout"),
    ("/resume", "this version of the call; use connect"),
];

/// Response of all other paths.
async fn absent(uri: Uri, body: Body) -> Response {
    discard(body).await;
    let path = uri.path();
    let feature = ABSENT.iter().find(|(part, _)| path.contains(part)).map(|(_, feature)| (*feature).to_owned());
    let feature = feature.unwrap_or_else(|| format!("call {path}"));
    if path.starts_with("/process.Process/") || path.starts_with("/filesystem.Filesystem/") {
        return envd::call_error_response(501, "unimplemented", &absent_message(&feature));
    }
    absent_response(&feature)
}
