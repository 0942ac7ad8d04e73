//! Commands over a WebSocket: text output and input, and a kill message.

use std::sync::Arc;

use axum::extract::ws::{Message, WebSocket, WebSocketUpgrade};
use axum::extract::{Path, State};
use axum::http::HeaderMap;
use axum::response::{IntoResponse, Response};
use serde_json::{Value, json};
use tidebox_core::OutputStream;

use super::commands::{End, RunningCommand, next_pid};
use super::exec::{Cursor, Next, Resume, Start};
use super::{Shared, absent_message};
use crate::registry::SandboxRecord;

/// `GET /execute/ws`
pub(super) async fn upgrade(
    State(shared): State<Shared>,
    Path(name): Path<String>,
    headers: HeaderMap,
    upgrade: WebSocketUpgrade,
) -> Response {
    match shared.authorized_sandbox(&name, &headers).await {
        Ok(sandbox) => upgrade.on_upgrade(move |socket| serve(shared, name, sandbox, socket)).into_response(),
        Err(rejected) => *rejected,
    }
}

async fn serve(shared: Shared, name: String, sandbox: SandboxRecord, mut socket: WebSocket) {
    let Some(mut first) = message(&mut socket).await else { return };
    // The client for Python sends a postponed end of input first, and then `reconnect`.
    let closes_input = first["type"] == "close_stdin";
    if closes_input {
        let Some(second) = message(&mut socket).await else { return };
        first = second;
    }
    let started = match first["type"].as_str() {
        Some("execute") => start_command(&shared, &name, sandbox, first).await,
        Some("reconnect") => {
            let resume: Resume = serde_json::from_value(first).unwrap_or_default();
            match shared.session(&name, &resume.command_id) {
                Some(session) => Ok((session, resume.stdout_offset, resume.stderr_offset, false)),
                None => Err(("CommandNotFound", format!("Command not found: {}", resume.command_id))),
            }
        }
        _ => Err(("CommandError", "the first message is execute or reconnect".to_owned())),
    };
    match started {
        Ok((session, stdout, stderr, kill)) => {
            if closes_input {
                session.close_input();
            }
            let sink = Arc::clone(&session);
            follow(&mut socket, session, stdout, stderr).await;
            if kill {
                sink.kill();
            }
        }
        Err((kind, message)) => {
            send(&mut socket, &json!({ "type": "error", "error_type": kind, "error": message })).await;
        }
    }
    // The client may have closed it already.
    let _ = socket.send(Message::Close(None)).await;
}

type StartResult = Result<(Arc<RunningCommand>, u64, u64, bool), (&'static str, String)>;

async fn start_command(shared: &Shared, name: &str, sandbox: SandboxRecord, first: Value) -> StartResult {
    let flag = |field: &str| first[field].as_bool().unwrap_or_default();
    if flag("pty") {
        return Err(("CommandError", absent_message("terminals (PTY)")));
    }
    let (close_stdin, kill) = (flag("close_stdin"), flag("kill_on_disconnect"));
    let start: Start = serde_json::from_value(first).map_err(|error| ("CommandError", error.to_string()))?;
    let pid = next_pid();
    let request = start.into_request(&sandbox, pid, !close_stdin).await.map_err(|message| ("CommandError", message))?;
    Ok((shared.start_or_attach(name, sandbox, request), 0, 0, kill))
}

/// Returns the next JSON message; `None` if the client has disconnected.
async fn message(socket: &mut WebSocket) -> Option<Value> {
    loop {
        match socket.recv().await?.ok()? {
            Message::Text(text) => return serde_json::from_str(&text).ok(),
            Message::Close(_) => return None,
            _ => {}
        }
    }
}

async fn send(socket: &mut WebSocket, message: &Value) -> bool {
    socket.send(Message::text(message.to_string())).await.is_ok()
}

async fn follow(socket: &mut WebSocket, session: Arc<RunningCommand>, stdout: u64, stderr: u64) {
    if !send(socket, &json!({ "type": "started", "command_id": session.id, "pid": session.pid })).await {
        return;
    }
    let mut cursor = Cursor::new(session, stdout, stderr);
    loop {
        let next = tokio::select! {
            next = cursor.next() => next,
            received = message(socket) => match received {
                Some(received) => {
                    take_message(cursor.session(), &received);
                    continue;
                }
                // The input stays open for a client that reconnects.
                None => return,
            },
        };
        let (sink, over) = match next {
            Next::Output(stream, offset, data) => {
                let name = if stream == OutputStream::Stdout { "stdout" } else { "stderr" };
                (json!({ "type": name, "offset": offset, "data": String::from_utf8_lossy(&data) }), false)
            }
            Next::End(End::Exit(code)) => (json!({ "type": "exit", "exit_code": code }), true),
            Next::End(End::Failed { kind, message }) => {
                (json!({ "type": "error", "error_type": kind, "error": message }), true)
            }
        };
        if !send(socket, &sink).await || over {
            return;
        }
    }
}

/// Handles a message to a running command.
fn take_message(session: &RunningCommand, message: &Value) {
    match message["type"].as_str() {
        Some("kill") => session.kill(),
        Some("input") => session.push_input(message["data"].as_str().unwrap_or_default()),
        Some("close_stdin") => session.close_input(),
        _ => {}
    }
}
