//! Deno Sandbox.

use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use base64::Engine as _;
use futures_util::{SinkExt as _, StreamExt as _};
use tidebox::{ErrorKind, ExecuteRequest, ListRequest, Selector, StopReason, Upload};
use tidebox_emulators::{FaultKind, Serving};
use tokio::net::TcpStream;
use tokio_tungstenite::WebSocketStream;
use tokio_tungstenite::tungstenite::Message;
use tokio_tungstenite::tungstenite::client::IntoClientRequest as _;

use crate::proved::{Feature, shows};
use crate::{KEY, adapter, contract, emulator, fault, made, refuse, scenarios};

shows! {
    the_adapter_of_deno_keeps_the_contract_over_its_emulator:
        [Run, Streams, Live, Limit, Killed, Upload, Download] by contract::sandboxes_keep_it("deno", "/home/app", |_| {});
    the_provider_of_deno_keeps_the_contract_over_its_emulator:
        [Make, List, Labels, Find, Delete] by contract::provider_keeps_it("deno");
    a_refusal_with_a_time_is_waited_for_and_then_done_once:
        [Pause] by scenarios::a_pause_that_is_asked_for_is_kept("deno", "/api/v3/sandboxes/create");
    a_command_that_nobody_waits_for_any_more_is_killed_there_too:
        [Stop] by scenarios::a_command_that_nobody_waits_for_is_killed("deno");
    a_sandbox_whose_time_is_over_is_gone_by_name_and_in_lists:
        [Over] by scenarios::a_sandbox_whose_time_is_over_is_gone("deno");
    a_connection_that_breaks_is_an_error_is_made_anew_and_no_command_is_sent_twice:
        [Broken] by broken();
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

async fn broken() -> [Feature; 1] {
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
    [Feature::Broken]
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
async fn a_file_whose_sending_is_given_up_stays_as_it_was() {
    let serving = emulator("deno").await;
    let sandbox = made(&serving).await;
    let file = |content: Vec<u8>| vec![Upload::new("/home/app/file", content)];
    sandbox.upload_files(file(b"before".to_vec())).await.expect("a transfer")[0].result.as_ref().expect("it is stored");
    let given_up = tokio::time::timeout(Duration::from_millis(20), sandbox.upload_files(file(vec![7; 64 << 20]))).await;
    assert!(given_up.is_err(), "64 MiB take longer");
    // What was sent of it has had its time.
    let response = sandbox.execute(ExecuteRequest::new("sleep 0.2; cat /home/app/file")).await.expect("it runs");
    assert_eq!(response.stdout_text(), "before");
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
async fn a_set_up_script_that_fails_leaves_nothing_running() {
    scenarios::a_set_up_that_fails_leaves_nothing("deno").await;
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

/// A socket of the service's as any client opens it, whose sandbox lives for so long.
async fn socket(serving: &Serving, life: Duration) -> (WebSocketStream<TcpStream>, String) {
    let ends = (SystemTime::now() + life).duration_since(UNIX_EPOCH).expect("after 1970").as_millis();
    let config = base64::engine::general_purpose::STANDARD.encode(format!("{{\"stop_at_ms\":{ends}}}"));
    let url = format!("ws://{}/api/v3/sandboxes/create", serving.address());
    let mut request = url.into_client_request().expect("a handshake");
    for (name, value) in [("authorization", format!("Bearer {KEY}")), ("x-deno-sandbox-config", config)] {
        request.headers_mut().insert(name, value.parse().expect("a value"));
    }
    let stream = TcpStream::connect(serving.address()).await.expect("it is there");
    let (socket, answer) = tokio_tungstenite::client_async(request, stream).await.expect("it is opened");
    let id = answer.headers().get("x-deno-sandbox-id").and_then(|id| id.to_str().ok()).expect("it has a name");
    (socket, id.to_owned())
}

/// With which code the service closes a socket.
async fn closed(socket: &mut WebSocketStream<TcpStream>) -> u16 {
    loop {
        match socket.next().await {
            Some(Ok(Message::Close(Some(frame)))) => return frame.code.into(),
            Some(Ok(Message::Text(_))) => {}
            other => panic!("it does not close as the protocol says: {other:?}"),
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn what_cannot_be_read_closes_the_socket_with_the_code_of_its_reason() {
    let serving = emulator("deno").await;
    for (said, code) in [("{nothing", 4000), ("", 4000), ("[]", 4001), (r#"{"jsonrpc":"2.0","id":1}"#, 4001)] {
        let (mut socket, _) = socket(&serving, Duration::from_secs(600)).await;
        socket.send(Message::text(said)).await.expect("it is open");
        assert_eq!(closed(&mut socket).await, code, "{said}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_socket_closes_when_the_life_of_its_sandbox_is_over_wherever_its_end_was_moved() {
    let serving = emulator("deno").await;
    let begun = Instant::now();
    let (mut longer, id) = socket(&serving, Duration::from_secs(1)).await;
    assert!(serving.house().change(&id, |room| room.live(Duration::from_secs(4))));
    let (mut shorter, id) = socket(&serving, Duration::from_secs(600)).await;
    assert!(serving.house().change(&id, |room| room.live(Duration::from_secs(1))));
    assert_eq!(closed(&mut shorter).await, 1001);
    assert!(begun.elapsed() >= Duration::from_secs(1), "it lived");
    assert_eq!(closed(&mut longer).await, 1001);
    assert!(begun.elapsed() >= Duration::from_secs(4), "it lived on");
    let listed = adapter("deno", serving.options()).list(ListRequest::default()).await.expect("a list").sandboxes;
    assert!(listed.is_empty(), "{listed:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_command_under_which_the_life_of_its_sandbox_ends_is_an_error_that_says_so() {
    let serving = emulator("deno").await;
    let sandbox = made(&serving).await;
    let shorten = || serving.house().change(sandbox.id().as_str(), |room| room.live(Duration::from_secs(2)));
    assert!(shorten());
    let error = sandbox.execute(ExecuteRequest::new("sleep 600")).await.expect_err("its sandbox ended");
    assert_eq!(error.kind(), ErrorKind::Unavailable, "{error}");
    assert!(error.to_string().contains("1001"), "{error}");
    let error = sandbox.execute(ExecuteRequest::new("true")).await.expect_err("there is none any more");
    assert_eq!(error.kind(), ErrorKind::SandboxNotFound, "{error}");
}
