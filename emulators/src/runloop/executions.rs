//! Commands.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime};

use axum::Json;
use axum::extract::{Path, Query, State};
use axum::http::HeaderMap;
use axum::response::{IntoResponse, Response};
use serde::Deserialize;
use serde_json::{Value, json};
use tidebox_core::lock::Mutex;
use tidebox_core::{ExecuteRequest, OutputChunk, OutputStream, SandboxPath};
use tokio::sync::Notify;

use super::devboxes::Wait;
use super::{HOME, Shared, absent_response, error_response, id, request_id};
use crate::input::Input;
use crate::registry::SandboxRecord;

/// Maximum duration of a command.
const MAX_LENGTH: Duration = Duration::from_secs(48 * 60 * 60);

/// Maximum duration of a long poll.
const MAX_WAIT: f64 = 25.0;

/// Default number of output lines in a response.
const LINES: usize = 100;

/// Exit status of a killed command.
const KILLED: i32 = 137;

/// State of a command.
#[derive(Debug, Default)]
pub(super) struct Progress {
    pub(super) stdout: Vec<u8>,
    pub(super) stderr: Vec<u8>,
    pub(super) is_over: bool,
    pub(super) exit_status: Option<i32>,
    /// Lines of output with their times, for the log.
    pub(super) lines: Vec<(SystemTime, String)>,
    pub(super) ended_at: Option<SystemTime>,
    task: Option<tokio::task::AbortHandle>,
}

/// A command.
#[derive(Debug)]
pub(super) struct Execution {
    devbox: String,
    pub(super) id: String,
    pub(super) command: String,
    pub(super) started_at: SystemTime,
    input: Option<Input>,
    pub(super) progress: Mutex<Progress>,
    pub(super) changed: Notify,
}

/// Devbox id, and an execution id or client-chosen name.
type DevboxKey = (String, String);

/// All commands by devbox and id, and their ids by client-chosen name.
#[derive(Clone, Debug, Default)]
pub(crate) struct Executions {
    all: Arc<Mutex<BTreeMap<DevboxKey, Arc<Execution>>>>,
    by_client_name: Arc<Mutex<BTreeMap<DevboxKey, String>>>,
}

impl Executions {
    /// Kills all commands of a devbox.
    pub(super) fn end_all(&self, devbox: &str) {
        let here: Vec<Arc<Execution>> = {
            let all = self.all.lock();
            all.iter().filter(|((of, _), _)| of == devbox).map(|(_, execution)| Arc::clone(execution)).collect()
        };
        here.iter().for_each(|execution| execution.kill());
    }

    /// Returns all commands of a devbox, ordered by their start.
    pub(super) fn list(&self, devbox: &str) -> Vec<Arc<Execution>> {
        let all = self.all.lock();
        let here = all.iter().filter(|((of, _), _)| of == devbox);
        let mut found: Vec<Arc<Execution>> = here.map(|(_, execution)| Arc::clone(execution)).collect();
        found.sort_by_key(|execution| execution.started_at);
        found
    }

    pub(super) fn find(&self, devbox: &str, id: &str) -> Option<Arc<Execution>> {
        self.all.lock().get(&(devbox.to_owned(), id.to_owned())).cloned()
    }
}

impl Execution {
    fn kill(&self) {
        let mut progress = self.progress.lock();
        if !progress.is_over {
            if let Some(task) = progress.task.take() {
                task.abort();
            }
            (progress.is_over, progress.exit_status) = (true, Some(KILLED));
            progress.ended_at = Some(SystemTime::now());
        }
        drop(progress);
        if let Some(input) = self.input.clone() {
            tokio::spawn(async move { input.remove().await });
        }
        self.changed.notify_waiters();
    }

    /// Waits for the exit; false after the deadline.
    async fn ended(&self, end: Instant) -> bool {
        loop {
            let changed = self.changed.notified();
            let mut changed = std::pin::pin!(changed);
            changed.as_mut().enable();
            if self.progress.lock().is_over {
                return true;
            }
            if tokio::time::timeout_at(end.into(), changed).await.is_err() {
                return false;
            }
        }
    }

    fn view(&self, lines: usize) -> Value {
        let progress = self.progress.lock();
        let status = if progress.is_over { "completed" } else { "running" };
        let mut view = json!({ "devbox_id": self.devbox, "execution_id": self.id, "status": status });
        if progress.is_over {
            let (stdout, stdout_truncated) = last(&progress.stdout, lines);
            let (stderr, stderr_truncated) = last(&progress.stderr, lines);
            view["exit_status"] = json!(progress.exit_status);
            view["stdout"] = json!(stdout);
            view["stderr"] = json!(stderr);
            view["stdout_truncated"] = json!(stdout_truncated);
            view["stderr_truncated"] = json!(stderr_truncated);
        }
        view
    }
}

