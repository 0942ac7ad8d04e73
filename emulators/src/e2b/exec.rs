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
use futures_util::StreamExt as _;
use futures_util::future::{Either, select};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use tidebox_core::shell_backend::quote;
use tidebox_core::{ExecuteRequest, OutputChunk, OutputStream, StopReason};
use tidebox_remote_adapters::e2b::{Frame, FrameReader};
use tokio::sync::{mpsc, oneshot};

use super::envd::{call_error_response, path};
use super::pty::{self, NewPty, Pty};
use super::{HOME, Shared, error_response};
use crate::input::Input;
use crate::registry::SandboxRecord;
use crate::terminal::Terminal;

/// Flag of the last envelope.
const END_OF_STREAM: u8 = 2;

/// Maximum duration of a command whose client specifies none.
const MAX_LENGTH: Duration = Duration::from_secs(24 * 60 * 60);

/// Maximum duration of the command that sends a signal.
const SIGNAL_TIME: Duration = Duration::from_secs(60);

/// Environment variable by which the processes of a command are found for a signal. A process group would not contain
/// those that job control has moved.
const MARK: &str = "TIDEBOX_E2B_COMMAND";

/// A command in progress.
#[derive(Debug)]
pub(crate) struct Process {
    /// `None` after a signal.
    kill: Option<oneshot::Sender<()>>,
    config: ProcessConfig,
    tag: Option<String>,
    input: Option<Input>,
    terminal: Option<Terminal>,
    /// Value of [`MARK`] in the environment of its processes.
    mark: String,
    /// Clients that follow its events.
    listeners: Vec<mpsc::UnboundedSender<Bytes>>,
}

impl Process {
    /// Creates the record of a command in a terminal.
    pub(super) fn in_terminal(
        terminal: Terminal,
        config: ProcessConfig,
        tag: Option<String>,
        kill: oneshot::Sender<()>,
        listener: mpsc::UnboundedSender<Bytes>,
    ) -> Self {
        let (kill, terminal, listeners) = (Some(kill), Some(terminal), vec![listener]);
        Self { kill, config, tag, input: None, terminal, mark: String::new(), listeners }
    }

    /// Returns the terminal, if it has one.
    pub(super) fn terminal(&self) -> Option<&Terminal> {
        self.terminal.as_ref()
    }

    /// Sends a message to all listeners.
    pub(super) fn send(&self, message: &Bytes) {
        for listener in &self.listeners {
            // The client may have disconnected.
            let _ = listener.send(message.clone());
        }
    }
}

#[derive(Debug, Deserialize)]
struct Start {
    process: ProcessConfig,
    tag: Option<String>,
    pty: Option<Pty>,
    #[serde(default)]
    stdin: bool,
}

#[derive(Clone, Debug, Deserialize, Serialize)]
pub(super) struct ProcessConfig {
    pub(super) cmd: String,
    #[serde(default)]
    pub(super) args: Vec<String>,
    #[serde(default)]
    pub(super) envs: BTreeMap<String, String>,
    #[serde(skip_serializing_if = "Option::is_none")]
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
    let Some(Ok(Start { process, tag, pty, stdin })) = message.map(|message| serde_json::from_slice(&message)) else {
        return streamed(Body::from(last(Some(("invalid_argument", "the message cannot be read")))));
    };
    if let Some(user) = unknown_user(&headers) {
        return streamed(Body::from(last(Some(("unauthenticated", &format!("invalid username: '{user}'"))))));
    }
    let time = number(&headers, "connect-timeout-ms").map_or(MAX_LENGTH, Duration::from_millis);
    let keepalive = number(&headers, "keepalive-ping-interval").map(Duration::from_secs);
    let cwd = process.cwd.clone().unwrap_or_else(|| HOME.to_owned());
    let Ok(directory) = path(&cwd) else {
        return streamed(Body::from(last(Some(("invalid_argument", &format!("cwd '{cwd}' is not valid"))))));
    };
    if !matches!(sandbox.sandbox.ls(&directory).await, Ok(Ok(listed)) if !listed.entries.is_empty() || is_directory(&sandbox, &cwd).await)
    {
        return streamed(Body::from(last(Some(("invalid_argument", &format!("cwd '{cwd}' does not exist"))))));
    }
    if let Some(pty) = pty {
        let sandbox = (id, sandbox);
        return pty::start(shared, NewPty { sandbox, process, tag, pty, cwd: directory, time, keepalive }).await;
    }
    let input = match stdin {
        true => Some(Input::open(&sandbox.sandbox).await),
        false => None,
    };
    let input = match input.transpose() {
        Ok(input) => input,
        Err(error) => return streamed(Body::from(last(Some(("internal", &error))))),
    };
    let command = line(&process);
    let command = input.as_ref().map_or_else(|| command.clone(), |input| input.redirect(&command));
    let mut request = ExecuteRequest::new(command).with_timeout(time).with_cwd(directory);
    let mark = format!("{:016x}", fastrand::u64(..));
    request.env = process.envs.clone().into_iter().collect();
    request.env.push((MARK.to_owned(), mark.clone()));
    let (listener, events) = mpsc::unbounded_channel();
    let (kill, killed) = oneshot::channel();
    let pid = next_pid();
    let (kill, terminal, listeners) = (Some(kill), None, vec![listener]);
    let started = Process { kill, config: process, tag, input, terminal, mark, listeners };
    shared.processes.lock().insert((id.clone(), pid), started);
    shared.emit(&(id.clone(), pid), &event(json!({ "start": { "pid": pid } })));
    tokio::spawn(run(shared, (id, pid), sandbox, request, killed));
    streamed(Body::from_stream(follow(events, keepalive)))
}

