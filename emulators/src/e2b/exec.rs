//! Commands: one stream of Connect envelopes each.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use axum::Json;
use axum::body::{Body, Bytes};
use axum::extract::State;
use axum::http::{HeaderMap, header};
use axum::response::{IntoResponse, Response};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use futures_util::future::{Either, select};
use serde::Deserialize;
use serde_json::{Value, json};
use tidebox_core::shell_backend::quote;
use tidebox_core::{ExecuteRequest, ExecuteResponse, OutputChunk, OutputStream, StopReason};
use tidebox_remote_adapters::e2b::{Frame, FrameReader};
use tokio::sync::{mpsc, oneshot};

use super::envd::{call_error_response, path};
use super::{HOME, Shared, error_response};
use crate::registry::SandboxRecord;

/// Flag of the last envelope.
const END_OF_STREAM: u8 = 2;

/// Maximum duration of a command whose client specifies none.
const MAX_LENGTH: Duration = Duration::from_secs(24 * 60 * 60);

#[derive(Debug, Deserialize)]
struct Start {
    process: Process,
}

#[derive(Debug, Deserialize)]
struct Process {
    cmd: String,
    #[serde(default)]
    args: Vec<String>,
    #[serde(default)]
    envs: BTreeMap<String, String>,
    cwd: Option<String>,
}

/// `process.Process/Start`
pub(super) async fn start(State(shared): State<Shared>, headers: HeaderMap, body: Bytes) -> Response {
    let (id, sandbox) = match shared.authorized_sandbox(&headers).await {
        Ok(found) => found,
        Err(rejected) => return *rejected,
    };
    let frames = FrameReader::default().push(&body);
    let message = frames.and_then(|frames| frames.into_iter().next()).map(|frame| frame.message);
    let Some(Ok(Start { process })) = message.map(|message| serde_json::from_slice(&message)) else {
        return streamed(Body::from(last(Some(("invalid_argument", "the message cannot be read")))));
    };
    if let Some(user) = unknown_user(&headers) {
        return streamed(Body::from(last(Some(("unauthenticated", &format!("invalid username: '{user}'"))))));
    }
    let number = |name: &str| headers.get(name).and_then(|value| value.to_str().ok()?.parse::<u64>().ok());
    let time = number("connect-timeout-ms").filter(|millis| *millis > 0).map_or(MAX_LENGTH, Duration::from_millis);
    let keepalive = number("keepalive-ping-interval").filter(|seconds| *seconds > 0).map(Duration::from_secs);
    let cwd = process.cwd.clone().unwrap_or_else(|| HOME.to_owned());
    let Ok(directory) = path(&cwd) else {
        return streamed(Body::from(last(Some(("invalid_argument", &format!("cwd '{cwd}' is not valid"))))));
    };
    if !matches!(sandbox.sandbox.ls(&directory).await, Ok(Ok(listed)) if !listed.entries.is_empty() || is_directory(&sandbox, &cwd).await)
    {
        return streamed(Body::from(last(Some(("invalid_argument", &format!("cwd '{cwd}' does not exist"))))));
    }
    let mut request = ExecuteRequest::new(line(&process)).with_timeout(time).with_cwd(directory);
    request.env = process.envs.into_iter().collect();
    streamed(Body::from_stream(run(shared, id, sandbox, request, keepalive)))
}

/// Returns whether a directory exists: the listing of a missing one may be empty, too.
async fn is_directory(sandbox: &SandboxRecord, cwd: &str) -> bool {
    let response = sandbox.sandbox.execute(ExecuteRequest::new(format!("test -d {}", quote(cwd)))).await;
    response.is_ok_and(|response| response.exit_code == Some(0))
}

/// Returns the user of the header, unless every template has it.
fn unknown_user(headers: &HeaderMap) -> Option<String> {
    let basic = headers.get(header::AUTHORIZATION)?.to_str().ok()?.strip_prefix("Basic ")?.to_owned();
    let user = String::from_utf8(BASE64.decode(basic).ok()?).ok()?;
    let user = user.trim_end_matches(':');
    (!matches!(user, "" | "user" | "root")).then(|| user.to_owned())
}

/// Returns the process as a command line for the sandbox's shell. A shell command is not wrapped in another shell.
fn line(process: &Process) -> String {
    match process.args.as_slice() {
        [login, option, script] if login == "-l" && option == "-c" && process.cmd.ends_with("bash") => script.clone(),
        args => std::iter::once(&process.cmd).chain(args).map(|word| quote(word)).collect::<Vec<_>>().join(" "),
    }
}

