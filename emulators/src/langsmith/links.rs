//! Links that download one file without a key.

use std::time::{Duration, Instant};

use axum::Json;
use axum::extract::{Path, State};
use axum::http::{HeaderMap, HeaderValue, header};
use axum::response::{IntoResponse, Response};
use serde::Deserialize;
use serde_json::json;

use super::{Shared, error_response, files};
use crate::entries::{timestamp_millis, wall_clock};

/// Letters of a token.
const TOKEN_LETTERS: usize = 40;

/// A link to one file.
#[derive(Clone, Debug)]
pub(crate) struct DownloadLink {
    sandbox: String,
    path: String,
    content_type: Option<String>,
    content_disposition: Option<String>,
    expires_at: Option<Instant>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Create {
    path: String,
    expires_in_seconds: Option<u64>,
    content_type: Option<String>,
    content_disposition: Option<String>,
}

/// `POST /boxes/{name}/download-url`
pub(super) async fn create(
    State(shared): State<Shared>,
    Path(text): Path<String>,
    headers: HeaderMap,
    Json(create): Json<Create>,
) -> Response {
    let (id, _) = match shared.one(&headers, &text).await {
        Ok(found) => found,
        Err(rejected) => return *rejected,
    };
    let expires_at =
        create.expires_in_seconds.and_then(|seconds| Instant::now().checked_add(Duration::from_secs(seconds)));
    let token: String = (0..TOKEN_LETTERS).map(|_| fastrand::alphanumeric()).collect();
    let link = DownloadLink {
        sandbox: id,
        path: create.path,
        content_type: create.content_type,
        content_disposition: create.content_disposition,
        expires_at,
    };
    shared.links().insert(token.clone(), link);
    let host = headers.get("host").and_then(|host| host.to_str().ok()).unwrap_or("localhost");
    Json(json!({
        "download_url": format!("http://{host}/download/{token}"),
        "token": token,
        "expires_at": expires_at.map(|at| timestamp_millis(wall_clock(at))),
    }))
    .into_response()
}

/// `GET /download/{token}`
pub(super) async fn follow(State(shared): State<Shared>, Path(token): Path<String>, headers: HeaderMap) -> Response {
    let link = shared.links().get(&token).cloned();
    let Some(link) = link.filter(|link| link.expires_at.is_none_or(|end| end > Instant::now())) else {
        return error_response(403, "Forbidden", "the link is invalid or has expired");
    };
    let mut response = match shared.wake(&link.sandbox).await {
        Ok(sandbox) => files::content(&sandbox, &link.path, &headers).await,
        Err(rejected) => return *rejected,
    };
    let given = [(header::CONTENT_TYPE, link.content_type), (header::CONTENT_DISPOSITION, link.content_disposition)];
    for (name, value) in given {
        if let Some(value) = value.and_then(|value| HeaderValue::from_str(&value).ok()) {
            response.headers_mut().insert(name, value);
        }
    }
    response
}
