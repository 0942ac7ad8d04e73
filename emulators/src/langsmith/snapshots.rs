//! Snapshots: images by name and tag, and the files of a sandbox at one time. Images are not built: a sandbox from an
//! image has Tidebox's own files.

use std::collections::BTreeMap;
use std::time::SystemTime;

use axum::Json;
use axum::extract::{Path, Query, State};
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse, Response};
use serde::Deserialize;
use serde_json::{Value, json};

use super::control::uuid;
use super::{Shared, absent_response, error_response};
use crate::entries::timestamp_millis;
use crate::registry::FileSnapshot;

/// Default capacity in bytes.
const DEFAULT_BYTES: u64 = 16 << 30;

/// Tag of a snapshot whose request has none.
const LATEST: &str = "latest";

/// Default number of snapshots per page.
const PAGE: usize = 50;

/// One snapshot.
#[derive(Clone, Debug)]
pub(crate) struct Snapshot {
    name: String,
    tags: Vec<String>,
    docker_image: Option<String>,
    source_sandbox_id: Option<String>,
    bytes: u64,
    created_at: SystemTime,
    /// Captured files. `None` is Tidebox's own image.
    files: Option<FileSnapshot>,
}

impl Snapshot {
    fn to_json(&self, id: &str) -> Value {
        let created_at = timestamp_millis(self.created_at);
        json!({
            "id": id,
            "name": self.name,
            "status": "ready",
            "status_message": null,
            "docker_image": self.docker_image,
            "source_sandbox_id": self.source_sandbox_id,
            "fs_capacity_bytes": self.bytes,
            "tags": self.tags,
            "created_at": created_at,
            "updated_at": created_at,
        })
    }

    fn has_tag(&self, tag: &str) -> bool {
        self.tags.iter().any(|own| own == tag)
    }
}

/// The predefined snapshot.
pub(super) fn first() -> BTreeMap<String, Snapshot> {
    let snapshot = Snapshot {
        name: "default".to_owned(),
        tags: vec![LATEST.to_owned()],
        docker_image: None,
        source_sandbox_id: None,
        bytes: DEFAULT_BYTES,
        created_at: SystemTime::now(),
        files: None,
    };
    BTreeMap::from([(uuid(), snapshot)])
}

impl Shared {
    /// Returns the snapshot with this id, `name:tag` or name, and its files; `None` selects the predefined one.
    pub(super) fn snapshot(&self, reference: Option<&str>) -> Option<(String, Option<FileSnapshot>)> {
        let snapshots = self.snapshots();
        let wanted = reference.unwrap_or("default");
        let found = |id: &String, snapshot: &Snapshot| (id.clone(), snapshot.files.clone());
        if let Some(snapshot) = snapshots.get(wanted) {
            return Some(found(&wanted.to_owned(), snapshot));
        }
        let (name, tag) = wanted.split_once(':').unwrap_or((wanted, LATEST));
        let tagged = snapshots.iter().find(|(_, snapshot)| snapshot.name == name && snapshot.has_tag(tag));
        // A name without a tag falls back to the newest snapshot without tags.
        let untagged = snapshots.iter().filter(|(_, snapshot)| snapshot.name == name && snapshot.tags.is_empty());
        let newest = untagged.max_by_key(|(_, snapshot)| snapshot.created_at).filter(|_| !wanted.contains(':'));
        tagged.or(newest).map(|(id, snapshot)| found(id, snapshot))
    }

