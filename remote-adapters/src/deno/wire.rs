//! Values to requests and messages, and back.
//!
//! Sources: the official clients (npm `@deno/sandbox` 0.13.2, PyPI `deno-sandbox` 0.16.0) and what they were recorded to send.
//! Where the two disagree, the first is followed. The service itself was not reached.

use std::collections::BTreeMap;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use tidebox_core::{
    Error, ErrorKind, FileError, FileErrorCode, ListPage, ListRequest, Result, SandboxId, SandboxInfo, Secret,
};

use super::config::DenoConfig;
use crate::options::NetworkAccess;
use crate::plane::{Command, Ending};
use crate::signal;
use crate::transport::{Method, Repeat, Request, escape};

fn authorised(config: &DenoConfig, method: Method, url: String) -> Request {
    let bearer = [b"Bearer ", config.token.expose()].concat();
    let request = Request::new(method, url).secret("authorization", Secret::new(bearer));
    match &config.org {
        Some(org) => request.header("x-deno-org", org.as_str()),
        None => request,
    }
}

/// A host that nobody has (RFC 6761). What an empty list of allowed hosts means is not written down.
const NOWHERE: &str = "nowhere.invalid";

/// The WebSocket whose opening makes a sandbox that ends at `stop_at`, in milliseconds since 1970.
///
/// # Errors
/// [`ErrorKind::Unsupported`] for more labels than there may be.
pub fn create(config: &DenoConfig, labels: &BTreeMap<String, String>, stop_at: u64) -> Result<Request> {
    if labels.len() > 5 {
        let message = "Deno has at most five labels for a sandbox";
        return Err(Error::new(ErrorKind::Unsupported, "create a sandbox", message));
    }
    let mut body = json!({ "stop_at_ms": stop_at, "memory_mb": config.memory_mb, "volumes": [] });
    if !labels.is_empty() {
        body["labels"] = json!(labels);
    }
    if let Some(root) = &config.root {
        body["root"] = json!({ "volume": root });
    }
    match &config.network {
        NetworkAccess::Default => {}
        NetworkAccess::Only(hosts) if !hosts.is_empty() => body["allow_net"] = json!(hosts),
        NetworkAccess::Only(_) | NetworkAccess::Blocked => body["allow_net"] = json!([NOWHERE]),
    }
    let url = format!("{}/api/v3/sandboxes/create", config.url(&config.region)?);
    // The configuration may hold secrets.
    let header = Secret::new(BASE64.encode(body.to_string()));
    let mut request = authorised(config, Method::Get, url).secret("x-deno-sandbox-config", header);
    // Each opening makes another sandbox.
    request.repeat = Repeat::OnlyIfRefused;
    Ok(request)
}

/// The WebSocket of a sandbox that is there.
///
/// # Errors
/// [`ErrorKind::InvalidRequest`] when the name tells a region that cannot be.
pub fn connect(config: &DenoConfig, id: &str) -> Result<Request> {
    Ok(authorised(config, Method::Get, format!("{}/api/v3/sandbox/{}/connect", config.url_of(id)?, escape(id))))
}

/// `PATCH /api/v3/sandbox/{id}`: the end of a sandbox.
///
/// # Errors
/// As of [`connect`].
pub fn extend(config: &DenoConfig, id: &str, stop_at: u64) -> Result<Request> {
    let url = format!("{}/api/v3/sandbox/{}", config.url_of(id)?, escape(id));
    Ok(authorised(config, Method::Patch, url).json(&json!({ "stop_at_ms": stop_at })))
}

/// `DELETE /api/v3/sandbox/{id}`
///
/// # Errors
/// As of [`connect`].
pub fn delete(config: &DenoConfig, id: &str) -> Result<Request> {
    Ok(authorised(config, Method::Delete, format!("{}/api/v3/sandbox/{}", config.url_of(id)?, escape(id))))
}

