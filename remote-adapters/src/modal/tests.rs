//! Compares messages with those written by the official client's classes, and pure functions with recordings.

use std::collections::BTreeMap;
use std::time::Duration;

use bytes::Bytes;
use prost::Message;
use serde_json::Value;
use tidebox_core::{ErrorKind, FileErrorCode, ListRequest, OutputStream, Secret};

use super::config::ModalConfig;
use super::messages::*;
use super::wire::{self, RouterEndpoint};
use crate::data_plane::{Command, CommandOutcome};
use crate::options::{NetworkAccess as Access, Options};
use crate::transport::{Frame, FrameReader, HeaderValue};

crate::trace_coverage::covered! {
    "modal" {
        every_message_matches_the_official_client: [make, run, streams, upload, list, labels, find, delete];
    }
}

fn config(change: impl FnOnce(&mut Options)) -> ModalConfig {
    let mut options = Options::default().with_api_key("ak-name:planted-secret");
    change(&mut options);
    ModalConfig::new(&options).unwrap()
}

fn task() -> RouterEndpoint {
    RouterEndpoint::new(
        "ta-1".to_owned(),
        RouterAccess { jwt: "planted-jwt".to_owned(), url: "https://router/".to_owned() },
    )
}

fn command() -> Command {
    let env = vec![("X".to_owned(), "1".to_owned())];
    Command { script: "echo hi".to_owned(), cwd: Some("/tmp".to_owned()), env, timeout: Duration::from_millis(1500) }
}

/// Decodes and re-encodes a message of the official client: nothing may be lost.
fn same<M: Message + Default + std::fmt::Debug>(messages: &BTreeMap<String, Vec<u8>>, name: &str) {
    let theirs = &messages[name];
    let read = M::decode(theirs.as_slice()).unwrap_or_else(|error| panic!("{name}: {error}"));
    assert_eq!(read.encode_to_vec(), *theirs, "{name} was read as {read:?}");
}

fn every_message_matches_the_official_client() -> [&'static str; 8] {
    let file: Value = serde_json::from_str(include_str!("../../traces/modal-messages.json")).unwrap();
    let digits =
        |text: &str| (0..text.len()).step_by(2).map(|at| u8::from_str_radix(&text[at..at + 2], 16).unwrap()).collect();
    let messages: BTreeMap<String, Vec<u8>> = file["messages"]
        .as_object()
        .unwrap()
        .iter()
        .map(|(name, hex)| (name.clone(), digits(hex.as_str().unwrap())))
        .collect();
    let mut seen = 0;
    macro_rules! all {
        ($($message:ident)*) => { $( same::<$message>(&messages, stringify!($message)); seen += 1; )* };
    }
    all!(AppGetOrCreateRequest AppGetOrCreateResponse EnvironmentGetOrCreateRequest EnvironmentGetOrCreateResponse
        ImageGetOrCreateRequest ImageGetOrCreateResponse ImageJoinStreamingRequest ImageJoinStreamingResponse
        AuthTokenGetResponse SandboxCreateV2Request SandboxCreateV2Response SandboxRequest SandboxGetTaskIdResponse
        RouterAccess RouterAccessRequest SandboxGetFromNameRequest SandboxGetFromNameResponse SandboxListRequest
        SandboxListResponse SandboxWaitRequest SandboxWaitResponse SandboxTerminateResponse SandboxTagsResponse
        SandboxTagsSetRequest TaskExecStartRequest TaskExecRequest TaskExecStdioReadRequest TaskExecStdioReadResponse
        TaskExecEndResponse TaskExecStdinWriteRequest TaskExecStdinWriteStreamRequest TaskExecStdinStatusResponse
        RpcRetryPolicy);
    for (name, of) in [("data", "TaskExecStdinWriteStreamRequest"), ("end", "TaskExecStdinWriteStreamRequest")] {
        same::<TaskExecStdinWriteStreamRequest>(&messages, &format!("{of}.{name}"));
        seen += 1;
    }
    same::<TaskExecEndResponse>(&messages, "TaskExecEndResponse.code");
    assert_eq!(seen + 1, messages.len(), "every message of the file was read");
    ["make", "run", "streams", "upload", "list", "labels", "find", "delete"]
}

