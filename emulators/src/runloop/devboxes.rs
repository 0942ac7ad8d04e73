//! Devbox lifecycle.

use std::collections::BTreeMap;
use std::time::{Duration, Instant, SystemTime};

use axum::Json;
use axum::body::Bytes;
use axum::extract::{Path, Query, State};
use axum::http::HeaderMap;
use axum::response::{IntoResponse, Response};
use serde::Deserialize;
use serde_json::{Value, json};
use tidebox_core::ExecuteRequest;

use super::tunnels::TunnelOptions;
use super::{HOME, Shared, USER, error_response, id, request_id};
use crate::entries::millis;
use crate::registry::{NewSandbox, SandboxRecord};
use crate::tenants::{QUOTA_STATUS, creation_status};

/// Default and maximum lifetime of a devbox.
const KEEP_ALIVE: u64 = 60 * 60;
const MAX_KEEP_ALIVE: u64 = 48 * 60 * 60;

/// Maximum duration of a long poll.
const MAX_WAIT: f64 = 30.0;

/// Default and maximum number of entries per page.
const PAGE: usize = 20;
const MAX_PAGE: usize = 5000;

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Create {
    name: Option<String>,
    metadata: Option<BTreeMap<String, String>>,
    environment_variables: Option<BTreeMap<String, String>>,
    blueprint_id: Option<String>,
    blueprint_name: Option<String>,
    snapshot_id: Option<String>,
    launch_parameters: Option<Value>,
    tunnel: Option<TunnelOptions>,
}

/// `POST /v1/devboxes`
pub(super) async fn create(State(shared): State<Shared>, headers: HeaderMap, body: Bytes) -> Response {
    match shared.create_devbox(&headers, &body).await {
        Ok(id) => shared.devbox_response(&id).await,
        Err(rejected) => *rejected,
    }
}

/// `POST /v1/devboxes/create_and_await_running`
pub(super) async fn create_and_await_running(
    State(shared): State<Shared>,
    headers: HeaderMap,
    body: Bytes,
) -> Response {
    match shared.create_devbox(&headers, &body).await {
        Ok(id) => {
            shared.registry.update(&id, |sandbox| advance_status(sandbox, true));
            shared.devbox_response(&id).await
        }
        Err(rejected) => *rejected,
    }
}

/// Advances a transitional status: one step, or until it is stable.
fn advance_status(sandbox: &mut SandboxRecord, wholly: bool) {
    loop {
        let next = match sandbox.metadata.get("status").map(String::as_str) {
            Some("provisioning") => "initializing",
            Some("initializing" | "resuming") => "running",
            Some("suspending") => "suspended",
            _ => return,
        };
        sandbox.metadata.insert("status".to_owned(), next.to_owned());
        if !wholly {
            return;
        }
    }
}

