//! Compares requests with those recorded from the official client.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use futures_executor::block_on;
use serde_json::{Value, json};
use tidebox_core::{ErrorKind, FileErrorCode, ListRequest, OutputStream, SandboxPath, Upload};

use super::wire::{self, Endpoint, ErrorBody, Event};
use super::*;
use crate::data_plane::{Command, CommandOutcome};
use crate::transport::{
    Client, HeaderValue, RecordedExchange, ReplayTransport, Request, RetryPolicy, SocketMessage, sse,
};
use crate::{DataPlane as _, NetworkAccess, Options, OutputCollector};

crate::trace_coverage::covered! {
    "langsmith" {
        a_recorded_resumed_command_is_parsed_in_any_chunks: [run, streams];
        the_first_socket_message_matches_the_official_client: [run];
        a_recorded_socket_is_parsed_completely: [run, streams];
        create_sandbox_matches_the_official_client: [make];
        labels_and_snapshots_match_the_generated_client: [make];
        list_requests_and_pages_match_the_generated_client: [list, labels];
        lifecycle_requests_match_the_official_client: [find, wake, delete];
        file_transfers_match_the_official_client: [upload, download];
    }
}

/// Recorded requests of the official client.
const OFFICIAL: &str = include_str!("../../traces/langsmith-sdk.json");

/// Returns the requests of this phase.
fn official(phase: &str) -> Vec<Value> {
    let trace: Value = serde_json::from_str(OFFICIAL).expect("the trace is JSON");
    let requests = trace["runs"][0]["requests"].as_array().expect("a list of requests").clone();
    let found: Vec<Value> = requests.into_iter().filter(|request| request["phase"] == phase).collect();
    assert!(!found.is_empty(), "{phase}");
    found
}

fn options(replay: &Arc<ReplayTransport>) -> Options {
    let mut options = Options::default().with_api_key("planted-langsmith-key").with_api_url("http://api");
    options.transport = Some(Arc::<ReplayTransport>::clone(replay));
    options
}

fn sandbox(replay: &Arc<ReplayTransport>) -> LangSmithSandbox {
    let config = LangSmithConfig::new(&options(replay)).expect("a key is set");
    let client = Client::new(Arc::<ReplayTransport>::clone(replay), RetryPolicy::default());
    let found = json!({ "name": "sb-one", "id": "number", "dataplane_url": "http://data/dp/sb-one/" });
    LangSmithSandbox::new(&config, &serde_json::from_value(found).expect("valid request"), client)
        .expect("valid endpoint")
}

fn command(script: &str) -> Command {
    Command { script: script.to_owned(), cwd: None, env: Vec::new(), timeout: Duration::from_secs(30) }
}

/// Returns a recorded event stream in wire format.
fn stream(exchange: &Value) -> String {
    let events = exchange["reply"]["sse"].as_array().expect("events");
    events
        .iter()
        .map(|event| format!("event: {}\ndata: {}\n\n", event["event"].as_str().unwrap(), event["data"]))
        .collect()
}

fn path_of(url: &str) -> String {
    url.splitn(4, '/').nth(3).map(|path| format!("/{path}")).unwrap_or_default()
}

/// Asserts equal method and path, and the key.
fn same_head(ours: &Request, theirs: &Value) {
    assert_eq!(ours.method.as_str(), theirs["method"].as_str().unwrap());
    assert_eq!(path_of(&ours.url), theirs["path"].as_str().unwrap());
    let sent = ours.headers.iter().any(|(name, value)| *name == "x-api-key" && matches!(value, HeaderValue::Secret(_)));
    assert!(sent && theirs["headers"].get("x-api-key").is_some(), "the key is a header of {}", ours.url);
}

fn body(request: &Request) -> Value {
    serde_json::from_slice(&request.body.concat()).expect("a body of JSON")
}