    /// Adds a snapshot and moves its tag to it.
    fn add_snapshot(&self, snapshot: Snapshot) -> Value {
        let id = uuid();
        let mut snapshots = self.snapshots();
        for other in snapshots.values_mut().filter(|other| other.name == snapshot.name) {
            other.tags.retain(|tag| !snapshot.has_tag(tag));
        }
        let described = snapshot.to_json(&id);
        snapshots.insert(id, snapshot);
        described
    }
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct List {
    name_contains: Option<String>,
    limit: Option<usize>,
    offset: Option<usize>,
}

/// `GET /snapshots`
pub(super) async fn list(State(shared): State<Shared>, Query(list): Query<List>, headers: HeaderMap) -> Response {
    if let Err(rejected) = shared.authorised(&headers) {
        return *rejected;
    }
    let part = list.name_contains.unwrap_or_default().to_lowercase();
    let all = shared.snapshots();
    let named = all.iter().filter(|(_, snapshot)| snapshot.name.to_lowercase().contains(&part));
    let page = named.skip(list.offset.unwrap_or_default()).take(list.limit.unwrap_or(PAGE));
    let snapshots: Vec<Value> = page.map(|(id, snapshot)| snapshot.to_json(id)).collect();
    Json(json!({ "snapshots": snapshots, "items": snapshots, "next_cursor": null })).into_response()
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Create {
    name: Option<String>,
    tag: Option<String>,
    docker_image: Option<String>,
    fs_capacity_bytes: Option<u64>,
}

impl Create {
    /// Returns the snapshot, or an error response. The name may contain the tag.
    fn into_snapshot(self, files: Option<FileSnapshot>) -> Result<Snapshot, Box<Response>> {
        let Some(name) = self.name else {
            return Err(Box::new(error_response(422, "InvalidRequest", "a snapshot needs a name")));
        };
        let (name, tag) = match name.split_once(':') {
            Some((name, tag)) => (name.to_owned(), tag.to_owned()),
            None => (name, self.tag.unwrap_or_else(|| LATEST.to_owned())),
        };
        Ok(Snapshot {
            name,
            tags: vec![tag],
            docker_image: self.docker_image,
            source_sandbox_id: None,
            bytes: self.fs_capacity_bytes.unwrap_or(DEFAULT_BYTES),
            created_at: SystemTime::now(),
            files,
        })
    }
}

/// `POST /snapshots`: ready immediately.
pub(super) async fn create(State(shared): State<Shared>, headers: HeaderMap, Json(create): Json<Create>) -> Response {
    if let Err(rejected) = shared.authorised(&headers) {
        return *rejected;
    }
    match create.into_snapshot(None) {
        Ok(snapshot) => (StatusCode::CREATED, Json(shared.add_snapshot(snapshot))).into_response(),
        Err(rejected) => *rejected,
    }
}

/// `POST /boxes/{name}/snapshot`: the files of a sandbox, ready immediately.
pub(super) async fn capture(
    State(shared): State<Shared>,
    Path(text): Path<String>,
    headers: HeaderMap,
    Json(create): Json<Create>,
) -> Response {
    let (id, _) = match shared.one(&headers, &text).await {
        Ok(found) => found,
        Err(rejected) => return *rejected,
    };
    if create.docker_image.is_some() {
        return absent_response("snapshots of Docker images inside a sandbox");
    }
    let files = match shared.registry.take_snapshot(&id) {
        Ok(files) => files,
        Err(error) => return error_response(500, "SnapshotError", &error.to_string()),
    };
    match create.into_snapshot(Some(files)) {
        Ok(snapshot) => {
            let snapshot = Snapshot { source_sandbox_id: Some(id), ..snapshot };
            (StatusCode::CREATED, Json(shared.add_snapshot(snapshot))).into_response()
        }
        Err(rejected) => *rejected,
    }
}

/// `GET /snapshots/{id}`
pub(super) async fn get(State(shared): State<Shared>, Path(id): Path<String>, headers: HeaderMap) -> Response {
    if let Err(rejected) = shared.authorised(&headers) {
        return *rejected;
    }
    let found = shared.snapshot(Some(&id)).map(|(id, _)| id);
    match found.and_then(|id| shared.snapshots().get(&id).map(|snapshot| snapshot.to_json(&id))) {
        Some(snapshot) => Json(snapshot).into_response(),
        None => error_response(404, "NotFound", "Snapshot not found"),
    }
}

/// `GET /snapshots-by-name/{name}`: its tags.
pub(super) async fn tags(State(shared): State<Shared>, Path(name): Path<String>, headers: HeaderMap) -> Response {
    if let Err(rejected) = shared.authorised(&headers) {
        return *rejected;
    }
    let snapshots = shared.snapshots();
    let named: Vec<_> = snapshots.iter().filter(|(_, snapshot)| snapshot.name == name).collect();
    if named.is_empty() {
        return error_response(404, "NotFound", "Snapshot not found");
    }
    let entries = named
        .iter()
        .flat_map(|(id, snapshot)| snapshot.tags.iter().map(move |tag| json!({ "tag": tag, "snapshot_id": id })));
    Json(json!({ "name": name, "tags": entries.collect::<Vec<_>>() })).into_response()
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