impl Shared {
    async fn create_devbox(&self, headers: &HeaderMap, body: &[u8]) -> Result<String, Box<Response>> {
        self.authorised(headers)?;
        let bad = |message: &str| Box::new(error_response(400, "bad_request", message));
        let create: Create = serde_json::from_slice(body).map_err(|error| bad(&error.to_string()))?;
        let request = request_id(headers);
        if let Some(made) = request.as_ref().and_then(|request| self.done.lock().get(request).cloned()) {
            return Ok(made);
        }
        let sources = [&create.blueprint_id, &create.blueprint_name, &create.snapshot_id];
        if sources.into_iter().flatten().count() > 1 {
            return Err(bad("Only one of snapshot_id, blueprint_id and blueprint_name may be specified"));
        }
        let launch = create.launch_parameters.unwrap_or_else(|| json!({}));
        let seconds = launch.get("keep_alive_time_seconds").and_then(Value::as_u64).unwrap_or(KEEP_ALIVE);
        if seconds > MAX_KEEP_ALIVE {
            return Err(bad("keep_alive_time_seconds must be at most 172800"));
        }
        let policy = launch.get("network_policy_id").and_then(Value::as_str);
        if policy.is_some_and(|policy| !self.policies.lock().contains_key(policy)) {
            return Err(bad("Network policy not found"));
        }
        let files = match &create.snapshot_id {
            None => None,
            Some(snapshot) => Some(self.snapshot_files(snapshot).ok_or_else(|| {
                Box::new(error_response(404, "not_found", &format!("Snapshot {snapshot} not found")))
            })?),
        };
        let id = id("dbx");
        let metadata = create.metadata.unwrap_or_default();
        let known = json!({
            "id": id,
            "name": create.name,
            "blueprint_id": create.blueprint_id,
            "snapshot_id": create.snapshot_id,
            "metadata": metadata,
            "launch_parameters": launch,
            "capabilities": [],
            "tunnel": create.tunnel.map(|options| options.new_tunnel()).transpose()?,
            "state_transitions": [transition("provisioning")],
            "create_time_ms": millis(SystemTime::now()),
        });
        let env = create.environment_variables.unwrap_or_default().into_iter().collect();
        let new = NewSandbox { env, user: Some(USER), snapshot: files, ..NewSandbox::default() };
        let opened = self.registry.create_from(id.clone(), metadata, new).await;
        let sandbox = opened.map_err(|error| {
            let status = creation_status(&error);
            let code = if status == QUOTA_STATUS { "too_many_requests" } else { "internal" };
            Box::new(error_response(status, code, &error.to_string()))
        })?;
        // Runloop's image has this directory; if it cannot be created, commands that start in it fail with an error.
        let _ = sandbox.sandbox.execute(ExecuteRequest::new(format!("mkdir -p {HOME}"))).await;
        self.registry.update(&id, |sandbox| {
            sandbox.metadata.insert("status".to_owned(), "provisioning".to_owned());
            sandbox.set_ttl(Duration::from_secs(seconds));
        });
        self.known.lock().insert(id.clone(), known);
        if let Some(request) = request {
            self.done.lock().insert(request, id.clone());
        }
        Ok(id)
    }

    /// Description of a devbox; one without a registry record was shut down.
    pub(super) async fn describe(&self, id: &str) -> Option<Value> {
        let sandbox = self.registry.find(id).await;
        let status = sandbox.and_then(|sandbox| sandbox.metadata.get("status").cloned());
        let status = status.unwrap_or_else(|| "shutdown".to_owned());
        let mut known = self.known.lock();
        let view = known.get_mut(id)?;
        if status == "shutdown" && view.get("end_time_ms").is_none() {
            view["end_time_ms"] = json!(millis(SystemTime::now()));
            view["shutdown_reason"] = json!("keep_alive_timeout");
        }
        let transitions = view["state_transitions"].as_array_mut()?;
        if transitions.last().is_none_or(|last| last["status"] != status.as_str()) {
            transitions.push(transition(&status));
        }
        view["status"] = json!(status);
        Some(view.clone())
    }

    async fn devbox_response(&self, id: &str) -> Response {
        match self.describe(id).await {
            Some(view) => Json(view).into_response(),
            None => error_response(404, "not_found", "Devbox not found"),
        }
    }
}

