//! Values to requests and replies to values.
//!
//! Sources: the official clients (PyPI `e2b` 2.63.0, npm `e2b` 2.51.0) and the answers of the real `envd` 0.6.13.

use std::collections::BTreeMap;
use std::fmt;
use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use serde::{Deserialize, Serialize};
use serde_json::json;
use tidebox_core::{
    Error, ErrorKind, FileError, FileErrorCode, ListPage, ListRequest, OutputStream, Result, SandboxId, SandboxInfo,
    SandboxPath, Secret,
};

use super::config::{E2bConfig, PORT};
use crate::options::NetworkAccess;
use crate::plane::{Command, Ending};
use crate::signal;
use crate::transport::multipart::{self, Part};
use crate::transport::{Frame, Hint, Method, Reply, Request, escape};

/// How a sandbox is reached, as the control plane answers to create and connect.
#[derive(Clone, Deserialize, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Access {
    /// The sandbox's name.
    #[serde(rename = "sandboxID")]
    pub sandbox_id: String,
    /// The credential of its daemon. A sandbox that is not secured has none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub envd_access_token: Option<String>,
    /// The domain of its host; the configured one when it names none.
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
pub struct Listed {
    /// The sandbox's name.
    #[serde(rename = "sandboxID")]
    pub sandbox_id: String,
    /// Its labels.
    #[serde(default)]
    pub metadata: Option<BTreeMap<String, String>>,
}

/// What an error looks like, of the control plane and of plain calls of the daemon.
#[derive(Debug, Default, Deserialize)]
struct Refusal {
    #[serde(default)]
    message: String,
}

fn control(config: &E2bConfig, method: Method, path: &str) -> Request {
    Request::new(method, format!("{}{path}", config.api_url)).secret("x-api-key", config.api_key.clone())
}

/// Which of its calls a server has for making a sandbox and connecting to one. Their bodies and answers are the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Version {
    /// `/sandboxes`, all that servers before the summer of 2026 have.
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

/// Whether a refusal says that the server has no such call, and not that it has no such sandbox or template.
pub fn has_no_such_call(status: u16, body: &[u8]) -> bool {
    let words = serde_json::from_slice::<Refusal>(body).map(|refusal| refusal.message);
    status == 405 || status == 404 && words.map_or(true, |words| words.contains("no matching operation"))
}

/// `POST /v2/sandboxes`. `attempt` names the request, so that sending it twice makes one sandbox; the first version knows no such names,
/// and is sent once.
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
        Version::Second => request.header("idempotency-key", attempt).repeatable(),
    }
}

/// `POST /v2/sandboxes/{id}/connect`: wakes a sandbox that sleeps and begins its life anew.
pub fn connect(version: Version, config: &E2bConfig, id: &str) -> Request {
    let path = format!("{}/{}/connect", version.path(), escape(id));
    control(config, Method::Post, &path).json(&json!({ "timeout": config.timeout })).repeatable()
}

/// `GET /v2/sandboxes`. Labels are escaped three times: each name and value, the query of its own that they make, and that as a
/// parameter.
pub fn list(config: &E2bConfig, request: &ListRequest) -> Request {
    let mut query = Vec::new();
    if !request.labels.is_empty() {
        let pairs =
            request.labels.iter().map(|(name, value)| format!("{}={}", escape(escape(name)), escape(escape(value))));
        query.push(format!("metadata={}", escape(pairs.collect::<Vec<_>>().join("&"))));
    }
    query.push("state=running%2Cpaused".to_owned());
    query.push("limit=100".to_owned());
    if let Some(cursor) = &request.cursor {
        query.push(format!("nextToken={}", escape(cursor)));
    }
    control(config, Method::Get, &format!("/v2/sandboxes?{}", query.join("&")))
}

/// `DELETE /sandboxes/{id}`.
pub fn delete(config: &E2bConfig, id: &str) -> Request {
    control(config, Method::Delete, &format!("/sandboxes/{}", escape(id)))
}

/// Reads a page of a list. The cursor is in a header.
///
/// # Errors
/// [`ErrorKind::Protocol`] when it is none.
pub fn listed(body: &[u8], cursor: Option<&str>) -> Result<ListPage> {
    let entries: Vec<Listed> = parse("list", body)?;
    let sandboxes = entries.into_iter().map(|entry| {
        let id = SandboxId::parse(entry.sandbox_id)?;
        Ok(SandboxInfo { id, labels: entry.metadata.unwrap_or_default() })
    });
    let cursor = cursor.filter(|cursor| !cursor.is_empty()).map(str::to_owned);
    Ok(ListPage { sandboxes: sandboxes.collect::<Result<_>>()?, cursor })
}

