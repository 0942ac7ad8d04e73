//! What requests to the daemon of a sandbox have in common.

use axum::extract::{FromRequestParts, Query, RawPathParams};
use axum::http::request::Parts;
use axum::response::{IntoResponse, Response};
use serde::Deserialize;
use tidebox_core::SandboxPath;

use super::process::path;
use super::{Shared, refusal};
use crate::house::Room;

/// Why a request is not answered otherwise.
#[derive(Debug)]
pub(super) struct Refused(Box<Response>);

impl IntoResponse for Refused {
    fn into_response(self) -> Response {
        *self.0
    }
}

fn wrong(message: &str) -> Refused {
    Refused(Box::new(refusal(400, "BAD_REQUEST", message)))
}

/// The sandbox that a request with the right key names.
#[derive(Debug)]
pub(super) struct In(pub(super) Room);

impl FromRequestParts<Shared> for In {
    type Rejection = Refused;

    async fn from_request_parts(parts: &mut Parts, shared: &Shared) -> Result<Self, Refused> {
        let names = RawPathParams::from_request_parts(parts, shared).await;
        let names = names.map_err(|error| wrong(&error.body_text()))?;
        let id = names.iter().find(|(name, _)| *name == "id").map_or("", |(_, id)| id);
        shared.room(id, &parts.headers).await.map(Self).map_err(Refused)
    }
}

/// What a query may say.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct At {
    pub(super) path: Option<String>,
    pub(super) pattern: Option<String>,
    pub(super) mode: Option<String>,
    pub(super) owner: Option<String>,
    pub(super) group: Option<String>,
    pub(super) recursive: Option<bool>,
    pub(super) source: Option<String>,
    pub(super) destination: Option<String>,
}

/// A path of a request, or its refusal.
pub(super) fn parsed(text: Option<&str>) -> Result<SandboxPath, Box<Response>> {
    match text {
        None | Some("") => Err(Box::new(refusal(400, "INVALID_FILE_PATH", "path is required"))),
        Some(text) => path(text).map_err(|error| Box::new(refusal(400, "INVALID_FILE_PATH", &error.message))),
    }
}

/// A place in a sandbox, and what else is said of it.
#[derive(Debug)]
pub(super) struct Located {
    pub(super) room: Room,
    pub(super) path: SandboxPath,
    pub(super) at: At,
}

impl FromRequestParts<Shared> for Located {
    type Rejection = Refused;

    async fn from_request_parts(parts: &mut Parts, shared: &Shared) -> Result<Self, Refused> {
        let In(room) = In::from_request_parts(parts, shared).await?;
        let at = Query::<At>::from_request_parts(parts, shared).await;
        let Query(at) = at.map_err(|error| wrong(&error.body_text()))?;
        let path = parsed(at.path.as_deref()).map_err(Refused)?;
        Ok(Self { room, path, at })
    }
}
