//! Requests about processes that outlive their call.

use std::collections::BTreeMap;
use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use serde::Deserialize;
use serde_json::{Value, json};

use super::request::Bytes;
use crate::{
    Error, ErrorKind, OutputCursor, OutputStream, ProcessId, ProcessInfo, ProcessInput, ProcessSignal, ProcessState,
    ReadOutput, Result, Sandbox, SandboxBackend, SpawnInput, SpawnRequest, TerminalSize,
};

#[derive(Debug, Deserialize, PartialEq)]
#[serde(deny_unknown_fields)]
pub(super) struct Spawn {
    command: String,
    #[serde(default)]
    cwd: Option<String>,
    #[serde(default)]
    env: BTreeMap<String, String>,
    /// Standard input stays open for `write_process`.
    #[serde(default)]
    input: bool,
    #[serde(default)]
    terminal: Option<Size>,
    #[serde(default)]
    timeout_ms: Option<u64>,
    #[serde(default)]
    tag: Option<String>,
}

#[derive(Debug, Deserialize, PartialEq)]
#[serde(deny_unknown_fields)]
pub(super) struct ReadProcess {
    id: String,
    #[serde(default)]
    after: u64,
    #[serde(default)]
    wait_ms: u64,
    #[serde(default)]
    max_bytes: Option<usize>,
}

#[derive(Debug, Deserialize, PartialEq)]
#[serde(deny_unknown_fields)]
pub(super) struct WriteProcess {
    id: String,
    #[serde(default)]
    input_base64: Bytes,
    /// Closes standard input after the bytes.
    #[serde(default)]
    end: bool,
}

#[derive(Debug, Deserialize, PartialEq)]
#[serde(deny_unknown_fields)]
pub(super) struct SignalProcess {
    id: String,
    signal: String,
}

#[derive(Debug, Deserialize, PartialEq)]
#[serde(deny_unknown_fields)]
pub(super) struct ResizeProcess {
    id: String,
    rows: u16,
    columns: u16,
}

/// Size of a terminal.
#[derive(Debug, Deserialize, PartialEq)]
#[serde(deny_unknown_fields)]
struct Size {
    rows: u16,
    columns: u16,
}

impl Size {
    fn size(self) -> TerminalSize {
        TerminalSize { rows: self.rows, columns: self.columns }
    }
}

pub(super) async fn spawn(sandbox: &Sandbox, request: Spawn) -> Result<Value> {
    let mut spawn = SpawnRequest::new(request.command);
    spawn.cwd = request.cwd.map(|cwd| sandbox.cwd().resolve(cwd)).transpose()?;
    spawn.env = request.env.into_iter().collect();
    spawn.input = if request.input { SpawnInput::Open } else { SpawnInput::Closed };
    spawn.terminal = request.terminal.map(Size::size);
    spawn.timeout = request.timeout_ms.map(Duration::from_millis);
    spawn.tag = request.tag;
    Ok(json!({ "id": sandbox.spawn(spawn).await?.as_str() }))
}

pub(super) async fn list(sandbox: &Sandbox) -> Result<Value> {
    let processes: Vec<Value> = sandbox.processes().await?.iter().map(describe).collect();
    Ok(json!({ "processes": processes }))
}

fn describe(info: &ProcessInfo) -> Value {
    json!({
        "id": info.id.as_str(),
        "tag": info.tag,
        "command": info.command,
        "started": info.started.as_secs_f64(),
        "state": state(&info.state),
        "written_bytes": info.written_bytes,
    })
}

fn state(state: &ProcessState) -> Value {
    match state {
        ProcessState::Running => json!({ "running": true, "exit_code": null, "stopped_by": null }),
        ProcessState::Ended { exit_code, stopped_by } => {
            json!({ "running": false, "exit_code": exit_code, "stopped_by": stopped_by.map(|reason| reason.as_str()) })
        }
    }
}

pub(super) async fn read(sandbox: &Sandbox, request: ReadProcess) -> Result<Value> {
    let mut read =
        ReadOutput::after(OutputCursor::new(request.after)).with_wait(Duration::from_millis(request.wait_ms));
    if let Some(max_bytes) = request.max_bytes {
        read = read.with_max_bytes(max_bytes);
    }
    let page = sandbox.read_process(&ProcessId::new(request.id), read).await?;
    let chunks: Vec<Value> = page
        .chunks
        .iter()
        .map(|chunk| {
            let stream = if chunk.stream == OutputStream::Stdout { "stdout" } else { "stderr" };
            json!({ "stream": stream, "bytes_base64": BASE64.encode(&chunk.bytes) })
        })
        .collect();
    Ok(json!({
        "output": String::from_utf8_lossy(&page.bytes()),
        "chunks": chunks,
        "next": page.next.bytes(),
        "dropped": page.dropped,
        "state": state(&page.state),
    }))
}

/// Writes all bytes; waits while the pipe is full.
pub(super) async fn write(sandbox: &Sandbox, request: WriteProcess) -> Result<Value> {
    let id = ProcessId::new(request.id);
    let mut rest = request.input_base64.0;
    while !rest.is_empty() {
        let written = sandbox.write_process(&id, ProcessInput::Bytes(rest.clone())).await?;
        rest.drain(..written.min(rest.len()));
    }
    if request.end {
        sandbox.write_process(&id, ProcessInput::End).await?;
    }
    Ok(json!({}))
}

pub(super) async fn signal(sandbox: &Sandbox, request: SignalProcess) -> Result<Value> {
    let Some(signal) = ProcessSignal::parse(&request.signal) else {
        let names = ProcessSignal::ALL.map(ProcessSignal::as_str).join(", ");
        let message = format!("unknown signal '{}'; expected one of: {names}", request.signal);
        return Err(Error::new(ErrorKind::InvalidRequest, "signal_process", message));
    };
    sandbox.signal_process(&ProcessId::new(request.id), signal).await?;
    Ok(json!({}))
}

pub(super) async fn resize(sandbox: &Sandbox, request: ResizeProcess) -> Result<Value> {
    let ResizeProcess { id, rows, columns } = request;
    sandbox.resize_process(&ProcessId::new(id), TerminalSize { rows, columns }).await?;
    Ok(json!({}))
}