fn a_recorded_resumed_command_is_parsed_in_any_chunks() -> [&'static str; 2] {
    let recorded = official("run over SSE (LANGSMITH_EXPERIMENTAL_FEATURES=sandbox_sse_exec)");
    for size in [1, 9, 10_000] {
        let exchanges = recorded.iter().map(|exchange| {
            let mut reply =
                RecordedExchange::new(format!("POST {}", exchange["path"].as_str().unwrap()), 200, Bytes::new());
            reply.body = stream(exchange).as_bytes().chunks(size).map(Bytes::copy_from_slice).collect();
            reply
        });
        let replay = ReplayTransport::new(exchanges);
        let mut output = OutputCollector::new(100, None);
        let with = Command {
            cwd: Some("/root".to_owned()),
            env: vec![("X".to_owned(), "1".to_owned())],
            ..command("echo hi")
        };
        assert_eq!(
            block_on(sandbox(&replay).run(with, &mut output)).expect("output is received"),
            CommandOutcome::Exit(0)
        );
        let response = output.into_response();
        assert_eq!((&*response.stdout_text(), &*response.stderr_text()), ("out\n", "err\n"));
        assert!(!response.truncated);
        for (ours, theirs) in replay.requests().iter().zip(&recorded) {
            same_head(ours, theirs);
            let (mut ours, mut theirs) = (body(ours), theirs["body"]["value"].clone());
            let id = ours["command_id"].take();
            assert_eq!(id.as_str().map(str::len), theirs["command_id"].take().as_str().map(str::len));
            assert_eq!(ours, theirs);
        }
        let ids: Vec<Value> = replay.requests().iter().map(|request| body(request)["command_id"].clone()).collect();
        assert_eq!(ids.first(), ids.last(), "both are about one command");
        assert_eq!(replay.remaining(), 0);
    }
    ["run", "streams"]
}

fn the_first_socket_message_matches_the_official_client() -> [&'static str; 1] {
    let theirs = &official("run over WebSocket (default)")[0];
    let sandbox = sandbox(&ReplayTransport::new([]));
    same_head(&sandbox.plane.socket(), theirs);
    let mut theirs = theirs["ws"][0]["json"].clone();
    theirs["command_id"] = json!("id");
    assert_eq!(sandbox.plane.start_message(&command("echo hi"), "id"), theirs);
    ["run"]
}

fn a_recorded_socket_is_parsed_completely() -> [&'static str; 2] {
    let recorded = official("langchain execute over WebSocket").remove(0);
    let lines = recorded["ws"].as_array().expect("messages").iter();
    let lines =
        lines.filter(|line| line["from"] != "client").map(|line| SocketMessage::FromServer(line["json"].to_string()));
    let no_events = RecordedExchange::new("POST /dp/sb-one/execute/stream/start", 404, "404 page not found");
    // Our messages differ in the random command name, which is compared above.
    let replay = ReplayTransport::new([no_events, RecordedExchange::socket("/dp/sb-one/execute/ws", lines)]);
    let sandbox = sandbox(&replay);
    let request = sandbox.plane.socket();
    block_on(async {
        use crate::transport::Transport as _;
        use crate::transport::socket::{Message, UpgradeResult};
        replay.send(&sandbox.plane.start(&command("exit 3"), "id")).await.expect("a response");
        let Ok(UpgradeResult::Open(mut socket)) = replay.open(&request).await else { panic!("it opens") };
        let mut events = Vec::new();
        while let Some(Message::Text(text)) = socket.receiver.next().await.expect("messages") {
            events.push(wire::message(&text).expect("parsed"));
        }
        assert_eq!(
            events,
            [
                Event::Started(Some(5)),
                Event::Wrote(OutputStream::Stdout, 0, b"out\n".to_vec()),
                Event::Wrote(OutputStream::Stderr, 0, b"err\n".to_vec()),
                Event::Ended(CommandOutcome::Exit(3)),
            ]
        );
    });
    ["run", "streams"]
}

fn create_sandbox_matches_the_official_client() -> [&'static str; 1] {
    let theirs = &official("create")[0];
    let mut options =
        options(&ReplayTransport::new([])).with_extra("snapshot_id", "snap-1").with_extra("delete_after_stop", "3600");
    options.time_to_live = Duration::from_secs(600);
    let config = LangSmithConfig::new(&options).unwrap();
    let ours = wire::create(&config, "sb-one", &BTreeMap::new(), &[]);
    same_head(&ours, theirs);
    let mut theirs = theirs["body"]["value"].clone();
    // An empty list of allowed hosts may mean no list, so none is sent.
    theirs.as_object_mut().map(|fields| fields.remove("proxy_config"));
    assert_eq!(body(&ours), theirs);
    ["make"]
}

