//! LangSmith Sandboxes: the control plane, and below `/dp/ID` the data plane of each sandbox.
//!
//! Paths, fields and error texts are those that the official clients send and accept. The service itself is closed
//! source.

mod commands;
mod control;
mod exec;
mod files;
mod links;
mod services;
mod snapshots;
mod socket;

use std::collections::BTreeMap;
use std::sync::{Arc, MutexGuard};
use std::time::{Duration, Instant};

use tidebox_core::lock::Mutex;

use axum::Router;
use axum::http::{HeaderMap, StatusCode, Uri};
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use serde_json::{Value, json};

use self::commands::RunningCommand;
use crate::preview::{Domain, Previews, is_same};
use crate::registry::{ImageUser, SandboxRecord, SandboxRegistry};

/// Home directory, default working directory, and base of relative file paths. The sandboxes of LangSmith start as root.
pub(crate) const HOME: &str = "/root";

/// User of commands.
pub(crate) const USER: ImageUser = ImageUser { name: "root", home: HOME };

/// Control plane state of a sandbox in addition to its registry record.
#[derive(Clone, Debug)]
pub(crate) struct Sandbox {
    pub(crate) name: String,
    pub(crate) snapshot: String,
    pub(crate) idle: Duration,
    pub(crate) after_stop: Duration,
    pub(crate) used: Instant,
    pub(crate) running: usize,
    pub(crate) updated: Instant,
    pub(crate) stopped_at: Option<Instant>,
    pub(crate) create_request: Value,
}

impl Sandbox {
    fn status(&self) -> &'static str {
        let idle = self.running == 0 && !self.idle.is_zero() && self.used.elapsed() > self.idle;
        if self.stopped_at.is_some() || idle { "stopped" } else { "ready" }
    }
}

/// Commands by sandbox and command name.
pub(crate) type Commands = BTreeMap<(String, String), Arc<RunningCommand>>;

/// State shared by all requests.
#[derive(Clone, Debug)]
pub(crate) struct Shared {
    pub(crate) registry: SandboxRegistry,
    pub(crate) key: Arc<str>,
    sandboxes: Arc<Mutex<BTreeMap<String, Sandbox>>>,
    sessions: Arc<Mutex<Commands>>,
    snapshots: Arc<Mutex<BTreeMap<String, snapshots::Snapshot>>>,
    links: Arc<Mutex<BTreeMap<String, links::DownloadLink>>>,
    services: services::Services,
    domain: Domain,
}

/// Returns all routes, and the addresses of servers below `url`. `key` is required from clients as `X-Api-Key`.
pub(crate) fn router(registry: SandboxRegistry, url: &str, key: &str) -> (Router, Previews) {
    let shared = Shared {
        registry,
        key: key.into(),
        sandboxes: Arc::default(),
        sessions: Arc::default(),
        snapshots: Arc::new(Mutex::new(snapshots::first())),
        links: Arc::default(),
        services: Arc::default(),
        domain: Domain::new(url, ""),
    };
    let previews = Previews::new(shared.domain.clone(), shared.clone());
    let control = Router::new()
        .route("/boxes", post(control::create).get(control::list))
        .route("/boxes/{name}", get(control::get).patch(control::update).delete(control::delete))
        .route("/boxes/{name}/status", get(control::status))
        .route("/boxes/{name}/start", post(control::start))
        .route("/boxes/{name}/stop", post(control::stop))
        .route("/boxes/{name}/snapshot", post(snapshots::capture))
        .route("/boxes/{name}/download-url", post(links::create))
        .route("/boxes/{name}/service-url", post(services::create))
        .route("/snapshots", get(snapshots::list).post(snapshots::create))
        .route("/snapshots/{id}", get(snapshots::get).delete(snapshots::delete))
        .route("/snapshots-by-name/{name}", get(snapshots::tags));
    let data = Router::new()
        .route("/execute", post(exec::blocking))
        .route("/execute/stream/start", post(exec::start))
        .route("/execute/stream/resume", post(exec::resume))
        .route("/execute/ws", get(socket::upgrade))
        .route("/upload", post(files::upload))
        .route("/download", get(files::download))
        .route("/glob", post(files::glob))
        .route("/grep", post(files::grep));
    let router = Router::new()
        // The Node client omits the first path segment.
        .nest("/v2/sandboxes", control.clone())
        .nest("/api/v2/sandboxes", control)
        .nest("/dp/{id}", data)
        .route("/download/{token}", get(links::follow))
        .fallback(absent)
        .method_not_allowed_fallback(absent)
        .layer(axum::extract::DefaultBodyLimit::max(BODY_BYTES))
        .with_state(shared);
    (router, previews)
}

/// Maximum file size of one request.
const BODY_BYTES: usize = 1 << 30;

/// Environment variables that point LangSmith's clients to an emulator.
pub fn variables(url: &str, key: &str) -> Vec<(String, String)> {
    [("LANGSMITH_ENDPOINT", url), ("LANGSMITH_API_KEY", key)]
        .map(|(name, value)| (name.to_owned(), value.to_owned()))
        .into()
}

