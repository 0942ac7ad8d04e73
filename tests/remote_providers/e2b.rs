//! E2B.

use std::time::{Duration, Instant};

use tidebox::{ErrorKind, ExecuteRequest, ListRequest, Selector, StopReason, Upload};
use tidebox_emulators::FaultKind;

use crate::{adapter, contract, emulator, fault, made, refuse};

#[tokio::test(flavor = "multi_thread")]
async fn the_adapter_of_e2b_keeps_the_contract_over_its_emulator() {
    contract::sandboxes_keep_it("e2b", "/home/user", |_| {}).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_provider_of_e2b_keeps_the_contract_over_its_emulator() {
    contract::provider_keeps_it("e2b").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_refusal_with_a_time_is_waited_for_and_then_done_once() {
    let serving = emulator("e2b").await;
    let refuse = refuse(429, Some(1));
    fault(&serving, "/v2/sandboxes", 1, refuse);
    let begun = Instant::now();
    let provider = adapter("e2b", serving.options());
    provider.get_or_create(Selector::any_new()).await.expect("it is made after all");
    assert!(begun.elapsed() >= Duration::from_secs(1), "the server's pause was kept");
    assert_eq!(provider.list(ListRequest::default()).await.expect("a list").sandboxes.len(), 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_command_whose_stream_breaks_is_an_error_and_is_never_sent_twice() {
    let serving = emulator("e2b").await;
    let sandbox = made(&serving).await;
    fault(&serving, "/process.Process/Start", 1, FaultKind::BreakAfter { bytes: 60 });
    let request = ExecuteRequest::new("echo once >> /tmp/count; echo something that is long enough to be cut");
    let error = sandbox.execute(request).await.expect_err("the stream broke");
    assert_eq!(error.kind(), ErrorKind::Unavailable, "{error}");
    let response = sandbox.execute(ExecuteRequest::new("cat /tmp/count")).await.expect("the sandbox works on");
    assert_eq!(response.stdout_text(), "once\n");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_reply_in_single_bytes_is_the_same_reply() {
    let serving = emulator("e2b").await;
    let sandbox = made(&serving).await;
    fault(&serving, "/process.Process/Start", 1, FaultKind::Split { bytes: 1 });
    let request = ExecuteRequest::new("printf 'é\\377\\000'; echo oh >&2; exit 7");
    let response = sandbox.execute(request).await.expect("it runs");
    assert_eq!((response.stdout.as_slice(), response.exit_code), (b"\xc3\xa9\xff\0".as_slice(), Some(7)));
    assert_eq!(response.stderr_text(), "oh\n");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_token_that_is_no_longer_good_is_told_as_such() {
    let serving = emulator("e2b").await;
    let sandbox = made(&serving).await;
    serving.house().change(sandbox.id().as_str(), |room| room.token = "another".to_owned());
    let error = sandbox.execute(ExecuteRequest::new("true")).await.expect_err("the token is wrong");
    assert_eq!(error.kind(), ErrorKind::Unauthenticated, "{error}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_sandbox_whose_time_is_over_is_gone_by_name_and_in_lists() {
    let serving = emulator("e2b").await;
    let mut options = serving.options();
    options.time_to_live = Duration::from_secs(1);
    let provider = adapter("e2b", options);
    let sandbox = provider.get_or_create(Selector::labels([("a", "1")])).await.expect("it is made");
    tokio::time::sleep(Duration::from_millis(1500)).await;
    let error = provider.get_or_create(Selector::Id(sandbox.id().clone())).await.expect_err("it is gone");
    assert_eq!(error.kind(), ErrorKind::SandboxNotFound);
    assert!(provider.list(ListRequest::default()).await.expect("a list").sandboxes.is_empty());
    provider.delete(sandbox.id()).await.expect("deleting what is gone is no error");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_set_up_script_that_fails_leaves_nothing_running() {
    let serving = emulator("e2b").await;
    let mut options = serving.options();
    options.setup = Some("echo reason >&2; exit 3".to_owned());
    let provider = adapter("e2b", options);
    let error = provider.get_or_create(Selector::any_new()).await.expect_err("the script failed");
    assert!(error.message().contains("reason"), "{error}");
    assert!(provider.list(ListRequest::default()).await.expect("a list").sandboxes.is_empty());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_command_that_nobody_waits_for_any_more_is_killed_there_too() {
    let serving = emulator("e2b").await;
    let sandbox = made(&serving).await;
    let endless = sandbox.execute(ExecuteRequest::new("while :; do echo x >> /tmp/grows; sleep 0.05; done"));
    assert!(tokio::time::timeout(Duration::from_millis(800), endless).await.is_err(), "it was dropped while it ran");
    tokio::time::sleep(Duration::from_millis(500)).await;
    let size = || async {
        let files = sandbox.download_files(vec![b"/tmp/grows".to_vec()]).await.expect("a transfer");
        files[0].result.as_ref().map(Vec::len).expect("the file is there")
    };
    let before = size().await;
    tokio::time::sleep(Duration::from_millis(500)).await;
    assert_eq!(size().await, before, "nothing writes any more");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_timeout_has_the_output_so_far_and_exit_code_124() {
    let serving = emulator("e2b").await;
    let sandbox = made(&serving).await;
    let request = ExecuteRequest::new("echo before; sleep 30; echo after").with_timeout(Duration::from_secs(1));
    let response = sandbox.execute(request).await.expect("it runs");
    assert_eq!((response.exit_code, response.stopped_by), (Some(124), Some(StopReason::Timeout)));
    assert_eq!(response.stdout_text(), "before\n");
}

#[tokio::test(flavor = "multi_thread")]
async fn of_many_files_each_has_its_own_result() {
    let serving = emulator("e2b").await;
    let sandbox = made(&serving).await;
    let files = vec![
        Upload::new("/home/user/a", "1"),
        Upload::new("relative", "2"),
        Upload::new("/home/user/a/below", "3"),
        Upload::new("/home/user/b", "4"),
    ];
    let codes: Vec<_> = sandbox
        .upload_files(files)
        .await
        .expect("a transfer")
        .into_iter()
        .map(|file| file.result.err().map(|error| error.code.transfer_code().as_str()))
        .collect();
    assert_eq!(codes, [None, Some("invalid_path"), Some("invalid_path"), None]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_of_the_first_version_is_spoken_to_in_it() {
    let serving = emulator("e2b").await;
    let unknown = || FaultKind::Refuse { status: 404, retry_after: None, body: "404 page not found".to_owned() };
    fault(&serving, "/v2/sandboxes", 2, unknown());
    let provider = adapter("e2b", serving.options());
    let sandbox = provider.get_or_create(Selector::any_new()).await.expect("it is made");
    let again = provider.get_or_create(Selector::Id(sandbox.id().clone())).await.expect("it is found");
    assert_eq!(again.execute(ExecuteRequest::new("echo hi")).await.expect("it runs").stdout_text(), "hi\n");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_creation_whose_answer_is_lost_makes_one_sandbox() {
    let serving = emulator("e2b").await;
    fault(&serving, "/v2/sandboxes", 1, FaultKind::BreakAfter { bytes: 10 });
    let provider = adapter("e2b", serving.options());
    // What was answered in part is not asked again by itself; who asks again for the labels finds what was made.
    let labels = Selector::labels([("thread", "1")]);
    let made = provider.get_or_create(labels.clone()).await;
    let sandbox = match made {
        Ok(sandbox) => sandbox,
        Err(_) => provider.get_or_create(labels).await.expect("it is found"),
    };
    let listed = provider.list(ListRequest::default()).await.expect("a list").sandboxes;
    assert_eq!(listed.iter().map(|one| &one.id).collect::<Vec<_>>(), [sandbox.id()]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_sandbox_that_sleeps_is_woken_by_its_id_and_by_its_labels_and_keeps_its_files() {
    let serving = emulator("e2b").await;
    let provider = adapter("e2b", serving.options());
    let labels = || Selector::labels([("thread", "1")]);
    let sandbox = provider.get_or_create(labels()).await.expect("it is made");
    sandbox.execute(ExecuteRequest::new("echo kept > /tmp/file")).await.expect("it runs");
    let id = sandbox.id().clone();
    for selector in [Selector::Id(id.clone()), labels()] {
        assert!(serving.house().change(id.as_str(), |room| room.paused = true), "it falls asleep");
        let error = sandbox.execute(ExecuteRequest::new("true")).await.expect_err("its daemon does not answer");
        assert_eq!(error.kind(), ErrorKind::SandboxNotFound, "{error}");
        let woken = provider.get_or_create(selector).await.expect("it is woken");
        assert_eq!(woken.id(), &id);
        let response = woken.execute(ExecuteRequest::new("cat /tmp/file")).await.expect("it runs");
        assert_eq!(response.stdout_text(), "kept\n");
    }
}
