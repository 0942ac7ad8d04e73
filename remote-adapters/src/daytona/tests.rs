//! Compares requests with those of the official client, and parses responses in the daemon's format.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value, json};
use tidebox_core::{ErrorKind, FileErrorCode, ListRequest, SandboxPath, Upload};

use super::wire::{self, State};
use super::*;
use crate::data_plane::{Command, CommandOutcome};
use crate::transport::multipart;
use crate::transport::{Client, RecordedExchange, ReplayTransport, Request, Response, RetryHint, RetryPolicy};
use crate::{ControlPlane as _, DataPlane as _, NetworkAccess, Options, OutputCollector};

crate::trace_coverage::covered! {
    "daytona" {
        create_sandbox_matches_the_official_client: [make];
        create_from_image_matches_the_official_client: [make];
        sandbox_requests_match_the_official_client: [find, delete, labels];
        commands_and_files_match_the_official_client: [run, upload];
        every_recorded_sandbox_and_error_is_parsed: [find, list];
    }
}

/// Recorded requests of the official client.
const OFFICIAL: &str = include_str!("../../traces/daytona-sdk.json");

const ID: &str = "7c0f6f0e-1111-4222-8333-944455556666";

fn options(replay: &Arc<ReplayTransport>) -> Options {
    let mut options = Options::default().with_api_key("planted-daytona-key").with_api_url("http://host/api");
    options.transport = Some(Arc::<ReplayTransport>::clone(replay));
    options
}

fn sandbox(replay: &Arc<ReplayTransport>) -> DaytonaSandbox {
    let config = DaytonaConfig::new(&options(replay)).expect("a key is set");
    let client = Client::new(Arc::<ReplayTransport>::clone(replay), RetryPolicy::default());
    let reported = json!({ "id": ID, "state": "started", "toolboxProxyUrl": "http://host/toolbox" });
    let reported = serde_json::from_value(reported).expect("valid request");
    DaytonaSandbox::new(&config, &reported, client).expect("valid endpoint")
}

fn command(script: &str) -> Command {
    Command { script: script.to_owned(), cwd: None, env: Vec::new(), timeout: Duration::from_secs(30) }
}

/// Returns the official client's first request of this phase with this method.
fn official(phase: &str, method: &str) -> Value {
    official_of(phase, method, 0)
}

/// Like [`official`], but the request with this number.
fn official_of(phase: &str, method: &str, number: usize) -> Value {
    let trace: Value = serde_json::from_str(OFFICIAL).expect("the trace is JSON");
    let requests = trace["runs"][0]["requests"].as_array().expect("a list of requests").clone();
    let is_socket = |request: &Value| request["path"].as_str().is_some_and(|path| path.contains("socket.io"));
    let mut found = requests
        .into_iter()
        .filter(|request| request["phase"] == phase && request["method"] == method && !is_socket(request));
    found.nth(number).expect("the phase")
}

/// Asserts equal method and path, and equal values of the shared headers.
fn same_head(ours: &Request, theirs: &Value) {
    let path = ours.url.splitn(4, '/').nth(3).map(|path| format!("/{path}")).unwrap_or_default();
    let their_path = theirs["path"].as_str().unwrap_or_default();
    assert_eq!((ours.method.as_str(), path.as_str()), (theirs["method"].as_str().unwrap_or_default(), their_path));
    for name in ["authorization", "x-daytona-source", "x-daytona-sdk-version", "x-daytona-organization-id"] {
        let sent = ours.headers.iter().any(|(given, _)| *given == name);
        assert_eq!(sent, theirs["headers"].get(name).is_some(), "{name} of {path}");
    }
    let version = ours.headers.iter().find(|(given, _)| *given == "x-daytona-sdk-version");
    assert_eq!(
        version.map(|(_, value)| value.expose()),
        theirs["headers"]["x-daytona-sdk-version"].as_str().map(str::as_bytes)
    );
}

fn body(request: &Request) -> Value {
    serde_json::from_slice(&request.body.concat()).expect("a body of JSON")
}