/// Error response of both planes.
pub(crate) fn error_response(status: u16, error: &str, message: &str) -> Response {
    let body = axum::Json(json!({ "detail": { "error": error, "message": message } }));
    (StatusCode::from_u16(status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR), body).into_response()
}

/// Error response for a feature of LangSmith that the emulator does not have.
pub(crate) fn absent_response(feature: &str) -> Response {
    error_response(501, "NotImplemented", &absent_message(feature))
}

/// Message that names a missing feature.
pub(crate) fn absent_message(feature: &str) -> String {
    format!("Tidebox's emulator of LangSmith has no {feature}")
}

/// Features of LangSmith that the emulator does not have, by a part of the path.
const ABSENT: [(&str, &str); 5] = [
    ("/tunnel", "tunnels"),
    ("/registries", "registries of images"),
    ("/snapshots-by-name", "changes of tags"),
    ("/usage", "usage reports"),
    ("/info", "description of the service"),
];

/// Response of all other paths.
async fn absent(uri: Uri) -> Response {
    let path = uri.path();
    let feature = ABSENT.iter().find(|(part, _)| path.contains(part)).map(|(_, feature)| *feature);
    let response = absent_response(feature.unwrap_or(&format!("such call: {path}")));
    std::future::ready(response).await
}

type ErrorResponse = Box<Response>;

impl Shared {
    pub(crate) fn sandboxes(&self) -> MutexGuard<'_, BTreeMap<String, Sandbox>> {
        self.sandboxes.lock()
    }

    pub(crate) fn sessions(&self) -> MutexGuard<'_, Commands> {
        self.sessions.lock()
    }

    pub(crate) fn snapshots(&self) -> MutexGuard<'_, BTreeMap<String, snapshots::Snapshot>> {
        self.snapshots.lock()
    }

    fn links(&self) -> MutexGuard<'_, BTreeMap<String, links::DownloadLink>> {
        self.links.lock()
    }

    /// Rejects a request without the right key.
    pub(crate) fn authorised(&self, headers: &HeaderMap) -> Result<(), ErrorResponse> {
        match headers.get("x-api-key").map(|key| key.as_bytes()) {
            Some(key) if is_same(key, &*self.key) => Ok(()),
            _ => Err(Box::new(error_response(401, "Unauthorized", "Invalid token"))),
        }
    }

    /// Returns the id for an id or name.
    pub(crate) fn id_of(&self, text: &str) -> String {
        let sandboxes = self.sandboxes();
        let named = sandboxes.iter().find(|(_, sandbox)| sandbox.name == text).map(|(id, _)| id.clone());
        named.unwrap_or_else(|| text.to_owned())
    }

    /// Deletes sandboxes that were stopped for long enough.
    pub(crate) async fn sweep(&self) {
        let over = |sandbox: &Sandbox| {
            let limit =
                if sandbox.stopped_at.is_some() { sandbox.after_stop } else { sandbox.idle + sandbox.after_stop };
            sandbox.status() == "stopped" && !sandbox.after_stop.is_zero() && sandbox.used.elapsed() > limit
        };
        let ids: Vec<String> =
            self.sandboxes().iter().filter(|(_, sandbox)| over(sandbox)).map(|(id, _)| id.clone()).collect();
        for id in ids {
            self.remove(&id).await;
        }
    }

    /// Ends a sandbox; false if it does not exist.
    pub(crate) async fn remove(&self, id: &str) -> bool {
        let known = self.sandboxes().remove(id).is_some();
        self.sessions().retain(|(sandbox, _), _| sandbox != id);
        self.registry.close(id).await || known
    }

    /// Returns the sandbox of a data plane request, and wakes it.
    pub(crate) async fn authorized_sandbox(
        &self,
        id: &str,
        headers: &HeaderMap,
    ) -> Result<SandboxRecord, ErrorResponse> {
        self.authorised(headers)?;
        self.wake(id).await
    }

    /// Returns a sandbox, and wakes it.
    async fn wake(&self, id: &str) -> Result<SandboxRecord, ErrorResponse> {
        self.sweep().await;
        let record = self.registry.find(id).await;
        match (record, self.sandboxes().get_mut(id)) {
            (Some(record), Some(sandbox)) => {
                (sandbox.used, sandbox.stopped_at) = (Instant::now(), None);
                Ok(record)
            }
            _ => Err(Box::new(error_response(404, "NotFound", &format!("Sandbox '{id}' not found")))),
        }
    }

    /// Records the start or end of a command: a running command keeps its sandbox awake.
    pub(crate) fn set_busy(&self, id: &str, begins: bool) {
        if let Some(sandbox) = self.sandboxes().get_mut(id) {
            sandbox.used = Instant::now();
            sandbox.running = if begins { sandbox.running + 1 } else { sandbox.running.saturating_sub(1) };
        }
    }
}
