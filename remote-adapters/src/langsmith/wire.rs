//! Conversion of values to requests and of responses to values.
//!
//! Sources: the official clients (PyPI `langsmith` 0.14.17, npm `langsmith` 0.10.5) and recordings of what they send.
//! Not tested against the service itself.

use std::collections::BTreeMap;
use std::fmt;
use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use tidebox_core::{
    Error, ErrorKind, ListPage, ListRequest, OutputStream, Result, SandboxId, SandboxInfo, SandboxPath, Secret,
};

use super::config::LangSmithConfig;
use crate::data_plane::{Command, CommandOutcome};
use crate::options::NetworkAccess;
use crate::transport::multipart::{self, Part};
use crate::transport::sse;
use crate::transport::{Method, Request, percent_encode};

/// Label by which a create request recognises its own sandbox after a name conflict. Lists omit it.
pub(super) const ATTEMPT: &str = "tidebox-attempt";

/// A sandbox as returned by the control plane.
#[derive(Clone, Debug, Default, Deserialize, Serialize)]
pub struct Sandbox {
    /// Unique id, never reused.
    #[serde(default)]
    pub id: Option<String>,
    /// Name, unique per API key.
    pub name: String,
    /// `provisioning`, `ready`, `failed`, `stopped` or `deleting`.
    #[serde(default)]
    pub status: String,
    /// Details of the status.
    #[serde(default)]
    pub status_message: Option<String>,
    /// URL of its data plane.
    #[serde(default)]
    pub dataplane_url: Option<String>,
    /// Its labels.
    #[serde(default)]
    pub labels: Option<BTreeMap<String, String>>,
}

impl Sandbox {
    /// Returns the id, which every path accepts instead of the name, or else the name.
    ///
    /// # Errors
    /// [`ErrorKind::InvalidRequest`] without either.
    pub fn sandbox_id(&self) -> Result<SandboxId> {
        SandboxId::parse(self.id.as_ref().unwrap_or(&self.name).clone())
    }
}

/// Status of a sandbox.
#[derive(Clone, Debug, Default, Deserialize)]
pub struct Status {
    /// See [`Sandbox::status`].
    #[serde(default)]
    pub status: String,
    /// See [`Sandbox::status_message`].
    #[serde(default)]
    pub status_message: Option<String>,
}

#[derive(Debug, Deserialize)]
struct ListBody {
    #[serde(default)]
    items: Option<Vec<Sandbox>>,
    #[serde(default)]
    sandboxes: Option<Vec<Sandbox>>,
    #[serde(default)]
    next_cursor: Option<String>,
}

/// Error body.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ErrorBody {
    /// Error code such as `NotReady`; empty if missing.
    pub error: String,
    /// Error message.
    pub message: String,
}

impl ErrorBody {
    /// Parses the body of an error: `detail` is an object, a list or text.
    pub fn read(body: &[u8]) -> Self {
        let body: Value = serde_json::from_slice(body).unwrap_or_default();
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        match &body["detail"] {
            Value::Object(detail) => {
                let field = |name: &str| detail.get(name).map(text).unwrap_or_default();
                let number = field("error_id");
                let message = field("message");
                let message = if number.is_empty() { message } else { format!("{message} (error_id={number})") };
                Self { error: field("error"), message }
            }
            Value::Array(details) => {
                let messages: Vec<String> = details.iter().map(|detail| text(&detail["msg"])).collect();
                Self { error: String::new(), message: messages.join("; ") }
            }
            detail => Self { error: String::new(), message: text(detail) },
        }
    }
}

fn control(config: &LangSmithConfig, method: Method, path: &str) -> Request {
    let url = format!("{}/api/v2/sandboxes{path}", config.api_url);
    Request::new(method, url).secret("x-api-key", config.api_key.clone())
}

fn one(config: &LangSmithConfig, method: Method, name: &str, rest: &str) -> Request {
    control(config, method, &format!("/boxes/{}{rest}", percent_encode(name)))
}

