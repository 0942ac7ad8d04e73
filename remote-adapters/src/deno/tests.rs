//! What is said and heard, held against what the official clients were recorded to say and to accept.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::task::Poll;
use std::time::Duration;

use base64::Engine as _;
use futures_util::StreamExt as _;
use serde_json::{Value, json};
use tidebox_core::{BoxFuture, ErrorKind, FileErrorCode, ListRequest, Result, SandboxId, SandboxPath, Upload};

use super::connection::Connection;
use super::wire::{self, Incoming, Refusal, Waited};
use super::*;
use crate::plane::{Command, Ending};
use crate::transport::socket::{self, Opening};
use crate::transport::{Client, Exchange, HeaderValue, Line, Replay, Request, RetryPolicy, Transport as _};
use crate::{Control as _, NetworkAccess, Options, Output, Plane as _};

crate::recorded::held! {
    "deno" {
        a_sandbox_is_made_as_the_official_client_makes_it: [make];
        lists_ends_and_connections_are_asked_for_as_by_the_official_client: [find, delete, list, labels];
    }
    waiting {
        a_recorded_command_is_said_and_heard_as_by_the_official_client: [run, streams];
        a_recorded_file_is_written_as_by_the_official_client: [upload];
    }
}

/// Requests and messages of the official clients, recorded once.
const OFFICIAL: &str = include_str!("../../traces/deno-sdk.json");

/// The requests of the client in JavaScript.
fn official() -> Vec<Value> {
    let trace: Value = serde_json::from_str(OFFICIAL).expect("the trace is JSON");
    trace["runs"][0]["requests"].as_array().expect("a list of requests").clone()
}

fn phase(name: &str) -> Value {
    official().into_iter().find(|request| request["phase"] == name).unwrap_or_else(|| panic!("{name}"))
}

/// The messages of the recorded session, those of the client with the number of ours from `first` on.
fn session(methods: &[&str]) -> Vec<Line> {
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
                lines.push(Line::Ours(json));
            }
        } else if let Some(id) = json.get("id") {
            if let Some(number) = ids.get(&id.as_u64()) {
                json["id"] = json!(number);
                lines.push(Line::Theirs(json.to_string()));
            }
        } else if wanted.peek().is_some_and(|method| **method == "processWait") {
            lines.push(Line::Theirs(json.to_string()));
        }
    }
    assert_eq!(wanted.next(), None, "all of them were found");
    lines
}

fn options(replay: &Arc<Replay>) -> Options {
    let mut options = Options::default().with_api_key("ddo_planted-token").with_api_url("http://api");
    options.transport = Some(Arc::<Replay>::clone(replay));
    options.with_extra("sandbox_url", "http://sandbox")
}

async fn sandbox(lines: Vec<Line>) -> DenoSandbox {
    let replay = Replay::new([Exchange::socket("/socket", lines)]);
    let request = Request::new(crate::transport::Method::Get, "http://sandbox/socket");
    let Ok(Opening::Open(socket)) = replay.open(&request).await else { panic!("it opens") };
    let config = DenoConfig::new(&options(&replay)).expect("a token is there");
    let client = Client::new(replay, RetryPolicy::default());
    let id = SandboxId::parse("sbx_ord_0123456789abcdefghjk").expect("a name");
    DenoSandbox::new(id, config, client, Connection::new(socket))
}

fn command(script: &str) -> Command {
    Command { script: script.to_owned(), cwd: None, env: Vec::new(), time: Duration::from_secs(30) }
}

async fn a_recorded_command_is_said_and_heard_as_by_the_official_client() -> [&'static str; 2] {
    let sandbox = sandbox(session(&["spawn", "processWait"])).await;
    let mut output = Output::new(100, None);
    let ending = sandbox.run(command("echo hi"), &mut output).await.expect("it is heard");
    assert_eq!(ending, Ending::Exit(0));
    let response = output.into_response();
    assert_eq!((&*response.stdout_text(), &*response.stderr_text()), ("out\n", "err\n"));
    ["run", "streams"]
}

