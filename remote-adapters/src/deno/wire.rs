//! Conversion of values to requests and messages, and back.
//!
//! Sources: the official clients (npm `@deno/sandbox` 0.13.2, PyPI `deno-sandbox` 0.16.0) and recordings of what they
//! send. Where they differ, the first is followed. Not tested against the service itself.

use std::collections::BTreeMap;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use tidebox_core::{
    Error, ErrorKind, FileError, FileErrorCode, ListPage, ListRequest, Result, SandboxId, SandboxInfo, Secret,
};

use super::config::DenoConfig;
use crate::data_plane::{Command, CommandOutcome};
use crate::options::NetworkAccess;
use crate::signal;
use crate::transport::{Idempotency, Method, Request, percent_encode};

fn authorised(config: &DenoConfig, method: Method, url: String) -> Request {
    let bearer = [b"Bearer ", config.token.expose()].concat();
    let request = Request::new(method, url).secret("authorization", Secret::new(bearer));
    match &config.org {
        Some(org) => request.header("x-deno-org", org.as_str()),
        None => request,
    }
}

/// A host that never resolves (RFC 6761). The meaning of an empty list of allowed hosts is undocumented.
const UNREACHABLE_HOST: &str = "nowhere.invalid";

/// WebSocket request that creates a sandbox ending at `stop_at`, in milliseconds since 1970.
///
/// # Errors
/// [`ErrorKind::Unsupported`] if there are more labels than the service allows.
pub fn create(config: &DenoConfig, labels: &BTreeMap<String, String>, stop_at: u64) -> Result<Request> {
    if labels.len() > 5 {
        let message = "Deno allows at most five labels per sandbox";
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
        NetworkAccess::Only(_) | NetworkAccess::Blocked => body["allow_net"] = json!([UNREACHABLE_HOST]),
    }
    let url = format!("{}/api/v3/sandboxes/create", config.url(&config.region)?);
    // The configuration may contain secrets.
    let header = Secret::new(BASE64.encode(body.to_string()));
    let mut request = authorised(config, Method::Get, url).secret("x-deno-sandbox-config", header);
    // Each request creates another sandbox.
    request.repeat = Idempotency::RetryIfRejected;
    Ok(request)
}

/// WebSocket request that connects to an existing sandbox.
///
/// # Errors
/// [`ErrorKind::InvalidRequest`] if the region in the id is invalid.
pub fn connect(config: &DenoConfig, id: &str) -> Result<Request> {
    Ok(authorised(config, Method::Get, format!("{}/api/v3/sandbox/{}/connect", config.url_of(id)?, percent_encode(id))))
}

/// `PATCH /api/v3/sandbox/{id}`: sets the end time of a sandbox.
///
/// # Errors
/// Same as [`connect`].
pub fn extend(config: &DenoConfig, id: &str, stop_at: u64) -> Result<Request> {
    let url = format!("{}/api/v3/sandbox/{}", config.url_of(id)?, percent_encode(id));
    Ok(authorised(config, Method::Patch, url).json(&json!({ "stop_at_ms": stop_at })))
}

/// `POST /api/v3/sandbox/{id}/expose/http`: reserves a domain.
///
/// # Errors
/// Same as [`connect`].
pub fn expose(config: &DenoConfig, id: &str) -> Result<Request> {
    let url = format!("{}/api/v3/sandbox/{}/expose/http", config.url_of(id)?, percent_encode(id));
    Ok(authorised(config, Method::Post, url))
}

/// A reserved domain.
#[derive(Debug, Deserialize)]
pub struct Exposed {
    /// The domain, without a scheme.
    pub domain: String,
}

/// `DELETE /api/v3/sandbox/{id}`
///
/// # Errors
/// Same as [`connect`].
pub fn delete(config: &DenoConfig, id: &str) -> Result<Request> {
    Ok(authorised(config, Method::Delete, format!("{}/api/v3/sandbox/{}", config.url_of(id)?, percent_encode(id))))
}

/// `GET /api/v2/sandboxes`. The response is not paginated.
pub fn list(config: &DenoConfig, request: &ListRequest) -> Request {
    let pairs = request
        .labels
        .iter()
        .map(|(name, value)| format!("{}={}", percent_encode(format!("labels[{name}]")), percent_encode(value)));
    let query = pairs.collect::<Vec<_>>().join("&");
    let mark = if query.is_empty() { "" } else { "?" };
    authorised(config, Method::Get, format!("{}/api/v2/sandboxes{mark}{query}", config.api_url))
}

/// An entry of the list.
#[derive(Clone, Debug, Deserialize)]
struct ListEntry {
    id: String,
    #[serde(default)]
    status: String,
    #[serde(default)]
    labels: Option<BTreeMap<String, String>>,
}

