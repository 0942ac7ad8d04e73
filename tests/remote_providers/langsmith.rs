//! LangSmith.

use std::time::Duration;

use tidebox::{ErrorKind, ExecuteRequest, ListRequest, SandboxPath, Selector, StopReason, Upload};
use tidebox_emulators::{FaultKind, Serving};

use crate::coverage::{Feature, shows};
use crate::{KEY, adapter, contract, create_sandbox, emulator, fault, scenarios};

shows! {
    the_adapter_of_langsmith_keeps_the_contract_over_its_emulator:
        [Run, Streams, Live, Limit, Killed, Processes, Upload, Download] by contract::sandbox_suite_passes("langsmith", "/root", |_| {});
    the_provider_of_langsmith_keeps_the_contract_over_its_emulator:
        [Make, List, Labels, Find, Delete] by contract::provider_suite_passes("langsmith");
    a_refusal_with_a_time_is_waited_for_and_then_done_once:
        [Pause] by scenarios::a_requested_pause_is_respected("langsmith", "/api/v2/sandboxes/boxes");
    a_command_that_nobody_waits_for_any_more_is_killed_there_too:
        [Stop] by scenarios::a_dropped_command_is_killed("langsmith");
    a_stream_that_breaks_is_resumed_where_it_broke_and_the_command_runs_once:
        [Broken] by resumed();
    a_sandbox_that_stopped_is_woken_and_keeps_its_files:
        [Wake] by woken();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_lost_create_response_creates_one_sandbox() {
    let serving = emulator("langsmith").await;
    // The request takes effect, and its response is interrupted.
    fault(&serving, "/api/v2/sandboxes/boxes", 1, FaultKind::BreakAfter { bytes: 10 });
    let provider = adapter("langsmith", serving.options());
    let sandbox = provider.get_or_create(Selector::any_new()).await.expect("found by its label");
    sandbox.execute(ExecuteRequest::new("true")).await.expect("the command runs");
    let listed = provider.list(ListRequest::default()).await.expect("a list").sandboxes;
    assert_eq!(listed.iter().map(|info| (&info.id, info.labels.len())).collect::<Vec<_>>(), [(sandbox.id(), 0)]);
}

async fn resumed() -> [Feature; 1] {
    let serving = emulator("langsmith").await;
    let sandbox = create_sandbox(&serving).await;
    for bytes in [20, 150, 200, 260] {
        fault(&serving, "/dp/", 1, FaultKind::BreakAfter { bytes });
        let request =
            ExecuteRequest::new("echo once >> /tmp/count; for i in 1 2 3 4 5 6; do echo $i; echo e$i >&2; done");
        let response = sandbox.execute(request).await.expect("the stream is complete");
        assert_eq!(response.stdout_text(), "1\n2\n3\n4\n5\n6\n", "broken after {bytes}");
        assert_eq!((&*response.stderr_text(), response.exit_code), ("e1\ne2\ne3\ne4\ne5\ne6\n", Some(0)));
        assert!(!response.truncated);
    }
    let response = sandbox.execute(ExecuteRequest::new("cat /tmp/count")).await.expect("the command runs");
    assert_eq!(response.stdout_text(), "once\nonce\nonce\nonce\n");
    [Feature::Broken]
}

#[tokio::test(flavor = "multi_thread")]
async fn output_above_the_ack_window_arrives_complete() {
    let serving = emulator("langsmith").await;
    let sandbox = create_sandbox(&serving).await;
    let response = sandbox.execute(ExecuteRequest::new("seq 200000")).await.expect("the command runs");
    let expected: String = (1..=200_000).map(|number| format!("{number}\n")).collect();
    assert!(response.stdout_text() == expected, "{} bytes of {}", response.stdout.len(), expected.len());
    assert_eq!((response.exit_code, response.truncated), (Some(0), false));
}

#[tokio::test(flavor = "multi_thread")]
async fn without_events_a_websocket_is_used() {
    let serving = emulator("langsmith").await;
    let sandbox = create_sandbox(&serving).await;
    fault(&serving, &format!("/dp/{}/execute/stream", sandbox.id()), 100, absent());
    let request = ExecuteRequest::new("echo out; echo err >&2; exit 7").with_timeout(Duration::from_secs(20));
    let response = sandbox.execute(request).await.expect("the command runs");
    assert_eq!((&*response.stdout_text(), &*response.stderr_text(), response.exit_code), ("out\n", "err\n", Some(7)));
    let request = ExecuteRequest::new("echo before; sleep 30").with_timeout(Duration::from_secs(1));
    let response = sandbox.execute(request).await.expect("the command runs");
    assert_eq!((response.exit_code, &*response.stdout_text()), (Some(124), "before\n"));
    let file = SandboxPath::parse("/tmp/\u{e9}").expect("a path");
    sandbox
        .write(tidebox::WriteRequest::new(file.clone(), "text"))
        .await
        .expect("a response")
        .expect("the request is sent");
    let listed = sandbox.ls(&SandboxPath::parse("/tmp").expect("a path")).await.expect("a response").expect("a list");
    assert!(listed.entries.iter().any(|entry| entry.path == file.as_bytes()));
}

#[tokio::test(flavor = "multi_thread")]
async fn without_streams_a_command_is_one_request_sent_once() {
    let serving = emulator("langsmith").await;
    let sandbox = create_sandbox(&serving).await;
    let path = format!("/dp/{}/execute/", sandbox.id());
    fault(&serving, &path, 100, absent());
    let response =
        sandbox.execute(ExecuteRequest::new("echo out; echo err >&2; exit 7")).await.expect("the command runs");
    assert_eq!((&*response.stdout_text(), &*response.stderr_text(), response.exit_code), ("out\n", "err\n", Some(7)));
    fault(&serving, &format!("/dp/{}/execute", sandbox.id()), 1, FaultKind::BreakAfter { bytes: 3 });
    let error =
        sandbox.execute(ExecuteRequest::new("echo once >> /tmp/count")).await.expect_err("the response is interrupted");
    assert_eq!(error.kind(), ErrorKind::Unavailable, "{error}");
    let response = sandbox.execute(ExecuteRequest::new("cat /tmp/count")).await.expect("the command runs");
    assert_eq!(response.stdout_text(), "once\n");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_response_in_one_byte_chunks_is_parsed_the_same() {
    let serving = emulator("langsmith").await;
    let sandbox = create_sandbox(&serving).await;
    fault(&serving, "/dp/", 1, FaultKind::Split { bytes: 1 });
    let request = ExecuteRequest::new("printf 'é\\377\\000'; echo oh >&2; exit 7");
    let response = sandbox.execute(request).await.expect("the command runs");
    assert_eq!((response.stdout.as_slice(), response.exit_code), (b"\xc3\xa9\xff\0".as_slice(), Some(7)));
    assert_eq!(response.stderr_text(), "oh\n");
}

#[tokio::test(flavor = "multi_thread")]
async fn an_expired_key_is_rejected_and_never_shown() {
    let serving = emulator("langsmith").await;
    let sandbox = create_sandbox(&serving).await;
    fault(&serving, "/dp/", 1, FaultKind::ExpiredToken);
    let error = sandbox.execute(ExecuteRequest::new("true")).await.expect_err("the key is wrong");
    assert_eq!(error.kind(), ErrorKind::Unauthenticated, "{error}");
    assert!(!format!("{error} {error:?} {sandbox:?}").contains(KEY));
}

async fn woken() -> [Feature; 1] {
    let serving = emulator("langsmith").await;
    let provider = adapter("langsmith", serving.options());
    let sandbox = provider.get_or_create(Selector::labels([("a", "1")])).await.expect("created");
    sandbox.execute(ExecuteRequest::new("echo kept > /tmp/kept")).await.expect("the command runs");
    stop(&serving, sandbox.id().as_str()).await;
    let again = provider.get_or_create(Selector::Id(sandbox.id().clone())).await.expect("the sandbox starts");
    let response = again.execute(ExecuteRequest::new("cat /tmp/kept")).await.expect("the command runs");
    assert_eq!(response.stdout_text(), "kept\n");
    stop(&serving, sandbox.id().as_str()).await;
    let again = provider.get_or_create(Selector::labels([("a", "1")])).await.expect("the sandbox starts");
    assert_eq!(again.id(), sandbox.id());
    provider.delete(sandbox.id()).await.expect("deleted");
    provider.delete(sandbox.id()).await.expect("deleting a missing sandbox succeeds");
    [Feature::Wake]
}

#[tokio::test(flavor = "multi_thread")]
async fn concurrent_programs_with_equal_labels_share_a_sandbox() {
    let serving = emulator("langsmith").await;
    let providers: Vec<_> = (0..4).map(|_| adapter("langsmith", serving.options())).collect();
    let ask = |at: usize| providers[at].get_or_create(Selector::labels([("thread", "7")]));
    let (a, b, c, d) = tokio::join!(ask(0), ask(1), ask(2), ask(3));
    let ids = [a, b, c, d].map(|sandbox| sandbox.expect("each of them gets one").id().clone());
    assert!(ids.iter().all(|id| *id == ids[0]), "{ids:?}");
    assert_eq!(providers[0].list(ListRequest::default()).await.expect("a list").sandboxes.len(), 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_foreign_sandbox_with_the_name_is_not_an_obstacle() {
    let serving = emulator("langsmith").await;
    let mut other = serving.options();
    other.labels.insert("team".to_owned(), "b".to_owned());
    let selector = || Selector::labels([("thread", "7")]);
    let first = adapter("langsmith", serving.options()).get_or_create(selector()).await.expect("created");
    serving.registry().update(first.id().as_str(), |record| record.labels.clear());
    let second = adapter("langsmith", other).get_or_create(selector()).await.expect("created under another name");
    assert_ne!(first.id(), second.id());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_failing_setup_script_deletes_the_sandbox() {
    scenarios::a_failing_setup_leaves_no_sandbox("langsmith").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_timeout_returns_partial_output_and_exit_code_124() {
    let serving = emulator("langsmith").await;
    let sandbox = create_sandbox(&serving).await;
    let request = ExecuteRequest::new("echo before; sleep 30; echo after").with_timeout(Duration::from_secs(1));
    let response = sandbox.execute(request).await.expect("the command runs");
    assert_eq!((response.exit_code, response.stopped_by), (Some(124), Some(StopReason::Timeout)));
    assert_eq!(response.stdout_text(), "before\n");
}

#[tokio::test(flavor = "multi_thread")]
async fn files_in_one_transfer_have_separate_results() {
    scenarios::each_file_has_a_separate_result("langsmith").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn missing_parent_directories_are_created() {
    let serving = emulator("langsmith").await;
    let sandbox = create_sandbox(&serving).await;
    fault(&serving, &format!("/dp/{}/upload", sandbox.id()), 1, no_directory());
    let uploaded = sandbox.upload_files(vec![Upload::new("/tmp/new/below/file", "1")]).await.expect("a transfer");
    uploaded[0].result.as_ref().expect("the sandbox exists");
    let response = sandbox.execute(ExecuteRequest::new("cat /tmp/new/below/file")).await.expect("the command runs");
    assert_eq!(response.stdout_text(), "1");
}

#[tokio::test(flavor = "multi_thread")]
async fn concurrent_uploads_to_a_missing_directory_succeed() {
    let serving = emulator("langsmith").await;
    let sandbox = create_sandbox(&serving).await;
    let upload = format!("/dp/{}/upload", sandbox.id());
    // Each is rejected once, and only the first probe finds the directory missing.
    for number in 0..6 {
        fault(&serving, &format!("{upload}?path=%2Ftmp%2Fnew%2Fbelow%2F{number}"), 1, no_directory());
    }
    let files = (0..6).map(|number| Upload::new(format!("/tmp/new/below/{number}"), "x")).collect();
    for file in sandbox.upload_files(files).await.expect("a transfer") {
        file.result.expect("the sandbox exists");
    }
    assert_eq!(serving.faults().left(), 0, "all were refused");
    // Another caller created it between the failure and the probe.
    fault(&serving, &upload, 1, no_directory());
    let file = Upload::new("/tmp/new/below/6", "x");
    sandbox.upload_files(vec![file]).await.expect("a transfer")[0].result.as_ref().expect("the sandbox exists");
    let response = sandbox.execute(ExecuteRequest::new("cat /tmp/new/below/*")).await.expect("the command runs");
    assert_eq!(response.stdout_text(), "xxxxxxx");
}

fn no_directory() -> FaultKind {
    let body = r#"{"detail":{"error":"WriteError","message":"no such file or directory"}}"#.to_owned();
    FaultKind::HttpStatus { status: 500, retry_after: None, body }
}

fn absent() -> FaultKind {
    FaultKind::HttpStatus { status: 404, retry_after: None, body: "404 page not found".to_owned() }
}

/// Stops a sandbox from another client.
async fn stop(serving: &Serving, name: &str) {
    use tidebox_remote_adapters::transport::{HttpTransport, Method, Request, Transport as _};
    let url = format!("{}/api/v2/sandboxes/boxes/{name}/stop", serving.url());
    let request = Request::new(Method::Post, url).header("x-api-key", KEY).json(&serde_json::json!({}));
    let transport = HttpTransport::new(None).expect("a transport");
    let reply = transport.send(&request).await.expect("a response");
    assert!(reply.is_success(), "the sandbox is stopped");
}
