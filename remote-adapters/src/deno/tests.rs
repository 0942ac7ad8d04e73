//! Compares requests and messages with those recorded from the official clients.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::task::Poll;
use std::time::Duration;

use async_trait::async_trait;
use base64::Engine as _;
use futures_util::StreamExt as _;
use serde_json::{Value, json};
use tidebox_core::{ErrorKind, FileErrorCode, ListRequest, Result, SandboxId, SandboxPath, Upload};

use super::connection::Connection;
use super::wire::{self, Incoming, RpcError, WaitResponse};
use super::*;
use crate::data_plane::{Command, CommandOutcome};
use crate::transport::socket::{self, UpgradeResult};
use crate::transport::{
    Client, HeaderValue, RecordedExchange, ReplayTransport, Request, RetryPolicy, SocketMessage, Transport as _,
};
use crate::{ControlPlane as _, DataPlane as _, NetworkAccess, Options, OutputCollector};

crate::trace_coverage::covered! {
    "deno" {
        create_sandbox_matches_the_official_client: [make];
        list_delete_and_connect_match_the_official_client: [find, delete, list, labels];
    }
    waiting {
        a_recorded_command_matches_the_official_client: [run, streams];
        a_recorded_upload_matches_the_official_client: [upload];
    }
}

/// Recorded requests and messages of the official clients.
const OFFICIAL: &str = include_str!("../../traces/deno-sdk.json");

/// Returns the requests of the JavaScript client.
fn official() -> Vec<Value> {
    let trace: Value = serde_json::from_str(OFFICIAL).expect("the trace is JSON");
    trace["runs"][0]["requests"].as_array().expect("a list of requests").clone()
}

fn phase(name: &str) -> Value {
    official().into_iter().find(|request| request["phase"] == name).unwrap_or_else(|| panic!("{name}"))
}

/// Returns the messages of the recorded session, with the client's call numbers starting at `first`.
fn session(methods: &[&str]) -> Vec<SocketMessage> {
    let recorded = official().remove(0)["ws"].as_array().expect("messages").clone();
    let mut lines = Vec::new();
    let mut ids = BTreeMap::new();
    let mut wanted = methods.iter().peekable();
    for message in recorded {
        let (mut json, ours) = (message["json"].clone(), message["from"] == "client");
        if ours {
            if wanted.peek().is_some_and(|method| json["method"] == **method) {
                wanted.next();
                ids.insert(json["id"].as_u64(), ids.len());
                json["id"] = json!(ids[&json["id"].as_u64()]);
                lines.push(SocketMessage::FromClient(json));
            }
        } else if let Some(id) = json.get("id") {
            if let Some(number) = ids.get(&id.as_u64()) {
                json["id"] = json!(number);
                lines.push(SocketMessage::FromServer(json.to_string()));
            }
        } else if wanted.peek().is_some_and(|method| **method == "processWait") {
            lines.push(SocketMessage::FromServer(json.to_string()));
        }
    }
    assert_eq!(wanted.next(), None, "all of them were found");
    lines
}

fn options(replay: &Arc<ReplayTransport>) -> Options {
    let mut options = Options::default().with_api_key("ddo_planted-token").with_api_url("http://api");
    options.transport = Some(Arc::<ReplayTransport>::clone(replay));
    options.with_extra("sandbox_url", "http://sandbox")
}

async fn sandbox(lines: Vec<SocketMessage>) -> DenoSandbox {
    let replay = ReplayTransport::new([RecordedExchange::socket("/socket", lines)]);
    let request = Request::new(crate::transport::Method::Get, "http://sandbox/socket");
    let Ok(UpgradeResult::Open(socket)) = replay.open(&request).await else { panic!("it opens") };
    let config = DenoConfig::new(&options(&replay)).expect("a token is set");
    let client = Client::new(replay, RetryPolicy::default());
    let id = SandboxId::parse("sbx_ord_0123456789abcdefghjk").expect("a name");
    DenoSandbox::new(id, config, client, Connection::new(socket))
}

