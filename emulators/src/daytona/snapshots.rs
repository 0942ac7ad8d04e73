//! Snapshots: files of a sandbox, or the name of an image. An image is not pulled: its sandboxes have Tidebox's files.

use std::collections::{BTreeMap, BTreeSet};
use std::time::SystemTime;

use axum::Json;
use axum::extract::{Path, Query, State};
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse, Response};
use serde::Deserialize;
use serde_json::{Map, Value, json};

use super::control::{build_instruction, missing, uuid};
use super::{Shared, absent_response, error_response};
use crate::entries::timestamp_millis;
use crate::registry::FileSnapshot;

/// Default and maximum number of entries per page.
const PAGE: usize = 100;

/// Snapshots by id.
#[derive(Debug, Default)]
pub(crate) struct Snapshots {
    known: BTreeMap<String, Snapshot>,
    /// Ids and names of deleted snapshots.
    deleted: BTreeSet<String>,
}

#[derive(Debug)]
struct Snapshot {
    name: String,
    files: Option<FileSnapshot>,
    active: bool,
    created: SystemTime,
    updated: SystemTime,
    /// Fields that are only echoed.
    fields: Map<String, Value>,
}

/// Source of a new sandbox's files.
#[derive(Debug)]
pub(super) enum Origin {
    /// Tidebox's own files.
    Image,
    /// Files of a snapshot.
    Files(FileSnapshot),
    /// A snapshot that was deleted.
    Deleted,
    /// A snapshot that is not active.
    Inactive,
}

impl Snapshots {
    fn find(&self, reference: &str) -> Option<String> {
        let by_name = || self.known.iter().find(|(_, snapshot)| snapshot.name == reference).map(|(id, _)| id.clone());
        self.known.contains_key(reference).then(|| reference.to_owned()).or_else(by_name)
    }

    /// Adds a snapshot and returns its id, or `None` if the name is taken.
    fn add(&mut self, name: &str, files: Option<FileSnapshot>, fields: Map<String, Value>) -> Option<String> {
        if self.find(name).is_some() {
            return None;
        }
        let id = uuid();
        let now = SystemTime::now();
        self.deleted.remove(name);
        let snapshot = Snapshot { name: name.to_owned(), files, active: true, created: now, updated: now, fields };
        self.known.insert(id.clone(), snapshot);
        Some(id)
    }
}

fn describe(id: &str, snapshot: &Snapshot) -> Value {
    let mut described = json!({
        "id": id,
        "organizationId": "00000000-0000-4000-8000-000000000000",
        "general": false,
        "name": snapshot.name,
        "imageName": null,
        "state": if snapshot.active { "active" } else { "inactive" },
        "size": null,
        "entrypoint": null,
        "cpu": 1,
        "gpu": 0,
        "mem": 1,
        "disk": 3,
        "errorReason": null,
        "createdAt": timestamp_millis(snapshot.created),
        "updatedAt": timestamp_millis(snapshot.updated),
        "lastUsedAt": null,
        "sourceSandboxId": null,
    });
    for (field, value) in &snapshot.fields {
        described[field] = value.clone();
    }
    described
}

fn unknown(reference: &str) -> Response {
    error_response(404, "NOT_FOUND", &format!("Snapshot with ID or name {reference} not found"))
}

fn name_conflict(name: &str) -> Response {
    error_response(409, "CONFLICT", &format!("Snapshot with name \"{name}\" already exists"))
}

impl Shared {
    /// Returns the files of a snapshot. A name that the emulator does not know is that of an image.
    pub(super) fn origin(&self, reference: &str) -> Origin {
        let snapshots = self.snapshots.lock();
        match snapshots.find(reference).and_then(|id| snapshots.known.get(&id)) {
            Some(snapshot) if !snapshot.active => Origin::Inactive,
            Some(snapshot) => snapshot.files.clone().map_or(Origin::Image, Origin::Files),
            None if snapshots.deleted.contains(reference) => Origin::Deleted,
            None => Origin::Image,
        }
    }
}

#[derive(Debug, Deserialize)]
pub(super) struct Take {
    name: String,
}

/// `POST /sandbox/{id}/snapshot`: the files of a sandbox.
pub(super) async fn take(
    State(shared): State<Shared>,
    Path(id): Path<String>,
    headers: HeaderMap,
    Json(Take { name }): Json<Take>,
) -> Response {
    if let Err(rejected) = shared.authorised(&headers) {
        return *rejected;
    }
    let Some((id, _)) = shared.resolve(&id).await else { return missing(&id) };
    let files = match shared.registry.take_snapshot(&id) {
        Ok(files) => files,
        Err(error) => return error_response(500, "INTERNAL", &error.to_string()),
    };
    let fields = Map::from_iter([("sourceSandboxId".to_owned(), json!(id))]);
    if shared.snapshots.lock().add(&name, Some(files), fields).is_none() {
        return name_conflict(&name);
    }
    shared.described(&id).await
}