fn transition(status: &str) -> Value {
    json!({ "status": status, "transition_time_ms": millis(SystemTime::now()) })
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Update {
    name: Option<String>,
    metadata: Option<BTreeMap<String, String>>,
}

/// `POST /v1/devboxes/{id}`
pub(super) async fn update(
    State(shared): State<Shared>,
    Path(id): Path<String>,
    headers: HeaderMap,
    Json(update): Json<Update>,
) -> Response {
    if let Err(rejected) = shared.authorised(&headers) {
        return *rejected;
    }
    if let Some(view) = shared.known.lock().get_mut(&id) {
        if let Some(name) = update.name {
            view["name"] = if name.is_empty() { Value::Null } else { json!(name) };
        }
        if let Some(metadata) = &update.metadata {
            view["metadata"] = json!(metadata);
        }
    }
    if let Some(metadata) = update.metadata {
        shared.registry.update(&id, |sandbox| sandbox.labels = metadata);
    }
    shared.devbox_response(&id).await
}

/// `GET /v1/devboxes/{id}/usage`: one processor, 1 GiB of memory and 1 GiB of disk.
pub(super) async fn usage(State(shared): State<Shared>, Path(id): Path<String>, headers: HeaderMap) -> Response {
    if let Err(rejected) = shared.authorised(&headers) {
        return *rejected;
    }
    let Some(view) = shared.describe(&id).await else { return error_response(404, "not_found", "Devbox not found") };
    let now = millis(SystemTime::now());
    let (start, end) = (view["create_time_ms"].as_u64().unwrap_or(now), view["end_time_ms"].as_u64());
    let elapsed = end.unwrap_or(now).saturating_sub(start) / 1000;
    let active = active_millis(&view, end.unwrap_or(now)) / 1000;
    Json(json!({
        "id": id,
        "status": view["status"],
        "start_time_ms": start,
        "end_time_ms": end,
        "total_elapsed_seconds": elapsed,
        "total_active_seconds": active,
        "vcpu_seconds": active,
        "memory_gb_seconds": active,
        "disk_gb_seconds": elapsed,
    }))
    .into_response()
}

/// Returns the time that a devbox was not suspended, up to `end`.
fn active_millis(view: &Value, end: u64) -> u64 {
    let transitions = view["state_transitions"].as_array().map_or(&[][..], Vec::as_slice);
    let times: Vec<u64> = transitions.iter().filter_map(|one| one["transition_time_ms"].as_u64()).collect();
    let ends = times.iter().skip(1).copied().chain([end]);
    let spans = transitions.iter().zip(times.iter().zip(ends));
    let active = spans.filter(|(one, _)| one["status"] != "suspended" && one["status"] != "shutdown");
    active.map(|(_, (from, to))| to.saturating_sub(*from)).sum()
}

/// `GET /v1/devboxes/{id}`: each request advances the status.
pub(super) async fn info(State(shared): State<Shared>, Path(id): Path<String>, headers: HeaderMap) -> Response {
    if let Err(rejected) = shared.authorised(&headers) {
        return *rejected;
    }
    shared.registry.update(&id, |sandbox| advance_status(sandbox, false));
    shared.devbox_response(&id).await
}

#[derive(Debug, Deserialize)]
pub(super) struct Wait {
    pub(super) statuses: Vec<String>,
    #[serde(default)]
    pub(super) timeout_seconds: Option<f64>,
}

impl Wait {
    /// Deadline of a long poll.
    pub(super) fn end(&self, longest: f64) -> Instant {
        let seconds = self.timeout_seconds.unwrap_or(longest).clamp(0.0, longest);
        Instant::now() + Duration::try_from_secs_f64(seconds).unwrap_or_default()
    }
}

/// `POST /v1/devboxes/{id}/wait_for_status`
pub(super) async fn wait(
    State(shared): State<Shared>,
    Path(id): Path<String>,
    headers: HeaderMap,
    Json(wait): Json<Wait>,
) -> Response {
    if let Err(rejected) = shared.authorised(&headers) {
        return *rejected;
    }
    let end = wait.end(MAX_WAIT);
    loop {
        shared.registry.update(&id, |sandbox| advance_status(sandbox, true));
        let Some(view) = shared.describe(&id).await else {
            return error_response(404, "not_found", "Devbox not found");
        };
        if wait.statuses.iter().any(|status| view["status"] == status.as_str()) {
            return Json(view).into_response();
        }
        if Instant::now() >= end {
            return error_response(408, "request_timeout", "timed out waiting for status");
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
}

/// Changes a devbox whose status is one of these.
async fn change_status(
    shared: &Shared,
    id: &str,
    headers: &HeaderMap,
    from: &[&str],
    change: impl FnOnce(&mut SandboxRecord),
) -> Response {
    if let Err(rejected) = shared.authorised(headers) {
        return *rejected;
    }
    let Some(view) = shared.describe(id).await else { return error_response(404, "not_found", "Devbox not found") };
    let status = view["status"].as_str().unwrap_or_default();
    if !from.contains(&status) {
        return error_response(400, "bad_request", &format!("Devbox is {status}"));
    }
    shared.registry.update(id, change);
    shared.devbox_response(id).await
}

/// `POST /v1/devboxes/{id}/suspend`
pub(super) async fn suspend(State(shared): State<Shared>, Path(id): Path<String>, headers: HeaderMap) -> Response {
    let change = |sandbox: &mut SandboxRecord| {
        sandbox.paused = true;
        sandbox.expires_at = None;
        sandbox.metadata.insert("status".to_owned(), "suspending".to_owned());
    };
    change_status(&shared, &id, &headers, &["running"], change).await
}

/// `POST /v1/devboxes/{id}/resume`
pub(super) async fn resume(State(shared): State<Shared>, Path(id): Path<String>, headers: HeaderMap) -> Response {
    let seconds = shared.keep_alive(&id);
    let change = |sandbox: &mut SandboxRecord| {
        sandbox.paused = false;
        sandbox.set_ttl(Duration::from_secs(seconds));
        sandbox.metadata.insert("status".to_owned(), "resuming".to_owned());
    };
    change_status(&shared, &id, &headers, &["suspended"], change).await
}

/// `POST /v1/devboxes/{id}/keep_alive`
pub(super) async fn keep_alive(State(shared): State<Shared>, Path(id): Path<String>, headers: HeaderMap) -> Response {
    let seconds = shared.keep_alive(&id);
    change_status(&shared, &id, &headers, &["running"], |sandbox| sandbox.set_ttl(Duration::from_secs(seconds))).await
}

impl Shared {
    /// Returns the lifetime of a devbox, in seconds since its last use.
    pub(super) fn keep_alive(&self, id: &str) -> u64 {
        let known = self.known.lock();
        let launch = known.get(id).and_then(|view| view.get("launch_parameters"));
        launch.and_then(|launch| launch.get("keep_alive_time_seconds")?.as_u64()).unwrap_or(KEEP_ALIVE)
    }
}

/// `POST /v1/devboxes/{id}/shutdown`
pub(super) async fn shutdown(State(shared): State<Shared>, Path(id): Path<String>, headers: HeaderMap) -> Response {
    if let Err(rejected) = shared.authorised(&headers) {
        return *rejected;
    }
    shared.executions.end_all(&id);
    if shared.registry.close(&id).await
        && let Some(view) = shared.known.lock().get_mut(&id)
    {
        view["end_time_ms"] = json!(millis(SystemTime::now()));
        view["shutdown_reason"] = json!("api_shutdown");
    }
    shared.devbox_response(&id).await
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct List {
    limit: Option<usize>,
    starting_after: Option<String>,
    status: Option<String>,
    include_total_count: Option<bool>,
}

/// `GET /v1/devboxes`, including those that were shut down.
pub(super) async fn list(State(shared): State<Shared>, Query(list): Query<List>, headers: HeaderMap) -> Response {
    if let Err(rejected) = shared.authorised(&headers) {
        return *rejected;
    }
    let ids: Vec<String> = shared.known.lock().keys().cloned().collect();
    let mut views = Vec::new();
    for id in ids {
        views.extend(shared.describe(&id).await);
    }
    views.retain(|view| list.status.as_ref().is_none_or(|status| view["status"] == status.as_str()));
    let total = views.len();
    let behind = |view: &Value| list.starting_after.as_deref().is_none_or(|last| view["id"].as_str() > Some(last));
    views.retain(behind);
    let limit = list.limit.unwrap_or(PAGE).clamp(1, MAX_PAGE);
    let more = views.len() > limit;
    views.truncate(limit);
    let mut page = json!({ "devboxes": views, "has_more": more });
    if list.include_total_count != Some(false) {
        page["total_count"] = json!(total);
    }
    Json(page).into_response()
}
