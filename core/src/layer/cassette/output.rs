//! Recorded output of commands.

use serde::{Deserialize, Serialize};

use super::bytes::Blob;
use super::stable_name::ByName;
use super::time::Seconds;
use crate::execute::{ExecuteResponse, OutputChunk, OutputStream, StopReason};
use crate::layer::redaction::Redaction;
use crate::process::ProcessId;

/// An [`ExecuteResponse`] and the output streamed before it. Redundant fields are omitted: `stdout` and `stderr` if they are the
/// concatenated events, `output` if it is the events, or without events stdout followed by stderr.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(in crate::layer) struct RecordedExecution {
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    events: Vec<Event>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    stdout: Option<Blob>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    stderr: Option<Blob>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    output: Option<Blob>,
    exit_code: Option<i32>,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    truncated: bool,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    stopped_by: Option<ByName<StopReason>>,
    duration: Seconds,
    #[serde(default, skip_serializing_if = "is_zero")]
    peak_memory_bytes: u64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    cpu_time: Option<Seconds>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    process: Option<String>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Event {
    Stdout(Blob),
    Stderr(Blob),
}

fn is_zero(number: &u64) -> bool {
    *number == 0
}

impl RecordedExecution {
    pub(super) fn new(response: &ExecuteResponse, events: &[OutputChunk], redaction: &Redaction) -> Self {
        let (events, response) = redacted(response, events, redaction);
        let sum = combine(&events);
        let joint = interleaved(&events, &sum, &response.stdout, &response.stderr);
        let unless = |implied: &[u8], bytes: Vec<u8>| (implied != bytes).then_some(Blob(bytes));
        Self {
            stdout: unless(&sum.stdout, response.stdout),
            stderr: unless(&sum.stderr, response.stderr),
            output: unless(&joint, response.output),
            events: events.into_iter().map(Event::from).collect(),
            exit_code: response.exit_code,
            truncated: response.truncated,
            stopped_by: response.stopped_by.map(ByName),
            duration: Seconds(response.duration),
            peak_memory_bytes: response.peak_memory_bytes,
            cpu_time: response.cpu_time.map(Seconds),
            process: response.process.map(|id| super::process::redacted_id(&id, redaction)),
        }
    }

    pub(super) fn replay(self) -> (Vec<OutputChunk>, ExecuteResponse) {
        let events: Vec<OutputChunk> = self.events.into_iter().map(OutputChunk::from).collect();
        let mut response = combine(&events);
        let streamed = std::mem::take(&mut response.output);
        let given = |given: Option<Blob>, implied: Vec<u8>| given.map_or(implied, |blob| blob.0);
        response.stdout = given(self.stdout, response.stdout);
        response.stderr = given(self.stderr, response.stderr);
        let sum = ExecuteResponse { output: streamed, ..ExecuteResponse::default() };
        response.output = given(self.output, interleaved(&events, &sum, &response.stdout, &response.stderr));
        response.exit_code = self.exit_code;
        response.truncated = self.truncated;
        response.stopped_by = self.stopped_by.map(|named| named.0);
        response.duration = self.duration.0;
        response.peak_memory_bytes = self.peak_memory_bytes;
        response.cpu_time = self.cpu_time.map(|time| time.0);
        response.process = self.process.map(ProcessId::new);
        (events, response)
    }
}

/// Returns the events without secrets.
pub(super) fn events(events: &[OutputChunk], redaction: &Redaction) -> Vec<Event> {
    redacted_events(events, &combine(events), redaction).into_iter().map(Event::from).collect()
}

fn combine(events: &[OutputChunk]) -> ExecuteResponse {
    let mut sum = ExecuteResponse::default();
    events.iter().for_each(|event| sum.push_chunk(event));
    sum
}

/// Returns the default of `output`, used if the cassette does not contain the field.
fn interleaved(events: &[OutputChunk], sum: &ExecuteResponse, stdout: &[u8], stderr: &[u8]) -> Vec<u8> {
    if events.is_empty() { [stdout, stderr].concat() } else { sum.output.clone() }
}

