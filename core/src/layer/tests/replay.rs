use std::sync::Arc;
use std::time::Duration;

use futures_executor::block_on;
use futures_util::future::join_all;

use super::{Counting, Sandboxes, id, output, path};
use crate::backend::SandboxBackend;
use crate::error::{Error, ErrorKind};
use crate::execute::{ExecuteRequest, OutputChunk, OutputStream};
use crate::file::{ReadRequest, WriteRequest};
use crate::layer::{Cassette, Matching, Recorder, Redaction, Replayer, Response};
use crate::process::{OutputCursor, OutputPage, Process, ProcessId, ProcessState, ReadOutput};
use crate::provider::{ListRequest, SandboxProvider, Selector};

/// Records these commands of a counting sandbox.
fn recorded(commands: &[&str]) -> Cassette {
    let recorder = Recorder::default();
    let backend = recorder.backend(Counting::backend("sb-1"));
    for command in commands {
        let _ = block_on(output(&*backend, command));
    }
    recorder.cassette()
}

fn player(commands: &[&str], matching: Matching) -> Replayer {
    Replayer::new(recorded(commands), matching, Redaction::new()).unwrap()
}

fn missing(backend: &dyn SandboxBackend, request: ExecuteRequest) -> Error {
    let error = block_on(backend.execute(request)).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::NotRecorded);
    error
}

#[test]
fn equal_requests_replay_in_recorded_order_and_then_fail() {
    let player = player(&["date", "date", "ls"], Matching::InOrder);
    let replay = player.backend().unwrap();
    assert_eq!(replay.id().as_str(), "sb-1");
    assert_eq!(block_on(output(&*replay, "ls")).unwrap(), "3 ls");
    assert_eq!(block_on(output(&*replay, "date")).unwrap(), "1 date");
    assert_eq!(player.unused(), ["interaction 2, execute(command=\"date\")"]);
    assert_eq!(block_on(output(&*replay, "date")).unwrap(), "2 date");
    player.assert_all_used();
    let error = missing(&*replay, ExecuteRequest::new("date"));
    assert!(error.message().starts_with("this request was recorded 2 times and replayed 2 times"), "{error}");
}

#[test]
fn matching_by_request_repeats_the_last_recording() {
    let replay = player(&["date", "date"], Matching::ByRequest).backend().unwrap();
    let outputs: Vec<String> = (0..4).map(|_| block_on(output(&*replay, "date")).unwrap()).collect();
    assert_eq!(outputs, ["1 date", "2 date", "2 date", "2 date"]);
}

#[test]
#[should_panic(expected = "recorded but not used:\n  interaction 2, execute(command=\"b\")")]
fn unused_recordings_are_reported() {
    let player = player(&["a", "b"], Matching::InOrder);
    block_on(output(&*player.backend().unwrap(), "a")).unwrap();
    player.assert_all_used();
}

#[test]
fn an_unrecorded_request_shows_the_closest_and_differences() {
    let replay = player(&["cat notes.txt", "ls -l src", "make test"], Matching::InOrder).backend().unwrap();
    let request = ExecuteRequest::new("ls -la src").with_timeout(Duration::from_secs(5));
    let error = missing(&*replay, request);
    assert_eq!(
        error.to_string(),
        "execute: unrecorded request: execute(command=\"ls -la src\", timeout=\"5s\")\n\
         the closest recorded one: interaction 2, execute(command=\"ls -l src\")\n  \
         command: requested \"ls -la src\", recorded \"ls -l src\"\n  \
         timeout: requested \"5s\", recorded nothing\n\
         if the change is intended, record again (RecordMode::Missing or RecordMode::Always) (sandbox=sb-1)"
    );
    let other = block_on(replay.read(ReadRequest::new(path("/notes.txt")))).unwrap_err();
    assert!(other.message().contains("method: requested read, recorded execute"), "{other}");
    let streamed = block_on(replay.execute_streaming(ExecuteRequest::new("make test"), &mut |_| {})).unwrap_err();
    assert!(streamed.message().contains("interaction 3"), "{streamed}");
}

