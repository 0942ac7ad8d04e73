//! E2B.

use std::time::Duration;

use tidebox::{ErrorKind, ExecuteRequest, ListRequest, Selector, StopReason};
use tidebox_emulators::FaultKind;

use crate::coverage::{Feature, shows};
use crate::{KEY, adapter, contract, create_sandbox, emulator, fault, scenarios};

shows! {
    the_adapter_of_e2b_keeps_the_contract_over_its_emulator:
        [Run, Streams, Live, Limit, Killed, Processes, Upload, Download] by contract::sandbox_suite_passes("e2b", "/home/user", |_| {});
    the_provider_of_e2b_keeps_the_contract_over_its_emulator:
        [Make, List, Labels, Find, Delete] by contract::provider_suite_passes("e2b");
    a_refusal_with_a_time_is_waited_for_and_then_done_once:
        [Pause] by scenarios::a_requested_pause_is_respected("e2b", "/v2/sandboxes");
    a_command_that_nobody_waits_for_any_more_is_killed_there_too:
        [Stop] by scenarios::a_dropped_command_is_killed("e2b");
    a_sandbox_whose_time_is_over_is_gone_by_name_and_in_lists:
        [Over] by scenarios::an_expired_sandbox_is_deleted("e2b");
    a_command_whose_stream_breaks_is_an_error_and_is_never_sent_twice:
        [Broken] by broken();
    a_sandbox_that_sleeps_is_woken_by_its_id_and_by_its_labels_and_keeps_its_files:
        [Wake] by woken();
}

async fn broken() -> [Feature; 1] {
    let serving = emulator("e2b").await;
    let sandbox = create_sandbox(&serving).await;
    fault(&serving, "/process.Process/Start", 1, FaultKind::BreakAfter { bytes: 60 });
    let request = ExecuteRequest::new("echo once >> /tmp/count; echo something that is long enough to be cut");
    let error = sandbox.execute(request).await.expect_err("the stream broke");
    assert_eq!(error.kind(), ErrorKind::Unavailable, "{error}");
    let response = sandbox.execute(ExecuteRequest::new("cat /tmp/count")).await.expect("the sandbox works on");
    assert_eq!(response.stdout_text(), "once\n");
    [Feature::Broken]
}

