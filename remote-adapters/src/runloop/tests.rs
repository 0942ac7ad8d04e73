//! Compares requests with those of the official client, and parses responses in the service's format.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value, json};
use tidebox_core::{ErrorKind, ListRequest, OutputChunk, PortEndpoint, SandboxId, SandboxPath};

use super::wire::{self, State};
use super::*;
use crate::data_plane::{Command, CommandOutcome};
use crate::transport::multipart;
use crate::transport::{Client, RecordedExchange, ReplayTransport, Request, Response, RetryHint, RetryPolicy};
use crate::{ControlPlane as _, DataPlane as _, NetworkAccess, Options, OutputCollector};

crate::trace_coverage::covered! {
    "runloop" {
        create_devbox_matches_the_official_client: [make];
        devbox_requests_match_the_official_client: [find, wake, delete, list];
        commands_and_files_match_the_official_client: [run, streams, upload, download];
        every_recorded_devbox_and_error_is_parsed: [run, find, list];
    }
}

/// Recorded requests of the official client.
const OFFICIAL: &str = include_str!("../../traces/runloop-sdk.json");

fn options(replay: &Arc<ReplayTransport>) -> Options {
    let mut options = Options::default().with_api_key("planted-runloop-key").with_api_url("http://host");
    options.transport = Some(Arc::<ReplayTransport>::clone(replay));
    options
}

fn config() -> RunloopConfig {
    RunloopConfig::new(&options(&ReplayTransport::new([]))).expect("a key is set")
}

fn sandbox(replay: &Arc<ReplayTransport>) -> RunloopSandbox {
    let retry = RetryPolicy { attempts: 1, ..RetryPolicy::default() };
    let client = Client::new(Arc::<ReplayTransport>::clone(replay), retry);
    RunloopSandbox::new(&config(), SandboxId::parse("dbx_31").expect("an id"), client)
}

fn command(script: &str) -> Command {
    Command { script: script.to_owned(), cwd: None, env: Vec::new(), timeout: Duration::from_secs(30) }
}

fn block_on<T>(future: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_current_thread().enable_time().build().expect("a runtime").block_on(future)
}

/// Returns the official client's first request of this phase.
fn official(phase: &str) -> Value {
    let trace: Value = serde_json::from_str(OFFICIAL).expect("the trace is JSON");
    let requests = trace["runs"][0]["requests"].as_array().expect("a list of requests").clone();
    requests.into_iter().find(|request| request["phase"] == phase).unwrap_or_else(|| panic!("{phase}"))
}

/// Asserts equal method and path, and equal values of the shared headers.
fn same_head(ours: &Request, theirs: &Value) {
    let path = ours.url.splitn(4, '/').nth(3).map(|path| format!("/{path}")).unwrap_or_default();
    let their_path = theirs["path"].as_str().unwrap_or_default();
    assert_eq!((ours.method.as_str(), path.as_str()), (theirs["method"].as_str().unwrap_or_default(), their_path));
    for name in ["authorization", "x-request-id"] {
        let sent = ours.headers.iter().any(|(given, _)| *given == name);
        assert_eq!(sent, theirs["headers"].get(name).is_some(), "{name} of {path}");
    }
}

fn body(request: &Request) -> Value {
    serde_json::from_slice(&request.body.concat()).expect("a body of JSON")
}

fn create_devbox_matches_the_official_client() -> [&'static str; 1] {
    let mut options = options(&ReplayTransport::new([]));
    options.image = Some("bp".to_owned());
    let config = RunloopConfig::new(&options).expect("valid options");
    let labels = BTreeMap::from([("thread_id".to_owned(), "t 1".to_owned())]);
    let request = wire::create(&config, &labels, &[("A".to_owned(), "b".to_owned())], None);
    let mut theirs = official("create");
    // Intended differences: waiting is a separate request, so that a devbox that fails to start has a known id and can
    // be deleted; devboxes are unnamed and not suspended when idle.
    theirs["path"] = json!("/v1/devboxes");
    same_head(&request, &theirs);
    let mut expected = theirs["body"]["value"].clone();
    expected.as_object_mut().expect("fields").remove("name");
    expected["launch_parameters"].as_object_mut().expect("fields").remove("after_idle");
    assert_eq!(body(&request), expected);
    ["make"]
}