#[test]
fn a_difference_in_a_long_text_is_shown_with_context() {
    let long = |end: &str| format!("{}{end}{}", "x".repeat(5000), "y".repeat(5000));
    let commands = [long("old"), "unlike".to_owned()];
    let replay = player(&[&commands[0], &commands[1]], Matching::InOrder).backend().unwrap();
    let error = missing(&*replay, ExecuteRequest::new(long("new")));
    assert!(error.message().contains("xxxnewyyy") && error.message().contains("xxxoldyyy"), "{error}");
    assert!(error.message().len() < 2000, "{}", error.message().len());
}

#[test]
fn an_empty_cassette_is_named_in_the_error() {
    let player = Replayer::new(Cassette::new(), Matching::InOrder, Redaction::new()).unwrap();
    assert_eq!(player.backend().unwrap_err().kind(), ErrorKind::NotRecorded);
    let error = missing(&*player.sandbox(id("sb-1")), ExecuteRequest::new("ls"));
    assert!(error.message().contains("the cassette is empty"), "{error}");
}

#[test]
fn failures_are_replayed_unless_skipped() {
    let replay = player(&["fail"], Matching::InOrder).backend().unwrap();
    let failed = block_on(output(&*replay, "fail")).unwrap_err();
    assert_eq!((failed.kind(), failed.to_string().as_str()), (ErrorKind::Unavailable, "execute: no response"));
    let recorder = Recorder::default().skip_failures();
    let backend = recorder.backend(Counting::backend("sb-1"));
    block_on(output(&*backend, "fail")).unwrap_err();
    assert!(recorder.cassette().is_empty());
}

#[test]
fn close_succeeds_without_a_recording() {
    let player = player(&["a"], Matching::InOrder);
    let replay = player.backend().unwrap();
    block_on(replay.close()).unwrap();
    block_on(replay.close()).unwrap();
    let closed = block_on(replay.execute(ExecuteRequest::new("b"))).unwrap_err();
    assert_eq!(closed.kind(), ErrorKind::Closed);
    let recorder = Recorder::default();
    block_on(recorder.backend(Counting::backend("sb-1")).close()).unwrap();
    Replayer::new(recorder.cassette(), Matching::InOrder, Redaction::new()).unwrap().assert_all_used();
}

#[test]
fn concurrent_calls_are_recorded_in_start_order() {
    let recorder = Recorder::default();
    let backend = recorder.backend(Counting::backend("sb-1"));
    let commands: Vec<String> = (0..50).map(|at| format!("job {}", at % 5)).collect();
    let lived = block_on(join_all(commands.iter().map(|command| output(&*backend, command))));
    let player = Replayer::new(recorder.cassette(), Matching::InOrder, Redaction::new()).unwrap();
    let replay = player.backend().unwrap();
    let replayed: Vec<String> = commands.iter().map(|command| block_on(output(&*replay, command)).unwrap()).collect();
    assert_eq!(replayed, lived.into_iter().map(Result::unwrap).collect::<Vec<_>>());
    player.assert_all_used();
}

#[test]
fn each_recording_is_replayed_once_across_threads() {
    let player = player(&["date"; 64], Matching::InOrder);
    let replay = player.backend().unwrap();
    let mut outputs: Vec<String> = std::thread::scope(|scope| {
        let ask = || (0..16).map(|_| block_on(output(&*replay, "date")).unwrap()).collect::<Vec<_>>();
        let threads: Vec<_> = (0..4).map(|_| scope.spawn(ask)).collect();
        threads.into_iter().flat_map(|thread| thread.join().unwrap()).collect()
    });
    outputs.sort_by_key(|output| output.split(' ').next().unwrap().parse::<u32>().unwrap());
    assert_eq!(outputs, (1..=64).map(|at| format!("{at} date")).collect::<Vec<_>>());
}

#[test]
fn a_dropped_call_is_not_recorded() {
    let recorder = Recorder::default();
    let backend = recorder.backend(Counting::backend("sb-1"));
    let mut dropped = Box::pin(output(&*backend, "a"));
    let mut context = std::task::Context::from_waker(std::task::Waker::noop());
    assert!(dropped.as_mut().poll(&mut context).is_pending());
    drop(dropped);
    assert!(recorder.cassette().is_empty());
}

