//! The older sandbox API, which the clients use with `MODAL_SANDBOX_V2=0`. Its calls need no token besides the key, and
//! the control plane has input and output of a sandbox's main command. Other calls are those of the newer API.

use std::collections::BTreeMap;
use std::sync::Arc;

use axum::Router;
use axum::body::Bytes;
use axum::extract::{Request, State};
use axum::http::{HeaderMap, HeaderValue};
use axum::response::Response;
use axum::routing::post;
use futures_util::stream;
use tidebox_core::OutputStream;
use tidebox_remote_adapters::modal::messages::{Empty, GenericResult, RouterAccess, SandboxRequest};

use super::command::RunningCommand;
use super::grpc::{RpcResult, code, missing_feature, read, status, streamed, unary};
use super::messages::*;
use super::router::write_stdin;
use super::{Shared, sandboxes, snapshot, tunnels};

/// `FILE_DESCRIPTOR_STDERR`
const STDERR: i32 = 2;

/// Maximum bytes of output per message.
const CHUNK_BYTES: usize = 64 * 1024;

/// Letters of a sandbox id after its prefix. Ids of the newer API are longer.
pub(super) const ID_LETTERS: usize = 22;

/// Returns whether a sandbox was created by the older API.
pub(super) fn is_older(sandbox_id: &str) -> bool {
    sandbox_id.strip_prefix("sb-").is_some_and(|letters| letters.len() == ID_LETTERS)
}

/// Returns the routes.
pub(super) fn router(shared: Shared) -> Router<Shared> {
    let own = shared.clone();
    let add_token = move |mut request: Request| {
        let token = HeaderValue::from_str(&own.auth_token()).ok();
        if let Some(token) = token {
            request.headers_mut().insert("x-modal-auth-token", token);
        }
        std::future::ready(request)
    };
    let call = |name: &str| format!("/modal.client.ModalClient/{name}");
    Router::new()
        .route(&call("SandboxCreate"), post(sandboxes::create_older))
        .route(&call("SandboxGetTaskId"), post(sandboxes::task))
        .route(&call("SandboxGetFromName"), post(sandboxes::by_older_name))
        .route(&call("SandboxList"), post(sandboxes::list))
        .route(&call("SandboxWait"), post(sandboxes::wait))
        .route(&call("SandboxTerminate"), post(sandboxes::terminate))
        .route(&call("SandboxTagsGet"), post(sandboxes::tags))
        .route(&call("SandboxTagsSet"), post(sandboxes::set_tags))
        .route(&call("SandboxGetTunnels"), post(tunnels::list))
        .route(&call("TaskGetCommandRouterAccess"), post(router_access))
        .route(&call("SandboxGetLogs"), post(logs))
        .route(&call("SandboxStdinWrite"), post(write_input))
        .route(&call("SecretGetOrCreate"), post(secret))
        .route(&call("SandboxSnapshotFs"), post(snapshot_filesystem))
        .layer(axum::middleware::map_request(add_token))
}

impl Shared {
    /// Returns the variables of secrets.
    pub(super) fn secret_variables(&self, secret_ids: &[String]) -> BTreeMap<String, String> {
        let known = self.state();
        secret_ids
            .iter()
            .filter_map(|id| known.secrets.get(id))
            .flatten()
            .map(|(k, v)| (k.clone(), v.clone()))
            .collect()
    }

    fn main_of(&self, headers: &HeaderMap, sandbox_id: &str) -> RpcResult<Arc<RunningCommand>> {
        self.authorised(headers)?;
        let missing = || status(code::NOT_FOUND, format!("Sandbox '{sandbox_id}' not found"));
        self.state().main.get(sandbox_id).map(super::main_command::MainCommand::running).ok_or_else(missing)
    }
}

/// `TaskGetCommandRouterAccess`
async fn router_access(State(shared): State<Shared>, headers: HeaderMap, body: Bytes) -> Response {
    let reply = async {
        shared.authorised(&headers)?;
        let request: SandboxRequest = read(&body)?;
        let id = sandboxes::sandbox_of(&request.sandbox_id);
        let finished = || status(code::FAILED_PRECONDITION, format!("Sandbox '{id}' has finished"));
        let sandbox = shared.registry.find(&id).await.ok_or_else(finished)?;
        Ok::<RouterAccess, _>(shared.access(&headers, &sandbox))
    };
    unary(reply.await)
}

