//! Values to requests and replies to values.
//!
//! Sources: the official clients (PyPI `langsmith` 0.14.17, npm `langsmith` 0.10.5) and what they were recorded to send. The
//! service itself was not reached.

use std::collections::BTreeMap;
use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use tidebox_core::{
    Error, ErrorKind, ListPage, ListRequest, OutputStream, Result, SandboxId, SandboxInfo, SandboxPath, Secret,
};

use super::config::LangSmithConfig;
use crate::options::NetworkAccess;
use crate::plane::{Command, Ending};
use crate::transport::multipart::{self, Part};
use crate::transport::sse;
use crate::transport::{Method, Request, escape};

/// A label by which a creation knows its own sandbox again when its name was taken meanwhile. Lists do not show it.
pub(super) const ATTEMPT: &str = "tidebox-attempt";

/// A sandbox, as the control plane tells of it.
#[derive(Clone, Debug, Default, Deserialize, Serialize)]
pub struct Sandbox {
    /// Its number, which no other has, also after it was deleted.
    #[serde(default)]
    pub id: Option<String>,
    /// Its name, unique among those of one key.
    pub name: String,
    /// `provisioning`, `ready`, `failed`, `stopped` or `deleting`.
    #[serde(default)]
    pub status: String,
    /// Why it is so.
    #[serde(default)]
    pub status_message: Option<String>,
    /// Where its data plane is.
    #[serde(default)]
    pub dataplane_url: Option<String>,
    /// Its labels.
    #[serde(default)]
    pub labels: Option<BTreeMap<String, String>>,
}

impl Sandbox {
    /// What it is known by: its number; every path that takes a name takes that, too.
    ///
    /// # Errors
    /// [`ErrorKind::InvalidRequest`] when it has neither.
    pub fn sandbox_id(&self) -> Result<SandboxId> {
        SandboxId::parse(self.id.as_ref().unwrap_or(&self.name).clone())
    }
}

/// The state of a sandbox alone.
#[derive(Clone, Debug, Default, Deserialize)]
pub struct Status {
    /// As in [`Sandbox::status`].
    #[serde(default)]
    pub status: String,
    /// As in [`Sandbox::status_message`].
    #[serde(default)]
    pub status_message: Option<String>,
}

#[derive(Debug, Deserialize)]
struct Listed {
    #[serde(default)]
    items: Option<Vec<Sandbox>>,
    #[serde(default)]
    sandboxes: Option<Vec<Sandbox>>,
    #[serde(default)]
    next_cursor: Option<String>,
}

/// What an error says of itself.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Refusal {
    /// A word such as `NotReady`, empty when there is none.
    pub error: String,
    /// A sentence.
    pub message: String,
}

impl Refusal {
    /// Reads the body of an error: `detail` is an object, a list or text.
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
    control(config, method, &format!("/boxes/{}{rest}", escape(name)))
}

/// `POST /boxes`: answers when the sandbox is ready. Its name is unique, so that sending it twice makes one.
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
    let patience = Duration::from_secs(ready + 30);
    control(config, Method::Post, "/boxes").json(&body).patience(patience, patience).repeatable()
}

/// The hosts that are reached. An empty list of allowed ones may mean that there is no list, so that nothing is denied: all are
/// denied by every kind of pattern that there is.
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

/// `GET /boxes/{name}/status`
pub fn status(config: &LangSmithConfig, name: &str) -> Request {
    one(config, Method::Get, name, "/status")
}

/// `POST /boxes/{name}/start`: wakes a sandbox that stopped. The second of two at once is refused.
pub fn start(config: &LangSmithConfig, name: &str) -> Request {
    one(config, Method::Post, name, "/start").json(&json!({}))
}

/// `DELETE /boxes/{name}`
pub fn delete(config: &LangSmithConfig, name: &str) -> Request {
    one(config, Method::Delete, name, "")
}

/// `GET /boxes`, with a parameter for each label.
pub fn list(config: &LangSmithConfig, request: &ListRequest) -> Request {
    let labels = request.labels.iter().map(|(name, value)| format!("label={}", escape(format!("{name}={value}"))));
    let cursor = request.cursor.iter().map(|cursor| format!("cursor={}", escape(cursor)));
    let query: Vec<String> = labels.chain(["page_size=100".to_owned()]).chain(cursor).collect();
    control(config, Method::Get, &format!("/boxes?{}", query.join("&")))
}

