//! Extractors shared by the daemon routes.

use axum::extract::{FromRequestParts, Query, RawPathParams};
use axum::http::request::Parts;
use axum::response::{IntoResponse, Response};
use serde::Deserialize;
use tidebox_core::SandboxPath;

use super::process::path;
use super::signature::Signature;
use super::{Shared, error_response};
use crate::registry::SandboxRecord;

/// Early error response.
#[derive(Debug)]
pub(super) struct RequestRejection(Box<Response>);

impl IntoResponse for RequestRejection {
    fn into_response(self) -> Response {
        *self.0
    }
}

fn bad_request(message: &str) -> RequestRejection {
    RequestRejection(Box::new(error_response(400, "BAD_REQUEST", message)))
}

/// Sandbox of an authorised request.
#[derive(Debug)]
pub(super) struct SandboxRef(pub(super) SandboxRecord);

impl FromRequestParts<Shared> for SandboxRef {
    type Rejection = RequestRejection;

    async fn from_request_parts(parts: &mut Parts, shared: &Shared) -> Result<Self, RequestRejection> {
        let names = RawPathParams::from_request_parts(parts, shared).await;
        let names = names.map_err(|error| bad_request(&error.body_text()))?;
        let id = names.iter().find(|(name, _)| *name == "id").map_or("", |(_, id)| id);
        let found = match Signature::of(parts) {
            Some(signature) => shared.signed_sandbox(id, &signature).await,
            None => shared.authorized_sandbox(id, &parts.headers).await,
        };
        found.map(Self).map_err(RequestRejection)
    }
}

/// Query parameters.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct FileQuery {
    pub(super) path: Option<String>,
    pub(super) pattern: Option<String>,
    pub(super) mode: Option<String>,
    pub(super) owner: Option<String>,
    pub(super) group: Option<String>,
    pub(super) recursive: Option<bool>,
    pub(super) depth: Option<u32>,
    pub(super) source: Option<String>,
    pub(super) destination: Option<String>,
}

/// Parses a path of a request, or returns the error response.
pub(super) fn parse_path(text: Option<&str>) -> Result<SandboxPath, Box<Response>> {
    match text {
        None | Some("") => Err(Box::new(error_response(400, "INVALID_FILE_PATH", "path is required"))),
        Some(text) => path(text).map_err(|error| Box::new(error_response(400, "INVALID_FILE_PATH", &error.message))),
    }
}

/// A path in a sandbox, and the other query parameters.
#[derive(Debug)]
pub(super) struct FileTarget {
    pub(super) sandbox: SandboxRecord,
    pub(super) path: SandboxPath,
    pub(super) at: FileQuery,
}

impl FromRequestParts<Shared> for FileTarget {
    type Rejection = RequestRejection;

    async fn from_request_parts(parts: &mut Parts, shared: &Shared) -> Result<Self, RequestRejection> {
        let SandboxRef(sandbox) = SandboxRef::from_request_parts(parts, shared).await?;
        let at = Query::<FileQuery>::from_request_parts(parts, shared).await;
        let Query(at) = at.map_err(|error| bad_request(&error.body_text()))?;
        let path = parse_path(at.path.as_deref()).map_err(RequestRejection)?;
        Ok(Self { sandbox, path, at })
    }
}
