//! Snapshots of the files of a sandbox. A snapshot is an image.

use axum::body::Bytes;
use axum::extract::State;
use axum::http::HeaderMap;
use axum::response::Response;

use super::Shared;
use super::grpc::{RpcResult, code, missing_feature, read, status, unary};
use super::messages::{SnapshotFilesystemRequest, SnapshotFilesystemResponse};
use crate::registry::FileSnapshot;

/// Letters of an image id.
const ID_LETTERS: usize = 22;

/// A snapshot, and the id of the request that took it.
#[derive(Clone, Debug)]
pub(super) struct SnapshotImage {
    request_id: String,
    pub(super) files: FileSnapshot,
}

/// `TaskSnapshotFilesystem`
pub(super) async fn filesystem(State(shared): State<Shared>, headers: HeaderMap, body: Bytes) -> Response {
    let reply = async {
        let request: SnapshotFilesystemRequest = read(&body)?;
        if !request.container_id.is_empty() {
            return Err(missing_feature("sidecars"));
        }
        let (id, _) = shared.authorized_sandbox(&headers, &request.task_id).await?;
        let image_id = take(&shared, &id, request.snapshot_id)?;
        Ok(SnapshotFilesystemResponse { image_id })
    };
    unary(reply.await)
}

/// Takes a snapshot and returns its image id. A second request with the same id, unless empty, takes no second one.
pub(super) fn take(shared: &Shared, sandbox_id: &str, request_id: String) -> RpcResult<String> {
    let known = |image: &SnapshotImage| !request_id.is_empty() && image.request_id == request_id;
    let before = shared.state().snapshots.iter().find(|(_, image)| known(image)).map(|(id, _)| id.clone());
    if let Some(image_id) = before {
        return Ok(image_id);
    }
    let taken = shared.registry.take_snapshot(sandbox_id);
    let files = taken.map_err(|error| status(code::INTERNAL, error.to_string()))?;
    let random: String = (0..ID_LETTERS).map(|_| fastrand::alphanumeric()).collect();
    let image_id = format!("im-{random}");
    shared.state().snapshots.insert(image_id.clone(), SnapshotImage { request_id, files });
    Ok(image_id)
}