#[test]
fn sizes_and_policies_are_launch_parameters() {
    let mut options = options(&ReplayTransport::new([]));
    (options.cpus, options.memory_mib, options.disk_mib) = (Some(2), Some(4000), Some(9 << 10));
    options.network = NetworkAccess::Only(vec!["pypi.org".to_owned(), "192.0.2.0/24".to_owned()]);
    let config = RunloopConfig::new(&options).expect("valid options");
    let launch = body(&wire::create(&config, &BTreeMap::new(), &[], Some("np_1")))["launch_parameters"].clone();
    let expected = json!({
        "keep_alive_time_seconds": 1800,
        "resource_size_request": "CUSTOM_SIZE",
        "custom_cpu_cores": 2,
        "custom_gb_memory": 4,
        "custom_disk_size": 10,
        "network_policy_id": "np_1",
    });
    assert_eq!(launch, expected);
    let network = config.network.clone().expect("a policy");
    let name = wire::policy_name(&network);
    let expected = json!({
        "name": name, "allow_all": false,
        "allowed_hostnames": ["pypi.org"],
        "allowed_cidrs": [{ "cidr": "192.0.2.0/24" }],
    });
    assert_eq!(body(&wire::create_policy(&config, &name, &network)), expected);
    assert_ne!(wire::policy_name(&super::config::Network::default()), name, "different policies have different names");
}

fn devbox_requests_match_the_official_client() -> [&'static str; 4] {
    let config = config();
    same_head(&wire::get(&config, "dbx_31"), &official("retrieve"));
    same_head(&wire::change_state(&config, "dbx_31", "resume"), &official("resume (raw)"));
    same_head(&wire::change_state(&config, "dbx_31", "shutdown"), &official("delete = shutdown"));
    let wait = wire::wait_for_devbox(&config, "dbx_31", &["running", "failure", "shutdown"], Duration::from_secs(99));
    let theirs = official("from_id");
    same_head(&wait, &theirs);
    assert_eq!(body(&wait), theirs["body"]["value"]);
    let url = wire::list(&config, "running", Some("dbx_31")).url;
    // Intended differences: longer pages, and no total count.
    let theirs = official("low level list page 2")["path"].as_str().expect("a path").replace("limit=1&", "limit=1000&");
    assert_eq!(url, format!("http://host{theirs}&include_total_count=false"));
    ["find", "wake", "delete", "list"]
}

fn commands_and_files_match_the_official_client() -> [&'static str; 4] {
    let config = config();
    let name = "018f0000-0000-7000-8000-000000000000";
    let ours = wire::execute(&config, "dbx_31", "echo hi", name, Duration::from_secs(60));
    let theirs = official("low level execute (long poll variant)");
    same_head(&ours, &theirs);
    assert_eq!(body(&ours), theirs["body"]["value"]);
    let wait = wire::wait_for_command(&config, "dbx_31", "exec_9", Duration::from_secs(60));
    let trace: Value = serde_json::from_str(OFFICIAL).expect("the trace is JSON");
    let theirs = &trace["runs"][0]["requests"][2];
    same_head(&wait, theirs);
    assert_eq!(body(&wait), theirs["body"]["value"]);
    assert!(wait.header_timeout >= Duration::from_secs(25 + 5), "the client timeout exceeds the long poll");
    same_head(&wire::updates(&config, "dbx_31", "exec_9", "stdout", 0), &trace["runs"][0]["requests"][7]);
    let path = SandboxPath::parse("/home/user/a.bin").expect("a path");
    let ours = wire::upload(&config, "dbx_31", &path, bytes::Bytes::from_static(b"\0\xffhello"));
    let theirs = official("langchain upload_files");
    same_head(&ours, &theirs);
    let media_type = ours.headers.iter().find(|(name, _)| *name == "content-type").expect("a type");
    let parts = multipart::read(&String::from_utf8_lossy(media_type.1.expose()), &ours.body.concat()).expect("parts");
    let reported: Vec<_> = parts.iter().map(|part| (part.name.as_str(), part.file.as_deref())).collect();
    assert_eq!(reported, [("path", None), ("file", Some("upload"))]);
    let ours = wire::download(&config, "dbx_31", &path);
    let theirs = official("langchain download_files");
    same_head(&ours, &theirs);
    assert_eq!(body(&ours), theirs["body"]["value"]);
    ["run", "streams", "upload", "download"]
}