#[tokio::test]
async fn pieces_that_come_before_the_answer_to_spawn_belong_to_it() {
    let mut lines = session(&["spawn", "processWait"]);
    let answer = lines.remove(1);
    let waits = lines.iter().rposition(|line| matches!(line, Line::Ours(_))).expect("it waits");
    lines.insert(waits, answer);
    let mut output = Output::new(100, None);
    let sandbox = sandbox(lines).await;
    assert_eq!(sandbox.run(command("echo hi"), &mut output).await.expect("it is heard"), Ending::Exit(0));
    assert_eq!(output.into_response().stdout_text(), "out\n");
}

async fn a_recorded_file_is_written_as_by_the_official_client() -> [&'static str; 1] {
    let sandbox = sandbox(session(&["writeFile"])).await;
    let path = SandboxPath::parse("/home/app/a.bin").unwrap();
    let stored = sandbox.store(vec![(path, Upload::new("/home/app/a.bin", b"\0\xffh".to_vec()))]).await;
    stored.expect("a transfer")[0].result.as_ref().expect("it is stored");
    ["upload"]
}

/// A long file on its way: what is said of its stream and of its call, up to a piece.
fn flowing(content: &[u8], pieces: usize) -> Vec<Line> {
    let notify = |method: &str, params: Value| {
        Line::Ours(json!({ "jsonrpc": "2.0", "method": format!("$sandbox.stream.{method}"), "params": params }))
    };
    let call = wire::call(0, "writeFile", &json!({ "path": "/a/b", "contentStreamId": 1 }));
    let mut lines = vec![notify("start", json!({ "streamId": 1 })), Line::Ours(call)];
    for piece in content.chunks(64 << 10).take(pieces) {
        lines.push(notify("enqueue", json!({ "streamId": 1, "data": wire::text(piece) })));
    }
    lines
}

async fn store(lines: Vec<Line>, content: &[u8]) -> tidebox_core::FileResult<()> {
    let path = SandboxPath::parse("/a/b").expect("a path");
    let stored = sandbox(lines).await.store(vec![(path, Upload::new("/a/b", content.to_vec()))]).await;
    stored.expect("a transfer").remove(0).result
}

#[tokio::test]
async fn a_long_file_flows_beside_its_call_without_an_answer_for_each_piece() {
    let content: Vec<u8> = (0..=255).cycle().take(150 << 10).collect();
    let mut lines = flowing(&content, 3);
    lines.push(Line::Ours(serde_json::from_str(&wire::end_stream(1)).expect("JSON")));
    lines.push(Line::Theirs(json!({ "jsonrpc": "2.0", "id": 0, "result": { "ok": null } }).to_string()));
    store(lines, &content).await.expect("it is stored");
}

#[tokio::test]
async fn a_long_file_that_is_refused_is_not_sent_to_its_end() {
    let content = vec![7; 64 << 20];
    let mut lines = flowing(&content, 2);
    let refusal = json!({ "constructorName": "PermissionDenied", "code": "EACCES", "message": "Permission denied" });
    lines.push(Line::Theirs(json!({ "jsonrpc": "2.0", "id": 0, "result": { "error": refusal } }).to_string()));
    lines.push(broken());
    let refused = store(lines, &content).await.expect_err("it is refused");
    assert_eq!(refused.code, FileErrorCode::PermissionDenied);
}

/// What is said of a stream that is not sent to its end.
fn broken() -> Line {
    let error = json!({ "constructorName": "Error", "message": "the rest of the file is not sent" });
    let params = json!({ "streamId": 1, "error": error });
    Line::Ours(json!({ "jsonrpc": "2.0", "method": "$sandbox.stream.error", "params": params }))
}

#[tokio::test]
async fn a_long_file_that_is_given_up_is_said_to_be_broken_and_the_connection_goes_on() {
    let content = vec![7; 64 << 20];
    let mut lines = flowing(&content, 2);
    let path = SandboxPath::parse("/a/b").expect("a path");
    let next = wire::call(1, "writeFile", &json!({ "path": "/a/b", "content": wire::text(b"short") }));
    lines.extend([broken(), Line::Ours(next)]);
    lines.push(Line::Theirs(json!({ "jsonrpc": "2.0", "id": 1, "result": { "ok": null } }).to_string()));
    let sandbox = sandbox(lines).await;
    {
        let mut storing = sandbox.store(vec![(path.clone(), Upload::new("/a/b", content))]);
        // Each message takes a turn: the stream, the call and two pieces.
        for _ in 0..4 {
            let pending = std::future::poll_fn(|context| Poll::Ready(storing.as_mut().poll(context).is_pending()));
            assert!(pending.await, "it takes more turns");
        }
    }
    tokio::task::yield_now().await;
    let stored = sandbox.store(vec![(path, Upload::new("/a/b", b"short".to_vec()))]).await.expect("a transfer");
    assert!(stored[0].result.is_ok(), "{stored:?}");
}

