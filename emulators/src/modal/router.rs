//! The command router.

use std::sync::Arc;
use std::time::Duration;

use axum::body::{Body, Bytes};
use axum::extract::State;
use axum::http::{HeaderMap, header};
use axum::response::Response;
use futures_util::{Stream, StreamExt as _, stream};
use prost::Message as _;
use tidebox_core::shell_backend::quote;
use tidebox_core::{ExecuteRequest, OutputStream};
use tidebox_remote_adapters::modal::messages::*;
use tidebox_remote_adapters::modal::wire::ARGUMENT_BYTES;
use tidebox_remote_adapters::transport::FrameReader;

use super::Shared;
use super::command::RunningCommand;
use super::grpc::{RpcResult, code, missing_feature, read as message, status, streamed, unary};
use super::messages::ExecExtras;
use super::sandboxes::sandbox_of;
use crate::registry::SandboxRecord;

/// Maximum bytes of output per message.
const CHUNK_BYTES: usize = 64 * 1024;

/// Time that a finished command is kept: clients read its output, and retry after a lost connection.
const REMEMBERED: Duration = Duration::from_secs(60);

/// Default timeout of a call that waits for an exit.
const MAX_WAIT: Duration = Duration::from_secs(60);

impl Shared {
    /// Returns the sandbox of a task, if the call has its credential.
    pub(super) async fn authorized_sandbox(
        &self,
        headers: &HeaderMap,
        task_id: &str,
    ) -> RpcResult<(String, SandboxRecord)> {
        let id = sandbox_of(task_id);
        let not_found = || status(code::NOT_FOUND, format!("task {task_id} is not here"));
        let sandbox = self.registry.find(&id).await.ok_or_else(not_found)?;
        let bearer = headers.get(header::AUTHORIZATION).and_then(|value| value.to_str().ok()?.strip_prefix("Bearer "));
        match bearer {
            Some(token) if token == sandbox.token => Ok((id, sandbox)),
            _ => Err(status(code::UNAUTHENTICATED, "the token belongs to another task")),
        }
    }

    async fn running(&self, headers: &HeaderMap, task_id: &str, exec_id: &str) -> RpcResult<Arc<RunningCommand>> {
        let (id, _) = self.authorized_sandbox(headers, task_id).await?;
        let running = self.state().commands.get(&(id, exec_id.to_owned())).cloned();
        running.ok_or_else(|| status(code::NOT_FOUND, format!("no command {exec_id}")))
    }
}

/// `TaskExecStart`: a second call with the same exec id starts nothing.
pub(super) async fn start(State(shared): State<Shared>, headers: HeaderMap, body: Bytes) -> Response {
    unary(start_exec(&shared, &headers, &body).await)
}

async fn start_exec(shared: &Shared, headers: &HeaderMap, body: &Bytes) -> RpcResult<Empty> {
    let mut request: TaskExecStartRequest = message(body)?;
    let (id, sandbox) = shared.authorized_sandbox(headers, &request.task_id).await?;
    let extras: ExecExtras = message(body)?;
    if extras.pty_info.is_some_and(|pty| pty.enabled) {
        return Err(missing_feature("terminals (PTY)"));
    }
    if !extras.container_id.is_empty() {
        return Err(missing_feature("sidecars"));
    }
    let env = shared.secret_variables(&extras.secret_ids);
    if !env.is_empty() {
        request.secret_sources.insert(0, SecretSource { env: Some(StringMap { contents: env.into_iter().collect() }) });
    }
    let bytes: usize = request.command_args.iter().map(String::len).sum();
    if request.command_args.is_empty() || request.exec_id.is_empty() {
        return Err(status(code::INVALID_ARGUMENT, "a command needs an id and at least one argument"));
    }
    if bytes > ARGUMENT_BYTES {
        let message = format!("the arguments of a command have {bytes} bytes; at most {ARGUMENT_BYTES} are accepted");
        return Err(status(code::INVALID_ARGUMENT, message));
    }
    if let Some(workdir) = &request.workdir {
        let test = ExecuteRequest::new(format!("test -d {}", quote(workdir)));
        if !sandbox.sandbox.execute(test).await.is_ok_and(|response| response.exit_code == Some(0)) {
            return Err(status(code::FAILED_PRECONDITION, format!("workdir {workdir} does not exist")));
        }
    }
    let mut known = shared.state();
    let name = (id.clone(), request.exec_id.clone());
    if known.commands.contains_key(&name) {
        return Ok(Empty {});
    }
    if known.commands.len() >= known.sweep_at {
        let is_kept = |running: &RunningCommand| running.state().ended.is_none_or(|ended| ended.elapsed() < REMEMBERED);
        known.commands.retain(|_, running| is_kept(running));
        known.sweep_at = known.commands.len() * 2 + 256;
    }
    known.commands.insert(name, RunningCommand::start(sandbox, request));
    Ok(Empty {})
}