/// `POST /boxes`: responds when the sandbox is ready. Idempotent, because the name is unique.
pub fn create(
    config: &LangSmithConfig,
    name: &str,
    labels: &BTreeMap<String, String>,
    env: &[(String, String)],
) -> Request {
    let ready = config.ready_time.as_secs().max(1);
    let mut body = json!({
        "name": name,
        "wait_for_ready": true,
        "timeout": ready,
        "idle_ttl_seconds": config.idle_seconds,
        "delete_after_stop_seconds": config.delete_after_stop_seconds,
    });
    let mut set = |field: &str, value: Option<Value>| {
        if let Some(value) = value {
            body[field] = value;
        }
    };
    set("snapshot_id", config.snapshot_id.as_ref().map(|id| json!(id)));
    set("snapshot", config.snapshot.as_ref().map(|name| json!(name)));
    set("labels", (!labels.is_empty()).then(|| json!(labels)));
    set("env_vars", (!env.is_empty()).then(|| json!(env.iter().cloned().collect::<BTreeMap<_, _>>())));
    set("run_config", config.user.as_ref().map(|user| json!({ "user": user })));
    set("vcpus", config.vcpus.map(|count| json!(count)));
    set("mem_bytes", config.mem_bytes.map(|bytes| json!(bytes)));
    set("fs_capacity_bytes", config.fs_capacity_bytes.map(|bytes| json!(bytes)));
    set("proxy_config", access(&config.network).map(|access| json!({ "access_control": access })));
    let request_timeout = Duration::from_secs(ready + 30);
    control(config, Method::Post, "/boxes").json(&body).timeouts(request_timeout, request_timeout).idempotent()
}

/// Network access rules. An empty list of allowed hosts may mean no restriction, so blocking everything denies every
/// kind of pattern.
fn access(network: &NetworkAccess) -> Option<Value> {
    match network {
        NetworkAccess::Default => None,
        NetworkAccess::Blocked => Some(json!({ "deny_list": ["*", "~.*", "0.0.0.0/0", "::/0"] })),
        NetworkAccess::Only(hosts) if hosts.is_empty() => access(&NetworkAccess::Blocked),
        NetworkAccess::Only(hosts) => Some(json!({ "allow_list": hosts })),
    }
}

/// `GET /boxes/{name}`
pub fn get(config: &LangSmithConfig, name: &str) -> Request {
    one(config, Method::Get, name, "")
}

/// Lifetime of the credential of a server, in seconds: the maximum.
const SERVICE_SECONDS: u64 = 24 * 60 * 60;

/// `POST /boxes/{name}/service-url`
pub fn service(config: &LangSmithConfig, name: &str, port: u16) -> Request {
    let body = json!({ "port": port, "expires_in_seconds": SERVICE_SECONDS });
    one(config, Method::Post, name, "/service-url").json(&body).idempotent()
}

/// Address of a server in a sandbox.
#[derive(Deserialize)]
pub struct Service {
    /// URL of the server.
    pub service_url: String,
    /// Credential, sent in a header.
    pub token: String,
}

impl fmt::Debug for Service {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Service").field("url", &self.service_url).finish_non_exhaustive()
    }
}

/// `GET /boxes/{name}/status`
pub fn status(config: &LangSmithConfig, name: &str) -> Request {
    one(config, Method::Get, name, "/status")
}

/// `POST /boxes/{name}/start`: starts a stopped sandbox. The second of two concurrent requests is rejected.
pub fn start(config: &LangSmithConfig, name: &str) -> Request {
    one(config, Method::Post, name, "/start").json(&json!({}))
}

/// `DELETE /boxes/{name}`
pub fn delete(config: &LangSmithConfig, name: &str) -> Request {
    one(config, Method::Delete, name, "")
}