fn create_sandbox_matches_the_official_client() -> [&'static str; 1] {
    let replay = ReplayTransport::new([]);
    let mut options = options(&replay).with_extra("auto_stop_minutes", "15");
    options.network = NetworkAccess::Blocked;
    options.image = Some("snap-1".to_owned());
    let config = DaytonaConfig::new(&options).expect("valid options");
    let labels = BTreeMap::from([("thread_id".to_owned(), "t 1".to_owned())]);
    let request = wire::create(&config, &labels, &[("A".to_owned(), "b".to_owned())], "name-1", "attempt-1");
    let theirs = official("create (from snapshot)", "POST");
    same_head(&request, &theirs);
    let mut ours = body(&request);
    let mut theirs = theirs["body"]["value"].clone();
    // Intended differences: a name and a label make the request idempotent, and the lifetime is wall time. The official
    // client names a language for code run without a shell, and deletes sandboxes that were stopped for long.
    assert_eq!(take(&mut ours, "name"), "name-1");
    assert_eq!(take(&mut ours, "ttlMinutes"), 30);
    assert_eq!(take(&mut ours["labels"], wire::ATTEMPT), "attempt-1");
    assert_eq!(take(&mut theirs, "autoDeleteInterval"), 3600);
    assert_eq!(take(&mut theirs["labels"], "code-toolbox-language"), "python");
    assert_eq!(ours, theirs);
    ["make"]
}

fn take(object: &mut Value, field: &str) -> Value {
    object.as_object_mut().and_then(|fields| fields.remove(field)).unwrap_or_default()
}

fn create_from_image_matches_the_official_client() -> [&'static str; 1] {
    let replay = ReplayTransport::new([]);
    let mut options = options(&replay).with_extra("docker_image", "python:3.12");
    (options.cpus, options.memory_mib) = (Some(2), Some(4096));
    let config = DaytonaConfig::new(&options).expect("valid options");
    let mut ours = body(&wire::create(&config, &BTreeMap::new(), &[], "n", "a"));
    let mut theirs = official("create (from image)", "POST")["body"]["value"].clone();
    for field in ["name", "ttlMinutes", "labels"] {
        assert!(!take(&mut ours, field).is_null());
    }
    take(&mut theirs, "labels");
    assert_eq!(ours, theirs);
    ["make"]
}

fn sandbox_requests_match_the_official_client() -> [&'static str; 3] {
    let replay = ReplayTransport::new([]);
    let config = DaytonaConfig::new(&options(&replay)).expect("valid options");
    same_head(&wire::get(&config, ID), &official("get by id", "GET"));
    same_head(&wire::delete(&config, ID), &official("delete", "DELETE"));
    let labels = BTreeMap::from([("thread_id".to_owned(), "t 1".to_owned())]);
    let url = wire::list(&config, &ListRequest { cursor: Some("cur2".to_owned()), labels }).url;
    // Python writes a space after the colon; the JSON is equivalent. Our pages are longer.
    let second = official_of("list by labels", "GET", 1);
    let theirs = second["path"].as_str().expect("a path").replace("limit=1&", "limit=100&").replace("%3A%20", "%3A");
    assert_eq!(url, format!("http://host{theirs}"));
    ["find", "delete", "labels"]
}

