//! Values to requests and replies to values. The table of calls is here and nowhere else.
//!
//! Source: the official clients (PyPI `modal` 1.6.4, npm `modal` 0.11.1) and the interfaces that they bring along.

use std::collections::BTreeMap;
use std::time::Duration;

use bytes::Bytes;
use prost::Message;
use serde::Deserialize;
use serde_json::json;
use tidebox_core::{
    Error, ErrorKind, FileError, FileErrorCode, ListPage, ListRequest, OutputStream, Result, SandboxId, SandboxPath,
    Secret,
};

use super::call::{request, stream_request};
use super::config::{ModalConfig, whole_seconds};
use super::messages::{self as proto, *};
use crate::options::NetworkAccess as Access;
use crate::plane::{Command, Ending};
use crate::transport::{Frame, Request};

/// The version of the Python client that it behaves like, as the clients in other languages say it.
const VERSION: &str = "1.0.0";

/// The kind of client: one of those in other languages.
const KIND: &str = "9";

/// The paths of the control plane's calls.
pub mod control {
    macro_rules! calls {
        ($($name:ident = $call:literal),* $(,)?) => { $(
            #[doc = concat!("`", $call, "`")]
            pub const $name: &str = concat!("/modal.client.ModalClient/", $call);
        )* };
    }
    calls! {
        HELLO = "ClientHello",
        APP = "AppGetOrCreate",
        ENVIRONMENT = "EnvironmentGetOrCreate",
        IMAGE = "ImageGetOrCreate",
        IMAGE_BY_ID = "ImageFromId",
        IMAGE_JOIN = "ImageJoinStreaming",
        TOKEN = "AuthTokenGet",
        CREATE = "SandboxCreateV2",
        TASK = "SandboxGetTaskIdV2",
        ROUTER = "SandboxGetCommandRouterAccess",
        BY_NAME = "SandboxGetFromNameV2",
        LIST = "SandboxListV2",
        WAIT = "SandboxWaitV2",
        TERMINATE = "SandboxTerminateV2",
        TAGS = "SandboxTagsGetV2",
        SET_TAGS = "SandboxTagsSetV2",
    }
}

/// The paths of the calls of a sandbox's router.
pub mod router {
    macro_rules! calls {
        ($($name:ident = $call:literal),* $(,)?) => { $(
            #[doc = concat!("`", $call, "`")]
            pub const $name: &str = concat!("/modal.task_command_router.TaskCommandRouter/", $call);
        )* };
    }
    calls! {
        START = "TaskExecStart",
        READ = "TaskExecStdioRead",
        WAIT = "TaskExecWait",
        POLL = "TaskExecPoll",
        WRITE = "TaskExecStdinWrite",
        WRITE_STREAM = "TaskExecStdinWriteStream",
        WRITTEN = "TaskExecStdinStatus",
    }
}

/// The program in every sandbox that reads and writes files.
pub const FILE_TOOL: &str = "/__modal/.bin/modal-sandbox-fs-tools";

/// All words of a command together may have so many bytes.
pub const ARGUMENT_BYTES: usize = 65_536;

/// A call of the control plane. `token` is the one that calls of sandboxes need.
pub fn control(config: &ModalConfig, path: &str, message: &impl Message, token: Option<&Secret>) -> Request {
    let key = format!("{:032x}", fastrand::u128(..));
    let request = request(&config.server_url, path, message)
        .header("x-modal-client-type", KIND)
        .header("x-modal-client-version", VERSION)
        .header("x-modal-token-id", config.token_id.as_str())
        .secret("x-modal-token-secret", config.token_secret.clone())
        // The same for every attempt, so that a call is done once.
        .header("x-idempotency-key", key);
    match token {
        Some(token) => request.secret("x-modal-auth-token", token.clone()),
        None => request,
    }
}

/// `AppGetOrCreate`
pub fn app(config: &ModalConfig) -> AppGetOrCreateRequest {
    AppGetOrCreateRequest {
        app_name: config.app.clone(),
        environment_name: config.environment.clone(),
        object_creation_type: 1,
    }
}