fn labels_and_snapshots_match_the_generated_client() -> [&'static str; 1] {
    let theirs = official("create raw with labels (generated client)")[0]["body"]["value"].clone();
    let mut options = options(&ReplayTransport::new([]));
    (options.image, options.cpus, options.memory_mib) = (Some("deepagents-cli:latest".to_owned()), Some(2), Some(4096));
    options.time_to_live = Duration::from_secs(600);
    options.network = NetworkAccess::Only(vec!["example.com".to_owned()]);
    let config = LangSmithConfig::new(&options).unwrap();
    let labels = BTreeMap::from([("thread_id".to_owned(), "t1".to_owned())]);
    let ours = body(&wire::create(&config, "n", &labels, &[("A".to_owned(), "b".to_owned())]));
    for field in ["idle_ttl_seconds", "labels", "snapshot"] {
        assert_eq!(ours[field], theirs[field], "{field}");
    }
    assert_eq!((&ours["vcpus"], &ours["mem_bytes"]), (&json!(2), &json!(4_294_967_296_u64)));
    assert_eq!(ours["env_vars"], json!({ "A": "b" }));
    assert_eq!(ours["proxy_config"]["access_control"], json!({ "allow_list": ["example.com"] }));
    ["make"]
}

#[test]
fn blocking_denies_every_host() {
    let mut options = options(&ReplayTransport::new([]));
    for network in [NetworkAccess::Blocked, NetworkAccess::Only(Vec::new())] {
        options.network = network;
        let config = LangSmithConfig::new(&options).unwrap();
        let access = body(&wire::create(&config, "n", &BTreeMap::new(), &[]))["proxy_config"]["access_control"].clone();
        assert!(access["deny_list"].as_array().is_some_and(|hosts| !hosts.is_empty()), "{access}");
        assert_eq!(access.get("allow_list"), None);
    }
}

fn list_requests_and_pages_match_the_generated_client() -> [&'static str; 2] {
    let recorded = official("list with labels and cursor (generated client)");
    let config = LangSmithConfig::new(&options(&ReplayTransport::new([]))).unwrap();
    let mut request = ListRequest { cursor: None, labels: BTreeMap::from([("thread_id".to_owned(), "t1".to_owned())]) };
    for theirs in &recorded {
        let url = path_of(&wire::list(&config, &request).url).replace("page_size=100", "page_size=1");
        assert_eq!(url, theirs["path"].as_str().unwrap());
        let page = wire::parse_list(theirs["reply"]["json"].to_string().as_bytes()).expect("a page");
        assert_eq!(page.sandboxes.len(), 1);
        assert_eq!(page.sandboxes[0].labels.get("thread_id").map(String::as_str), Some("t1"));
        request.cursor = page.cursor;
    }
    assert_eq!(request.cursor, None, "the second page is the last one");
    ["list", "labels"]
}

#[test]
fn lists_omit_deleted_sandboxes_and_the_attempt_label() {
    let body = json!({ "items": [
        { "id": "a", "name": "x", "status": "ready", "labels": { "tidebox-attempt": "1", "k": "v" } },
        { "id": "b", "name": "y", "status": "deleting" },
    ] });
    let page = wire::parse_list(body.to_string().as_bytes()).expect("a page");
    assert_eq!(page.sandboxes.len(), 1);
    assert_eq!(page.sandboxes[0].labels, BTreeMap::from([("k".to_owned(), "v".to_owned())]));
}

fn lifecycle_requests_match_the_official_client() -> [&'static str; 3] {
    let config = LangSmithConfig::new(&options(&ReplayTransport::new([]))).unwrap();
    for (ours, phase) in [
        (wire::get(&config, "sb-one"), "get"),
        (wire::get(&config, "gone"), "get missing"),
        (wire::status(&config, "sb-one"), "status"),
        (wire::start(&config, "sb-one"), "start"),
        (wire::delete(&config, "sb-one"), "delete"),
    ] {
        same_head(&ours, &official(phase)[0]);
    }
    ["find", "wake", "delete"]
}