/// Parses the list and keeps running sandboxes. If the service returns no labels, the requested ones are used.
///
/// # Errors
/// [`ErrorKind::Protocol`] if the body is not such a list.
pub fn parse_list(body: &[u8], asked: &BTreeMap<String, String>) -> Result<ListPage> {
    let entries: Vec<ListEntry> = parse("list", body)?;
    let running = entries.into_iter().filter(|entry| entry.status != "stopped");
    let sandboxes = running.map(|entry| {
        Ok(SandboxInfo { id: SandboxId::parse(entry.id)?, labels: entry.labels.unwrap_or_else(|| asked.clone()) })
    });
    Ok(ListPage { sandboxes: sandboxes.collect::<Result<_>>()?, cursor: None })
}

/// Parses JSON.
///
/// # Errors
/// [`ErrorKind::Protocol`] if the body has another format.
pub fn parse<T: for<'de> Deserialize<'de>>(operation: &'static str, body: &[u8]) -> Result<T> {
    serde_json::from_slice(body).map_err(|error| unexpected_response(operation).with_source(error))
}

/// Error for a response in an unexpected format.
pub(super) fn unexpected_response(operation: &'static str) -> Error {
    Error::new(ErrorKind::Protocol, operation, "unexpected response from Deno")
}

/// Maps an error status to an error.
pub fn failure(operation: &'static str, status: u16, body: &[u8]) -> Error {
    #[derive(Default, Deserialize)]
    #[serde(default)]
    struct RpcError {
        code: String,
        message: String,
    }
    let error_body: RpcError = serde_json::from_slice(body).unwrap_or_default();
    let (kind, advice) = match (status, error_body.code.as_str()) {
        (401, _) | (_, "INVALID_TOKEN") => {
            (ErrorKind::Unauthenticated, "Deno rejected the token; check DENO_DEPLOY_TOKEN")
        }
        (403, _) => (ErrorKind::Forbidden, "Deno does not permit this with this token"),
        (404 | 410, _) => (ErrorKind::SandboxNotFound, "the sandbox does not exist"),
        (400 | 422, _) => (ErrorKind::InvalidRequest, "Deno rejected the request"),
        (429, "") => (ErrorKind::RateLimited, "Deno's rate limit is exceeded; try again later"),
        (429, _) => {
            (ErrorKind::QuotaExceeded, "the organisation's limit of concurrent sandboxes is reached; delete some")
        }
        (500..=599, _) => (ErrorKind::Unavailable, "Deno is unavailable; try again later"),
        _ => (ErrorKind::Protocol, "Deno returned an unexpected status"),
    };
    let error = Error::new(kind, operation, advice).with_context("status", status.to_string());
    let error = if error_body.code.is_empty() { error } else { error.with_context("code", error_body.code) };
    if error_body.message.is_empty() { error } else { error.with_context("message", error_body.message) }
}

/// A JSON-RPC call.
pub fn call(id: u64, method: &str, params: &Value) -> Value {
    json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params })
}

/// `$sandbox.stream.start`: starts an upload stream. Both sides number their streams separately.
pub fn start_stream(stream: u64) -> String {
    notify("start", &json!({ "streamId": stream }))
}

/// `$sandbox.stream.enqueue`: one chunk.
pub fn enqueue(stream: u64, chunk: &[u8]) -> String {
    let data = text(chunk);
    // Base64 needs no JSON escaping, so a long text is not scanned again.
    format!(
        r#"{{"jsonrpc":"2.0","method":"$sandbox.stream.enqueue","params":{{"streamId":{stream},"data":"{data}"}}}}"#
    )
}

/// `$sandbox.stream.end`: the stream is complete.
pub fn end_stream(stream: u64) -> String {
    notify("end", &json!({ "streamId": stream }))
}

/// `$sandbox.stream.error`: the stream is incomplete and ends. The reason is an error object as in the JavaScript
/// client; the Python client sends only the message.
pub fn fail_stream(stream: u64) -> String {
    let reason = json!({ "constructorName": "Error", "message": "the rest of the file is not sent" });
    notify("error", &json!({ "streamId": stream, "error": reason }))
}

fn notify(method: &str, params: &Value) -> String {
    json!({ "jsonrpc": "2.0", "method": format!("$sandbox.stream.{method}"), "params": params }).to_string()
}

/// A command with separate output streams.
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

/// A command that kills another one and its descendants, because the service signals only the process itself.
pub fn kill_tree(pid: u64) -> Value {
    let script = "stop() { kill -s STOP \"$1\" 2>/dev/null; \
                  for c in $(cat /proc/\"$1\"/task/*/children 2>/dev/null); do stop \"$c\"; done; \
                  kill -s KILL \"$1\" 2>/dev/null; }; stop \"$0\"";
    json!({ "command": "/bin/sh", "args": ["-c", script, pid.to_string()], "stdout": "null", "stderr": "null" })
}

