//! Control plane routes.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use axum::Json;
use axum::extract::{Path, RawQuery, State};
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse, Response};
use serde::Deserialize;
use serde_json::{Value, json};

use super::{Sandbox, Shared, USER, absent_response, error_response};
use crate::entries::{timestamp_millis, wall_clock};
use crate::registry::{NewSandbox, SandboxRecord};
use crate::tenants::{QUOTA_STATUS, creation_status};

/// Default idle seconds after which a sandbox stops.
const DEFAULT_IDLE: u64 = 600;

/// Seconds after which a stopped sandbox is deleted.
const DEFAULT_AFTER_STOP: u64 = 24 * 60 * 60;

/// Default number of entries per page.
const PAGE: usize = 50;

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Create {
    name: Option<String>,
    snapshot: Option<String>,
    snapshot_id: Option<String>,
    snapshot_name: Option<String>,
    idle_ttl_seconds: Option<u64>,
    delete_after_stop_seconds: Option<u64>,
    labels: BTreeMap<String, String>,
    env_vars: BTreeMap<String, String>,
    run_config: Option<RunConfig>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct RunConfig {
    pub(super) work_dir: Option<String>,
    pub(super) env_vars: BTreeMap<String, String>,
}

/// A validation error, as a list.
fn invalid(field: &str, message: &str) -> Response {
    let body = json!({ "detail": [{ "loc": ["body", field], "msg": message, "type": "value_error" }] });
    (StatusCode::UNPROCESSABLE_ENTITY, Json(body)).into_response()
}

/// `POST /boxes`
pub(super) async fn create(State(shared): State<Shared>, headers: HeaderMap, Json(asked): Json<Value>) -> Response {
    if let Err(rejected) = shared.authorised(&headers) {
        return *rejected;
    }
    let create: Create = match serde_json::from_value(asked.clone()) {
        Ok(create) => create,
        Err(error) => return invalid("body", &error.to_string()),
    };
    let idle = create.idle_ttl_seconds.unwrap_or(DEFAULT_IDLE);
    let after_stop = create.delete_after_stop_seconds.unwrap_or(DEFAULT_AFTER_STOP);
    for (field, seconds) in [("idle_ttl_seconds", idle), ("delete_after_stop_seconds", after_stop)] {
        if seconds % 60 != 0 {
            return invalid(field, "must be a multiple of 60 seconds");
        }
    }
    let reference = create.snapshot.as_ref().or(create.snapshot_id.as_ref()).or(create.snapshot_name.as_ref());
    if asked.get("mount_config").is_some_and(|mounts| !mounts.is_null()) {
        return absent_response("mounts");
    }
    let Some((snapshot, files)) = shared.snapshot(reference.map(String::as_str)) else {
        return error_response(
            404,
            "NotFound",
            &format!("Snapshot '{}' not found", reference.cloned().unwrap_or_default()),
        );
    };
    shared.sweep().await;
    let name = create.name.unwrap_or_else(|| format!("sandbox-{:08x}", fastrand::u32(..)));
    let id = uuid();
    let sandbox = Sandbox {
        name: name.clone(),
        snapshot,
        idle: Duration::from_secs(idle),
        after_stop: Duration::from_secs(after_stop),
        used: Instant::now(),
        running: 0,
        updated: Instant::now(),
        stopped_at: None,
        create_request: asked,
    };
    {
        // The name is reserved before the sandbox is created, so that one of two concurrent requests is rejected.
        let mut sandboxes = shared.sandboxes();
        if sandboxes.values().any(|other| other.name == name) {
            return error_response(409, "Conflict", &format!("A sandbox named '{name}' exists already"));
        }
        sandboxes.insert(id.clone(), sandbox);
    }
    let mut env = create.env_vars;
    env.extend(create.run_config.unwrap_or_default().env_vars);
    let new = NewSandbox { env: env.into_iter().collect(), user: Some(USER), snapshot: files, ..NewSandbox::default() };
    match shared.registry.create_from(id.clone(), create.labels, new).await {
        Ok(record) => match shared.sandbox_json(&headers, &id, &record) {
            Some(sink) => (StatusCode::CREATED, Json(sink)).into_response(),
            None => error_response(404, "NotFound", &format!("Sandbox '{name}' not found")),
        },
        Err(error) => {
            shared.sandboxes().remove(&id);
            let status = creation_status(&error);
            let code = if status == QUOTA_STATUS { "QuotaExceeded" } else { "SandboxConfig" };
            error_response(status, code, &error.to_string())
        }
    }
}

/// Formats a random 128-bit number as a UUID.
pub(super) fn uuid() -> String {
    let hex = format!("{:032x}", u128::from(fastrand::u64(..)) << 64 | u128::from(fastrand::u64(..)));
    let part = |from: usize, to: usize| hex.get(from..to).unwrap_or_default();
    format!("{}-{}-4{}-8{}-{}", part(0, 8), part(8, 12), part(13, 16), part(17, 20), part(20, 32))
}

impl Shared {
    /// Description of a sandbox. Its data plane URL uses the address at which the client connected.
    fn sandbox_json(&self, headers: &HeaderMap, id: &str, record: &SandboxRecord) -> Option<Value> {
        let host = headers.get("host").and_then(|host| host.to_str().ok()).unwrap_or("localhost");
        let sandboxes = self.sandboxes();
        let sandbox = sandboxes.get(id)?;
        let asked = |field: &str| sandbox.create_request.get(field).cloned().unwrap_or(Value::Null);
        Some(json!({
            "id": id,
            "name": sandbox.name,
            "status": sandbox.status(),
            "status_message": null,
            "dataplane_url": format!("http://{host}/dp/{id}"),
            "created_at": timestamp_millis(wall_clock(record.created_at)),
            "updated_at": timestamp_millis(wall_clock(sandbox.updated.max(record.created_at))),
            "stopped_at": sandbox.stopped_at.map(|at| timestamp_millis(wall_clock(at))),
            "idle_ttl_seconds": sandbox.idle.as_secs(),
            "delete_after_stop_seconds": sandbox.after_stop.as_secs(),
            "snapshot_id": sandbox.snapshot,
            "vcpus": asked("vcpus"),
            "mem_bytes": asked("mem_bytes"),
            "fs_capacity_bytes": asked("fs_capacity_bytes"),
            "proxy_config": asked("proxy_config"),
            "run_config": asked("run_config"),
            "labels": record.labels,
        }))
    }

    pub(super) async fn one(&self, headers: &HeaderMap, text: &str) -> Result<(String, SandboxRecord), Box<Response>> {
        self.authorised(headers)?;
        self.sweep().await;
        let id = self.id_of(text);
        match self.registry.find(&id).await {
            Some(sandbox) => Ok((id, sandbox)),
            None => Err(Box::new(error_response(404, "NotFound", &format!("Sandbox '{text}' not found")))),
        }
    }
}

/// `GET /boxes/{name}`
pub(super) async fn get(State(shared): State<Shared>, Path(text): Path<String>, headers: HeaderMap) -> Response {
    match shared.one(&headers, &text).await {
        Ok((id, sandbox)) => Json(shared.sandbox_json(&headers, &id, &sandbox)).into_response(),
        Err(rejected) => *rejected,
    }
}

/// `GET /boxes/{name}/status`
pub(super) async fn status(State(shared): State<Shared>, Path(text): Path<String>, headers: HeaderMap) -> Response {
    match shared.one(&headers, &text).await {
        Ok((id, _)) => {
            let status = shared.sandboxes().get(&id).map_or("deleting", Sandbox::status);
            Json(json!({ "status": status, "status_message": null })).into_response()
        }
        Err(rejected) => *rejected,
    }
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Update {
    name: Option<String>,
    idle_ttl_seconds: Option<u64>,
    delete_after_stop_seconds: Option<u64>,
}

/// `PATCH /boxes/{name}`: changes the name and the timeouts.
pub(super) async fn update(
    State(shared): State<Shared>,
    Path(text): Path<String>,
    headers: HeaderMap,
    Json(update): Json<Update>,
) -> Response {
    let (id, record) = match shared.one(&headers, &text).await {
        Ok(found) => found,
        Err(rejected) => return *rejected,
    };
    {
        let mut sandboxes = shared.sandboxes();
        if let Some(new) = update.name {
            if sandboxes.iter().any(|(other, sandbox)| *other != id && sandbox.name == new) {
                return error_response(409, "Conflict", &format!("A sandbox named '{new}' exists already"));
            }
            if let Some(sandbox) = sandboxes.get_mut(&id) {
                sandbox.name = new;
            }
        }
    }
    if let Some(sandbox) = shared.sandboxes().get_mut(&id) {
        if let Some(seconds) = update.idle_ttl_seconds {
            sandbox.idle = Duration::from_secs(seconds);
        }
        if let Some(seconds) = update.delete_after_stop_seconds {
            sandbox.after_stop = Duration::from_secs(seconds);
        }
        sandbox.updated = Instant::now();
    }
    Json(shared.sandbox_json(&headers, &id, &record)).into_response()
}

/// `POST /boxes/{name}/start`: rejected for a running sandbox.
pub(super) async fn start(State(shared): State<Shared>, Path(text): Path<String>, headers: HeaderMap) -> Response {
    start_or_stop(shared, &text, headers, false).await
}

/// `POST /boxes/{name}/stop`
pub(super) async fn stop(State(shared): State<Shared>, Path(text): Path<String>, headers: HeaderMap) -> Response {
    start_or_stop(shared, &text, headers, true).await
}

async fn start_or_stop(shared: Shared, text: &str, headers: HeaderMap, stop: bool) -> Response {
    let (id, record) = match shared.one(&headers, text).await {
        Ok(found) => found,
        Err(rejected) => return *rejected,
    };
    let status = shared.sandboxes().get(&id).map_or("deleting", Sandbox::status);
    if (status == "stopped") == stop {
        return error_response(400, "InvalidRequest", &format!("Sandbox '{text}' is {status}"));
    }
    if let Some(sandbox) = shared.sandboxes().get_mut(&id) {
        let now = Instant::now();
        (sandbox.stopped_at, sandbox.used, sandbox.updated) = (stop.then_some(now), now, now);
    }
    if stop {
        // Stopping the sandbox kills its processes.
        shared.sessions().iter().filter(|((sandbox, _), _)| *sandbox == id).for_each(|(_, session)| session.kill());
    }
    Json(shared.sandbox_json(&headers, &id, &record)).into_response()
}

/// `DELETE /boxes/{name}`
pub(super) async fn delete(State(shared): State<Shared>, Path(text): Path<String>, headers: HeaderMap) -> Response {
    match shared.one(&headers, &text).await {
        Ok((id, _)) => {
            shared.remove(&id).await;
            StatusCode::NO_CONTENT.into_response()
        }
        Err(rejected) => *rejected,
    }
}

/// `GET /boxes`: pages ordered by id.
pub(super) async fn list(State(shared): State<Shared>, RawQuery(query): RawQuery, headers: HeaderMap) -> Response {
    if let Err(rejected) = shared.authorised(&headers) {
        return *rejected;
    }
    shared.sweep().await;
    let query = query.unwrap_or_default();
    let pairs: Vec<(String, String)> = query.split('&').filter_map(|pair| pair.split_once('=')).map(plain).collect();
    let one = |name: &str| pairs.iter().find(|(given, _)| given == name).map(|(_, value)| value.as_str());
    let asked: Vec<&str> = pairs.iter().filter(|(name, _)| name == "label").map(|(_, value)| value.as_str()).collect();
    let bears = |record: &SandboxRecord| {
        asked.iter().all(|label| match label.split_once('=') {
            Some((name, value)) => record.labels.get(name).is_some_and(|borne| borne == value),
            None => record.labels.contains_key(*label),
        })
    };
    let behind = |id: &str| one("cursor").is_none_or(|cursor| id > cursor.trim_start_matches("after:"));
    let mut found = shared.registry.list(&BTreeMap::new()).await;
    found.retain(|(id, record)| {
        let sandboxes = shared.sandboxes();
        let sandbox = sandboxes.get(id);
        let contains =
            one("name_contains").is_none_or(|part| sandbox.is_some_and(|sandbox| sandbox.name.contains(part)));
        let status = sandbox.map_or("deleting", Sandbox::status);
        contains && behind(id) && bears(record) && one("status").is_none_or(|wanted| wanted == status)
    });
    let limit = one("page_size").and_then(|size| size.parse().ok()).unwrap_or(PAGE).clamp(1, 1000);
    let more = found.len() > limit;
    found.truncate(limit);
    let items: Vec<Value> = found.iter().filter_map(|(id, record)| shared.sandbox_json(&headers, id, record)).collect();
    let cursor = found.last().filter(|_| more).map(|(id, _)| format!("after:{id}"));
    Json(json!({ "items": items, "sandboxes": items, "next_cursor": cursor, "offset": 0 })).into_response()
}

/// Decodes a name and value of a query.
fn plain((name, value): (&str, &str)) -> (String, String) {
    let plain =
        |text: &str| percent_encoding::percent_decode_str(&text.replace('+', " ")).decode_utf8_lossy().into_owned();
    (plain(name), plain(value))
}