/// `TaskExecStdioRead`
pub(super) async fn read(State(shared): State<Shared>, headers: HeaderMap, body: Bytes) -> Response {
    let found = async {
        let request: TaskExecStdioReadRequest = message(&body)?;
        let running = shared.running(&headers, &request.task_id, &request.exec_id).await?;
        Ok((request, running))
    };
    let (request, running) = match found.await {
        Ok(found) => found,
        Err(rpc_status) => return unary(Err::<Empty, _>(rpc_status)),
    };
    let of = if request.file_descriptor == 0 { OutputStream::Stdout } else { OutputStream::Stderr };
    streamed(output(running, of, request.offset, |data, _| TaskExecStdioReadResponse { data }))
}

/// Output of a command from an offset, each chunk as a message with its offset, until the command ends.
pub(super) fn output<M>(
    running: Arc<RunningCommand>,
    of: OutputStream,
    offset: u64,
    message: fn(Bytes, u64) -> M,
) -> impl Stream<Item = RpcResult<M>> {
    let at = usize::try_from(offset).unwrap_or(usize::MAX);
    stream::unfold((running, at), move |(running, at)| async move {
        let chunk = running
            .wait_until(|state| {
                let is_over = state.end.is_some();
                let rest = state.written(of).get(at..).unwrap_or_default();
                let chunk = rest.get(..CHUNK_BYTES).unwrap_or(rest);
                (is_over || !chunk.is_empty()).then(|| Bytes::copy_from_slice(chunk))
            })
            .await;
        let next = at + chunk.len();
        (!chunk.is_empty()).then(|| (Ok(message(chunk, at as u64)), (running, next)))
    })
}

/// `TaskExecWait`
pub(super) async fn wait(State(shared): State<Shared>, headers: HeaderMap, body: Bytes) -> Response {
    let result = async {
        let request: TaskExecRequest = message(&body)?;
        let running = shared.running(&headers, &request.task_id, &request.exec_id).await?;
        let late = |_| status(code::DEADLINE_EXCEEDED, "the command has not ended yet");
        let end =
            tokio::time::timeout(deadline(&headers), running.wait_until(|state| state.end)).await.map_err(late)?;
        Ok(TaskExecEndResponse { exit_status: Some(end) })
    };
    unary(result.await)
}

/// Parses the call's timeout, a number with a unit.
fn deadline(headers: &HeaderMap) -> Duration {
    let text = headers.get("grpc-timeout").and_then(|value| value.to_str().ok()).unwrap_or_default();
    let number = |text: &str| text.parse::<u64>().ok();
    let time = match text.split_at_checked(text.len().saturating_sub(1)) {
        Some((count, "H")) => number(count).map(|hours| Duration::from_secs(hours.saturating_mul(3600))),
        Some((count, "M")) => number(count).map(|minutes| Duration::from_secs(minutes.saturating_mul(60))),
        Some((count, "S")) => number(count).map(Duration::from_secs),
        Some((count, "m")) => number(count).map(Duration::from_millis),
        Some((count, "u")) => number(count).map(Duration::from_micros),
        Some((count, "n")) => number(count).map(Duration::from_nanos),
        _ => None,
    };
    time.unwrap_or(MAX_WAIT).min(MAX_WAIT)
}

/// `TaskExecPoll`
pub(super) async fn poll(State(shared): State<Shared>, headers: HeaderMap, body: Bytes) -> Response {
    let result = async {
        let request: TaskExecRequest = message(&body)?;
        let running = shared.running(&headers, &request.task_id, &request.exec_id).await?;
        let exit_status = running.state().end;
        Ok(TaskExecEndResponse { exit_status })
    };
    unary(result.await)
}