/// `GET /api/v2/sandboxes`, which answers all at once.
pub fn list(config: &DenoConfig, request: &ListRequest) -> Request {
    let pairs =
        request.labels.iter().map(|(name, value)| format!("{}={}", escape(format!("labels[{name}]")), escape(value)));
    let query = pairs.collect::<Vec<_>>().join("&");
    let mark = if query.is_empty() { "" } else { "?" };
    authorised(config, Method::Get, format!("{}/api/v2/sandboxes{mark}{query}", config.api_url))
}

/// An entry of the list.
#[derive(Clone, Debug, Deserialize)]
struct Listed {
    id: String,
    #[serde(default)]
    status: String,
    #[serde(default)]
    labels: Option<BTreeMap<String, String>>,
}

/// Reads the list: those that run. Where a service tells no labels, those that were asked for are known.
///
/// # Errors
/// [`ErrorKind::Protocol`] when it is none.
pub fn listed(body: &[u8], asked: &BTreeMap<String, String>) -> Result<ListPage> {
    let entries: Vec<Listed> = parse("list", body)?;
    let running = entries.into_iter().filter(|entry| entry.status != "stopped");
    let sandboxes = running.map(|entry| {
        Ok(SandboxInfo { id: SandboxId::parse(entry.id)?, labels: entry.labels.unwrap_or_else(|| asked.clone()) })
    });
    Ok(ListPage { sandboxes: sandboxes.collect::<Result<_>>()?, cursor: None })
}

/// Reads JSON.
///
/// # Errors
/// [`ErrorKind::Protocol`] when it is not what is expected.
pub fn parse<T: for<'de> Deserialize<'de>>(operation: &'static str, body: &[u8]) -> Result<T> {
    serde_json::from_slice(body).map_err(|error| senseless(operation).with_source(error))
}

/// That an answer is not what is expected.
pub(super) fn senseless(operation: &'static str) -> Error {
    Error::new(ErrorKind::Protocol, operation, "Deno answered something else than expected")
}

/// What a status that is no success means.
pub fn failure(operation: &'static str, status: u16, body: &[u8]) -> Error {
    #[derive(Default, Deserialize)]
    #[serde(default)]
    struct Refusal {
        code: String,
        message: String,
    }
    let refusal: Refusal = serde_json::from_slice(body).unwrap_or_default();
    let (kind, advice) = match (status, refusal.code.as_str()) {
        (401, _) | (_, "INVALID_TOKEN") => {
            (ErrorKind::Unauthenticated, "Deno does not accept the token; look at DENO_DEPLOY_TOKEN")
        }
        (403, _) => (ErrorKind::Forbidden, "Deno refuses it to this token"),
        (404 | 410, _) => (ErrorKind::SandboxNotFound, "there is no such sandbox"),
        (400 | 422, _) => (ErrorKind::InvalidRequest, "Deno refuses the request"),
        (429, "") => (ErrorKind::RateLimited, "Deno asks for fewer requests; try again later"),
        (429, _) => (ErrorKind::QuotaExceeded, "the organisation has no more sandboxes at once; delete some"),
        (500..=599, _) => (ErrorKind::Unavailable, "Deno is not well; try again later"),
        _ => (ErrorKind::Protocol, "Deno answered a status that its protocol does not have here"),
    };
    let error = Error::new(kind, operation, advice).with_context("status", status.to_string());
    let error = if refusal.code.is_empty() { error } else { error.with_context("code", refusal.code) };
    if refusal.message.is_empty() { error } else { error.with_context("message", refusal.message) }
}

/// A call of JSON-RPC.
pub fn call(id: u64, method: &str, params: &Value) -> Value {
    json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params })
}

/// `$sandbox.stream.start`: a stream of ours begins. Streams of both sides have numbers of their own.
pub fn begin_stream(stream: u64) -> String {
    notify("start", &json!({ "streamId": stream }))
}

