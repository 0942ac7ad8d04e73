//! Conversion of values to requests and of responses to values. Contains all call paths.
//!
//! Source: the official clients (PyPI `modal` 1.6.4, npm `modal` 0.11.1) and the interfaces they ship.

use std::collections::BTreeMap;
use std::time::Duration;

use bytes::Bytes;
use prost::Message;
use serde::Deserialize;
use serde_json::json;
use tidebox_core::{
    Error, ErrorKind, FileError, FileErrorCode, ListPage, ListRequest, OutputStream, PortEndpoint, Result, SandboxId,
    SandboxPath, Secret,
};

use super::call::{request, stream_request};
use super::config::{ModalConfig, whole_seconds};
use super::messages::{self as proto, *};
use crate::data_plane::{Command, CommandOutcome};
use crate::options::NetworkAccess as Access;
use crate::transport::{Frame, Request};

/// Version of the Python client that this client is compatible with, as sent by clients in other languages.
const VERSION: &str = "1.0.0";

/// Client type: clients in other languages than Python.
const KIND: &str = "9";

/// Paths of the control plane's calls.
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
        TUNNELS = "SandboxGetTunnelsV2",
        TAGS = "SandboxTagsGetV2",
        SET_TAGS = "SandboxTagsSetV2",
    }
}

/// Paths of the router's calls.
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

/// Program in every sandbox that reads and writes files.
pub const FILE_TOOL: &str = "/__modal/.bin/modal-sandbox-fs-tools";

/// Maximum bytes of all arguments of a command.
pub const ARGUMENT_BYTES: usize = 65_536;

