//! Compares requests with those of the official clients, and parses recorded responses of the real daemon.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use base64::Engine as _;
use bytes::Bytes;
use serde_json::Value;
use tidebox_core::{ErrorKind, FileErrorCode, ListRequest, OutputStream, SandboxPath};

use super::wire::{self, Event};
use super::*;
use crate::data_plane::{Command, CommandOutcome};
use crate::transport::{HeaderValue, Protocol, RecordedExchange, ReplayTransport, Request, Response, RetryHint};
use crate::{DataPlane as _, NetworkAccess, Options, OutputCollector};

crate::trace_coverage::covered! {
    "e2b" {
        daemon_streams_are_parsed_in_any_chunks: [run, streams, limit];
        create_sandbox_matches_the_official_client: [make];
        label_escaping_matches_the_official_client: [labels];
        command_and_file_requests_match_the_official_client: [run, upload, download];
        lookup_and_delete_match_the_official_client: [find, list, delete];
    }
}

/// Recorded responses of `envd` 0.6.13.
const GOLDEN: &str = include_str!("../../traces/e2b-envd.json");

/// Recorded requests of the official clients.
const OFFICIAL: &str = include_str!("../../traces/e2b-sdk.json");

fn golden(name: &str) -> Value {
    let trace: Value = serde_json::from_str(GOLDEN).expect("the trace is JSON");
    let exchanges = trace["exchanges"].as_array().expect("a list of exchanges");
    exchanges.iter().find(|exchange| exchange["name"] == name).unwrap_or_else(|| panic!("{name}")).clone()
}

/// Returns the messages of a recorded stream in wire format, with the process id filled in.
fn stream(exchange: &Value) -> Vec<u8> {
    let frames = exchange["response"]["body"].as_array().expect("a stream");
    frames
        .iter()
        .flat_map(|frame| {
            let message = frame["message"].to_string().replace("\"<pid>\"", "77");
            Frame::write(u8::try_from(frame["flags"].as_u64().expect("flags")).expect("a byte"), message.as_bytes())
        })
        .collect()
}

fn options(replay: &Arc<ReplayTransport>) -> Options {
    let mut options = Options::default().with_api_key("planted-e2b-key").with_api_url("http://api");
    options.transport = Some(Arc::<ReplayTransport>::clone(replay));
    options.with_extra("sandbox_url", "http://data")
}

fn sandbox(replay: &Arc<ReplayTransport>) -> E2bSandbox {
    let config = E2bConfig::new(&options(replay)).expect("a key is set");
    let client =
        crate::transport::Client::new(Arc::<ReplayTransport>::clone(replay), crate::transport::RetryPolicy::default());
    let access = serde_json::from_value(serde_json::json!({ "sandboxID": "sbx1", "envdAccessToken": "planted-token" }));
    E2bSandbox::new(&config, access.expect("valid request"), client).expect("valid endpoint")
}

fn command(script: &str) -> Command {
    Command { script: script.to_owned(), cwd: None, env: Vec::new(), timeout: Duration::from_secs(30) }
}

/// Replays a recorded stream in chunks of this size and returns the outcome and the output.
fn replayed(name: &str, size: usize) -> (tidebox_core::Result<CommandOutcome>, tidebox_core::ExecuteResponse) {
    let mut exchange = RecordedExchange::new("POST /process.Process/Start", 200, Bytes::new());
    exchange.body = stream(&golden(name)).chunks(size).map(Bytes::copy_from_slice).collect();
    let replay = ReplayTransport::new([exchange]);
    let mut output = OutputCollector::new(1 << 20, None);
    let ending = futures_executor::block_on(sandbox(&replay).run(command("x"), &mut output));
    (ending, output.into_response())
}

