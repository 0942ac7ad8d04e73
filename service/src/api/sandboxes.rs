//! Creating, listing and deleting sandboxes.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use axum::Json;
use axum::extract::rejection::{JsonRejection, QueryRejection};
use axum::extract::{Path, Query, State};
use axum::http::StatusCode;
use axum::routing::{get, post};
use tidebox_emulators::{FileSnapshot, NewSandbox, SandboxRecord, random_token};

use super::auth::Caller;
use super::error::{ApiError, ApiResult};
use super::openapi::{Api, Operation};
use super::values::{Amount, CreateSandbox, SandboxList, SandboxValue, UsageValue, seconds};
use crate::service::Service;

/// Maximum number of labels of a sandbox, and of their bytes: they stay in memory.
const MAX_LABELS: usize = 64;
const MAX_LABEL_BYTES: usize = 4096;

pub(super) fn add(api: &mut Api) {
    let operations = vec![
        Operation::new("post", "Creates a sandbox").json::<CreateSandbox>(api).returns::<SandboxValue>(
            api,
            201,
            "The sandbox.",
        ),
        Operation::new("get", "Lists the sandboxes of the tenant")
            .query("label", "string", false, "NAME=VALUE, several times: only sandboxes with all of them")
            .returns::<SandboxList>(api, 200, "The sandboxes."),
    ];
    api.route("/v1/sandboxes", operations, post(create).get(list));
    let operations =
        vec![
            Operation::new("get", "Returns a sandbox").returns::<SandboxValue>(api, 200, "The sandbox."),
            Operation::new("delete", "Closes a sandbox and deletes its files; a missing one is no error")
                .returns_media(204, "It does not exist any more.", "", serde_json::Value::Null),
        ];
    api.route("/v1/sandboxes/{id}", operations, get(info).delete(remove));
    let fork = Operation::new("post", "Creates a sandbox with the current files of another")
        .json::<CreateSandbox>(api)
        .returns::<SandboxValue>(api, 201, "The new sandbox.");
    api.route("/v1/sandboxes/{id}/fork", vec![fork], post(fork_sandbox));
    let usage =
        Operation::new("get", "Returns quotas and usage of the tenant").returns::<UsageValue>(api, 200, "They.");
    api.route("/v1/usage", vec![usage], get(usage_of_tenant));
}

impl Caller {
    /// Creates a sandbox with initial files.
    pub(super) async fn create(
        &self,
        request: CreateSandbox,
        files: Option<FileSnapshot>,
    ) -> ApiResult<(String, SandboxRecord)> {
        let bytes: usize = request.labels.iter().map(|(name, value)| name.len() + value.len()).sum();
        if request.labels.len() > MAX_LABELS || bytes > MAX_LABEL_BYTES {
            let message = format!("too many labels: a sandbox has at most {MAX_LABELS} with {MAX_LABEL_BYTES} bytes");
            return Err(ApiError::invalid(message));
        }
        let snapshot = match request.snapshot {
            Some(id) => Some(self.account.find_snapshot(&id)?),
            None => files,
        };
        let lifetime = request.lifetime_seconds.map(|value| seconds("lifetime_seconds", value)).transpose()?;
        let new = NewSandbox {
            env: request.env.into_iter().collect(),
            user: None,
            snapshot,
            memory_bytes: request.memory_bytes,
            ..NewSandbox::default()
        };
        let id = self.registry.draw_id(|| Ok(format!("sb-{}", random_token()?)))?;
        let record = self.registry.create_from(id.clone(), request.labels, new).await?;
        if let Some(end) = lifetime.and_then(|lifetime| Instant::now().checked_add(lifetime)) {
            self.registry.update(&id, |record| record.expires_at = Some(end));
        }
        self.notes.set_sandbox(&id);
        let record = self.registry.find(&id).await.unwrap_or(record);
        Ok((id, record))
    }
}