/// Response to `spawn`.
#[derive(Clone, Debug, Deserialize, Serialize, PartialEq, Eq)]
#[serde(rename_all = "camelCase")]
pub struct Spawned {
    /// Process id.
    pub pid: u64,
    /// Stream number of standard output.
    pub stdout_stream_id: Option<u64>,
    /// Stream number of standard error.
    pub stderr_stream_id: Option<u64>,
}

/// Response to `processWait`.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub struct WaitResponse {
    /// Exit code.
    #[serde(default)]
    pub code: Option<i32>,
    /// Signal that killed the process.
    #[serde(default)]
    pub signal: Option<String>,
}

impl WaitResponse {
    /// Returns the outcome of the command.
    pub fn outcome(&self) -> CommandOutcome {
        match &self.signal {
            Some(signal) => signal::exit_code(signal).map_or(CommandOutcome::Unknown, CommandOutcome::Exit),
            None => self.code.map_or(CommandOutcome::Unknown, CommandOutcome::Exit),
        }
    }
}

/// File metadata.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Stat {
    /// True for a regular file.
    pub is_file: bool,
    /// True for a directory.
    pub is_directory: bool,
    /// Size in bytes.
    #[serde(default)]
    pub size: u64,
}

/// Error response of a call.
#[derive(Clone, Debug, Default, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "camelCase", default)]
pub struct RpcError {
    /// Error class, such as `NotFound`.
    pub constructor_name: Option<String>,
    /// Error message.
    pub message: String,
    /// Errno name, such as `ENOENT`.
    pub code: Option<String>,
}

impl RpcError {
    /// Maps the error to a file error; `None` if it has another cause.
    pub fn file_error(&self, path: &[u8]) -> Option<FileError> {
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
        Some(FileError::with_code(code, path))
    }

    /// Converts to [`Error`].
    pub fn error(self, operation: &'static str) -> Error {
        let error =
            Error::new(ErrorKind::Protocol, operation, "Deno rejected the call").with_context("message", self.message);
        match self.code.or(self.constructor_name) {
            Some(code) => error.with_context("code", code),
            None => error,
        }
    }
}

/// A parsed message of the service.
#[derive(Clone, Debug, PartialEq)]
pub enum Incoming {
    /// Response to the call with this number.
    Answer(u64, std::result::Result<Value, RpcError>),
    /// A chunk of a stream; `None` at its end.
    Piece(u64, Option<Vec<u8>>),
    /// Ignored message.
    Other,
}

/// Parses a message.
///
/// # Errors
/// [`ErrorKind::Protocol`] if the message is malformed.
pub fn incoming(text: &str) -> Result<Incoming> {
    #[derive(Deserialize)]
    struct Message {
        id: Option<u64>,
        method: Option<String>,
        #[serde(default)]
        params: Value,
        result: Option<Value>,
        error: Option<RawRpcError>,
    }
    #[derive(Deserialize)]
    struct RawRpcError {
        #[serde(default)]
        message: String,
    }
    if text == "pong" {
        return Ok(Incoming::Other);
    }
    let mut message: Message = parse("exchange messages", text.as_bytes())?;
    if let Some(id) = message.id {
        if let Some(error) = message.error {
            return Ok(Incoming::Answer(id, Err(RpcError { message: error.message, ..RpcError::default() })));
        }
        let mut result = message.result.take().unwrap_or_default();
        return Ok(match result.get_mut("error").map(Value::take) {
            Some(error) => Incoming::Answer(id, Err(serde_json::from_value(error).unwrap_or_default())),
            None => Incoming::Answer(id, Ok(result.get_mut("ok").map(Value::take).unwrap_or_default())),
        });
    }
    let stream = || message.params["streamId"].as_u64().ok_or_else(|| unexpected_response("exchange messages"));
    Ok(match message.method.as_deref() {
        Some("$sandbox.stream.enqueue") => {
            let data = message.params["data"].as_str().unwrap_or_default();
            Incoming::Piece(stream()?, Some(bytes(data)?))
        }
        Some("$sandbox.stream.end" | "$sandbox.stream.error") => Incoming::Piece(stream()?, None),
        _ => Incoming::Other,
    })
}

/// Decodes base64.
///
/// # Errors
/// [`ErrorKind::Protocol`] if the text is not base64.
pub fn bytes(text: &str) -> Result<Vec<u8>> {
    BASE64.decode(text).map_err(|error| unexpected_response("exchange messages").with_source(error))
}

/// Encodes base64.
pub fn text(bytes: &[u8]) -> String {
    BASE64.encode(bytes)
}
