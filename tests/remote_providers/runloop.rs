//! Runloop.

use std::time::Duration;

use tidebox::conformance::Capabilities;
use tidebox::remote::NetworkAccess;
use tidebox::{ErrorKind, ExecuteRequest, ListRequest, OutputEvent, Selector, StopReason};
use tidebox_emulators::FaultKind;

use crate::proved::{Feature, shows};
use crate::{adapter, contract, emulator, fault, made, refuse, scenarios};

shows! {
    the_adapter_of_runloop_keeps_the_contract_over_its_emulator:
        [Run, Streams, Live, Limit, Killed, Upload, Download] by contract::sandboxes_keep_it("runloop", "/home/user", output_is_text);
    the_provider_of_runloop_keeps_the_contract_over_its_emulator:
        [Make, List, Labels, Find, Delete] by contract::provider_keeps_it("runloop");
    a_refusal_with_a_time_is_waited_for_and_then_done_once:
        [Pause] by scenarios::a_pause_that_is_asked_for_is_kept("runloop", "/v1/devboxes");
    a_command_that_nobody_waits_for_any_more_is_killed_there_too:
        [Stop] by scenarios::a_command_that_nobody_waits_for_is_killed("runloop");
    a_devbox_that_is_over_is_gone_by_name_and_in_lists:
        [Over] by scenarios::a_sandbox_whose_time_is_over_is_gone("runloop");
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
    let sandbox = made(&serving).await;
    let path = format!("/v1/devboxes/{}/execute", sandbox.id());
    // A proxy that fails has passed nothing on; where the answer breaks, the command has begun.
    let kinds = [refuse(502, None), FaultKind::BreakAfter { bytes: 0 }, FaultKind::BreakAfter { bytes: 20 }];
    for kind in kinds {
        fault(&serving, &path, 1, kind);
        let request = ExecuteRequest::new("echo once >> /tmp/count; echo done; exit 5");
        let response = sandbox.execute(request).await.expect("it runs");
        assert_eq!((&*response.stdout_text(), response.exit_code), ("done\n", Some(5)));
        assert_eq!(serving.faults().left(), 0, "it was met");
    }
    let response = sandbox.execute(ExecuteRequest::new("cat /tmp/count")).await.expect("it runs");
    assert_eq!(response.stdout_text(), "once\nonce\nonce\n");
    [Feature::Broken]
}

#[tokio::test(flavor = "multi_thread")]
async fn a_creation_whose_answer_is_lost_makes_one_devbox() {
    let serving = emulator("runloop").await;
    for bytes in [0, 10] {
        // The request has its effect, and its answer breaks.
        fault(&serving, "/v1/devboxes", 1, FaultKind::BreakAfter { bytes });
        let provider = adapter("runloop", serving.options());
        let sandbox =
            provider.get_or_create(Selector::any_new()).await.expect("a request with the same name is the same");
        assert_eq!(serving.faults().left(), 0, "it was met");
        let listed = provider.list(ListRequest::default()).await.expect("a list").sandboxes;
        assert_eq!(listed.iter().map(|one| &one.id).collect::<Vec<_>>(), [sandbox.id()]);
        provider.delete(sandbox.id()).await.expect("it is deleted");
    }
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

async fn woken() -> [Feature; 1] {
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
    [Feature::Wake]
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
