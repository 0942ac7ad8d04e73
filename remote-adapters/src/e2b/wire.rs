//! Conversion of values to requests and of responses to values.
//!
//! Sources: the official clients (PyPI `e2b` 2.63.0, npm `e2b` 2.51.0) and the responses of the real `envd` 0.6.13.

use std::collections::BTreeMap;
use std::fmt;
use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use serde::{Deserialize, Serialize};
use serde_json::json;
use tidebox_core::{
    Error, ErrorKind, FileError, FileErrorCode, ListPage, ListRequest, OutputStream, Result, SandboxId, SandboxInfo,
    SandboxPath, Secret, TerminalSize,
};

use super::config::{E2bConfig, PORT};
use crate::data_plane::{Command, CommandOutcome};
use crate::options::NetworkAccess;
use crate::signal;
use crate::transport::multipart::{self, Part};
use crate::transport::{Frame, Method, Request, Response, RetryHint, percent_encode};

/// Connection data of a sandbox, returned by create and connect.
#[derive(Clone, Deserialize, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Access {
    /// The sandbox's id.
    #[serde(rename = "sandboxID")]
    pub sandbox_id: String,
    /// Credential of its daemon. `None` for a sandbox that is not secured.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub envd_access_token: Option<String>,
    /// Credential of its servers. `None` if everyone may connect to them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub traffic_access_token: Option<String>,
    /// Domain of its host; `None` uses the configured one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub domain: Option<String>,
}

impl fmt::Debug for Access {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Access")
            .field("sandbox_id", &self.sandbox_id)
            .field("domain", &self.domain)
            .finish_non_exhaustive()
    }
}

/// An entry of a list.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub struct ListEntry {
    /// The sandbox's id.
    #[serde(rename = "sandboxID")]
    pub sandbox_id: String,
    /// Its labels.
    #[serde(default)]
    pub metadata: Option<BTreeMap<String, String>>,
}

/// Error body of the control plane and of the daemon's plain calls.
#[derive(Debug, Default, Deserialize)]
struct ErrorBody {
    #[serde(default)]
    message: String,
}

fn control(config: &E2bConfig, method: Method, path: &str) -> Request {
    Request::new(method, format!("{}{path}", config.api_url)).secret("x-api-key", config.api_key.clone())
}

/// API version of the create and connect calls. Bodies and responses are the same in both.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Version {
    /// `/sandboxes`, the only one before the summer of 2026.
    First,
    /// `/v2/sandboxes`.
    Second,
}

impl Version {
    fn path(self) -> &'static str {
        match self {
            Self::First => "/sandboxes",
            Self::Second => "/v2/sandboxes",
        }
    }
}

/// Returns whether an error means an unknown route, and not a missing sandbox or template.
pub fn is_unknown_route(status: u16, body: &[u8]) -> bool {
    let words = serde_json::from_slice::<ErrorBody>(body).map(|body| body.message);
    status == 405 || status == 404 && words.map_or(true, |words| words.contains("no matching operation"))
}

/// `POST /v2/sandboxes`. `attempt` is an idempotency key; the first version has none and is sent once.
pub fn create(
    version: Version,
    config: &E2bConfig,
    labels: &BTreeMap<String, String>,
    env: &[(String, String)],
    network: &NetworkAccess,
    attempt: &str,
) -> Request {
    let env: BTreeMap<&str, &str> = env.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
    let mut body = json!({
        "templateID": config.template,
        "timeout": config.timeout,
        "metadata": labels,
        "envVars": env,
        "secure": true,
    });
    if *network == NetworkAccess::Blocked {
        body["allow_internet_access"] = json!(false);
    }
    let request = control(config, Method::Post, version.path()).json(&body);
    match version {
        Version::First => request,
        Version::Second => request.header("idempotency-key", attempt).idempotent(),
    }
}

/// `POST /v2/sandboxes/{id}/connect`: wakes a sleeping sandbox and restarts its lifetime.
pub fn connect(version: Version, config: &E2bConfig, id: &str) -> Request {
    let path = format!("{}/{}/connect", version.path(), percent_encode(id));
    control(config, Method::Post, &path).json(&json!({ "timeout": config.timeout })).idempotent()
}