/// `GET /boxes`, with one parameter per label.
pub fn list(config: &LangSmithConfig, request: &ListRequest) -> Request {
    let labels =
        request.labels.iter().map(|(name, value)| format!("label={}", percent_encode(format!("{name}={value}"))));
    let cursor = request.cursor.iter().map(|cursor| format!("cursor={}", percent_encode(cursor)));
    let query: Vec<String> = labels.chain(["page_size=100".to_owned()]).chain(cursor).collect();
    control(config, Method::Get, &format!("/boxes?{}", query.join("&")))
}

/// Parses a page of a list and skips sandboxes being deleted.
///
/// # Errors
/// [`ErrorKind::Protocol`] if the body is not such a page.
pub fn parse_list(body: &[u8]) -> Result<ListPage> {
    let listed: ListBody = parse("list", body)?;
    let there =
        listed.items.or(listed.sandboxes).unwrap_or_default().into_iter().filter(|one| one.status != "deleting");
    let sandboxes = there.map(|one| {
        let id = one.sandbox_id()?;
        let mut labels = one.labels.unwrap_or_default();
        labels.remove(ATTEMPT);
        Ok(SandboxInfo { id, labels })
    });
    let cursor = listed.next_cursor.filter(|cursor| !cursor.is_empty());
    Ok(ListPage { sandboxes: sandboxes.collect::<Result<_>>()?, cursor })
}

/// Parses JSON.
///
/// # Errors
/// [`ErrorKind::Protocol`] if the body has another format.
pub fn parse<T: for<'de> Deserialize<'de>>(operation: &'static str, body: &[u8]) -> Result<T> {
    serde_json::from_slice(body).map_err(|error| {
        Error::new(ErrorKind::Protocol, operation, "unexpected response from LangSmith").with_source(error)
    })
}

/// Maps an error status to an error, if nothing more specific applies.
pub fn failure(operation: &'static str, status: u16, body: &[u8]) -> Error {
    let rejection = ErrorBody::read(body);
    let (kind, advice) = match (status, rejection.error.as_str()) {
        (400, "NotReady") | (503, "ServiceUnavailable") => {
            (ErrorKind::Unavailable, "the sandbox is not ready; try again later")
        }
        (401, _) => (ErrorKind::Unauthenticated, "LangSmith rejected the key; check LANGSMITH_API_KEY"),
        (403, _) => (ErrorKind::Forbidden, "LangSmith does not permit this with this key"),
        (404, _) => (ErrorKind::SandboxNotFound, "the sandbox does not exist"),
        (408, _) => (ErrorKind::Timeout, "the sandbox was not ready in time; try again later"),
        (409, _) => (ErrorKind::InvalidRequest, "the request conflicts with the name or state of the sandbox"),
        (400 | 422, _) => (ErrorKind::InvalidRequest, "LangSmith rejected the request"),
        (429, "") => (ErrorKind::RateLimited, "LangSmith's rate limit is exceeded; try again later"),
        (429, _) => (
            ErrorKind::QuotaExceeded,
            "the organisation's quota is exhausted; delete sandboxes or request a higher quota",
        ),
        (502, _) => (ErrorKind::Unavailable, "the sandbox is unreachable; it may have reached its time to live"),
        (500..=599, _) => (ErrorKind::Unavailable, "LangSmith is unavailable; try again later"),
        _ => (ErrorKind::Protocol, "LangSmith returned an unexpected status"),
    };
    let error = Error::new(kind, operation, advice).with_context("status", status.to_string());
    let error = if rejection.error.is_empty() { error } else { error.with_context("error", rejection.error) };
    if rejection.message.is_empty() { error } else { error.with_context("message", rejection.message) }
}

/// Request builder for one sandbox's data plane.
#[derive(Clone, Debug)]
pub struct Endpoint {
    /// URL without a trailing slash.
    pub url: String,
    /// The control plane's key.
    pub key: Secret,
    /// The shell of commands.
    pub shell: String,
    /// User that runs commands.
    pub user: Option<String>,
}

/// Seconds that the service keeps a finished command's result: longer than any client retries.
const RESULT_TTL_SECONDS: u64 = 600;

