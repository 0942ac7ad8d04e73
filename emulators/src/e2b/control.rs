//! Control plane routes.

use std::collections::BTreeMap;
use std::time::Duration;

use axum::Json;
use axum::extract::{Path, Query, State};
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse, Response};
use serde::Deserialize;
use serde_json::{Value, json};
use tidebox_core::ExecuteRequest;

use super::{ENVD_VERSION, HOME, Shared, error_response};
use crate::registry::SandboxRecord;

/// Default lifetime of a sandbox.
const DEFAULT_SECONDS: u64 = 300;

/// Default number of entries per page.
const PAGE: usize = 100;

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(super) struct Create {
    #[serde(rename = "templateID")]
    template_id: Option<String>,
    timeout: Option<u64>,
    metadata: BTreeMap<String, String>,
    env_vars: BTreeMap<String, String>,
}

fn is_idempotency_key(text: &str) -> bool {
    let is_allowed = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-';
    (1..=255).contains(&text.len()) && text.bytes().all(is_allowed)
}

/// `POST /v2/sandboxes`
pub(super) async fn create(State(shared): State<Shared>, headers: HeaderMap, Json(create): Json<Create>) -> Response {
    if let Err(rejected) = shared.authorised(&headers) {
        return *rejected;
    }
    let attempt = headers.get("idempotency-key").map(|key| String::from_utf8_lossy(key.as_bytes()).into_owned());
    if attempt.as_deref().is_some_and(|attempt| !is_idempotency_key(attempt)) {
        return error_response(400, "Idempotency-Key has 1 to 255 of the characters a-z, 0-9 and -");
    }
    if let Some(id) = attempt.as_ref().and_then(|attempt| shared.made_before(attempt)) {
        return match shared.registry.find(&id).await {
            Some(sandbox) => (StatusCode::CREATED, Json(access(&id, &sandbox))).into_response(),
            None => error_response(404, &format!("sandbox {id} not found")),
        };
    }
    let id: String = std::iter::once('i').chain((0..19).map(|_| fastrand::lowercase())).collect();
    let template = create.template_id.unwrap_or_else(|| "base".to_owned());
    let env = create.env_vars.into_iter().collect();
    match shared.registry.create(id.clone(), create.metadata, env).await {
        Ok(sandbox) => {
            // E2B's templates have this directory; if it cannot be created, commands that start in it fail with an
            // error.
            let _ = sandbox.sandbox.execute(ExecuteRequest::new(format!("mkdir -p {HOME}"))).await;
            shared.registry.update(&id, |sandbox| {
                sandbox.metadata.insert("template".to_owned(), template);
                sandbox.set_ttl(Duration::from_secs(create.timeout.unwrap_or(DEFAULT_SECONDS)));
            });
            if let Some(attempt) = attempt {
                shared.created.lock().insert(attempt, id.clone());
            }
            (StatusCode::CREATED, Json(access(&id, &sandbox))).into_response()
        }
        Err(error) => error_response(500, &error.to_string()),
    }
}

