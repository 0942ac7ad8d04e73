//! Runloop: devboxes, their commands and their files, at one address.
//!
//! Statuses and shapes are those that the official clients accept. What the service says of files that it refuses is not public;
//! here it has the words of Linux.

mod devboxes;
mod executions;
mod files;
mod policies;
mod updates;

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use axum::Router;
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use serde_json::{Value, json};

use crate::house::{House, Room};

/// The home of a devbox's user, where commands and relative paths begin.
pub(crate) const HOME: &str = "/home/user";

/// Everything that requests share.
#[derive(Clone, Debug)]
pub(crate) struct Shared {
    pub(crate) house: House,
    pub(crate) key: Arc<str>,
    /// Every devbox that was ever made: what is told of it beside its status.
    pub(crate) known: Arc<Mutex<BTreeMap<String, Value>>>,
    pub(crate) executions: executions::Executions,
    pub(crate) policies: Arc<Mutex<BTreeMap<String, Value>>>,
    /// What was made for a request, by the id of the request.
    pub(crate) done: Arc<Mutex<BTreeMap<String, String>>>,
}

/// All routes. `key` is what clients have to send.
pub fn router(house: House, key: &str) -> Router {
    let shared = Shared {
        house,
        key: key.into(),
        known: Arc::default(),
        executions: executions::Executions::default(),
        policies: Arc::default(),
        done: Arc::default(),
    };
    Router::new()
        .route("/v1/devboxes", post(devboxes::create).get(devboxes::list))
        .route("/v1/devboxes/create_and_await_running", post(devboxes::create_and_await_running))
        .route("/v1/devboxes/{id}", get(devboxes::info))
        .route("/v1/devboxes/{id}/wait_for_status", post(devboxes::wait))
        .route("/v1/devboxes/{id}/suspend", post(devboxes::suspend))
        .route("/v1/devboxes/{id}/resume", post(devboxes::resume))
        .route("/v1/devboxes/{id}/keep_alive", post(devboxes::keep_alive))
        .route("/v1/devboxes/{id}/shutdown", post(devboxes::shutdown))
        .route("/v1/devboxes/{id}/execute", post(executions::execute))
        .route("/v1/devboxes/{id}/execute_async", post(executions::execute_async))
        .route("/v1/devboxes/{id}/execute_sync", post(executions::execute_sync))
        .route("/v1/devboxes/{id}/executions/{execution}", get(executions::info))
        .route("/v1/devboxes/{id}/executions/{execution}/wait_for_status", post(executions::wait))
        .route("/v1/devboxes/{id}/executions/{execution}/kill", post(executions::kill))
        .route("/v1/devboxes/{id}/executions/{execution}/stream_stdout_updates", get(updates::stdout))
        .route("/v1/devboxes/{id}/executions/{execution}/stream_stderr_updates", get(updates::stderr))
        .route("/v1/devboxes/{id}/upload_file", post(files::upload))
        .route("/v1/devboxes/{id}/download_file", post(files::download))
        .route("/v1/devboxes/{id}/read_file_contents", post(files::read))
        .route("/v1/devboxes/{id}/write_file_contents", post(files::write))
        .route("/v1/network-policies", post(policies::create).get(policies::list))
        .route("/v1/network-policies/{id}", get(policies::info))
        .route("/v1/network-policies/{id}/delete", post(policies::delete))
        .layer(axum::extract::DefaultBodyLimit::max(BODY_BYTES))
        .with_state(shared)
}

/// The largest body that is taken in one request.
const BODY_BYTES: usize = 1 << 30;

/// What points Runloop's clients to an emulator.
pub fn variables(url: &str, key: &str) -> Vec<(String, String)> {
    [("RUNLOOP_BASE_URL", url), ("RUNLOOP_API_KEY", key)]
        .map(|(name, value)| (name.to_owned(), value.to_owned()))
        .into()
}

/// What is behind a lock, whatever became of who held it before.
pub(crate) fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Shared {
    /// Refuses a request without the right key.
    pub(crate) fn authorised(&self, headers: &HeaderMap) -> Result<(), Box<Response>> {
        let sent = headers.get(header::AUTHORIZATION).and_then(|value| value.to_str().ok()?.strip_prefix("Bearer "));
        if sent == Some(&*self.key) {
            return Ok(());
        }
        Err(Box::new(refusal(401, "unauthorized", "Invalid API key")))
    }

    /// The devbox of this id that works.
    pub(crate) async fn room(&self, id: &str, headers: &HeaderMap) -> Result<Room, Box<Response>> {
        self.authorised(headers)?;
        match self.house.find(id).await {
            Some(room) if room.paused => Err(Box::new(refusal(400, "bad_request", "Devbox is not running"))),
            Some(room) => Ok(room),
            None if locked(&self.known).contains_key(id) => {
                Err(Box::new(refusal(400, "bad_request", "Devbox is not running")))
            }
            None => Err(Box::new(refusal(404, "not_found", "Devbox not found"))),
        }
    }
}

/// A refusal.
pub(crate) fn refusal(status: u16, code: &str, message: &str) -> Response {
    let body = axum::Json(json!({ "code": code, "message": message }));
    (StatusCode::from_u16(status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR), body).into_response()
}

/// The name that a client gives a request, the same for all of its attempts.
pub(crate) fn request_id(headers: &HeaderMap) -> Option<String> {
    headers.get("x-request-id").and_then(|id| id.to_str().ok()).map(str::to_owned)
}

/// A random id with a word before it.
pub(crate) fn id(word: &str) -> String {
    let letters: String = (0..22).map(|_| fastrand::alphanumeric()).collect();
    format!("{word}_{letters}")
}