fn command(script: &str) -> Command {
    Command { script: script.to_owned(), cwd: None, env: Vec::new(), timeout: Duration::from_secs(30) }
}

async fn a_recorded_command_matches_the_official_client() -> [&'static str; 2] {
    let sandbox = sandbox(session(&["spawn", "processWait"])).await;
    let mut output = OutputCollector::new(100, None);
    let ending = sandbox.run(command("echo hi"), &mut output).await.expect("output is received");
    assert_eq!(ending, CommandOutcome::Exit(0));
    let response = output.into_response();
    assert_eq!((&*response.stdout_text(), &*response.stderr_text()), ("out\n", "err\n"));
    ["run", "streams"]
}

#[tokio::test]
async fn output_before_the_spawn_response_is_kept() {
    let mut lines = session(&["spawn", "processWait"]);
    let reply = lines.remove(1);
    let waits =
        lines.iter().rposition(|line| matches!(line, SocketMessage::FromClient(_))).expect("a valid wait response");
    lines.insert(waits, reply);
    let mut output = OutputCollector::new(100, None);
    let sandbox = sandbox(lines).await;
    assert_eq!(
        sandbox.run(command("echo hi"), &mut output).await.expect("output is received"),
        CommandOutcome::Exit(0)
    );
    assert_eq!(output.into_response().stdout_text(), "out\n");
}

async fn a_recorded_upload_matches_the_official_client() -> [&'static str; 1] {
    let sandbox = sandbox(session(&["writeFile"])).await;
    let path = SandboxPath::parse("/home/app/a.bin").unwrap();
    let stored = sandbox.store(vec![(path, Upload::new("/home/app/a.bin", b"\0\xffh".to_vec()))]).await;
    stored.expect("a transfer")[0].result.as_ref().expect("the upload succeeds");
    ["upload"]
}

/// Messages of a long upload: its stream and its call, up to a chunk.
fn flowing(content: &[u8], chunks: usize) -> Vec<SocketMessage> {
    let notify = |method: &str, params: Value| {
        SocketMessage::FromClient(
            json!({ "jsonrpc": "2.0", "method": format!("$sandbox.stream.{method}"), "params": params }),
        )
    };
    let call = wire::call(0, "writeFile", &json!({ "path": "/a/b", "contentStreamId": 1 }));
    let mut lines = vec![notify("start", json!({ "streamId": 1 })), SocketMessage::FromClient(call)];
    for chunk in content.chunks(64 << 10).take(chunks) {
        lines.push(notify("enqueue", json!({ "streamId": 1, "data": wire::text(chunk) })));
    }
    lines
}

async fn store(lines: Vec<SocketMessage>, content: &[u8]) -> tidebox_core::FileResult<()> {
    let path = SandboxPath::parse("/a/b").expect("a path");
    let stored = sandbox(lines).await.store(vec![(path, Upload::new("/a/b", content.to_vec()))]).await;
    stored.expect("a transfer").remove(0).result
}

#[tokio::test]
async fn a_long_upload_is_streamed_without_acknowledgements() {
    let content: Vec<u8> = (0..=255).cycle().take(150 << 10).collect();
    let mut lines = flowing(&content, 3);
    lines.push(SocketMessage::FromClient(serde_json::from_str(&wire::end_stream(1)).expect("JSON")));
    lines.push(SocketMessage::FromServer(json!({ "jsonrpc": "2.0", "id": 0, "result": { "ok": null } }).to_string()));
    store(lines, &content).await.expect("the upload succeeds");
}

#[tokio::test]
async fn a_rejected_upload_stops_sending() {
    let content = vec![7; 64 << 20];
    let mut lines = flowing(&content, 2);
    let rejection = json!({ "constructorName": "PermissionDenied", "code": "EACCES", "message": "Permission denied" });
    lines.push(SocketMessage::FromServer(
        json!({ "jsonrpc": "2.0", "id": 0, "result": { "error": rejection } }).to_string(),
    ));
    lines.push(broken());
    let rejected = store(lines, &content).await.expect_err("the upload is rejected");
    assert_eq!(rejected.code, FileErrorCode::PermissionDenied);
}