fn access(id: &str, sandbox: &SandboxRecord) -> Value {
    json!({
        "sandboxID": id,
        "templateID": sandbox.metadata.get("template").map_or("base", String::as_str),
        "clientID": "",
        "envdVersion": ENVD_VERSION,
        "envdAccessToken": sandbox.token,
        "alias": "base",
    })
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Connect {
    timeout: Option<u64>,
}

/// `POST /v2/sandboxes/{id}/connect`
pub(super) async fn connect(
    State(shared): State<Shared>,
    Path(id): Path<String>,
    headers: HeaderMap,
    Json(connect): Json<Connect>,
) -> Response {
    if let Err(rejected) = shared.authorised(&headers) {
        return *rejected;
    }
    let Some(sandbox) = shared.registry.find(&id).await else {
        return error_response(404, &format!("sandbox {id} not found"));
    };
    shared.registry.update(&id, |sandbox| {
        sandbox.paused = false;
        sandbox.set_ttl(Duration::from_secs(connect.timeout.unwrap_or(DEFAULT_SECONDS)));
    });
    let status = if sandbox.paused { StatusCode::CREATED } else { StatusCode::OK };
    (status, Json(access(&id, &sandbox))).into_response()
}

/// `POST /sandboxes/{id}/timeout`
pub(super) async fn set_timeout(
    State(shared): State<Shared>,
    Path(id): Path<String>,
    headers: HeaderMap,
    Json(connect): Json<Connect>,
) -> Response {
    if let Err(rejected) = shared.authorised(&headers) {
        return *rejected;
    }
    let time = Duration::from_secs(connect.timeout.unwrap_or(DEFAULT_SECONDS));
    if shared.registry.update(&id, |sandbox| sandbox.set_ttl(time)) {
        StatusCode::NO_CONTENT.into_response()
    } else {
        error_response(404, &format!("sandbox {id} not found"))
    }
}

/// `POST /sandboxes/{id}/pause`
pub(super) async fn pause(State(shared): State<Shared>, Path(id): Path<String>, headers: HeaderMap) -> Response {
    if let Err(rejected) = shared.authorised(&headers) {
        return *rejected;
    }
    let mut was_paused = false;
    let paused = |sandbox: &mut SandboxRecord| {
        was_paused = std::mem::replace(&mut sandbox.paused, true);
        // A paused sandbox does not expire.
        sandbox.expires_at = None;
    };
    match shared.registry.update(&id, paused) {
        true if was_paused => error_response(409, &format!("sandbox {id} is already paused")),
        true => StatusCode::NO_CONTENT.into_response(),
        false => error_response(404, &format!("sandbox {id} not found")),
    }
}

/// `DELETE /sandboxes/{id}`
pub(super) async fn delete(State(shared): State<Shared>, Path(id): Path<String>, headers: HeaderMap) -> Response {
    if let Err(rejected) = shared.authorised(&headers) {
        return *rejected;
    }
    if shared.registry.close(&id).await {
        StatusCode::NO_CONTENT.into_response()
    } else {
        error_response(404, &format!("sandbox {id} not found"))
    }
}

/// `GET /sandboxes/{id}`
pub(super) async fn info(State(shared): State<Shared>, Path(id): Path<String>, headers: HeaderMap) -> Response {
    if let Err(rejected) = shared.authorised(&headers) {
        return *rejected;
    }
    match shared.registry.find(&id).await {
        Some(sandbox) => {
            let mut entry = entry(&id, &sandbox);
            entry["envdAccessToken"] = json!(sandbox.token);
            Json(entry).into_response()
        }
        None => error_response(404, &format!("sandbox {id} not found")),
    }
}

fn entry(id: &str, sandbox: &SandboxRecord) -> Value {
    json!({
        "sandboxID": id,
        "templateID": sandbox.metadata.get("template").map_or("base", String::as_str),
        "clientID": "",
        "envdVersion": ENVD_VERSION,
        "alias": "base",
        // Clients require a timestamp but do not use its value.
        "startedAt": "2026-01-01T00:00:00Z",
        "endAt": "2026-01-01T00:05:00Z",
        "cpuCount": 1,
        "memoryMB": 512,
        "diskSizeMB": 512,
        "state": if sandbox.paused { "paused" } else { "running" },
        "metadata": sandbox.labels,
    })
}

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(super) struct List {
    metadata: Option<String>,
    state: Option<String>,
    limit: Option<usize>,
    next_token: Option<String>,
}

/// `GET /v2/sandboxes`
pub(super) async fn list(State(shared): State<Shared>, Query(list): Query<List>, headers: HeaderMap) -> Response {
    if let Err(rejected) = shared.authorised(&headers) {
        return *rejected;
    }
    let labels = list.metadata.as_deref().map(labels).unwrap_or_default();
    let wanted = list.state.as_deref().unwrap_or("running,paused");
    let is_wanted = |sandbox: &SandboxRecord| {
        wanted.split(',').any(|state| state == if sandbox.paused { "paused" } else { "running" })
    };
    let behind = |id: &str| list.next_token.as_deref().is_none_or(|last| id > last);
    let mut found = shared.registry.list(&labels).await;
    found.retain(|(id, sandbox)| behind(id) && is_wanted(sandbox));
    let limit = list.limit.unwrap_or(PAGE).clamp(1, PAGE);
    let more = found.len() > limit;
    found.truncate(limit);
    let entries: Vec<Value> = found.iter().map(|(id, sandbox)| entry(id, sandbox)).collect();
    let next = found.last().filter(|_| more).map(|(id, _)| [("x-next-token", id.clone())]);
    match next {
        Some(header) => (header, Json(entries)).into_response(),
        None => Json(entries).into_response(),
    }
}

/// Decodes labels from a query parameter, whose value is itself a query string with escaped names and values.
fn labels(query: &str) -> BTreeMap<String, String> {
    let plain = |text: &str| {
        let once = percent_encoding::percent_decode_str(text).decode_utf8_lossy().into_owned();
        percent_encoding::percent_decode_str(&once).decode_utf8_lossy().into_owned()
    };
    let pairs = query.split('&').filter_map(|pair| pair.split_once('='));
    pairs.map(|(name, value)| (plain(name), plain(value))).collect()
}

impl Shared {
    /// Rejects a request without the right key.
    fn authorised(&self, headers: &HeaderMap) -> Result<(), Box<Response>> {
        match headers.get("x-api-key").map(|key| key.as_bytes()) {
            Some(key) if key == self.key.as_bytes() => Ok(()),
            Some(_) => Err(Box::new(error_response(401, "authorization header is malformed or the key is invalid"))),
            None => Err(Box::new(error_response(401, "no credentials found"))),
        }
    }

    fn made_before(&self, attempt: &str) -> Option<String> {
        self.created.lock().get(attempt).cloned()
    }
}