fn file_transfers_match_the_official_client() -> [&'static str; 2] {
    let recorded = official("langchain download_files");
    let missing = recorded[1]["reply"]["json"].to_string();
    let replay = ReplayTransport::new([
        RecordedExchange::new("POST /dp/sb-one/upload?path=%2Froot%2Fa.bin", 200, "{}"),
        RecordedExchange::new("GET /dp/sb-one/download?path=%2Froot%2Fa.bin", 200, Bytes::from_static(b"\0\xffhello")),
        RecordedExchange::new("GET /dp/sb-one/download?path=%2Fmissing", 404, missing),
        // The service reports no cause; a command determines it.
        RecordedExchange::new("POST /dp/sb-one/execute/stream/start", 200, command_events("file_not_found\n")),
        // This file is created between the response and the probe.
        RecordedExchange::new("GET /dp/sb-one/download?path=%2Fmissing", 404, recorded[1]["reply"]["json"].to_string()),
        RecordedExchange::new("POST /dp/sb-one/execute/stream/start", 200, command_events("unknown\n")),
    ]);
    let sandbox = sandbox(&replay);
    let path = SandboxPath::parse("/root/a.bin").unwrap();
    let stored = block_on(sandbox.store(vec![(path.clone(), Upload::new("/root/a.bin", b"\0\xffhello".to_vec()))]));
    stored.expect("a transfer")[0].result.as_ref().expect("the upload succeeds");
    let mut content = Vec::new();
    let mut take = |chunk: &[u8]| {
        content.extend_from_slice(chunk);
        true
    };
    block_on(sandbox.fetch(&path, &mut take)).expect("a transfer").expect("it exists");
    assert_eq!(content, b"\0\xffhello");
    for _ in 0..2 {
        let rejected = block_on(sandbox.fetch(&SandboxPath::parse("/missing").unwrap(), &mut |_| true));
        assert_eq!(rejected.expect("a transfer").unwrap_err().code, FileErrorCode::FileNotFound);
    }
    let seen = replay.requests();
    same_head(&seen[0], &official("langchain upload_files")[0]);
    same_head(&seen[1], &recorded[0]);
    same_head(&seen[2], &recorded[1]);
    let sent = seen[0].body.concat();
    let text = String::from_utf8_lossy(&sent);
    for header in official("langchain upload_files")[0]["body"]["value"][0]["headers"].as_array().unwrap() {
        assert!(text.contains(header.as_str().unwrap()), "{text}");
    }
    ["upload", "download"]
}

/// Events of a command that prints this text.
fn command_events(text: &str) -> String {
    use base64::Engine as _;
    let data = base64::engine::general_purpose::STANDARD.encode(text);
    format!(
        "event: started\ndata: {{\"pid\":5}}\n\n: heartbeat\n\nevent: stdout\ndata: {{\"offset\":0,\"data\":\"{data}\"}}\n\n\
         event: exit\ndata: {{\"exit_code\":0}}\n\n"
    )
}

#[test]
fn command_outcomes_are_distinguished() {
    let event = |name: &str, data: Value| {
        wire::event(&sse::Event { event: name.to_owned(), data: data.to_string() }).expect("parsed")
    };
    assert_eq!(event("exit", json!({ "exit_code": 3 })), Event::Ended(CommandOutcome::Exit(3)));
    assert_eq!(
        event("exit", json!({ "exit_code": -1 })),
        Event::Ended(CommandOutcome::Unknown),
        "a signal has no code"
    );
    assert_eq!(event("exit", json!({ "exit_code": null })), Event::Ended(CommandOutcome::Unknown), "null stays null");
    assert_eq!(event("error", json!({ "error_type": "CommandTimeout" })), Event::Ended(CommandOutcome::Timeout));
    assert_eq!(event("error", json!({ "error_type": "ServerShuttingDown" })), Event::GoingAway);
    assert_eq!(event("ack_required", json!({ "stdout_offset": 4 })), Event::AckRequired);
    assert_eq!(event("something_new", json!({ "a": 1 })), Event::Other);
    let broken = sse::Event { event: "stdout".to_owned(), data: "{\"data\":\"*\"}".to_owned() };
    assert_eq!(wire::event(&broken).unwrap_err().kind(), ErrorKind::Protocol);
}