/// Message that reports an incomplete stream.
fn broken() -> SocketMessage {
    let error = json!({ "constructorName": "Error", "message": "the rest of the file is not sent" });
    let params = json!({ "streamId": 1, "error": error });
    SocketMessage::FromClient(json!({ "jsonrpc": "2.0", "method": "$sandbox.stream.error", "params": params }))
}

#[tokio::test]
async fn an_abandoned_upload_is_reported_as_failed() {
    let content = vec![7; 64 << 20];
    let mut lines = flowing(&content, 2);
    let path = SandboxPath::parse("/a/b").expect("a path");
    let next = wire::call(1, "writeFile", &json!({ "path": "/a/b", "content": wire::text(b"short") }));
    lines.extend([broken(), SocketMessage::FromClient(next)]);
    lines.push(SocketMessage::FromServer(json!({ "jsonrpc": "2.0", "id": 1, "result": { "ok": null } }).to_string()));
    let sandbox = sandbox(lines).await;
    {
        let mut storing = sandbox.store(vec![(path.clone(), Upload::new("/a/b", content))]);
        // Each message needs one yield: the stream, the call and two chunks.
        for _ in 0..4 {
            let pending = std::future::poll_fn(|context| Poll::Ready(storing.as_mut().poll(context).is_pending()));
            assert!(pending.await, "the future is pending");
        }
    }
    tokio::task::yield_now().await;
    let stored = sandbox.store(vec![(path, Upload::new("/a/b", b"short".to_vec()))]).await.expect("a transfer");
    assert!(stored[0].result.is_ok(), "{stored:?}");
}

#[tokio::test]
async fn a_lost_connection_is_an_error_and_keeps_the_output() {
    let mut lines = session(&["spawn", "processWait"]);
    lines.truncate(4);
    let sandbox = sandbox(lines).await;
    let mut output = OutputCollector::new(100, None);
    let error = sandbox.run(command("echo hi"), &mut output).await.expect_err("the stream is interrupted");
    assert!(matches!(error.kind(), ErrorKind::Unavailable | ErrorKind::NotRecorded), "{error}");
}

fn create_sandbox_matches_the_official_client() -> [&'static str; 1] {
    let theirs = official().remove(0);
    let mut options = options(&ReplayTransport::new([]));
    options.memory_mib = Some(1024);
    options.network = NetworkAccess::Only(vec!["example.com".to_owned()]);
    let config = DenoConfig::new(&options).unwrap();
    let labels = BTreeMap::from([("thread".to_owned(), "t1".to_owned())]);
    let ours = wire::create(&config, &labels, 1_795_247_172_548).unwrap();
    same_head(&ours, &theirs);
    let header = ours.headers.iter().find(|(name, _)| *name == "x-deno-sandbox-config").expect("a configuration");
    assert!(matches!(header.1, HeaderValue::Secret(_)), "it may contain secrets");
    let decoded = base64::engine::general_purpose::STANDARD.decode(header.1.expose()).expect("base64");
    let decoded: Value = serde_json::from_slice(&decoded).expect("JSON");
    assert_eq!(decoded, theirs["x_deno_sandbox_config_decoded"]);
    let many = (0..6).map(|number| (number.to_string(), String::new())).collect();
    assert_eq!(wire::create(&config, &many, 0).unwrap_err().kind(), ErrorKind::Unsupported);
    ["make"]
}

