//! Commands over plain HTTP: a single request, or server-sent events.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use axum::Json;
use axum::body::{Body, Bytes};
use axum::extract::{Path, State};
use axum::http::{HeaderMap, header};
use axum::response::{IntoResponse, Response};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use futures_util::stream;
use serde::Deserialize;
use serde_json::{Value, json};
use tidebox_core::shell_backend::quote;
use tidebox_core::{ExecuteRequest, OutputStream, SandboxPath};

use super::commands::{ClientGuard, CommandSpec, End, RunningCommand, next_pid};
use super::{HOME, Shared, error_response};
use crate::input::Input;
use crate::registry::SandboxRecord;

/// Default time limit of a command in seconds.
const DEFAULT_SECONDS: f64 = 60.0;

/// Maximum unacknowledged output in bytes.
const MAX_UNACKED_BYTES: u64 = 256 << 10;

/// Heartbeat interval of a silent stream.
const HEARTBEAT: Duration = Duration::from_secs(15);

/// A command in any of the protocols.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Start {
    pub(super) command: String,
    pub(super) command_id: Option<String>,
    shell: Option<String>,
    timeout: Option<f64>,
    timeout_seconds: Option<f64>,
    idle_timeout_seconds: Option<i64>,
    ttl_seconds: Option<i64>,
    env: BTreeMap<String, String>,
    cwd: Option<String>,
    run_config: Option<super::control::RunConfig>,
}

impl Start {
    /// Converts to a request for the sandbox, with an open standard input if requested, or returns an error message.
    pub(super) async fn into_request(
        self,
        sandbox: &SandboxRecord,
        pid: u64,
        opens_input: bool,
    ) -> Result<CommandSpec, String> {
        let with = self.run_config.unwrap_or_default();
        let cwd = with.work_dir.or(self.cwd).unwrap_or_else(|| HOME.to_owned());
        let directory = path(&cwd).map_err(|_| format!("chdir {cwd}: invalid path"))?;
        let look = ExecuteRequest::new(format!("test -d {}", quote(&directory.to_text())));
        if !sandbox.sandbox.execute(look).await.is_ok_and(|response| response.exit_code == Some(0)) {
            return Err(format!("chdir {cwd}: no such file or directory"));
        }
        let line = match self.shell.as_deref() {
            None | Some("/bin/bash" | "bash") => self.command,
            Some(shell) => format!("{} -c {}", quote(shell), quote(&self.command)),
        };
        let seconds = self.timeout_seconds.or(self.timeout).unwrap_or(DEFAULT_SECONDS);
        let time = Duration::try_from_secs_f64(seconds).map_err(|_| "the timeout is not valid".to_owned())?;
        let input = if opens_input { Some(Input::open(&sandbox.sandbox).await?) } else { None };
        let line = input.as_ref().map_or_else(|| line.clone(), |input| input.redirect(&line));
        let mut request = ExecuteRequest::new(line).with_timeout(time).with_cwd(directory);
        request.env = self.env.into_iter().chain(with.env_vars).collect();
        let id = self.command_id.unwrap_or_else(super::control::uuid);
        let (idle, remembered) = (self.idle_timeout_seconds.unwrap_or(300), self.ttl_seconds.unwrap_or(600));
        Ok(CommandSpec { id, pid, request, input, idle, remembered })
    }
}

/// Parses a path as the data plane does.
pub(super) fn path(text: &str) -> Result<SandboxPath, tidebox_core::FileError> {
    SandboxPath::parse(HOME)?.resolve(text)
}

/// `POST /execute`
pub(super) async fn blocking(
    State(shared): State<Shared>,
    Path(name): Path<String>,
    headers: HeaderMap,
    Json(start): Json<Start>,
) -> Response {
    let sandbox = match shared.authorized_sandbox(&name, &headers).await {
        Ok(sandbox) => sandbox,
        Err(rejected) => return *rejected,
    };
    let params = match start.into_request(&sandbox, next_pid(), false).await {
        Ok(params) => params,
        Err(message) => return error_response(400, "CommandError", &message),
    };
    let session = shared.start_or_attach(&name, sandbox, params);
    let listening = ClientGuard::new(Arc::clone(&session));
    let mut changed = session.watch();
    while session.record().end.is_none() {
        if changed.changed().await.is_err() {
            break;
        }
    }
    drop(listening);
    let record = session.record();
    let text = |stream| {
        let of = record.chunks.iter().filter(|chunk| chunk.stream == stream);
        let bytes: Vec<u8> = of.flat_map(|chunk| chunk.data.iter().copied()).collect();
        String::from_utf8_lossy(&bytes).into_owned()
    };
    match &record.end {
        Some(End::Failed { kind: "CommandTimeout", message }) => error_response(408, "CommandTimeout", message),
        Some(End::Failed { kind, message }) => error_response(500, kind, message),
        end => {
            let code = if let Some(End::Exit(code)) = end { *code } else { -1 };
            let (stdout, stderr) = (text(OutputStream::Stdout), text(OutputStream::Stderr));
            Json(json!({ "stdout": stdout, "stderr": stderr, "exit_code": code })).into_response()
        }
    }
}