/// Returns the last lines of a text, and whether earlier ones were omitted.
fn last(bytes: &[u8], lines: usize) -> (String, bool) {
    let text = String::from_utf8_lossy(bytes);
    let all: Vec<&str> = text.split_inclusive('\n').collect();
    let kept = all.get(all.len().saturating_sub(lines)..).unwrap_or_default();
    (kept.concat(), kept.len() < all.len())
}

#[derive(Debug, Deserialize)]
pub(super) struct Execute {
    command: String,
    command_id: Option<String>,
    optimistic_timeout: Option<f64>,
    #[serde(default)]
    attach_stdin: Option<bool>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct LastN {
    last_n: Option<String>,
}

impl LastN {
    fn lines(&self) -> usize {
        self.last_n.as_deref().and_then(|text| text.parse().ok()).unwrap_or(LINES)
    }
}

impl Shared {
    /// Starts a command, or finds the existing one with this name.
    fn start(
        &self,
        devbox: &str,
        sandbox: SandboxRecord,
        command: String,
        name: Option<String>,
        input: Option<Input>,
    ) -> Arc<Execution> {
        let mut named = self.executions.by_client_name.lock();
        let name = name.map(|name| (devbox.to_owned(), name));
        let known = name.as_ref().and_then(|name| named.get(name)).and_then(|id| self.executions.find(devbox, id));
        if let Some(known) = known {
            if let Some(unused) = input {
                tokio::spawn(async move { unused.remove().await });
            }
            return known;
        }
        let execution = Arc::new(Execution {
            devbox: devbox.to_owned(),
            id: id("exec"),
            command: command.clone(),
            started_at: SystemTime::now(),
            input,
            progress: Mutex::default(),
            changed: Notify::default(),
        });
        if let Some(name) = name {
            named.insert(name, execution.id.clone());
        }
        let key = (devbox.to_owned(), execution.id.clone());
        self.executions.all.lock().insert(key, Arc::clone(&execution));
        let task = tokio::spawn(run(sandbox, command, Arc::clone(&execution)));
        execution.progress.lock().task = Some(task.abort_handle());
        execution
    }
}

async fn run(sandbox: SandboxRecord, command: String, execution: Arc<Execution>) {
    let command = execution.input.as_ref().map_or_else(|| command.clone(), |input| input.redirect(&command));
    let mut request = ExecuteRequest::new(command).with_timeout(MAX_LENGTH);
    request.cwd = SandboxPath::parse(HOME).ok();
    let written = Arc::clone(&execution);
    let mut sink = move |event: OutputChunk| {
        let mut progress = written.progress.lock();
        let stream = if event.stream == OutputStream::Stdout { &mut progress.stdout } else { &mut progress.stderr };
        stream.extend_from_slice(&event.bytes);
        let now = SystemTime::now();
        let text = String::from_utf8_lossy(&event.bytes);
        progress.lines.extend(text.lines().map(|line| (now, line.to_owned())));
        drop(progress);
        written.changed.notify_waiters();
    };
    let ended = sandbox.sandbox.execute_streaming(request, &mut sink).await;
    {
        let mut progress = execution.progress.lock();
        progress.is_over = true;
        progress.ended_at = Some(SystemTime::now());
        progress.exit_status = match ended {
            Ok(response) => response.exit_code,
            Err(error) => {
                progress.stderr.extend_from_slice(error.to_string().as_bytes());
                None
            }
        };
    }
    execution.changed.notify_waiters();
    if let Some(input) = &execution.input {
        input.remove().await;
    }
}

/// `POST /v1/devboxes/{id}/execute`
pub(super) async fn execute(
    State(shared): State<Shared>,
    Path(id): Path<String>,
    Query(last_n): Query<LastN>,
    headers: HeaderMap,
    Json(params): Json<Execute>,
) -> Response {
    let sandbox = match shared.authorized_sandbox(&id, &headers).await {
        Ok(sandbox) => sandbox,
        Err(rejected) => return *rejected,
    };
    let Some(name) = params.command_id else { return error_response(400, "bad_request", "command_id is required") };
    if name.len() != 36 || name.as_bytes().get(14) != Some(&b'7') {
        return error_response(400, "bad_request", "command_id must be a UUIDv7");
    }
    let execution = shared.start(&id, sandbox, params.command, Some(name), None);
    let wait = Wait { statuses: Vec::new(), timeout_seconds: params.optimistic_timeout };
    execution.ended(wait.end(MAX_WAIT)).await;
    Json(execution.view(last_n.lines())).into_response()
}

/// `POST /v1/devboxes/{id}/execute_async`
pub(super) async fn execute_async(
    State(shared): State<Shared>,
    Path(id): Path<String>,
    headers: HeaderMap,
    Json(params): Json<Execute>,
) -> Response {
    let sandbox = match shared.authorized_sandbox(&id, &headers).await {
        Ok(sandbox) => sandbox,
        Err(rejected) => return *rejected,
    };
    let input = match params.attach_stdin {
        Some(true) => Some(Input::open(&sandbox.sandbox).await),
        Some(false) | None => None,
    };
    match input.transpose() {
        Ok(input) => {
            Json(shared.start(&id, sandbox, params.command, request_id(&headers), input).view(LINES)).into_response()
        }
        Err(error) => error_response(500, "internal", &error),
    }
}

/// `POST /v1/devboxes/{id}/execute_sync`
pub(super) async fn execute_sync(
    State(shared): State<Shared>,
    Path(id): Path<String>,
    headers: HeaderMap,
    Json(params): Json<Execute>,
) -> Response {
    let sandbox = match shared.authorized_sandbox(&id, &headers).await {
        Ok(sandbox) => sandbox,
        Err(rejected) => return *rejected,
    };
    let execution = shared.start(&id, sandbox, params.command, request_id(&headers), None);
    execution.ended(Instant::now() + MAX_LENGTH).await;
    Json(execution.view(usize::MAX)).into_response()
}

/// Returns the command of a request.
pub(super) fn find_execution(
    shared: &Shared,
    headers: &HeaderMap,
    devbox: &str,
    id: &str,
) -> Result<Arc<Execution>, Box<Response>> {
    shared.authorised(headers)?;
    let missing = || Box::new(error_response(404, "not_found", "Execution not found"));
    shared.executions.find(devbox, id).ok_or_else(missing)
}

/// `GET /v1/devboxes/{id}/executions/{execution}`
pub(super) async fn info(
    State(shared): State<Shared>,
    Path((devbox, id)): Path<(String, String)>,
    Query(last_n): Query<LastN>,
    headers: HeaderMap,
) -> Response {
    match find_execution(&shared, &headers, &devbox, &id) {
        Ok(execution) => Json(execution.view(last_n.lines())).into_response(),
        Err(rejected) => *rejected,
    }
}

/// `POST /v1/devboxes/{id}/executions/{execution}/wait_for_status`
pub(super) async fn wait(
    State(shared): State<Shared>,
    Path((devbox, id)): Path<(String, String)>,
    Query(last_n): Query<LastN>,
    headers: HeaderMap,
    Json(wait): Json<Wait>,
) -> Response {
    let execution = match find_execution(&shared, &headers, &devbox, &id) {
        Ok(execution) => execution,
        Err(rejected) => return *rejected,
    };
    let now = execution.view(last_n.lines());
    if wait.statuses.iter().any(|status| now["status"] == status.as_str()) {
        return Json(now).into_response();
    }
    if execution.ended(wait.end(MAX_WAIT)).await {
        Json(execution.view(last_n.lines())).into_response()
    } else {
        error_response(408, "request_timeout", "timed out waiting for status")
    }
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct SendStdIn {
    text: Option<String>,
    signal: Option<String>,
}

/// `POST /v1/devboxes/{id}/executions/{execution}/send_std_in`
pub(super) async fn send_std_in(
    State(shared): State<Shared>,
    Path((devbox, id)): Path<(String, String)>,
    headers: HeaderMap,
    Json(params): Json<SendStdIn>,
) -> Response {
    let execution = match find_execution(&shared, &headers, &devbox, &id) {
        Ok(execution) => execution,
        Err(rejected) => return *rejected,
    };
    let is_over = execution.progress.lock().is_over;
    let Some(input) = execution.input.as_ref().filter(|_| !is_over) else {
        return error_response(400, "bad_request", "Execution has no open standard input");
    };
    let sent = match params.text {
        Some(text) => input.send(text.into_bytes()).await,
        None => Ok(()),
    };
    match params.signal.as_deref() {
        Some("EOF") => input.close().await,
        Some(signal) => return absent_response(&format!("signal {signal} for commands")),
        None => {}
    }
    Json(json!({ "devbox_id": devbox, "execution_id": id, "success": sent.is_ok() })).into_response()
}

/// `POST /v1/devboxes/{id}/executions/{execution}/kill`
pub(super) async fn kill(
    State(shared): State<Shared>,
    Path((devbox, id)): Path<(String, String)>,
    headers: HeaderMap,
) -> Response {
    match find_execution(&shared, &headers, &devbox, &id) {
        Ok(execution) => {
            execution.kill();
            Json(execution.view(LINES)).into_response()
        }
        Err(rejected) => *rejected,
    }
}

#[cfg(test)]
mod tests {
    use super::last;

    #[test]
    fn a_response_has_the_last_lines_and_a_truncation_flag() {
        assert_eq!(last(b"a\nb\nc", 2), ("b\nc".to_owned(), true));
        assert_eq!(last(b"a\nb\n", 2), ("a\nb\n".to_owned(), false));
        assert_eq!(last(b"", 2), (String::new(), false));
        assert_eq!(last(b"\xff", 2), ("\u{fffd}".to_owned(), false));
    }
}