fn commands_and_files_match_the_official_client() -> [&'static str; 2] {
    let replay = ReplayTransport::new([]);
    let sandbox = sandbox(&replay);
    let toolbox = sandbox.toolbox;
    let env = [("X".to_owned(), "1".to_owned())];
    let ours = toolbox.execute("echo hi", Some("/home/daytona"), &env, Duration::from_millis(19_001));
    let theirs = official("exec one-shot (process.exec)", "POST");
    same_head(&ours, &theirs);
    assert_eq!(body(&ours), theirs["body"]["value"]);
    let files = vec![
        ("/home/daytona/a.bin".to_owned(), bytes::Bytes::from_static(b"\0\xffhello")),
        ("/tmp/b".to_owned(), bytes::Bytes::from_static(b"B")),
    ];
    let ours = toolbox.upload(files);
    let theirs = official("langchain upload_files", "POST");
    same_head(&ours, &theirs);
    let media_type = ours.headers.iter().find(|(name, _)| *name == "content-type").expect("a type");
    let parts = multipart::read(&String::from_utf8_lossy(media_type.1.expose()), &ours.body.concat()).expect("parts");
    let theirs: Vec<String> =
        theirs["body"]["value"].as_array().expect("parts").iter().map(|part| part["headers"][0].to_string()).collect();
    for (ours, theirs) in parts.iter().zip(&theirs) {
        assert!(theirs.contains(&format!("name=\\\"{}\\\"", ours.name)), "{} and {theirs}", ours.name);
        assert_eq!(ours.file.is_some(), theirs.contains("filename="), "{theirs}");
    }
    assert_eq!((parts.len(), parts[2].content.as_slice()), (theirs.len(), b"\0\xffhello".as_slice()));
    ["run", "upload"]
}

fn every_recorded_sandbox_and_error_is_parsed() -> [&'static str; 2] {
    let trace: Value = serde_json::from_str(OFFICIAL).expect("the trace is JSON");
    let mut read = 0;
    for request in trace["runs"][0]["requests"].as_array().expect("requests") {
        let (reply, path) = (&request["reply"], request["path"].as_str().unwrap_or_default());
        if path.starts_with("/api/sandbox") && reply["status"] == 200 && reply["json"]["id"].is_string() {
            let sandbox: wire::Sandbox = wire::parse("x", reply["json"].to_string().as_bytes()).expect("a sandbox");
            assert!(matches!(sandbox.state(), State::Ready | State::Changing | State::Gone), "{sandbox:?}");
            assert_eq!(sandbox.labels["thread_id"], "t 1");
            read += 1;
        }
        if reply["json"]["items"].is_array() {
            let page = wire::parse_list(reply["json"].to_string().as_bytes()).expect("a page");
            assert_eq!(page.sandboxes.len(), 1);
            read += 1;
        }
    }
    assert!(read > 8, "{read} replies");
    let missing = official("get missing", "GET")["reply"]["json"].to_string();
    assert_eq!(wire::failure("x", 404, missing.as_bytes()).kind(), ErrorKind::SandboxNotFound);
    ["find", "list"]
}

/// Runs a command that receives this single response.
fn run_with_response(
    status: u16,
    answer: &Value,
) -> (tidebox_core::Result<CommandOutcome>, tidebox_core::ExecuteResponse) {
    let replay = ReplayTransport::new([RecordedExchange::new(
        format!("POST /toolbox/{ID}/process/execute"),
        status,
        answer.to_string(),
    )]);
    let mut output = OutputCollector::new(1 << 20, None);
    let sandbox = sandbox(&replay);
    let ending = tokio::runtime::Builder::new_current_thread()
        .enable_time()
        .build()
        .expect("a runtime")
        .block_on(sandbox.run(command("x"), &mut output));
    (ending, output.into_response())
}

#[test]
fn a_report_becomes_two_streams_and_an_exit_code() {
    let report = json!({ "exitCode": 0, "result": "tidebox 3 4 3 base64\nb3V0\nCg==\n.\n/wBh\n.\n" });
    let (ending, response) = run_with_response(200, &report);
    assert_eq!(ending.expect("the command runs"), CommandOutcome::Exit(3));
    assert_eq!((&*response.stdout, &*response.stderr), (b"out\n".as_slice(), b"\xff\0a".as_slice()));
    // Some daemon versions use another name for the exit code.
    let (ending, _) = run_with_response(200, &json!({ "code": 0, "result": "tidebox 0 0 0 base64\n.\n.\n" }));
    assert_eq!(ending.expect("the command runs"), CommandOutcome::Exit(0));
    let (ending, _) = run_with_response(200, &json!({ "exitCode": null, "result": "tidebox - 0 0 base64\n.\n.\n" }));
    assert_eq!(ending.expect("the command runs"), CommandOutcome::Unknown, "no code stays no code");
}

