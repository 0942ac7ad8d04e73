//! Sessions: shells that keep their state between commands.
//!
//! As at Daytona, the commands of a session run one after the other, their output is delivered by line without NUL
//! bytes, and a command that ends the shell has no exit code.

use std::collections::BTreeMap;
use std::sync::{Arc, MutexGuard};
use std::time::Duration;

use axum::Json;
use axum::extract::rejection::JsonRejection;
use axum::extract::ws::rejection::WebSocketUpgradeRejection;
use axum::extract::ws::{CloseFrame, Message, WebSocket, WebSocketUpgrade};
use axum::extract::{Path, State};
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse, Response};
use serde::Deserialize;
use serde_json::{Value, json};
use tidebox_core::lock::Mutex;
use tidebox_core::shell_backend::quote;
use tidebox_core::{ExecuteRequest, OutputChunk, OutputStream};

use super::process::{MAX_LENGTH, path};
use super::{HOME, Shared, error_response};
use crate::input::Input;
use crate::registry::SandboxRecord;

/// Minimum client version that receives JSON with separate streams.
const SPLIT_SINCE: (u32, u32) = (0, 167);

/// Prefix of each chunk of standard output in the merged text.
const STDOUT: &str = "\u{1}\u{1}\u{1}";
const STDERR: &str = "\u{2}\u{2}\u{2}";

#[derive(Clone, Debug, Default)]
struct Command {
    id: String,
    command: String,
    exit_code: Option<i32>,
    output: Vec<(OutputStream, String)>,
    /// Standard input of an asynchronous command.
    input: Option<Input>,
    /// Input is not added to the output.
    hides_input: bool,
}

#[derive(Debug, Default)]
struct Session {
    commands: Vec<Command>,
    /// Abort handles of the commands in progress.
    running: Vec<tokio::task::AbortHandle>,
    /// The shell has exited.
    ended: bool,
    /// Held by the running command.
    turn: Arc<tokio::sync::Mutex<()>>,
}

/// All sessions by sandbox and name.
#[derive(Clone, Debug, Default)]
pub(crate) struct Sessions(Arc<Mutex<BTreeMap<(String, String), Session>>>);

impl Sessions {
    fn lock(&self) -> MutexGuard<'_, BTreeMap<(String, String), Session>> {
        self.0.lock()
    }

    fn with<T>(&self, key: &(String, String), work: impl FnOnce(&mut Session) -> T) -> Option<T> {
        self.lock().get_mut(key).map(work)
    }

    fn change(&self, key: &(String, String), command: &str, change: impl FnOnce(&mut Command)) {
        self.with(key, |session| session.commands.iter_mut().find(|known| known.id == command).map(change));
    }

    /// Adds a command to a session whose shell runs. Returns the lock that a running command of the session holds.
    fn add(&self, key: &(String, String), command: Command) -> Result<Arc<tokio::sync::Mutex<()>>, Box<Response>> {
        let added = self.with(key, |session| {
            if session.ended {
                let message = "failed to write command: io: read/write on closed pipe";
                return Err(Box::new(error_response(400, "BAD_REQUEST", message)));
            }
            session.commands.push(command);
            Ok(Arc::clone(&session.turn))
        });
        added.unwrap_or_else(|| Err(Box::new(no_session())))
    }
}