/// `ImageGetOrCreate` for an image of a registry.
pub fn image(config: &ModalConfig, app_id: &str, builder_version: String) -> ImageGetOrCreateRequest {
    let image = Image {
        dockerfile_commands: vec![format!("FROM {}", config.image)],
        gpu_config: Some(Empty {}),
        image_registry_config: Some(Empty {}),
    };
    ImageGetOrCreateRequest { image: Some(image), app_id: app_id.to_owned(), namespace: 1, builder_version }
}

/// `SandboxCreateV2`
pub fn create(
    config: &ModalConfig,
    (app_id, image_id): (&str, &str),
    labels: &BTreeMap<String, String>,
    env: &[(String, String)],
    name: Option<&str>,
) -> SandboxCreateV2Request {
    let regions = config.regions.clone();
    let definition = Sandbox {
        entrypoint_args: Vec::new(),
        image_id: image_id.to_owned(),
        resources: Some(Resources {
            memory_mb: config.memory_mib,
            milli_cpu: config.milli_cpus,
            gpu_config: Some(Empty {}),
        }),
        timeout_secs: config.timeout,
        workdir: None,
        scheduler_placement: (!regions.is_empty()).then_some(SchedulerPlacement { regions }),
        open_ports: Some(Empty {}),
        network_access: Some(network(&config.network)),
        name: name.map(str::to_owned),
        idle_timeout_secs: None,
    };
    SandboxCreateV2Request {
        app_id: app_id.to_owned(),
        definition: Some(definition),
        tags: tags(labels),
        secret_sources: variables(env),
    }
}

fn network(access: &Access) -> proto::NetworkAccess {
    let of_type = |network_access_type| proto::NetworkAccess { network_access_type, ..Default::default() };
    match access {
        Access::Default => of_type(1),
        Access::Blocked => of_type(2),
        Access::Only(hosts) => {
            let (allowed_cidrs, allowed_domains) = hosts.iter().cloned().partition(|host| is_range(host));
            proto::NetworkAccess { network_access_type: 3, allowed_cidrs, allowed_domains }
        }
    }
}

/// Whether it is a range of addresses, such as `10.0.0.0/8`.
fn is_range(host: &str) -> bool {
    host.split_once('/').is_some_and(|(address, _)| address.parse::<std::net::IpAddr>().is_ok())
}

/// Labels are tags here.
pub fn tags(labels: &BTreeMap<String, String>) -> Vec<SandboxTag> {
    labels.iter().map(|(name, value)| SandboxTag { tag_name: name.clone(), tag_value: value.clone() }).collect()
}

/// Variables of an environment.
fn variables(env: &[(String, String)]) -> Vec<SecretSource> {
    if env.is_empty() {
        return Vec::new();
    }
    vec![SecretSource { env: Some(StringMap { contents: env.iter().cloned().collect() }) }]
}

/// `SandboxListV2`. The cursor is the time at which the last sandbox of the page before was made.
///
/// # Errors
/// [`ErrorKind::InvalidRequest`] for a cursor that is none.
pub fn list(config: &ModalConfig, app_id: &str, request: &ListRequest) -> Result<SandboxListRequest> {
    let wrong = |_| Error::new(ErrorKind::InvalidRequest, "list", "the cursor is not one of an earlier page");
    let before_timestamp = request.cursor.as_deref().map_or(Ok(0.0), str::parse).map_err(wrong)?;
    Ok(SandboxListRequest {
        app_id: app_id.to_owned(),
        before_timestamp,
        environment_name: config.environment.clone(),
        include_finished: false,
        tags: tags(&request.labels),
    })
}

/// A page of a list. An empty one is the last.
///
/// # Errors
/// [`ErrorKind::InvalidRequest`] for a sandbox without a name.
pub fn listed(page: SandboxListResponse) -> Result<ListPage> {
    let cursor = page.sandboxes.last().map(|last| last.created_at.to_string());
    let info = |sandbox: proto::SandboxInfo| {
        let labels = sandbox.tags.into_iter().map(|tag| (tag.tag_name, tag.tag_value)).collect();
        Ok(tidebox_core::SandboxInfo { id: SandboxId::parse(sandbox.id)?, labels })
    };
    Ok(ListPage { sandboxes: page.sandboxes.into_iter().map(info).collect::<Result<_>>()?, cursor })
}

