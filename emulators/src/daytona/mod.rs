//! Daytona: its control plane below `/api`, and the daemons of its sandboxes below `/toolbox`, at one address.
//!
//! Commands and files follow the daemon's public behaviour: a one-shot command returns both streams as one text, and is
//! killed at its time limit with status 408; the shell of a session ends with `exit`, so that its exit code is never
//! reported.

mod control;
mod files;
mod process;
mod request;
mod session;
mod transfer;

use std::collections::BTreeMap;
use std::sync::Arc;

use tidebox_core::lock::Mutex;

use axum::Router;
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{IntoResponse, Response};
use axum::routing::{delete, get, post, put};
use serde_json::{Value, json};

use crate::registry::{SandboxRecord, SandboxRegistry};

/// Default working directory of commands, as in Daytona's own snapshots.
pub(crate) const HOME: &str = "/home/daytona";

/// State shared by all requests.
#[derive(Clone, Debug)]
pub(crate) struct Shared {
    pub(crate) registry: SandboxRegistry,
    pub(crate) key: Arc<str>,
    pub(crate) toolbox_url: Arc<str>,
    /// Deleted sandboxes, which are returned once more.
    pub(crate) deleting: Arc<Mutex<BTreeMap<String, Value>>>,
    /// Reserved names, from the start of a creation: the sandbox's id, and whether it was created.
    pub(crate) names: Arc<Mutex<BTreeMap<String, (String, bool)>>>,
    pub(crate) sessions: session::Sessions,
}

/// Returns all routes. `url` is the server's URL, which the control plane returns; `key` is required from clients.
pub fn router(registry: SandboxRegistry, url: &str, key: &str) -> Router {
    let shared = Shared {
        registry,
        key: key.into(),
        toolbox_url: format!("{url}/toolbox").into(),
        deleting: Arc::default(),
        names: Arc::default(),
        sessions: session::Sessions::default(),
    };
    Router::new()
        .nest("/api", control_plane())
        .nest("/toolbox/{id}", toolbox())
        .layer(axum::extract::DefaultBodyLimit::max(BODY_BYTES))
        .with_state(shared)
}

fn control_plane() -> Router<Shared> {
    Router::new()
        .route("/sandbox", post(control::create).get(control::list))
        .route("/sandbox/{id}", get(control::info).delete(control::delete))
        .route("/sandbox/{id}/labels", put(control::set_labels))
        .route("/sandbox/{id}/toolbox-proxy-url", get(control::toolbox_proxy_url))
        .route("/sandbox/{id}/{verb}", post(control::change_state))
        .route("/sandbox/{id}/{verb}/{number}", post(control::set_interval))
}

fn toolbox() -> Router<Shared> {
    Router::new()
        .route("/work-dir", get(files::home))
        .route("/user-home-dir", get(files::home))
        .route("/files", get(files::list).delete(files::delete))
        .route("/files/info", get(files::info))
        .route("/files/search", get(files::search))
        .route("/files/find", get(files::find))
        .route("/files/folder", post(files::create_dir))
        .route("/files/move", post(files::rename))
        .route("/files/replace", post(files::replace))
        .route("/files/permissions", post(files::permissions))
        .route("/files/download", get(transfer::download))
        .route("/files/bulk-download", post(transfer::download_many))
        .route("/files/upload", post(transfer::upload))
        .route("/files/bulk-upload", post(transfer::upload_many))
        .route("/process/execute", post(process::execute))
        .route("/process/session", post(session::create).get(session::list))
        .route("/process/session/{session}", delete(session::delete).get(session::info))
        .route("/process/session/{session}/exec", post(session::exec))
        .route("/process/session/{session}/command/{command}", get(session::command))
        .route("/process/session/{session}/command/{command}/logs", get(session::logs))
}

/// Maximum request body.
const BODY_BYTES: usize = 1 << 30;

/// Environment variables that point Daytona's clients to an emulator.
pub fn variables(url: &str, key: &str) -> Vec<(String, String)> {
    vec![("DAYTONA_API_URL".to_owned(), format!("{url}/api")), ("DAYTONA_API_KEY".to_owned(), key.to_owned())]
}

impl Shared {
    /// Rejects a request without the right key.
    pub(crate) fn authorised(&self, headers: &HeaderMap) -> Result<(), Box<Response>> {
        let sent = headers.get(header::AUTHORIZATION).and_then(|value| value.to_str().ok()?.strip_prefix("Bearer "));
        if sent == Some(&*self.key) {
            return Ok(());
        }
        Err(Box::new(error_response(401, "UNAUTHORIZED", "Unauthorized")))
    }

    /// Returns the running sandbox with this id, for daemon requests.
    pub(crate) async fn authorized_sandbox(
        &self,
        id: &str,
        headers: &HeaderMap,
    ) -> Result<SandboxRecord, Box<Response>> {
        self.authorised(headers)?;
        let not_found = || error_response(404, "NOT_FOUND", &format!("Sandbox with ID or name {id} not found"));
        let sandbox = self.registry.find(id).await.ok_or_else(|| Box::new(not_found()))?;
        if sandbox.paused {
            // Daytona's proxy finds no runner for it.
            return Err(Box::new(error_response(
                502,
                "BAD_GATEWAY",
                "failed to resolve container IP: is the Sandbox started?",
            )));
        }
        Ok(sandbox)
    }
}

/// Error response of both planes.
pub(crate) fn error_response(status: u16, code: &str, message: &str) -> Response {
    // Clients require a timestamp but do not use its value.
    let body = json!({
        "statusCode": status,
        "message": message,
        "code": code,
        "timestamp": "2026-01-01T00:00:00Z",
    });
    (StatusCode::from_u16(status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR), axum::Json(body)).into_response()
}