/// Seconds that a command keeps running after its client has disconnected.
const ORPHAN_TTL_SECONDS: u64 = 300;

/// Idle timeout; the service sends a heartbeat every 15 seconds.
const HEARTBEATS: Duration = Duration::from_secs(60);

impl Endpoint {
    fn request(&self, method: Method, path: &str) -> Request {
        Request::new(method, format!("{}{path}", self.url)).secret("x-api-key", self.key.clone())
    }

    /// The command with its environment, as JSON.
    fn run(&self, command: &Command) -> Value {
        let mut body = json!({ "command": command.script, "shell": self.shell });
        // The service rejects the short fields next to the long one.
        match &self.user {
            None => {
                if !command.env.is_empty() {
                    body["env"] = json!(environment(command));
                }
                if let Some(cwd) = &command.cwd {
                    body["cwd"] = json!(cwd);
                }
            }
            Some(user) => {
                let mut with = json!({ "user": user, "env_vars": environment(command) });
                if let Some(cwd) = &command.cwd {
                    with["work_dir"] = json!(cwd);
                }
                body["run_config"] = with;
            }
        }
        body
    }

    fn started(&self, command: &Command, id: &str) -> Value {
        let mut body = self.run(command);
        body["command_id"] = json!(id);
        body["timeout_seconds"] = json!(whole_seconds(command.timeout));
        body["idle_timeout_seconds"] = json!(ORPHAN_TTL_SECONDS);
        body["ttl_seconds"] = json!(RESULT_TTL_SECONDS);
        body
    }

    /// `POST /execute/stream/start`. Requests with the same `id` start one command.
    pub fn start(&self, command: &Command, id: &str) -> Request {
        let body = self.started(command, id);
        self.request(Method::Post, "/execute/stream/start").json(&body).timeouts(HEARTBEATS, HEARTBEATS).idempotent()
    }

    /// `POST /execute/stream/resume`, which also acknowledges the received offsets.
    pub fn resume(&self, id: &str, stdout: u64, stderr: u64) -> Request {
        let body = json!({ "command_id": id, "stdout_offset": stdout, "stderr_offset": stderr });
        self.request(Method::Post, "/execute/stream/resume").json(&body).timeouts(HEARTBEATS, HEARTBEATS).idempotent()
    }

    /// `POST /execute`: responds when the command has exited, and is never sent twice.
    pub fn execute(&self, command: &Command) -> Request {
        let mut body = self.run(command);
        body["timeout"] = json!(whole_seconds(command.timeout));
        let request_timeout = command.timeout.saturating_add(Duration::from_secs(30));
        self.request(Method::Post, "/execute").json(&body).timeouts(request_timeout, request_timeout)
    }

    /// `GET /execute/ws`, with an upgrade to WebSocket.
    pub fn socket(&self) -> Request {
        self.request(Method::Get, "/execute/ws")
    }

    /// First message of a WebSocket that starts a command.
    pub fn start_message(&self, command: &Command, id: &str) -> Value {
        let mut body = self.started(command, id);
        body["type"] = json!("execute");
        body["kill_on_disconnect"] = json!(false);
        body["close_stdin"] = json!(true);
        body
    }

    /// First message of a WebSocket that resumes a command.
    pub fn resume_message(id: &str, stdout: u64, stderr: u64) -> Value {
        json!({ "type": "reconnect", "command_id": id, "stdout_offset": stdout, "stderr_offset": stderr })
    }

    /// Message that kills a command and its child processes.
    pub fn kill_message() -> Value {
        json!({ "type": "kill" })
    }

    /// `POST /upload`: uploads one file.
    pub fn upload(&self, path: &SandboxPath, content: bytes::Bytes) -> Request {
        let (media_type, chunks) = multipart::write(&[Part::file("file", "file", content)]);
        let path = format!("/upload?path={}", percent_encode(path.as_bytes()));
        self.request(Method::Post, &path).chunked_body(media_type, chunks).idempotent()
    }