/// Process id of the next command.
static NEXT_PID: AtomicU64 = AtomicU64::new(100);

/// Returns the process id of the next command.
pub(super) fn next_pid() -> u64 {
    NEXT_PID.fetch_add(1, Ordering::Relaxed)
}

/// `process.Process/Connect`: the events of a command after the request.
pub(super) async fn connect(State(shared): State<Shared>, headers: HeaderMap, body: Bytes) -> Response {
    let id = match shared.authorized_sandbox(&headers).await {
        Ok((id, _)) => id,
        Err(rejected) => return *rejected,
    };
    let frames = FrameReader::default().push(&body);
    let message = frames.and_then(|frames| frames.into_iter().next()).map(|frame| frame.message);
    let Some(Ok(Connect { process })) = message.map(|message| serde_json::from_slice(&message)) else {
        return streamed(Body::from(last(Some(("invalid_argument", "the message cannot be read")))));
    };
    let keepalive = number(&headers, "keepalive-ping-interval").map(Duration::from_secs);
    let (listener, events) = mpsc::unbounded_channel();
    let mut processes = shared.processes.lock();
    let found = process.pid(&id, &processes).and_then(|pid| Some((pid, processes.get_mut(&(id, pid))?)));
    let Some((pid, known)) = found else {
        let message = format!("process with {process} not found");
        return streamed(Body::from(last(Some(("not_found", &message)))));
    };
    // The receiver is below.
    let _ = listener.send(event(json!({ "start": { "pid": pid } })));
    known.listeners.push(listener);
    streamed(Body::from_stream(follow(events, keepalive)))
}

#[derive(Debug, Deserialize)]
struct Connect {
    process: Selector,
}

