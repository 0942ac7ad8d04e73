//! Sandboxes: creation, lookup, listing and termination.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use axum::body::Bytes;
use axum::extract::State;
use axum::http::HeaderMap;
use axum::response::Response;
use tidebox_core::ExecuteRequest;
use tidebox_core::shell_backend::quote;
use tidebox_remote_adapters::modal::messages::*;
use tidebox_remote_adapters::modal::wire;

use super::grpc::{RpcResult, code, missing_feature, read, status, unary};
use super::messages::{
    CreateExtras, CreateResponse, HandleMetadata, OlderCreateRequest, OlderCreateResponse, SandboxSetNameRequest,
    WaitResponse,
};
use super::{CHECK_INTERVAL, Shared, USER, older, tunnels};
use crate::registry::{NewSandbox, SandboxRecord};
use crate::tenants::{QUOTA_STATUS, creation_status};

/// Entries per page.
const PAGE: usize = 100;

/// Default lifetime of a sandbox.
const DEFAULT_SECONDS: u32 = 300;

/// Maximum time that one call waits for an end.
const MAX_WAIT: Duration = Duration::from_secs(55);

/// Type of the JavaScript client, as sent in `x-modal-client-type`.
const JAVASCRIPT: &[u8] = b"8";

/// Result of a sandbox.
#[derive(Clone, Copy, Debug)]
pub(super) struct EndedSandbox {
    pub(super) status: i32,
    pub(super) exitcode: i32,
}

/// Exit code after SIGKILL.
const KILLED: i32 = 137;

/// Result status of a terminated sandbox.
const TERMINATED: i32 = 3;
const TIMED_OUT: i32 = 4;

/// Returns the task id of a sandbox.
pub(super) fn task_of(sandbox_id: &str) -> String {
    sandbox_id.replacen("sb-", "ta-", 1)
}

/// Returns the sandbox of a task.
pub(super) fn sandbox_of(task_id: &str) -> String {
    task_id.replacen("ta-", "sb-", 1)
}

impl Shared {
    /// The JavaScript client accepts only `https` here, but connects without TLS if the control plane is local.
    pub(super) fn access(&self, headers: &HeaderMap, sandbox: &SandboxRecord) -> RouterAccess {
        let is_javascript = headers.get("x-modal-client-type").is_some_and(|kind| kind.as_bytes() == JAVASCRIPT);
        let url = match self.url.strip_prefix("http://") {
            Some(address) if is_javascript => format!("https://{address}"),
            _ => self.url.to_string(),
        };
        RouterAccess { jwt: sandbox.token.clone(), url }
    }

    /// Returns the result of a sandbox, if it has ended; an error if it never existed.
    fn result_of(&self, sandbox_id: &str) -> RpcResult<GenericResult> {
        let known = self.state();
        if !known.sandboxes.contains(sandbox_id) {
            return Err(status(code::NOT_FOUND, format!("Sandbox '{sandbox_id}' not found")));
        }
        let timed_out = EndedSandbox { status: TIMED_OUT, exitcode: KILLED };
        let EndedSandbox { status, exitcode } = known.ended.get(sandbox_id).copied().unwrap_or(timed_out);
        Ok(GenericResult { status, exitcode, ..GenericResult::default() })
    }
}

/// `SandboxCreateV2`
pub(super) async fn create(State(shared): State<Shared>, headers: HeaderMap, body: Bytes) -> Response {
    unary(create_sandbox(&shared, &headers, &body, BTreeMap::new(), false).await)
}

/// `SandboxCreate`
pub(super) async fn create_older(State(shared): State<Shared>, headers: HeaderMap, body: Bytes) -> Response {
    let reply = async {
        let definition = read::<OlderCreateRequest>(&body)?.definition.unwrap_or_default();
        older::check_definition(&definition)?;
        let mut env = shared.secret_variables(&definition.secret_ids);
        env.extend(definition.environment_variables.unwrap_or_default().contents);
        let created = create_sandbox(&shared, &headers, &body, env, true).await?;
        Ok(OlderCreateResponse { sandbox_id: created.sandbox_id, metadata: created.metadata })
    };
    unary(reply.await)
}