/// `$sandbox.stream.enqueue`: a piece of it.
pub fn enqueue(stream: u64, piece: &[u8]) -> String {
    let data = text(piece);
    // Nothing in base64 is escaped in JSON, so a long text is not read once more for that.
    format!(
        r#"{{"jsonrpc":"2.0","method":"$sandbox.stream.enqueue","params":{{"streamId":{stream},"data":"{data}"}}}}"#
    )
}

/// `$sandbox.stream.end`: all of it was sent.
pub fn end_stream(stream: u64) -> String {
    notify("end", &json!({ "streamId": stream }))
}

/// `$sandbox.stream.error`: nothing more comes, and what came is not all of it. The reason is an error as the client for JavaScript writes
/// it; that for Python sends its words alone.
pub fn break_stream(stream: u64) -> String {
    let reason = json!({ "constructorName": "Error", "message": "the rest of the file is not sent" });
    notify("error", &json!({ "streamId": stream, "error": reason }))
}

fn notify(method: &str, params: &Value) -> String {
    json!({ "jsonrpc": "2.0", "method": format!("$sandbox.stream.{method}"), "params": params }).to_string()
}

/// A command, with its output on two streams.
pub fn spawn(command: &Command, shell: &str) -> Value {
    let mut params = json!({ "command": shell, "args": ["-c", command.script], "stdout": "piped", "stderr": "piped" });
    if !command.env.is_empty() {
        params["env"] = json!(command.env.iter().cloned().collect::<BTreeMap<_, _>>());
    }
    if let Some(cwd) = &command.cwd {
        params["cwd"] = json!(cwd);
    }
    params
}

/// A command that kills another with everything that it has started, since a signal of the service reaches it alone.
pub fn kill_tree(pid: u64) -> Value {
    let script = "stop() { kill -s STOP \"$1\" 2>/dev/null; \
                  for c in $(cat /proc/\"$1\"/task/*/children 2>/dev/null); do stop \"$c\"; done; \
                  kill -s KILL \"$1\" 2>/dev/null; }; stop \"$0\"";
    json!({ "command": "/bin/sh", "args": ["-c", script, pid.to_string()], "stdout": "null", "stderr": "null" })
}

/// What `spawn` answers.
#[derive(Clone, Debug, Deserialize, Serialize, PartialEq, Eq)]
#[serde(rename_all = "camelCase")]
pub struct Spawned {
    /// The number of the process.
    pub pid: u64,
    /// The stream of its standard output.
    pub stdout_stream_id: Option<u64>,
    /// The stream of its standard error.
    pub stderr_stream_id: Option<u64>,
}

/// What `processWait` answers.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub struct Waited {
    /// Its exit code.
    #[serde(default)]
    pub code: Option<i32>,
    /// The signal that ended it.
    #[serde(default)]
    pub signal: Option<String>,
}

impl Waited {
    /// How the command ended.
    pub fn ending(&self) -> Ending {
        match &self.signal {
            Some(signal) => signal::exit_code(signal).map_or(Ending::Unknown, Ending::Exit),
            None => self.code.map_or(Ending::Unknown, Ending::Exit),
        }
    }
}

/// What is known of a file.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Stat {
    /// It is a regular file.
    pub is_file: bool,
    /// It is a directory.
    pub is_directory: bool,
    /// Bytes.
    #[serde(default)]
    pub size: u64,
}

/// What a call answers that did not do what it should.
#[derive(Clone, Debug, Default, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "camelCase", default)]
pub struct Refusal {
    /// Its class, such as `NotFound`.
    pub constructor_name: Option<String>,
    /// A sentence.
    pub message: String,
    /// Its name in C, such as `ENOENT`.
    pub code: Option<String>,
}