/// Returns a positive number of a header.
fn number(headers: &HeaderMap, name: &str) -> Option<u64> {
    let number = headers.get(name)?.to_str().ok()?.parse::<u64>().ok()?;
    Some(number).filter(|number| *number > 0)
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
fn line(process: &ProcessConfig) -> String {
    match process.args.as_slice() {
        [login, option, script] if login == "-l" && option == "-c" && process.cmd.ends_with("bash") => script.clone(),
        args => std::iter::once(&process.cmd).chain(args).map(|word| quote(word)).collect::<Vec<_>>().join(" "),
    }
}

impl Shared {
    /// Sends an event of a command to its listeners. Those that have disconnected are removed.
    pub(super) fn emit(&self, key: &(String, u64), message: &Bytes) {
        if let Some(process) = self.processes.lock().get_mut(key) {
            process.listeners.retain(|listener| listener.send(message.clone()).is_ok());
        }
    }
}

/// Runs a command until it exits. The real daemon keeps a command running when its client disconnects, too.
async fn run(
    shared: Shared,
    key: (String, u64),
    sandbox: SandboxRecord,
    request: ExecuteRequest,
    killed: oneshot::Receiver<()>,
) {
    let mut sink = |written: OutputChunk| {
        let name = if written.stream == OutputStream::Stdout { "stdout" } else { "stderr" };
        shared.emit(&key, &event(json!({ "data": { name: BASE64.encode(written.bytes) } })));
    };
    let ended = {
        let running = sandbox.sandbox.execute_streaming(request, &mut sink);
        match select(running, killed).await {
            Either::Left((ended, _)) => Some(ended),
            Either::Right(_) => None,
        }
    };
    // Removed before its end is reported, so that a client that has seen the end does not find it in a list.
    let process = shared.processes.lock().remove(&key);
    if let Some(input) = process.as_ref().and_then(|process| process.input.as_ref()) {
        input.remove().await;
    }
    let emit = |message: Bytes| process.iter().for_each(|process| process.send(&message));
    match ended {
        None => emit_end(None, false, &emit),
        Some(Ok(response)) => {
            let is_timeout = response.stopped_by == Some(StopReason::Timeout);
            emit_end(response.exit_code.or(Some(-1)), is_timeout, &emit);
        }
        Some(Err(error)) => emit(last(Some(("internal", &error.to_string())))),
    }
}

/// Streams the events of a command, with keepalive events in pauses.
pub(super) fn follow(
    events: mpsc::UnboundedReceiver<Bytes>,
    keepalive: Option<Duration>,
) -> impl futures_util::Stream<Item = Result<Bytes, std::convert::Infallible>> {
    futures_util::stream::unfold(events, move |mut events| async move {
        let pause = keepalive.unwrap_or(MAX_LENGTH);
        match tokio::time::timeout(pause, events.recv()).await {
            Ok(message) => message.map(|message| (Ok(message), events)),
            Err(_) => Some((Ok(event(json!({ "keepalive": {} }))), events)),
        }
    })
}

/// Sends the last events of a command: of one that was killed if it has no exit code.
pub(super) fn emit_end(exit_code: Option<i32>, is_timeout: bool, emit: &impl Fn(Bytes)) {
    if is_timeout {
        return emit(last(Some(("deadline_exceeded", "context deadline exceeded"))));
    }
    let Some(code) = exit_code else {
        emit(event(json!({ "end": { "exitCode": -1, "status": "signal: killed", "error": "signal: killed" } })));
        return emit(last(None));
    };
    let status = format!("exit status {code}");
    // As in all protobuf JSON, zero and an empty error are omitted.
    let end = match code {
        0 => json!({ "exited": true, "status": status }),
        _ => json!({ "exitCode": code, "exited": true, "status": status, "error": status }),
    };
    emit(event(json!({ "end": end })));
    emit(last(None));
}

pub(super) fn event(event: Value) -> Bytes {
    Bytes::from(Frame::write(0, json!({ "event": event }).to_string().as_bytes()))
}

/// The last envelope, with an optional error.
pub(super) fn last(error: Option<(&str, &str)>) -> Bytes {
    let message = match error {
        Some((code, message)) => json!({ "error": { "code": code, "message": message } }),
        None => json!({}),
    };
    Bytes::from(Frame::write(END_OF_STREAM, message.to_string().as_bytes()))
}

pub(super) fn streamed(body: Body) -> Response {
    ([(header::CONTENT_TYPE, "application/connect+json")], body).into_response()
}

#[derive(Debug, Deserialize)]
pub(super) struct SendSignal {
    process: Selector,
    #[serde(default)]
    signal: String,
}

/// Selects a command by process id or tag.
#[derive(Debug, Deserialize)]
pub(super) struct Selector {
    pid: Option<u64>,
    tag: Option<String>,
}

impl Selector {
    pub(super) fn pid(&self, sandbox: &str, processes: &super::Processes) -> Option<u64> {
        let has_tag = |process: &Process| self.tag.is_some() && process.tag == self.tag;
        let mut here = processes.iter().filter(|((of, _), _)| of == sandbox);
        self.pid.or_else(|| here.find(|(_, process)| has_tag(process)).map(|((_, pid), _)| *pid))
    }
}

impl std::fmt::Display for Selector {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match (self.pid, &self.tag) {
            (Some(pid), _) => write!(f, "pid {pid}"),
            (None, tag) => write!(f, "tag {}", tag.as_deref().unwrap_or_default()),
        }
    }
}

/// Signal that a command may handle. The only other one kills.
const TERM: &str = "SIGNAL_SIGTERM";