#[tokio::test(flavor = "multi_thread")]
async fn a_command_is_killed_if_its_stream_breaks_at_the_start() {
    let serving = emulator("e2b").await;
    let sandbox = create_sandbox(&serving).await;
    fault(&serving, "/process.Process/Start", 1, FaultKind::BreakAfter { bytes: 0 });
    let endless = ExecuteRequest::new("while :; do echo x >> /tmp/grows; sleep 0.05; done");
    let error = sandbox.execute(endless).await.expect_err("the stream broke");
    assert_eq!(error.kind(), ErrorKind::Unavailable, "{error}");
    scenarios::wait_until_it_stays(&*sandbox, "/tmp/grows").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_response_in_one_byte_chunks_is_parsed_the_same() {
    let serving = emulator("e2b").await;
    let sandbox = create_sandbox(&serving).await;
    fault(&serving, "/process.Process/Start", 1, FaultKind::Split { bytes: 1 });
    let request = ExecuteRequest::new("printf 'é\\377\\000'; echo oh >&2; exit 7");
    let response = sandbox.execute(request).await.expect("the command runs");
    assert_eq!((response.stdout.as_slice(), response.exit_code), (b"\xc3\xa9\xff\0".as_slice(), Some(7)));
    assert_eq!(response.stderr_text(), "oh\n");
}

#[tokio::test(flavor = "multi_thread")]
async fn an_expired_token_is_rejected() {
    let serving = emulator("e2b").await;
    let sandbox = create_sandbox(&serving).await;
    serving.registry().update(sandbox.id().as_str(), |record| record.token = "another".to_owned());
    let error = sandbox.execute(ExecuteRequest::new("true")).await.expect_err("the token is wrong");
    assert_eq!(error.kind(), ErrorKind::Unauthenticated, "{error}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_failing_setup_script_deletes_the_sandbox() {
    scenarios::a_failing_setup_leaves_no_sandbox("e2b").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_timeout_returns_partial_output_and_exit_code_124() {
    let serving = emulator("e2b").await;
    let sandbox = create_sandbox(&serving).await;
    let request = ExecuteRequest::new("echo before; sleep 30; echo after").with_timeout(Duration::from_secs(1));
    let response = sandbox.execute(request).await.expect("the command runs");
    assert_eq!((response.exit_code, response.stopped_by), (Some(124), Some(StopReason::Timeout)));
    assert_eq!(response.stdout_text(), "before\n");
}

#[tokio::test(flavor = "multi_thread")]
async fn files_in_one_transfer_have_separate_results() {
    scenarios::each_file_has_a_separate_result("e2b").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_first_api_version_is_used_as_a_fallback() {
    let serving = emulator("e2b").await;
    let unknown = || FaultKind::HttpStatus { status: 404, retry_after: None, body: "404 page not found".to_owned() };
    fault(&serving, "/v2/sandboxes", 2, unknown());
    let provider = adapter("e2b", serving.options());
    let sandbox = provider.get_or_create(Selector::any_new()).await.expect("created");
    let again = provider.get_or_create(Selector::Id(sandbox.id().clone())).await.expect("the sandbox is found");
    assert_eq!(again.execute(ExecuteRequest::new("echo hi")).await.expect("the command runs").stdout_text(), "hi\n");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_configured_api_version_is_the_only_one_used() {
    let serving = emulator("e2b").await;
    let unknown = || FaultKind::HttpStatus { status: 404, retry_after: None, body: "404 page not found".to_owned() };
    fault(&serving, "/v2/sandboxes", 1, unknown());
    let second = adapter("e2b", serving.options().with_extra("api_version", "2"));
    assert!(second.get_or_create(Selector::any_new()).await.is_err(), "there is no fallback");
    fault(&serving, "/v2/sandboxes", 1, unknown());
    let first = adapter("e2b", serving.options().with_extra("api_version", "1"));
    first.get_or_create(Selector::any_new()).await.expect("created without the second version");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_lost_create_response_creates_one_sandbox() {
    let serving = emulator("e2b").await;
    fault(&serving, "/v2/sandboxes", 1, FaultKind::BreakAfter { bytes: 10 });
    let provider = adapter("e2b", serving.options());
    // A partially received response is not retried; a second request for the labels finds the created sandbox.
    let labels = Selector::labels([("thread", "1")]);
    let made = provider.get_or_create(labels.clone()).await;
    let sandbox = match made {
        Ok(sandbox) => sandbox,
        Err(_) => provider.get_or_create(labels).await.expect("the sandbox is found"),
    };
    let listed = provider.list(ListRequest::default()).await.expect("a list").sandboxes;
    assert_eq!(listed.iter().map(|one| &one.id).collect::<Vec<_>>(), [sandbox.id()]);
}

async fn woken() -> [Feature; 1] {
    let serving = emulator("e2b").await;
    let provider = adapter("e2b", serving.options());
    let labels = || Selector::labels([("thread", "1")]);
    let sandbox = provider.get_or_create(labels()).await.expect("created");
    sandbox.execute(ExecuteRequest::new("echo kept > /tmp/file")).await.expect("the command runs");
    let id = sandbox.id().clone();
    for selector in [Selector::Id(id.clone()), labels()] {
        assert!(serving.registry().update(id.as_str(), |record| record.paused = true), "the sandbox is paused");
        let error = sandbox.execute(ExecuteRequest::new("true")).await.expect_err("the daemon does not respond");
        assert_eq!(error.kind(), ErrorKind::SandboxNotFound, "{error}");
        let woken = provider.get_or_create(selector).await.expect("the sandbox is started");
        assert_eq!(woken.id(), &id);
        let response = woken.execute(ExecuteRequest::new("cat /tmp/file")).await.expect("the command runs");
        assert_eq!(response.stdout_text(), "kept\n");
    }
    [Feature::Wake]
}

#[tokio::test(flavor = "multi_thread")]
async fn an_invalid_idempotency_key_is_rejected() {
    use tidebox_remote_adapters::transport::{HttpTransport, Method, Request, Transport as _};
    let serving = emulator("e2b").await;
    let transport = HttpTransport::new(None).expect("a transport");
    let long = "a".repeat(256);
    for (key, status) in [("an-0ther", 201), ("An-0ther", 400), ("a b", 400), ("a_b", 400), ("", 400), (&*long, 400)] {
        let request = Request::new(Method::Post, format!("{}/v2/sandboxes", serving.url()))
            .header("x-api-key", KEY)
            .header("idempotency-key", key)
            .json(&serde_json::json!({ "templateID": "base" }));
        assert_eq!(transport.send(&request).await.expect("a response").status, status, "{key}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_command_is_listed_and_killed_by_its_tag() {
    use tidebox_remote_adapters::e2b::Frame;
    use tidebox_remote_adapters::transport::{HttpTransport, Method, Request, Transport as _};
    let serving = emulator("e2b").await;
    let id = create_sandbox(&serving).await.id().as_str().to_owned();
    let token = serving.registry().find(&id).await.expect("the sandbox exists").token;
    let transport = HttpTransport::new(None).expect("a transport");
    let call = |method: &str| {
        Request::new(Method::Post, format!("{}/process.Process/{method}", serving.url()))
            .header("e2b-sandbox-id", id.as_str())
            .header("x-access-token", token.as_str())
    };
    let command = serde_json::json!({
        "process": { "cmd": "sleep", "args": ["60"], "cwd": "/tmp", "envs": { "A": "b" } },
        "tag": "idle",
    });
    let start = call("Start").body("application/connect+json", Frame::write(0, command.to_string().as_bytes()));
    let started = transport.send(&start).await.expect("the command starts");
    let list = call("List").json(&serde_json::json!({}));
    let listed = transport.send(&list).await.expect("a response").bytes().await.expect("a body");
    let listed: serde_json::Value = serde_json::from_slice(&listed).expect("JSON");
    let listed = &listed["processes"][0];
    assert_eq!((&listed["config"], &listed["tag"]), (&command["process"], &command["tag"]));
    let kill =
        call("SendSignal").json(&serde_json::json!({ "process": { "tag": "idle" }, "signal": "SIGNAL_SIGKILL" }));
    assert_eq!(transport.send(&kill).await.expect("a response").status, 200);
    let events = started.bytes().await.expect("the events end");
    assert!(String::from_utf8_lossy(&events).contains("signal: killed"));
    assert_eq!(transport.send(&kill).await.expect("a response").status, 404, "the command has ended");
}