/// Whether something has come to its end.
pub fn is_over(result: Option<&GenericResult>) -> bool {
    result.is_some_and(|result| result.status != 0)
}

/// How the router of one sandbox is reached.
#[derive(Clone, Debug)]
pub struct Task {
    /// The name of what runs the sandbox.
    pub id: String,
    /// The router's address, without a slash at the end.
    pub url: String,
    /// The credential of its calls.
    pub token: Secret,
}

impl Task {
    /// A task whose router is reached like this.
    pub fn new(id: String, access: RouterAccess) -> Self {
        Self { id, url: access.url.trim_end_matches('/').to_owned(), token: Secret::new(access.jwt) }
    }

    /// A call of the router.
    pub fn call(&self, path: &str, message: &impl Message) -> Request {
        self.authorised(request(&self.url, path, message))
    }

    fn authorised(&self, request: Request) -> Request {
        let bearer = [b"Bearer ".as_slice(), self.token.expose()].concat();
        request.secret("authorization", Secret::new(bearer))
    }

    /// `TaskExecStdinWriteStream`: a command's input from a place on, and its end.
    pub fn input(&self, exec_id: &str, input: &Bytes, from: usize) -> Request {
        let offset = from as u64;
        let start = TaskExecStdinWriteStreamStart { task_id: self.id.clone(), exec_id: exec_id.to_owned(), offset };
        let message = |payload| TaskExecStdinWriteStreamRequest { payload: Some(payload) }.encode_to_vec();
        let mut pieces = vec![Bytes::from(Frame::write(0, &message(StdinPayload::Start(start))))];
        for at in (from..input.len()).step_by(CHUNK_BYTES) {
            let chunk = input.slice(at..input.len().min(at + CHUNK_BYTES));
            pieces.extend([data_head(chunk.len()), chunk]);
        }
        pieces.push(Bytes::from(Frame::write(0, &message(StdinPayload::End(Empty {})))));
        self.authorised(stream_request(&self.url, router::WRITE_STREAM).pieces("application/grpc", pieces))
    }

    /// `TaskExecStdioRead` from a place on.
    pub fn read(&self, exec_id: &str, stream: OutputStream, offset: u64) -> Request {
        let message = TaskExecStdioReadRequest {
            task_id: self.id.clone(),
            exec_id: exec_id.to_owned(),
            offset,
            file_descriptor: i32::from(stream == OutputStream::Stderr),
        };
        // A command may be silent as long as it may run; the connection itself is looked after by HTTP/2.
        self.call(router::READ, &message).patience(SILENCE, SILENCE)
    }

    /// A call with nothing but the names of task and command.
    pub fn of(&self, path: &str, exec_id: &str) -> Request {
        self.call(path, &TaskExecRequest { task_id: self.id.clone(), exec_id: exec_id.to_owned() })
    }

    /// `TaskExecWait`, which the server answers late.
    pub fn wait(&self, exec_id: &str) -> Request {
        let request = self.of(router::WAIT, exec_id).header("grpc-timeout", format!("{}S", WAIT.as_secs()));
        request.patience(WAIT + SLACK, WAIT + SLACK)
    }
}

/// How much input one message has, as in the official client.
const CHUNK_BYTES: usize = 256 * 1024;

/// How long one wait may take, as in the official client; it is asked again then.
const WAIT: Duration = Duration::from_secs(60);
const SLACK: Duration = Duration::from_secs(10);

/// Longer than a command may run.
const SILENCE: Duration = Duration::from_secs(25 * 60 * 60);