/// Reads JSON.
///
/// # Errors
/// [`ErrorKind::Protocol`] when it is not what is expected.
pub fn parse<T: for<'de> Deserialize<'de>>(operation: &'static str, body: &[u8]) -> Result<T> {
    serde_json::from_slice(body).map_err(|error| {
        // The body may hold a token, so it is not shown.
        Error::new(ErrorKind::Protocol, operation, "E2B answered something else than expected").with_source(error)
    })
}

fn contains(body: &[u8], words: &[u8]) -> bool {
    body.windows(words.len()).any(|window| window == words)
}

/// What a status that is no success means, where nothing more is known.
pub fn failure(operation: &'static str, status: u16, body: &[u8]) -> Error {
    let refusal: Refusal = serde_json::from_slice(body).unwrap_or_default();
    let (kind, advice) = match status {
        400 | 422 => (ErrorKind::InvalidRequest, "E2B refuses the request"),
        401 => (ErrorKind::Unauthenticated, "E2B does not accept the key; look at E2B_API_KEY"),
        403 => (ErrorKind::Forbidden, "E2B refuses it to this key"),
        404 => (ErrorKind::SandboxNotFound, "there is no such sandbox"),
        429 => (ErrorKind::RateLimited, "E2B asks for fewer requests; try again later"),
        // Their proxy answers for a sandbox that is gone, or whose daemon does not listen.
        502 if contains(body, b"was not found") => {
            (ErrorKind::SandboxNotFound, "the sandbox has reached its time to live")
        }
        502 => (ErrorKind::Unavailable, "the sandbox does not answer; it may have reached its time to live"),
        500..=599 => (ErrorKind::Unavailable, "E2B is not well; try again later"),
        _ => (ErrorKind::Protocol, "E2B answered a status that its protocol does not have here"),
    };
    let error = Error::new(kind, operation, advice).with_context("status", status.to_string());
    if refusal.message.is_empty() { error } else { error.with_context("message", refusal.message) }
}

/// E2B says in a header whether another attempt makes sense.
pub fn hint(reply: &Reply) -> Hint {
    match reply.header("should-retry") {
        Some("true") => Hint::Again(None),
        Some("false") => Hint::Final,
        _ => Hint::None,
    }
}

/// How one sandbox's daemon is reached.
#[derive(Clone, Debug)]
pub struct Envd {
    /// Its address, without a slash at the end.
    pub url: String,
    /// The sandbox's name, by which a shared host finds it.
    pub id: String,
    /// Its credential.
    pub token: Option<Secret>,
    /// The user of commands and files.
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
            // A name without a password, as their own clients send it.
            Some(user) => request.header("authorization", format!("Basic {}", BASE64.encode(format!("{user}:")))),
            None => request,
        }
    }

    /// `process.Process/Start`. The daemon itself kills the command when its time is up.
    pub fn start(&self, command: &Command, shell: &str) -> Request {
        let env: BTreeMap<&str, &str> =
            command.env.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
        let mut process = json!({ "cmd": shell, "args": ["-l", "-c", command.script], "envs": env });
        if let Some(cwd) = &command.cwd {
            process["cwd"] = json!(cwd);
        }
        let message = json!({ "process": process, "stdin": false }).to_string();
        let silence = KEEPALIVE * 2;
        self.call("/process.Process/Start")
            .header("connect-timeout-ms", command.time.as_millis().to_string())
            .header("keepalive-ping-interval", KEEPALIVE.as_secs().to_string())
            .body("application/connect+json", Frame::write(0, message.as_bytes()))
            .patience(silence, silence)
    }

    /// `process.Process/SendSignal` with SIGKILL.
    pub fn kill(&self, pid: u64) -> Request {
        let body = json!({ "process": { "pid": pid }, "signal": "SIGNAL_SIGKILL" });
        self.call("/process.Process/SendSignal").json(&body).repeatable()
    }

    fn files(&self, method: Method, path: &SandboxPath) -> Request {
        let user = self.user.as_ref().map(|user| format!("&username={}", escape(user))).unwrap_or_default();
        self.request(method, &format!("/files?path={}{user}", escape(path.as_bytes())))
    }

    /// `POST /files`: one file, with the directories above it.
    pub fn upload(&self, path: &SandboxPath, content: Vec<u8>) -> Request {
        let file = Part::file("file", path.to_text(), content);
        let (media_type, pieces) = multipart::write(&[file]);
        self.files(Method::Post, path).pieces(media_type, pieces).repeatable()
    }

    /// `GET /files`.
    pub fn download(&self, path: &SandboxPath) -> Request {
        self.files(Method::Get, path)
    }
}