/// A call of the control plane. `token` is the one required by sandbox calls.
pub fn control(config: &ModalConfig, path: &str, message: &impl Message, token: Option<&Secret>) -> Request {
    let key = format!("{:032x}", fastrand::u128(..));
    let request = request(&config.server_url, path, message)
        .header("x-modal-client-type", KIND)
        .header("x-modal-client-version", VERSION)
        .header("x-modal-token-id", config.token_id.as_str())
        .secret("x-modal-token-secret", config.token_secret.clone())
        // Equal for all attempts, so that a call is executed once.
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

/// `ImageGetOrCreate` for a registry image.
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
        open_ports: Some(PortSpecs { ports: config.ports.iter().map(|port| open_port(*port)).collect() }),
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

fn open_port(port: u16) -> PortSpec {
    PortSpec { port: u32::from(port), unencrypted: false }
}

/// Returns the address of a port, if it was opened. The tunnels of a server without TLS, an emulator, have none either.
pub fn endpoint(config: &ModalConfig, tunnels: &[Tunnel], port: u16) -> Option<PortEndpoint> {
    let tunnel = tunnels.iter().find(|tunnel| tunnel.container_port == u32::from(port))?;
    let scheme = if config.server_url.starts_with("http:") { "http" } else { "https" };
    Some(PortEndpoint::new(match tunnel.port {
        443 if scheme == "https" => format!("{scheme}://{}", tunnel.host),
        number => format!("{scheme}://{}:{number}", tunnel.host),
    }))
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

/// Returns whether the host is an address range, such as `10.0.0.0/8`.
fn is_range(host: &str) -> bool {
    host.split_once('/').is_some_and(|(address, _)| address.parse::<std::net::IpAddr>().is_ok())
}

/// Modal calls labels tags.
pub fn tags(labels: &BTreeMap<String, String>) -> Vec<SandboxTag> {
    labels.iter().map(|(name, value)| SandboxTag { tag_name: name.clone(), tag_value: value.clone() }).collect()
}

/// Environment variables.
fn variables(env: &[(String, String)]) -> Vec<SecretSource> {
    if env.is_empty() {
        return Vec::new();
    }
    vec![SecretSource { env: Some(StringMap { contents: env.iter().cloned().collect() }) }]
}

/// `SandboxListV2`. The cursor is the creation time of the last sandbox of the previous page.
///
/// # Errors
/// [`ErrorKind::InvalidRequest`] for an invalid cursor.
pub fn list(config: &ModalConfig, app_id: &str, request: &ListRequest) -> Result<SandboxListRequest> {
    let wrong =
        |_| Error::new(ErrorKind::InvalidRequest, "list", "invalid cursor: it was not returned by an earlier page");
    let before_timestamp = request.cursor.as_deref().map_or(Ok(0.0), str::parse).map_err(wrong)?;
    Ok(SandboxListRequest {
        app_id: app_id.to_owned(),
        before_timestamp,
        environment_name: config.environment.clone(),
        include_finished: false,
        tags: tags(&request.labels),
    })
}

/// Converts a page of a list. An empty page is the last one.
///
/// # Errors
/// [`ErrorKind::InvalidRequest`] for a sandbox without an id.
pub fn parse_list(page: SandboxListResponse) -> Result<ListPage> {
    let cursor = page.sandboxes.last().map(|last| last.created_at.to_string());
    let info = |sandbox: proto::SandboxInfo| {
        let labels = sandbox.tags.into_iter().map(|tag| (tag.tag_name, tag.tag_value)).collect();
        Ok(tidebox_core::SandboxInfo { id: SandboxId::parse(sandbox.id)?, labels })
    };
    Ok(ListPage { sandboxes: page.sandboxes.into_iter().map(info).collect::<Result<_>>()?, cursor })
}

/// Returns whether the result is final.
pub fn is_finished(result: Option<&GenericResult>) -> bool {
    result.is_some_and(|result| result.status != 0)
}

/// Request builder for one sandbox's router.
#[derive(Clone, Debug)]
pub struct RouterEndpoint {
    /// Task id.
    pub id: String,
    /// Router URL without a trailing slash.
    pub url: String,
    /// Credential of its calls.
    pub token: Secret,
}

impl RouterEndpoint {
    /// Creates the request builder from the task's router access.
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

    /// `TaskExecStdinWriteStream`: a command's input from an offset, and its end.
    pub fn input(&self, exec_id: &str, input: &Bytes, from: usize) -> Request {
        let offset = from as u64;
        let start = TaskExecStdinWriteStreamStart { task_id: self.id.clone(), exec_id: exec_id.to_owned(), offset };
        let message = |payload| TaskExecStdinWriteStreamRequest { payload: Some(payload) }.encode_to_vec();
        let mut chunks = vec![Bytes::from(Frame::write(0, &message(StdinPayload::Start(start))))];
        for at in (from..input.len()).step_by(CHUNK_BYTES) {
            let chunk = input.slice(at..input.len().min(at + CHUNK_BYTES));
            chunks.extend([data_head(chunk.len()), chunk]);
        }
        chunks.push(Bytes::from(Frame::write(0, &message(StdinPayload::End(Empty {})))));
        self.authorised(stream_request(&self.url, router::WRITE_STREAM).chunked_body("application/grpc", chunks))
    }

    /// `TaskExecStdioRead` from an offset.
    pub fn read(&self, exec_id: &str, stream: OutputStream, offset: u64) -> Request {
        let message = TaskExecStdioReadRequest {
            task_id: self.id.clone(),
            exec_id: exec_id.to_owned(),
            offset,
            file_descriptor: i32::from(stream == OutputStream::Stderr),
        };
        // A command may be silent for its whole runtime; HTTP/2 keep-alive checks the connection.
        self.call(router::READ, &message).timeouts(SILENCE, SILENCE)
    }

    /// A call with only the task id and exec id.
    pub fn exec_request(&self, path: &str, exec_id: &str) -> Request {
        self.call(path, &TaskExecRequest { task_id: self.id.clone(), exec_id: exec_id.to_owned() })
    }

    /// `TaskExecWait`, a long poll.
    pub fn wait(&self, exec_id: &str) -> Request {
        let request = self.exec_request(router::WAIT, exec_id).header("grpc-timeout", format!("{}S", WAIT.as_secs()));
        request.timeouts(WAIT + SLACK, WAIT + SLACK)
    }
}

/// Bytes of input per message, as in the official client.
const CHUNK_BYTES: usize = 256 * 1024;

/// Timeout of one long poll, as in the official client; it is repeated.
const WAIT: Duration = Duration::from_secs(60);
const SLACK: Duration = Duration::from_secs(10);

/// Longer than the maximum runtime of a command.
const SILENCE: Duration = Duration::from_secs(25 * 60 * 60);

/// Prefix of an input chunk: the envelope, the field number and the length. Written separately so that the chunk itself
/// is not copied.
fn data_head(length: usize) -> Bytes {
    let mut field = vec![2 << 3 | 2];
    prost::encoding::encode_varint(length as u64, &mut field);
    let whole = u32::try_from(field.len() + length).unwrap_or(u32::MAX);
    Bytes::from([&[0], whole.to_be_bytes().as_slice(), field.as_slice()].concat())
}

/// `TaskExecStart` of any program.
pub fn start(
    task: &RouterEndpoint,
    exec_id: &str,
    words: Vec<String>,
    env: &[(String, String)],
) -> TaskExecStartRequest {
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

/// Extra time after which the service kills a command whose client has disconnected; a connected client kills it first.
const BACKSTOP: Duration = Duration::from_secs(2);

/// `TaskExecStart` of a command line. `mark` is an environment variable that identifies its processes.
pub fn start_command(
    task: &RouterEndpoint,
    exec_id: &str,
    shell: &str,
    command: &Command,
    mark: (String, String),
) -> TaskExecStartRequest {
    let words = vec![shell.to_owned(), "-c".to_owned(), command.script.clone()];
    let env: Vec<(String, String)> = command.env.iter().cloned().chain([mark]).collect();
    TaskExecStartRequest {
        timeout_secs: Some(whole_seconds(command.timeout.saturating_add(BACKSTOP))),
        workdir: command.cwd.clone(),
        ..start(task, exec_id, words, &env)
    }
}

/// Converts the outcome of a command. The time limit is enforced here, so a signal is reported as a signal.
pub fn outcome(end: TaskExecEndResponse) -> CommandOutcome {
    match end.exit_status {
        Some(ExitStatus::Code(code)) => CommandOutcome::Exit(code),
        Some(ExitStatus::Signal(signal)) => CommandOutcome::Exit(128 + signal),
        None => CommandOutcome::Unknown,
    }
}

/// Arguments of the file tool to write a file.
pub fn write_file(path: &SandboxPath) -> Vec<String> {
    vec![FILE_TOOL.to_owned(), json!({ "WriteFile": { "path": path.to_text() } }).to_string()]
}

/// Arguments of the file tool to read a file.
pub fn read_file(path: &SandboxPath) -> Vec<String> {
    vec![FILE_TOOL.to_owned(), json!({ "ReadFile": { "path": path.to_text() } }).to_string()]
}

/// Error output of the file tool.
#[derive(Debug, Deserialize)]
struct ToolError {
    error_kind: String,
    #[serde(default)]
    message: String,
    #[serde(default)]
    detail: String,
}

/// Parses the file tool's standard error as a file error.
///
/// # Errors
/// [`ErrorKind::Protocol`] if the output has another format.
pub fn file_error(stderr: &[u8], path: &SandboxPath) -> Result<FileError> {
    let error: ToolError = serde_json::from_slice(stderr.trim_ascii()).map_err(|_| {
        let message = "Modal's file tool failed with unparseable error output";
        let text = String::from_utf8_lossy(stderr).trim().to_owned();
        Error::new(ErrorKind::Protocol, "transfer a file", message).with_context("stderr", text)
    })?;
    let code = match error.error_kind.as_str() {
        "NotFound" => FileErrorCode::FileNotFound,
        "IsDirectory" => FileErrorCode::IsDirectory,
        "NotDirectory" | "AlreadyExists" => FileErrorCode::NotADirectory,
        "PermissionDenied" => FileErrorCode::PermissionDenied,
        "FileTooLarge" => FileErrorCode::TooLarge,
        _ if error.detail.contains("No space") || error.message.contains("No space") => FileErrorCode::NoSpace,
        // Other error codes have no equivalent here; pass the message on.
        kind => {
            let message = format!("'{path}' was rejected: {} ({kind})", error.message);
            return Ok(FileError::new(FileErrorCode::InvalidPath, message));
        }
    };
    Ok(FileError::with_code(code, path.as_bytes()))
}
