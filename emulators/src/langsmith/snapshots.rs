//! Snapshots. Only their names are emulated: every sandbox starts with the same files.

use std::collections::BTreeMap;

use axum::Json;
use axum::extract::{Path, State};
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse, Response};
use serde_json::{Value, json};

use super::control::uuid;
use super::{Shared, error_response};

/// The predefined snapshot.
pub(super) fn first() -> BTreeMap<String, Value> {
    BTreeMap::from([entry("default", None, 16 << 30)])
}

fn entry(name: &str, image: Option<&str>, bytes: u64) -> (String, Value) {
    let id = uuid();
    let snapshot = json!({
        "id": id,
        "name": name,
        "status": "ready",
        "status_message": null,
        "docker_image": image,
        "fs_capacity_bytes": bytes,
        "created_at": "2026-01-01T00:00:00Z",
        "updated_at": "2026-01-01T00:00:00Z",
    });
    (id, snapshot)
}

impl Shared {
    /// Returns the id of the snapshot with this id, name or name and tag; `None` selects the predefined one.
    pub(super) fn snapshot(&self, reference: Option<&str>) -> Option<String> {
        let snapshots = self.snapshots();
        let wanted = reference.unwrap_or("default");
        if snapshots.contains_key(wanted) {
            return Some(wanted.to_owned());
        }
        let name = wanted.split_once(':').map_or(wanted, |(name, _)| name);
        snapshots.iter().find(|(_, snapshot)| snapshot["name"] == name).map(|(id, _)| id.clone())
    }
}

/// `GET /snapshots`
pub(super) async fn list(State(shared): State<Shared>, headers: HeaderMap) -> Response {
    if let Err(rejected) = shared.authorised(&headers) {
        return *rejected;
    }
    let snapshots: Vec<Value> = shared.snapshots().values().cloned().collect();
    Json(json!({ "snapshots": snapshots, "items": snapshots, "next_cursor": null })).into_response()
}

/// `POST /snapshots`: ready immediately.
pub(super) async fn create(State(shared): State<Shared>, headers: HeaderMap, Json(request): Json<Value>) -> Response {
    if let Err(rejected) = shared.authorised(&headers) {
        return *rejected;
    }
    let Some(name) = request["name"].as_str() else {
        return error_response(422, "InvalidRequest", "a snapshot needs a name");
    };
    let bytes = request["fs_capacity_bytes"].as_u64().unwrap_or(16 << 30);
    let (id, snapshot) = entry(name, request["docker_image"].as_str(), bytes);
    shared.snapshots().insert(id, snapshot.clone());
    (StatusCode::CREATED, Json(snapshot)).into_response()
}

/// `GET /snapshots/{id}`
pub(super) async fn get(State(shared): State<Shared>, Path(id): Path<String>, headers: HeaderMap) -> Response {
    if let Err(rejected) = shared.authorised(&headers) {
        return *rejected;
    }
    let id = shared.snapshot(Some(&id));
    match id.and_then(|id| shared.snapshots().get(&id).cloned()) {
        Some(snapshot) => Json(snapshot).into_response(),
        None => error_response(404, "NotFound", "Snapshot not found"),
    }
}

/// `DELETE /snapshots/{id}`
pub(super) async fn delete(State(shared): State<Shared>, Path(id): Path<String>, headers: HeaderMap) -> Response {
    if let Err(rejected) = shared.authorised(&headers) {
        return *rejected;
    }
    match shared.snapshots().remove(&id) {
        Some(_) => StatusCode::NO_CONTENT.into_response(),
        None => error_response(404, "NotFound", "Snapshot not found"),
    }
}