#[test]
fn a_provider_is_replayed_with_its_sandboxes() {
    let recorder = Recorder::default();
    let script = |provider: Arc<dyn SandboxProvider>| {
        block_on(async move {
            let mut reported = Vec::new();
            let labels = [("thread".to_owned(), "1".to_owned())].into();
            let one = provider.get_or_create(Selector::Labels(labels)).await.unwrap();
            let two = provider.get_or_create(Selector::Labels([].into())).await.unwrap();
            reported.push(format!("{} {}", one.id(), two.id()));
            reported.push(output(&*one, "same").await.unwrap());
            reported.push(output(&*two, "same").await.unwrap());
            reported.push(output(&*two, "same").await.unwrap());
            reported.push(format!("{:?}", provider.list(ListRequest::default()).await.unwrap()));
            provider.delete(two.id()).await.unwrap();
            reported.push(provider.get_or_create(Selector::Id(two.id().clone())).await.unwrap_err().to_string());
            reported
        })
    };
    let lived = script(recorder.provider(Arc::new(Sandboxes::default())));
    let cassette = Cassette::parse(&recorder.cassette().to_text().unwrap()).unwrap();
    let player = Replayer::new(cassette, Matching::InOrder, Redaction::new()).unwrap();
    assert_eq!(script(player.provider()), lived);
    player.assert_all_used();
    assert_eq!(player.backend().unwrap_err().kind(), ErrorKind::NotRecorded);
    let error = missing(&*player.sandbox(id("sb-1")), ExecuteRequest::new("other"));
    assert!(error.message().contains("the closest recorded one: interaction 3"), "{error}");
}

#[test]
fn secrets_are_redacted_and_their_requests_still_match() {
    let redaction = Redaction::new().secret("TOKEN", crate::Secret::new("t0psecret")).variable("PASSWORD");
    let recorder = Recorder::new(redaction.clone());
    let request = || {
        ExecuteRequest::new("curl -H 'Authorization: t0psecret'")
            .with_env("PASSWORD", "hunter2")
            .with_stdin("t0psecret\n")
    };
    let backend = recorder.backend(Counting::backend("sb-1"));
    block_on(backend.execute(request())).unwrap();
    block_on(backend.write(WriteRequest::new(path("/t0psecret"), "a t0psecret"))).unwrap_err();
    let text = recorder.cassette().to_text().unwrap();
    assert!(!text.contains("t0psecret") && !text.contains("hunter2"), "{text}");

    let player = Replayer::new(Cassette::parse(&text).unwrap(), Matching::InOrder, redaction).unwrap();
    let response = block_on(player.backend().unwrap().execute(request())).unwrap();
    assert_eq!(response.output_text(), "1 curl -H 'Authorization: [redacted:TOKEN]'");
    let other = ExecuteRequest::new("curl -H 'Authorization: t0psecret' -v");
    let error = missing(&*player.backend().unwrap(), other);
    assert!(!error.to_string().contains("t0psecret"), "{error}");
}

#[test]
fn a_damaged_cassette_is_rejected_with_its_line() {
    let text = recorded(&["a", "b"]).to_text().unwrap();
    let parse = |text: &str| Cassette::parse(text).unwrap_err();
    let line = |error: &Error| error.context().iter().find(|(name, _)| name == "line").map(|(_, line)| line.clone());
    let at = |needle: &str| text.lines().position(|line| line.contains(needle)).unwrap() + 1;

    let unknown = parse(&text.replace("\"stdout\": \"2 \"", "\"stdout\": 2"));
    assert_eq!(line(&unknown), Some(at("\"stdout\": \"2 \"").to_string()), "{unknown}");
    let cut = parse(&text[..text.len() / 2]);
    assert_eq!(line(&cut), Some(text[..text.len() / 2].lines().count().to_string()), "{cut}");
    let field = parse(&text.replace("\"command\": \"b\"", "\"command\": \"b\",\n\"shell\": \"zsh\""));
    assert!(field.message().contains("unknown field `shell`"), "{field}");
    let reply = parse(&text.replacen("\"answer\": {\n        \"execute\"", "\"answer\": {\n        \"read\"", 1));
    assert!(line(&reply).is_some(), "{reply}");
    let newer = parse(&text.replace("\"tidebox_cassette\": 1", "\"tidebox_cassette\": 2"));
    assert!(newer.message().starts_with("the cassette has version 2"), "{newer}");
    assert!(parse("{}").message().starts_with("not a cassette"), "{}", parse("{}"));
    assert!(parse("").message().contains("line 1"), "{}", parse(""));
}