fn no_session() -> Response {
    error_response(404, "NOT_FOUND", "session not found")
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Create {
    session_id: String,
}

/// `POST /process/session`
pub(super) async fn create(
    State(shared): State<Shared>,
    Path(id): Path<String>,
    headers: HeaderMap,
    Json(create): Json<Create>,
) -> Response {
    if let Err(rejected) = shared.authorized_sandbox(&id, &headers).await {
        return *rejected;
    }
    let mut sessions = shared.sessions.lock();
    if sessions.contains_key(&(id.clone(), create.session_id.clone())) {
        return error_response(409, "CONFLICT", "session already exists");
    }
    sessions.insert((id, create.session_id), Session::default());
    StatusCode::CREATED.into_response()
}

fn describe(name: &str, session: &Session) -> Value {
    let commands: Vec<Value> = session.commands.iter().map(describe_command).collect();
    json!({ "sessionId": name, "commands": commands })
}

fn describe_command(command: &Command) -> Value {
    let mut described = json!({ "id": command.id, "command": command.command });
    if let Some(code) = command.exit_code {
        described["exitCode"] = json!(code);
    }
    described
}

/// `GET /process/session`
pub(super) async fn list(State(shared): State<Shared>, Path(id): Path<String>, headers: HeaderMap) -> Response {
    if let Err(rejected) = shared.authorized_sandbox(&id, &headers).await {
        return *rejected;
    }
    let sessions = shared.sessions.lock();
    let here = sessions.iter().filter(|((sandbox, _), _)| *sandbox == id);
    Json(here.map(|((_, name), session)| describe(name, session)).collect::<Vec<_>>()).into_response()
}

/// `GET /process/session/{session}`
pub(super) async fn info(
    State(shared): State<Shared>,
    Path((id, name)): Path<(String, String)>,
    headers: HeaderMap,
) -> Response {
    if let Err(rejected) = shared.authorized_sandbox(&id, &headers).await {
        return *rejected;
    }
    let described = shared.sessions.with(&(id, name.clone()), |session| describe(&name, session));
    described.map_or_else(no_session, |described| Json(described).into_response())
}

/// `DELETE /process/session/{session}`: kills its commands.
pub(super) async fn delete(
    State(shared): State<Shared>,
    Path((id, name)): Path<(String, String)>,
    headers: HeaderMap,
) -> Response {
    if let Err(rejected) = shared.authorized_sandbox(&id, &headers).await {
        return *rejected;
    }
    let session = shared.sessions.lock().remove(&(id, name));
    match session {
        Some(session) => {
            session.running.iter().for_each(tokio::task::AbortHandle::abort);
            let running = session.commands.into_iter().filter(|command| command.exit_code.is_none());
            running.filter_map(|command| command.input).for_each(remove);
            StatusCode::NO_CONTENT.into_response()
        }
        None => no_session(),
    }
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Exec {
    command: String,
    #[serde(default)]
    run_async: bool,
    #[serde(default, rename = "async")]
    is_async: bool,
    suppress_input_echo: Option<bool>,
}

/// Removes an input that no command reads.
fn remove(input: Input) {
    tokio::spawn(async move { input.remove().await });
}

/// `POST /process/session/{session}/exec`
pub(super) async fn exec(
    State(shared): State<Shared>,
    Path((id, name)): Path<(String, String)>,
    headers: HeaderMap,
    Json(exec): Json<Exec>,
) -> Response {
    let sandbox = match shared.authorized_sandbox(&id, &headers).await {
        Ok(sandbox) => sandbox,
        Err(rejected) => return *rejected,
    };
    let key = (id, name);
    let is_async = exec.run_async || exec.is_async;
    // The daemon gives every command an open input. A client learns the id of a synchronous one too late to send any, so here
    // such a command gets an empty input, which it can read to its end.
    let input = match if is_async { Some(Input::open(&sandbox.sandbox).await) } else { None }.transpose() {
        Ok(input) => input,
        Err(error) => return error_response(400, "BAD_REQUEST", &format!("failed to write command: {error}")),
    };
    let command = format!("cmd-{:016x}", fastrand::u64(..));
    let known = Command {
        id: command.clone(),
        command: exec.command.clone(),
        input: input.clone(),
        hides_input: exec.suppress_input_echo.unwrap_or_default(),
        ..Command::default()
    };
    let turn = match shared.sessions.add(&key, known) {
        Ok(turn) => turn,
        Err(rejected) => {
            input.into_iter().for_each(remove);
            return *rejected;
        }
    };
    let run = run(shared.sessions.clone(), sandbox, turn, key.clone(), command.clone(), (exec.command, input));
    let task = tokio::spawn(run);
    shared.sessions.with(&key, |session| session.running.push(task.abort_handle()));
    if is_async {
        return (StatusCode::ACCEPTED, Json(json!({ "cmdId": command }))).into_response();
    }
    // The exit of a command that ends its shell is never reported, so the session is closed.
    let _ = task.await;
    let known =
        shared.sessions.with(&key, |session| session.commands.iter().find(|known| known.id == command).cloned());
    match known.flatten() {
        Some(known) if known.exit_code.is_some() => {
            let mut result = split(&headers, &known);
            result["cmdId"] = json!(command);
            result["exitCode"] = json!(known.exit_code);
            Json(result).into_response()
        }
        _ => error_response(400, "BAD_REQUEST", "session cancelled"),
    }
}

/// Prints the shell state as commands that restore it: writable variables, functions, aliases.
const SAVE_STATE_SCRIPT: &str = r#"for __name in $(compgen -v); do
  case $__name in
    BASH*|_|__*|FUNCNAME|PIPESTATUS|RANDOM|SRANDOM|SECONDS|LINENO|EPOCH*|COMP_*|OPT*|DIRSTACK|GROUPS|HISTCMD|IFS) continue;;
  esac
  __is=$(declare -p "$__name" 2>/dev/null) || continue
  __flags=${__is#declare }
  case ${__flags%% *} in *r*) ;; *) printf '%s\n' "$__is";; esac