fn daemon_streams_are_parsed_in_any_chunks() -> [&'static str; 3] {
    for (name, ending, stdout, stderr) in [
        ("exec ok (stdout and stderr)", CommandOutcome::Exit(0), "out\n1 2\n/mnt/box\n", "err\n"),
        ("exec non-zero", CommandOutcome::Exit(3), "", ""),
        ("exec killed by signal", CommandOutcome::Exit(137), "", ""),
        ("exec command not found", CommandOutcome::Exit(127), "", "/bin/bash: line 1: foobar: command not found\n"),
        ("exec empty output", CommandOutcome::Exit(0), "", ""),
        ("exec cwd missing", CommandOutcome::Exit(1), "", "cwd '/nope' does not exist\n"),
        ("exec deadline 1 s (Connect-Timeout-Ms)", CommandOutcome::Timeout, "before\n", ""),
        ("exec with keepalive every 1 s", CommandOutcome::Exit(0), "done\n", ""),
    ] {
        for size in [1, 7, 10_000] {
            let (ended, response) = replayed(name, size);
            assert_eq!(ended.expect(name), ending, "{name}");
            assert_eq!((&*response.stdout_text(), &*response.stderr_text()), (stdout, stderr), "{name}");
        }
    }
    let (_, response) = replayed("exec non-UTF-8 bytes", 3);
    assert_eq!(response.stdout, b"\xff\0a");
    ["run", "streams", "limit"]
}

#[test]
fn an_unknown_user_fails_without_an_exit_code() {
    let (ended, _) = replayed("exec unknown user", 100);
    assert_eq!(ended.unwrap_err().kind(), ErrorKind::Unauthenticated);
}

#[test]
fn an_interrupted_stream_is_never_an_exit_code() {
    let whole = stream(&golden("exec ok (stdout and stderr)"));
    let frames = FrameReader::default().push(&whole).expect("a stream");
    let cut: Vec<u8> = frames.iter().take(2).flat_map(|frame| Frame::write(frame.flags, &frame.message)).collect();
    let replay = ReplayTransport::new([RecordedExchange::new("POST /process.Process/Start", 200, cut)]);
    let mut output = OutputCollector::new(1 << 20, None);
    let ended = futures_executor::block_on(sandbox(&replay).run(command("x"), &mut output));
    assert_eq!(ended.unwrap_err().kind(), ErrorKind::Unavailable);
    assert_eq!(output.into_response().stdout_text(), "out\n", "what came is kept for who streams");
}

#[test]
fn every_file_error_of_the_real_daemon_is_mapped() {
    for (name, code) in [
        ("upload onto a directory", FileErrorCode::IsDirectory),
        ("upload under a file", FileErrorCode::NotADirectory),
        ("download missing", FileErrorCode::FileNotFound),
        ("download directory", FileErrorCode::IsDirectory),
    ] {
        let exchange = golden(name);
        let status = exchange["response"]["status"].as_u64().and_then(|status| u16::try_from(status).ok()).unwrap();
        let body = exchange["response"]["body"].to_string();
        let rejection = wire::file_error(status, body.as_bytes(), b"/x").unwrap_or_else(|| panic!("{name}"));
        assert_eq!(rejection.code, code, "{name}");
    }
    // The recorded disk was never full.
    let full = wire::file_error(507, b"{\"code\":507,\"message\":\"not enough disk space available\"}", b"/x");
    assert_eq!(full.map(|rejection| rejection.code), Some(FileErrorCode::NoSpace));
    let exchange = golden("download without token");
    let body = exchange["response"]["body"].to_string();
    assert_eq!(wire::file_error(401, body.as_bytes(), b"/x"), None, "an invalid token is not a file error");
    assert_eq!(wire::failure("x", 401, body.as_bytes()).kind(), ErrorKind::Unauthenticated);
}

#[test]
fn every_other_command_response_is_parsed() {
    let trace: Value = serde_json::from_str(GOLDEN).expect("the trace is JSON");
    let mut read = 0;
    for exchange in trace["exchanges"].as_array().expect("a list of exchanges") {
        if exchange["request"]["path"] == "/process.Process/Start" && exchange["response"]["status"] == 200 {
            for frame in FrameReader::default().push(&stream(exchange)).expect("short messages") {
                let _: Result<Event, _> = wire::event(&frame);
                read += 1;
            }
        }
    }
    assert!(read > 30, "{read} messages");
}

/// Returns the official client's request of this phase.
fn official(sdk: &str, phase: &str) -> Value {
    let trace: Value = serde_json::from_str(OFFICIAL).expect("the trace is JSON");
    let runs = trace["runs"].as_array().expect("a list of runs");
    let run = runs.iter().find(|run| run["sdk"].as_str().is_some_and(|name| name == sdk)).expect("the client");
    let requests = run["requests"].as_array().expect("a list of requests");
    requests.iter().find(|request| request["phase"] == phase).unwrap_or_else(|| panic!("{phase}")).clone()
}

