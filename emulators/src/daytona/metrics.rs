//! Resources of a sandbox.

use std::time::SystemTime;

use axum::Json;
use axum::extract::{Path, State};
use axum::http::HeaderMap;
use axum::response::{IntoResponse, Response};
use serde_json::{Value, json};

use super::control::missing;
use super::request::SandboxRef;
use super::{Shared, error_response};
use crate::entries::{millis, timestamp_millis, usage};

/// `GET /system/metrics`
pub(super) async fn latest(SandboxRef(sandbox): SandboxRef) -> Response {
    let now = SystemTime::now();
    match usage(&sandbox).await {
        Ok(usage) => Json(json!({
            "cpuCount": usage.processors,
            // Processor time is not measured.
            "cpuUsedPct": 0,
            "diskTotal": usage.disk_total,
            "diskUsed": usage.disk_used,
            "diskFree": usage.disk_total.saturating_sub(usage.disk_used),
            "memTotal": usage.memory_total,
            "memUsed": usage.memory_used,
            "memCache": usage.memory_cache,
            "timestamp": timestamp_millis(now),
            "timestampUnix": millis(now) / 1000,
        }))
        .into_response(),
        Err(error) => error_response(500, "INTERNAL", &error),
    }
}

/// `GET /sandbox/{id}/telemetry/metrics`: one sample, taken now.
pub(super) async fn history(State(shared): State<Shared>, Path(id): Path<String>, headers: HeaderMap) -> Response {
    if let Err(rejected) = shared.authorised(&headers) {
        return *rejected;
    }
    let Some((_, sandbox)) = shared.resolve(&id).await else { return missing(&id) };
    let usage = match usage(&sandbox).await {
        Ok(usage) => usage,
        Err(error) => return error_response(500, "INTERNAL", &error),
    };
    let now = timestamp_millis(SystemTime::now());
    let series: Vec<Value> = [
        ("daytona.sandbox.cpu.limit", usage.processors),
        ("daytona.sandbox.cpu.utilization", 0),
        ("daytona.sandbox.memory.usage", usage.memory_used),
        ("daytona.sandbox.memory.limit", usage.memory_total),
        ("daytona.sandbox.memory.cache", usage.memory_cache),
        ("daytona.sandbox.filesystem.usage", usage.disk_used),
        ("daytona.sandbox.filesystem.total", usage.disk_total),
    ]
    .into_iter()
    .map(|(name, value)| json!({ "metricName": name, "dataPoints": [{ "timestamp": now, "value": value }] }))
    .collect();
    Json(json!({ "series": series })).into_response()
}