#[tokio::test]
async fn a_command_whose_connection_ends_is_an_error_and_keeps_what_came() {
    let mut lines = session(&["spawn", "processWait"]);
    lines.truncate(4);
    let sandbox = sandbox(lines).await;
    let mut output = Output::new(100, None);
    let error = sandbox.run(command("echo hi"), &mut output).await.expect_err("it broke");
    assert!(matches!(error.kind(), ErrorKind::Unavailable | ErrorKind::NotRecorded), "{error}");
}

fn a_sandbox_is_made_as_the_official_client_makes_it() -> [&'static str; 1] {
    let theirs = official().remove(0);
    let mut options = options(&Replay::new([]));
    options.memory_mib = Some(1024);
    options.network = NetworkAccess::Only(vec!["example.com".to_owned()]);
    let config = DenoConfig::new(&options).unwrap();
    let labels = BTreeMap::from([("thread".to_owned(), "t1".to_owned())]);
    let ours = wire::create(&config, &labels, 1_795_247_172_548).unwrap();
    same_head(&ours, &theirs);
    let header = ours.headers.iter().find(|(name, _)| *name == "x-deno-sandbox-config").expect("a configuration");
    assert!(matches!(header.1, HeaderValue::Secret(_)), "it may hold secrets");
    let decoded = base64::engine::general_purpose::STANDARD.decode(header.1.expose()).expect("base64");
    let decoded: Value = serde_json::from_slice(&decoded).expect("JSON");
    assert_eq!(decoded, theirs["x_deno_sandbox_config_decoded"]);
    let many = (0..6).map(|number| (number.to_string(), String::new())).collect();
    assert_eq!(wire::create(&config, &many, 0).unwrap_err().kind(), ErrorKind::Unsupported);
    ["make"]
}

/// Method, path, and that the token is a secret.
fn same_head(ours: &Request, theirs: &Value) {
    let path = ours.url.splitn(4, '/').nth(3).map(|path| format!("/{path}")).unwrap_or_default();
    assert_eq!(
        (ours.method.as_str(), path.as_str()),
        (theirs["method"].as_str().unwrap(), theirs["path"].as_str().unwrap())
    );
    let bearer = ours.headers.iter().find(|(name, _)| *name == "authorization").expect("a token");
    assert!(matches!(&bearer.1, HeaderValue::Secret(secret) if secret.expose().starts_with(b"Bearer ddo_")));
}

fn lists_ends_and_connections_are_asked_for_as_by_the_official_client() -> [&'static str; 4] {
    let config = DenoConfig::new(&options(&Replay::new([]))).unwrap();
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
    let page = wire::listed(listed["reply"]["json"].to_string().as_bytes(), &labels).expect("a page");
    assert_eq!(page.sandboxes[0].id.as_str(), id);
    assert_eq!((&page.sandboxes[0].labels, page.cursor), (&labels, None));
    ["find", "delete", "list", "labels"]
}

#[tokio::test]
async fn why_the_service_closes_is_told_and_that_it_cannot_read_us_is_no_passing_failure() {
    for (code, reason, kind) in [
        (4000, "Invalid JSON", ErrorKind::Protocol),
        (4001, "Invalid message", ErrorKind::Protocol),
        (1001, "sandbox stopped", ErrorKind::Unavailable),
        (1006, "", ErrorKind::Unavailable),
    ] {
        let mut lines = session(&["spawn", "processWait"]);
        let waits = lines.iter().rposition(|line| matches!(line, Line::Ours(_))).expect("it waits");
        lines.truncate(waits + 1);
        lines.push(Line::Closed(code, reason.to_owned()));
        let sandbox = sandbox(lines).await;
        let error = sandbox.run(command("echo hi"), &mut Output::new(100, None)).await.expect_err("it closed");
        assert_eq!((error.kind(), error.retryable()), (kind, kind == ErrorKind::Unavailable), "{error}");
        assert!(error.to_string().contains(&code.to_string()) && error.to_string().contains(reason), "{error}");
    }
}

