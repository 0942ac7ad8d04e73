//! Daytona.

use std::time::Duration;

use tidebox::{ErrorKind, ExecuteRequest, ListRequest, OutputChunk, Selector, StopReason};
use tidebox_emulators::FaultKind;

use crate::coverage::{Feature, shows};
use crate::{adapter, contract, create_sandbox, emulator, fault, http_error, scenarios};

shows! {
    the_adapter_of_daytona_keeps_the_contract_over_its_emulator:
        [Run, Streams, Live, Limit, Killed, Processes, Upload, Download] by contract::sandbox_suite_passes("daytona", "/home/daytona", |_| {});
    the_provider_of_daytona_keeps_the_contract_over_its_emulator:
        [Make, List, Labels, Find, Delete] by contract::provider_suite_passes("daytona");
    a_refusal_with_a_time_is_waited_for_and_then_done_once:
        [Pause] by scenarios::a_requested_pause_is_respected("daytona", "/api/sandbox");
    a_command_that_nobody_waits_for_any_more_is_killed_there_too:
        [Stop] by scenarios::a_dropped_command_is_killed("daytona");
    a_sandbox_whose_time_is_over_is_gone_by_name_and_in_lists:
        [Over] by scenarios::an_expired_sandbox_is_deleted("daytona");
    a_sandbox_that_sleeps_is_woken_by_its_id_and_by_its_labels:
        [Wake] by woken();
    a_command_whose_answer_is_lost_is_followed_to_its_end_and_is_never_sent_twice:
        [Broken] by followed();
}

#[tokio::test(flavor = "multi_thread")]
async fn an_interrupted_create_response_creates_one_sandbox() {
    let serving = emulator("daytona").await;
    fault(&serving, "/api/sandbox", 1, FaultKind::BreakAfter { bytes: 10 });
    let mut options = serving.options();
    options.setup = Some("echo set up >> /tmp/set-up".to_owned());
    let provider = adapter("daytona", options);
    let sandbox = provider.get_or_create(Selector::labels([("thread", "1")])).await.expect("created");
    let made = sandbox.execute(ExecuteRequest::new("cat /tmp/set-up")).await.expect("the command runs");
    assert_eq!(made.stdout_text(), "set up\n", "it is ours, so it was set up");
    let listed = provider.list(ListRequest::default()).await.expect("a list").sandboxes;
    assert_eq!(listed.len(), 1);
    assert_eq!(listed[0].labels.keys().collect::<Vec<_>>(), ["thread"], "what we note for ourselves is not shown");
}

#[tokio::test(flavor = "multi_thread")]
async fn concurrent_clients_with_equal_labels_share_a_sandbox() {
    let serving = emulator("daytona").await;
    // Two provider instances represent two processes: they share no state.
    let ask = || {
        let provider = adapter("daytona", serving.options());
        async move { provider.get_or_create(Selector::labels([("thread", "7")])).await.expect("it exists") }
    };
    let (one, two) = tokio::join!(tokio::spawn(ask()), tokio::spawn(ask()));
    let (one, two) = (one.expect("no panic"), two.expect("no panic"));
    assert_eq!(one.id(), two.id());
    let provider = adapter("daytona", serving.options());
    assert_eq!(provider.list(ListRequest::default()).await.expect("a list").sandboxes.len(), 1);
}

async fn followed() -> [Feature; 1] {
    let serving = emulator("daytona").await;
    let sandbox = create_sandbox(&serving).await;
    let run = |command: &str| sandbox.execute(ExecuteRequest::new(command));
    let path = format!("/toolbox/{}/process/execute", sandbox.id());
    for kind in [FaultKind::BreakAfter { bytes: 20 }, FaultKind::BreakAfter { bytes: 0 }] {
        fault(&serving, &path, 1, kind);
        let response =
            run("echo once >> /tmp/count; echo out; echo err >&2; exit 5").await.expect("the output is followed");
        assert_eq!((&*response.stdout_text(), &*response.stderr_text()), ("out\n", "err\n"));
        assert_eq!(response.exit_code, Some(5));
    }
    assert_eq!(run("cat /tmp/count").await.expect("the command runs").stdout_text(), "once\nonce\n");
    [Feature::Broken]
}

