//! Daytona: its control plane below `/api`, and the daemons of its sandboxes below `/toolbox`, at one address.
//!
//! What the daemon does with commands and files is what is public of it: one-shot commands with both streams in one text, that
//! the daemon kills with status 408; sessions whose shell ends with `exit`, so that its code is never known.

mod asked;
mod control;
mod files;
mod process;
mod session;
mod transfer;

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use axum::Router;
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{IntoResponse, Response};
use axum::routing::{delete, get, post, put};
use serde_json::{Value, json};

use crate::house::{House, Room};

/// Where commands begin that name no directory, as in Daytona's own snapshots.
pub(crate) const HOME: &str = "/home/daytona";

/// Everything that requests share.
#[derive(Clone, Debug)]
pub(crate) struct Shared {
    pub(crate) house: House,
    pub(crate) key: Arc<str>,
    pub(crate) toolbox_url: Arc<str>,
    /// Sandboxes that are on their way out, as they are told of once more.
    pub(crate) leaving: Arc<Mutex<BTreeMap<String, Value>>>,
    /// Names in use, from the first moment of a creation: whose they are, and whether it has been made.
    pub(crate) names: Arc<Mutex<BTreeMap<String, (String, bool)>>>,
    pub(crate) sessions: session::Sessions,
}

/// All routes. `url` is where they are served, which the control plane tells; `key` is what clients have to send.
pub fn router(house: House, url: &str, key: &str) -> Router {
    let shared = Shared {
        house,
        key: key.into(),
        toolbox_url: format!("{url}/toolbox").into(),
        leaving: Arc::default(),
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
        .route("/sandbox/{id}/{verb}", post(control::turn))
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
        .route("/files/folder", post(files::folder))
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

/// The largest body that is taken in one request.
const BODY_BYTES: usize = 1 << 30;

/// What points Daytona's clients to an emulator.
pub fn variables(url: &str, key: &str) -> Vec<(String, String)> {
    vec![("DAYTONA_API_URL".to_owned(), format!("{url}/api")), ("DAYTONA_API_KEY".to_owned(), key.to_owned())]
}

impl Shared {
    /// Refuses a request without the right key.
    pub(crate) fn authorised(&self, headers: &HeaderMap) -> Result<(), Box<Response>> {
        let sent = headers.get(header::AUTHORIZATION).and_then(|value| value.to_str().ok()?.strip_prefix("Bearer "));
        if sent == Some(&*self.key) {
            return Ok(());
        }
        Err(Box::new(refusal(401, "UNAUTHORIZED", "Unauthorized")))
    }

    /// The sandbox of this id that works, for its daemon.
    pub(crate) async fn room(&self, id: &str, headers: &HeaderMap) -> Result<Room, Box<Response>> {
        self.authorised(headers)?;
        let gone = || refusal(404, "NOT_FOUND", &format!("Sandbox with ID or name {id} not found"));
        let room = self.house.find(id).await.ok_or_else(|| Box::new(gone()))?;
        if room.paused {
            // Their proxy finds no runner that listens.
            return Err(Box::new(refusal(
                502,
                "BAD_GATEWAY",
                "failed to resolve container IP: is the Sandbox started?",
            )));
        }
        Ok(room)
    }
}

/// A refusal as both planes have it.
pub(crate) fn refusal(status: u16, code: &str, message: &str) -> Response {
    // The time of day is nobody's business here, and clients only want one.
    let body = json!({
        "statusCode": status,
        "message": message,
        "code": code,
        "timestamp": "2026-01-01T00:00:00Z",
    });
    (StatusCode::from_u16(status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR), axum::Json(body)).into_response()
}
