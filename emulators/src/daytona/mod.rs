//! Daytona: its control plane below `/api`, and the daemons of its sandboxes below `/toolbox`, at one address.
//!
//! Commands and files follow the daemon's public behaviour: a one-shot command returns both streams as one text, and is
//! killed at its time limit with status 408; the shell of a session ends with `exit`, so that its exit code is never
//! reported.

mod control;
mod files;
mod interpreter;
mod metrics;
mod previews;
mod process;
mod pty;
mod request;
mod session;
mod signature;
mod snapshots;
mod transfer;

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::SystemTime;

use tidebox_core::lock::Mutex;

use axum::Router;
use axum::body::Body;
use axum::extract::ws::rejection::WebSocketUpgradeRejection;
use axum::extract::ws::{CloseFrame, Message, WebSocketUpgrade};
use axum::http::{HeaderMap, StatusCode, Uri, header};
use axum::response::{IntoResponse, Response};
use axum::routing::{any, delete, get, post, put};
use serde_json::{Value, json};

use crate::entries::timestamp_millis;
use crate::form::discard;
use crate::preview::{Domain, Previews, is_same};
use crate::registry::{ImageUser, SandboxRecord, SandboxRegistry};

/// Default working directory of commands, as in Daytona's own snapshots.
pub(crate) const HOME: &str = "/home/daytona";

/// User of commands, as in Daytona's own snapshots.
pub(crate) const USER: ImageUser = ImageUser { name: "daytona", home: HOME };

/// State shared by all requests.
#[derive(Clone, Debug)]
pub(crate) struct Shared {
    pub(crate) registry: SandboxRegistry,
    pub(crate) key: Arc<str>,
    pub(crate) toolbox_url: Arc<str>,
    /// Domain of the preview links.
    pub(crate) domain: Domain,
    pub(crate) signed_previews: previews::SignedPreviews,
    /// Deleted sandboxes, which are returned once more.
    pub(crate) deleting: Arc<Mutex<BTreeMap<String, Value>>>,
    /// Reserved names, from the start of a creation: the sandbox's id, and whether it was created.
    pub(crate) names: Arc<Mutex<BTreeMap<String, (String, bool)>>>,
    pub(crate) sessions: session::Sessions,
    pub(crate) snapshots: Arc<Mutex<snapshots::Snapshots>>,
    pub(crate) contexts: Arc<Mutex<interpreter::Contexts>>,
    pub(crate) terminals: pty::Terminals,
}

/// Returns all routes, and the addresses of servers in sandboxes. `url` is the server's URL, which the control plane returns; `key`
/// is required from clients.
pub(crate) fn router(registry: SandboxRegistry, url: &str, key: &str) -> (Router, Previews) {
    let shared = Shared {
        registry,
        key: key.into(),
        toolbox_url: format!("{url}/toolbox").into(),
        domain: Domain::new(url, ""),
        signed_previews: previews::SignedPreviews::default(),
        deleting: Arc::default(),
        names: Arc::default(),
        sessions: session::Sessions::default(),
        snapshots: Arc::default(),
        contexts: Arc::default(),
        terminals: Arc::default(),
    };
    let previews = Previews::new(shared.domain.clone(), shared.clone());
    let router = Router::new()
        .nest("/api", control_plane())
        .nest("/toolbox/{id}", toolbox())
        .fallback(absent)
        .method_not_allowed_fallback(absent)
        .layer(axum::extract::DefaultBodyLimit::max(BODY_BYTES))
        .with_state(shared);
    (router, previews)
}

