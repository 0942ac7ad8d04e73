//! What a command wrote, as a cassette holds it.

use serde::{Deserialize, Serialize};

use super::bytes::Blob;
use super::named::Named;
use super::time::Seconds;
use crate::execute::{ExecuteResponse, OutputEvent, OutputStream, StopReason};
use crate::layer::redaction::Redaction;

/// An [`ExecuteResponse`] and what was streamed before it. What follows from something else is left out: `stdout` and
/// `stderr` when the events add up to them, `output` when it is the events, or without events stdout and then stderr.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(in crate::layer) struct Executed {
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
    stopped_by: Option<Named<StopReason>>,
    duration: Seconds,
    #[serde(default, skip_serializing_if = "is_zero")]
    peak_memory_bytes: u64,
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

impl Executed {
    pub(super) fn new(response: &ExecuteResponse, events: &[OutputEvent], redaction: &Redaction) -> Self {
        let (events, response) = redacted(response, events, redaction);
        let sum = sum(&events);
        let joint = joint(&events, &sum, &response.stdout, &response.stderr);
        let unless = |implied: &[u8], bytes: Vec<u8>| (implied != bytes).then_some(Blob(bytes));
        Self {
            stdout: unless(&sum.stdout, response.stdout),
            stderr: unless(&sum.stderr, response.stderr),
            output: unless(&joint, response.output),
            events: events.into_iter().map(Event::from).collect(),
            exit_code: response.exit_code,
            truncated: response.truncated,
            stopped_by: response.stopped_by.map(Named),
            duration: Seconds(response.duration),
            peak_memory_bytes: response.peak_memory_bytes,
        }
    }

    pub(super) fn replay(self) -> (Vec<OutputEvent>, ExecuteResponse) {
        let events: Vec<OutputEvent> = self.events.into_iter().map(OutputEvent::from).collect();
        let mut response = sum(&events);
        let streamed = std::mem::take(&mut response.output);
        let given = |given: Option<Blob>, implied: Vec<u8>| given.map_or(implied, |blob| blob.0);
        response.stdout = given(self.stdout, response.stdout);
        response.stderr = given(self.stderr, response.stderr);
        let sum = ExecuteResponse { output: streamed, ..ExecuteResponse::default() };
        response.output = given(self.output, joint(&events, &sum, &response.stdout, &response.stderr));
        response.exit_code = self.exit_code;
        response.truncated = self.truncated;
        response.stopped_by = self.stopped_by.map(|named| named.0);
        response.duration = self.duration.0;
        response.peak_memory_bytes = self.peak_memory_bytes;
        (events, response)
    }
}

/// Events without secrets.
pub(super) fn events(events: &[OutputEvent], redaction: &Redaction) -> Vec<Event> {
    redacted_events(events, &sum(events), redaction).into_iter().map(Event::from).collect()
}

fn sum(events: &[OutputEvent]) -> ExecuteResponse {
    let mut sum = ExecuteResponse::default();
    events.iter().for_each(|event| sum.push(event));
    sum
}

/// What both streams together are when the cassette does not say.
fn joint(events: &[OutputEvent], sum: &ExecuteResponse, stdout: &[u8], stderr: &[u8]) -> Vec<u8> {
    if events.is_empty() { [stdout, stderr].concat() } else { sum.output.clone() }
}

/// Response and events without secrets, also without those that two events, or two streams, tore apart.
fn redacted(
    response: &ExecuteResponse,
    events: &[OutputEvent],
    redaction: &Redaction,
) -> (Vec<OutputEvent>, ExecuteResponse) {
    let mut safe = response.clone();
    safe.stdout = redaction.bytes(safe.stdout);
    safe.stderr = redaction.bytes(safe.stderr);
    let before = sum(events);
    let safe_events = redacted_events(events, &before, redaction);
    let changed = safe.stdout != response.stdout || safe.stderr != response.stderr;
    safe.output = if !events.is_empty() && before.output == response.output {
        sum(&safe_events).output
    } else {
        let output = redaction.bytes(response.output.clone());
        let adds_up = |of: &ExecuteResponse, output: &[u8]| output.len() == of.stdout.len() + of.stderr.len();
        let whole = adds_up(response, &response.output) && adds_up(&safe, &output);
        if !changed || whole || response.output == response.stdout {
            output
        } else {
            // A secret of one stream may stand in the joint output with the other stream's bytes within.
            [&*safe.stdout, &safe.stderr].concat()
        }
    };
    (safe_events, safe)
}