impl Refusal {
    /// The refusal of a file; `None` when it is another one.
    pub fn of_file(&self, path: &[u8]) -> Option<FileError> {
        let code =
            match (self.code.as_deref().unwrap_or_default(), self.constructor_name.as_deref().unwrap_or_default()) {
                ("ENOENT", _) => FileErrorCode::FileNotFound,
                ("EACCES" | "EPERM" | "EROFS", _) => FileErrorCode::PermissionDenied,
                ("EISDIR", _) => FileErrorCode::IsDirectory,
                ("ENOTDIR" | "EEXIST", _) => FileErrorCode::NotADirectory,
                ("ENOSPC" | "EDQUOT", _) => FileErrorCode::NoSpace,
                ("EFBIG", _) => FileErrorCode::TooLarge,
                ("ENAMETOOLONG" | "ELOOP" | "EINVAL", _) => FileErrorCode::InvalidPath,
                (_, "NotFound") => FileErrorCode::FileNotFound,
                (_, "PermissionDenied" | "NotCapable") => FileErrorCode::PermissionDenied,
                (_, "IsADirectory") => FileErrorCode::IsDirectory,
                (_, "NotADirectory" | "AlreadyExists") => FileErrorCode::NotADirectory,
                _ => return None,
            };
        Some(FileError::refused(code, path))
    }

    /// The same as an error of ours.
    pub fn error(self, operation: &'static str) -> Error {
        let error =
            Error::new(ErrorKind::Protocol, operation, "Deno refuses the call").with_context("message", self.message);
        match self.code.or(self.constructor_name) {
            Some(code) => error.with_context("code", code),
            None => error,
        }
    }
}

/// What a message of the service says.
#[derive(Clone, Debug, PartialEq)]
pub enum Incoming {
    /// The call of this number did this, or was refused.
    Answer(u64, std::result::Result<Value, Refusal>),
    /// A piece of a stream, `None` at its end.
    Piece(u64, Option<Vec<u8>>),
    /// Nothing that matters.
    Other,
}

/// Reads a message.
///
/// # Errors
/// [`ErrorKind::Protocol`] for what is none.
pub fn incoming(text: &str) -> Result<Incoming> {
    #[derive(Deserialize)]
    struct Message {
        id: Option<u64>,
        method: Option<String>,
        #[serde(default)]
        params: Value,
        result: Option<Value>,
        error: Option<Refusal0>,
    }
    #[derive(Deserialize)]
    struct Refusal0 {
        #[serde(default)]
        message: String,
    }
    if text == "pong" {
        return Ok(Incoming::Other);
    }
    let mut message: Message = parse("exchange messages", text.as_bytes())?;
    if let Some(id) = message.id {
        if let Some(error) = message.error {
            return Ok(Incoming::Answer(id, Err(Refusal { message: error.message, ..Refusal::default() })));
        }
        let mut result = message.result.take().unwrap_or_default();
        return Ok(match result.get_mut("error").map(Value::take) {
            Some(error) => Incoming::Answer(id, Err(serde_json::from_value(error).unwrap_or_default())),
            None => Incoming::Answer(id, Ok(result.get_mut("ok").map(Value::take).unwrap_or_default())),
        });
    }
    let stream = || message.params["streamId"].as_u64().ok_or_else(|| senseless("exchange messages"));
    Ok(match message.method.as_deref() {
        Some("$sandbox.stream.enqueue") => {
            let data = message.params["data"].as_str().unwrap_or_default();
            Incoming::Piece(stream()?, Some(bytes(data)?))
        }
        Some("$sandbox.stream.end" | "$sandbox.stream.error") => Incoming::Piece(stream()?, None),
        _ => Incoming::Other,
    })
}

/// Bytes, which are base64 everywhere.
///
/// # Errors
/// [`ErrorKind::Protocol`] when they are not.
pub fn bytes(text: &str) -> Result<Vec<u8>> {
    BASE64.decode(text).map_err(|error| senseless("exchange messages").with_source(error))
}

/// Bytes as they are sent.
pub fn text(bytes: &[u8]) -> String {
    BASE64.encode(bytes)
}