#[test]
fn a_new_sandbox_matches_the_recorded_request() {
    let config = config(|options| {
        options.network = Access::Blocked;
        options.image = Some("python:3.12-slim".to_owned());
    });
    let labels = BTreeMap::from([("thread_id".to_owned(), "t1".to_owned())]);
    let env = [("A".to_owned(), "b".to_owned())];
    let response = wire::create(&config, ("ap-1", "im-1"), &labels, &env, None);
    let definition = response.definition.unwrap();
    assert_eq!(
        (response.app_id.as_str(), definition.image_id.as_str(), definition.timeout_secs),
        ("ap-1", "im-1", 1800)
    );
    assert_eq!(definition.network_access.unwrap().network_access_type, 2);
    assert_eq!(
        (definition.resources.unwrap().gpu_config, definition.open_ports),
        (Some(Empty {}), Some(PortSpecs::default()))
    );
    assert_eq!(response.tags, [SandboxTag { tag_name: "thread_id".to_owned(), tag_value: "t1".to_owned() }]);
    assert_eq!(response.secret_sources[0].env.as_ref().unwrap().contents["A"], "b");
    let image = wire::image(&config, "ap-1", "2025.06".to_owned());
    assert_eq!(
        (image.namespace, image.image.unwrap().dockerfile_commands),
        (1, vec!["FROM python:3.12-slim".to_owned()])
    );
    assert_eq!(wire::app(&config).object_creation_type, 1);
}

#[test]
fn hosts_and_address_ranges_are_distinguished() {
    let only =
        ["a.example", "*.b.example", "10.0.0.0/8", "2001:db8::/32", "c.example/path"].map(str::to_owned).to_vec();
    let config = config(|options| options.network = Access::Only(only));
    let response = wire::create(&config, ("ap-1", "im-1"), &BTreeMap::new(), &[], None);
    let access = response.definition.unwrap().network_access.unwrap();
    assert_eq!(access.network_access_type, 3);
    assert_eq!(access.allowed_cidrs, ["10.0.0.0/8", "2001:db8::/32"]);
    assert_eq!(access.allowed_domains, ["a.example", "*.b.example", "c.example/path"]);
}

#[test]
fn a_command_matches_the_recording() {
    let mark = ("TIDEBOX_EXEC_ID".to_owned(), "e".to_owned());
    let response = wire::start_command(&task(), "e", "bash", &command(), mark);
    assert_eq!(response.command_args, ["bash", "-c", "echo hi"]);
    assert_eq!((response.stdout_config, response.stderr_config, response.workdir.as_deref()), (1, 1, Some("/tmp")));
    assert_eq!(response.timeout_secs, Some(4), "a second and a half, two more, rounded up");
    let env = &response.secret_sources[0].env.as_ref().unwrap().contents;
    assert_eq!((env["X"].as_str(), env["TIDEBOX_EXEC_ID"].as_str()), ("1", "e"));
}

#[test]
fn input_is_sent_as_interface_messages() {
    let input = Bytes::from((0..600_000_u32).map(|n| (n % 251) as u8).collect::<Vec<u8>>());
    for from in [0, 1, 262_144, 600_000] {
        let request = task().input("e", &input, from);
        let frames = FrameReader::default().push(&request.body.concat()).unwrap();
        let messages: Vec<_> = frames
            .into_iter()
            .map(|frame| TaskExecStdinWriteStreamRequest::decode(frame.message.clone()).unwrap().payload.unwrap())
            .collect();
        let (first, rest) = messages.split_first().unwrap();
        let (last, data) = rest.split_last().unwrap();
        assert!(matches!(first, StdinPayload::Start(start) if start.offset == from as u64 && start.exec_id == "e"));
        assert_eq!(*last, StdinPayload::End(Empty {}));
        let sent: Vec<u8> = data
            .iter()
            .flat_map(|payload| match payload {
                StdinPayload::Data(data) => data.to_vec(),
                other => panic!("{other:?} is no data"),
            })
            .collect();
        assert!(sent == input[from..], "from {from}");
    }
}