/// Asserts equal method and path, and that the token is a secret.
fn same_head(ours: &Request, theirs: &Value) {
    let path = ours.url.splitn(4, '/').nth(3).map(|path| format!("/{path}")).unwrap_or_default();
    assert_eq!(
        (ours.method.as_str(), path.as_str()),
        (theirs["method"].as_str().unwrap(), theirs["path"].as_str().unwrap())
    );
    let bearer = ours.headers.iter().find(|(name, _)| *name == "authorization").expect("a token");
    assert!(matches!(&bearer.1, HeaderValue::Secret(secret) if secret.expose().starts_with(b"Bearer ddo_")));
}

fn list_delete_and_connect_match_the_official_client() -> [&'static str; 4] {
    let config = DenoConfig::new(&options(&ReplayTransport::new([]))).unwrap();
    let id = "sbx_ord_0123456789abcdefghjk";
    let labels = BTreeMap::from([("thread".to_owned(), "t1".to_owned())]);
    same_head(&wire::connect(&config, id).unwrap(), &phase("connect"));
    same_head(&wire::delete(&config, id).unwrap(), &phase("kill"));
    let extend = wire::extend(&config, id, 1_795_245_975_413).unwrap();
    same_head(&extend, &phase("extend timeout"));
    let body: Value = serde_json::from_slice(&extend.body.concat()).unwrap();
    assert_eq!(body, phase("extend timeout")["body"]["value"]);
    let listed = phase("list");
    same_head(&wire::list(&config, &ListRequest { cursor: None, labels: labels.clone() }), &listed);
    let page = wire::parse_list(listed["reply"]["json"].to_string().as_bytes(), &labels).expect("a page");
    assert_eq!(page.sandboxes[0].id.as_str(), id);
    assert_eq!((&page.sandboxes[0].labels, page.cursor), (&labels, None));
    ["find", "delete", "list", "labels"]
}

#[tokio::test]
async fn close_reasons_are_reported_and_protocol_errors_are_permanent() {
    for (code, reason, kind) in [
        (4000, "Invalid JSON", ErrorKind::Protocol),
        (4001, "Invalid message", ErrorKind::Protocol),
        (1001, "sandbox stopped", ErrorKind::Unavailable),
        (1006, "", ErrorKind::Unavailable),
    ] {
        let mut lines = session(&["spawn", "processWait"]);
        let waits =
            lines.iter().rposition(|line| matches!(line, SocketMessage::FromClient(_))).expect("a valid wait response");
        lines.truncate(waits + 1);
        lines.push(SocketMessage::Closed(code, reason.to_owned()));
        let sandbox = sandbox(lines).await;
        let error = sandbox
            .run(command("echo hi"), &mut OutputCollector::new(100, None))
            .await
            .expect_err("the socket is closed");
        assert_eq!((error.kind(), error.retryable()), (kind, kind == ErrorKind::Unavailable), "{error}");
        assert!(error.to_string().contains(&code.to_string()) && error.to_string().contains(reason), "{error}");
    }
}

/// Both halves of a socket that never responds.
struct Silent(futures_channel::mpsc::UnboundedSender<String>);

#[async_trait]
impl socket::Sender for Silent {
    async fn send(&mut self, text: String) -> Result<()> {
        let _ = self.0.unbounded_send(text);
        Ok(())
    }

    async fn send_bytes(&mut self, _: Vec<u8>) -> Result<()> {
        Ok(())
    }

    async fn close(&mut self) -> Result<()> {
        Ok(())
    }
}

#[async_trait]
impl socket::Receiver for Silent {
    async fn next(&mut self) -> Result<Option<socket::Message>> {
        std::future::pending().await
    }
}

#[tokio::test]
async fn an_idle_connection_sends_keep_alives() {
    let (said, mut heard) = futures_channel::mpsc::unbounded();
    let silent = || Box::new(Silent(said.clone()));
    let connection = Connection::new(socket::Socket { headers: Vec::new(), sender: silent(), receiver: silent() });
    drop(said);
    let started = std::time::Instant::now();
    for _ in 0..2 {
        let sign = tokio::time::timeout(Duration::from_secs(60), heard.next()).await.expect("the message arrives");
        assert_eq!(sign.as_deref(), Some("ping"));
    }
    assert!(started.elapsed() >= Duration::from_secs(3), "not all the time");
    drop(connection);
    let after = tokio::time::timeout(Duration::from_secs(60), heard.next()).await.expect("both halves are dropped");
    assert_eq!(after, None);
}

