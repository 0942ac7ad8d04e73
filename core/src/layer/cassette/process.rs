//! Recorded processes and their output.

use serde::{Deserialize, Serialize};

use super::bytes::{Blob, Name, Text};
use super::output::{self, Event};
use super::stable_name::ByName;
use super::time::Seconds;
use crate::execute::{OutputChunk, StopReason};
use crate::layer::redaction::Redaction;
use crate::process::{
    OutputPage, ProcessId, ProcessInfo, ProcessInput, ProcessSignal, ProcessState, ReadOutput, SpawnInput,
    SpawnRequest, TerminalSize,
};

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(in crate::layer) struct Spawn {
    command: Text,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    arguments: Option<Vec<Text>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    cwd: Option<Name>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    env: Vec<(String, String)>,
    /// Its standard input is open.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    input: bool,
    /// Rows and columns of its terminal.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    terminal: Option<[u16; 2]>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    timeout: Option<Seconds>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    tag: Option<String>,
}

impl Spawn {
    pub(super) fn new(request: &SpawnRequest, redaction: &Redaction) -> Self {
        let SpawnRequest { command, arguments, cwd, env, input, terminal, timeout, tag } = request;
        let text = |text: &String| Text(redaction.text(text.clone()));
        Self {
            command: text(command),
            arguments: arguments.as_ref().map(|all| all.iter().map(text).collect()),
            cwd: cwd.as_ref().map(|cwd| Name(redaction.bytes(cwd.as_bytes().to_vec()))),
            env: env.iter().map(|(name, value)| redaction.environment(name.clone(), value.clone())).collect(),
            input: *input == SpawnInput::Open,
            terminal: terminal.map(|size| [size.rows, size.columns]),
            timeout: timeout.map(Seconds),
            tag: tag.clone().map(|tag| redaction.text(tag)),
        }
    }
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(in crate::layer) struct ReadProcess {
    pub(in crate::layer) id: String,
    after: u64,
    wait: Seconds,
    max_bytes: usize,
}

impl ReadProcess {
    pub(super) fn new(id: &ProcessId, request: &ReadOutput, redaction: &Redaction) -> Self {
        Self {
            id: redacted_id(id, redaction),
            after: request.after.bytes(),
            wait: Seconds(request.wait),
            max_bytes: request.max_bytes,
        }
    }
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(in crate::layer) struct WriteProcess {
    id: String,
    /// `None` is the end of the input.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    bytes: Option<Blob>,
}

impl WriteProcess {
    pub(super) fn new(id: &ProcessId, input: &ProcessInput, redaction: &Redaction) -> Self {
        let bytes = match input {
            ProcessInput::Bytes(bytes) => Some(Blob(redaction.bytes(bytes.clone()))),
            ProcessInput::End => None,
        };
        Self { id: redacted_id(id, redaction), bytes }
    }
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(in crate::layer) struct SignalProcess {
    id: String,
    signal: ByName<ProcessSignal>,
}

impl SignalProcess {
    pub(super) fn new(id: &ProcessId, signal: ProcessSignal, redaction: &Redaction) -> Self {
        Self { id: redacted_id(id, redaction), signal: ByName(signal) }
    }
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(in crate::layer) struct ResizeProcess {
    id: String,
    rows: u16,
    columns: u16,
}

impl ResizeProcess {
    pub(super) fn new(id: &ProcessId, size: TerminalSize, redaction: &Redaction) -> Self {
        Self { id: redacted_id(id, redaction), rows: size.rows, columns: size.columns }
    }
}

pub(super) fn redacted_id(id: &ProcessId, redaction: &Redaction) -> String {
    redaction.text(id.as_str().to_owned())
}

/// A state; `ended` is absent while the process runs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Ended {
    exit_code: Option<i32>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    stopped_by: Option<ByName<StopReason>>,
}

impl Ended {
    fn new(state: &ProcessState) -> Option<Self> {
        match state {
            ProcessState::Running => None,
            ProcessState::Ended { exit_code, stopped_by } => {
                Some(Self { exit_code: *exit_code, stopped_by: stopped_by.map(ByName) })
            }
        }
    }

    fn replay(ended: Option<Self>) -> ProcessState {
        ended.map_or(ProcessState::Running, |Self { exit_code, stopped_by }| ProcessState::Ended {
            exit_code,
            stopped_by: stopped_by.map(|named| named.0),
        })
    }
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(in crate::layer) struct RecordedProcess {
    id: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    tag: Option<String>,
    command: Text,
    started: Seconds,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    ended: Option<Ended>,
    written_bytes: u64,
}

impl RecordedProcess {
    pub(super) fn new(info: &ProcessInfo, redaction: &Redaction) -> Self {
        let ProcessInfo { id, tag, command, started, state, written_bytes } = info;
        Self {
            id: redacted_id(id, redaction),
            tag: tag.clone().map(|tag| redaction.text(tag)),
            command: Text(redaction.text(command.clone())),
            started: Seconds(*started),
            ended: Ended::new(state),
            written_bytes: *written_bytes,
        }
    }

    pub(super) fn replay(self) -> ProcessInfo {
        ProcessInfo {
            id: ProcessId::new(self.id),
            tag: self.tag,
            command: self.command.0,
            started: self.started.0,
            state: Ended::replay(self.ended),
            written_bytes: self.written_bytes,
        }
    }
}

/// One page of output.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(in crate::layer) struct RecordedPage {
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    events: Vec<Event>,
    /// Position of the first byte, and the one after the last. A redaction may change the number of bytes in between.
    pub(in crate::layer) start: u64,
    pub(in crate::layer) next: u64,
    #[serde(default, skip_serializing_if = "is_zero")]
    dropped: u64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    ended: Option<Ended>,
}

fn is_zero(number: &u64) -> bool {
    *number == 0
}

impl RecordedPage {
    pub(super) fn new(page: &OutputPage, redaction: &Redaction) -> Self {
        let bytes: usize = page.chunks.iter().map(|chunk| chunk.bytes.len()).sum();
        let next = page.next.bytes();
        Self {
            events: output::events(&page.chunks, redaction),
            start: next.saturating_sub(bytes as u64),
            next,
            dropped: page.dropped,
            ended: Ended::new(&page.state),
        }
    }

    pub(in crate::layer) fn chunks(&self) -> impl Iterator<Item = OutputChunk> {
        self.events.iter().cloned().map(OutputChunk::from)
    }

    pub(in crate::layer) fn state(&self) -> ProcessState {
        Ended::replay(self.ended.clone())
    }
}