fn redacted_events(events: &[OutputEvent], before: &ExecuteResponse, redaction: &Redaction) -> Vec<OutputEvent> {
    let single = |event: &OutputEvent| OutputEvent { bytes: redaction.bytes(event.bytes.clone()), ..event.clone() };
    let safe: Vec<OutputEvent> = events.iter().map(single).collect();
    let after = sum(&safe);
    let (stdout, stderr) = (redaction.bytes(before.stdout.clone()), redaction.bytes(before.stderr.clone()));
    if after.stdout == stdout && after.stderr == stderr {
        return safe;
    }
    let mut whole: Vec<OutputEvent> = Vec::new();
    for OutputEvent { stream, .. } in events {
        if whole.iter().all(|event| event.stream != *stream) {
            let bytes = if *stream == OutputStream::Stdout { stdout.clone() } else { stderr.clone() };
            whole.push(OutputEvent { stream: *stream, bytes });
        }
    }
    whole
}

impl From<OutputEvent> for Event {
    fn from(event: OutputEvent) -> Self {
        match event.stream {
            OutputStream::Stdout => Self::Stdout(Blob(event.bytes)),
            OutputStream::Stderr => Self::Stderr(Blob(event.bytes)),
        }
    }
}

impl From<Event> for OutputEvent {
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

    fn event(stream: OutputStream, bytes: &[u8]) -> OutputEvent {
        OutputEvent { stream, bytes: bytes.to_vec() }
    }

    #[test]
    fn what_follows_from_the_events_is_not_written_twice() {
        let events = [event(OutputStream::Stdout, b"a"), event(OutputStream::Stderr, b"b")];
        let response = ExecuteResponse { exit_code: Some(0), ..sum(&events) };
        let executed = Executed::new(&response, &events, &Redaction::new());
        let written = serde_json::to_string(&executed).unwrap();
        assert_eq!(written, r#"{"events":[{"stdout":"a"},{"stderr":"b"}],"exit_code":0,"duration":"0s"}"#);
        assert_eq!(executed.replay(), (events.to_vec(), response));
    }

    #[test]
    fn a_backend_that_knows_one_stream_only_is_replayed_as_it_was() {
        for (stdout, stderr, output) in [("", "", "all"), ("x", "", "x"), ("x", "y", "yx"), ("x", "", "")] {
            let mut response = ExecuteResponse { exit_code: None, ..ExecuteResponse::default() };
            (response.stdout, response.stderr, response.output) = (stdout.into(), stderr.into(), output.into());
            let executed = Executed::new(&response, &[], &Redaction::new());
            assert_eq!(executed.replay(), (Vec::new(), response));
        }
    }

    #[test]
    fn a_secret_torn_apart_by_events_or_by_the_other_stream_is_not_recorded() {
        let redaction = Redaction::new().secret("K", crate::Secret::new("secret"));
        let events = [
            event(OutputStream::Stdout, b"a sec"),
            event(OutputStream::Stderr, b"warning"),
            event(OutputStream::Stdout, b"ret b"),
        ];
        let response = sum(&events);
        let (_, streamed) = Executed::new(&response, &events, &redaction).replay();
        let (_, waited) = Executed::new(&response, &[], &redaction).replay();
        for replayed in [streamed, waited] {
            assert_eq!(replayed.stdout_text(), "a [redacted:K] b");
            assert_eq!(replayed.output_text(), "a [redacted:K] bwarning");
        }
    }
}
