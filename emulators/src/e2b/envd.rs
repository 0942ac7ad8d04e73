//! Helpers shared by all calls of the daemon.

use axum::Json;
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse, Response};
use serde_json::json;
use tidebox_core::{FileErrorCode, SandboxPath};

use super::{HOME, Shared, error_response};
use crate::registry::SandboxRecord;

impl Shared {
    /// Returns the sandbox named by the header, if the request has its token.
    pub(super) async fn authorized_sandbox(
        &self,
        headers: &HeaderMap,
    ) -> Result<(String, SandboxRecord), Box<Response>> {
        let header = |name: &str| headers.get(name).and_then(|value| value.to_str().ok()).unwrap_or_default();
        let id = header("e2b-sandbox-id");
        let sandbox = self.registry.find(id).await.filter(|sandbox| !sandbox.paused);
        // E2B's proxy responds for a missing sandbox.
        let not_found =
            || Box::new((StatusCode::BAD_GATEWAY, format!("The sandbox {id} was not found")).into_response());
        let sandbox = sandbox.ok_or_else(not_found)?;
        match header("x-access-token") {
            token if token == sandbox.token => Ok((id.to_owned(), sandbox)),
            _ => {
                let message = "unauthorized access, please provide a valid access token or method signing if supported";
                Err(Box::new(error_response(401, message)))
            }
        }
    }
}

/// `GET /health`
pub(super) async fn health(State(shared): State<Shared>, headers: HeaderMap) -> Response {
    match shared.authorized_sandbox(&headers).await {
        Ok(_) => StatusCode::NO_CONTENT.into_response(),
        // The only call that needs no token.
        Err(rejected) if rejected.status() == StatusCode::UNAUTHORIZED => StatusCode::NO_CONTENT.into_response(),
        Err(rejected) => *rejected,
    }
}

/// Parses a path as the daemon does: relative paths start at the user's home.
pub(super) fn path(text: &str) -> Result<SandboxPath, tidebox_core::FileError> {
    SandboxPath::parse(HOME)?.resolve(text)
}

/// Error response of a unary Connect call.
pub(super) fn call_error_response(status: u16, code: &str, message: &str) -> Response {
    let body = Json(json!({ "code": code, "message": message }));
    (StatusCode::from_u16(status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR), body).into_response()
}

/// File error response of a unary call.
pub(super) fn file_error_response(code: FileErrorCode, message: &str) -> Response {
    match code {
        FileErrorCode::FileNotFound => call_error_response(404, "not_found", message),
        FileErrorCode::AlreadyExists => call_error_response(409, "already_exists", message),
        FileErrorCode::PermissionDenied => call_error_response(403, "permission_denied", message),
        _ => call_error_response(400, "invalid_argument", message),
    }
}