/// The flag of the last message of a stream, which tells how the stream ended.
const END_OF_STREAM: u8 = 2;

/// How often the daemon of a silent command says that it is there.
const KEEPALIVE: Duration = Duration::from_secs(50);

/// The refusal of a file, from the status and the words of the daemon; `None` when it is no refusal of a file.
pub fn file_refusal(status: u16, body: &[u8], path: &[u8]) -> Option<FileError> {
    let refusal: Refusal = serde_json::from_slice(body).unwrap_or_default();
    let says = |words: &str| refusal.message.contains(words);
    let code = match status {
        404 => FileErrorCode::FileNotFound,
        400 if says("is a directory") => FileErrorCode::IsDirectory,
        400 if says("permission denied") => FileErrorCode::PermissionDenied,
        400 => FileErrorCode::InvalidPath,
        403 => FileErrorCode::PermissionDenied,
        500 if says("path is a file") || says("not a directory") => FileErrorCode::NotADirectory,
        500 if says("permission denied") => FileErrorCode::PermissionDenied,
        507 => FileErrorCode::NoSpace,
        _ => return None,
    };
    Some(FileError::refused(code, path))
}

/// What a message of a running command says.
#[derive(Debug, PartialEq, Eq)]
pub enum Event {
    /// It runs under this number.
    Started(u64),
    /// It wrote something.
    Wrote(OutputStream, Vec<u8>),
    /// It ended.
    Ended(Ending),
    /// It could not be started: the reason.
    NotStarted(String),
    /// Nothing that matters.
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
    /// Left out when it is 0, as in all of protobuf's JSON.
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

/// Reads one message of a running command.
///
/// # Errors
/// [`ErrorKind::Protocol`] for what is none, and the error that the last message tells.
pub fn event(frame: &Frame) -> Result<Event> {
    if frame.flags & 1 != 0 {
        let message = "E2B compressed a message although it was not asked to";
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
        return Ok(Event::Ended(ending(&end)));
    }
    let Some(data) = event.data else { return Ok(Event::Other) };
    let (stream, text) = match (data.stdout, data.stderr, data.pty) {
        (Some(text), _, _) | (None, None, Some(text)) => (OutputStream::Stdout, text),
        (None, Some(text), _) => (OutputStream::Stderr, text),
        (None, None, None) => return Ok(Event::Other),
    };
    let bytes = BASE64.decode(text).map_err(|error| {
        Error::new(ErrorKind::Protocol, "execute", "E2B sent output that is no base64").with_source(error)
    })?;
    Ok(Event::Wrote(stream, bytes))
}

fn ending(end: &End) -> Ending {
    if end.exited || end.status.starts_with("exit status") {
        return Ending::Exit(end.exit_code);
    }
    let signal = end.status.strip_prefix("signal: ").map(|name| name.trim_end_matches(" (core dumped)"));
    signal.and_then(signal::exit_code).map_or(Ending::Unknown, Ending::Exit)
}

fn stream_error(error: StreamError) -> Result<Event> {
    let kind = match error.code.as_str() {
        "deadline_exceeded" => return Ok(Event::Ended(Ending::Timeout)),
        "invalid_argument" | "not_found" => return Ok(Event::NotStarted(error.message)),
        "unauthenticated" => ErrorKind::Unauthenticated,
        "permission_denied" => ErrorKind::Forbidden,
        "resource_exhausted" => ErrorKind::QuotaExceeded,
        "unavailable" => ErrorKind::Unavailable,
        _ => ErrorKind::Protocol,
    };
    let told = Error::new(kind, "execute", "E2B could not run the command to its end");
    Err(told.with_context("code", error.code).with_context("message", error.message))
}
