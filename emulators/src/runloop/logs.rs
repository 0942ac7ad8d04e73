//! Log of a devbox: its commands, their output and their exit codes.

use std::time::SystemTime;

use axum::Json;
use axum::extract::{Path, Query, State};
use axum::http::HeaderMap;
use axum::response::{IntoResponse, Response};
use serde::Deserialize;
use serde_json::{Value, json};

use super::executions::Execution;
use super::{Shared, error_response};
use crate::entries::millis;

/// Maximum number of entries of a response, the last ones.
const MAX_ENTRIES: usize = 10_000;

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct List {
    execution_id: Option<String>,
}

/// `GET /v1/devboxes/{id}/logs`
pub(super) async fn list(
    State(shared): State<Shared>,
    Path(id): Path<String>,
    Query(list): Query<List>,
    headers: HeaderMap,
) -> Response {
    if let Err(rejected) = shared.authorised(&headers) {
        return *rejected;
    }
    if !shared.known.lock().contains_key(&id) {
        return error_response(404, "not_found", "Devbox not found");
    }
    let executions = shared.executions.list(&id);
    let wanted = executions.iter().filter(|one| list.execution_id.as_ref().is_none_or(|wanted| one.id == *wanted));
    let mut entries: Vec<(SystemTime, Value)> = wanted.flat_map(|execution| log(execution)).collect();
    entries.sort_by_key(|(at, _)| *at);
    let skipped = entries.len().saturating_sub(MAX_ENTRIES);
    let logs: Vec<Value> = entries.into_iter().skip(skipped).map(|(_, entry)| entry).collect();
    Json(json!({ "logs": logs })).into_response()
}

fn log(execution: &Execution) -> Vec<(SystemTime, Value)> {
    let entry = |at: SystemTime, field: &str, value: Value| {
        let mut entry = json!({
            "level": "info",
            "source": "exec",
            "timestamp_ms": millis(at),
            "cmd_id": execution.id,
        });
        entry[field] = value;
        (at, entry)
    };
    let progress = execution.progress.lock();
    let mut entries = vec![entry(execution.started_at, "cmd", json!(execution.command))];
    entries.extend(progress.lines.iter().map(|(at, line)| entry(*at, "message", json!(line))));
    if let (Some(at), Some(code)) = (progress.ended_at, progress.exit_status) {
        entries.push(entry(at, "exit_code", json!(code)));
    }
    entries
}