#[test]
fn a_command_that_cannot_start_prints_the_reason() {
    let (ending, response) =
        run_with_response(200, &json!({ "exitCode": -1, "result": "chdir /nope: no such file or directory" }));
    assert_eq!(
        (ending.expect("an outcome"), response.stderr_text().contains("/nope")),
        (CommandOutcome::Exit(1), true)
    );
}

#[test]
fn a_rejected_command_has_its_error_kind() {
    for (status, kind) in [
        (401, ErrorKind::Unauthenticated),
        (403, ErrorKind::Forbidden),
        (404, ErrorKind::SandboxNotFound),
        (400, ErrorKind::InvalidRequest),
    ] {
        let (ending, _) = run_with_response(status, &json!({ "statusCode": status, "message": "no", "code": "X" }));
        let error = ending.expect_err("the request is rejected");
        assert_eq!(error.kind(), kind, "{status}");
    }
}

#[test]
fn a_partly_failed_upload_has_a_result_per_file() {
    let body = json!({
        "errors": [
            "/a/b: mkdir /a: not a directory",
            "/dir: rename: rename /.daytona-upload-1 /dir: file exists; fallback: open /dir: is a directory",
            "/root/x: create temp: open /root/.daytona-upload-2: permission denied",
            "/full: write: write /.daytona-upload-3: no space left on device",
        ],
        "files": [{ "path": "/good", "bytes": 1 }],
    });
    let paths = ["/dir", "/good", "/a/b", "/root/x", "/full"];
    let results = wire::parse_upload(body.to_string().as_bytes(), &paths).expect("every file has a result");
    let codes: Vec<_> = results.into_iter().map(|result| result.err().map(|error| error.code)).collect();
    let code = |code| Some(code);
    assert_eq!(
        codes,
        [
            code(FileErrorCode::IsDirectory),
            None,
            code(FileErrorCode::NotADirectory),
            code(FileErrorCode::PermissionDenied),
            code(FileErrorCode::NoSpace),
        ]
    );
    assert_eq!(wire::parse_upload(body.to_string().as_bytes(), &["/untold"]), None);
    assert_eq!(wire::parse_upload(b"{\"errors\":[\"invalid multipart form\"]}", &["/a"]), None);
}

#[test]
fn failed_downloads_are_distinguished_from_deleted_sandboxes() {
    let path = SandboxPath::parse("/x").expect("a path");
    let code = |status, code: &str, message: &str| {
        let body = json!({ "statusCode": status, "code": code, "message": message }).to_string();
        wire::download_error(status, body.as_bytes(), &path).map(|error| error.code)
    };
    assert_eq!(code(404, "FILE_NOT_FOUND", "stat /x: no such file or directory"), Some(FileErrorCode::FileNotFound));
    assert_eq!(code(403, "FILE_ACCESS_DENIED", "open /x: permission denied"), Some(FileErrorCode::PermissionDenied));
    assert_eq!(code(400, "INVALID_FILE_PATH", "path must be a file"), Some(FileErrorCode::IsDirectory));
    assert_eq!(code(400, "INVALID_FILE_PATH", "stat /x/y: not a directory"), Some(FileErrorCode::NotADirectory));
    assert_eq!(code(404, "NOT_FOUND", "Sandbox with ID or name x not found"), None);
    assert_eq!(code(403, "FORBIDDEN", "Forbidden resource"), None);
}

#[test]
fn uploads_are_batched_in_order() {
    let big = vec![b'x'; 20 << 20];
    let answer = || RecordedExchange::new(format!("POST /toolbox/{ID}/files/bulk-upload"), 200, "{\"files\":[]}");
    let replay = ReplayTransport::new([answer(), answer()]);
    let files = ["/a", "/b ", "/c", "/d"].map(|path| {
        let content = if path == "/c" { b"small".to_vec() } else { big.clone() };
        (SandboxPath::parse(path).expect("a path"), Upload::new(path, content))
    });
    let results = futures_executor::block_on(sandbox(&replay).store(files.into())).expect("a transfer");
    let reported: Vec<_> = results.iter().map(|file| (file.path.as_slice(), file.result.is_ok())).collect();
    assert_eq!(reported, [(b"/a".as_slice(), true), (b"/b ", false), (b"/c", true), (b"/d", true)]);
    let parts = |request: &Request| request.body.iter().filter(|chunk| chunk.starts_with(b"/")).count();
    assert_eq!(replay.requests().iter().map(parts).collect::<Vec<_>>(), [2, 1]);
}