/// `POST /execute/stream/start`
pub(super) async fn start(
    State(shared): State<Shared>,
    Path(name): Path<String>,
    headers: HeaderMap,
    Json(start): Json<Start>,
) -> Response {
    let sandbox = match shared.authorized_sandbox(&name, &headers).await {
        Ok(sandbox) => sandbox,
        Err(rejected) => return *rejected,
    };
    match start.into_request(&sandbox, next_pid(), false).await {
        Ok(params) => events(shared.start_or_attach(&name, sandbox, params), 0, 0),
        Err(message) => {
            streamed(Body::from(event("error", &json!({ "error_type": "CommandError", "error": message }))))
        }
    }
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Resume {
    pub(super) command_id: String,
    pub(super) stdout_offset: u64,
    pub(super) stderr_offset: u64,
}

/// `POST /execute/stream/resume`
pub(super) async fn resume(
    State(shared): State<Shared>,
    Path(name): Path<String>,
    headers: HeaderMap,
    Json(resume): Json<Resume>,
) -> Response {
    if let Err(rejected) = shared.authorized_sandbox(&name, &headers).await {
        return *rejected;
    }
    match shared.session(&name, &resume.command_id) {
        Some(session) => events(session, resume.stdout_offset, resume.stderr_offset),
        None => error_response(404, "CommandNotFound", &format!("Command not found: {}", resume.command_id)),
    }
}

/// Read position of a client in a command's output.
#[derive(Debug)]
pub(super) struct Cursor {
    listening: ClientGuard,
    next: usize,
    stdout: u64,
    stderr: u64,
}

/// Next item for a client.
pub(super) enum Next {
    Output(OutputStream, u64, Vec<u8>),
    End(End),
}

impl Cursor {
    pub(super) fn new(session: Arc<RunningCommand>, stdout: u64, stderr: u64) -> Self {
        Self { listening: ClientGuard::new(session), next: 0, stdout, stderr }
    }

    pub(super) fn session(&self) -> &Arc<RunningCommand> {
        &self.listening.0
    }

    /// Returns the next chunk the client has not received, or the end. Waits until one is available.
    pub(super) async fn next(&mut self) -> Next {
        let mut changed = self.session().watch();
        loop {
            if let Some(next) = self.try_next() {
                return next;
            }
            if changed.changed().await.is_err() {
                return Next::End(End::Exit(-1));
            }
        }
    }

    fn try_next(&mut self) -> Option<Next> {
        let session = Arc::clone(self.session());
        let record = session.record();
        while let Some(chunk) = record.chunks.get(self.next) {
            self.next += 1;
            let known = if chunk.stream == OutputStream::Stdout { &mut self.stdout } else { &mut self.stderr };
            if chunk.end() > *known {
                let skipped = known.saturating_sub(chunk.offset);
                let rest =
                    usize::try_from(skipped).ok().and_then(|skipped| chunk.data.get(skipped..)).unwrap_or_default();
                *known = chunk.end();
                return Some(Next::Output(chunk.stream, chunk.offset + skipped, rest.to_vec()));
            }
        }
        record.end.clone().map(Next::End)
    }
}

/// Event stream of a command, starting at these offsets.
fn events(session: Arc<RunningCommand>, stdout: u64, stderr: u64) -> Response {
    let started = event("started", &json!({ "command_id": session.id, "pid": session.pid }));
    let cursor = Cursor::new(session, stdout, stderr);
    let rest = stream::unfold((Some(cursor), 0_u64), |(cursor, sent)| async move {
        let mut cursor = cursor?;
        if sent >= MAX_UNACKED_BYTES {
            let places = json!({ "stdout_offset": cursor.stdout, "stderr_offset": cursor.stderr });
            return Some((event("ack_required", &places), (None, 0)));
        }
        match tokio::time::timeout(HEARTBEAT, cursor.next()).await {
            Err(_) => Some((Bytes::from_static(b": heartbeat\n\n"), (Some(cursor), sent))),
            Ok(Next::Output(stream, offset, data)) => {
                let name = if stream == OutputStream::Stdout { "stdout" } else { "stderr" };
                let sent = sent + data.len() as u64;
                Some((event(name, &json!({ "offset": offset, "data": BASE64.encode(data) })), (Some(cursor), sent)))
            }
            Ok(Next::End(end)) => Some((last(&cursor, &end), (None, 0))),
        }
    });
    let all = futures_util::StreamExt::chain(stream::iter([started]), rest);
    streamed(Body::from_stream(futures_util::StreamExt::map(all, Ok::<_, std::convert::Infallible>)))
}

fn last(cursor: &Cursor, end: &End) -> Bytes {
    let ended = |name: &str, offset: u64| event("stream_end", &json!({ "stream": name, "offset": offset }));
    let end = match end {
        End::Exit(code) => event("exit", &json!({ "exit_code": code })),
        End::Failed { kind, message } => event("error", &json!({ "error_type": kind, "error": message })),
    };
    [ended("stdout", cursor.stdout), ended("stderr", cursor.stderr), end].concat().into()
}

fn event(name: &str, data: &Value) -> Bytes {
    Bytes::from(format!("event: {name}\ndata: {data}\n\n"))
}

fn streamed(body: Body) -> Response {
    ([(header::CONTENT_TYPE, "text/event-stream"), (header::CACHE_CONTROL, "no-cache")], body).into_response()
}
