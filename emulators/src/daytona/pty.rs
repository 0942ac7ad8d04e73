//! Terminals (PTY): sessions with a shell, and a WebSocket for their keys and output.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::SystemTime;

use axum::Json;
use axum::extract::ws::rejection::WebSocketUpgradeRejection;
use axum::extract::ws::{CloseFrame, Message, WebSocket, WebSocketUpgrade};
use axum::extract::{Path, Query, State};
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{IntoResponse, Response};
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde::Deserialize;
use serde_json::{Value, json};
use tidebox_core::lock::Mutex;
use tidebox_core::{OutputCursor, ProcessState, TerminalSize};
use tokio::sync::watch;

use super::process::{MAX_LENGTH, path};
use super::request::SandboxRef;
use super::{CLOSE_INTERNAL, HOME, Shared, error_response};
use crate::entries::timestamp_millis;
use crate::registry::SandboxRecord;
use crate::terminal::{NewTerminal, Terminal};

/// Protocol of clients that read the end from a control message.
const EXIT_CONTROL: &str = "X-Daytona-Pty-Exit-Control";
/// Prefix of the protocol that carries environment variables.
const ENVS_PREFIX: &str = "X-Daytona-Pty-Envs~";
/// Close code of a session that has ended.
const CLOSE_NORMAL: u16 = 1000;

/// A session.
#[derive(Clone, Debug)]
pub(crate) struct Session {
    cwd: String,
    envs: BTreeMap<String, String>,
    size: TerminalSize,
    created_at: SystemTime,
    lazy_start: bool,
    /// `None` before the start of a lazy one.
    terminal: Option<Terminal>,
    /// True after the deletion.
    is_deleted: Arc<watch::Sender<bool>>,
}

/// All terminals by sandbox and name.
pub(crate) type Terminals = Arc<Mutex<BTreeMap<(String, String), Session>>>;

/// Request for a session.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(super) struct Create {
    id: String,
    cwd: Option<String>,
    envs: BTreeMap<String, String>,
    cols: Option<u16>,
    rows: Option<u16>,
    lazy_start: bool,
}

fn no_session(name: &str) -> Box<Response> {
    Box::new(error_response(404, "NOT_FOUND", &format!("PTY session {name} not found")))
}

fn bad_request(message: &str) -> Box<Response> {
    Box::new(error_response(400, "BAD_REQUEST", message))
}

fn checked_size(cols: Option<u16>, rows: Option<u16>) -> Result<TerminalSize, Box<Response>> {
    let default = TerminalSize::default();
    // As in the daemon, 0 is the default.
    let number = |value: Option<u16>, default| value.filter(|value| *value > 0).unwrap_or(default);
    let size = TerminalSize::new(number(rows, default.rows), number(cols, default.columns));
    size.check("spawn").map_err(|error| bad_request(error.message()))
}

impl Session {
    fn describe(&self, name: &str) -> Value {
        json!({
            "id": name,
            "cwd": self.cwd,
            "envs": self.envs,
            "cols": self.size.columns,
            "rows": self.size.rows,
            "createdAt": timestamp_millis(self.created_at),
            "active": self.terminal.is_some(),
            "lazyStart": self.lazy_start,
        })
    }

    /// Starts the shell.
    async fn start(&self, sandbox: &SandboxRecord) -> Result<Terminal, Box<Response>> {
        let mut env: Vec<(String, String)> = vec![("TERM".to_owned(), "xterm-256color".to_owned())];
        env.extend(self.envs.clone());
        let new = NewTerminal {
            arguments: ["/bin/bash", "-i", "-l"].map(str::to_owned).into(),
            cwd: path(&self.cwd).map_err(|error| bad_request(&error.message))?,
            env,
            size: self.size,
            timeout: MAX_LENGTH,
        };
        let started = Terminal::start(&sandbox.sandbox, new).await;
        started.map_err(|error| bad_request(&format!("failed to start PTY session: {}", error.message())))
    }
}