#[test]
fn a_command_that_cannot_start_has_a_reason_and_a_code() {
    let stream = "event: error\ndata: {\"error_type\":\"CommandError\",\"error\":\"chdir /nope: no such file\"}\n\n";
    let replay = ReplayTransport::new([RecordedExchange::new("POST /dp/sb-one/execute/stream/start", 200, stream)]);
    let mut output = OutputCollector::new(100, None);
    assert_eq!(
        block_on(sandbox(&replay).run(command("x"), &mut output)).expect("output is received"),
        CommandOutcome::Exit(1)
    );
    assert_eq!(output.into_response().stderr_text(), "chdir /nope: no such file\n");
}

#[test]
fn without_a_socket_a_command_is_killed_by_pid() {
    let rejected = || RecordedExchange::new("GET /dp/sb-one/execute/ws", 404, "{\"detail\":\"no\"}");
    let done =
        RecordedExchange::new("POST /dp/sb-one/execute", 200, "{\"stdout\":\"\",\"stderr\":\"\",\"exit_code\":0}");
    let replay = ReplayTransport::new([rejected(), done]);
    let one = sandbox(&replay);
    block_on(super::execute::kill(one.client.clone(), one.plane.clone(), "id", Some(5)));
    assert_eq!(replay.remaining(), 0);
    let sent = body(&replay.requests()[1]);
    assert_eq!(sent["command"], json!(super::execute::kill_script(5)), "{sent}");
    // A process with an unknown id runs until its time limit.
    let replay = ReplayTransport::new([rejected()]);
    let one = sandbox(&replay);
    block_on(super::execute::kill(one.client.clone(), one.plane.clone(), "id", None));
    assert_eq!((replay.remaining(), replay.requests().len()), (0, 1));
}

#[cfg(target_os = "linux")]
#[test]
fn the_kill_script_kills_a_group_or_a_single_process() {
    use std::os::unix::process::{CommandExt as _, ExitStatusExt as _};
    for leads in [true, false] {
        let mut command = std::process::Command::new("sleep");
        command.arg("1000");
        if leads {
            command.process_group(0);
        }
        let mut running = command.spawn().expect("the command starts");
        let script = super::execute::kill_script(running.id().into());
        let done = std::process::Command::new("sh").args(["-c", &script]).status().expect("the shell is installed");
        assert!(done.success(), "{leads}");
        assert_eq!(running.wait().expect("the command ended").signal(), Some(9), "{leads}");
    }
}

#[test]
fn output_resumes_after_a_service_restart() {
    let start = RecordedExchange::new(
        "POST /dp/sb-one/execute/stream/start",
        200,
        "event: started\ndata: {\"pid\":5}\n\nevent: stdout\ndata: {\"offset\":0,\"data\":\"b25l\"}\n\n\
         event: error\ndata: {\"error_type\":\"ServerShuttingDown\",\"error\":\"restart\"}\n\n",
    );
    let resume = RecordedExchange::new(
        "POST /dp/sb-one/execute/stream/resume",
        200,
        "event: stdout\ndata: {\"offset\":3,\"data\":\"dHdv\"}\n\nevent: exit\ndata: {\"exit_code\":3}\n\n",
    );
    let replay = ReplayTransport::new([start, resume]);
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().expect("a runtime");
    let mut output = OutputCollector::new(100, None);
    let ending = runtime.block_on(sandbox(&replay).run(command("x"), &mut output)).expect("output is received");
    assert_eq!((ending, &*output.into_response().stdout_text()), (CommandOutcome::Exit(3), "onetwo"));
    assert_eq!(body(&replay.requests()[1])["stdout_offset"], json!(3));
}