fn control_plane() -> Router<Shared> {
    Router::new()
        .route("/config", get(control::config))
        .route("/sandbox", post(control::create).get(control::list))
        .route("/sandbox/{id}", get(control::info).delete(control::delete))
        .route("/sandbox/{id}/labels", put(control::set_labels))
        .route("/sandbox/{id}/toolbox-proxy-url", get(control::toolbox_proxy_url))
        .route("/sandbox/{id}/signing-key", get(signature::key))
        .route("/sandbox/{id}/signing-key/rotate", post(signature::rotate))
        .route("/sandbox/{id}/telemetry/metrics", get(metrics::history))
        .route("/sandbox/{id}/ports/{port}/preview-url", get(previews::link))
        .route("/sandbox/{id}/ports/{port}/signed-preview-url", get(previews::sign))
        .route("/sandbox/{id}/ports/{port}/signed-preview-url/{token}/expire", post(previews::expire))
        .route("/sandbox/{id}/fork", post(control::fork))
        .route("/sandbox/{id}/resize", post(control::resize))
        .route("/sandbox/{id}/last-activity", post(control::refresh_activity))
        .route("/sandbox/{id}/snapshot", post(snapshots::take))
        .route("/sandbox/{id}/{verb}", post(control::change_state))
        .route("/sandbox/{id}/{verb}/{number}", post(control::set_interval))
        .route("/snapshots", post(snapshots::create).get(snapshots::list))
        .route("/snapshots/{id}", get(snapshots::info).delete(snapshots::delete))
        .route("/snapshots/{id}/{verb}", post(snapshots::change_state))
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
        .route("/files/upload-v2", post(transfer::upload))
        .route("/files/bulk-upload", post(transfer::upload_many))
        .route("/system/metrics", get(metrics::latest))
        .route("/process/execute", post(process::execute))
        .route("/process/code-run", post(process::code_run))
        .route("/process/interpreter/context", post(interpreter::create).get(interpreter::list))
        .route("/process/interpreter/context/{context}", delete(interpreter::delete))
        .route("/process/interpreter/execute", get(interpreter::execute))
        .route("/process/pty", post(pty::create).get(pty::list))
        .route("/process/pty/create-connect", get(pty::create_and_connect))
        .route("/process/pty/{session}", get(pty::info).delete(pty::delete))
        .route("/process/pty/{session}/resize", post(pty::resize))
        .route("/process/pty/{session}/connect", get(pty::connect))
        .route("/process/session", post(session::create).get(session::list))
        .route("/process/session/entrypoint", any(absent))
        .route("/process/session/entrypoint/logs", any(absent))
        .route("/process/session/{session}", delete(session::delete).get(session::info))
        .route("/process/session/{session}/exec", post(session::exec))
        .route("/process/session/{session}/command/{command}", get(session::command))
        .route("/process/session/{session}/command/{command}/input", post(session::send_input))
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
        if sent.is_some_and(|sent| is_same(sent, &*self.key)) {
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
        Self::running(sandbox)
    }

    /// Rejects a sandbox that is not running.
    fn running(sandbox: SandboxRecord) -> Result<SandboxRecord, Box<Response>> {
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
    let body = json!({
        "statusCode": status,
        "message": message,
        "code": code,
        "timestamp": timestamp_millis(SystemTime::now()),
    });
    (StatusCode::from_u16(status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR), axum::Json(body)).into_response()
}

/// Error response for a feature of Daytona that the emulator does not have.
pub(crate) fn absent_response(feature: &str) -> Response {
    error_response(501, "NOT_IMPLEMENTED", &absent_message(feature))
}

/// Message that names a missing feature.
pub(crate) fn absent_message(feature: &str) -> String {
    format!("Tidebox's emulator of Daytona has no {feature}")
}

/// Features of Daytona that the emulator does not have, by a part of the path.
const ABSENT: [(&str, &str); 16] = [
    ("/process/session/entrypoint", "entrypoint sessions"),
    ("/computeruse", "computer use: sandboxes have no display"),
    ("/git/", "Git"),
    ("/lsp", "language servers"),
    ("/port", "lists of the ports of sandboxes"),
    ("/ssh-access", "SSH access"),
    ("/network-settings", "network settings: local sandboxes have no network"),
    ("/secret", "secrets"),
    ("/volumes", "volumes"),
    ("/backup", "backups"),
    ("/build-logs", "builds of images"),
    ("/env", "changes of a sandbox's environment"),
    ("/telemetry", "logs and traces of sandboxes"),
    ("/ancestors", "lists of forks"),
    ("/forks", "lists of forks"),
    ("/object-storage", "object storage"),
];

/// Response of all other paths.
async fn absent(uri: Uri, upgrade: Result<WebSocketUpgrade, WebSocketUpgradeRejection>, body: Body) -> Response {
    let Ok(upgrade) = upgrade else {
        discard(body).await;
        return absent_call(uri.path());
    };
    let reason = absent_message(&absent_feature(uri.path()));
    upgrade.on_upgrade(move |mut socket| async move {
        let close = CloseFrame { code: CLOSE_INTERNAL, reason: reason.into() };
        // A client that has disconnected needs no close message.
        let _ = socket.send(Message::Close(Some(close))).await;
    })
}

/// Close code of a WebSocket whose call cannot be done.
pub(crate) const CLOSE_INTERNAL: u16 = 1011;

/// Error response for a path.
pub(crate) fn absent_call(path: &str) -> Response {
    absent_response(&absent_feature(path))
}

/// Returns the feature that a path belongs to.
fn absent_feature(path: &str) -> String {
    let known = ABSENT.iter().find(|(part, _)| path.contains(part));
    known.map_or_else(|| format!("call {path}"), |(_, feature)| (*feature).to_owned())
}