#[test]
fn the_longest_requested_pause_is_respected() {
    let reply = |status, headers: &[(&str, &str)]| {
        let headers = headers.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
        Response::new(status, headers, crate::transport::recorded_body(b""))
    };
    let limits = [("x-ratelimit-reset-anonymous", "2"), ("x-ratelimit-reset-sandbox-create", "7")];
    assert_eq!(wire::hint(&reply(429, &limits)), RetryHint::Retry(Some(Duration::from_secs(7))));
    let named = [("retry-after-sandbox-create", "3"), ("x-ratelimit-reset-sandbox-create", "7")];
    assert_eq!(wire::hint(&reply(429, &named)), RetryHint::Retry(Some(Duration::from_secs(3))));
    assert_eq!(wire::hint(&reply(429, &[("retry-after", "1")])), RetryHint::None, "the general rule reads it");
    assert_eq!(wire::hint(&reply(200, &limits)), RetryHint::None);
}

#[test]
fn a_lost_create_response_finds_only_its_own_sandbox() {
    let taken = json!({ "statusCode": 409, "message": "Sandbox with name n already exists" }).to_string();
    let other =
        json!({ "id": ID, "state": "started", "labels": { "a": "1" }, "toolboxProxyUrl": "http://host/toolbox" });
    let labels = BTreeMap::from([("a".to_owned(), "1".to_owned())]);
    let replay = ReplayTransport::new([
        RecordedExchange::new("POST /api/sandbox", 409, taken.clone()),
        RecordedExchange::new("GET /api/sandbox/tidebox-key", 200, other.to_string()),
    ]);
    let control = DaytonaControl::new(options(&replay)).expect("valid options");
    let created = futures_executor::block_on(control.create(&labels, Some("tidebox-key"))).expect("it exists");
    assert!(!created.is_new && created.sandbox.is_ok(), "another caller created it");
    let foreign = json!({ "id": ID, "state": "started", "labels": { "a": "2" } });
    let replay = ReplayTransport::new([
        RecordedExchange::new("POST /api/sandbox", 409, taken),
        RecordedExchange::new("GET /api/sandbox/tidebox-key", 200, foreign.to_string()),
    ]);
    let control = DaytonaControl::new(options(&replay)).expect("valid options");
    let rejected = futures_executor::block_on(control.create(&labels, Some("tidebox-key")));
    assert_eq!(rejected.expect_err("the name is taken").kind(), ErrorKind::InvalidRequest);
}

#[test]
fn no_credential_is_printed() {
    let replay = ReplayTransport::new([RecordedExchange::new(
        format!("POST /toolbox/{ID}/process/execute"),
        401,
        "{\"message\":\"no\"}",
    )]);
    let sandbox = sandbox(&replay);
    let mut output = OutputCollector::new(1, None);
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().expect("a runtime");
    let error = runtime.block_on(sandbox.run(command("x"), &mut output)).expect_err("refused");
    let seen = replay.requests();
    let printed = format!("{sandbox:?} {error:?} {error} {seen:?} {:?}", DaytonaControl::new(options(&replay)));
    assert!(!printed.contains("planted"), "{printed}");
    let sent =
        seen[0].headers.iter().find(|(name, _)| *name == "authorization").map(|(_, value)| value.expose().to_vec());
    assert_eq!(sent.as_deref(), Some(b"Bearer planted-daytona-key".as_slice()));
}

