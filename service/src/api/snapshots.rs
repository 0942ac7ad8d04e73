//! Snapshots of files. They stay in memory, and outlive their sandbox but not the service.

use std::time::SystemTime;

use axum::Json;
use axum::extract::Path;
use axum::extract::rejection::JsonRejection;
use axum::http::StatusCode;
use axum::routing::{delete, get, post};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;
use tidebox_emulators::random_token;

use super::auth::Caller;
use super::error::ApiResult;
use super::openapi::{Api, Operation};
use super::values::{Empty, since_epoch};
use crate::account::SavedSnapshot;

/// A snapshot.
#[derive(Debug, JsonSchema, Serialize)]
struct SnapshotValue {
    id: String,
    /// The sandbox that it was taken of.
    sandbox: String,
    /// Seconds since 1970.
    created: f64,
}

/// Snapshots of the tenant, by id.
#[derive(Debug, JsonSchema, Serialize)]
struct SnapshotList {
    snapshots: Vec<SnapshotValue>,
}

/// The snapshot to restore.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Restore {
    /// Its id.
    snapshot: String,
}

pub(super) fn add(api: &mut Api) {
    let operation = Operation::new("post", "Takes a snapshot of the files and the shell session")
        .returns::<SnapshotValue>(api, 201, "The snapshot.");
    api.route("/v1/sandboxes/{id}/snapshots", vec![operation], post(take));
    let operation = Operation::new("post", "Restores a snapshot; running commands are stopped")
        .json::<Restore>(api)
        .returns::<Empty>(api, 200, "It was restored.");
    api.route("/v1/sandboxes/{id}/restore", vec![operation], post(restore));
    let operation =
        Operation::new("get", "Lists the snapshots of the tenant").returns::<SnapshotList>(api, 200, "They.");
    api.route("/v1/snapshots", vec![operation], get(list));
    let operation = Operation::new("delete", "Deletes a snapshot; a missing one is no error").returns_media(
        204,
        "It does not exist any more.",
        "",
        json!(null),
    );
    api.route("/v1/snapshots/{snapshot}", vec![operation], delete(remove));
}

async fn take(caller: Caller, Path(id): Path<String>) -> ApiResult<(StatusCode, Json<SnapshotValue>)> {
    caller.sandbox(&id).await?;
    let snapshot = format!("sn-{}", random_token()?);
    let (files, created) = (caller.registry.take_snapshot(&id)?, SystemTime::now());
    caller.account.save_snapshot(snapshot.clone(), SavedSnapshot { sandbox: id.clone(), created, files })?;
    let value = SnapshotValue { id: snapshot, sandbox: id, created: since_epoch(created) };
    Ok((StatusCode::CREATED, Json(value)))
}

async fn restore(
    caller: Caller,
    Path(id): Path<String>,
    body: Result<Json<Restore>, JsonRejection>,
) -> ApiResult<Json<Empty>> {
    let Json(Restore { snapshot }) = body?;
    caller.sandbox(&id).await?;
    caller.registry.restore_snapshot(&id, &caller.account.find_snapshot(&snapshot)?)?;
    Ok(Json(Empty {}))
}

async fn list(caller: Caller) -> Json<SnapshotList> {
    let snapshots = caller.account.snapshots.lock();
    let values = snapshots.iter().map(|(id, snapshot)| SnapshotValue {
        id: id.clone(),
        sandbox: snapshot.sandbox.clone(),
        created: since_epoch(snapshot.created),
    });
    Json(SnapshotList { snapshots: values.collect() })
}

async fn remove(caller: Caller, Path(id): Path<String>) -> StatusCode {
    caller.account.snapshots.lock().remove(&id);
    StatusCode::NO_CONTENT
}