impl Shared {
    /// Adds a session and starts its shell unless that is lazy.
    async fn create_terminal(&self, sandbox: (&str, &SandboxRecord), create: Create) -> Result<(), Box<Response>> {
        let (id, record) = sandbox;
        if create.id.is_empty() {
            return Err(bad_request("PTY session ID is required"));
        }
        let key = (id.to_owned(), create.id.clone());
        let session = Session {
            cwd: create.cwd.filter(|cwd| !cwd.is_empty()).unwrap_or_else(|| HOME.to_owned()),
            envs: create.envs,
            size: checked_size(create.cols, create.rows)?,
            created_at: SystemTime::now(),
            lazy_start: create.lazy_start,
            terminal: None,
            is_deleted: Arc::new(watch::Sender::new(false)),
        };
        {
            let mut terminals = self.terminals.lock();
            if terminals.contains_key(&key) {
                let message = format!("PTY session with ID '{}' already exists", create.id);
                return Err(Box::new(error_response(409, "CONFLICT", &message)));
            }
            terminals.insert(key.clone(), session);
        }
        if create.lazy_start {
            return Ok(());
        }
        self.start_terminal(&key, record).await.map(drop).inspect_err(|_| {
            self.terminals.lock().remove(&key);
        })
    }

    /// Returns the terminal of a session, started if it is lazy.
    async fn start_terminal(
        &self,
        key: &(String, String),
        sandbox: &SandboxRecord,
    ) -> Result<StartedTerminal, Box<Response>> {
        let session = self.terminals.lock().get(key).cloned().ok_or_else(|| no_session(&key.1))?;
        let deleted = session.is_deleted.subscribe();
        if let Some(terminal) = session.terminal {
            return Ok(StartedTerminal { terminal, deleted, is_new: false });
        }
        let terminal = session.start(sandbox).await?;
        let other = {
            let mut terminals = self.terminals.lock();
            match terminals.get_mut(key) {
                Some(known) => {
                    let other = known.terminal.clone();
                    known.terminal.get_or_insert_with(|| terminal.clone());
                    other
                }
                None => None,
            }
        };
        match other {
            // Another client has started it at the same time.
            Some(other) => {
                let _ = terminal.kill().await;
                Ok(StartedTerminal { terminal: other, deleted, is_new: false })
            }
            None => {
                tokio::spawn(forget_at_end(Arc::clone(&self.terminals), key.clone(), terminal.clone()));
                Ok(StartedTerminal { terminal, deleted, is_new: true })
            }
        }
    }
}

/// The terminal of a session.
struct StartedTerminal {
    terminal: Terminal,
    deleted: watch::Receiver<bool>,
    /// True if it has just been started.
    is_new: bool,
}

/// Removes a session when its shell has ended.
async fn forget_at_end(terminals: Terminals, key: (String, String), terminal: Terminal) {
    // After all output: only the end is of interest.
    let mut after = OutputCursor::new(u64::MAX);
    while let Ok((_, ProcessState::Running)) = terminal.read(&mut after).await {
        after = OutputCursor::new(u64::MAX);
    }
    terminals.lock().remove(&key);
}

/// `POST /process/pty`
pub(super) async fn create(
    State(shared): State<Shared>,
    Path(id): Path<String>,
    SandboxRef(sandbox): SandboxRef,
    Json(create): Json<Create>,
) -> Response {
    let name = create.id.clone();
    match shared.create_terminal((&id, &sandbox), create).await {
        Ok(()) => (StatusCode::CREATED, Json(json!({ "sessionId": name }))).into_response(),
        Err(rejected) => *rejected,
    }
}

/// `GET /process/pty`
pub(super) async fn list(State(shared): State<Shared>, Path(id): Path<String>, _: SandboxRef) -> Response {
    let terminals = shared.terminals.lock();
    let here = terminals.iter().filter(|((sandbox, _), _)| *sandbox == id);
    let sessions: Vec<Value> = here.map(|((_, name), session)| session.describe(name)).collect();
    Json(json!({ "sessions": sessions })).into_response()
}

/// `GET /process/pty/{session}`
pub(super) async fn info(
    State(shared): State<Shared>,
    Path((id, name)): Path<(String, String)>,
    _: SandboxRef,
) -> Response {
    match shared.terminals.lock().get(&(id, name.clone())) {
        Some(session) => Json(session.describe(&name)).into_response(),
        None => *no_session(&name),
    }
}