/// `process.Process/SendSignal`
pub(super) async fn send_signal(
    State(shared): State<Shared>,
    headers: HeaderMap,
    Json(params): Json<SendSignal>,
) -> Response {
    let (id, sandbox) = match shared.authorized_sandbox(&headers).await {
        Ok(found) => found,
        Err(rejected) => return *rejected,
    };
    if !params.signal.is_empty() && !params.signal.starts_with("SIGNAL_") {
        return error_response(400, &format!("unknown signal {}", params.signal));
    }
    let target = {
        let mut processes = shared.processes.lock();
        let pid = params.process.pid(&id, &processes);
        let Some(process) = pid.and_then(|pid| processes.get_mut(&(id, pid))) else {
            return call_error_response(404, "not_found", &format!("process with {} not found", params.process));
        };
        if params.signal != TERM {
            if let Some(kill) = process.kill.take() {
                // The receiver may already be dropped if the command has just exited; ignore the error.
                let _ = kill.send(());
            }
            return Json(json!({})).into_response();
        }
        process.terminal.clone().ok_or_else(|| process.mark.clone())
    };
    let terminated = match target {
        Ok(terminal) => terminal.terminate().await,
        Err(mark) => terminate(&sandbox, &mark).await,
    };
    match terminated {
        Ok(()) => Json(json!({})).into_response(),
        Err(error) => CallError(500, "internal", error.to_string()).into_response(),
    }
}

/// Sends SIGTERM to all processes of a command. Those that have just ended are not an error.
async fn terminate(sandbox: &SandboxRecord, mark: &str) -> tidebox_core::Result<()> {
    let script = format!(
        "for p in $(grep -ls {MARK}={mark} /proc/[0-9]*/environ); do p=${{p#/proc/}}; \
         kill -TERM ${{p%/environ}} 2>/dev/null; done"
    );
    sandbox.sandbox.execute(ExecuteRequest::new(script).with_timeout(SIGNAL_TIME)).await.map(drop)
}

