//! Modal.

use std::net::{Ipv4Addr, SocketAddr};
use std::time::{Duration, Instant};

use tidebox::{ErrorKind, ExecuteRequest, ListRequest, Selector, StopReason, Upload};
use tidebox_emulators::{Emulator, FaultKind};
use tokio::net::{TcpSocket, TcpStream};
use tokio::sync::oneshot;

use crate::coverage::{Feature, shows};
use crate::{KEY, adapter, contract, create_sandbox, emulator, fault, http_error, registry, scenarios};

shows! {
    the_adapter_of_modal_keeps_the_contract_over_its_emulator:
        [Run, Streams, Live, Limit, Killed, Processes, Upload, Download] by contract::sandbox_suite_passes("modal", "/workspace", |_| {});
    the_provider_of_modal_keeps_the_contract_over_its_emulator:
        [Make, List, Labels, Find, Delete] by contract::provider_suite_passes("modal");
    a_command_at_modal_that_nobody_waits_for_any_more_is_killed_there_too:
        [Stop] by scenarios::a_dropped_command_is_killed("modal");
    a_sandbox_of_modal_whose_time_is_over_is_gone_by_name_and_in_lists:
        [Over] by scenarios::an_expired_sandbox_is_deleted("modal");
    a_pause_that_modal_asks_for_is_kept_and_a_quota_without_one_is_told:
        [Pause] by paused();
    a_broken_stream_of_output_is_taken_up_where_it_broke_and_the_command_runs_once:
        [Broken] by resumed();
}

const ROUTER: &str = "/modal.task_command_router.TaskCommandRouter";
const CONTROL: &str = "/modal.client.ModalClient";