#[test]
fn every_recorded_message_is_parsed() {
    let recorded = official().remove(0)["ws"].as_array().expect("messages").clone();
    let mut read = 0;
    for message in recorded.iter().filter(|message| message["from"] != "client") {
        wire::incoming(&message["json"].to_string()).expect("parsed");
        read += 1;
    }
    assert!(read > 20, "{read} messages");
    assert_eq!(wire::incoming("pong").unwrap(), Incoming::Other);
    assert_eq!(wire::incoming("<html>").unwrap_err().kind(), ErrorKind::Protocol);
    let missing = r#"{"jsonrpc":"2.0","id":3,"error":{"code":-32601,"message":"Method not found"}}"#;
    let rejection = RpcError { message: "Method not found".to_owned(), ..RpcError::default() };
    assert_eq!(wire::incoming(missing).unwrap(), Incoming::Answer(3, Err(rejection)));
}

#[test]
fn file_errors_are_mapped_by_class_or_errno() {
    let code = |class: Option<&str>, code: Option<&str>| {
        let (class, code) = (class.map(str::to_owned), code.map(str::to_owned));
        RpcError { constructor_name: class, message: "m".to_owned(), code }.file_error(b"/x").map(|error| error.code)
    };
    assert_eq!(code(Some("NotFound"), Some("ENOENT")), Some(FileErrorCode::FileNotFound));
    assert_eq!(code(Some("NotFound"), None), Some(FileErrorCode::FileNotFound));
    assert_eq!(code(Some("Error"), Some("ENOTDIR")), Some(FileErrorCode::NotADirectory));
    assert_eq!(code(Some("IsADirectory"), None), Some(FileErrorCode::IsDirectory));
    assert_eq!(code(Some("PermissionDenied"), Some("EACCES")), Some(FileErrorCode::PermissionDenied));
    assert_eq!(code(Some("Error"), Some("ENOSPC")), Some(FileErrorCode::NoSpace));
    assert_eq!(code(Some("Error"), Some("EIO")), None);
}

#[test]
fn command_outcomes_are_distinguished() {
    let ending = |value: Value| serde_json::from_value::<WaitResponse>(value).expect("parsed").outcome();
    assert_eq!(ending(json!({ "success": false, "code": 3, "signal": null, "oom": null })), CommandOutcome::Exit(3));
    assert_eq!(ending(json!({ "success": false, "code": 137, "signal": "SIGKILL" })), CommandOutcome::Exit(137));
    assert_eq!(
        ending(json!({ "success": false, "code": null, "signal": null })),
        CommandOutcome::Unknown,
        "null stays null"
    );
    assert_eq!(ending(json!({ "success": false, "signal": "SIGNEW" })), CommandOutcome::Unknown);
}

#[tokio::test]
async fn no_credential_is_printed() {
    let rejected =
        RecordedExchange::new("GET /api/v3/sandboxes/create", 401, r#"{"code":"INVALID_TOKEN","message":"no"}"#);
    let replay = ReplayTransport::new([rejected]);
    let mut options = options(&replay);
    options.env = vec![("SECRET".to_owned(), "planted-value".to_owned())];
    let control = DenoControl::new(options).expect("the options are valid");
    let error = control.create(&BTreeMap::new(), None).await.expect_err("the token is wrong");
    assert_eq!(error.kind(), ErrorKind::Unauthenticated);
    let printed = format!("{error:?} {error} {:?} {:?}", replay.requests(), DenoConfig::new(&self::options(&replay)));
    assert!(!printed.contains("planted"), "{printed}");
}