#[test]
fn an_expired_command_result_is_an_error() {
    let not_found = |kind: &str| format!("event: error\ndata: {{\"error_type\":\"{kind}\",\"error\":\"gone\"}}\n\n");
    let beginning = "event: started\ndata: {\"pid\":5}\n\nevent: ack_required\ndata: {\"stdout_offset\":0}\n\n";
    for (status, reply) in [
        (200, not_found("SessionExpired")),
        (200, not_found("CommandNotFound")),
        (404, "{\"detail\":{\"error\":\"CommandNotFound\",\"message\":\"gone\"}}".to_owned()),
    ] {
        let start = RecordedExchange::new("POST /dp/sb-one/execute/stream/start", 200, beginning);
        let resume = RecordedExchange::new("POST /dp/sb-one/execute/stream/resume", status, reply.clone());
        // A command that may still run is killed in the background; the result is not checked here.
        let replay = ReplayTransport::new([start, resume]);
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().expect("a runtime");
        let mut output = OutputCollector::new(100, None);
        let error =
            runtime.block_on(sandbox(&replay).run(command("x"), &mut output)).expect_err("the result is unknown");
        assert_eq!(
            (error.kind(), error.message().contains("no longer has the command's result")),
            (ErrorKind::Unavailable, true)
        );
        assert_eq!(replay.remaining(), 0, "{reply}");
    }
}

#[test]
fn error_bodies_of_every_format_are_parsed() {
    let read = |body: Value| ErrorBody::read(body.to_string().as_bytes()).message;
    assert_eq!(read(json!({ "detail": { "error": "E", "message": "m", "error_id": "7" } })), "m (error_id=7)");
    assert_eq!(read(json!({ "detail": [{ "msg": "a" }, { "msg": "b" }] })), "a; b");
    assert_eq!(read(json!({ "detail": "text" })), "text");
    assert_eq!(ErrorBody::read(b"<html>"), ErrorBody::default());
    let kind = |status, error: &str| {
        let body = json!({ "detail": { "error": error, "message": "m" } }).to_string();
        wire::failure("x", status, body.as_bytes()).kind()
    };
    assert_eq!(kind(400, "NotReady"), ErrorKind::Unavailable);
    assert_eq!(kind(400, "InvalidRequest"), ErrorKind::InvalidRequest);
    assert_eq!(kind(408, ""), ErrorKind::Timeout);
    assert_eq!((kind(429, ""), kind(429, "QuotaExceeded")), (ErrorKind::RateLimited, ErrorKind::QuotaExceeded));
    assert_eq!(
        (kind(401, ""), kind(403, ""), kind(503, "Unschedulable")),
        (ErrorKind::Unauthenticated, ErrorKind::Forbidden, ErrorKind::Unavailable)
    );
}

#[test]
fn no_credential_is_printed() {
    let replay = ReplayTransport::new([RecordedExchange::new(
        "POST /dp/sb-one/execute/stream/start",
        401,
        "{\"detail\":\"no\"}",
    )]);
    let sandbox = sandbox(&replay);
    let mut output = OutputCollector::new(1, None);
    let error = block_on(sandbox.run(command("x"), &mut output)).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Unauthenticated);
    let control = LangSmithControl::new(options(&replay));
    let printed = format!("{sandbox:?} {error:?} {error} {:?} {control:?}", replay.requests());
    assert!(!printed.contains("planted"), "{printed}");
}

#[test]
fn the_key_is_not_sent_to_a_sandbox_without_tls() {
    let replay = ReplayTransport::new([]);
    let config = LangSmithConfig::new(&options(&replay).with_api_url("https://api")).unwrap();
    let client = Client::new(Arc::<ReplayTransport>::clone(&replay), RetryPolicy::default());
    let found = wire::Sandbox {
        name: "x".to_owned(),
        dataplane_url: Some("http://elsewhere".to_owned()),
        ..wire::Sandbox::default()
    };
    assert_eq!(LangSmithSandbox::new(&config, &found, client).unwrap_err().kind(), ErrorKind::Protocol);
}

#[test]
fn a_user_is_sent_with_the_required_fields() {
    let replay = ReplayTransport::new([]);
    let config = LangSmithConfig::new(&options(&replay).with_extra("user", "app")).unwrap();
    let plane = Endpoint {
        url: "http://data".to_owned(),
        key: config.api_key.clone(),
        shell: config.shell.clone(),
        user: config.user.clone(),
    };
    let with = Command { cwd: Some("/x".to_owned()), env: vec![("A".to_owned(), "b".to_owned())], ..command("id") };
    let body = body(&plane.start(&with, "id"));
    assert_eq!(body["run_config"], json!({ "user": "app", "work_dir": "/x", "env_vars": { "A": "b" } }));
    assert!(body.get("cwd").is_none() && body.get("env").is_none(), "{body}");
}