/// `POST /snapshots`: the name of an image.
pub(super) async fn create(
    State(shared): State<Shared>,
    headers: HeaderMap,
    Json(request): Json<Map<String, Value>>,
) -> Response {
    if let Err(rejected) = shared.authorised(&headers) {
        return *rejected;
    }
    let Some(name) = request.get("name").and_then(Value::as_str) else {
        return error_response(400, "BAD_REQUEST", "name must be a string");
    };
    if let Some(instruction) = build_instruction(&request) {
        return absent_response(&format!("builds of images: the instruction {instruction} cannot be executed"));
    }
    let mut fields = Map::new();
    let names = [("imageName", "imageName"), ("entrypoint", "entrypoint"), ("cpu", "cpu"), ("gpu", "gpu")];
    for (from, to) in names.into_iter().chain([("memory", "mem"), ("disk", "disk")]) {
        if let Some(value) = request.get(from).filter(|value| !value.is_null()) {
            fields.insert(to.to_owned(), value.clone());
        }
    }
    let mut snapshots = shared.snapshots.lock();
    let id = snapshots.add(name, None, fields);
    match id.and_then(|id| Some(describe(&id, snapshots.known.get(&id)?))) {
        Some(described) => Json(described).into_response(),
        None => name_conflict(name),
    }
}

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(super) struct List {
    page: Option<usize>,
    limit: Option<usize>,
    name: Option<String>,
    source_sandbox_id: Option<String>,
}

/// `GET /snapshots`, the newest first.
pub(super) async fn list(State(shared): State<Shared>, Query(list): Query<List>, headers: HeaderMap) -> Response {
    if let Err(rejected) = shared.authorised(&headers) {
        return *rejected;
    }
    let snapshots = shared.snapshots.lock();
    let is_wanted = |snapshot: &Snapshot| {
        let source = snapshot.fields.get("sourceSandboxId").and_then(Value::as_str);
        list.name.as_ref().is_none_or(|name| snapshot.name.contains(name))
            && list.source_sandbox_id.as_deref().is_none_or(|wanted| source == Some(wanted))
    };
    let mut found: Vec<_> = snapshots.known.iter().filter(|(_, snapshot)| is_wanted(snapshot)).collect();
    found.sort_by_key(|(_, snapshot)| std::cmp::Reverse(snapshot.created));
    let (page, limit) = (list.page.unwrap_or(1).max(1), list.limit.unwrap_or(PAGE).clamp(1, PAGE));
    let views = found.iter().skip((page - 1).saturating_mul(limit)).take(limit);
    let items: Vec<Value> = views.map(|(id, snapshot)| describe(id, snapshot)).collect();
    let pages = found.len().div_ceil(limit);
    Json(json!({ "items": items, "total": found.len(), "page": page, "totalPages": pages })).into_response()
}

/// `GET /snapshots/{id}`, by id or name.
pub(super) async fn info(State(shared): State<Shared>, Path(id): Path<String>, headers: HeaderMap) -> Response {
    if let Err(rejected) = shared.authorised(&headers) {
        return *rejected;
    }
    let snapshots = shared.snapshots.lock();
    let found = snapshots.find(&id).and_then(|id| Some(describe(&id, snapshots.known.get(&id)?)));
    found.map_or_else(|| unknown(&id), |described| Json(described).into_response())
}

/// `DELETE /snapshots/{id}`
pub(super) async fn delete(State(shared): State<Shared>, Path(id): Path<String>, headers: HeaderMap) -> Response {
    if let Err(rejected) = shared.authorised(&headers) {
        return *rejected;
    }
    let mut snapshots = shared.snapshots.lock();
    let removed = snapshots.find(&id).and_then(|id| Some((snapshots.known.remove(&id)?, id)));
    match removed {
        Some((snapshot, id)) => {
            snapshots.deleted.extend([snapshot.name, id]);
            StatusCode::OK.into_response()
        }
        None => unknown(&id),
    }
}

/// `POST /snapshots/{id}/activate` and `deactivate`.
pub(super) async fn change_state(
    State(shared): State<Shared>,
    Path((id, verb)): Path<(String, String)>,
    headers: HeaderMap,
) -> Response {
    if let Err(rejected) = shared.authorised(&headers) {
        return *rejected;
    }
    let active = match verb.as_str() {
        "activate" => true,
        "deactivate" => false,
        unknown => return super::absent_call(&format!("/snapshots/{id}/{unknown}")),
    };
    let mut snapshots = shared.snapshots.lock();
    let Some(found) = snapshots.find(&id) else { return unknown(&id) };
    let Some(snapshot) = snapshots.known.get_mut(&found) else { return unknown(&id) };
    if snapshot.active == active {
        let state = if active { "active" } else { "inactive" };
        return error_response(400, "BAD_REQUEST", &format!("Snapshot {id} is already {state}"));
    }
    (snapshot.active, snapshot.updated) = (active, SystemTime::now());
    Json(describe(&found, snapshot)).into_response()
}