/// `DELETE /process/pty/{session}`: kills its shell.
pub(super) async fn delete(
    State(shared): State<Shared>,
    Path((id, name)): Path<(String, String)>,
    _: SandboxRef,
) -> Response {
    let removed = shared.terminals.lock().remove(&(id, name.clone()));
    let Some(session) = removed else { return *no_session(&name) };
    session.is_deleted.send_replace(true);
    if let Some(terminal) = session.terminal {
        // One that has just ended is not an error.
        let _ = terminal.kill().await;
    }
    Json(json!({ "message": "PTY session deleted" })).into_response()
}

#[derive(Debug, Deserialize)]
pub(super) struct Resize {
    cols: u16,
    rows: u16,
}

/// `POST /process/pty/{session}/resize`
pub(super) async fn resize(
    State(shared): State<Shared>,
    Path((id, name)): Path<(String, String)>,
    _: SandboxRef,
    Json(Resize { cols, rows }): Json<Resize>,
) -> Response {
    let size = match TerminalSize::new(rows, cols).check("resize_process") {
        Ok(size) => size,
        Err(error) => return *bad_request(error.message()),
    };
    let (terminal, described) = {
        let mut terminals = shared.terminals.lock();
        let Some(session) = terminals.get_mut(&(id, name.clone())) else { return *no_session(&name) };
        session.size = size;
        (session.terminal.clone(), session.describe(&name))
    };
    let resized = match terminal {
        Some(terminal) => terminal.resize(size).await,
        None => Ok(()),
    };
    match resized {
        Ok(()) => Json(described).into_response(),
        Err(error) => *bad_request(error.message()),
    }
}

/// A request that may become a WebSocket.
type Upgrade = Result<WebSocketUpgrade, WebSocketUpgradeRejection>;

fn websocket_required() -> Response {
    *bad_request("a WebSocket is required")
}

/// `GET /process/pty/{session}/connect`
pub(super) async fn connect(
    State(shared): State<Shared>,
    Path((id, name)): Path<(String, String)>,
    SandboxRef(sandbox): SandboxRef,
    headers: HeaderMap,
    upgrade: Upgrade,
) -> Response {
    let Ok(upgrade) = upgrade else { return websocket_required() };
    let started = shared.start_terminal(&(id, name), &sandbox).await;
    // A client of a session that runs sees its further output.
    let from = match &started {
        Ok(started) if !started.is_new => started.terminal.position().await.unwrap_or_default(),
        _ => OutputCursor::START,
    };
    serve_terminal(upgrade, &headers, started, from)
}

/// `GET /process/pty/create-connect`: the query is the request for a session, the protocols have its variables.
pub(super) async fn create_and_connect(
    State(shared): State<Shared>,
    Path(id): Path<String>,
    SandboxRef(sandbox): SandboxRef,
    Query(mut create): Query<Create>,
    headers: HeaderMap,
    upgrade: Upgrade,
) -> Response {
    let Ok(upgrade) = upgrade else { return websocket_required() };
    create.envs = match variables(&headers) {
        Ok(envs) => envs,
        Err(rejected) => return *rejected,
    };
    let key = (id.clone(), create.id.clone());
    if let Err(rejected) = shared.create_terminal((&id, &sandbox), create).await {
        return *rejected;
    }
    let started = shared.start_terminal(&key, &sandbox).await;
    serve_terminal(upgrade, &headers, started, OutputCursor::START)
}

/// Returns the protocols that the client offers.
fn protocols(headers: &HeaderMap) -> impl Iterator<Item = &str> {
    let values = headers.get_all(header::SEC_WEBSOCKET_PROTOCOL).iter().filter_map(|value| value.to_str().ok());
    values.flat_map(|value| value.split(',')).map(str::trim)
}

/// Returns the environment variables in the protocols of the client.
fn variables(headers: &HeaderMap) -> Result<BTreeMap<String, String>, Box<Response>> {
    let Some(encoded) = protocols(headers).find_map(|protocol| protocol.strip_prefix(ENVS_PREFIX)) else {
        return Ok(BTreeMap::new());
    };
    let decoded = URL_SAFE_NO_PAD.decode(encoded).ok();
    let parsed = decoded.and_then(|bytes| serde_json::from_slice(&bytes).ok());
    parsed.ok_or_else(|| bad_request("the environment variables are not valid"))
}

