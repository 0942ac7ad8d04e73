//! Deno Sandbox.

use std::time::{Duration, Instant};

use tidebox::{ErrorKind, ExecuteRequest, ListRequest, Selector, StopReason, Upload};
use tidebox_emulators::FaultKind;

use crate::{KEY, adapter, contract, emulator, fault, made, refuse};

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
    let serving = emulator("deno").await;
    let refuse = refuse(429, Some(1));
    fault(&serving, "/api/v3/sandboxes/create", 1, refuse);
    let begun = Instant::now();
    let provider = adapter("deno", serving.options());
    provider.get_or_create(Selector::any_new()).await.expect("it is made after all");
    assert!(begun.elapsed() >= Duration::from_secs(1), "the server's pause was kept");
    assert_eq!(provider.list(ListRequest::default()).await.expect("a list").sandboxes.len(), 1);
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
    let serving = emulator("deno").await;
    let mut options = serving.options();
    options.time_to_live = Duration::from_secs(1);
    let provider = adapter("deno", options);
    let sandbox = provider.get_or_create(Selector::labels([("a", "1")])).await.expect("it is made");
    tokio::time::sleep(Duration::from_millis(1500)).await;
    let error = provider.get_or_create(Selector::Id(sandbox.id().clone())).await.expect_err("it is gone");
    assert_eq!(error.kind(), ErrorKind::SandboxNotFound);
    assert!(provider.list(ListRequest::default()).await.expect("a list").sandboxes.is_empty());
    provider.delete(sandbox.id()).await.expect("deleting what is gone is no error");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_set_up_script_that_fails_leaves_nothing_running() {
    let serving = emulator("deno").await;
    let mut options = serving.options();
    options.setup = Some("echo reason >&2; exit 3".to_owned());
    let provider = adapter("deno", options);
    let error = provider.get_or_create(Selector::any_new()).await.expect_err("the script failed");
    assert!(error.message().contains("reason"), "{error}");
    assert!(provider.list(ListRequest::default()).await.expect("a list").sandboxes.is_empty());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_command_that_nobody_waits_for_any_more_is_killed_there_too() {
    let serving = emulator("deno").await;
    let sandbox = made(&serving).await;
    let endless = sandbox.execute(ExecuteRequest::new("while :; do echo x >> /tmp/grows; sleep 0.05; done"));
    assert!(tokio::time::timeout(Duration::from_millis(800), endless).await.is_err(), "it was dropped while it ran");
    let size = || async {
        let files = sandbox.download_files(vec![b"/tmp/grows".to_vec()]).await.expect("a transfer");
        files[0].result.as_ref().map(Vec::len).expect("the file is there")
    };
    // However loaded the machine is, at some time nothing writes any more.
    for _ in 0..60 {
        let before = size().await;
        tokio::time::sleep(Duration::from_millis(500)).await;
        if size().await == before {
            return;
        }
    }
    panic!("it still writes");
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
    let serving = emulator("deno").await;
    let sandbox = made(&serving).await;
    let files = vec![
        Upload::new("/home/app/a", "1"),
        Upload::new("relative", "2"),
        Upload::new("/home/app/a/below", "3"),
        Upload::new("/home/app/b", "4"),
        Upload::new("/tmp", "5"),
    ];
    let codes: Vec<_> = sandbox
        .upload_files(files)
        .await
        .expect("a transfer")
        .into_iter()
        .map(|file| file.result.err().map(|error| error.code.transfer_code().as_str()))
        .collect();
    assert_eq!(codes, [None, Some("invalid_path"), Some("invalid_path"), None, Some("is_directory")]);
}