/// Creates a sandbox. Both APIs number these fields of their requests alike.
async fn create_sandbox(
    shared: &Shared,
    headers: &HeaderMap,
    body: &Bytes,
    mut env: BTreeMap<String, String>,
    is_older: bool,
) -> RpcResult<CreateResponse> {
    shared.authorised_with_token(headers)?;
    let request: SandboxCreateV2Request = read(body)?;
    let extras = read::<CreateExtras>(body)?.definition.unwrap_or_default();
    if !extras.volume_mounts.is_empty() || !extras.cloud_bucket_mounts.is_empty() {
        return Err(missing_feature("volumes and bucket mounts"));
    }
    if extras.pty_info.as_ref().is_some_and(|pty| pty.enabled) {
        return Err(missing_feature("terminals (PTY)"));
    }
    let definition = request.definition.unwrap_or_default();
    let ports = tunnels::checked_ports(definition.open_ports.clone())?;
    let app = shared.state().apps.iter().find(|(_, id)| **id == request.app_id).map(|(name, _)| name.clone());
    let app = app.ok_or_else(|| status(code::NOT_FOUND, format!("App '{}' not found", request.app_id)))?;
    if !shared.has_image(&definition.image_id) {
        return Err(status(code::NOT_FOUND, format!("Image '{}' not found", definition.image_id)));
    }
    let attempt = headers.get("x-idempotency-key").and_then(|key| key.to_str().ok()).map(str::to_owned);
    let before = attempt.as_ref().and_then(|attempt| shared.state().created.get(attempt).cloned());
    if let Some(sandbox_id) = before
        && let Some(sandbox) = shared.registry.find(&sandbox_id).await
    {
        return Ok(created(shared, headers, sandbox_id, &sandbox));
    }
    let random = |letters: usize| (0..letters).map(|_| fastrand::alphanumeric()).collect::<String>();
    // The last letter encodes the sandbox type, and the length excludes the first type.
    let sandbox_id = if is_older { format!("sb-{}", random(older::ID_LETTERS)) } else { format!("sb-{}V", random(24)) };
    let labels = request.tags.into_iter().map(|tag| (tag.tag_name, tag.tag_value)).collect();
    env.extend(variables(request.secret_sources));
    // Prevents concurrent lookups until the new sandbox has its name.
    let _naming = shared.naming.lock().await;
    if let Some(name) = &definition.name
        && in_app(shared, &app, name).await.is_some()
    {
        return Err(status(code::ALREADY_EXISTS, format!("Sandbox with name '{name}' already exists")));
    }
    let snapshot = shared.state().snapshots.get(&definition.image_id).map(|image| image.files.clone());
    let new = NewSandbox { env: env.into_iter().collect(), user: Some(USER), snapshot, ..NewSandbox::default() };
    let opened = shared.registry.create_from(sandbox_id.clone(), labels, new).await;
    let sandbox = opened.map_err(|error| {
        let is_quota = creation_status(&error) == QUOTA_STATUS;
        status(if is_quota { code::RESOURCE_EXHAUSTED } else { code::INTERNAL }, error.to_string())
    })?;
    if let Err(error) = shared.open_tunnels(&sandbox_id, &sandbox, &ports).await {
        shared.registry.close(&sandbox_id).await;
        return Err(error);
    }
    if let Some(workdir) = &definition.workdir {
        // If it cannot be created, commands that start in it fail with an error.
        let _ = sandbox.sandbox.execute(ExecuteRequest::new(format!("mkdir -p -- {}", quote(workdir)))).await;
    }
    let seconds = if definition.timeout_secs == 0 { DEFAULT_SECONDS } else { definition.timeout_secs };
    shared.registry.update(&sandbox_id, |sandbox| {
        sandbox.metadata.insert("app".to_owned(), app);
        sandbox.metadata.extend(definition.name.map(|name| ("name".to_owned(), name)));
        sandbox.metadata.extend(definition.workdir.clone().map(|workdir| ("workdir".to_owned(), workdir)));
        sandbox.set_ttl(Duration::from_secs(seconds.into()));
    });
    let mut known = shared.state();
    known.sandboxes.insert(sandbox_id.clone());
    known.app_ids.insert(sandbox_id.clone(), request.app_id);
    if let Some(attempt) = attempt {
        known.created.insert(attempt, sandbox_id.clone());
    }
    drop(known);
    let command = definition.entrypoint_args;
    shared.start_main(&sandbox_id, &sandbox, command, definition.workdir, extras.readiness_probe);
    Ok(created(shared, headers, sandbox_id, &sandbox))
}

fn created(shared: &Shared, headers: &HeaderMap, sandbox_id: String, sandbox: &SandboxRecord) -> CreateResponse {
    let app_id = shared.state().app_ids.get(&sandbox_id).cloned().unwrap_or_default();
    CreateResponse {
        task_id: task_of(&sandbox_id),
        sandbox_id,
        command_router_access: Some(shared.access(headers, sandbox)),
        metadata: Some(HandleMetadata { result: None, app_id }),
    }
}

/// Merges the variables of all sources.
pub(super) fn variables(sources: Vec<SecretSource>) -> BTreeMap<String, String> {
    sources.into_iter().filter_map(|source| source.env).flat_map(|env| env.contents).collect()
}