/// `GET /v2/sandboxes`. Labels are escaped three times: each name and value, the query string built from them, and that
/// string as a parameter.
pub fn list(config: &E2bConfig, request: &ListRequest) -> Request {
    let mut query = Vec::new();
    if !request.labels.is_empty() {
        let pairs = request.labels.iter().map(|(name, value)| {
            format!("{}={}", percent_encode(percent_encode(name)), percent_encode(percent_encode(value)))
        });
        query.push(format!("metadata={}", percent_encode(pairs.collect::<Vec<_>>().join("&"))));
    }
    query.push("state=running%2Cpaused".to_owned());
    query.push("limit=100".to_owned());
    if let Some(cursor) = &request.cursor {
        query.push(format!("nextToken={}", percent_encode(cursor)));
    }
    control(config, Method::Get, &format!("/v2/sandboxes?{}", query.join("&")))
}

/// `DELETE /sandboxes/{id}`.
pub fn delete(config: &E2bConfig, id: &str) -> Request {
    control(config, Method::Delete, &format!("/sandboxes/{}", percent_encode(id)))
}

/// Parses a page of a list. The cursor is in a header.
///
/// # Errors
/// [`ErrorKind::Protocol`] if the body is not such a page.
pub fn parse_list(body: &[u8], cursor: Option<&str>) -> Result<ListPage> {
    let entries: Vec<ListEntry> = parse("list", body)?;
    let sandboxes = entries.into_iter().map(|entry| {
        let id = SandboxId::parse(entry.sandbox_id)?;
        Ok(SandboxInfo { id, labels: entry.metadata.unwrap_or_default() })
    });
    let cursor = cursor.filter(|cursor| !cursor.is_empty()).map(str::to_owned);
    Ok(ListPage { sandboxes: sandboxes.collect::<Result<_>>()?, cursor })
}

/// Parses JSON.
///
/// # Errors
/// [`ErrorKind::Protocol`] if the body has another format.
pub fn parse<T: for<'de> Deserialize<'de>>(operation: &'static str, body: &[u8]) -> Result<T> {
    serde_json::from_slice(body).map_err(|error| {
        // Omit the body: it may contain a token.
        Error::new(ErrorKind::Protocol, operation, "unexpected response from E2B").with_source(error)
    })
}

fn contains(body: &[u8], words: &[u8]) -> bool {
    body.windows(words.len()).any(|window| window == words)
}

/// Maps an error status to an error, if nothing more specific applies.
pub fn failure(operation: &'static str, status: u16, body: &[u8]) -> Error {
    let error_body: ErrorBody = serde_json::from_slice(body).unwrap_or_default();
    let (kind, advice) = match status {
        400 | 422 => (ErrorKind::InvalidRequest, "E2B rejected the request"),
        401 => (ErrorKind::Unauthenticated, "E2B rejected the key; check E2B_API_KEY"),
        403 => (ErrorKind::Forbidden, "E2B does not permit this with this key"),
        404 => (ErrorKind::SandboxNotFound, "the sandbox does not exist"),
        429 => (ErrorKind::RateLimited, "E2B's rate limit is exceeded; try again later"),
        // E2B's proxy responds for a deleted sandbox and for one whose daemon does not listen.
        502 if contains(body, b"was not found") => {
            (ErrorKind::SandboxNotFound, "the sandbox has reached its time to live")
        }
        502 => (ErrorKind::Unavailable, "the sandbox does not respond; it may have reached its time to live"),
        500..=599 => (ErrorKind::Unavailable, "E2B is unavailable; try again later"),
        _ => (ErrorKind::Protocol, "E2B returned an unexpected status"),
    };
    let error = Error::new(kind, operation, advice).with_context("status", status.to_string());
    if error_body.message.is_empty() { error } else { error.with_context("message", error_body.message) }
}

/// Reads the header in which E2B states whether a retry makes sense.
pub fn hint(reply: &Response) -> RetryHint {
    match reply.header("should-retry") {
        Some("true") => RetryHint::Retry(None),
        Some("false") => RetryHint::Final,
        _ => RetryHint::None,
    }
}

/// Request builder for one sandbox's daemon.
#[derive(Clone, Debug)]
pub struct Envd {
    /// Daemon URL without a trailing slash.
    pub url: String,
    /// The sandbox's id, by which a shared host routes.
    pub id: String,
    /// Credential.
    pub token: Option<Secret>,
    /// User that runs commands and owns files.
    pub user: Option<String>,
}

