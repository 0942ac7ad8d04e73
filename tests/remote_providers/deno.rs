//! Deno Sandbox.

use std::time::Duration;

use tidebox::{ErrorKind, ExecuteRequest, Selector, StopReason, Upload};
use tidebox_emulators::FaultKind;

use crate::{KEY, adapter, contract, emulator, fault, made, refuse, scenarios};

#[tokio::test(flavor = "multi_thread")]
async fn the_adapter_of_deno_keeps_the_contract_over_its_emulator() {
    contract::sandboxes_keep_it("deno", "/home/app", |_| {}).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_provider_of_deno_keeps_the_contract_over_its_emulator() {
    contract::provider_keeps_it("deno").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_refusal_with_a_time_is_waited_for_and_then_done_once() {
    scenarios::a_pause_that_is_asked_for_is_kept("deno", "/api/v3/sandboxes/create").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_creation_that_failed_on_their_side_is_not_repeated() {
    let serving = emulator("deno").await;
    let refuse = refuse(502, None);
    fault(&serving, "/api/v3/sandboxes/create", 1, refuse);
    let error = adapter("deno", serving.options()).get_or_create(Selector::any_new()).await.expect_err("it failed");
    assert_eq!(error.kind(), ErrorKind::Unavailable, "{error}");
    assert_eq!(serving.faults().left(), 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn output_that_comes_before_the_answer_that_names_it_is_not_lost() {
    let serving = emulator("deno").await;
    fault(&serving, "/api/v3/sandboxes/create", 1, FaultKind::EarlyPieces);
    let sandbox = made(&serving).await;
    let response = sandbox.execute(ExecuteRequest::new("echo out; echo err >&2; exit 7")).await.expect("it runs");
    assert_eq!((&*response.stdout_text(), &*response.stderr_text(), response.exit_code), ("out\n", "err\n", Some(7)));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_connection_that_breaks_is_an_error_is_made_anew_and_no_command_is_sent_twice() {
    let serving = emulator("deno").await;
    // The answer to the command, the beginnings of two streams, and one piece.
    fault(&serving, "/api/v3/sandboxes/create", 1, FaultKind::HangUpAfter { messages: 4 });
    let sandbox = made(&serving).await;
    let request =
        ExecuteRequest::new("echo once >> /tmp/count; for i in 1 2 3 4 5 6 7 8; do echo $i; sleep 0.05; done");
    let error = sandbox.execute(request).await.expect_err("the connection broke");
    assert_eq!(error.kind(), ErrorKind::Unavailable, "{error}");
    let response = sandbox.execute(ExecuteRequest::new("cat /tmp/count")).await.expect("the sandbox works on");
    assert_eq!(response.stdout_text(), "once\n");
}

#[tokio::test(flavor = "multi_thread")]
async fn bytes_and_both_streams_arrive_as_they_are() {
    let serving = emulator("deno").await;
    let sandbox = made(&serving).await;
    let request = ExecuteRequest::new("printf 'é\\377\\000'; echo oh >&2; exit 7");
    let response = sandbox.execute(request).await.expect("it runs");
    assert_eq!((response.stdout.as_slice(), response.exit_code), (b"\xc3\xa9\xff\0".as_slice(), Some(7)));
    assert_eq!(response.stderr_text(), "oh\n");
    let long = sandbox.execute(ExecuteRequest::new("seq 200000")).await.expect("it runs");
    let expected: String = (1..=200_000).map(|number| format!("{number}\n")).collect();
    assert!(long.stdout_text() == expected, "{} bytes of {}", long.stdout.len(), expected.len());
}

#[tokio::test(flavor = "multi_thread")]
async fn long_files_go_in_pieces_and_come_back_whole() {
    let serving = emulator("deno").await;
    let sandbox = made(&serving).await;
    let long: Vec<u8> = (0..1_500_000_u32).map(|number| (number.wrapping_mul(31) >> 3) as u8).collect();
    let files = vec![Upload::new("/home/app/new/below/long", long.clone()), Upload::new("/home/app/empty", "")];
    for result in sandbox.upload_files(files).await.expect("a transfer") {
        result.result.expect("it is stored");
    }
    let paths = vec![b"/home/app/new/below/long".to_vec(), b"/home/app/empty".to_vec(), b"/home/app/no".to_vec()];
    let files = sandbox.download_files(paths).await.expect("a transfer");
    assert!(files[0].result.as_ref().is_ok_and(|content| *content == long), "every byte is there");
    assert!(files[1].result.as_ref().is_ok_and(Vec::is_empty));
    assert_eq!(files[2].result.as_ref().map_err(|error| error.code.as_str()).unwrap_err(), "file_not_found");
    let sum = sandbox.execute(ExecuteRequest::new("wc -c < new/below/long")).await.expect("it runs");
    assert_eq!(sum.stdout_text().trim(), "1500000");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_token_that_is_no_longer_good_is_told_as_such_and_never_shown() {
    let serving = emulator("deno").await;
    let options = serving.options().with_api_key("ddo_another-planted-key");
    let provider = tidebox_remote_adapters::provider("deno", options).expect("the options are good");
    let error = provider.get_or_create(Selector::any_new()).await.expect_err("the token is wrong");
    assert_eq!(error.kind(), ErrorKind::Unauthenticated, "{error}");
    let sandbox = made(&serving).await;
    let printed = format!("{error} {error:?} {sandbox:?}");
    assert!(!printed.contains(KEY) && !printed.contains("planted"), "{printed}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_sandbox_whose_time_is_over_is_gone_by_name_and_in_lists() {
    scenarios::a_sandbox_whose_time_is_over_is_gone("deno").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_set_up_script_that_fails_leaves_nothing_running() {
    scenarios::a_set_up_that_fails_leaves_nothing("deno").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_command_that_nobody_waits_for_any_more_is_killed_there_too() {
    scenarios::a_command_that_nobody_waits_for_is_killed("deno").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_timeout_has_the_output_so_far_and_exit_code_124() {
    let serving = emulator("deno").await;
    let sandbox = made(&serving).await;
    let request = ExecuteRequest::new("echo before; sleep 30; echo after").with_timeout(Duration::from_secs(1));
    let response = sandbox.execute(request).await.expect("it runs");
    assert_eq!((response.exit_code, response.stopped_by), (Some(124), Some(StopReason::Timeout)));
    assert_eq!(response.stdout_text(), "before\n");
}

#[tokio::test(flavor = "multi_thread")]
async fn of_many_files_each_has_its_own_result() {
    scenarios::each_file_has_its_own_result("deno").await;
}
