//! Runloop.

use std::time::Duration;

use tidebox::remote::NetworkAccess;
use tidebox::{ErrorKind, ExecuteRequest, OutputEvent, Selector, StopReason};
use tidebox_emulators::FaultKind;

use crate::{adapter, contract, emulator, fault, made, refuse, scenarios};

#[tokio::test(flavor = "multi_thread")]
async fn the_adapter_of_runloop_keeps_the_contract_over_its_emulator() {
    contract::sandboxes_keep_it("runloop", "/home/user", |claimed| {
        // Output is text.
        claimed.binary_output = false;
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_provider_of_runloop_keeps_the_contract_over_its_emulator() {
    contract::provider_keeps_it("runloop").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_refusal_with_a_time_is_waited_for_and_then_done_once() {
    scenarios::a_pause_that_is_asked_for_is_kept("runloop", "/v1/devboxes").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_request_that_is_repeated_because_a_proxy_failed_is_done_once() {
    let serving = emulator("runloop").await;
    let sandbox = made(&serving).await;
    let path = format!("/v1/devboxes/{}/execute", sandbox.id());
    fault(&serving, &path, 1, refuse(502, None));
    let response = sandbox.execute(ExecuteRequest::new("echo once >> /tmp/count; echo done")).await.expect("it runs");
    assert_eq!(response.stdout_text(), "done\n");
    let response = sandbox.execute(ExecuteRequest::new("cat /tmp/count")).await.expect("it runs");
    assert_eq!(response.stdout_text(), "once\n");
}

#[tokio::test(flavor = "multi_thread")]
async fn long_polls_that_end_without_an_answer_are_asked_again() {
    let serving = emulator("runloop").await;
    let sandbox = made(&serving).await;
    let path = format!("/v1/devboxes/{}/executions/", sandbox.id());
    let mut seen = Vec::new();
    let mut sink = |event: OutputEvent| seen.extend(event.bytes);
    // Two of the requests about the command are told to come again: a long poll is, and a stream is opened anew.
    fault(&serving, &path, 2, refuse(408, None));
    let request = ExecuteRequest::new("echo one; sleep 2; echo two; exit 3");
    let response = sandbox.execute_streaming(request, &mut sink).await.expect("it runs");
    assert_eq!((response.exit_code, &*response.stdout_text()), (Some(3), "one\ntwo\n"));
    assert_eq!(seen, b"one\ntwo\n");
}

#[tokio::test(flavor = "multi_thread")]
async fn output_whose_stream_breaks_goes_on_where_it_broke() {
    let serving = emulator("runloop").await;
    let sandbox = made(&serving).await;
    for kind in [FaultKind::BreakAfter { bytes: 100 }, FaultKind::Split { bytes: 1 }] {
        fault(&serving, &format!("/v1/devboxes/{}/executions/", sandbox.id()), 2, kind);
        let mut seen = Vec::new();
        let mut sink = |event: OutputEvent| seen.extend(event.bytes);
        let request = ExecuteRequest::new("for i in 1 2 3 4 5 6; do echo \"é $i\"; echo err >&2; sleep 0.5; done");
        let response = sandbox.execute_streaming(request, &mut sink).await.expect("it runs");
        assert_eq!(response.stdout_text(), "é 1\né 2\né 3\né 4\né 5\né 6\n");
        assert_eq!((&*response.stderr_text(), seen.len()), ("err\n".repeat(6).as_str(), response.output.len()));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn output_of_many_lines_is_whole_and_beyond_the_limit_said_to_be_cut() {
    let serving = emulator("runloop").await;
    let mut options = serving.options();
    options.output_bytes = 100_000;
    let sandbox = adapter("runloop", options).get_or_create(Selector::any_new()).await.expect("it is made");
    let run = |command: &str| sandbox.execute(ExecuteRequest::new(command));
    for lines in [99, 100, 101, 5000] {
        let response = run(&format!("seq {lines}; seq {lines} >&2")).await.expect("it runs");
        let expected: String = (1..=lines).map(|line| format!("{line}\n")).collect();
        assert_eq!((&*response.stdout_text(), &*response.stderr_text()), (expected.as_str(), expected.as_str()));
        assert!(!response.truncated, "{lines}");
    }
    let cut = run("seq 100000; echo lost >&2").await.expect("it runs");
    assert_eq!((cut.output.len(), cut.truncated), (100_000, true));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_timeout_has_the_output_so_far_and_exit_code_124_and_ends_the_command() {
    let serving = emulator("runloop").await;
    let sandbox = made(&serving).await;
    let request = ExecuteRequest::new("echo before; while sleep 0.1; do echo x >> /tmp/grows; done")
        .with_timeout(Duration::from_millis(1500));
    let response = sandbox.execute(request).await.expect("it runs");
    assert_eq!((response.exit_code, response.stopped_by), (Some(124), Some(StopReason::Timeout)));
    assert_eq!(response.stdout_text(), "before\n");
    let grown = "cat /tmp/grows | wc -c; sleep 0.5; cat /tmp/grows | wc -c";
    let response = sandbox.execute(ExecuteRequest::new(grown)).await.expect("it runs");
    let sizes: Vec<String> = response.stdout_text().lines().map(str::to_owned).collect();
    assert_eq!(sizes[0], sizes[1], "nothing writes any more");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_command_that_nobody_waits_for_any_more_is_killed_there_too() {
    scenarios::a_command_that_nobody_waits_for_is_killed("runloop").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_devbox_that_sleeps_is_woken_by_its_id_and_by_its_labels() {
    let serving = emulator("runloop").await;
    let provider = adapter("runloop", serving.options());
    let sandbox = provider.get_or_create(Selector::labels([("a", "1")])).await.expect("it is made");
    sandbox.execute(ExecuteRequest::new("echo kept > /tmp/kept")).await.expect("it runs");
    for selector in [Selector::Id(sandbox.id().clone()), Selector::labels([("a", "1")])] {
        serving.house().change(sandbox.id().as_str(), |room| {
            room.paused = true;
            room.notes.insert("status".to_owned(), "suspending".to_owned());
        });
        let woken = provider.get_or_create(selector).await.expect("it is woken");
        let response = woken.execute(ExecuteRequest::new("cat /tmp/kept")).await.expect("it runs");
        assert_eq!((woken.id(), &*response.stdout_text()), (sandbox.id(), "kept\n"));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_devbox_that_is_over_is_gone_by_name_and_in_lists() {
    scenarios::a_sandbox_whose_time_is_over_is_gone("runloop").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_set_up_script_that_fails_leaves_nothing_running() {
    scenarios::a_set_up_that_fails_leaves_nothing("runloop").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_network_policy_is_made_once_for_all_devboxes_that_need_it() {
    let serving = emulator("runloop").await;
    for _ in 0..2 {
        let mut options = serving.options();
        options.network = NetworkAccess::Blocked;
        adapter("runloop", options).get_or_create(Selector::any_new()).await.expect("it is made");
    }
    let mut options = serving.options();
    options.network = NetworkAccess::Only(vec!["pypi.org".to_owned()]);
    adapter("runloop", options).get_or_create(Selector::any_new()).await.expect("it is made");
    // A second policy of one name would be refused, so two are all that there can be.
    fault(&serving, "/v1/network-policies", 1, refuse(500, None));
    let mut options = serving.options();
    options.network = NetworkAccess::Blocked;
    adapter("runloop", options).get_or_create(Selector::any_new()).await.expect("asked again, it is found");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_wrong_key_is_told_as_such_and_shown_to_nobody() {
    let serving = emulator("runloop").await;
    let provider = tidebox_remote_adapters::provider("runloop", serving.options().with_api_key("planted-wrong-key"));
    let error = provider.expect("the options are good").get_or_create(Selector::any_new()).await.expect_err("refused");
    assert_eq!(error.kind(), ErrorKind::Unauthenticated, "{error}");
    assert!(!format!("{error} {error:?}").contains("planted"), "{error:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn of_many_files_each_has_its_own_result() {
    scenarios::each_file_has_its_own_result("runloop").await;
}
