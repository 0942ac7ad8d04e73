//! Terminals over a WebSocket.
//!
//! The client sends keys as binary messages, and `{"rows": 24, "columns": 80}` as text when its size changes. It receives output as
//! binary messages, and at the end the text `{"exit_code": 0}`.

use axum::extract::rejection::QueryRejection;
use axum::extract::ws::rejection::WebSocketUpgradeRejection;
use axum::extract::ws::{CloseFrame, Message, WebSocket, WebSocketUpgrade};
use axum::extract::{Path, Query, State};
use axum::response::Response;
use axum::routing::get;
use serde::Deserialize;
use serde_json::json;
use tidebox_core::{OutputCursor, OutputPage, Process, ProcessState, ReadOutput, Result, SpawnRequest, TerminalSize};
use tokio::sync::mpsc;

use super::auth::Caller;
use super::error::{ApiError, ApiResult};
use super::openapi::{Api, Operation};
use super::processes::MAX_WAIT;
use super::values::path;
use crate::drain::Drain;
use crate::service::Service;

/// Protocol of the terminals. A client offers it, and next to it possibly one with its token.
const PROTOCOL: &str = "tidebox.terminal";
/// Close codes of RFC 6455.
const CLOSE_NORMAL: u16 = 1000;
const CLOSE_GOING_AWAY: u16 = 1001;
const CLOSE_INTERNAL: u16 = 1011;

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct TerminalQuery {
    rows: u16,
    columns: u16,
    cwd: Option<String>,
}

impl Default for TerminalQuery {
    fn default() -> Self {
        let TerminalSize { rows, columns } = TerminalSize::default();
        Self { rows, columns, cwd: None }
    }
}

/// A message of the client: the new size.
#[derive(Debug, Deserialize)]
struct Resize {
    rows: u16,
    columns: u16,
}

pub(super) fn add(api: &mut Api) {
    let operation =
        Operation::new("get", "Starts bash in a terminal, over a WebSocket with the protocol tidebox.terminal")
            .query("rows", "integer", false, "Default 24")
            .query("columns", "integer", false, "Default 80")
            .query("cwd", "string", false, "Working directory. Default /workspace")
            .returns_media(101, "Binary messages are keys and output; text messages are JSON.", "", json!(null));
    api.route("/v1/sandboxes/{id}/terminal", vec![operation], get(terminal));
}

async fn terminal(
    State(service): State<Service>,
    caller: Caller,
    Path(id): Path<String>,
    query: std::result::Result<Query<TerminalQuery>, QueryRejection>,
    upgrade: std::result::Result<WebSocketUpgrade, WebSocketUpgradeRejection>,
) -> ApiResult<Response> {
    let Query(query) = query?;
    let upgrade = upgrade.map_err(|error| ApiError::invalid(format!("a WebSocket is required: {error}")))?;
    let mut request = SpawnRequest::from_arguments(["/bin/bash", "-i", "-l"])?
        .with_env("TERM", "xterm-256color")
        .with_terminal(TerminalSize::new(query.rows, query.columns).check("spawn")?);
    request.cwd = query.cwd.map(|cwd| path(&cwd)).transpose()?;
    let process = Process::spawn(caller.sandbox(&id).await?.sandbox, request).await?;
    let drain = service.0.drain.clone();
    Ok(upgrade.protocols([PROTOCOL]).on_upgrade(move |socket| serve(socket, process, drain)))
}

/// Passes keys and output between a client and a terminal. Ends the terminal when the client disconnects.
async fn serve(mut socket: WebSocket, process: Process, drain: Drain) {
    let (pages, received) = mpsc::channel(1);
    // A separate task, because a read that is dropped would lose its output.
    let reader = tokio::spawn(read(process.clone(), pages));
    let close = pass(&mut socket, &process, received, drain).await;
    reader.abort();
    // A shell that has ended is not an error.
    let _ = process.kill().await;
    if let Some((code, reason)) = close {
        // The client may have disconnected.
        let _ = socket.send(Message::Close(Some(CloseFrame { code, reason: reason.into() }))).await;
    }
}

async fn read(process: Process, pages: mpsc::Sender<Result<OutputPage>>) {
    let mut after = OutputCursor::START;
    loop {
        let page = process.read(ReadOutput::after(after).with_wait(MAX_WAIT)).await;
        let is_last = match &page {
            Ok(page) => {
                after = page.next;
                page.state.has_ended() && page.chunks.is_empty()
            }
            Err(_) => true,
        };
        if pages.send(page).await.is_err() || is_last {
            return;
        }
    }
}

/// Returns code and reason of the end, or `None` if the client has disconnected.
async fn pass(
    socket: &mut WebSocket,
    process: &Process,
    mut pages: mpsc::Receiver<Result<OutputPage>>,
    drain: Drain,
) -> Option<(u16, &'static str)> {
    let mut draining = std::pin::pin!(drain.wait_for_start());
    loop {
        tokio::select! {
            page = pages.recv() => match page {
                Some(Ok(page)) => {
                    let bytes = page.bytes();
                    if bytes.is_empty() && let ProcessState::Ended { exit_code, .. } = page.state {
                        let end = json!({ "exit_code": exit_code }).to_string();
                        socket.send(Message::Text(end.into())).await.ok()?;
                        return Some((CLOSE_NORMAL, "the shell has ended"));
                    }
                    if !bytes.is_empty() {
                        socket.send(Message::Binary(bytes.into())).await.ok()?;
                    }
                }
                Some(Err(_)) | None => return Some((CLOSE_INTERNAL, "the sandbox was closed")),
            },
            message = socket.recv() => match message {
                // The end of the shell is reported by its output.
                Some(Ok(Message::Binary(keys))) => drop(process.write_all(&keys).await),
                Some(Ok(Message::Text(text))) => resize(process, &text).await,
                Some(Ok(Message::Ping(_) | Message::Pong(_))) => {}
                Some(Ok(Message::Close(_)) | Err(_)) | None => return None,
            },
            () = &mut draining => return Some((CLOSE_GOING_AWAY, "the service is shutting down")),
        }
    }
}

/// Changes the size. Other messages are ignored, as are sizes out of bounds.
async fn resize(process: &Process, text: &str) {
    if let Ok(Resize { rows, columns }) = serde_json::from_str(text) {
        let _ = process.resize(TerminalSize::new(rows, columns)).await;
    }
}