    /// `GET /download`
    pub fn download(&self, path: &SandboxPath) -> Request {
        self.request(Method::Get, &format!("/download?path={}", percent_encode(path.as_bytes())))
    }
}

fn environment(command: &Command) -> BTreeMap<&str, &str> {
    command.env.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect()
}

/// Whole seconds, rounded up, at least 1.
fn whole_seconds(time: Duration) -> u64 {
    time.as_secs().saturating_add(u64::from(time.subsec_nanos() > 0)).max(1)
}

/// Event of a running command.
#[derive(Debug, PartialEq, Eq)]
pub enum Event {
    /// Running, with its process id if known.
    Started(Option<u64>),
    /// Output, with the offset of its first byte in the stream.
    Wrote(OutputStream, u64, Vec<u8>),
    /// Exited.
    Ended(CommandOutcome),
    /// The service requires an acknowledgement before it sends more.
    AckRequired,
    /// The service is restarting.
    GoingAway,
    /// Not started, or no longer known: error code and message.
    Failed(String, String),
    /// Ignored event.
    Other,
}

#[derive(Debug, Default, Deserialize)]
struct EventFields {
    #[serde(default)]
    pid: Option<u64>,
    #[serde(default)]
    offset: Option<u64>,
    #[serde(default)]
    data: Option<String>,
    #[serde(default)]
    exit_code: Option<i32>,
    #[serde(default)]
    error: Option<String>,
    #[serde(default)]
    error_type: Option<String>,
}

/// Parses one server-sent event, with base64 output.
///
/// # Errors
/// [`ErrorKind::Protocol`] if the event is malformed.
pub fn event(event: &sse::Event) -> Result<Event> {
    let told: EventFields =
        if event.data.is_empty() { EventFields::default() } else { parse("execute", event.data.as_bytes())? };
    parse_event(&event.event, told, |text| {
        BASE64.decode(text).map_err(|error| {
            Error::new(ErrorKind::Protocol, "execute", "LangSmith sent output that is not base64").with_source(error)
        })
    })
}

/// Parses one message of a WebSocket, with text output.
///
/// # Errors
/// [`ErrorKind::Protocol`] if the message is malformed.
pub fn message(text: &str) -> Result<Event> {
    #[derive(Deserialize)]
    struct Message {
        #[serde(rename = "type")]
        kind: String,
        #[serde(flatten)]
        told: EventFields,
    }
    let Message { kind, told } = parse("execute", text.as_bytes())?;
    parse_event(&kind, told, |text| Ok(text.into_bytes()))
}

fn parse_event(kind: &str, told: EventFields, bytes: impl Fn(String) -> Result<Vec<u8>>) -> Result<Event> {
    let wrote = |stream| -> Result<Event> {
        Ok(Event::Wrote(stream, told.offset.unwrap_or_default(), bytes(told.data.clone().unwrap_or_default())?))
    };
    Ok(match kind {
        "started" => Event::Started(told.pid),
        "stdout" => return wrote(OutputStream::Stdout),
        "stderr" => return wrote(OutputStream::Stderr),
        // The service reports -1 for a process killed by a signal.
        "exit" => {
            Event::Ended(told.exit_code.filter(|code| *code >= 0).map_or(CommandOutcome::Unknown, CommandOutcome::Exit))
        }
        "ack_required" => Event::AckRequired,
        "error" => match told.error_type.as_deref() {
            Some("CommandTimeout") => Event::Ended(CommandOutcome::Timeout),
            Some("ServerShuttingDown") => Event::GoingAway,
            kind => Event::Failed(kind.unwrap_or("CommandError").to_owned(), told.error.unwrap_or_default()),
        },
        _ => Event::Other,
    })
}

/// Response to `POST /execute`.
#[derive(Debug, Deserialize)]
pub struct ExecuteResult {
    /// Standard output.
    #[serde(default)]
    pub stdout: String,
    /// Standard error.
    #[serde(default)]
    pub stderr: String,
    /// Exit code.
    #[serde(default)]
    pub exit_code: Option<i32>,
}