fn serve_terminal(
    upgrade: WebSocketUpgrade,
    headers: &HeaderMap,
    started: Result<StartedTerminal, Box<Response>>,
    from: OutputCursor,
) -> Response {
    let started = match started {
        Ok(started) => started,
        Err(rejected) => return *rejected,
    };
    let reads_exit = protocols(headers).any(|protocol| protocol == EXIT_CONTROL);
    upgrade.protocols([EXIT_CONTROL]).on_upgrade(move |socket| serve(socket, started, from, reads_exit))
}

async fn send_control(socket: &mut WebSocket, control: Value) {
    // The client may have disconnected.
    let _ = socket.send(Message::Text(control.to_string().into())).await;
}

/// The end of a connection.
enum ConnectionEnd {
    /// The client has disconnected; the session continues.
    Disconnected,
    Exited {
        code: i32,
        reason: Option<&'static str>,
    },
    Failed(String),
}

/// Passes keys and output between a client and a terminal.
async fn serve(mut socket: WebSocket, started: StartedTerminal, from: OutputCursor, reads_exit: bool) {
    send_control(&mut socket, json!({ "type": "control", "status": "connected" })).await;
    let close = match pass(&mut socket, &started, from).await {
        ConnectionEnd::Disconnected => return,
        ConnectionEnd::Exited { code, reason } => {
            let mut end = json!({ "exitCode": code });
            if let Some(reason) = reason {
                end["exitReason"] = json!(reason);
            }
            if reads_exit {
                let mut control = end.clone();
                (control["type"], control["status"]) = (json!("control"), json!("exited"));
                send_control(&mut socket, control).await;
            }
            CloseFrame { code: CLOSE_NORMAL, reason: end.to_string().into() }
        }
        ConnectionEnd::Failed(message) => {
            send_control(&mut socket, json!({ "type": "control", "status": "error", "error": message })).await;
            CloseFrame { code: CLOSE_INTERNAL, reason: "the terminal failed".into() }
        }
    };
    // The client may have disconnected.
    let _ = socket.send(Message::Close(Some(close))).await;
}

async fn pass(socket: &mut WebSocket, started: &StartedTerminal, from: OutputCursor) -> ConnectionEnd {
    let StartedTerminal { terminal, deleted, .. } = started;
    let (pages, mut received) = tokio::sync::mpsc::channel(1);
    let reader = terminal.clone();
    // A separate task, because a read that is dropped would lose its output.
    let task = tokio::spawn(async move {
        let mut after = from;
        loop {
            let page = reader.read(&mut after).await;
            let is_last = !matches!(page, Ok((_, ProcessState::Running)));
            if pages.send(page).await.is_err() || is_last {
                break;
            }
        }
    });
    let end = loop {
        tokio::select! {
            page = received.recv() => match page {
                Some(Ok((bytes, state))) => {
                    if !bytes.is_empty() && socket.send(Message::Binary(bytes.into())).await.is_err() {
                        break ConnectionEnd::Disconnected;
                    }
                    if let ProcessState::Ended { exit_code, .. } = state {
                        break exited(exit_code, *deleted.borrow());
                    }
                }
                Some(Err(error)) => break ConnectionEnd::Failed(error.message().to_owned()),
                None => break ConnectionEnd::Failed("the output has ended".to_owned()),
            },
            message = socket.recv() => {
                let keys = match message {
                    Some(Ok(Message::Binary(keys))) => keys.to_vec(),
                    Some(Ok(Message::Text(keys))) => keys.as_bytes().to_vec(),
                    Some(Ok(Message::Ping(_) | Message::Pong(_))) => continue,
                    Some(Ok(Message::Close(_)) | Err(_)) | None => break ConnectionEnd::Disconnected,
                };
                // The end of the shell is reported by its output.
                let _ = terminal.write(&keys).await;
            }
        }
    };
    task.abort();
    end
}

fn exited(exit_code: Option<i32>, is_deleted: bool) -> ConnectionEnd {
    let code = exit_code.unwrap_or(-1);
    let reason = match code {
        0 => None,
        _ if is_deleted => Some("killed by user"),
        130 => Some("interrupted (Ctrl+C)"),
        137 => Some("killed"),
        _ => Some("non-zero exit"),
    };
    ConnectionEnd::Exited { code, reason }
}
