//! Processes that outlive the call that started them.

use std::collections::BTreeMap;
use std::time::Duration;

use axum::Json;
use axum::extract::rejection::{JsonRejection, QueryRejection};
use axum::extract::{Path, Query};
use axum::http::StatusCode;
use axum::routing::{delete, get, post};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;
use tidebox_core::{
    OutputCursor, OutputStream, ProcessId, ProcessInput, ProcessSignal, ReadOutput, SpawnInput, SpawnRequest,
    TerminalSize,
};

use super::auth::Caller;
use super::error::{ApiError, ApiResult};
use super::openapi::{Api, Operation};
use super::values::{Bytes, Empty, ProcessValue, encode, end, path, seconds};

/// Maximum time for which one read waits: below the timeouts of common proxies.
pub(super) const MAX_WAIT: Duration = Duration::from_secs(50);
/// Default and maximum of the bytes that one read returns.
const MAX_BYTES: usize = 1 << 20;

/// A process to start.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Spawn {
    /// Command line of bash. Either this or `arguments`.
    command: Option<String>,
    /// Program and arguments, without a shell.
    arguments: Option<Vec<String>>,
    /// Working directory. Default `/workspace`.
    cwd: Option<String>,
    /// Further environment variables.
    #[serde(default)]
    env: BTreeMap<String, String>,
    /// Keeps its standard input open for `input`. Default false.
    #[serde(default)]
    input: bool,
    /// Runs it in a terminal.
    terminal: Option<Size>,
    /// Time after which it is killed.
    timeout_seconds: Option<f64>,
    /// A name for its list entry.
    tag: Option<String>,
}

/// Size of a terminal in characters.
#[derive(Clone, Copy, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Size {
    rows: u16,
    columns: u16,
}

/// A started process.
#[derive(Debug, JsonSchema, Serialize)]
struct Started {
    id: String,
}

/// Processes in the order of their start. Those that have ended stay until their number is reached.
#[derive(Debug, JsonSchema, Serialize)]
struct ProcessList {
    processes: Vec<ProcessValue>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct OutputQuery {
    after: u64,
    wait_seconds: f64,
    max_bytes: Option<usize>,
}

/// Output after a cursor.
#[derive(Debug, JsonSchema, Serialize)]
struct Output {
    chunks: Vec<Chunk>,
    /// Cursor of the next read.
    next: u64,
    /// Bytes after the cursor that are not kept any more.
    dropped: u64,
    /// False once it has ended; output may still follow.
    running: bool,
    exit_code: Option<i32>,
    stopped_by: Option<String>,
}

/// Some output.
#[derive(Debug, JsonSchema, Serialize)]
struct Chunk {
    /// `stdout` or `stderr`; `stdout` in a terminal.
    stream: String,
    base64: String,
}

/// Input of a process.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Input {
    /// Bytes to write. Keys in a terminal.
    data: Option<Bytes>,
    /// Closes the input afterwards.
    #[serde(default)]
    end: bool,
}

/// Written input.
#[derive(Debug, JsonSchema, Serialize)]
struct Written {
    /// May be less than requested, if the process does not read.
    written_bytes: usize,
}

/// A signal to send.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Signal {
    /// Name or number: HUP, INT, QUIT, KILL, USR1, USR2, TERM, CONT or STOP.
    signal: String,
}

pub(super) fn add(api: &mut Api) {
    const BASE: &str = "/v1/sandboxes/{id}/processes";
    let operations = vec![
        Operation::new("post", "Starts a process").json::<Spawn>(api).returns::<Started>(api, 201, "It runs."),
        Operation::new("get", "Lists the processes").returns::<ProcessList>(api, 200, "The processes."),
    ];
    api.route(BASE, operations, post(spawn).get(list));
    let operation = Operation::new("get", "Reads output, or waits for some")
        .query("after", "integer", false, "Cursor of the previous read. Default 0")
        .query("wait_seconds", "number", false, "Time to wait for output, at most 50. Default 0")
        .query("max_bytes", "integer", false, "At most 1048576, the default")
        .returns::<Output>(api, 200, "The output.");
    api.route("/v1/sandboxes/{id}/processes/{process}/output", vec![operation], get(output));
    let operation = Operation::new("post", "Writes to its input").json::<Input>(api).returns::<Written>(
        api,
        200,
        "It was written.",
    );
    api.route("/v1/sandboxes/{id}/processes/{process}/input", vec![operation], post(input));
    let operation =
        Operation::new("post", "Sends a signal").json::<Signal>(api).returns::<Empty>(api, 200, "It was sent.");
    api.route("/v1/sandboxes/{id}/processes/{process}/signal", vec![operation], post(signal));
    let operation =
        Operation::new("post", "Changes its terminal").json::<Size>(api).returns::<Empty>(api, 200, "It was changed.");
    api.route("/v1/sandboxes/{id}/processes/{process}/resize", vec![operation], post(resize));
    let operation = Operation::new("delete", "Kills a process").returns_media(204, "It was killed.", "", json!(null));
    api.route("/v1/sandboxes/{id}/processes/{process}", vec![operation], delete(kill));
}