#[test]
fn credentials_are_secret_headers() {
    let config = config(|_| {});
    let request = wire::control(&config, wire::control::TOKEN, &Empty {}, Some(&Secret::new("planted-token")));
    let value = |name: &str| {
        let header = request.headers.iter().find(|(given, _)| *given == name);
        header.map(|(_, value)| String::from_utf8_lossy(value.expose()).into_owned())
    };
    assert_eq!(value("x-modal-token-id").as_deref(), Some("ak-name"));
    assert_eq!(value("x-modal-token-secret").as_deref(), Some("planted-secret"));
    assert_eq!(value("x-modal-auth-token").as_deref(), Some("planted-token"));
    assert_eq!(
        (value("te").as_deref(), value("content-type").as_deref()),
        (Some("trailers"), Some("application/grpc"))
    );
    assert_eq!(request.body.concat(), Frame::write(0, b""));
    let call = task().exec_request(wire::router::WAIT, "e");
    assert_eq!(call.url, "https://router/modal.task_command_router.TaskCommandRouter/TaskExecWait");
    assert!(
        call.headers.iter().any(|(name, value)| *name == "authorization" && matches!(value, HeaderValue::Secret(_)))
    );
    let access = || Some(RouterAccess { jwt: "planted-jwt".to_owned(), url: "https://router/".to_owned() });
    let made = SandboxCreateV2Response {
        command_router_access: access(),
        sandbox_token: "planted-own-token".to_owned(),
        ..SandboxCreateV2Response::default()
    };
    let token = AuthTokenGetResponse { token: "planted-token".to_owned() };
    let variables = vec![("X".to_owned(), "planted-variable".to_owned())];
    let response = wire::create(&config, ("ap-1", "im-1"), &BTreeMap::new(), &variables, None);
    let shown = format!("{request:?} {call:?} {config:?} {:?} {made:?} {token:?} {response:?}", task());
    assert!(!shown.contains("planted") && shown.contains("https://router/") && shown.contains('X'), "{shown}");
}

#[test]
fn the_cursor_is_the_last_creation_time() {
    let config = config(|_| {});
    let sandbox = SandboxInfo { id: "sb-1".to_owned(), created_at: 1000.125, ..SandboxInfo::default() };
    let page = wire::parse_list(SandboxListResponse { sandboxes: vec![sandbox] }).unwrap();
    let request = ListRequest { cursor: page.cursor, labels: BTreeMap::new() };
    assert_eq!(wire::list(&config, "ap-1", &request).unwrap().before_timestamp, 1000.125);
    assert_eq!(wire::parse_list(SandboxListResponse::default()).unwrap().cursor, None);
    let wrong = ListRequest { cursor: Some("elsewhere".to_owned()), labels: BTreeMap::new() };
    assert_eq!(wire::list(&config, "ap-1", &wrong).unwrap_err().kind(), ErrorKind::InvalidRequest);
}

#[test]
fn outcomes_and_errors_are_parsed() {
    let end = |exit_status| wire::outcome(TaskExecEndResponse { exit_status });
    assert_eq!(end(Some(ExitStatus::Code(3))), CommandOutcome::Exit(3));
    assert_eq!(end(Some(ExitStatus::Signal(15))), CommandOutcome::Exit(143));
    assert_eq!(end(None), CommandOutcome::Unknown);
    let path = tidebox_core::SandboxPath::parse("/a").unwrap();
    let rejection =
        |json: &str| wire::file_error(json.as_bytes(), &path).map(|error| error.code).map_err(|error| error.kind());
    assert_eq!(
        rejection("{\"error_kind\": \"NotFound\", \"message\": \"No such file\"}\n"),
        Ok(FileErrorCode::FileNotFound)
    );
    assert_eq!(rejection("{\"error_kind\":\"AlreadyExists\",\"message\":\"x\"}"), Ok(FileErrorCode::NotADirectory));
    assert_eq!(rejection("{\"error_kind\":\"Io\",\"message\":\"No space left\"}"), Ok(FileErrorCode::NoSpace));
    assert_eq!(rejection("{\"error_kind\":\"New\",\"message\":\"x\"}"), Ok(FileErrorCode::InvalidPath));
    assert_eq!(rejection("killed"), Err(ErrorKind::Protocol));
    assert_eq!(wire::read_file(&path)[1], "{\"ReadFile\":{\"path\":\"/a\"}}");
    let read = task().read("e", OutputStream::Stderr, 9);
    let frame = FrameReader::default().push(&read.body.concat()).unwrap().remove(0);
    let read = TaskExecStdioReadRequest::decode(frame.message.clone()).unwrap();
    assert_eq!((read.offset, read.file_descriptor), (9, 1));
}