fn describe(service: &Service, caller: &Caller, id: String, record: &SandboxRecord) -> SandboxValue {
    let age = record.created_at.elapsed();
    let until = record.expires_at.map(|end| end.saturating_duration_since(Instant::now()));
    let idle = record.last_used.map_or_else(|| service.idle_time(&*record.sandbox), |used| used.elapsed());
    let lifetime = caller.account.quotas().lifetime.map(|lifetime| lifetime.saturating_sub(age));
    SandboxValue {
        id,
        labels: record.labels.clone(),
        age_seconds: age.as_secs_f64(),
        idle_seconds: idle.as_secs_f64(),
        expires_in_seconds: until.into_iter().chain(lifetime).min().map(|time| time.as_secs_f64()),
    }
}

type Created = (StatusCode, Json<SandboxValue>);

async fn create(
    State(service): State<Service>,
    caller: Caller,
    body: Result<Json<CreateSandbox>, JsonRejection>,
) -> ApiResult<Created> {
    let Json(request) = body?;
    let (id, record) = caller.create(request, None).await?;
    Ok((StatusCode::CREATED, Json(describe(&service, &caller, id, &record))))
}

async fn fork_sandbox(
    State(service): State<Service>,
    caller: Caller,
    Path(id): Path<String>,
    body: Result<Json<CreateSandbox>, JsonRejection>,
) -> ApiResult<Created> {
    let Json(request) = body?;
    if request.snapshot.is_some() {
        return Err(ApiError::invalid(
            "a fork has the files of its sandbox; create a sandbox from the snapshot instead",
        ));
    }
    caller.sandbox(&id).await?;
    let files = caller.registry.take_snapshot(&id)?;
    let (id, record) = caller.create(request, Some(files)).await?;
    Ok((StatusCode::CREATED, Json(describe(&service, &caller, id, &record))))
}

async fn list(
    State(service): State<Service>,
    caller: Caller,
    query: Result<Query<Vec<(String, String)>>, QueryRejection>,
) -> ApiResult<Json<SandboxList>> {
    let Query(pairs) = query?;
    let mut labels = BTreeMap::new();
    for (name, value) in pairs {
        let label = (name == "label").then(|| value.split_once('=')).flatten();
        let (name, value) = label.ok_or_else(|| {
            ApiError::invalid(format!("the query has {name:?}; expected label=NAME%3DVALUE, several times"))
        })?;
        labels.insert(name.to_owned(), value.to_owned());
    }
    let sandboxes = caller.registry.list(&labels).await;
    let sandboxes = sandboxes.into_iter().map(|(id, record)| describe(&service, &caller, id, &record)).collect();
    Ok(Json(SandboxList { sandboxes }))
}

async fn info(State(service): State<Service>, caller: Caller, Path(id): Path<String>) -> ApiResult<Json<SandboxValue>> {
    let record = caller.sandbox(&id).await?;
    Ok(Json(describe(&service, &caller, id, &record)))
}

async fn remove(caller: Caller, Path(id): Path<String>) -> StatusCode {
    caller.registry.close(&id).await;
    StatusCode::NO_CONTENT
}

async fn usage_of_tenant(State(service): State<Service>, caller: Caller) -> Json<UsageValue> {
    let (quotas, usage) = (caller.account.quotas(), caller.account.usage());
    // Precise below 2^53.
    let amount = |used: f64, limit: Option<u64>| Amount { used, limit };
    let time = |used: Duration, limit: Option<Duration>| amount(used.as_secs_f64(), limit.map(|limit| limit.as_secs()));
    std::future::ready(Json(UsageValue {
        tenant: caller.account.name.clone(),
        sandboxes: amount(usage.sandboxes as f64, quotas.sandboxes),
        memory_bytes: amount(usage.memory_bytes as f64, quotas.memory_bytes),
        cpu_seconds_per_hour: time(usage.cpu_hour, quotas.cpu_per_hour),
        cpu_seconds_total: time(usage.cpu_total, quotas.cpu_total),
        egress: quotas.egress,
        idle_seconds: quotas.idle.or(service.0.idle).map(|time| time.as_secs()),
        lifetime_seconds: quotas.lifetime.map(|time| time.as_secs()),
    }))
    .await
}