/// Both halves of a socket on which nobody answers.
struct Silent(futures_channel::mpsc::UnboundedSender<String>);

impl socket::Sender for Silent {
    fn send(&mut self, text: String) -> BoxFuture<'_, Result<()>> {
        let _ = self.0.unbounded_send(text);
        Box::pin(async { Ok(()) })
    }

    fn close(&mut self) -> BoxFuture<'_, Result<()>> {
        Box::pin(async { Ok(()) })
    }
}

impl socket::Receiver for Silent {
    fn next(&mut self) -> BoxFuture<'_, Result<Option<socket::Message>>> {
        Box::pin(std::future::pending())
    }
}

#[tokio::test]
async fn a_connection_on_which_nothing_happens_gives_signs_of_life_for_as_long_as_somebody_has_it() {
    let (said, mut heard) = futures_channel::mpsc::unbounded();
    let silent = || Box::new(Silent(said.clone()));
    let connection = Connection::new(socket::Socket { headers: Vec::new(), sender: silent(), receiver: silent() });
    drop(said);
    let begun = std::time::Instant::now();
    for _ in 0..2 {
        let sign = tokio::time::timeout(Duration::from_secs(60), heard.next()).await.expect("it comes");
        assert_eq!(sign.as_deref(), Some("ping"));
    }
    assert!(begun.elapsed() >= Duration::from_secs(3), "not all the time");
    drop(connection);
    let after = tokio::time::timeout(Duration::from_secs(60), heard.next()).await.expect("its halves are let go");
    assert_eq!(after, None);
}

#[test]
fn every_recorded_message_of_the_service_is_read() {
    let recorded = official().remove(0)["ws"].as_array().expect("messages").clone();
    let mut read = 0;
    for message in recorded.iter().filter(|message| message["from"] != "client") {
        wire::incoming(&message["json"].to_string()).expect("it is read");
        read += 1;
    }
    assert!(read > 20, "{read} messages");
    assert_eq!(wire::incoming("pong").unwrap(), Incoming::Other);
    assert_eq!(wire::incoming("<html>").unwrap_err().kind(), ErrorKind::Protocol);
    let missing = r#"{"jsonrpc":"2.0","id":3,"error":{"code":-32601,"message":"Method not found"}}"#;
    let refusal = Refusal { message: "Method not found".to_owned(), ..Refusal::default() };
    assert_eq!(wire::incoming(missing).unwrap(), Incoming::Answer(3, Err(refusal)));
}

#[test]
fn refusals_of_files_have_their_codes_by_either_of_their_names() {
    let code = |class: Option<&str>, code: Option<&str>| {
        let (class, code) = (class.map(str::to_owned), code.map(str::to_owned));
        Refusal { constructor_name: class, message: "m".to_owned(), code }.of_file(b"/x").map(|error| error.code)
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
fn the_ends_of_a_command_are_told_apart() {
    let ending = |value: Value| serde_json::from_value::<Waited>(value).expect("it is read").ending();
    assert_eq!(ending(json!({ "success": false, "code": 3, "signal": null, "oom": null })), Ending::Exit(3));
    assert_eq!(ending(json!({ "success": false, "code": 137, "signal": "SIGKILL" })), Ending::Exit(137));
    assert_eq!(ending(json!({ "success": false, "code": null, "signal": null })), Ending::Unknown, "null stays null");
    assert_eq!(ending(json!({ "success": false, "signal": "SIGNEW" })), Ending::Unknown);
}

#[tokio::test]
async fn no_credential_is_printed() {
    let refused = Exchange::new("GET /api/v3/sandboxes/create", 401, r#"{"code":"INVALID_TOKEN","message":"no"}"#);
    let replay = Replay::new([refused]);
    let mut options = options(&replay);
    options.env = vec![("SECRET".to_owned(), "planted-value".to_owned())];
    let control = DenoControl::new(options).expect("the options are good");
    let error = control.create(&BTreeMap::new(), None).await.expect_err("the token is wrong");
    assert_eq!(error.kind(), ErrorKind::Unauthenticated);
    let printed = format!("{error:?} {error} {:?} {:?}", replay.seen(), DenoConfig::new(&self::options(&replay)));
    assert!(!printed.contains("planted"), "{printed}");
}
