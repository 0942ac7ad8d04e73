//! Deno Sandbox: a WebSocket with JSON-RPC for each sandbox, and a few plain HTTP calls.
//!
//! Messages, fields and error texts are those that the official clients send and accept. The service itself is closed
//! source.

mod control;
mod exposed;
mod files;
mod handles;
mod process;
mod rpc;
mod tree;

use std::collections::BTreeMap;
use std::sync::{Arc, MutexGuard};

use axum::Router;
use axum::http::{HeaderMap, StatusCode, Uri};
use axum::response::{IntoResponse, Response};
use axum::routing::{get, patch, post};
use serde_json::{Value, json};
use tidebox_core::SandboxPath;
use tidebox_core::lock::Mutex;
use tokio::sync::watch;

use crate::preview::{Domain, Previews, is_same};
use crate::registry::{ImageUser, SandboxRegistry};

/// Default working directory, and base of relative paths.
pub(crate) const HOME: &str = "/home/app";

/// User of commands.
pub(crate) const USER: ImageUser = ImageUser { name: "app", home: HOME };

/// State of a sandbox in addition to its registry record.
#[derive(Clone, Debug)]
pub(crate) struct Sandbox {
    /// Environment variables of every command.
    pub(crate) env: BTreeMap<String, String>,
    /// Set when the sandbox ends, so that its sockets close.
    pub(crate) end: watch::Sender<bool>,
}

/// State shared by all requests.
#[derive(Clone, Debug)]
pub(crate) struct Shared {
    pub(crate) registry: SandboxRegistry,
    pub(crate) key: Arc<str>,
    sandboxes: Arc<Mutex<BTreeMap<String, Sandbox>>>,
    /// Domain of exposed servers.
    domain: Domain,
    exposed: exposed::AllExposed,
}

/// Returns all routes, and the addresses of servers in sandboxes. `url` is the server's URL; `key` is the bearer token required from
/// clients.
pub(crate) fn router(registry: SandboxRegistry, url: &str, key: &str) -> (Router, Previews) {
    let shared = Shared {
        registry,
        key: key.into(),
        sandboxes: Arc::default(),
        domain: Domain::new(url, ""),
        exposed: exposed::AllExposed::default(),
    };
    let previews = Previews::new(shared.domain.clone(), shared.clone());
    let router = Router::new()
        .route("/api/v3/sandboxes/create", get(control::create))
        .route("/api/v3/sandbox/{id}/connect", get(control::connect))
        .route("/api/v3/sandbox/{id}/expose/http", post(exposed::create))
        .route("/api/v3/sandbox/{id}", patch(control::extend).delete(control::delete))
        .route("/api/v2/sandboxes", get(control::list))
        // The Python client uses other routes to list and delete.
        .route("/api/v3/sandboxes", get(control::list))
        .route("/api/v3/sandboxes/{id}", axum::routing::delete(control::delete))
        .fallback(absent)
        .method_not_allowed_fallback(absent)
        .with_state(shared);
    (router, previews)
}

/// Organisation passed to clients: required with a key that lacks the prefix of an organisation's key.
pub(crate) const ORG: &str = "tidebox";

/// Environment variables that point Deno's clients to an emulator.
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

/// Error response of a plain call, or of a WebSocket handshake.
pub(crate) fn error_response(status: u16, code: &str, message: &str) -> Response {
    let body = axum::Json(json!({ "code": code, "message": message }));
    (StatusCode::from_u16(status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR), body).into_response()
}

/// Message that names a feature of Deno that the emulator does not have.
pub(crate) fn absent_message(feature: &str) -> String {
    format!("Tidebox's emulator of Deno has no {feature}")
}

/// Error of a call for a missing feature.
pub(crate) fn absent_error(feature: &str) -> Value {
    error("NotSupported", "ENOTSUP", &absent_message(feature))
}

/// Features of Deno that the emulator does not have, by a part of the path.
const ABSENT: [(&str, &str); 10] = [
    ("/expose/ssh", "SSH"),
    ("/expose/vscode", "VS Code"),
    ("/deploy", "deployments"),
    ("/volumes", "volumes"),
    ("/snapshots", "snapshots of volumes"),
    ("/apps", "apps"),
    ("/layers", "layers"),
    ("/revisions", "revisions"),
    ("/timelines", "timelines"),
    ("/domains", "domains"),
];

/// Response of all other paths.
async fn absent(uri: Uri) -> Response {
    let path = uri.path();
    let feature = ABSENT.iter().find(|(part, _)| path.contains(part)).map(|(_, feature)| *feature);
    let message = absent_message(feature.unwrap_or(&format!("such call: {path}")));
    std::future::ready(error_response(501, "NOT_IMPLEMENTED", &message)).await
}

/// Error of a failed call.
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

/// Parses a path as the service does.
pub(crate) fn path(text: &str) -> Result<SandboxPath, Value> {
    let invalid = |_| error("TypeError", "EINVAL", &format!("invalid path '{text}'"));
    SandboxPath::parse(HOME).and_then(|home| home.resolve(text)).map_err(invalid)
}

impl Shared {
    pub(crate) fn sandboxes(&self) -> MutexGuard<'_, BTreeMap<String, Sandbox>> {
        self.sandboxes.lock()
    }

    /// Rejects a request without the right key.
    pub(crate) fn authorised(&self, headers: &HeaderMap) -> Result<(), Box<Response>> {
        let given = headers.get("authorization").and_then(|value| value.to_str().ok()?.strip_prefix("Bearer "));
        match given {
            Some(key) if is_same(key, &*self.key) => Ok(()),
            _ => Err(Box::new(error_response(401, "INVALID_TOKEN", "The access token is invalid or has expired"))),
        }
    }

    /// Ends a sandbox; false if it does not exist.
    pub(crate) async fn remove(&self, id: &str) -> bool {
        if let Some(sandbox) = self.sandboxes().remove(id) {
            sandbox.end.send_replace(true);
        }
        self.exposed.lock().retain(|_, exposed| !exposed.is_of(id));
        self.registry.close(id).await
    }
}