/// Reads a page of a list, without those that are being deleted.
///
/// # Errors
/// [`ErrorKind::Protocol`] when it is none.
pub fn listed(body: &[u8]) -> Result<ListPage> {
    let listed: Listed = parse("list", body)?;
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

/// Reads JSON.
///
/// # Errors
/// [`ErrorKind::Protocol`] when it is not what is expected.
pub fn parse<T: for<'de> Deserialize<'de>>(operation: &'static str, body: &[u8]) -> Result<T> {
    serde_json::from_slice(body).map_err(|error| {
        Error::new(ErrorKind::Protocol, operation, "LangSmith answered something else than expected").with_source(error)
    })
}

/// What a status that is no success means, where nothing more is known.
pub fn failure(operation: &'static str, status: u16, body: &[u8]) -> Error {
    let refusal = Refusal::read(body);
    let (kind, advice) = match (status, refusal.error.as_str()) {
        (400, "NotReady") | (503, "ServiceUnavailable") => {
            (ErrorKind::Unavailable, "the sandbox is not ready; try again later")
        }
        (401, _) => (ErrorKind::Unauthenticated, "LangSmith does not accept the key; look at LANGSMITH_API_KEY"),
        (403, _) => (ErrorKind::Forbidden, "LangSmith refuses it to this key"),
        (404, _) => (ErrorKind::SandboxNotFound, "there is no such sandbox"),
        (408, _) => (ErrorKind::Timeout, "the sandbox was not ready in time; try again later"),
        (409, _) => (ErrorKind::InvalidRequest, "the name or the state of the sandbox is in conflict with the request"),
        (400 | 422, _) => (ErrorKind::InvalidRequest, "LangSmith refuses the request"),
        (429, "") => (ErrorKind::RateLimited, "LangSmith asks for fewer requests; try again later"),
        (429, _) => (ErrorKind::QuotaExceeded, "the organisation has no more of it; delete sandboxes or ask for more"),
        (502, _) => (ErrorKind::Unavailable, "the sandbox cannot be reached; it may have reached its time to live"),
        (500..=599, _) => (ErrorKind::Unavailable, "LangSmith is not well; try again later"),
        _ => (ErrorKind::Protocol, "LangSmith answered a status that its protocol does not have here"),
    };
    let error = Error::new(kind, operation, advice).with_context("status", status.to_string());
    let error = if refusal.error.is_empty() { error } else { error.with_context("error", refusal.error) };
    if refusal.message.is_empty() { error } else { error.with_context("message", refusal.message) }
}

/// How one sandbox's data plane is reached.
#[derive(Clone, Debug)]
pub struct DataPlane {
    /// Its address, without a slash at the end.
    pub url: String,
    /// The same key as of the control plane.
    pub key: Secret,
    /// The shell of commands.
    pub shell: String,
    /// The user of commands.
    pub user: Option<String>,
}

/// How long a finished command is remembered: longer than anybody tries to hear of its end.
const REMEMBERED: u64 = 600;

/// How long a command whose client is gone runs on, in seconds.
const ABANDONED: u64 = 300;

/// The service says every 15 seconds that it is there.
const HEARTBEATS: Duration = Duration::from_secs(60);

impl DataPlane {
    fn request(&self, method: Method, path: &str) -> Request {
        Request::new(method, format!("{}{path}", self.url)).secret("x-api-key", self.key.clone())
    }

    /// What runs, and with what.
    fn run(&self, command: &Command) -> Value {
        let mut body = json!({ "command": command.script, "shell": self.shell });
        // The service refuses the short fields beside the long one.
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
        body["timeout_seconds"] = json!(whole_seconds(command.time));
        body["idle_timeout_seconds"] = json!(ABANDONED);
        body["ttl_seconds"] = json!(REMEMBERED);
        body
    }

    /// `POST /execute/stream/start`. The same `id` starts one command, however often it is sent.
    pub fn start(&self, command: &Command, id: &str) -> Request {
        let body = self.started(command, id);
        self.request(Method::Post, "/execute/stream/start").json(&body).patience(HEARTBEATS, HEARTBEATS).repeatable()
    }

    /// `POST /execute/stream/resume`, which also says what has arrived.
    pub fn resume(&self, id: &str, stdout: u64, stderr: u64) -> Request {
        let body = json!({ "command_id": id, "stdout_offset": stdout, "stderr_offset": stderr });
        self.request(Method::Post, "/execute/stream/resume").json(&body).patience(HEARTBEATS, HEARTBEATS).repeatable()
    }

    /// `POST /execute`: answers when the command has ended, and is never sent twice.
    pub fn execute(&self, command: &Command) -> Request {
        let mut body = self.run(command);
        body["timeout"] = json!(whole_seconds(command.time));
        let patience = command.time.saturating_add(Duration::from_secs(30));
        self.request(Method::Post, "/execute").json(&body).patience(patience, patience)
    }

    /// `GET /execute/ws`, to be upgraded.
    pub fn socket(&self) -> Request {
        self.request(Method::Get, "/execute/ws")
    }

    /// The first message of a WebSocket on which a command runs.
    pub fn start_message(&self, command: &Command, id: &str) -> Value {
        let mut body = self.started(command, id);
        body["type"] = json!("execute");
        body["kill_on_disconnect"] = json!(false);
        body["close_stdin"] = json!(true);
        body
    }

    /// The first message of a WebSocket that goes on with a command.
    pub fn resume_message(id: &str, stdout: u64, stderr: u64) -> Value {
        json!({ "type": "reconnect", "command_id": id, "stdout_offset": stdout, "stderr_offset": stderr })
    }

    /// The message that kills a command and what it has started.
    pub fn kill_message() -> Value {
        json!({ "type": "kill" })
    }

    /// `POST /upload`: one file.
    pub fn upload(&self, path: &SandboxPath, content: bytes::Bytes) -> Request {
        let (media_type, pieces) = multipart::write(&[Part::file("file", "file", content)]);
        let path = format!("/upload?path={}", escape(path.as_bytes()));
        self.request(Method::Post, &path).pieces(media_type, pieces).repeatable()
    }

    /// `GET /download`
    pub fn download(&self, path: &SandboxPath) -> Request {
        self.request(Method::Get, &format!("/download?path={}", escape(path.as_bytes())))
    }
}

fn environment(command: &Command) -> BTreeMap<&str, &str> {
    command.env.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect()
}

/// Seconds, rounded up, at least one.
fn whole_seconds(time: Duration) -> u64 {
    time.as_secs().saturating_add(u64::from(time.subsec_nanos() > 0)).max(1)
}

/// What a running command tells.
#[derive(Debug, PartialEq, Eq)]
pub enum Event {
    /// It runs, or still does, under this number.
    Started(Option<u64>),
    /// It wrote these bytes, the first of which has this place in its stream.
    Wrote(OutputStream, u64, Vec<u8>),
    /// It ended.
    Ended(Ending),
    /// The service has to hear what arrived before it sends more.
    AckRequired,
    /// The service goes away and comes back.
    GoingAway,
    /// It could not be started, or is not known any more: which kind of error, and a sentence.
    Failed(String, String),
    /// Nothing that matters.
    Other,
}

#[derive(Debug, Default, Deserialize)]
struct Told {
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

/// Reads one server-sent event, whose output is in base64.
///
/// # Errors
/// [`ErrorKind::Protocol`] for what is none.
pub fn event(event: &sse::Event) -> Result<Event> {
    let told: Told = if event.data.is_empty() { Told::default() } else { parse("execute", event.data.as_bytes())? };
    told_of(&event.event, told, |text| {
        BASE64.decode(text).map_err(|error| {
            Error::new(ErrorKind::Protocol, "execute", "LangSmith sent output that is no base64").with_source(error)
        })
    })
}

/// Reads one message of a WebSocket, whose output is text.
///
/// # Errors
/// [`ErrorKind::Protocol`] for what is none.
pub fn message(text: &str) -> Result<Event> {
    #[derive(Deserialize)]
    struct Message {
        #[serde(rename = "type")]
        kind: String,
        #[serde(flatten)]
        told: Told,
    }
    let Message { kind, told } = parse("execute", text.as_bytes())?;
    told_of(&kind, told, |text| Ok(text.into_bytes()))
}

fn told_of(kind: &str, told: Told, bytes: impl Fn(String) -> Result<Vec<u8>>) -> Result<Event> {
    let wrote = |stream| -> Result<Event> {
        Ok(Event::Wrote(stream, told.offset.unwrap_or_default(), bytes(told.data.clone().unwrap_or_default())?))
    };
    Ok(match kind {
        "started" => Event::Started(told.pid),
        "stdout" => return wrote(OutputStream::Stdout),
        "stderr" => return wrote(OutputStream::Stderr),
        // What a signal ended has no code of its own, and their program then says -1.
        "exit" => Event::Ended(told.exit_code.filter(|code| *code >= 0).map_or(Ending::Unknown, Ending::Exit)),
        "ack_required" => Event::AckRequired,
        "error" => match told.error_type.as_deref() {
            Some("CommandTimeout") => Event::Ended(Ending::Timeout),
            Some("ServerShuttingDown") => Event::GoingAway,
            kind => Event::Failed(kind.unwrap_or("CommandError").to_owned(), told.error.unwrap_or_default()),
        },
        _ => Event::Other,
    })
}

/// What `POST /execute` answers.
#[derive(Debug, Deserialize)]
pub struct Done {
    /// Its standard output.
    #[serde(default)]
    pub stdout: String,
    /// Its standard error.
    #[serde(default)]
    pub stderr: String,
    /// Its exit code.
    #[serde(default)]
    pub exit_code: Option<i32>,
}