/// Returns the running sandbox of an app with this name.
async fn in_app(shared: &Shared, app: &str, name: &str) -> Option<String> {
    let all = shared.registry.list(&BTreeMap::new()).await;
    let note = |sandbox: &SandboxRecord, note: &str, value: &str| {
        sandbox.metadata.get(note).is_some_and(|noted| noted == value)
    };
    all.into_iter().find(|(_, sandbox)| note(sandbox, "app", app) && note(sandbox, "name", name)).map(|(id, _)| id)
}

/// `SandboxGetFromNameV2`
pub(super) async fn by_name(State(shared): State<Shared>, headers: HeaderMap, body: Bytes) -> Response {
    let reply = async {
        shared.authorised_with_token(&headers)?;
        let request: SandboxGetFromNameRequest = read(&body)?;
        let sandbox_id = in_app(&shared, &request.app_name, &request.sandbox_name).await;
        let missing = || status(code::NOT_FOUND, format!("Sandbox '{}' not found", request.sandbox_name));
        let sandbox_id = sandbox_id.filter(|id| !older::is_older(id)).ok_or_else(missing)?;
        Ok(SandboxGetFromNameResponse { sandbox_id })
    };
    unary(reply.await)
}

/// `SandboxGetFromName`: the client tries it if the newer API finds no sandbox.
pub(super) async fn by_older_name(State(shared): State<Shared>, headers: HeaderMap, body: Bytes) -> Response {
    let reply = async {
        shared.authorised(&headers)?;
        let request: SandboxGetFromNameRequest = read(&body)?;
        let sandbox_id = in_app(&shared, &request.app_name, &request.sandbox_name).await;
        let missing = || status(code::NOT_FOUND, format!("Sandbox '{}' not found", request.sandbox_name));
        let sandbox_id = sandbox_id.filter(|id| older::is_older(id)).ok_or_else(missing)?;
        Ok(SandboxGetFromNameResponse { sandbox_id })
    };
    unary(reply.await)
}

/// `SandboxGetTaskIdV2`
pub(super) async fn task(State(shared): State<Shared>, headers: HeaderMap, body: Bytes) -> Response {
    let reply = async {
        shared.authorised_with_token(&headers)?;
        let request: SandboxRequest = read(&body)?;
        let (task_id, task_result) = match shared.registry.find(&request.sandbox_id).await {
            Some(_) => (Some(task_of(&request.sandbox_id)), None),
            None => (None, Some(shared.result_of(&request.sandbox_id)?)),
        };
        shared.task_is_known(&request.sandbox_id);
        Ok(SandboxGetTaskIdResponse { task_id, task_result })
    };
    unary(reply.await)
}

/// `SandboxGetCommandRouterAccess`
pub(super) async fn router(State(shared): State<Shared>, headers: HeaderMap, body: Bytes) -> Response {
    let reply = async {
        shared.authorised_with_token(&headers)?;
        let request: RouterAccessRequest = read(&body)?;
        let id = if request.task_id.is_empty() { request.sandbox_id } else { sandbox_of(&request.task_id) };
        match shared.registry.find(&id).await {
            Some(sandbox) => Ok(shared.access(&headers, &sandbox)),
            None => {
                shared.result_of(&id)?;
                Err(status(code::FAILED_PRECONDITION, format!("Sandbox '{id}' has finished")))
            }
        }
    };
    unary(reply.await)
}

/// `SandboxListV2`, the newest first.
pub(super) async fn list(State(shared): State<Shared>, headers: HeaderMap, body: Bytes) -> Response {
    let reply = async {
        shared.authorised_with_token(&headers)?;
        let request: SandboxListRequest = read(&body)?;
        let labels = request.tags.into_iter().map(|tag| (tag.tag_name, tag.tag_value)).collect();
        let app = shared.state().apps.iter().find(|(_, id)| **id == request.app_id).map(|(name, _)| name.clone());
        let is_asked_for = |sandbox: &SandboxRecord| {
            (request.app_id.is_empty() || sandbox.metadata.get("app") == app.as_ref())
                && (request.before_timestamp == 0.0 || shared.made_at(sandbox) < request.before_timestamp)
        };
        let mut found = shared.registry.list(&labels).await;
        found.retain(|(_, sandbox)| is_asked_for(sandbox));
        found.sort_by_key(|(_, sandbox)| std::cmp::Reverse(sandbox.created_at));
        found.truncate(PAGE);
        Ok(SandboxListResponse {
            sandboxes: found.into_iter().map(|(id, sandbox)| info(&shared, id, &sandbox)).collect(),
        })
    };
    unary(reply.await)
}

