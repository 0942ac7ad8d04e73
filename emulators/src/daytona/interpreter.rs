//! Code interpreter: Python code that keeps its state in a context.
//!
//! The real daemon has one process per context. The emulator runs a process for each request, and saves the state of
//! the context in a file: imports, functions, classes and values that can be pickled.

use std::collections::BTreeMap;
use std::time::{Duration, SystemTime};

use axum::Json;
use axum::extract::ws::rejection::WebSocketUpgradeRejection;
use axum::extract::ws::{CloseFrame, Message, WebSocket, WebSocketUpgrade};
use axum::extract::{Path, State};
use axum::http::HeaderMap;
use axum::response::{IntoResponse, Response};
use serde::Deserialize;
use serde_json::{Value, json};
use tidebox_core::shell_backend::quote;
use tidebox_core::{ExecuteRequest, OutputChunk, OutputStream, SandboxPath, StopReason};
use tokio::sync::mpsc;

use super::control::uuid;
use super::process::{has_program, path};
use super::{CLOSE_INTERNAL, HOME, Shared, absent_message, error_response};
use crate::entries::timestamp_millis;
use crate::registry::SandboxRecord;

/// Program that runs the code.
const PROGRAM: &str = include_str!("interpreter.py");

/// Default and maximum duration of a run.
const DEFAULT_TIME: Duration = Duration::from_secs(600);
const MAX_TIME: Duration = Duration::from_secs(24 * 60 * 60);

/// Close code of a run that exceeded its time.
const CLOSE_TIMEOUT: u16 = 4008;

/// Id of the context of requests without one.
const DEFAULT_CONTEXT: &str = "default";

/// Contexts by sandbox and id, in the order of their creation.
pub(crate) type Contexts = BTreeMap<(String, String), Context>;

/// A context.
#[derive(Clone, Debug)]
pub(crate) struct Context {
    cwd: SandboxPath,
    created: SystemTime,
}

