//! Requests and responses about processes, as the class in JavaScript has them.

use std::time::Duration;

use serde_json::{Map, Value, json};
use tidebox::{
    OutputChunk, OutputCursor, OutputPage, OutputStream, ProcessId, ProcessInfo, ProcessState, ReadOutput, SpawnInput,
    SpawnRequest, StopReason, TerminalSize,
};

use crate::backend::named;
use crate::node;

pub(crate) fn options(request: &SpawnRequest) -> Value {
    let mut options = Map::new();
    if let Some(cwd) = &request.cwd {
        options.insert("cwd".to_owned(), json!(cwd.to_text()));
    }
    let env: Map<String, Value> = request.env.iter().map(|(name, value)| (name.clone(), json!(value))).collect();
    options.insert("env".to_owned(), Value::Object(env));
    options.insert("stdin".to_owned(), json!(request.input == SpawnInput::Open));
    if let Some(size) = request.terminal {
        options.insert("terminal".to_owned(), terminal(size));
    }
    if let Some(timeout) = request.timeout {
        options.insert("timeoutMs".to_owned(), json!(timeout.as_millis()));
    }
    if let Some(tag) = &request.tag {
        options.insert("tag".to_owned(), json!(tag));
    }
    Value::Object(options)
}

pub(crate) fn terminal(size: TerminalSize) -> Value {
    json!({ "rows": size.rows, "columns": size.columns })
}

pub(crate) fn read_options(request: &ReadOutput) -> Value {
    json!({
        "after": request.after.bytes(),
        "waitMs": request.wait.as_millis(),
        "maxBytes": request.max_bytes,
    })
}

fn state(value: &Value) -> ProcessState {
    if value["running"] == true {
        return ProcessState::Running;
    }
    ProcessState::Ended {
        exit_code: value["exitCode"].as_i64().and_then(|code| i32::try_from(code).ok()),
        stopped_by: value["stoppedBy"].as_str().and_then(|by| named(by, &StopReason::ALL, StopReason::as_str)),
    }
}

pub(crate) fn info(value: &Value) -> ProcessInfo {
    ProcessInfo {
        id: ProcessId::new(value["id"].as_str().expect("a process has an id")),
        tag: value["tag"].as_str().map(str::to_owned),
        command: value["command"].as_str().expect("a process has a command").to_owned(),
        started: Duration::from_secs_f64(value["startedMs"].as_f64().unwrap_or_default() / 1e3),
        state: state(value),
        written_bytes: value["writtenBytes"].as_u64().expect("written bytes are counted"),
    }
}

pub(crate) fn page(value: &Value) -> OutputPage {
    let chunk = |chunk: &Value| OutputChunk {
        stream: if chunk["stream"] == "stderr" { OutputStream::Stderr } else { OutputStream::Stdout },
        bytes: node::read_bytes(&chunk["bytes"]).expect("a chunk has bytes"),
    };
    OutputPage {
        chunks: value["chunks"].as_array().expect("a page has chunks").iter().map(chunk).collect(),
        next: OutputCursor::new(value["next"].as_u64().expect("a page has a cursor")),
        dropped: value["dropped"].as_u64().expect("dropped bytes are counted"),
        state: state(value),
    }
}