/// Takes a chunk of a command's input. Bytes before the received length are known: a client whose connection broke sends them
/// again, possibly while the first connection is still read. Without an offset the chunk follows the received bytes.
pub(super) fn write_stdin(running: &RunningCommand, offset: Option<u64>, data: &[u8], ends: bool) -> RpcResult<()> {
    let closed = |reason: &str| Err(status(code::FAILED_PRECONDITION, reason));
    running.change(|state| {
        let offset = offset.unwrap_or(state.received);
        let Some(known) = state.received.checked_sub(offset) else {
            let message = format!("expected input at offset {}, not {offset}", state.received);
            return Err(status(code::OUT_OF_RANGE, message));
        };
        let data = usize::try_from(known).ok().and_then(|known| data.get(known..)).unwrap_or_default();
        if !data.is_empty() {
            // The tool for files may end before it has read; its clients then read its error.
            if state.started && state.end.is_some() {
                return closed("the command has ended");
            }
            let accepted = match &state.queue {
                _ if state.input_ended => false,
                Some(queue) => queue.push(data.to_vec()),
                None => {
                    state.input.extend_from_slice(data);
                    true
                }
            };
            if !accepted {
                return closed("the input of the command is closed");
            }
            state.received += data.len() as u64;
        }
        if let Some(queue) = state.queue.as_ref().filter(|_| ends && !state.input_ended) {
            queue.close();
        }
        state.input_ended |= ends;
        Ok(())
    })
}

/// `TaskExecStdinWrite`
pub(super) async fn write(State(shared): State<Shared>, headers: HeaderMap, body: Bytes) -> Response {
    let result = async {
        let request: TaskExecStdinWriteRequest = message(&body)?;
        let running = shared.running(&headers, &request.task_id, &request.exec_id).await?;
        write_stdin(&running, Some(request.offset), &request.data, request.eof).map(|()| Empty {})
    };
    unary(result.await)
}

/// `TaskExecStdinWriteStream`
pub(super) async fn write_stream(State(shared): State<Shared>, headers: HeaderMap, body: Body) -> Response {
    unary(write_stdin_stream(&shared, &headers, body).await)
}

async fn write_stdin_stream(shared: &Shared, headers: &HeaderMap, body: Body) -> RpcResult<Empty> {
    let unread = || status(code::INVALID_ARGUMENT, "the message cannot be read");
    let (mut chunks, mut reader) = (body.into_data_stream(), FrameReader::default());
    let (mut running, mut offset): (Option<Arc<RunningCommand>>, u64) = (None, 0);
    while let Some(chunk) = chunks.next().await {
        let chunk = chunk.map_err(|error| status(code::INTERNAL, error.to_string()))?;
        for frame in reader.push(&chunk).ok_or_else(unread)? {
            let message = TaskExecStdinWriteStreamRequest::decode(frame.message).map_err(|_| unread())?;
            match (message.payload, &running) {
                (Some(StdinPayload::Start(start)), None) => {
                    let found = shared.running(headers, &start.task_id, &start.exec_id).await?;
                    write_stdin(&found, Some(start.offset), &[], false)?;
                    (running, offset) = (Some(found), start.offset);
                }
                (Some(StdinPayload::Data(data)), Some(running)) => {
                    write_stdin(running, Some(offset), &data, false)?;
                    offset += data.len() as u64;
                }
                (Some(StdinPayload::End(_)), Some(running)) => write_stdin(running, Some(offset), &[], true)?,
                _ => return Err(unread()),
            }
        }
    }
    Ok(Empty {})
}

/// `TaskExecStdinStatus`
pub(super) async fn written(State(shared): State<Shared>, headers: HeaderMap, body: Bytes) -> Response {
    let result = async {
        let request: TaskExecRequest = message(&body)?;
        let running = shared.running(&headers, &request.task_id, &request.exec_id).await?;
        let state = running.state();
        Ok(TaskExecStdinStatusResponse { num_bytes_written: state.received, closed: state.input_ended })
    };
    unary(result.await)
}