/// Asserts equal method and path, and equal values of the shared headers.
fn same_head(ours: &Request, theirs: &Value) {
    let path = ours.url.splitn(4, '/').nth(3).map(|path| format!("/{path}")).unwrap_or_default();
    assert_eq!(
        (ours.method.as_str(), path.as_str()),
        (theirs["method"].as_str().unwrap(), theirs["path"].as_str().unwrap())
    );
    for name in ["x-api-key", "x-access-token", "e2b-sandbox-id", "e2b-sandbox-port", "connect-protocol-version"] {
        let sent = ours.headers.iter().any(|(given, _)| *given == name);
        assert_eq!(sent, theirs["headers"].get(name).is_some(), "{name} of {path}");
    }
}

fn body(request: &Request) -> Value {
    serde_json::from_slice(&request.body.concat()).expect("a body of JSON")
}

fn create_sandbox_matches_the_official_client() -> [&'static str; 1] {
    let replay = ReplayTransport::new([]);
    let mut options = options(&replay);
    options.network = NetworkAccess::Blocked;
    let config = E2bConfig::new(&options).unwrap();
    let labels = BTreeMap::from([("thread_id".to_owned(), "t 1".to_owned())]);
    let request = wire::create(
        wire::Version::Second,
        &config,
        &labels,
        &[("A".to_owned(), "b".to_owned())],
        &NetworkAccess::Blocked,
        "attempt-1",
    );
    let theirs = official("e2b (PyPI)", "create");
    same_head(&request, &theirs);
    let mut ours = body(&request);
    // The service secures all sandboxes of the second version; the first requires this field.
    assert_eq!(ours.as_object_mut().and_then(|fields| fields.remove("secure")), Some(Value::Bool(true)));
    assert_eq!(ours, theirs["body"]["value"]);
    ["make"]
}

fn label_escaping_matches_the_official_client() -> [&'static str; 1] {
    let replay = ReplayTransport::new([]);
    let config = E2bConfig::new(&options(&replay)).unwrap();
    let labels = BTreeMap::from([("thread_id".to_owned(), "t 1".to_owned())]);
    let url = wire::list(&config, &ListRequest { cursor: Some("tok2".to_owned()), labels }).url;
    let theirs = official("e2b (PyPI)", "list");
    let parameter =
        theirs["path"].as_str().and_then(|path| path.split(['?', '&']).nth(1)).expect("a parameter").to_owned();
    assert!(parameter.starts_with("metadata=") && url.contains(&parameter), "{url} has {parameter}");
    assert!(url.ends_with("nextToken=tok2"), "{url}");
    ["labels"]
}

fn command_and_file_requests_match_the_official_client() -> [&'static str; 3] {
    let replay = ReplayTransport::new([]);
    let sandbox = sandbox(&replay);
    let envd = sandbox.envd();
    let theirs = official("e2b (PyPI)", "exec ok");
    let with = Command {
        script: "echo hi; echo err >&2".to_owned(),
        cwd: Some("/home/user".to_owned()),
        env: vec![("X".to_owned(), "1".to_owned())],
        timeout: Duration::from_secs(1800),
    };
    let ours = envd.start(&with, "/bin/bash", "ours", None);
    same_head(&ours, &theirs);
    let frames = FrameReader::default().push(&ours.body.concat()).expect("an envelope");
    let mut message: Value = serde_json::from_slice(&frames[0].message).expect("a message of JSON");
    let tag = message.as_object_mut().expect("an object").remove("tag");
    assert_eq!(tag, Some("ours".into()), "it selects the command before its process id is known");
    assert_eq!(message, theirs["body"]["value"][0]["message"]);
    let header = |name: &str| {
        let value = ours.headers.iter().find(|(given, _)| *given == name).map(|(_, value)| value.expose().to_vec());
        value.map(|value| String::from_utf8_lossy(&value).into_owned())
    };
    assert_eq!(header("connect-timeout-ms").as_deref(), theirs["headers"]["connect-timeout-ms"].as_str());
    assert_eq!(header("keepalive-ping-interval").as_deref(), theirs["headers"]["keepalive-ping-interval"].as_str());
    let path = SandboxPath::parse("/home/user/new.bin").unwrap();
    same_head(&envd.upload(&path, b"\0\xffhello".to_vec()), &official("e2b (PyPI)", "upload (single, multipart)"));
    same_head(&envd.download(&path), &official("e2b (PyPI)", "download"));
    assert_eq!(envd.download(&path).protocol, Protocol::Http1, "empty frames of the proxy trip the limits of HTTP/2");
    ["run", "upload", "download"]
}

