//! Snapshots: files of a sandbox, used as templates.

use std::collections::{BTreeMap, BTreeSet};

use axum::Json;
use axum::extract::{Path, Query, State};
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse, Response};
use serde::Deserialize;
use serde_json::{Value, json};

use super::control::missing;
use super::{Shared, absent_response, error_response};
use crate::registry::FileSnapshot;

/// Team of all names.
const TEAM: &str = "tidebox";

/// Tag of a name without one.
const TAG: &str = "default";

/// Default number of entries per page.
const PAGE: usize = 100;

/// Snapshots by id, without the tag.
#[derive(Debug, Default)]
pub(crate) struct Snapshots {
    taken: BTreeMap<String, Snapshot>,
    deleted: BTreeSet<String>,
}

#[derive(Debug)]
struct Snapshot {
    files: FileSnapshot,
    sandbox: String,
    /// Name with team and tag.
    name: Option<String>,
}

/// Source of a new sandbox's files.
#[derive(Debug)]
pub(crate) enum Origin {
    /// Tidebox's own files.
    Template,
    /// A snapshot.
    Snapshot(FileSnapshot),
    /// A snapshot that was deleted.
    Deleted,
}

impl Snapshots {
    /// Returns the id of a snapshot by its id or its name, each with or without the tag.
    fn find(&self, reference: &str) -> Option<String> {
        let id = reference.strip_suffix(&format!(":{TAG}")).unwrap_or(reference);
        if self.taken.contains_key(id) {
            return Some(id.to_owned());
        }
        let name = full_name(reference);
        let found = self.taken.iter().find(|(_, snapshot)| snapshot.name.as_ref() == Some(&name));
        found.map(|(id, _)| id.clone())
    }
}

/// Returns a name with team and tag.
fn full_name(name: &str) -> String {
    let name = if name.contains('/') { name.to_owned() } else { format!("{TEAM}/{name}") };
    if name.contains(':') { name } else { format!("{name}:{TAG}") }
}

fn described(id: &str, snapshot: &Snapshot) -> Value {
    let names: Vec<&String> = snapshot.name.iter().collect();
    json!({ "snapshotID": snapshot.name.clone().unwrap_or_else(|| format!("{id}:{TAG}")), "names": names })
}

impl Shared {
    /// Returns the files of a template.
    pub(super) fn origin(&self, template: &str) -> Origin {
        let snapshots = self.snapshots.lock();
        match snapshots.find(template).and_then(|id| snapshots.taken.get(&id)) {
            Some(snapshot) => Origin::Snapshot(snapshot.files.clone()),
            None if snapshots.deleted.contains(template) => Origin::Deleted,
            None => Origin::Template,
        }
    }
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Create {
    name: Option<String>,
    memory: Option<bool>,
}

/// `POST /sandboxes/{id}/snapshots`. Like a snapshot without memory at E2B: processes are not saved.
pub(super) async fn create(
    State(shared): State<Shared>,
    Path(sandbox): Path<String>,
    headers: HeaderMap,
    Json(create): Json<Create>,
) -> Response {
    if let Err(rejected) = shared.authorised(&headers) {
        return *rejected;
    }
    if shared.registry.find(&sandbox).await.is_none() {
        return missing(&sandbox);
    }
    if create.memory == Some(true) {
        return absent_response("snapshots of memory; use the mode \"filesystem\"");
    }
    let files = match shared.registry.take_snapshot(&sandbox) {
        Ok(files) => files,
        Err(error) => return error_response(500, &error.to_string()),
    };
    let name = create.name.map(|name| full_name(&name));
    let mut snapshots = shared.snapshots.lock();
    // The newest snapshot with a name takes the name.
    for snapshot in snapshots.taken.values_mut() {
        if name.is_some() && snapshot.name == name {
            snapshot.name = None;
        }
    }
    let id: String = (0..20).map(|_| fastrand::lowercase()).collect();
    let snapshot = Snapshot { files, sandbox, name };
    let view = described(&id, &snapshot);
    snapshots.taken.insert(id, snapshot);
    (StatusCode::CREATED, Json(view)).into_response()
}

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(super) struct List {
    #[serde(rename = "sandboxID")]
    sandbox_id: Option<String>,
    name: Option<String>,
    limit: Option<usize>,
    next_token: Option<String>,
}

/// `GET /snapshots`
pub(super) async fn list(State(shared): State<Shared>, Query(list): Query<List>, headers: HeaderMap) -> Response {
    if let Err(rejected) = shared.authorised(&headers) {
        return *rejected;
    }
    let snapshots = shared.snapshots.lock();
    let name = list.name.as_deref().map(full_name);
    let is_wanted = |id: &str, snapshot: &Snapshot| {
        list.sandbox_id.as_ref().is_none_or(|sandbox| snapshot.sandbox == *sandbox)
            && name.as_ref().is_none_or(|name| snapshot.name.as_ref() == Some(name))
            && list.next_token.as_deref().is_none_or(|last| id > last)
    };
    let mut found: Vec<_> = snapshots.taken.iter().filter(|(id, snapshot)| is_wanted(id, snapshot)).collect();
    let limit = list.limit.unwrap_or(PAGE).clamp(1, PAGE);
    let more = found.len() > limit;
    found.truncate(limit);
    let views: Vec<Value> = found.iter().map(|(id, snapshot)| described(id, snapshot)).collect();
    match found.last().filter(|_| more) {
        Some((last, _)) => ([("x-next-token", (*last).clone())], Json(views)).into_response(),
        None => Json(views).into_response(),
    }
}

/// `DELETE /templates/{id}`
pub(super) async fn delete(State(shared): State<Shared>, Path(id): Path<String>, headers: HeaderMap) -> Response {
    if let Err(rejected) = shared.authorised(&headers) {
        return *rejected;
    }
    let mut snapshots = shared.snapshots.lock();
    let found = snapshots.find(&id).and_then(|id| Some((snapshots.taken.remove(&id)?, id)));
    let Some((snapshot, found)) = found else {
        return error_response(404, &format!("template '{id}' not found"));
    };
    // Later references to it must fail.
    snapshots.deleted.extend(snapshot.name.into_iter().chain([id, format!("{found}:{TAG}"), found]));
    StatusCode::NO_CONTENT.into_response()
}

#[cfg(test)]
mod tests {
    use super::full_name;

    #[test]
    fn a_name_has_a_team_and_a_tag() {
        assert_eq!(full_name("one"), "tidebox/one:default");
        assert_eq!(full_name("one:v2"), "tidebox/one:v2");
        assert_eq!(full_name("team/one:v2"), "team/one:v2");
    }
}