#[test]
fn request_ids_are_increasing_version_7_uuids() {
    let (one, two) = (wire::uuid7(), wire::uuid7());
    assert_ne!(one, two);
    let parts: Vec<usize> = one.split('-').map(str::len).collect();
    assert_eq!((parts, &one[14..15]), (vec![8, 4, 4, 4, 12], "7"));
    assert!(matches!(&one[19..20], "8" | "9" | "a" | "b"), "{one}");
    assert!(one[..13] <= two[..13], "{one} {two}");
}

#[test]
fn a_line_sets_directory_variables_and_timeout() {
    let with = Command {
        cwd: Some("/a b".to_owned()),
        env: vec![("X".to_owned(), "it's $HOME".to_owned())],
        ..command("echo \"$X\"")
    };
    let line = wire::line(&with, "bash", Duration::from_millis(60_500));
    assert!(line.starts_with("cd '/a b' || exit 1; "), "{line}");
    assert!(line.contains("timeout -s KILL 61;"), "{line}");
    assert!(line.ends_with(r#"exec env 'X=it'\''s $HOME' "$@" 'bash' -c 'echo "$X"' </dev/null"#), "{line}");
}

#[cfg(target_os = "linux")]
#[test]
fn a_line_runs_in_the_host_shell() {
    let with = Command {
        cwd: Some("/tmp".to_owned()),
        env: vec![("X".to_owned(), "it's".to_owned())],
        ..command("pwd; echo $X $0; exit 3")
    };
    let line = wire::line(&with, "bash", Duration::from_secs(60));
    let output = std::process::Command::new("sh").arg("-c").arg(line).output().expect("the shell is installed");
    assert_eq!((output.status.code(), output.stdout.as_slice()), (Some(3), b"/tmp\nit's bash\n".as_slice()));
    let nowhere = Command { cwd: Some("/nope".to_owned()), ..command("echo ran") };
    let line = wire::line(&nowhere, "bash", Duration::from_secs(60));
    let output = std::process::Command::new("sh").arg("-c").arg(line).output().expect("the shell is installed");
    assert_eq!((output.status.code(), output.stdout.as_slice()), (Some(1), b"".as_slice()));
}

fn view(status: &str, fields: Value) -> String {
    let mut view = json!({ "devbox_id": "dbx_31", "execution_id": "exec_9", "status": status });
    for (name, value) in fields.as_object().expect("fields") {
        view[name] = value.clone();
    }
    view.to_string()
}

const EXECUTE: &str = "POST /v1/devboxes/dbx_31/execute";
const WAIT: &str = "POST /v1/devboxes/dbx_31/executions/exec_9/wait_for_status";
const STDOUT: &str = "GET /v1/devboxes/dbx_31/executions/exec_9/stream_stdout_updates";

#[test]
fn a_short_command_is_one_request() {
    let over = view("completed", json!({ "exit_status": 3, "stdout": "out\n", "stderr": "err\n" }));
    let replay = ReplayTransport::new([RecordedExchange::new(EXECUTE, 200, over.clone())]);
    let mut output = OutputCollector::new(1 << 20, None);
    assert_eq!(
        block_on(sandbox(&replay).run(command("x"), &mut output)).expect("the command runs"),
        CommandOutcome::Exit(3)
    );
    let response = output.into_response();
    assert_eq!((&*response.stdout, &*response.stderr), (b"out\n".as_slice(), b"err\n".as_slice()));
    let replay = ReplayTransport::new([
        RecordedExchange::new(EXECUTE, 200, view("running", json!({}))),
        RecordedExchange::new(WAIT, 408, "{\"message\":\"timed out\"}"),
        RecordedExchange::new(WAIT, 200, over),
    ]);
    let mut output = OutputCollector::new(1 << 20, None);
    assert_eq!(
        block_on(sandbox(&replay).run(command("x"), &mut output)).expect("the command runs"),
        CommandOutcome::Exit(3)
    );
    assert_eq!(replay.remaining(), 0);
}

#[test]
fn a_missing_exit_status_stays_missing() {
    let replay =
        ReplayTransport::new([RecordedExchange::new(EXECUTE, 200, view("completed", json!({ "exit_status": null })))]);
    let mut output = OutputCollector::new(1, None);
    assert_eq!(
        block_on(sandbox(&replay).run(command("x"), &mut output)).expect("the command runs"),
        CommandOutcome::Unknown
    );
}

#[test]
fn possibly_truncated_output_is_fetched_again() {
    let hundred: String = (0..100).map(|_| "x\n").collect();
    for reported in [
        json!({ "exit_status": 0, "stdout": "b\n", "stdout_truncated": true }),
        json!({ "exit_status": 0, "stdout": hundred, "stdout_truncated": false }),
    ] {
        // The second event overlaps the first, as after a disconnect.
        let events = "data: {\"output\":\"a\\nb\",\"offset\":0}\n\ndata: {\"output\":\"b\\nc\\n\",\"offset\":2}\n\n";
        let replay = ReplayTransport::new([
            RecordedExchange::new(EXECUTE, 200, view("completed", reported)),
            RecordedExchange::new(STDOUT, 200, events),
        ]);
        let mut output = OutputCollector::new(1 << 20, None);
        block_on(sandbox(&replay).run(command("x"), &mut output)).expect("the command runs");
        let response = output.into_response();
        assert_eq!((&*response.stdout_text(), response.truncated), ("a\nb\nc\n", false));
    }
}

#[test]
fn a_lost_output_stream_fails_instead_of_truncating() {
    let reported = json!({ "exit_status": 0, "stdout": "b\n", "stdout_truncated": true });
    let replay = ReplayTransport::new([
        RecordedExchange::new(EXECUTE, 200, view("completed", reported)),
        RecordedExchange::new(STDOUT, 404, "{\"code\":\"not_found\",\"message\":\"gone\"}"),
    ]);
    let mut output = OutputCollector::new(1 << 20, None);
    let error = block_on(sandbox(&replay).run(command("x"), &mut output)).expect_err("the output is lost");
    assert_eq!(error.kind(), ErrorKind::SandboxNotFound);
}

fn every_recorded_devbox_and_error_is_parsed() -> [&'static str; 3] {
    let trace: Value = serde_json::from_str(OFFICIAL).expect("the trace is JSON");
    let mut read = 0;
    for request in trace["runs"][0]["requests"].as_array().expect("requests") {
        let reply = &request["reply"]["json"];
        if reply["launch_parameters"].is_object() {
            let devbox: wire::Devbox = wire::parse("x", reply.to_string().as_bytes()).expect("a devbox");
            assert!(matches!(devbox.state(), State::Ready | State::Gone), "{devbox:?}");
            read += 1;
        }
        if reply["execution_id"].is_string() {
            let execution: wire::Execution = wire::parse("x", reply.to_string().as_bytes()).expect("an execution");
            assert_eq!(execution.is_finished(), execution.exit_status.is_some());
            read += 1;
        }
        if reply["devboxes"].is_array() {
            let page: wire::Page = wire::parse("x", reply.to_string().as_bytes()).expect("a page");
            assert_eq!(page.devboxes.len(), 1);
            read += 1;
        }
    }
    assert!(read > 12, "{read} replies");
    let missing = official("retrieve missing")["reply"]["json"].to_string();
    assert_eq!(wire::failure("x", 404, missing.as_bytes()).kind(), ErrorKind::SandboxNotFound);
    ["run", "find", "list"]
}

#[test]
fn a_list_covers_all_statuses() {
    let page = |ids: &[&str], more: bool| {
        let devboxes: Vec<Value> =
            ids.iter().map(|id| json!({ "id": id, "status": "running", "metadata": { "a": id } })).collect();
        json!({ "devboxes": devboxes, "has_more": more }).to_string()
    };
    let message = |status: &str, behind: &str| {
        format!("GET /v1/devboxes?limit=1000{behind}&status={status}&include_total_count=false")
    };
    let replay = ReplayTransport::new([
        RecordedExchange::new(message("queued", ""), 200, page(&[], false)),
        RecordedExchange::new(message("provisioning", ""), 200, page(&["dbx_1"], false)),
        RecordedExchange::new(message("initializing", ""), 200, page(&[], false)),
        RecordedExchange::new(message("resuming", ""), 200, page(&[], false)),
        RecordedExchange::new(message("running", ""), 200, page(&["dbx_2"], true)),
        RecordedExchange::new(message("running", "&starting_after=dbx_2"), 200, page(&[], false)),
        RecordedExchange::new(message("suspending", ""), 200, page(&[], false)),
        RecordedExchange::new(message("suspended", ""), 200, page(&[], false)),
    ]);
    let control = RunloopControl::new(options(&replay)).expect("valid options");
    let mut request = ListRequest::default();
    let mut seen = Vec::new();
    loop {
        let page = block_on(control.list(request)).expect("a page");
        seen.extend(page.sandboxes.into_iter().map(|info| info.id.as_str().to_owned()));
        let Some(cursor) = page.cursor else { break };
        request = ListRequest { cursor: Some(cursor), labels: BTreeMap::new() };
    }
    assert_eq!((seen, replay.remaining()), (vec!["dbx_1".to_owned(), "dbx_2".to_owned()], 0));
    let wrong = ListRequest { cursor: Some("nonsense".to_owned()), labels: BTreeMap::new() };
    assert_eq!(block_on(control.list(wrong)).expect_err("no cursor").kind(), ErrorKind::InvalidRequest);
}

#[test]
fn retry_headers_are_respected() {
    let hint = |status, headers: &[(&str, &str)]| {
        let headers = headers.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
        wire::hint(&Response::new(status, headers, crate::transport::recorded_body(b"")))
    };
    assert_eq!(hint(429, &[("retry-after-ms", "1500")]), RetryHint::Retry(Some(Duration::from_millis(1500))));
    assert_eq!(hint(409, &[("x-should-retry", "true")]), RetryHint::Retry(None));
    assert_eq!(hint(503, &[("x-should-retry", "false")]), RetryHint::Final);
    assert_eq!(hint(500, &[]), RetryHint::Retry(None));
    assert_eq!(hint(408, &[]), RetryHint::Final, "a timed-out long poll is a response");
    assert_eq!(hint(400, &[]), RetryHint::None);
}

#[test]
fn a_streamed_command_delivers_output_immediately() {
    let replay = ReplayTransport::new([RecordedExchange::new(
        EXECUTE,
        200,
        view("completed", json!({ "exit_status": 0, "stdout": "a\n", "stderr": "b\n" })),
    )]);
    let mut chunks = Vec::new();
    let mut sink = |event: OutputChunk| chunks.push(event.bytes);
    let mut output = OutputCollector::new(1 << 20, Some(&mut sink));
    block_on(sandbox(&replay).run(command("x"), &mut output)).expect("the command runs");
    drop(output);
    assert_eq!(chunks, [b"a\n".to_vec(), b"b\n".to_vec()]);
    // The wait is short enough that output is shown while the command runs.
    assert_eq!(body(&replay.requests()[0])["optimistic_timeout"], 1);
}

#[test]
fn no_credential_is_printed() {
    let replay = ReplayTransport::new([RecordedExchange::new(EXECUTE, 401, "{\"message\":\"no\"}")]);
    let sandbox = sandbox(&replay);
    let mut output = OutputCollector::new(1, None);
    let error = block_on(sandbox.run(command("x"), &mut output)).expect_err("refused");
    assert_eq!(error.kind(), ErrorKind::Unauthenticated);
    let seen = replay.requests();
    let printed = format!("{sandbox:?} {error:?} {error} {seen:?} {:?}", RunloopControl::new(options(&replay)));
    assert!(!printed.contains("planted"), "{printed}");
    let sent =
        seen[0].headers.iter().find(|(name, _)| *name == "authorization").map(|(_, value)| value.expose().to_vec());
    assert_eq!(sent.as_deref(), Some(b"Bearer planted-runloop-key".as_slice()));
}

#[test]
fn a_tunnel_has_an_address_for_each_port() {
    let address = |api_url: &str, tunnel: &str| {
        let options = Options::default().with_api_key("planted-runloop-key").with_api_url(api_url);
        let config = RunloopConfig::new(&options).unwrap();
        serde_json::from_str::<wire::Tunnel>(tunnel).unwrap().endpoint(&config, 8000)
    };
    let open = r#"{ "tunnel_key": "k1", "auth_token": null }"#;
    let private = r#"{ "tunnel_key": "k1", "auth_token": "secret" }"#;
    let endpoint = address("https://api.runloop.ai", private).unwrap();
    assert_eq!(endpoint.url, "https://8000-k1.tunnel.runloop.ai");
    let [(name, value)] = endpoint.headers.as_slice() else { panic!("one header") };
    assert_eq!((name.as_str(), value.expose()), ("x-runloop-tunnel-authorization", b"Bearer secret".as_slice()));
    assert_eq!(
        address("http://127.0.0.1:4000", open).unwrap(),
        PortEndpoint::new("http://8000-k1.tunnel.localhost:4000")
    );
    let evil = address("https://api.runloop.ai", r#"{ "tunnel_key": "k.evil.example/" }"#);
    assert_eq!(evil.unwrap_err().kind(), ErrorKind::Protocol);
}
