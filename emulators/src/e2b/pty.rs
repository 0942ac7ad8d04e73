//! Commands in a terminal (PTY).

use std::collections::BTreeMap;
use std::time::Duration;

use axum::Json;
use axum::body::{Body, Bytes};
use axum::extract::State;
use axum::http::HeaderMap;
use axum::response::{IntoResponse, Response};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use futures_util::future::{Either, select};
use serde::Deserialize;
use serde_json::json;
use tidebox_core::{OutputCursor, ProcessState, SandboxPath, StopReason, TerminalSize};
use tokio::sync::{mpsc, oneshot};

use super::Shared;
use super::envd::call_error_response;
use super::exec::{CallError, Process, ProcessConfig, Selector, emit_end, event, follow, last, next_pid, streamed};
use crate::registry::SandboxRecord;
use crate::terminal::{NewTerminal, Terminal};

/// A terminal of a request.
#[derive(Clone, Debug, Deserialize)]
pub(super) struct Pty {
    size: Option<Size>,
}

#[derive(Clone, Copy, Debug, Default, Deserialize)]
struct Size {
    #[serde(default)]
    cols: u32,
    #[serde(default)]
    rows: u32,
}

impl Pty {
    /// Returns the size. Numbers that are too large become ones that the sandbox rejects.
    fn size(&self) -> TerminalSize {
        let Size { cols, rows } = self.size.unwrap_or_default();
        let number = |value: u32| u16::try_from(value).unwrap_or(0);
        TerminalSize::new(number(rows), number(cols))
    }
}

/// A command in a terminal to start.
pub(super) struct NewPty {
    pub(super) sandbox: (String, SandboxRecord),
    pub(super) process: ProcessConfig,
    pub(super) tag: Option<String>,
    pub(super) pty: Pty,
    pub(super) cwd: SandboxPath,
    pub(super) time: Duration,
    pub(super) keepalive: Option<Duration>,
}

/// Starts a command in a terminal and returns its events.
pub(super) async fn start(shared: Shared, new: NewPty) -> Response {
    let NewPty { sandbox: (id, sandbox), process, tag, pty, cwd, time, keepalive } = new;
    let envs: BTreeMap<String, String> = process.envs.clone();
    let terminal = NewTerminal {
        arguments: std::iter::once(process.cmd.clone()).chain(process.args.clone()).collect(),
        cwd,
        env: envs.into_iter().collect(),
        size: pty.size(),
        timeout: time,
    };
    let terminal = match Terminal::start(&sandbox.sandbox, terminal).await {
        Ok(terminal) => terminal,
        Err(error) => return streamed(Body::from(last(Some(("invalid_argument", error.message()))))),
    };
    let (listener, events) = mpsc::unbounded_channel();
    let (kill, killed) = oneshot::channel();
    let pid = next_pid();
    let started = Process::in_terminal(terminal.clone(), process, tag, kill, listener);
    shared.processes.lock().insert((id.clone(), pid), started);
    shared.emit(&(id.clone(), pid), &event(json!({ "start": { "pid": pid } })));
    tokio::spawn(run(shared, (id, pid), terminal, killed));
    streamed(Body::from_stream(follow(events, keepalive)))
}

/// Sends the output of a terminal to the listeners until its end.
async fn run(shared: Shared, key: (String, u64), terminal: Terminal, mut killed: oneshot::Receiver<()>) {
    let (mut after, mut is_killed) = (OutputCursor::START, false);
    let ended = loop {
        let page = if is_killed {
            terminal.read(&mut after).await
        } else {
            let reading = Box::pin(terminal.read(&mut after));
            match select(reading, &mut killed).await {
                Either::Left((page, _)) => page,
                Either::Right(_) => {
                    is_killed = true;
                    // One that has just ended is not an error.
                    let _ = terminal.kill().await;
                    continue;
                }
            }
        };
        match page {
            Ok((bytes, state)) => {
                if !bytes.is_empty() {
                    shared.emit(&key, &event(json!({ "data": { "pty": BASE64.encode(bytes) } })));
                } else if let ProcessState::Ended { exit_code, stopped_by } = state {
                    break Ok((exit_code, stopped_by));
                }
            }
            Err(error) => break Err(error),
        }
    };
    // Removed before its end is reported, so that a client that has seen the end does not find it in a list.
    let process = shared.processes.lock().remove(&key);
    let emit = |message: Bytes| process.iter().for_each(|process| process.send(&message));
    match ended {
        Ok(_) if is_killed => emit_end(None, false, &emit),
        Ok((code, stopped_by)) => emit_end(code.or(Some(-1)), stopped_by == Some(StopReason::Timeout), &emit),
        Err(error) => emit(last(Some(("internal", error.message())))),
    }
}

#[derive(Debug, Deserialize)]
pub(super) struct Update {
    process: Selector,
    pty: Option<Pty>,
}

/// `process.Process/Update`: changes the size of a terminal.
pub(super) async fn update(State(shared): State<Shared>, headers: HeaderMap, Json(params): Json<Update>) -> Response {
    let id = match shared.authorized_sandbox(&headers).await {
        Ok((id, _)) => id,
        Err(rejected) => return *rejected,
    };
    let terminal = match shared.terminal(&id, &params.process) {
        Ok(terminal) => terminal,
        Err(error) => return error.into_response(),
    };
    let Some(pty) = params.pty else { return Json(json!({})).into_response() };
    match terminal.resize(pty.size()).await {
        Ok(()) => Json(json!({})).into_response(),
        Err(error) => call_error_response(400, "invalid_argument", error.message()),
    }
}

impl Shared {
    /// Returns the terminal of a command.
    pub(super) fn terminal(&self, sandbox: &str, selector: &Selector) -> Result<Terminal, CallError> {
        let processes = self.processes.lock();
        let pid = selector.pid(sandbox, &processes);
        let Some(process) = pid.and_then(|pid| processes.get(&(sandbox.to_owned(), pid))) else {
            return Err(CallError::not_found(selector));
        };
        process.terminal().cloned().ok_or_else(CallError::without_terminal)
    }
}