impl Envd {
    fn request(&self, method: Method, path: &str) -> Request {
        let request = Request::new(method, format!("{}{path}", self.url))
            .header("e2b-sandbox-id", self.id.as_str())
            .header("e2b-sandbox-port", PORT.to_string());
        match &self.token {
            Some(token) => request.secret("x-access-token", token.clone()),
            None => request,
        }
    }

    fn call(&self, path: &str) -> Request {
        let request = self.request(Method::Post, path).header("connect-protocol-version", "1");
        match &self.user {
            // A user name without a password, as the official clients send it.
            Some(user) => request.header("authorization", format!("Basic {}", BASE64.encode(format!("{user}:")))),
            None => request,
        }
    }

    /// `process.Process/Start`. The daemon kills the command at its time limit.
    pub fn start(&self, command: &Command, shell: &str, tag: &str, size: Option<TerminalSize>) -> Request {
        let env: BTreeMap<&str, &str> =
            command.env.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
        let mut process = json!({ "cmd": shell, "args": ["-l", "-c", command.script], "envs": env });
        if let Some(cwd) = &command.cwd {
            process["cwd"] = json!(cwd);
        }
        let message = match size {
            Some(size) => json!({ "process": process, "tag": tag, "pty": terminal(size) }),
            None => json!({ "process": process, "tag": tag, "stdin": false }),
        };
        let message = message.to_string();
        let silence = KEEPALIVE * 2;
        self.call("/process.Process/Start")
            .header("connect-timeout-ms", command.timeout.as_millis().to_string())
            .header("keepalive-ping-interval", KEEPALIVE.as_secs().to_string())
            .body("application/connect+json", Frame::write(0, message.as_bytes()))
            .timeouts(silence, silence)
    }

    /// `process.Process/SendInput` with keys of a terminal.
    pub fn type_keys(&self, pid: u64, keys: &[u8]) -> Request {
        let body = json!({ "process": { "pid": pid }, "input": { "pty": BASE64.encode(keys) } });
        self.call("/process.Process/SendInput").json(&body)
    }

    /// `process.Process/Update` with the size of a terminal.
    pub fn resize(&self, pid: u64, size: TerminalSize) -> Request {
        let body = json!({ "process": { "pid": pid }, "pty": terminal(size) });
        self.call("/process.Process/Update").json(&body).idempotent()
    }

    /// `process.Process/SendSignal` with SIGKILL.
    pub fn kill(&self, tag: &str) -> Request {
        let body = json!({ "process": { "tag": tag }, "signal": "SIGNAL_SIGKILL" });
        self.call("/process.Process/SendSignal").json(&body).idempotent()
    }

    fn files(&self, method: Method, path: &SandboxPath) -> Request {
        let user = self.user.as_ref().map(|user| format!("&username={}", percent_encode(user))).unwrap_or_default();
        self.request(method, &format!("/files?path={}{user}", percent_encode(path.as_bytes())))
    }

    /// `POST /files`: uploads one file and creates missing parent directories.
    pub fn upload(&self, path: &SandboxPath, content: Vec<u8>) -> Request {
        let file = Part::file("file", path.to_text(), content);
        let (media_type, chunks) = multipart::write(&[file]);
        self.files(Method::Post, path).chunked_body(media_type, chunks).idempotent()
    }

    /// `GET /files`.
    pub fn download(&self, path: &SandboxPath) -> Request {
        self.files(Method::Get, path)
    }
}

fn terminal(size: TerminalSize) -> serde_json::Value {
    json!({ "size": { "cols": size.columns, "rows": size.rows } })
}

/// Flag of the last message of a stream, which contains the stream's status.
const END_OF_STREAM: u8 = 2;

/// Keep-alive interval requested from the daemon for silent commands.
const KEEPALIVE: Duration = Duration::from_secs(50);

/// Maps a status and message of the daemon to a file error; `None` if it has another cause.
pub fn file_error(status: u16, body: &[u8], path: &[u8]) -> Option<FileError> {
    let error_body: ErrorBody = serde_json::from_slice(body).unwrap_or_default();
    let has_message = |words: &str| error_body.message.contains(words);
    let code = match status {
        404 => FileErrorCode::FileNotFound,
        400 if has_message("is a directory") => FileErrorCode::IsDirectory,
        400 if has_message("permission denied") => FileErrorCode::PermissionDenied,
        400 => FileErrorCode::InvalidPath,
        403 => FileErrorCode::PermissionDenied,
        500 if has_message("path is a file") || has_message("not a directory") => FileErrorCode::NotADirectory,
        500 if has_message("permission denied") => FileErrorCode::PermissionDenied,
        507 => FileErrorCode::NoSpace,
        _ => return None,
    };
    Some(FileError::with_code(code, path))
}