#[tokio::test(flavor = "multi_thread")]
async fn concurrent_processes_with_equal_labels_share_a_modal_sandbox() {
    let serving = emulator("modal").await;
    let ask = || {
        let provider = adapter("modal", serving.options());
        tokio::spawn(async move { provider.get_or_create(Selector::labels([("thread", "1")])).await })
    };
    let requested: Vec<_> = (0..6).map(|_| ask()).collect();
    let mut names = Vec::new();
    for sandbox in requested {
        names.push(sandbox.await.expect("no panic").expect("created").id().clone());
    }
    names.dedup();
    assert_eq!(names.len(), 1, "{names:?}");
    let provider = adapter("modal", serving.options());
    assert_eq!(provider.list(ListRequest::default()).await.expect("a list").sandboxes.len(), 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn output_after_the_exit_is_kept() {
    let serving = emulator("modal").await;
    let sandbox = create_sandbox(&serving).await;
    fault(&serving, &format!("{ROUTER}/TaskExecStdioRead"), 2, FaultKind::Delay { millis: 1500 });
    let response =
        sandbox.execute(ExecuteRequest::new("echo out; echo err >&2; exit 3")).await.expect("the command runs");
    assert_eq!((&*response.stdout_text(), &*response.stderr_text()), ("out\n", "err\n"));
    assert_eq!((response.exit_code, response.truncated), (Some(3), false));
}

async fn resumed() -> [Feature; 1] {
    let serving = emulator("modal").await;
    let sandbox = create_sandbox(&serving).await;
    fault(&serving, &format!("{ROUTER}/TaskExecStdioRead"), 2, FaultKind::BreakAfter { bytes: 100_000 });
    fault(&serving, &format!("{ROUTER}/TaskExecWait"), 1, FaultKind::BreakAfter { bytes: 0 });
    fault(&serving, &format!("{ROUTER}/TaskExecStart"), 1, FaultKind::BreakAfter { bytes: 2 });
    let response = sandbox.execute(ExecuteRequest::new("echo once >> /tmp/count; seq 60000; seq 60000 >&2")).await;
    let response = response.expect("the command runs");
    let expected: String = (1..=60_000).map(|n| format!("{n}\n")).collect();
    assert!(response.stdout_text() == expected && response.stderr_text() == expected, "nothing is lost or doubled");
    assert_eq!((response.exit_code, serving.faults().left()), (Some(0), 0));
    let count = sandbox.execute(ExecuteRequest::new("cat /tmp/count")).await.expect("the sandbox works on");
    assert_eq!(count.stdout_text(), "once\n");
    [Feature::Broken]
}

#[tokio::test(flavor = "multi_thread")]
async fn modal_responses_in_one_byte_chunks_are_parsed_the_same() {
    let serving = emulator("modal").await;
    fault(&serving, "/", 40, FaultKind::Split { bytes: 1 });
    let sandbox = create_sandbox(&serving).await;
    let request = ExecuteRequest::new("printf 'é\\377\\000'; echo oh >&2; exit 7");
    let response = sandbox.execute(request).await.expect("the command runs");
    assert_eq!((response.stdout.as_slice(), response.exit_code), (b"\xc3\xa9\xff\0".as_slice(), Some(7)));
    assert_eq!(response.stderr_text(), "oh\n");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_retried_creation_creates_one_sandbox() {
    let serving = emulator("modal").await;
    fault(&serving, &format!("{CONTROL}/SandboxCreateV2"), 1, http_error(502, None));
    fault(&serving, &format!("{CONTROL}/SandboxCreateV2"), 1, FaultKind::BreakAfter { bytes: 3 });
    fault(&serving, &format!("{ROUTER}/TaskExecPoll"), 2, http_error(503, None));
    let provider = adapter("modal", serving.options());
    provider.get_or_create(Selector::any_new()).await.expect("created after a retry");
    assert_eq!(provider.list(ListRequest::default()).await.expect("a list").sandboxes.len(), 1);
    assert_eq!(serving.faults().left(), 0);
}

async fn paused() -> [Feature; 1] {
    let serving = emulator("modal").await;
    let exhausted = |retry_after_secs| FaultKind::GrpcStatus {
        code: 8,
        message: "too many sandboxes".to_owned(),
        retry_after_secs,
    };
    let provider = adapter("modal", serving.options());
    fault(&serving, &format!("{CONTROL}/SandboxCreateV2"), 1, exhausted(Some(1.0)));
    let started = Instant::now();
    provider.get_or_create(Selector::any_new()).await.expect("created after the pause");
    assert!(started.elapsed() >= Duration::from_secs(1), "the server's pause was kept");
    fault(&serving, &format!("{CONTROL}/SandboxCreateV2"), 1, exhausted(None));
    let error = provider.get_or_create(Selector::any_new()).await.expect_err("the sandbox limit is reached");
    assert_eq!(error.kind(), ErrorKind::RateLimited, "{error}");
    assert!(error.to_string().contains("too many sandboxes"), "{error}");
    [Feature::Pause]
}

#[tokio::test(flavor = "multi_thread")]
async fn an_expired_router_credential_is_renewed() {
    let serving = emulator("modal").await;
    let sandbox = create_sandbox(&serving).await;
    serving.registry().update(sandbox.id().as_str(), |record| record.token = "another".to_owned());
    let response = sandbox.execute(ExecuteRequest::new("echo still here")).await.expect("the command runs");
    assert_eq!(response.stdout_text(), "still here\n");
    fault(&serving, "/modal.task_command_router.", 1, FaultKind::ExpiredToken);
    let response = sandbox.execute(ExecuteRequest::new("echo again")).await.expect("the command runs");
    assert_eq!((&*response.stdout_text(), serving.faults().left()), ("again\n", 0));
}

#[tokio::test(flavor = "multi_thread")]
async fn an_expired_token_of_the_control_plane_is_renewed() {
    let serving = emulator("modal").await;
    let provider = adapter("modal", serving.options());
    provider.get_or_create(Selector::any_new()).await.expect("created");
    fault(&serving, &format!("{CONTROL}/SandboxListV2"), 1, FaultKind::ExpiredToken);
    let listed = provider.list(ListRequest::default()).await.expect("listed with a new token");
    assert_eq!((listed.sandboxes.len(), serving.faults().left()), (1, 0));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_wrong_key_fails_without_showing_credentials() {
    let serving = emulator("modal").await;
    let wrong = serving.options().with_api_key("planted-wrong-secret");
    let provider = tidebox_remote_adapters::provider("modal", wrong).expect("the options are valid");
    let error = provider.get_or_create(Selector::any_new()).await.expect_err("the key is wrong");
    assert_eq!(error.kind(), ErrorKind::Unauthenticated);
    assert!(!format!("{error} {error:?} {provider:?}").contains("planted"), "{error:?}");
    let provider = adapter("modal", serving.options());
    let sandbox = provider.get_or_create(Selector::any_new()).await.expect("created");
    sandbox.execute(ExecuteRequest::new("true")).await.expect("the command runs");
    let mut token = String::new();
    serving.registry().update(sandbox.id().as_str(), |record| token.clone_from(&record.token));
    let shown = format!("{provider:?} {sandbox:?}");
    assert!(!shown.contains("planted") && !shown.contains(&token), "{shown}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_modal_sandbox_that_does_not_become_ready_is_deleted() {
    let serving = emulator("modal").await;
    let mut options = serving.options();
    options.ready_time = Duration::from_secs(2);
    fault(&serving, ROUTER, 1000, http_error(503, None));
    let provider = adapter("modal", options);
    let error = provider.get_or_create(Selector::any_new()).await.expect_err("the router does not respond");
    assert_eq!(error.kind(), ErrorKind::Timeout, "{error}");
    assert!(provider.list(ListRequest::default()).await.expect("a list").sandboxes.is_empty());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_failing_setup_script_deletes_the_modal_sandbox() {
    scenarios::a_failing_setup_leaves_no_sandbox("modal").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_modal_timeout_keeps_output_and_kills_descendants() {
    let serving = emulator("modal").await;
    let sandbox = create_sandbox(&serving).await;
    let line = "echo before; (while :; do echo x >> /tmp/grows; sleep 0.05; done) & sleep 30; echo after";
    let request = ExecuteRequest::new(line).with_timeout(Duration::from_millis(700));
    let response = sandbox.execute(request).await.expect("the command runs");
    assert_eq!((response.exit_code, response.stopped_by), (Some(124), Some(StopReason::Timeout)));
    assert_eq!(response.stdout_text(), "before\n");
    assert_still(&*sandbox).await;
}

/// Asserts that nothing writes to `/tmp/grows` any more.
async fn assert_still(sandbox: &dyn tidebox::SandboxBackend) {
    let size = || async {
        let files = sandbox.download_files(vec![b"/tmp/grows".to_vec()]).await.expect("a transfer");
        files[0].result.as_ref().map(Vec::len).expect("the file exists")
    };
    let before = size().await;
    tokio::time::sleep(Duration::from_millis(500)).await;
    assert_eq!(size().await, before, "nothing writes any more");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_command_above_the_argument_limit_runs_with_input() {
    let serving = emulator("modal").await;
    let sandbox = create_sandbox(&serving).await;
    let script = format!("x='{}'\necho ${{#x}}; cat; ls -a /tmp | grep -c script", "y".repeat(200_000));
    let request = ExecuteRequest::new(script).with_stdin("from outside\n");
    let response = sandbox.execute(request).await.expect("the command runs");
    assert_eq!(response.stdout_text(), "200000\nfrom outside\n0\n", "{}", response.stderr_text());
}

#[tokio::test(flavor = "multi_thread")]
async fn modal_transfers_large_files_and_file_errors() {
    let serving = emulator("modal").await;
    let sandbox = create_sandbox(&serving).await;
    let every_byte: Vec<u8> = (0..3_000_000_u32).map(|n| (n % 251) as u8).collect();
    fault(&serving, &format!("{ROUTER}/TaskExecStdinWriteStream"), 1, FaultKind::BreakAfter { bytes: 0 });
    let files = vec![
        Upload::new("/workspace/a", every_byte.clone()),
        Upload::new("relative", "2"),
        Upload::new("/workspace/a/below", "3"),
        Upload::new("/tmp", "4"),
        Upload::new("/workspace/new/b", "5"),
    ];
    let results = sandbox.upload_files(files).await.expect("a transfer");
    let codes: Vec<_> =
        results.into_iter().map(|file| file.result.err().map(|error| error.code.transfer_code().as_str())).collect();
    assert_eq!(codes, [None, Some("invalid_path"), Some("invalid_path"), Some("is_directory"), None]);
    let paths = ["/workspace/a", "/workspace/none", "/workspace/new", "/workspace/new/b"];
    let paths = paths.map(|path| path.as_bytes().to_vec()).to_vec();
    let files = sandbox.download_files(paths).await.expect("a transfer");
    assert!(files[0].result.as_ref().is_ok_and(|content| *content == every_byte));
    let code = |at: usize| files[at].result.as_ref().err().map(|error| error.code.transfer_code().as_str());
    assert_eq!(
        (code(1), code(2), files[3].result.as_deref()),
        (Some("file_not_found"), Some("is_directory"), Ok(&b"5"[..]))
    );
}

/// Reserves a port that refuses connections, like a router that is still starting, and forwards to the target after
/// `later`.
fn comes_later(later: Duration, target: oneshot::Receiver<SocketAddr>) -> SocketAddr {
    let socket = TcpSocket::new_v4().expect("a socket");
    socket.bind(SocketAddr::from((Ipv4Addr::LOCALHOST, 0))).expect("a port is free");
    let address = socket.local_addr().expect("a local address");
    tokio::spawn(async move {
        let target = target.await.expect("the target is received");
        tokio::time::sleep(later).await;
        let listener = socket.listen(64).expect("listening");
        while let Ok((mut near, _)) = listener.accept().await {
            let mut far = TcpStream::connect(target).await.expect("the emulator is reachable");
            // Either side may close first.
            tokio::spawn(async move { drop(tokio::io::copy_bidirectional(&mut near, &mut far).await) });
        }
    });
    address
}

#[tokio::test(flavor = "multi_thread")]
async fn an_unreachable_router_is_retried() {
    let later = Duration::from_millis(1500);
    let local = SocketAddr::from((Ipv4Addr::LOCALHOST, 0));
    let (tell, target) = oneshot::channel();
    let router = comes_later(later, target);
    let emulator = Emulator { provider: "modal".to_owned(), key: KEY.to_owned() };
    let serving =
        emulator.serve_at_url(local, registry(), &format!("http://{router}")).await.expect("the emulator serves");
    let options = serving.options().with_api_url(format!("http://{}", serving.address()));
    let started = Instant::now();
    tell.send(serving.address()).expect("the proxy is running");
    let provider = adapter("modal", options);
    let sandbox = provider.get_or_create(Selector::any_new()).await.expect("created after a retry");
    assert!(started.elapsed() >= later, "the first connections are refused");
    let response = sandbox.execute(ExecuteRequest::new("echo here")).await.expect("the command runs");
    assert_eq!(response.stdout_text(), "here\n");
    assert_eq!(provider.list(ListRequest::default()).await.expect("a list").sandboxes.len(), 1, "created once");
}