/// Error of a call: status, code and message.
#[derive(Debug)]
pub(super) struct CallError(u16, &'static str, String);

impl CallError {
    /// The error for a command that does not exist.
    pub(super) fn not_found(selector: &Selector) -> Self {
        Self(404, "not_found", format!("process with {selector} not found"))
    }

    /// The error of a call for a terminal about another command.
    pub(super) fn without_terminal() -> Self {
        Self(400, "failed_precondition", "tty not assigned to process".to_owned())
    }
}

impl IntoResponse for CallError {
    fn into_response(self) -> Response {
        call_error_response(self.0, self.1, &self.2)
    }
}

/// Destination of input.
#[derive(Debug)]
enum InputTarget {
    Pipe(Input),
    Terminal(Terminal),
}

impl Shared {
    /// Returns the standard input of a command.
    fn input(&self, sandbox: &str, selector: &Selector) -> Result<InputTarget, CallError> {
        let processes = self.processes.lock();
        let pid = selector.pid(sandbox, &processes);
        let Some(process) = pid.and_then(|pid| processes.get(&(sandbox.to_owned(), pid))) else {
            return Err(CallError::not_found(selector));
        };
        if let Some(terminal) = &process.terminal {
            return Ok(InputTarget::Terminal(terminal.clone()));
        }
        let closed = || CallError(400, "failed_precondition", "stdin not enabled or closed".to_owned());
        process.input.clone().map(InputTarget::Pipe).ok_or_else(closed)
    }
}

/// Bytes for a command, in base64.
#[derive(Debug, Default, Deserialize)]
struct ProcessInput {
    stdin: Option<String>,
    pty: Option<String>,
}

impl ProcessInput {
    async fn send(self, input: &InputTarget) -> Result<(), CallError> {
        let invalid = |_| CallError(400, "invalid_argument", "the input is not base64".to_owned());
        let decode = |text: Option<String>| BASE64.decode(text.unwrap_or_default()).map_err(invalid);
        match input {
            InputTarget::Terminal(_) if self.stdin.is_some() => {
                let message = "tty assigned to process — input should be written to the pty, not the stdin";
                Err(CallError(400, "failed_precondition", message.to_owned()))
            }
            InputTarget::Terminal(terminal) => {
                let sent = terminal.write(&decode(self.pty)?).await;
                sent.map_err(|error| CallError(500, "internal", error.message().to_owned()))
            }
            InputTarget::Pipe(_) if self.pty.is_some() => Err(CallError::without_terminal()),
            InputTarget::Pipe(input) => {
                input.send(decode(self.stdin)?).await.map_err(|error| CallError(500, "internal", error))
            }
        }
    }
}

#[derive(Debug, Deserialize)]
pub(super) struct SendInput {
    process: Selector,
    #[serde(default)]
    input: ProcessInput,
}

/// `process.Process/SendInput`
pub(super) async fn send_input(
    State(shared): State<Shared>,
    headers: HeaderMap,
    Json(params): Json<SendInput>,
) -> Response {
    let id = match shared.authorized_sandbox(&headers).await {
        Ok((id, _)) => id,
        Err(rejected) => return *rejected,
    };
    let input = match shared.input(&id, &params.process) {
        Err(error) => return error.into_response(),
        Ok(input) => input,
    };
    match params.input.send(&input).await {
        Ok(()) => Json(json!({})).into_response(),
        Err(error) => error.into_response(),
    }
}

/// A message of a stream of input.
#[derive(Debug, Deserialize)]
struct StreamedInput {
    start: Option<CloseStdin>,
    data: Option<InputData>,
}

#[derive(Debug, Deserialize)]
struct InputData {
    #[serde(default)]
    input: ProcessInput,
}

/// `process.Process/StreamInput`
pub(super) async fn stream_input(State(shared): State<Shared>, headers: HeaderMap, body: Body) -> Response {
    let id = match shared.authorized_sandbox(&headers).await {
        Ok((id, _)) => id,
        Err(rejected) => return *rejected,
    };
    let mut chunks = body.into_data_stream();
    let mut reader = FrameReader::default();
    let mut input = None;
    let mut result = Ok(());
    // After an error the rest is read without effect, because an early response closes the connection.
    while let Some(Ok(chunk)) = chunks.next().await {
        for frame in reader.push(&chunk).unwrap_or_default() {
            if result.is_ok() {
                result = shared.take_input(&id, &frame.message, &mut input).await;
            }
        }
    }
    match result {
        Ok(()) => streamed(Body::from([Frame::write(0, b"{}"), last(None).to_vec()].concat())),
        Err(CallError(_, code, message)) => streamed(Body::from(last(Some((code, &message))))),
    }
}

impl Shared {
    /// Handles one message of a stream of input.
    async fn take_input(&self, id: &str, message: &[u8], input: &mut Option<InputTarget>) -> Result<(), CallError> {
        let invalid = || CallError(400, "invalid_argument", "the message cannot be read".to_owned());
        let message: StreamedInput = serde_json::from_slice(message).map_err(|_| invalid())?;
        if let Some(start) = message.start {
            *input = Some(self.input(id, &start.process)?);
        }
        match (message.data, input) {
            (Some(data), Some(input)) => data.input.send(input).await,
            (Some(_), None) => Err(invalid()),
            (None, _) => Ok(()),
        }
    }
}

#[derive(Debug, Deserialize)]
pub(super) struct CloseStdin {
    process: Selector,
}

/// `process.Process/CloseStdin`
pub(super) async fn close_stdin(
    State(shared): State<Shared>,
    headers: HeaderMap,
    Json(params): Json<CloseStdin>,
) -> Response {
    let id = match shared.authorized_sandbox(&headers).await {
        Ok((id, _)) => id,
        Err(rejected) => return *rejected,
    };
    match shared.input(&id, &params.process) {
        Ok(InputTarget::Pipe(input)) => {
            input.close().await;
            Json(json!({})).into_response()
        }
        Ok(InputTarget::Terminal(_)) => {
            let message = "cannot close stdin for PTY process — send Ctrl+D (0x04) instead";
            CallError(400, "failed_precondition", message.to_owned()).into_response()
        }
        Err(error) => error.into_response(),
    }
}

/// `process.Process/List`
pub(super) async fn list(State(shared): State<Shared>, headers: HeaderMap) -> Response {
    let id = match shared.authorized_sandbox(&headers).await {
        Ok((id, _)) => id,
        Err(rejected) => return *rejected,
    };
    let processes = shared.processes.lock();
    let describe = |pid: u64, process: &Process| {
        let mut described = json!({ "pid": pid, "config": process.config });
        if let Some(tag) = &process.tag {
            described["tag"] = json!(tag);
        }
        described
    };
    let here = processes.iter().filter(|((sandbox, _), process)| *sandbox == id && process.kill.is_some());
    let running: Vec<Value> = here.map(|((_, pid), process)| describe(*pid, process)).collect();
    Json(if running.is_empty() { json!({}) } else { json!({ "processes": running }) }).into_response()
}