fn lookup_and_delete_match_the_official_client() -> [&'static str; 3] {
    let config = E2bConfig::new(&options(&ReplayTransport::new([]))).unwrap();
    let theirs = official("e2b (PyPI)", "connect");
    let ours = wire::connect(wire::Version::Second, &config, "sbx0123456789");
    same_head(&ours, &theirs);
    assert_eq!(body(&ours), theirs["body"]["value"]);
    same_head(&wire::delete(&config, "sbx0123456789"), &official("e2b (PyPI)", "delete"));
    let listed = official("e2b (PyPI)", "list")["reply"]["json"].to_string();
    assert_eq!(wire::parse_list(listed.as_bytes(), None).expect("a page").sandboxes.len(), 1);
    ["find", "list", "delete"]
}

#[test]
fn no_credential_is_printed() {
    let replay = ReplayTransport::new([RecordedExchange::new(
        "POST /process.Process/Start",
        401,
        "{\"code\":401,\"message\":\"no\"}",
    )]);
    let sandbox = sandbox(&replay);
    let mut output = OutputCollector::new(1, None);
    let error = futures_executor::block_on(sandbox.run(command("x"), &mut output)).unwrap_err();
    let seen = replay.requests();
    let reply = r#"{"sandboxID":"s","envdAccessToken":"planted-token"}"#;
    let access: wire::Access = serde_json::from_str(reply).expect("valid request");
    let control = E2bControl::new(options(&replay));
    let printed = format!("{sandbox:?} {error:?} {error} {seen:?} {control:?} {access:?}");
    assert!(!printed.contains("planted"), "{printed}");
    let key = |request: &Request| request.headers.iter().any(|(_, value)| matches!(value, HeaderValue::Secret(_)));
    assert!(seen.iter().all(key), "the token was sent as a secret");
}

#[test]
fn output_streams_are_separate() {
    let frame = |stream: &str, text: &str| {
        let data = base64::engine::general_purpose::STANDARD.encode(text);
        Frame { flags: 0, message: format!("{{\"event\":{{\"data\":{{\"{stream}\":\"{data}\"}}}}}}").into() }
    };
    assert_eq!(wire::event(&frame("stdout", "a")).unwrap(), Event::Output(OutputStream::Stdout, b"a".to_vec()));
    assert_eq!(wire::event(&frame("stderr", "b")).unwrap(), Event::Output(OutputStream::Stderr, b"b".to_vec()));
}

#[test]
fn an_unknown_route_is_not_a_missing_sandbox() {
    for (status, body, expected) in [
        (404, "404 page not found", true),
        (404, "{\"code\":404,\"message\":\"no matching operation was found\"}", true),
        (405, "", true),
        (404, "{\"code\":404,\"message\":\"template 'x' not found\"}", false),
        (400, "404 page not found", false),
    ] {
        assert_eq!(wire::is_unknown_route(status, body.as_bytes()), expected, "{status} {body}");
    }
}

#[test]
fn a_missing_sandbox_is_not_a_missing_daemon() {
    let kind = |body: &str| wire::failure("execute", 502, body.as_bytes()).kind();
    assert_eq!(kind("The sandbox i1 was not found"), ErrorKind::SandboxNotFound);
    assert_eq!(kind("{\"message\":\"The sandbox was not found\",\"code\":502}"), ErrorKind::SandboxNotFound);
    assert_eq!(kind("The sandbox is running but port is not open"), ErrorKind::Unavailable);
}

#[test]
fn retry_header_is_respected() {
    let hint = |value: Option<&str>| {
        let headers = value.map(|value| ("should-retry".to_owned(), value.to_owned()));
        wire::hint(&Response::new(503, headers.into_iter().collect(), crate::transport::recorded_body(b"")))
    };
    assert_eq!(hint(Some("true")), RetryHint::Retry(None));
    assert_eq!(hint(Some("false")), RetryHint::Final);
    assert_eq!((hint(None), hint(Some("perhaps"))), (RetryHint::None, RetryHint::None));
}
