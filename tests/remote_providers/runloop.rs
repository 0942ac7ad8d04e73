//! Runloop.

use std::time::Duration;

use tidebox::conformance::Capabilities;
use tidebox::remote::NetworkAccess;
use tidebox::{ErrorKind, ExecuteRequest, ListRequest, OutputChunk, Selector, StopReason};
use tidebox_emulators::FaultKind;

use crate::coverage::{Feature, shows};
use crate::{adapter, contract, create_sandbox, emulator, fault, http_error, scenarios};

shows! {
    the_adapter_of_runloop_keeps_the_contract_over_its_emulator:
        [Run, Streams, Live, Limit, Killed, Processes, Upload, Download] by contract::sandbox_suite_passes("runloop", "/home/user", output_is_text);
    the_provider_of_runloop_keeps_the_contract_over_its_emulator:
        [Make, List, Labels, Find, Delete] by contract::provider_suite_passes("runloop");
    a_refusal_with_a_time_is_waited_for_and_then_done_once:
        [Pause] by scenarios::a_requested_pause_is_respected("runloop", "/v1/devboxes");
    a_command_that_nobody_waits_for_any_more_is_killed_there_too:
        [Stop] by scenarios::a_dropped_command_is_killed("runloop");
    a_devbox_that_is_over_is_gone_by_name_and_in_lists:
        [Over] by scenarios::an_expired_sandbox_is_deleted("runloop");
    a_devbox_that_sleeps_is_woken_by_its_id_and_by_its_labels:
        [Wake] by woken();
    a_command_whose_answer_is_lost_is_asked_for_again_and_runs_once:
        [Broken] by repeated();
}

fn output_is_text(claimed: &mut Capabilities) {
    claimed.binary_output = false;
}

async fn repeated() -> [Feature; 1] {
    let serving = emulator("runloop").await;
    let sandbox = create_sandbox(&serving).await;
    let path = format!("/v1/devboxes/{}/execute", sandbox.id());
    // A failing proxy has forwarded nothing; if the response is interrupted, the command has started.
    let kinds = [http_error(502, None), FaultKind::BreakAfter { bytes: 0 }, FaultKind::BreakAfter { bytes: 20 }];
    for kind in kinds {
        fault(&serving, &path, 1, kind);
        let request = ExecuteRequest::new("echo once >> /tmp/count; echo done; exit 5");
        let response = sandbox.execute(request).await.expect("the command runs");
        assert_eq!((&*response.stdout_text(), response.exit_code), ("done\n", Some(5)));
        assert_eq!(serving.faults().left(), 0, "the fault was applied");
    }
    let response = sandbox.execute(ExecuteRequest::new("cat /tmp/count")).await.expect("the command runs");
    assert_eq!(response.stdout_text(), "once\nonce\nonce\n");
    [Feature::Broken]
}

