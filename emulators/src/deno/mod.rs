//! Deno Sandbox: a WebSocket with JSON-RPC for each sandbox, and the few plain calls beside it.
//!
//! Messages, fields and words are those that the official clients send and accept. The service itself is closed.

mod control;
mod files;
mod handles;
mod process;
mod rpc;

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use axum::Router;
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse, Response};
use axum::routing::{get, patch};
use serde_json::{Value, json};
use tidebox_core::SandboxPath;
use tokio::sync::watch;

use crate::house::House;

/// Where commands begin that name no directory, and relative paths.
pub(crate) const HOME: &str = "/home/app";

/// What is known of a sandbox beside its room.
#[derive(Clone, Debug)]
pub(crate) struct Sandbox {
    /// Variables of every command.
    pub(crate) env: BTreeMap<String, String>,
    /// Told when it ends, so that its sockets close.
    pub(crate) end: watch::Sender<bool>,
}

/// Everything that requests share.
#[derive(Clone, Debug)]
pub(crate) struct Shared {
    pub(crate) house: House,
    pub(crate) key: Arc<str>,
    sandboxes: Arc<Mutex<BTreeMap<String, Sandbox>>>,
}

/// All routes. `key` is what clients have to send as a bearer.
pub fn router(house: House, key: &str) -> Router {
    let shared = Shared { house, key: key.into(), sandboxes: Arc::default() };
    Router::new()
        .route("/api/v3/sandboxes/create", get(control::create))
        .route("/api/v3/sandbox/{id}/connect", get(control::connect))
        .route("/api/v3/sandbox/{id}", patch(control::extend).delete(control::delete))
        .route("/api/v2/sandboxes", get(control::list))
        // The client in Python lists and deletes elsewhere.
        .route("/api/v3/sandboxes", get(control::list))
        .route("/api/v3/sandboxes/{id}", axum::routing::delete(control::delete))
        .with_state(shared)
}

/// The organisation that is named to clients: a key that does not begin as one of an organisation needs one.
pub(crate) const ORG: &str = "tidebox";

/// What points Deno's clients to an emulator.
pub fn variables(url: &str, key: &str) -> Vec<(String, String)> {
    [
        ("DENO_DEPLOY_ENDPOINT", url),
        ("DENO_SANDBOX_ENDPOINT", url),
        ("DENO_DEPLOY_TOKEN", key),
        ("DENO_DEPLOY_ORG", ORG),
    ]
    .map(|(name, value)| (name.to_owned(), value.to_owned()))
    .into()
}

/// A refusal of a plain call, or of a WebSocket.
pub(crate) fn refusal(status: u16, code: &str, message: &str) -> Response {
    let body = axum::Json(json!({ "code": code, "message": message }));
    (StatusCode::from_u16(status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR), body).into_response()
}

/// What a call answers that did not do what it should.
pub(crate) fn error(class: &str, code: &str, message: &str) -> Value {
    json!({
        "constructorName": class,
        "message": message,
        "code": code,
        "stack": null,
        "cause": null,
        "errors": null,
        "name": class,
        "suppressed": null,
        "error": null,
    })
}

/// A path as the service reads it.
pub(crate) fn path(text: &str) -> Result<SandboxPath, Value> {
    let invalid = |_| error("TypeError", "EINVAL", &format!("invalid path '{text}'"));
    SandboxPath::parse(HOME).and_then(|home| home.resolve(text)).map_err(invalid)
}

impl Shared {
    pub(crate) fn sandboxes(&self) -> MutexGuard<'_, BTreeMap<String, Sandbox>> {
        self.sandboxes.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Refuses a request without the right key.
    pub(crate) fn authorised(&self, headers: &HeaderMap) -> Result<(), Box<Response>> {
        let given = headers.get("authorization").and_then(|value| value.to_str().ok()?.strip_prefix("Bearer "));
        match given {
            Some(key) if key == &*self.key => Ok(()),
            _ => Err(Box::new(refusal(401, "INVALID_TOKEN", "The access token is invalid or has expired"))),
        }
    }

    /// Ends a sandbox; false when there is none of this name.
    pub(crate) async fn forget(&self, id: &str) -> bool {
        if let Some(sandbox) = self.sandboxes().remove(id) {
            sandbox.end.send_replace(true);
        }
        self.house.close(id).await
    }
}