fn info(shared: &Shared, id: String, sandbox: &SandboxRecord) -> SandboxInfo {
    SandboxInfo {
        created_at: shared.made_at(sandbox),
        task_info: Some(TaskInfo { id: task_of(&id), result: None }),
        app_id: sandbox.metadata.get("app").and_then(|app| shared.state().apps.get(app).cloned()).unwrap_or_default(),
        tags: wire::tags(&sandbox.labels),
        name: sandbox.metadata.get("name").cloned().unwrap_or_default(),
        id,
    }
}

/// `SandboxWaitV2`
pub(super) async fn wait(State(shared): State<Shared>, headers: HeaderMap, body: Bytes) -> Response {
    let reply = async {
        shared.authorised_with_token(&headers)?;
        let request: SandboxWaitRequest = read(&body)?;
        let time = Duration::try_from_secs_f32(request.timeout).unwrap_or_default().min(MAX_WAIT);
        let end = Instant::now() + time;
        let app_id = shared.state().app_ids.get(&request.sandbox_id).cloned().unwrap_or_default();
        let response = |result: Option<GenericResult>| {
            let metadata = HandleMetadata { result: result.clone(), app_id };
            WaitResponse { result, metadata: Some(metadata) }
        };
        while shared.registry.find(&request.sandbox_id).await.is_some() {
            if Instant::now() >= end {
                return Ok(response(None));
            }
            tokio::time::sleep(CHECK_INTERVAL).await;
        }
        Ok(response(Some(shared.result_of(&request.sandbox_id)?)))
    };
    unary(reply.await)
}

/// `SandboxTerminateV2`
pub(super) async fn terminate(State(shared): State<Shared>, headers: HeaderMap, body: Bytes) -> Response {
    let reply = async {
        shared.authorised_with_token(&headers)?;
        let request: SandboxRequest = read(&body)?;
        if shared.registry.find(&request.sandbox_id).await.is_some() {
            {
                let mut known = shared.state();
                known.commands.retain(|(sandbox, _), _| *sandbox != request.sandbox_id);
                // Before the end of the main command, which would count as its own end otherwise.
                let terminated = EndedSandbox { status: TERMINATED, exitcode: KILLED };
                known.ended.entry(request.sandbox_id.clone()).or_insert(terminated);
            }
            shared.registry.close(&request.sandbox_id).await;
            return Ok(SandboxTerminateResponse { existing_result: None });
        }
        Ok(SandboxTerminateResponse { existing_result: Some(shared.result_of(&request.sandbox_id)?) })
    };
    unary(reply.await)
}

/// `SandboxTagsGetV2`
pub(super) async fn tags(State(shared): State<Shared>, headers: HeaderMap, body: Bytes) -> Response {
    let reply = async {
        shared.authorised_with_token(&headers)?;
        let request: SandboxRequest = read(&body)?;
        let missing = || status(code::NOT_FOUND, format!("Sandbox '{}' not found", request.sandbox_id));
        let sandbox = shared.registry.find(&request.sandbox_id).await.ok_or_else(missing)?;
        Ok(SandboxTagsResponse { tags: wire::tags(&sandbox.labels) })
    };
    unary(reply.await)
}

/// `SandboxTagsSetV2`: replaces all tags.
pub(super) async fn set_tags(State(shared): State<Shared>, headers: HeaderMap, body: Bytes) -> Response {
    let reply = || {
        shared.authorised_with_token(&headers)?;
        let request: SandboxTagsSetRequest = read(&body)?;
        let labels = request.tags.into_iter().map(|tag| (tag.tag_name, tag.tag_value)).collect();
        if shared.registry.update(&request.sandbox_id, |sandbox| sandbox.labels = labels) {
            return Ok(Empty {});
        }
        Err(status(code::NOT_FOUND, format!("Sandbox '{}' not found", request.sandbox_id)))
    };
    std::future::ready(unary(reply())).await
}

/// `SandboxSetName`
pub(super) async fn set_name(State(shared): State<Shared>, headers: HeaderMap, body: Bytes) -> Response {
    let reply = async {
        shared.authorised_with_token(&headers)?;
        let request: SandboxSetNameRequest = read(&body)?;
        let missing = || status(code::NOT_FOUND, format!("Sandbox '{}' not found", request.sandbox_id));
        let _naming = shared.naming.lock().await;
        let sandbox = shared.registry.find(&request.sandbox_id).await.ok_or_else(missing)?;
        let app = sandbox.metadata.get("app").cloned().unwrap_or_default();
        if in_app(&shared, &app, &request.name).await.is_some_and(|other| other != request.sandbox_id) {
            return Err(status(code::ALREADY_EXISTS, format!("Sandbox with name '{}' already exists", request.name)));
        }
        let name = request.name;
        shared.registry.update(&request.sandbox_id, |sandbox| {
            sandbox.metadata.insert("name".to_owned(), name);
        });
        Ok(Empty {})
    };
    unary(reply.await)
}
