//! Network policies. They are stored and returned, but not enforced: local sandboxes have no network.

use std::time::SystemTime;

use axum::Json;
use axum::extract::{Path, Query, State};
use axum::http::HeaderMap;
use axum::response::{IntoResponse, Response};
use serde::Deserialize;
use serde_json::{Value, json};

use super::{Shared, error_response, id};
use crate::entries::millis;

/// `POST /v1/network-policies`
pub(super) async fn create(State(shared): State<Shared>, headers: HeaderMap, Json(request): Json<Value>) -> Response {
    if let Err(rejected) = shared.authorised(&headers) {
        return *rejected;
    }
    let Some(name) = request["name"].as_str() else { return error_response(400, "bad_request", "name is required") };
    let mut policies = shared.policies.lock();
    if policies.values().any(|policy| policy["name"] == name) {
        return error_response(409, "conflict", "A network policy of this name already exists");
    }
    let id = id("np");
    let now = millis(SystemTime::now());
    let policy = json!({
        "id": id,
        "name": name,
        "description": request["description"],
        "create_time_ms": now,
        "update_time_ms": now,
        "egress": {
            "allow_all": request["allow_all"].as_bool().unwrap_or(false),
            "allow_devbox_to_devbox": false,
            "allow_mcp_gateway": false,
            "allow_runloop_mirrors": false,
            "allowed_hostnames": if request["allowed_hostnames"].is_array() { request["allowed_hostnames"].clone() } else { json!([]) },
            "allowed_cidrs": if request["allowed_cidrs"].is_array() { request["allowed_cidrs"].clone() } else { json!([]) },
        },
    });
    policies.insert(id, policy.clone());
    Json(policy).into_response()
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct List {
    name: Option<String>,
}

/// `GET /v1/network-policies`
pub(super) async fn list(State(shared): State<Shared>, Query(list): Query<List>, headers: HeaderMap) -> Response {
    if let Err(rejected) = shared.authorised(&headers) {
        return *rejected;
    }
    let policies = shared.policies.lock();
    let holds = |policy: &&Value| {
        let wanted = list.name.as_deref().unwrap_or_default();
        policy["name"].as_str().is_some_and(|name| name.contains(wanted))
    };
    let found: Vec<&Value> = policies.values().filter(holds).collect();
    Json(json!({ "network_policies": found, "has_more": false, "total_count": found.len() })).into_response()
}

/// `GET /v1/network-policies/{id}`
pub(super) async fn info(State(shared): State<Shared>, Path(id): Path<String>, headers: HeaderMap) -> Response {
    if let Err(rejected) = shared.authorised(&headers) {
        return *rejected;
    }
    match shared.policies.lock().get(&id) {
        Some(policy) => Json(policy).into_response(),
        None => error_response(404, "not_found", "Network policy not found"),
    }
}

/// `POST /v1/network-policies/{id}`: replaces the fields that the request has.
pub(super) async fn update(
    State(shared): State<Shared>,
    Path(id): Path<String>,
    headers: HeaderMap,
    Json(request): Json<Value>,
) -> Response {
    if let Err(rejected) = shared.authorised(&headers) {
        return *rejected;
    }
    let mut policies = shared.policies.lock();
    let Some(policy) = policies.get_mut(&id) else {
        return error_response(404, "not_found", "Network policy not found");
    };
    for field in ["name", "description"] {
        if !request[field].is_null() {
            policy[field] = request[field].clone();
        }
    }
    for field in ["allow_all", "allowed_hostnames", "allowed_cidrs"] {
        if !request[field].is_null() {
            policy["egress"][field] = request[field].clone();
        }
    }
    policy["update_time_ms"] = json!(millis(SystemTime::now()));
    Json(policy.clone()).into_response()
}

/// `POST /v1/network-policies/{id}/delete`
pub(super) async fn delete(State(shared): State<Shared>, Path(id): Path<String>, headers: HeaderMap) -> Response {
    if let Err(rejected) = shared.authorised(&headers) {
        return *rejected;
    }
    match shared.policies.lock().remove(&id) {
        Some(policy) => Json(policy).into_response(),
        None => error_response(404, "not_found", "Network policy not found"),
    }
}