/// A message of a running command.
#[derive(Debug, PartialEq, Eq)]
pub enum Event {
    /// Started, with its process id.
    Started(u64),
    /// Output.
    Output(OutputStream, Vec<u8>),
    /// Exited.
    Ended(CommandOutcome),
    /// Not started; the reason.
    NotStarted(String),
    /// Ignored message.
    Other,
}

#[derive(Debug, Default, Deserialize)]
struct Message {
    #[serde(default)]
    event: Option<RawEvent>,
    #[serde(default)]
    error: Option<StreamError>,
}

#[derive(Debug, Default, Deserialize)]
struct RawEvent {
    start: Option<Start>,
    data: Option<Data>,
    end: Option<End>,
}

#[derive(Debug, Deserialize)]
struct Start {
    pid: u64,
}

#[derive(Debug, Deserialize)]
struct Data {
    stdout: Option<String>,
    stderr: Option<String>,
    pty: Option<String>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct End {
    /// Omitted if 0, as in all protobuf JSON.
    #[serde(default)]
    exit_code: i32,
    #[serde(default)]
    exited: bool,
    #[serde(default)]
    status: String,
}

#[derive(Debug, Default, Deserialize)]
struct StreamError {
    #[serde(default)]
    code: String,
    #[serde(default)]
    message: String,
}

/// Parses one message of a running command.
///
/// # Errors
/// [`ErrorKind::Protocol`] if the message is malformed, and the error in the last message.
pub fn event(frame: &Frame) -> Result<Event> {
    if frame.flags & 1 != 0 {
        let message = "E2B sent a compressed message without negotiation";
        return Err(Error::new(ErrorKind::Protocol, "execute", message));
    }
    let message: Message = parse("execute", &frame.message)?;
    if let Some(error) = message.error {
        return stream_error(error);
    }
    if frame.flags & END_OF_STREAM != 0 {
        return Ok(Event::Other);
    }
    let event = message.event.unwrap_or_default();
    if let Some(start) = event.start {
        return Ok(Event::Started(start.pid));
    }
    if let Some(end) = event.end {
        return Ok(Event::Ended(outcome(&end)));
    }
    let Some(data) = event.data else { return Ok(Event::Other) };
    let (stream, text) = match (data.stdout, data.stderr, data.pty) {
        (Some(text), _, _) | (None, None, Some(text)) => (OutputStream::Stdout, text),
        (None, Some(text), _) => (OutputStream::Stderr, text),
        (None, None, None) => return Ok(Event::Other),
    };
    let bytes = BASE64.decode(text).map_err(|error| {
        Error::new(ErrorKind::Protocol, "execute", "E2B sent output that is not base64").with_source(error)
    })?;
    Ok(Event::Output(stream, bytes))
}

fn outcome(end: &End) -> CommandOutcome {
    if end.exited || end.status.starts_with("exit status") {
        return CommandOutcome::Exit(end.exit_code);
    }
    let signal = end.status.strip_prefix("signal: ").map(|name| name.trim_end_matches(" (core dumped)"));
    signal.and_then(signal::exit_code).map_or(CommandOutcome::Unknown, CommandOutcome::Exit)
}

fn stream_error(error: StreamError) -> Result<Event> {
    let kind = match error.code.as_str() {
        "deadline_exceeded" => return Ok(Event::Ended(CommandOutcome::Timeout)),
        "invalid_argument" | "not_found" => return Ok(Event::NotStarted(error.message)),
        "unauthenticated" => ErrorKind::Unauthenticated,
        "permission_denied" => ErrorKind::Forbidden,
        "resource_exhausted" => ErrorKind::QuotaExceeded,
        "unavailable" => ErrorKind::Unavailable,
        _ => ErrorKind::Protocol,
    };
    let reported = Error::new(kind, "execute", "E2B could not complete the command");
    Err(reported.with_context("code", error.code).with_context("message", error.message))
}