/// Returns response and events without secrets, including secrets that are split between two events or interrupted by the other
/// stream.
fn redacted(
    response: &ExecuteResponse,
    events: &[OutputChunk],
    redaction: &Redaction,
) -> (Vec<OutputChunk>, ExecuteResponse) {
    let mut safe = response.clone();
    safe.stdout = redaction.bytes(safe.stdout);
    safe.stderr = redaction.bytes(safe.stderr);
    let before = combine(events);
    let safe_events = redacted_events(events, &before, redaction);
    let changed = safe.stdout != response.stdout || safe.stderr != response.stderr;
    safe.output = if !events.is_empty() && before.output == response.output {
        combine(&safe_events).output
    } else {
        let output = redaction.bytes(response.output.clone());
        let adds_up = |of: &ExecuteResponse, output: &[u8]| output.len() == of.stdout.len() + of.stderr.len();
        let whole = adds_up(response, &response.output) && adds_up(&safe, &output);
        if !changed || whole || response.output == response.stdout {
            output
        } else {
            // In the joint output, a secret of one stream may contain bytes of the other stream.
            [&*safe.stdout, &safe.stderr].concat()
        }
    };
    (safe_events, safe)
}

fn redacted_events(events: &[OutputChunk], before: &ExecuteResponse, redaction: &Redaction) -> Vec<OutputChunk> {
    let single = |event: &OutputChunk| OutputChunk { bytes: redaction.bytes(event.bytes.clone()), ..event.clone() };
    let safe: Vec<OutputChunk> = events.iter().map(single).collect();
    let after = combine(&safe);
    let (stdout, stderr) = (redaction.bytes(before.stdout.clone()), redaction.bytes(before.stderr.clone()));
    if after.stdout == stdout && after.stderr == stderr {
        return safe;
    }
    let mut whole: Vec<OutputChunk> = Vec::new();
    for OutputChunk { stream, .. } in events {
        if whole.iter().all(|event| event.stream != *stream) {
            let bytes = if *stream == OutputStream::Stdout { stdout.clone() } else { stderr.clone() };
            whole.push(OutputChunk { stream: *stream, bytes });
        }
    }
    whole
}

impl From<OutputChunk> for Event {
    fn from(event: OutputChunk) -> Self {
        match event.stream {
            OutputStream::Stdout => Self::Stdout(Blob(event.bytes)),
            OutputStream::Stderr => Self::Stderr(Blob(event.bytes)),
        }
    }
}

impl From<Event> for OutputChunk {
    fn from(event: Event) -> Self {
        match event {
            Event::Stdout(Blob(bytes)) => Self { stream: OutputStream::Stdout, bytes },
            Event::Stderr(Blob(bytes)) => Self { stream: OutputStream::Stderr, bytes },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn event(stream: OutputStream, bytes: &[u8]) -> OutputChunk {
        OutputChunk { stream, bytes: bytes.to_vec() }
    }

    #[test]
    fn output_derived_from_events_is_omitted() {
        let events = [event(OutputStream::Stdout, b"a"), event(OutputStream::Stderr, b"b")];
        let response = ExecuteResponse { exit_code: Some(0), ..combine(&events) };
        let executed = RecordedExecution::new(&response, &events, &Redaction::new());
        let written = serde_json::to_string(&executed).unwrap();
        assert_eq!(written, r#"{"events":[{"stdout":"a"},{"stderr":"b"}],"exit_code":0,"duration":"0s"}"#);
        assert_eq!(executed.replay(), (events.to_vec(), response));
    }

    #[test]
    fn a_backend_with_joint_output_is_replayed_unchanged() {
        for (stdout, stderr, output) in [("", "", "all"), ("x", "", "x"), ("x", "y", "yx"), ("x", "", "")] {
            let mut response = ExecuteResponse { exit_code: None, ..ExecuteResponse::default() };
            (response.stdout, response.stderr, response.output) = (stdout.into(), stderr.into(), output.into());
            let executed = RecordedExecution::new(&response, &[], &Redaction::new());
            assert_eq!(executed.replay(), (Vec::new(), response));
        }
    }

    #[test]
    fn a_secret_split_between_events_or_streams_is_redacted() {
        let redaction = Redaction::new().secret("K", crate::Secret::new("secret"));
        let events = [
            event(OutputStream::Stdout, b"a sec"),
            event(OutputStream::Stderr, b"warning"),
            event(OutputStream::Stdout, b"ret b"),
        ];
        let response = combine(&events);
        let (_, streamed) = RecordedExecution::new(&response, &events, &redaction).replay();
        let (_, waited) = RecordedExecution::new(&response, &[], &redaction).replay();
        for replayed in [streamed, waited] {
            assert_eq!(replayed.stdout_text(), "a [redacted:K] b");
            assert_eq!(replayed.output_text(), "a [redacted:K] bwarning");
        }
    }
}