/// What stands before a chunk of input: the envelope, the number of the field and the length. Written here so that the chunk
/// itself need not be copied.
fn data_head(length: usize) -> Bytes {
    let mut field = vec![2 << 3 | 2];
    prost::encoding::encode_varint(length as u64, &mut field);
    let whole = u32::try_from(field.len() + length).unwrap_or(u32::MAX);
    Bytes::from([&[0], whole.to_be_bytes().as_slice(), field.as_slice()].concat())
}

/// `TaskExecStart` of any program.
pub fn start(task: &Task, exec_id: &str, words: Vec<String>, env: &[(String, String)]) -> TaskExecStartRequest {
    TaskExecStartRequest {
        task_id: task.id.clone(),
        exec_id: exec_id.to_owned(),
        command_args: words,
        stdout_config: 1,
        stderr_config: 1,
        timeout_secs: None,
        workdir: None,
        secret_sources: variables(env),
    }
}

/// How long after its time the service kills a command. We do it first; a client that is gone does not.
const BACKSTOP: Duration = Duration::from_secs(2);

/// `TaskExecStart` of a command line. `mark` is a variable by which its processes are known.
pub fn start_command(
    task: &Task,
    exec_id: &str,
    shell: &str,
    command: &Command,
    mark: (String, String),
) -> TaskExecStartRequest {
    let words = vec![shell.to_owned(), "-c".to_owned(), command.script.clone()];
    let env: Vec<(String, String)> = command.env.iter().cloned().chain([mark]).collect();
    TaskExecStartRequest {
        timeout_secs: Some(whole_seconds(command.time.saturating_add(BACKSTOP))),
        workdir: command.cwd.clone(),
        ..start(task, exec_id, words, &env)
    }
}

/// How a command ended. Its time is ours to keep, so a signal is a signal.
pub fn ending(end: TaskExecEndResponse) -> Ending {
    match end.exit_status {
        Some(ExitStatus::Code(code)) => Ending::Exit(code),
        Some(ExitStatus::Signal(signal)) => Ending::Exit(128 + signal),
        None => Ending::Unknown,
    }
}

/// What the file tool is told, to write a file.
pub fn write_file(path: &SandboxPath) -> Vec<String> {
    vec![FILE_TOOL.to_owned(), json!({ "WriteFile": { "path": path.to_text() } }).to_string()]
}

/// What the file tool is told, to read a file.
pub fn read_file(path: &SandboxPath) -> Vec<String> {
    vec![FILE_TOOL.to_owned(), json!({ "ReadFile": { "path": path.to_text() } }).to_string()]
}

/// What the file tool says when it fails.
#[derive(Debug, Deserialize)]
struct ToolError {
    error_kind: String,
    #[serde(default)]
    message: String,
    #[serde(default)]
    detail: String,
}

/// The refusal of a file, from what the file tool wrote to standard error.
///
/// # Errors
/// [`ErrorKind::Protocol`] when it wrote something else.
pub fn file_refusal(stderr: &[u8], path: &SandboxPath) -> Result<FileError> {
    let error: ToolError = serde_json::from_slice(stderr.trim_ascii()).map_err(|_| {
        let message = "Modal's file tool failed without a reason that can be read";
        let said = String::from_utf8_lossy(stderr).trim().to_owned();
        Error::new(ErrorKind::Protocol, "transfer a file", message).with_context("stderr", said)
    })?;
    let code = match error.error_kind.as_str() {
        "NotFound" => FileErrorCode::FileNotFound,
        "IsDirectory" => FileErrorCode::IsDirectory,
        "NotDirectory" | "AlreadyExists" => FileErrorCode::NotADirectory,
        "PermissionDenied" => FileErrorCode::PermissionDenied,
        "FileTooLarge" => FileErrorCode::TooLarge,
        _ if error.detail.contains("No space") || error.message.contains("No space") => FileErrorCode::NoSpace,
        // Its other words are no codes of ours; what it says is passed on.
        kind => {
            let message = format!("'{path}' is refused: {} ({kind})", error.message);
            return Ok(FileError::new(FileErrorCode::InvalidPath, message));
        }
    };
    Ok(FileError::refused(code, path.as_bytes()))
}
