//! Disk snapshots: the files of a devbox.

use std::collections::BTreeMap;
use std::time::SystemTime;

use axum::Json;
use axum::body::Bytes;
use axum::extract::{Path, Query, RawQuery, State};
use axum::http::HeaderMap;
use axum::response::{IntoResponse, Response};
use serde::Deserialize;
use serde_json::{Value, json};

use super::{Shared, error_response, id, request_id};
use crate::entries::millis;
use crate::registry::FileSnapshot;

/// Default and maximum number of entries per page.
const PAGE: usize = 20;
const MAX_PAGE: usize = 5000;

/// Snapshots by id. A deleted one has no files, and keeps its description for its status.
pub(crate) type Snapshots = BTreeMap<String, Snapshot>;

/// A snapshot.
#[derive(Clone, Debug)]
pub(crate) struct Snapshot {
    files: Option<FileSnapshot>,
    view: Value,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Note {
    name: Option<String>,
    commit_message: Option<String>,
    metadata: Option<BTreeMap<String, String>>,
}

impl Note {
    /// Sets the given fields of a description.
    fn write(self, view: &mut Value) {
        if let Some(name) = self.name {
            view["name"] = json!(name);
        }
        if let Some(message) = self.commit_message {
            view["commit_message"] = json!(message);
        }
        if let Some(metadata) = self.metadata {
            view["metadata"] = json!(metadata);
        }
    }
}

fn missing() -> Response {
    error_response(404, "not_found", "Snapshot not found")
}

impl Shared {
    /// Returns the files of a snapshot.
    pub(super) fn snapshot_files(&self, id: &str) -> Option<FileSnapshot> {
        self.snapshots.lock().get(id).and_then(|snapshot| snapshot.files.clone())
    }
}

/// `POST /v1/devboxes/{id}/snapshot_disk` and `snapshot_disk_async`: complete when the response arrives.
pub(super) async fn create(
    State(shared): State<Shared>,
    Path(devbox): Path<String>,
    headers: HeaderMap,
    body: Bytes,
) -> Response {
    if let Err(rejected) = shared.authorized_sandbox(&devbox, &headers).await {
        return *rejected;
    }
    let note = if body.is_empty() { Ok(Note::default()) } else { serde_json::from_slice::<Note>(&body) };
    let note = match note {
        Ok(note) => note,
        Err(error) => return error_response(400, "bad_request", &error.to_string()),
    };
    let request = request_id(&headers);
    let made = request.as_ref().and_then(|request| shared.done.lock().get(request).cloned());
    if let Some(snapshot) = made.and_then(|id| shared.snapshots.lock().get(&id).cloned()) {
        return Json(snapshot.view).into_response();
    }
    let files = match shared.registry.take_snapshot(&devbox) {
        Ok(files) => files,
        Err(error) => return error_response(500, "internal", &error.to_string()),
    };
    let id = id("snp");
    let blueprint = shared.known.lock().get(&devbox).map(|view| view["blueprint_id"].clone());
    let mut view = json!({
        "id": id,
        "create_time_ms": millis(SystemTime::now()),
        "metadata": {},
        "source_devbox_id": devbox,
        "source_blueprint_id": blueprint,
    });
    note.write(&mut view);
    shared.snapshots.lock().insert(id.clone(), Snapshot { files: Some(files), view: view.clone() });
    if let Some(request) = request {
        shared.done.lock().insert(request, id);
    }
    Json(view).into_response()
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct List {
    devbox_id: Option<String>,
    source_blueprint_id: Option<String>,
    limit: Option<usize>,
    starting_after: Option<String>,
}

/// `GET /v1/devboxes/disk_snapshots`, with filters `metadata[key]=value`.
pub(super) async fn list(
    State(shared): State<Shared>,
    Query(list): Query<List>,
    RawQuery(query): RawQuery,
    headers: HeaderMap,
) -> Response {
    if let Err(rejected) = shared.authorised(&headers) {
        return *rejected;
    }
    let labels = metadata_filters(query.as_deref().unwrap_or_default());
    let equals = |view: &Value, field: &str, wanted: &Option<String>| {
        wanted.as_ref().is_none_or(|wanted| view[field] == wanted.as_str())
    };
    let is_wanted = |snapshot: &Snapshot| {
        let view = &snapshot.view;
        snapshot.files.is_some()
            && equals(view, "source_devbox_id", &list.devbox_id)
            && equals(view, "source_blueprint_id", &list.source_blueprint_id)
            && labels.iter().all(|(name, value)| view["metadata"][name] == value.as_str())
    };
    let snapshots = shared.snapshots.lock();
    let found: Vec<&Value> = snapshots.values().filter(|one| is_wanted(one)).map(|one| &one.view).collect();
    let behind = |view: &&&Value| list.starting_after.as_deref().is_none_or(|last| view["id"].as_str() > Some(last));
    let limit = list.limit.unwrap_or(PAGE).clamp(1, MAX_PAGE);
    let rest: Vec<&&Value> = found.iter().filter(behind).collect();
    let page: Vec<&&&Value> = rest.iter().take(limit).collect();
    let more = rest.len() > limit;
    Json(json!({ "snapshots": page, "has_more": more, "total_count": found.len() })).into_response()
}

/// Returns the names and values of parameters like `metadata[name]=value`.
fn metadata_filters(query: &str) -> Vec<(String, String)> {
    let plain = |text: &str| {
        let spaced = text.replace('+', " ");
        percent_encoding::percent_decode_str(&spaced).decode_utf8_lossy().into_owned()
    };
    let pairs = query.split('&').filter_map(|pair| pair.split_once('='));
    let named = pairs.filter_map(|(name, value)| {
        let name = plain(name);
        let name = name.strip_prefix("metadata[")?.strip_suffix(']')?;
        Some((name.to_owned(), plain(value)))
    });
    named.collect()
}

/// `GET /v1/devboxes/disk_snapshots/{id}/status`
pub(super) async fn status(State(shared): State<Shared>, Path(id): Path<String>, headers: HeaderMap) -> Response {
    if let Err(rejected) = shared.authorised(&headers) {
        return *rejected;
    }
    match shared.snapshots.lock().get(&id) {
        Some(snapshot) if snapshot.files.is_none() => Json(json!({ "status": "deleted" })).into_response(),
        Some(snapshot) => Json(json!({ "status": "complete", "snapshot": snapshot.view })).into_response(),
        None => missing(),
    }
}

/// `POST /v1/devboxes/disk_snapshots/{id}`
pub(super) async fn update(
    State(shared): State<Shared>,
    Path(id): Path<String>,
    headers: HeaderMap,
    Json(note): Json<Note>,
) -> Response {
    if let Err(rejected) = shared.authorised(&headers) {
        return *rejected;
    }
    match shared.snapshots.lock().get_mut(&id).filter(|snapshot| snapshot.files.is_some()) {
        Some(snapshot) => {
            note.write(&mut snapshot.view);
            Json(snapshot.view.clone()).into_response()
        }
        None => missing(),
    }
}

/// `POST /v1/devboxes/disk_snapshots/{id}/delete`
pub(super) async fn delete(State(shared): State<Shared>, Path(id): Path<String>, headers: HeaderMap) -> Response {
    if let Err(rejected) = shared.authorised(&headers) {
        return *rejected;
    }
    match shared.snapshots.lock().get_mut(&id).and_then(|snapshot| snapshot.files.take()) {
        Some(_) => Json(json!({})).into_response(),
        None => missing(),
    }
}

#[cfg(test)]
mod tests {
    use super::metadata_filters;

    #[test]
    fn metadata_filters_are_decoded() {
        let found = metadata_filters("limit=3&metadata%5Ba%20b%5D=c%26d&metadata[e]=f");
        assert_eq!(found, [("a b".to_owned(), "c&d".to_owned()), ("e".to_owned(), "f".to_owned())]);
    }
}