done
declare -f; alias -p
"#;

/// Runs a session's command with the state left by the previous one: directory, variables, functions.
async fn run(
    sessions: Sessions,
    sandbox: SandboxRecord,
    turn: Arc<tokio::sync::Mutex<()>>,
    key: (String, String),
    command: String,
    (text, input): (String, Option<Input>),
) {
    let _turn = turn.lock_owned().await;
    let state = quote(&format!("/tmp/.daytona-{}", key.1.replace('/', "_")));
    let script = format!(
        "[ ! -f {state} ] || . {state}\n{{\n{text}\n}}\n__code=$?\n{{ {SAVE_STATE_SCRIPT}printf 'cd %q\\n' \"$PWD\"; }} >{state}.new \\\n  \
         && mv {state}.new {state} && echo \"$__code\" >{state}.code",
    );
    let script = input.as_ref().map_or_else(|| script.clone(), |input| input.redirect(&script));
    let mut request = ExecuteRequest::new(script).with_timeout(MAX_LENGTH);
    request.cwd = path(HOME).ok();
    let mut lines = [Lines::default(), Lines::default()];
    let output_session = sessions.clone();
    let mut sink = |written: OutputChunk| {
        let [out, err] = &mut lines;
        let lines = if written.stream == OutputStream::Stdout { out } else { err };
        let text = lines.push(&written.bytes);
        output_session.change(&key, &command, |known| known.output.push((written.stream, text)));
    };
    let _ = sandbox.sandbox.execute_streaming(request, &mut sink).await;
    for (stream, lines) in [OutputStream::Stdout, OutputStream::Stderr].into_iter().zip(&mut lines) {
        if let Some(text) = lines.end() {
            sessions.change(&key, &command, |known| known.output.push((stream, text)));
        }
    }
    if let Some(input) = input {
        input.remove().await;
    }
    let code = ExecuteRequest::new(format!("cat {state}.code && rm -f {state}.code"));
    let code = sandbox.sandbox.execute(code).await.ok().and_then(|response| response.stdout_text().trim().parse().ok());
    if code.is_none() {
        sessions.with(&key, |session| session.ended = true);
    }
    sessions.change(&key, &command, |known| (known.exit_code, known.input) = (code, None));
}

/// Output in the daemon's format: whole lines, each with a line feed, without NUL bytes.
#[derive(Debug, Default)]
struct Lines(Vec<u8>);

impl Lines {
    fn push(&mut self, bytes: &[u8]) -> String {
        self.0.extend(bytes.iter().filter(|byte| **byte != 0));
        let whole = self.0.iter().rposition(|byte| *byte == b'\n').map_or(0, |at| at + 1);
        let lines: Vec<u8> = self.0.drain(..whole).collect();
        String::from_utf8_lossy(&lines).into_owned()
    }

    fn end(&mut self) -> Option<String> {
        let rest = std::mem::take(&mut self.0);
        (!rest.is_empty()).then(|| String::from_utf8_lossy(&rest).into_owned() + "\n")
    }
}

/// `GET /process/session/{session}/command/{command}`
pub(super) async fn command(
    State(shared): State<Shared>,
    Path((id, name, command)): Path<(String, String, String)>,
    headers: HeaderMap,
) -> Response {
    match shared.authorized_session(&id, name, &command, &headers).await {
        Ok(known) => Json(describe_command(&known)).into_response(),
        Err(rejected) => *rejected,
    }
}

#[derive(Debug, Deserialize)]
pub(super) struct SendInput {
    data: String,
}

/// `POST /process/session/{session}/command/{command}/input`
pub(super) async fn send_input(
    State(shared): State<Shared>,
    Path((id, name, command)): Path<(String, String, String)>,
    headers: HeaderMap,
    body: Result<Json<SendInput>, JsonRejection>,
) -> Response {
    let known = match shared.authorized_session(&id, name.clone(), &command, &headers).await {
        Ok(known) => known,
        Err(rejected) => return *rejected,
    };
    let mut data = match body {
        Ok(Json(SendInput { data })) => data,
        Err(rejection) => return error_response(400, "BAD_REQUEST", &rejection.body_text()),
    };
    let key = (id, name);
    if shared.sessions.with(&key, |session| session.ended) == Some(true) {
        return error_response(410, "GONE", "session process has exited");
    }
    if let Some(code) = known.exit_code {
        return error_response(410, "GONE", &format!("command has already completed with exit code {code}"));
    }
    let Some(input) = known.input else {
        return error_response(400, "BAD_REQUEST", "the command has no standard input: run it with runAsync");
    };
    // As in the daemon, so that `read` returns.
    if !data.ends_with('\n') {
        data.push('\n');
    }
    if let Err(error) = input.send(data.clone().into_bytes()).await {
        return error_response(500, "INTERNAL_SERVER_ERROR", &format!("failed to write to input pipe: {error}"));
    }
    if !known.hides_input {
        shared.sessions.change(&key, &command, |known| known.output.push((OutputStream::Stdout, data)));
    }
    StatusCode::NO_CONTENT.into_response()
}