#[tokio::test(flavor = "multi_thread")]
async fn a_lost_create_response_creates_one_devbox() {
    let serving = emulator("runloop").await;
    for bytes in [0, 10] {
        // The request takes effect, and its response is interrupted.
        fault(&serving, "/v1/devboxes", 1, FaultKind::BreakAfter { bytes });
        let provider = adapter("runloop", serving.options());
        let sandbox =
            provider.get_or_create(Selector::any_new()).await.expect("a request with the same name is the same");
        assert_eq!(serving.faults().left(), 0, "the fault was applied");
        let listed = provider.list(ListRequest::default()).await.expect("a list").sandboxes;
        assert_eq!(listed.iter().map(|one| &one.id).collect::<Vec<_>>(), [sandbox.id()]);
        provider.delete(sandbox.id()).await.expect("deleted");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn timed_out_long_polls_are_repeated() {
    let serving = emulator("runloop").await;
    let sandbox = create_sandbox(&serving).await;
    let path = format!("/v1/devboxes/{}/executions/", sandbox.id());
    let mut seen = Vec::new();
    let mut sink = |event: OutputChunk| seen.extend(event.bytes);
    // Two of the requests about the command are rejected with a retry pause: a long poll, and a stream that is then
    // reopened.
    fault(&serving, &path, 2, http_error(408, None));
    let request = ExecuteRequest::new("echo one; sleep 2; echo two; exit 3");
    let response = sandbox.execute_streaming(request, &mut sink).await.expect("the command runs");
    assert_eq!((response.exit_code, &*response.stdout_text()), (Some(3), "one\ntwo\n"));
    assert_eq!(seen, b"one\ntwo\n");
}

#[tokio::test(flavor = "multi_thread")]
async fn an_interrupted_output_stream_resumes_at_its_offset() {
    let serving = emulator("runloop").await;
    let sandbox = create_sandbox(&serving).await;
    for kind in [FaultKind::BreakAfter { bytes: 100 }, FaultKind::Split { bytes: 1 }] {
        fault(&serving, &format!("/v1/devboxes/{}/executions/", sandbox.id()), 2, kind);
        let mut seen = Vec::new();
        let mut sink = |event: OutputChunk| seen.extend(event.bytes);
        let request = ExecuteRequest::new("for i in 1 2 3 4 5 6; do echo \"é $i\"; echo err >&2; sleep 0.5; done");
        let response = sandbox.execute_streaming(request, &mut sink).await.expect("the command runs");
        assert_eq!(response.stdout_text(), "é 1\né 2\né 3\né 4\né 5\né 6\n");
        assert_eq!((&*response.stderr_text(), seen.len()), ("err\n".repeat(6).as_str(), response.output.len()));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn long_output_is_complete_up_to_the_limit() {
    let serving = emulator("runloop").await;
    let mut options = serving.options();
    options.output_bytes = 100_000;
    let sandbox = adapter("runloop", options).get_or_create(Selector::any_new()).await.expect("created");
    let run = |command: &str| sandbox.execute(ExecuteRequest::new(command));
    for lines in [99, 100, 101, 5000] {
        let response = run(&format!("seq {lines}; seq {lines} >&2")).await.expect("the command runs");
        let expected: String = (1..=lines).map(|line| format!("{line}\n")).collect();
        assert_eq!((&*response.stdout_text(), &*response.stderr_text()), (expected.as_str(), expected.as_str()));
        assert!(!response.truncated, "{lines}");
    }
    let cut = run("seq 100000; echo lost >&2").await.expect("the command runs");
    assert_eq!((cut.output.len(), cut.truncated), (100_000, true));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_timeout_kills_the_command_and_keeps_partial_output() {
    let serving = emulator("runloop").await;
    let sandbox = create_sandbox(&serving).await;
    let request = ExecuteRequest::new("echo before; while sleep 0.1; do echo x >> /tmp/grows; done")
        .with_timeout(Duration::from_millis(1500));
    let response = sandbox.execute(request).await.expect("the command runs");
    assert_eq!((response.exit_code, response.stopped_by), (Some(124), Some(StopReason::Timeout)));
    assert_eq!(response.stdout_text(), "before\n");
    let grown = "cat /tmp/grows | wc -c; sleep 0.5; cat /tmp/grows | wc -c";
    let response = sandbox.execute(ExecuteRequest::new(grown)).await.expect("the command runs");
    let sizes: Vec<String> = response.stdout_text().lines().map(str::to_owned).collect();
    assert_eq!(sizes[0], sizes[1], "nothing writes any more");
}

async fn woken() -> [Feature; 1] {
    let serving = emulator("runloop").await;
    let provider = adapter("runloop", serving.options());
    let sandbox = provider.get_or_create(Selector::labels([("a", "1")])).await.expect("created");
    sandbox.execute(ExecuteRequest::new("echo kept > /tmp/kept")).await.expect("the command runs");
    for selector in [Selector::Id(sandbox.id().clone()), Selector::labels([("a", "1")])] {
        serving.registry().update(sandbox.id().as_str(), |room| {
            room.paused = true;
            room.metadata.insert("status".to_owned(), "suspending".to_owned());
        });
        let woken = provider.get_or_create(selector).await.expect("the sandbox is started");
        let response = woken.execute(ExecuteRequest::new("cat /tmp/kept")).await.expect("the command runs");
        assert_eq!((woken.id(), &*response.stdout_text()), (sandbox.id(), "kept\n"));
    }
    [Feature::Wake]
}

#[tokio::test(flavor = "multi_thread")]
async fn a_failing_setup_script_deletes_the_sandbox() {
    scenarios::a_failing_setup_leaves_no_sandbox("runloop").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn devboxes_share_one_network_policy() {
    let serving = emulator("runloop").await;
    for _ in 0..2 {
        let mut options = serving.options();
        options.network = NetworkAccess::Blocked;
        adapter("runloop", options).get_or_create(Selector::any_new()).await.expect("created");
    }
    let mut options = serving.options();
    options.network = NetworkAccess::Only(vec!["pypi.org".to_owned()]);
    adapter("runloop", options).get_or_create(Selector::any_new()).await.expect("created");
    // A second policy with one name would be rejected, so at most two requests are sent.
    fault(&serving, "/v1/network-policies", 1, http_error(500, None));
    let mut options = serving.options();
    options.network = NetworkAccess::Blocked;
    adapter("runloop", options).get_or_create(Selector::any_new()).await.expect("a second request finds it");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_wrong_key_is_rejected_and_never_shown() {
    let serving = emulator("runloop").await;
    let provider = tidebox_remote_adapters::provider("runloop", serving.options().with_api_key("planted-wrong-key"));
    let error = provider.expect("the options are valid").get_or_create(Selector::any_new()).await.expect_err("refused");
    assert_eq!(error.kind(), ErrorKind::Unauthenticated, "{error}");
    assert!(!format!("{error} {error:?}").contains("planted"), "{error:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn files_in_one_transfer_have_separate_results() {
    scenarios::each_file_has_a_separate_result("runloop").await;
}