impl Spawn {
    fn into_request(self) -> ApiResult<SpawnRequest> {
        let mut request = match (self.command, self.arguments) {
            (Some(command), None) => SpawnRequest::new(command),
            (None, Some(arguments)) => SpawnRequest::from_arguments(arguments)?,
            _ => return Err(ApiError::invalid("a process needs one of the keys command and arguments")),
        };
        request.cwd = self.cwd.map(|cwd| path(&cwd)).transpose()?;
        request.env = self.env.into_iter().collect();
        if self.input {
            request.input = SpawnInput::Open;
        }
        request.terminal = self.terminal.map(|size| TerminalSize::new(size.rows, size.columns));
        request.timeout = self.timeout_seconds.map(|value| seconds("timeout_seconds", value)).transpose()?;
        request.tag = self.tag;
        Ok(request)
    }
}

async fn spawn(
    caller: Caller,
    Path(id): Path<String>,
    body: Result<Json<Spawn>, JsonRejection>,
) -> ApiResult<(StatusCode, Json<Started>)> {
    let Json(request) = body?;
    let process = caller.sandbox(&id).await?.sandbox.spawn(request.into_request()?).await?;
    Ok((StatusCode::CREATED, Json(Started { id: process.as_str().to_owned() })))
}

async fn list(caller: Caller, Path(id): Path<String>) -> ApiResult<Json<ProcessList>> {
    let processes = caller.sandbox(&id).await?.sandbox.processes().await?;
    Ok(Json(ProcessList { processes: processes.iter().map(ProcessValue::new).collect() }))
}

async fn output(
    caller: Caller,
    Path((id, process)): Path<(String, String)>,
    query: Result<Query<OutputQuery>, QueryRejection>,
) -> ApiResult<Json<Output>> {
    let Query(OutputQuery { after, wait_seconds, max_bytes }) = query?;
    let request = ReadOutput::after(OutputCursor::new(after))
        .with_wait(seconds("wait_seconds", wait_seconds)?.min(MAX_WAIT))
        .with_max_bytes(max_bytes.unwrap_or(MAX_BYTES).min(MAX_BYTES));
    let sandbox = caller.sandbox(&id).await?;
    let page = sandbox.sandbox.read_process(&ProcessId::new(process), request).await?;
    let chunks = page.chunks.iter().map(|chunk| {
        let stream = if chunk.stream == OutputStream::Stdout { "stdout" } else { "stderr" };
        Chunk { stream: stream.to_owned(), base64: encode(&chunk.bytes) }
    });
    let (exit_code, stopped_by) = end(&page.state);
    Ok(Json(Output {
        chunks: chunks.collect(),
        next: page.next.bytes(),
        dropped: page.dropped,
        running: !page.state.has_ended(),
        exit_code,
        stopped_by,
    }))
}

async fn input(
    caller: Caller,
    Path((id, process)): Path<(String, String)>,
    body: Result<Json<Input>, JsonRejection>,
) -> ApiResult<Json<Written>> {
    let Json(Input { data, end }) = body?;
    let (sandbox, process) = (caller.sandbox(&id).await?.sandbox, ProcessId::new(process));
    let bytes = data.map(|data| data.decode("data")).transpose()?.unwrap_or_default();
    let mut written_bytes = 0;
    if !bytes.is_empty() {
        written_bytes = sandbox.write_process(&process, ProcessInput::Bytes(bytes)).await?;
    }
    if end {
        sandbox.write_process(&process, ProcessInput::End).await?;
    }
    Ok(Json(Written { written_bytes }))
}

async fn signal(
    caller: Caller,
    Path((id, process)): Path<(String, String)>,
    body: Result<Json<Signal>, JsonRejection>,
) -> ApiResult<Json<Empty>> {
    let Json(Signal { signal: name }) = body?;
    let signal = ProcessSignal::parse(&name).ok_or_else(|| {
        let names = ProcessSignal::ALL.map(ProcessSignal::as_str).join(", ");
        ApiError::invalid(format!("unknown signal {name:?}; expected one of: {names}"))
    })?;
    caller.sandbox(&id).await?.sandbox.signal_process(&ProcessId::new(process), signal).await?;
    Ok(Json(Empty {}))
}

async fn resize(
    caller: Caller,
    Path((id, process)): Path<(String, String)>,
    body: Result<Json<Size>, JsonRejection>,
) -> ApiResult<Json<Empty>> {
    let Json(Size { rows, columns }) = body?;
    let size = TerminalSize::new(rows, columns);
    caller.sandbox(&id).await?.sandbox.resize_process(&ProcessId::new(process), size).await?;
    Ok(Json(Empty {}))
}

async fn kill(caller: Caller, Path((id, process)): Path<(String, String)>) -> ApiResult<StatusCode> {
    let sandbox = caller.sandbox(&id).await?.sandbox;
    sandbox.signal_process(&ProcessId::new(process), ProcessSignal::Kill).await?;
    Ok(StatusCode::NO_CONTENT)
}