/// `GET /process/session/{session}/command/{command}/logs`: the current output, or over a WebSocket all output until
/// the exit.
pub(super) async fn logs(
    State(shared): State<Shared>,
    Path((id, name, command)): Path<(String, String, String)>,
    headers: HeaderMap,
    upgrade: Result<WebSocketUpgrade, WebSocketUpgradeRejection>,
) -> Response {
    match (shared.authorized_session(&id, name.clone(), &command, &headers).await, upgrade) {
        (Err(rejected), _) => *rejected,
        (Ok(_), Ok(upgrade)) => {
            upgrade.on_upgrade(move |socket| follow(socket, shared.sessions, (id, name), command)).into_response()
        }
        (Ok(known), Err(_)) if is_split(&headers) => Json(split(&headers, &known)).into_response(),
        (Ok(known), Err(_)) => joined(&known).into_response(),
    }
}

/// Poll interval of a followed command's output.
const POLL_INTERVAL: Duration = Duration::from_millis(50);

/// Sends the output of a command, each chunk prefixed with the mark of its stream, until it has exited.
async fn follow(mut socket: WebSocket, sessions: Sessions, key: (String, String), command: String) {
    let mut sent = 0;
    loop {
        let known = sessions.with(&key, |session| {
            let known = session.commands.iter().find(|known| known.id == command)?;
            let fresh: Vec<_> = known.output.iter().skip(sent).cloned().collect();
            Some((fresh, known.exit_code.is_some() || session.ended))
        });
        let Some(Some((fresh, is_over))) = known else { break };
        sent += fresh.len();
        for chunk in &fresh {
            if socket.send(Message::Binary(prefix_stream(chunk).into())).await.is_err() {
                return;
            }
        }
        if is_over {
            break;
        }
        tokio::time::sleep(POLL_INTERVAL).await;
    }
    // A client that has disconnected needs no close message.
    let _ = socket.send(Message::Close(Some(CloseFrame { code: 1000, reason: "".into() }))).await;
}

/// Returns a chunk of output prefixed with the mark of its stream.
fn prefix_stream((stream, text): &(OutputStream, String)) -> String {
    match stream {
        _ if text.is_empty() => String::new(),
        OutputStream::Stdout => format!("{STDOUT}{text}"),
        OutputStream::Stderr => format!("{STDERR}{text}"),
    }
}

impl Shared {
    async fn authorized_session(
        &self,
        id: &str,
        name: String,
        command: &str,
        headers: &HeaderMap,
    ) -> Result<Command, Box<Response>> {
        self.authorized_sandbox(id, headers).await?;
        let found = self
            .sessions
            .with(&(id.to_owned(), name), |session| session.commands.iter().find(|known| known.id == command).cloned());
        let found = found.ok_or_else(|| Box::new(no_session()))?;
        found.ok_or_else(|| Box::new(error_response(404, "NOT_FOUND", "command not found")))
    }
}

/// Returns whether the client is new enough for separate streams.
fn is_split(headers: &HeaderMap) -> bool {
    let version = headers.get("x-daytona-sdk-version").and_then(|version| version.to_str().ok());
    let mut numbers = version.unwrap_or_default().split(['.', '-']).map_while(|number| number.parse::<u32>().ok());
    (numbers.next().unwrap_or(0), numbers.next().unwrap_or(0)) >= SPLIT_SINCE
}

fn joined(command: &Command) -> String {
    command.output.iter().map(|(_, text)| text.as_str()).collect()
}

fn split(headers: &HeaderMap, command: &Command) -> Value {
    if !is_split(headers) {
        return json!({ "output": joined(command) });
    }
    let of = |wanted: OutputStream| -> String {
        command.output.iter().filter(|(stream, _)| *stream == wanted).map(|(_, text)| text.as_str()).collect()
    };
    let output: String = command.output.iter().map(prefix_stream).collect();
    json!({ "output": output, "stdout": of(OutputStream::Stdout), "stderr": of(OutputStream::Stderr) })
}
