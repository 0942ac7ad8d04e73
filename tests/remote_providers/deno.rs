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

use crate::coverage::{Feature, shows};
use crate::{KEY, adapter, contract, create_sandbox, emulator, fault, http_error, scenarios};

shows! {
    the_adapter_of_deno_keeps_the_contract_over_its_emulator:
        [Run, Streams, Live, Limit, Killed, Processes, Upload, Download] by contract::sandbox_suite_passes("deno", "/home/app", |_| {});
    the_provider_of_deno_keeps_the_contract_over_its_emulator:
        [Make, List, Labels, Find, Delete] by contract::provider_suite_passes("deno");
    a_refusal_with_a_time_is_waited_for_and_then_done_once:
        [Pause] by scenarios::a_requested_pause_is_respected("deno", "/api/v3/sandboxes/create");
    a_command_that_nobody_waits_for_any_more_is_killed_there_too:
        [Stop] by scenarios::a_dropped_command_is_killed("deno");
    a_sandbox_whose_time_is_over_is_gone_by_name_and_in_lists:
        [Over] by scenarios::an_expired_sandbox_is_deleted("deno");
    a_connection_that_breaks_is_an_error_is_made_anew_and_no_command_is_sent_twice:
        [Broken] by broken();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_failed_creation_is_not_repeated() {
    let serving = emulator("deno").await;
    fault(&serving, "/api/v3/sandboxes/create", 1, http_error(502, None));
    let error =
        adapter("deno", serving.options()).get_or_create(Selector::any_new()).await.expect_err("the command fails");
    assert_eq!(error.kind(), ErrorKind::Unavailable, "{error}");
    assert_eq!(serving.faults().left(), 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn output_before_its_stream_is_named_is_kept() {
    let serving = emulator("deno").await;
    fault(&serving, "/api/v3/sandboxes/create", 1, FaultKind::EarlyChunks);
    let sandbox = create_sandbox(&serving).await;
    let response =
        sandbox.execute(ExecuteRequest::new("echo out; echo err >&2; exit 7")).await.expect("the command runs");
    assert_eq!((&*response.stdout_text(), &*response.stderr_text(), response.exit_code), ("out\n", "err\n", Some(7)));
}

async fn broken() -> [Feature; 1] {
    let serving = emulator("deno").await;
    // The response to the command, the starts of two streams, and one chunk.
    fault(&serving, "/api/v3/sandboxes/create", 1, FaultKind::CloseAfter { messages: 4 });
    let sandbox = create_sandbox(&serving).await;
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
    let sandbox = create_sandbox(&serving).await;
    let request = ExecuteRequest::new("printf 'é\\377\\000'; echo oh >&2; exit 7");
    let response = sandbox.execute(request).await.expect("the command runs");
    assert_eq!((response.stdout.as_slice(), response.exit_code), (b"\xc3\xa9\xff\0".as_slice(), Some(7)));
    assert_eq!(response.stderr_text(), "oh\n");
    let long = sandbox.execute(ExecuteRequest::new("seq 200000")).await.expect("the command runs");
    let expected: String = (1..=200_000).map(|number| format!("{number}\n")).collect();
    assert!(long.stdout_text() == expected, "{} bytes of {}", long.stdout.len(), expected.len());
}

#[tokio::test(flavor = "multi_thread")]
async fn long_files_are_transferred_in_chunks() {
    let serving = emulator("deno").await;
    let sandbox = create_sandbox(&serving).await;
    let long: Vec<u8> = (0..1_500_000_u32).map(|number| (number.wrapping_mul(31) >> 3) as u8).collect();
    let files = vec![Upload::new("/home/app/new/below/long", long.clone()), Upload::new("/home/app/empty", "")];
    for result in sandbox.upload_files(files).await.expect("a transfer") {
        result.result.expect("the upload succeeds");
    }
    let paths = vec![b"/home/app/new/below/long".to_vec(), b"/home/app/empty".to_vec(), b"/home/app/no".to_vec()];
    let files = sandbox.download_files(paths).await.expect("a transfer");
    assert!(files[0].result.as_ref().is_ok_and(|content| *content == long), "the content is complete");
    assert!(files[1].result.as_ref().is_ok_and(Vec::is_empty));
    assert_eq!(files[2].result.as_ref().map_err(|error| error.code.as_str()).unwrap_err(), "file_not_found");
    let sum = sandbox.execute(ExecuteRequest::new("wc -c < new/below/long")).await.expect("the command runs");
    assert_eq!(sum.stdout_text().trim(), "1500000");
}

#[tokio::test(flavor = "multi_thread")]
async fn an_abandoned_upload_leaves_the_file_unchanged() {
    let serving = emulator("deno").await;
    let sandbox = create_sandbox(&serving).await;
    let file = |content: Vec<u8>| vec![Upload::new("/home/app/file", content)];
    sandbox.upload_files(file(b"before".to_vec())).await.expect("a transfer")[0]
        .result
        .as_ref()
        .expect("the upload succeeds");
    let given_up = tokio::time::timeout(Duration::from_millis(20), sandbox.upload_files(file(vec![7; 64 << 20]))).await;
    assert!(given_up.is_err(), "64 MiB take longer");
    // The sent part has had time to arrive.
    let response =
        sandbox.execute(ExecuteRequest::new("sleep 0.2; cat /home/app/file")).await.expect("the command runs");
    assert_eq!(response.stdout_text(), "before");
}

#[tokio::test(flavor = "multi_thread")]
async fn an_expired_token_is_rejected_and_never_shown() {
    let serving = emulator("deno").await;
    let options = serving.options().with_api_key("ddo_another-planted-key");
    let provider = tidebox_remote_adapters::provider("deno", options).expect("the options are valid");
    let error = provider.get_or_create(Selector::any_new()).await.expect_err("the token is wrong");
    assert_eq!(error.kind(), ErrorKind::Unauthenticated, "{error}");
    let sandbox = create_sandbox(&serving).await;
    fault(&serving, "/api/v2/sandboxes", 1, FaultKind::ExpiredToken);
    let expired =
        adapter("deno", serving.options()).list(ListRequest::default()).await.expect_err("the token is expired");
    assert_eq!((expired.kind(), serving.faults().left()), (ErrorKind::Unauthenticated, 0), "{expired}");
    let printed = format!("{error} {error:?} {expired:?} {sandbox:?}");
    assert!(!printed.contains(KEY) && !printed.contains("planted"), "{printed}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_failing_setup_script_deletes_the_sandbox() {
    scenarios::a_failing_setup_leaves_no_sandbox("deno").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_timeout_returns_partial_output_and_exit_code_124() {
    let serving = emulator("deno").await;
    let sandbox = create_sandbox(&serving).await;
    let request = ExecuteRequest::new("echo before; sleep 30; echo after").with_timeout(Duration::from_secs(1));
    let response = sandbox.execute(request).await.expect("the command runs");
    assert_eq!((response.exit_code, response.stopped_by), (Some(124), Some(StopReason::Timeout)));
    assert_eq!(response.stdout_text(), "before\n");
}

#[tokio::test(flavor = "multi_thread")]
async fn files_in_one_transfer_have_separate_results() {
    scenarios::each_file_has_a_separate_result("deno").await;
}

/// Opens a socket of the service like any client; its sandbox lives this long.
async fn socket(serving: &Serving, life: Duration) -> (WebSocketStream<TcpStream>, String) {
    let ends = (SystemTime::now() + life).duration_since(UNIX_EPOCH).expect("after 1970").as_millis();
    let config = base64::engine::general_purpose::STANDARD.encode(format!("{{\"stop_at_ms\":{ends}}}"));
    let url = format!("ws://{}/api/v3/sandboxes/create", serving.address());
    let mut request = url.into_client_request().expect("a handshake");
    for (name, value) in [("authorization", format!("Bearer {KEY}")), ("x-deno-sandbox-config", config)] {
        request.headers_mut().insert(name, value.parse().expect("a value"));
    }
    let stream = TcpStream::connect(serving.address()).await.expect("it exists");
    let (socket, reply) = tokio_tungstenite::client_async(request, stream).await.expect("the connection is open");
    let id = reply.headers().get("x-deno-sandbox-id").and_then(|id| id.to_str().ok()).expect("it has an id");
    (socket, id.to_owned())
}

/// Returns the code with which the service closes a socket.
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
async fn malformed_messages_close_the_socket_with_their_code() {
    let serving = emulator("deno").await;
    for (output, code) in [("{nothing", 4000), ("", 4000), ("[]", 4001), (r#"{"jsonrpc":"2.0","id":1}"#, 4001)] {
        let (mut socket, _) = socket(&serving, Duration::from_secs(600)).await;
        socket.send(Message::text(output)).await.expect("the socket is open");
        assert_eq!(closed(&mut socket).await, code, "{output}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_socket_closes_at_the_end_of_its_sandbox() {
    let serving = emulator("deno").await;
    let started = Instant::now();
    let (mut longer, id) = socket(&serving, Duration::from_secs(1)).await;
    assert!(serving.registry().update(&id, |record| record.set_ttl(Duration::from_secs(4))));
    let (mut shorter, id) = socket(&serving, Duration::from_secs(600)).await;
    assert!(serving.registry().update(&id, |record| record.set_ttl(Duration::from_secs(1))));
    assert_eq!(closed(&mut shorter).await, 1001);
    assert!(started.elapsed() >= Duration::from_secs(1), "the sandbox existed");
    assert_eq!(closed(&mut longer).await, 1001);
    assert!(started.elapsed() >= Duration::from_secs(4), "the sandbox still exists");
    let listed = adapter("deno", serving.options()).list(ListRequest::default()).await.expect("a list").sandboxes;
    assert!(listed.is_empty(), "{listed:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn sandbox_expiry_during_a_command_is_an_error() {
    let serving = emulator("deno").await;
    let sandbox = create_sandbox(&serving).await;
    let shorten = || serving.registry().update(sandbox.id().as_str(), |record| record.set_ttl(Duration::from_secs(2)));
    assert!(shorten());
    let error = sandbox.execute(ExecuteRequest::new("sleep 600")).await.expect_err("its sandbox ended");
    assert_eq!(error.kind(), ErrorKind::Unavailable, "{error}");
    assert!(error.to_string().contains("1001"), "{error}");
    let error = sandbox.execute(ExecuteRequest::new("true")).await.expect_err("the sandbox has ended");
    assert_eq!(error.kind(), ErrorKind::SandboxNotFound, "{error}");
}