#[tokio::test(flavor = "multi_thread")]
async fn a_command_that_never_started_is_an_error() {
    let serving = emulator("daytona").await;
    let sandbox = create_sandbox(&serving).await;
    fault(&serving, &format!("/toolbox/{}/process/execute", sandbox.id()), 1, http_error(502, None));
    let error = sandbox.execute(ExecuteRequest::new("echo x > /tmp/ran")).await.expect_err("the command did not run");
    assert_eq!(error.kind(), ErrorKind::Unavailable, "{error}");
    let response = sandbox.execute(ExecuteRequest::new("cat /tmp/ran")).await.expect("the sandbox works on");
    assert_eq!(response.exit_code, Some(1));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_response_in_one_byte_chunks_is_parsed_the_same() {
    let serving = emulator("daytona").await;
    let sandbox = create_sandbox(&serving).await;
    fault(&serving, "/toolbox/", 1, FaultKind::Split { bytes: 1 });
    let request = ExecuteRequest::new("printf 'é\\377\\000'; echo oh >&2; exit 7");
    let response = sandbox.execute(request).await.expect("the command runs");
    assert_eq!((response.stdout.as_slice(), response.exit_code), (b"\xc3\xa9\xff\0".as_slice(), Some(7)));
    assert_eq!(response.stderr_text(), "oh\n");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_wrong_key_is_rejected_and_never_shown() {
    let serving = emulator("daytona").await;
    let provider = tidebox_remote_adapters::provider("daytona", serving.options().with_api_key("planted-wrong-key"));
    let error = provider.expect("the options are valid").get_or_create(Selector::any_new()).await.expect_err("refused");
    assert_eq!(error.kind(), ErrorKind::Unauthenticated, "{error}");
    assert!(!format!("{error} {error:?}").contains("planted"), "{error:?}");
}

async fn woken() -> [Feature; 1] {
    let serving = emulator("daytona").await;
    let provider = adapter("daytona", serving.options());
    let sandbox = provider.get_or_create(Selector::labels([("a", "1")])).await.expect("created");
    sandbox.execute(ExecuteRequest::new("echo kept > /tmp/kept")).await.expect("the command runs");
    for selector in [Selector::Id(sandbox.id().clone()), Selector::labels([("a", "1")])] {
        serving.registry().update(sandbox.id().as_str(), |room| {
            room.paused = true;
            room.metadata.insert("state".to_owned(), "stopped".to_owned());
        });
        let error = sandbox.execute(ExecuteRequest::new("true")).await.expect_err("the sandbox is stopped");
        assert_eq!(error.kind(), ErrorKind::Unavailable, "{error}");
        let woken = provider.get_or_create(selector).await.expect("the sandbox is started");
        let response = woken.execute(ExecuteRequest::new("cat /tmp/kept")).await.expect("the command runs");
        assert_eq!((woken.id(), &*response.stdout_text()), (sandbox.id(), "kept\n"));
    }
    [Feature::Wake]
}

#[tokio::test(flavor = "multi_thread")]
async fn an_error_state_is_reported_with_its_reason() {
    let serving = emulator("daytona").await;
    let provider = adapter("daytona", serving.options());
    let sandbox = provider.get_or_create(Selector::labels([("a", "1")])).await.expect("created");
    serving
        .registry()
        .update(sandbox.id().as_str(), |room| drop(room.metadata.insert("state".to_owned(), "error".to_owned())));
    let error =
        provider.get_or_create(Selector::labels([("a", "1")])).await.expect_err("the sandbox is in an error state");
    assert!(error.to_string().contains("error state"), "{error}");
    provider.delete(sandbox.id()).await.expect("the sandbox is deleted");
    provider.delete(sandbox.id()).await.expect("deleting a missing sandbox succeeds");
    let other = provider.get_or_create(Selector::labels([("a", "1")])).await.expect("another sandbox is created");
    assert_ne!(other.id(), sandbox.id());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_failing_setup_script_deletes_the_sandbox() {
    scenarios::a_failing_setup_leaves_no_sandbox("daytona").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_timeout_kills_the_command_and_keeps_partial_output() {
    let serving = emulator("daytona").await;
    let sandbox = create_sandbox(&serving).await;
    let request = ExecuteRequest::new("echo before; while sleep 0.1; do echo x >> /tmp/grows; done")
        .with_timeout(Duration::from_secs(2));
    let response = sandbox.execute(request).await.expect("the command runs");
    assert_eq!((response.exit_code, response.stopped_by), (Some(124), Some(StopReason::Timeout)));
    assert_eq!(response.stdout_text(), "before\n");
    let grown = "cat /tmp/grows | wc -c; sleep 0.5; cat /tmp/grows | wc -c";
    let response = sandbox.execute(ExecuteRequest::new(grown)).await.expect("the command runs");
    let sizes: Vec<String> = response.stdout_text().lines().map(str::to_owned).collect();
    assert_eq!(sizes[0], sizes[1], "nothing writes any more");
}

#[tokio::test(flavor = "multi_thread")]
async fn output_is_streamed_while_the_command_runs() {
    let serving = emulator("daytona").await;
    let sandbox = create_sandbox(&serving).await;
    let mut chunks: Vec<Vec<u8>> = Vec::new();
    let mut sink = |event: OutputChunk| chunks.push(event.bytes);
    // It continues only after its output was seen: only this test creates the file.
    let request = ExecuteRequest::new("echo first; sleep 2; echo second").with_timeout(Duration::from_secs(60));
    let response = sandbox.execute_streaming(request, &mut sink).await.expect("the command runs");
    assert_eq!((&*response.stdout_text(), response.exit_code), ("first\nsecond\n", Some(0)));
    assert_eq!(chunks, [b"first\n".to_vec(), b"second\n".to_vec()]);
}

#[tokio::test(flavor = "multi_thread")]
async fn output_above_the_limit_is_marked_truncated() {
    let serving = emulator("daytona").await;
    let mut options = serving.options();
    options.output_bytes = 3 << 20;
    let sandbox = adapter("daytona", options).get_or_create(Selector::any_new()).await.expect("created");
    let run = |command: &str| sandbox.execute(ExecuteRequest::new(command));
    let whole =
        run("head -c 2500000 /dev/zero | tr '\\0' x; head -c 100 /dev/zero >&2").await.expect("the command runs");
    assert_eq!((whole.stdout.len(), whole.stderr.len(), whole.truncated), (2_500_000, 100, false));
    assert!(whole.stdout.iter().all(|byte| *byte == b'x'));
    let cut = run("head -c 5000000 /dev/zero; echo lost >&2").await.expect("the command runs");
    assert_eq!((cut.stdout.len() + cut.stderr.len(), cut.truncated), (3 << 20, true));
}

#[tokio::test(flavor = "multi_thread")]
async fn scripts_of_any_length_run() {
    let serving = emulator("daytona").await;
    let sandbox = create_sandbox(&serving).await;
    let script = format!("text='{}'\necho ${{#text}} it\\'s; exit 4", "é".repeat(200_000));
    let response = sandbox.execute(ExecuteRequest::new(script)).await.expect("the command runs");
    assert_eq!(
        (&*response.stdout_text(), response.exit_code),
        ("200000 it's\n", Some(4)),
        "{}",
        response.stderr_text()
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn files_in_one_transfer_have_separate_results() {
    scenarios::each_file_has_a_separate_result("daytona").await;
}