#[test]
fn job_files_are_removed_in_batches() {
    let large = (1 << 20) + 1;
    let text = base64::Engine::encode(&base64::engine::general_purpose::STANDARD, vec![b'a'; 1 << 20]);
    let small = || json!({ "exitCode": 0, "result": "tidebox 0 0 0 base64\n.\n.\n" }).to_string();
    let run = |report: String| RecordedExchange::new(format!("POST /toolbox/{ID}/process/execute"), 200, report);
    let mut exchanges: Vec<RecordedExchange> = (0..17).map(|_| run(small())).collect();
    exchanges.push(run(
        json!({ "exitCode": 0, "result": format!("tidebox 0 {large} 0 base64\n{text}\n.\n.\n") }).to_string()
    ));
    exchanges.push(RecordedExchange::new(
        format!("GET /toolbox/{ID}/files/download?path=%2Ftmp%2F.tidebox-jobs-*"),
        206,
        b"b".to_vec(),
    ));
    exchanges.push(run(small()));
    let replay = ReplayTransport::new(exchanges);
    let sandbox = sandbox(&replay);
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().expect("a runtime");
    for _ in 0..19 {
        let mut output = OutputCollector::new(2 << 20, None);
        runtime.block_on(sandbox.run(command("x"), &mut output)).expect("the command runs");
    }
    let seen = replay.requests();
    let jobs = |at: usize| String::from_utf8_lossy(&seen[at].body.concat()).matches("/tmp/.tidebox-jobs-").count();
    let counts: Vec<usize> = (0..20).filter(|at| *at != 18).map(jobs).collect();
    let mut expected = vec![1; 19];
    // Each job has four files.
    (expected[16], expected[18]) = (1 + 16 * 4, 1 + 2 * 4);
    assert_eq!(counts, expected, "each command names its own job, and sometimes removes the files of earlier ones");
}

#[test]
fn output_beyond_a_report_is_downloaded() {
    let size = (1 << 20) + 3;
    let chunk = base64::Engine::encode(&base64::engine::general_purpose::STANDARD, vec![b'a'; 1 << 20]);
    let report = json!({ "exitCode": 0, "result": format!("tidebox 0 {size} 0 base64\n{chunk}\n.\n.\n") });
    let whole = [vec![b'a'; 1 << 20], b"bcd".to_vec()].concat();
    for (status, rest) in [(206, b"bcd".to_vec()), (200, whole.clone())] {
        let run = RecordedExchange::new(format!("POST /toolbox/{ID}/process/execute"), 200, report.to_string());
        // The job name is random.
        let rest = RecordedExchange::new(
            format!("GET /toolbox/{ID}/files/download?path=%2Ftmp%2F.tidebox-jobs-*"),
            status,
            rest,
        );
        let replay = ReplayTransport::new([run, rest]);
        let sandbox = sandbox(&replay);
        let mut output = OutputCollector::new(2 << 20, None);
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().expect("a runtime");
        runtime.block_on(sandbox.run(command("x"), &mut output)).expect("the command runs");
        let response = output.into_response();
        assert_eq!((response.stdout == whole, response.truncated), (true, false), "{status}");
        let range = replay.requests()[1]
            .headers
            .iter()
            .any(|(name, value)| *name == "range" && value.expose() == b"bytes=1048576-");
        assert!(range, "only the rest was requested");
    }
}

#[test]
fn the_key_is_not_sent_to_a_url_without_tls() {
    let replay = ReplayTransport::new([]);
    let config = DaytonaConfig::new(&options(&replay).with_api_url("https://host/api")).expect("valid options");
    let reported = |url: &str| serde_json::from_value(json!({ "id": ID, "toolboxProxyUrl": url })).expect("a sandbox");
    assert_eq!(wire::Toolbox::new(&config, &reported("http://host/toolbox")).unwrap_err().kind(), ErrorKind::Protocol);
    assert!(wire::Toolbox::new(&config, &reported("https://host/toolbox")).is_ok());
    assert_eq!(wire::Toolbox::new(&config, &reported("")).unwrap_err().kind(), ErrorKind::Protocol);
}