#[test]
fn a_response_of_another_method_is_rejected_on_parsing() {
    let text = r#"{"tidebox_cassette": 1, "interactions": [
        {"sandbox": "sb-1", "call": {"read": {"path": "/a"}}, "answer": {"delete": {"path": "/a"}}}
    ]}"#;
    let error = Cassette::parse(text).unwrap_err();
    assert!(error.message().contains("`delete` cannot be the response to `read` at line 3"), "{error}");
    let nameless = text.replace(r#""sandbox": "sb-1", "#, "").replace("\"delete\"", "\"refused\"");
    let nameless = nameless.replace(r#"{"path": "/a"}}}"#, r#"{"code": "no_space", "message": ""}}}"#);
    let error = Cassette::parse(&nameless).unwrap_err();
    assert!(error.message().contains("`read` requires the field `sandbox`"), "{error}");
}

#[test]
fn the_text_form_is_readable() {
    let recorder = Recorder::default();
    let backend = recorder.backend(Counting::backend("sb-1"));
    block_on(backend.execute_streaming(ExecuteRequest::new("cd /tmp\nls"), &mut |_| {})).unwrap();
    assert_eq!(
        recorder.cassette().to_text().unwrap(),
        r#"{
  "tidebox_cassette": 1,
  "interactions": [
    {
      "sandbox": "sb-1",
      "call": {
        "execute_streaming": {
          "command": [
            "cd /tmp\n",
            "ls"
          ]
        }
      },
      "answer": {
        "execute": {
          "events": [
            {
              "stdout": "1 "
            },
            {
              "stderr": [
                "cd /tmp\n",
                "ls"
              ]
            }
          ],
          "exit_code": 0,
          "duration": "0s"
        }
      }
    }
  ]
}
"#
    );
}

/// Records these pages of one process, read one after the other.
fn recorded_pages(pages: Vec<OutputPage>) -> Cassette {
    let reads = pages.len();
    let recorder = Recorder::default();
    let responses = pages.into_iter().map(|page| (Vec::new(), Ok(Response::ReadProcess(page))));
    let live = recorder.backend(super::Canned::backend(responses));
    for _ in 0..reads {
        block_on(live.read_process(&ProcessId::new("7"), ReadOutput::default())).unwrap();
    }
    Cassette::parse(&recorder.cassette().to_text().unwrap()).unwrap()
}

fn page(chunks: &[&str], next: u64, state: ProcessState) -> OutputPage {
    let chunks =
        chunks.iter().map(|text| OutputChunk { stream: OutputStream::Stdout, bytes: text.as_bytes().to_vec() });
    OutputPage { chunks: chunks.collect(), next: OutputCursor::new(next), dropped: 0, state }
}

#[test]
fn the_output_of_a_process_is_replayed_from_any_position() {
    let ended = ProcessState::Ended { exit_code: Some(3), stopped_by: None };
    let cassette = recorded_pages(vec![
        page(&[], 0, ProcessState::Running),
        page(&["ab", "cd"], 4, ProcessState::Running),
        page(&["cd", "ef"], 6, ProcessState::Running),
        page(&[], 6, ended.clone()),
    ]);
    let player = Replayer::new(cassette, Matching::InOrder, Redaction::new()).unwrap();
    let replay = player.backend().unwrap();
    let read = |request| block_on(replay.read_process(&ProcessId::new("7"), request)).unwrap();
    let all = read(ReadOutput::default());
    assert_eq!((all.bytes(), all.next.bytes(), all.state), (b"abcdef".to_vec(), 6, ended.clone()));
    let first = read(ReadOutput::default().with_max_bytes(3));
    assert_eq!((first.bytes(), first.next.bytes(), first.state), (b"abc".to_vec(), 3, ProcessState::Running));
    let rest = read(ReadOutput::after(first.next));
    assert_eq!((rest.bytes(), rest.next.bytes(), rest.state), (b"def".to_vec(), 6, ended));
    player.assert_all_used();
}

#[test]
fn a_reader_does_not_wait_for_an_end_that_was_not_recorded() {
    let cassette = recorded_pages(vec![page(&["ready"], 5, ProcessState::Running)]);
    let replay = Replayer::new(cassette, Matching::InOrder, Redaction::new()).unwrap().backend().unwrap();
    let process = Process::new(Arc::clone(&replay), ProcessId::new("7"));
    assert!(block_on(process.wait_for_output("ready")).unwrap().is_some());
    assert_eq!(block_on(process.wait()).unwrap_err().kind(), ErrorKind::NotRecorded);
}