fn describe(id: &str, context: &Context) -> Value {
    json!({
        "id": id,
        "cwd": context.cwd.to_text(),
        "language": "python",
        "active": true,
        "createdAt": timestamp_millis(context.created),
    })
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Create {
    cwd: Option<String>,
    language: Option<String>,
}

/// `POST /process/interpreter/context`
pub(super) async fn create(
    State(shared): State<Shared>,
    Path(id): Path<String>,
    headers: HeaderMap,
    Json(create): Json<Create>,
) -> Response {
    if let Err(rejected) = shared.authorized_sandbox(&id, &headers).await {
        return *rejected;
    }
    if let Some(language) = create.language.filter(|language| language != "python") {
        return error_response(400, "BAD_REQUEST", &format!("unsupported language: {language}"));
    }
    let cwd = match path(create.cwd.as_deref().unwrap_or(HOME)) {
        Ok(cwd) => cwd,
        Err(error) => return error_response(400, "BAD_REQUEST", &error.message),
    };
    let context = Context { cwd, created: SystemTime::now() };
    let name = uuid();
    let described = describe(&name, &context);
    shared.contexts.lock().insert((id, name), context);
    Json(described).into_response()
}

/// `GET /process/interpreter/context`: the contexts that clients created.
pub(super) async fn list(State(shared): State<Shared>, Path(id): Path<String>, headers: HeaderMap) -> Response {
    if let Err(rejected) = shared.authorized_sandbox(&id, &headers).await {
        return *rejected;
    }
    let contexts = shared.contexts.lock();
    let mut here: Vec<_> = contexts.iter().filter(|((sandbox, _), _)| *sandbox == id).collect();
    here.sort_by_key(|(_, context)| context.created);
    let found: Vec<Value> = here.iter().map(|((_, name), context)| describe(name, context)).collect();
    Json(json!({ "contexts": found })).into_response()
}

/// `DELETE /process/interpreter/context/{context}`
pub(super) async fn delete(
    State(shared): State<Shared>,
    Path((id, name)): Path<(String, String)>,
    headers: HeaderMap,
) -> Response {
    let sandbox = match shared.authorized_sandbox(&id, &headers).await {
        Ok(sandbox) => sandbox,
        Err(rejected) => return *rejected,
    };
    if shared.contexts.lock().remove(&(id, name.clone())).is_none() {
        return error_response(404, "NOT_FOUND", "context not found");
    }
    let remove = ExecuteRequest::new(format!("rm -f {}", quote(&state_file(&name))));
    // A context that ran no code has no file.
    let _ = sandbox.sandbox.execute(remove.with_cwd(SandboxPath::root())).await;
    Json(json!({ "message": "Context deleted successfully" })).into_response()
}

/// Returns the file with the state of a context.
fn state_file(context: &str) -> String {
    format!("/tmp/.daytona-interpreter-{context}")
}

/// `GET /process/interpreter/execute`, a WebSocket: one request, and the output of its code.
pub(super) async fn execute(
    State(shared): State<Shared>,
    Path(id): Path<String>,
    headers: HeaderMap,
    upgrade: Result<WebSocketUpgrade, WebSocketUpgradeRejection>,
) -> Response {
    let sandbox = match shared.authorized_sandbox(&id, &headers).await {
        Ok(sandbox) => sandbox,
        Err(rejected) => return *rejected,
    };
    match upgrade {
        Ok(upgrade) => upgrade.on_upgrade(move |socket| serve(socket, shared, id, sandbox)).into_response(),
        Err(_) => error_response(400, "BAD_REQUEST", "a WebSocket is required"),
    }
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Run {
    code: String,
    context_id: Option<String>,
    #[serde(default)]
    envs: Option<BTreeMap<String, String>>,
    timeout: Option<u64>,
}

async fn serve(mut socket: WebSocket, shared: Shared, id: String, sandbox: SandboxRecord) {
    let (code, reason) = match run(&mut socket, &shared, &id, &sandbox).await {
        Ok(()) => (1000, String::new()),
        Err((code, reason)) => (code, reason),
    };
    // A client that has disconnected needs no close message.
    let _ = socket.send(Message::Close(Some(CloseFrame { code, reason: reason.into() }))).await;
}

/// Runs the code of the first message. The error is a close code with its reason, of at most 123 bytes.
async fn run(socket: &mut WebSocket, shared: &Shared, id: &str, sandbox: &SandboxRecord) -> Result<(), (u16, String)> {
    let internal = |reason: &str| (CLOSE_INTERNAL, reason.to_owned());
    let Some(Ok(Message::Text(text))) = socket.recv().await else { return Ok(()) };
    let Ok(run) = serde_json::from_str::<Run>(&text) else { return Err(internal("the request is not valid")) };
    let name = run.context_id.unwrap_or_else(|| DEFAULT_CONTEXT.to_owned());
    let context = shared.contexts.lock().get(&(id.to_owned(), name.clone())).cloned();
    let cwd = match context {
        Some(context) => context.cwd,
        None if name == DEFAULT_CONTEXT => path(HOME).map_err(|error| internal(&error.message))?,
        None => return Err(internal("context not found")),
    };
    if !has_program(sandbox, "python3").await {
        return Err(internal(&absent_message("python3 in its sandboxes, so it cannot interpret code")));
    }
    let time = match run.timeout {
        None => DEFAULT_TIME,
        Some(0) => MAX_TIME,
        Some(seconds) => Duration::from_secs(seconds),
    };
    let state = state_file(&name);
    let mut request = ExecuteRequest::new(format!("python3 -u -c {}", quote(PROGRAM)))
        .with_timeout(time)
        .with_cwd(cwd)
        .with_stdin(run.code);
    request.env = run.envs.unwrap_or_default().into_iter().collect();
    request.env.push(("DAYTONA_INTERPRETER_STATE".to_owned(), state.clone()));
    let (send, mut receive) = mpsc::unbounded_channel();
    let running = std::sync::Arc::clone(&sandbox.sandbox);
    let task = tokio::spawn(async move {
        let mut sink = |written: OutputChunk| {
            // The receiver is dropped if the client disconnects.
            let _ = send.send(written);
        };
        running.execute_streaming(request, &mut sink).await
    });
    let mut rest = [("stdout", Vec::new()), ("stderr", Vec::new())];
    while let Some(written) = receive.recv().await {
        let [out, err] = &mut rest;
        let (kind, pending) = if written.stream == OutputStream::Stdout { out } else { err };
        let text = take_text(pending, &written.bytes);
        if send_chunk(socket, json!({ "type": kind, "text": text })).await.is_err() {
            task.abort();
            return Ok(());
        }
    }
    for (kind, bytes) in rest.iter().filter(|(_, bytes)| !bytes.is_empty()) {
        let text = String::from_utf8_lossy(bytes);
        // The client may have disconnected.
        let _ = send_chunk(socket, json!({ "type": kind, "text": text })).await;
    }
    match task.await {
        Ok(Ok(response)) if response.stopped_by == Some(StopReason::Timeout) => {
            Err((CLOSE_TIMEOUT, "execution timed out".to_owned()))
        }
        Ok(Ok(_)) => {
            if let Some(error) = take_error(sandbox, &state).await {
                let _ = send_chunk(socket, error).await;
            }
            Ok(())
        }
        Ok(Err(_)) | Err(_) => Err(internal("the sandbox cannot run the code")),
    }
}

/// Returns the text of the pending and the new bytes. An incomplete character at the end stays pending.
fn take_text(pending: &mut Vec<u8>, bytes: &[u8]) -> String {
    pending.extend_from_slice(bytes);
    let end = match std::str::from_utf8(pending) {
        Err(error) if error.error_len().is_none() => error.valid_up_to(),
        _ => pending.len(),
    };
    let whole: Vec<u8> = pending.drain(..end).collect();
    String::from_utf8_lossy(&whole).into_owned()
}

async fn send_chunk(socket: &mut WebSocket, chunk: Value) -> Result<(), axum::Error> {
    socket.send(Message::Text(chunk.to_string().into())).await
}

/// Returns the exception that ended the code.
async fn take_error(sandbox: &SandboxRecord, state: &str) -> Option<Value> {
    let file = quote(&format!("{state}.error"));
    let request = ExecuteRequest::new(format!("cat {file} && rm -f {file}")).with_cwd(SandboxPath::root());
    let response = sandbox.sandbox.execute(request).await.ok()?;
    let mut error: Value = serde_json::from_slice(&response.stdout).ok()?;
    error["type"] = json!("error");
    Some(error)
}

#[cfg(test)]
mod tests {
    use super::take_text;

    #[test]
    fn a_character_in_two_chunks_is_sent_once() {
        let mut pending = Vec::new();
        assert_eq!(take_text(&mut pending, b"a\xc3"), "a");
        assert_eq!(take_text(&mut pending, b"\xa9b"), "\u{e9}b");
        assert_eq!(take_text(&mut pending, b"\xff"), "\u{fffd}", "invalid UTF-8 is replaced");
        assert!(pending.is_empty());
    }
}
