//! Daytona.

use std::time::Duration;

use tidebox::{ErrorKind, ExecuteRequest, ListRequest, OutputEvent, Selector, StopReason};
use tidebox_emulators::FaultKind;

use crate::proved::{Feature, shows};
use crate::{adapter, contract, emulator, fault, made, refuse, scenarios};

shows! {
    the_adapter_of_daytona_keeps_the_contract_over_its_emulator:
        [Run, Streams, Live, Limit, Killed, Upload, Download] by contract::sandboxes_keep_it("daytona", "/home/daytona", |_| {});
    the_provider_of_daytona_keeps_the_contract_over_its_emulator:
        [Make, List, Labels, Find, Delete] by contract::provider_keeps_it("daytona");
    a_refusal_with_a_time_is_waited_for_and_then_done_once:
        [Pause] by scenarios::a_pause_that_is_asked_for_is_kept("daytona", "/api/sandbox");
    a_command_that_nobody_waits_for_any_more_is_killed_there_too:
        [Stop] by scenarios::a_command_that_nobody_waits_for_is_killed("daytona");
    a_sandbox_whose_time_is_over_is_gone_by_name_and_in_lists:
        [Over] by scenarios::a_sandbox_whose_time_is_over_is_gone("daytona");
    a_sandbox_that_sleeps_is_woken_by_its_id_and_by_its_labels:
        [Wake] by woken();
    a_command_whose_answer_is_lost_is_followed_to_its_end_and_is_never_sent_twice:
        [Broken] by followed();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_creation_whose_answer_breaks_is_found_again_and_is_one_sandbox() {
    let serving = emulator("daytona").await;
    fault(&serving, "/api/sandbox", 1, FaultKind::BreakAfter { bytes: 10 });
    let mut options = serving.options();
    options.setup = Some("echo set up >> /tmp/set-up".to_owned());
    let provider = adapter("daytona", options);
    let sandbox = provider.get_or_create(Selector::labels([("thread", "1")])).await.expect("it is made");
    let made = sandbox.execute(ExecuteRequest::new("cat /tmp/set-up")).await.expect("it runs");
    assert_eq!(made.stdout_text(), "set up\n", "it is ours, so it was set up");
    let listed = provider.list(ListRequest::default()).await.expect("a list").sandboxes;
    assert_eq!(listed.len(), 1);
    assert_eq!(listed[0].labels.keys().collect::<Vec<_>>(), ["thread"], "what we note for ourselves is not shown");
}

#[tokio::test(flavor = "multi_thread")]
async fn two_clients_that_ask_for_the_same_labels_at_once_get_the_same_sandbox() {
    let serving = emulator("daytona").await;
    // Two providers are as two processes: neither knows what the other does.
    let ask = || {
        let provider = adapter("daytona", serving.options());
        async move { provider.get_or_create(Selector::labels([("thread", "7")])).await.expect("it is there") }
    };
    let (one, two) = tokio::join!(tokio::spawn(ask()), tokio::spawn(ask()));
    let (one, two) = (one.expect("it does not panic"), two.expect("it does not panic"));
    assert_eq!(one.id(), two.id());
    let provider = adapter("daytona", serving.options());
    assert_eq!(provider.list(ListRequest::default()).await.expect("a list").sandboxes.len(), 1);
}

async fn followed() -> [Feature; 1] {
    let serving = emulator("daytona").await;
    let sandbox = made(&serving).await;
    let run = |command: &str| sandbox.execute(ExecuteRequest::new(command));
    let path = format!("/toolbox/{}/process/execute", sandbox.id());
    for kind in [FaultKind::BreakAfter { bytes: 20 }, FaultKind::BreakAfter { bytes: 0 }] {
        fault(&serving, &path, 1, kind);
        let response = run("echo once >> /tmp/count; echo out; echo err >&2; exit 5").await.expect("it is followed");
        assert_eq!((&*response.stdout_text(), &*response.stderr_text()), ("out\n", "err\n"));
        assert_eq!(response.exit_code, Some(5));
    }
    assert_eq!(run("cat /tmp/count").await.expect("it runs").stdout_text(), "once\nonce\n");
    [Feature::Broken]
}

#[tokio::test(flavor = "multi_thread")]
async fn a_command_that_never_began_is_an_error_and_not_an_exit_code() {
    let serving = emulator("daytona").await;
    let sandbox = made(&serving).await;
    fault(&serving, &format!("/toolbox/{}/process/execute", sandbox.id()), 1, refuse(502, None));
    let error = sandbox.execute(ExecuteRequest::new("echo x > /tmp/ran")).await.expect_err("nobody ran it");
    assert_eq!(error.kind(), ErrorKind::Unavailable, "{error}");
    let response = sandbox.execute(ExecuteRequest::new("cat /tmp/ran")).await.expect("the sandbox works on");
    assert_eq!(response.exit_code, Some(1));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_reply_in_single_bytes_is_the_same_reply() {
    let serving = emulator("daytona").await;
    let sandbox = made(&serving).await;
    fault(&serving, "/toolbox/", 1, FaultKind::Split { bytes: 1 });
    let request = ExecuteRequest::new("printf 'é\\377\\000'; echo oh >&2; exit 7");
    let response = sandbox.execute(request).await.expect("it runs");
    assert_eq!((response.stdout.as_slice(), response.exit_code), (b"\xc3\xa9\xff\0".as_slice(), Some(7)));
    assert_eq!(response.stderr_text(), "oh\n");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_wrong_key_is_told_as_such_and_shown_to_nobody() {
    let serving = emulator("daytona").await;
    let provider = tidebox_remote_adapters::provider("daytona", serving.options().with_api_key("planted-wrong-key"));
    let error = provider.expect("the options are good").get_or_create(Selector::any_new()).await.expect_err("refused");
    assert_eq!(error.kind(), ErrorKind::Unauthenticated, "{error}");
    assert!(!format!("{error} {error:?}").contains("planted"), "{error:?}");
}

async fn woken() -> [Feature; 1] {
    let serving = emulator("daytona").await;
    let provider = adapter("daytona", serving.options());
    let sandbox = provider.get_or_create(Selector::labels([("a", "1")])).await.expect("it is made");
    sandbox.execute(ExecuteRequest::new("echo kept > /tmp/kept")).await.expect("it runs");
    for selector in [Selector::Id(sandbox.id().clone()), Selector::labels([("a", "1")])] {
        serving.house().change(sandbox.id().as_str(), |room| {
            room.paused = true;
            room.notes.insert("state".to_owned(), "stopped".to_owned());
        });
        let error = sandbox.execute(ExecuteRequest::new("true")).await.expect_err("it sleeps");
        assert_eq!(error.kind(), ErrorKind::Unavailable, "{error}");
        let woken = provider.get_or_create(selector).await.expect("it is woken");
        let response = woken.execute(ExecuteRequest::new("cat /tmp/kept")).await.expect("it runs");
        assert_eq!((woken.id(), &*response.stdout_text()), (sandbox.id(), "kept\n"));
    }
    [Feature::Wake]
}

#[tokio::test(flavor = "multi_thread")]
async fn a_sandbox_in_an_error_state_is_an_error_that_says_why() {
    let serving = emulator("daytona").await;
    let provider = adapter("daytona", serving.options());
    let sandbox = provider.get_or_create(Selector::labels([("a", "1")])).await.expect("it is made");
    serving
        .house()
        .change(sandbox.id().as_str(), |room| drop(room.notes.insert("state".to_owned(), "error".to_owned())));
    let error = provider.get_or_create(Selector::labels([("a", "1")])).await.expect_err("it is broken");
    assert!(error.to_string().contains("error state"), "{error}");
    provider.delete(sandbox.id()).await.expect("it can be deleted");
    provider.delete(sandbox.id()).await.expect("deleting what is gone is no error");
    let other = provider.get_or_create(Selector::labels([("a", "1")])).await.expect("another is made");
    assert_ne!(other.id(), sandbox.id());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_set_up_script_that_fails_leaves_nothing_running() {
    scenarios::a_set_up_that_fails_leaves_nothing("daytona").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_timeout_has_the_output_so_far_and_exit_code_124_and_ends_the_command() {
    let serving = emulator("daytona").await;
    let sandbox = made(&serving).await;
    let request = ExecuteRequest::new("echo before; while sleep 0.1; do echo x >> /tmp/grows; done")
        .with_timeout(Duration::from_secs(2));
    let response = sandbox.execute(request).await.expect("it runs");
    assert_eq!((response.exit_code, response.stopped_by), (Some(124), Some(StopReason::Timeout)));
    assert_eq!(response.stdout_text(), "before\n");
    let grown = "cat /tmp/grows | wc -c; sleep 0.5; cat /tmp/grows | wc -c";
    let response = sandbox.execute(ExecuteRequest::new(grown)).await.expect("it runs");
    let sizes: Vec<String> = response.stdout_text().lines().map(str::to_owned).collect();
    assert_eq!(sizes[0], sizes[1], "nothing writes any more");
}

#[tokio::test(flavor = "multi_thread")]
async fn output_is_seen_while_the_command_still_runs() {
    let serving = emulator("daytona").await;
    let sandbox = made(&serving).await;
    let mut pieces: Vec<Vec<u8>> = Vec::new();
    let mut sink = |event: OutputEvent| pieces.push(event.bytes);
    // It goes on only when what it said was seen: nobody else makes the file.
    let request = ExecuteRequest::new("echo first; sleep 2; echo second").with_timeout(Duration::from_secs(60));
    let response = sandbox.execute_streaming(request, &mut sink).await.expect("it runs");
    assert_eq!((&*response.stdout_text(), response.exit_code), ("first\nsecond\n", Some(0)));
    assert_eq!(pieces, [b"first\n".to_vec(), b"second\n".to_vec()]);
}

#[tokio::test(flavor = "multi_thread")]
async fn much_output_is_kept_up_to_the_limit_and_the_rest_is_said_to_be_cut() {
    let serving = emulator("daytona").await;
    let mut options = serving.options();
    options.output_bytes = 3 << 20;
    let sandbox = adapter("daytona", options).get_or_create(Selector::any_new()).await.expect("it is made");
    let run = |command: &str| sandbox.execute(ExecuteRequest::new(command));
    let whole = run("head -c 2500000 /dev/zero | tr '\\0' x; head -c 100 /dev/zero >&2").await.expect("it runs");
    assert_eq!((whole.stdout.len(), whole.stderr.len(), whole.truncated), (2_500_000, 100, false));
    assert!(whole.stdout.iter().all(|byte| *byte == b'x'));
    let cut = run("head -c 5000000 /dev/zero; echo lost >&2").await.expect("it runs");
    assert_eq!((cut.stdout.len() + cut.stderr.len(), cut.truncated), (3 << 20, true));
}

#[tokio::test(flavor = "multi_thread")]
async fn scripts_of_any_length_run() {
    let serving = emulator("daytona").await;
    let sandbox = made(&serving).await;
    let script = format!("text='{}'\necho ${{#text}} it\\'s; exit 4", "é".repeat(200_000));
    let response = sandbox.execute(ExecuteRequest::new(script)).await.expect("it runs");
    assert_eq!(
        (&*response.stdout_text(), response.exit_code),
        ("200000 it's\n", Some(4)),
        "{}",
        response.stderr_text()
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn of_many_files_each_has_its_own_result() {
    scenarios::each_file_has_its_own_result("daytona").await;
}