/// `SandboxGetLogs`: the output of the main command, from the entry after the last one.
async fn logs(State(shared): State<Shared>, headers: HeaderMap, body: Bytes) -> Response {
    let found = || {
        let request: LogsRequest = read(&body)?;
        let running = shared.main_of(&headers, &request.sandbox_id)?;
        Ok((request, running))
    };
    let (request, running) = match std::future::ready(found()).await {
        Ok(found) => found,
        Err(rpc_status) => return unary(Err::<Empty, _>(rpc_status)),
    };
    let of = if request.file_descriptor == STDERR { OutputStream::Stderr } else { OutputStream::Stdout };
    let at: usize = request.last_entry_id.parse().unwrap_or_default();
    streamed(stream::unfold((running, Some(at)), move |(running, at)| async move {
        let at = at?;
        let text = running
            .wait_until(|state| {
                let is_over = state.end.is_some();
                let rest = state.written(of).get(at..).unwrap_or_default();
                let chunk = rest.get(..CHUNK_BYTES).unwrap_or(rest);
                let whole = whole_characters(chunk);
                match whole {
                    [] => is_over.then(|| String::from_utf8_lossy(chunk).into_owned()).map(|text| (text, chunk.len())),
                    whole => Some((String::from_utf8_lossy(whole).into_owned(), whole.len())),
                }
            })
            .await;
        let (data, length) = text;
        let next = at + length;
        let eof = length == 0;
        let items = if eof { Vec::new() } else { vec![LogItem { data, file_descriptor: request.file_descriptor }] };
        Some((Ok(LogsBatch { items, entry_id: next.to_string(), eof }), (running, (!eof).then_some(next))))
    }))
}

/// Returns the part of a chunk before an incomplete character at its end.
fn whole_characters(chunk: &[u8]) -> &[u8] {
    match std::str::from_utf8(chunk) {
        Err(error) if error.error_len().is_none() => chunk.get(..error.valid_up_to()).unwrap_or_default(),
        _ => chunk,
    }
}

/// `SandboxStdinWrite`
async fn write_input(State(shared): State<Shared>, headers: HeaderMap, body: Bytes) -> Response {
    let reply = || {
        let request: StdinWriteRequest = read(&body)?;
        let running = shared.main_of(&headers, &request.sandbox_id)?;
        write_stdin(&running, None, &request.input, request.eof).map(|()| Empty {})
    };
    std::future::ready(unary(reply())).await
}

/// `SecretGetOrCreate`: only for secrets without a name.
async fn secret(State(shared): State<Shared>, headers: HeaderMap, body: Bytes) -> Response {
    let reply = || {
        shared.authorised(&headers)?;
        let request: SecretRequest = read(&body)?;
        if !request.deployment_name.is_empty() {
            return Err(missing_feature("stored secrets; use Secret.from_dict or env"));
        }
        let mut known = shared.state();
        let secret_id = format!("st-{:022}", known.secrets.len() + 1);
        known.secrets.insert(secret_id.clone(), request.env_dict.into_iter().collect());
        Ok(SecretResponse { secret_id })
    };
    std::future::ready(unary(reply())).await
}

/// `SandboxSnapshotFs`
async fn snapshot_filesystem(State(shared): State<Shared>, headers: HeaderMap, body: Bytes) -> Response {
    let reply = async {
        shared.authorised(&headers)?;
        let request: SandboxRequest = read(&body)?;
        let missing = || status(code::NOT_FOUND, format!("Sandbox '{}' not found", request.sandbox_id));
        shared.registry.find(&request.sandbox_id).await.ok_or_else(missing)?;
        let image_id = snapshot::take(&shared, &request.sandbox_id, String::new())?;
        let result = Some(GenericResult { status: 1, ..GenericResult::default() });
        Ok(SnapshotFsResponse { image_id, result })
    };
    unary(reply.await)
}

/// Rejects what only the older API has.
pub(super) fn check_definition(definition: &OlderDefinition) -> RpcResult<()> {
    let gpu = definition.resources.as_ref().and_then(|resources| resources.gpu_config.as_ref());
    if gpu.is_some_and(|gpu| gpu.kind != 0 || !gpu.gpu_type.is_empty()) {
        return Err(missing_feature("GPUs"));
    }
    if !definition.nfs_mounts.is_empty() {
        return Err(missing_feature("network file systems"));
    }
    Ok(())
}