/// Runs a command until it exits, even without a client, and streams its events.
fn run(
    shared: Shared,
    id: String,
    sandbox: SandboxRecord,
    request: ExecuteRequest,
    keepalive: Option<Duration>,
) -> impl futures_util::Stream<Item = Result<Bytes, std::convert::Infallible>> {
    static NEXT_PID: AtomicU64 = AtomicU64::new(100);
    let pid = NEXT_PID.fetch_add(1, Ordering::Relaxed);
    let (send, receive) = mpsc::unbounded_channel::<Bytes>();
    let (kill, killed) = oneshot::channel();
    shared.processes.lock().insert((id.clone(), pid), kill);
    // The receiver may be dropped: the real daemon keeps a command running when its client disconnects.
    let emit = move |message: Bytes| drop(send.send(message));
    emit(event(json!({ "start": { "pid": pid } })));
    tokio::spawn(async move {
        let output_session = emit.clone();
        let mut sink = move |written: OutputChunk| {
            let name = if written.stream == OutputStream::Stdout { "stdout" } else { "stderr" };
            output_session(event(json!({ "data": { name: BASE64.encode(written.bytes) } })));
        };
        let ended = {
            let running = sandbox.sandbox.execute_streaming(request, &mut sink);
            match select(running, killed).await {
                Either::Left((ended, _)) => Some(ended),
                Either::Right(_) => None,
            }
        };
        shared.processes.lock().remove(&(id, pid));
        match ended {
            None => {
                emit(event(
                    json!({ "end": { "exitCode": -1, "status": "signal: killed", "error": "signal: killed" } }),
                ));
                emit(last(None));
            }
            Some(Ok(response)) => ended_by_itself(&response, &emit),
            Some(Err(error)) => emit(last(Some(("internal", &error.to_string())))),
        }
    });
    futures_util::stream::unfold(receive, move |mut receive| async move {
        let pause = keepalive.unwrap_or(MAX_LENGTH);
        match tokio::time::timeout(pause, receive.recv()).await {
            Ok(message) => message.map(|message| (Ok(message), receive)),
            Err(_) => Some((Ok(event(json!({ "keepalive": {} }))), receive)),
        }
    })
}

fn ended_by_itself(response: &ExecuteResponse, tell: &impl Fn(Bytes)) {
    if response.stopped_by == Some(StopReason::Timeout) {
        return tell(last(Some(("deadline_exceeded", "context deadline exceeded"))));
    }
    let code = response.exit_code.unwrap_or(-1);
    let status = format!("exit status {code}");
    // As in all protobuf JSON, zero and an empty error are omitted.
    let end = match code {
        0 => json!({ "exited": true, "status": status }),
        _ => json!({ "exitCode": code, "exited": true, "status": status, "error": status }),
    };
    tell(event(json!({ "end": end })));
    tell(last(None));
}

fn event(event: Value) -> Bytes {
    Bytes::from(Frame::write(0, json!({ "event": event }).to_string().as_bytes()))
}

/// The last envelope, with an optional error.
fn last(error: Option<(&str, &str)>) -> Bytes {
    let message = match error {
        Some((code, message)) => json!({ "error": { "code": code, "message": message } }),
        None => json!({}),
    };
    Bytes::from(Frame::write(END_OF_STREAM, message.to_string().as_bytes()))
}

fn streamed(body: Body) -> Response {
    ([(header::CONTENT_TYPE, "application/connect+json")], body).into_response()
}

#[derive(Debug, Deserialize)]
pub(super) struct SendSignal {
    process: Selector,
    #[serde(default)]
    signal: String,
}

#[derive(Debug, Deserialize)]
struct Selector {
    pid: u64,
}

/// `process.Process/SendSignal`: any signal kills the command.
pub(super) async fn send_signal(
    State(shared): State<Shared>,
    headers: HeaderMap,
    Json(params): Json<SendSignal>,
) -> Response {
    let id = match shared.authorized_sandbox(&headers).await {
        Ok((id, _)) => id,
        Err(rejected) => return *rejected,
    };
    if !params.signal.is_empty() && !params.signal.starts_with("SIGNAL_") {
        return error_response(400, &format!("unknown signal {}", params.signal));
    }
    let pid = params.process.pid;
    match shared.processes.lock().remove(&(id, pid)) {
        Some(kill) => {
            // The receiver may already be dropped if the command has just exited; ignore the error.
            let _ = kill.send(());
            Json(json!({})).into_response()
        }
        None => call_error_response(404, "not_found", &format!("process with pid {pid} not found")),
    }
}

/// `process.Process/List`
pub(super) async fn list(State(shared): State<Shared>, headers: HeaderMap) -> Response {
    let id = match shared.authorized_sandbox(&headers).await {
        Ok((id, _)) => id,
        Err(rejected) => return *rejected,
    };
    let processes = shared.processes.lock();
    let running: Vec<Value> =
        processes.keys().filter(|(sandbox, _)| *sandbox == id).map(|(_, pid)| json!({ "pid": pid })).collect();
    Json(if running.is_empty() { json!({}) } else { json!({ "processes": running }) }).into_response()
}
