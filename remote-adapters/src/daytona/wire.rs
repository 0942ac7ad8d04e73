//! Conversion of values to requests and of responses to values.
//!
//! Sources: the official clients (PyPI `daytona` 0.226.1, npm `@daytona/sdk` 0.216.0) and the public sources of the
//! daemon.

use std::collections::BTreeMap;
use std::fmt;
use std::time::Duration;

use serde::Deserialize;
use serde_json::{Value, json};
use tidebox_core::{
    Error, ErrorKind, FileError, FileErrorCode, ListPage, ListRequest, Result, SandboxId, SandboxInfo, SandboxPath,
    Secret, TerminalSize,
};

use super::config::{DaytonaConfig, Source};
use crate::data_plane::Command;
use crate::transport::multipart::{self, Part};
use crate::transport::{Method, Request, Response, RetryHint, percent_encode};

/// Version of the official client whose formats are used. The daemon responds to older or unnamed versions in other
/// formats.
const SDK_VERSION: &str = "0.226.1";

/// A sandbox as returned by the control plane.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Sandbox {
    /// Sandbox id.
    pub id: String,
    /// Current state, such as `started`.
    #[serde(default)]
    pub state: String,
    /// Reason of an error state.
    #[serde(default)]
    pub error_reason: Option<String>,
    /// Its labels.
    #[serde(default)]
    pub labels: BTreeMap<String, String>,
    /// URL of its daemon, without the id.
    #[serde(default)]
    pub toolbox_proxy_url: Option<String>,
}

/// State category, from which the next action follows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    /// Running.
    Ready,
    /// Changing to another state.
    Changing,
    /// Stopped; can be started.
    Asleep,
    /// Deleted, or being deleted.
    Gone,
    /// Failed; does not recover automatically.
    Broken,
}

impl Sandbox {
    /// Categorises the state. Unknown states count as changing.
    pub fn state(&self) -> State {
        match self.state.as_str() {
            "started" => State::Ready,
            "stopped" | "archived" | "paused" => State::Asleep,
            "destroying" | "destroyed" => State::Gone,
            "error" | "build_failed" => State::Broken,
            _ => State::Changing,
        }
    }
}

/// Error body of both planes.
#[derive(Debug, Default, Deserialize)]
struct ErrorBody {
    #[serde(default)]
    message: Value,
    #[serde(default)]
    code: Value,
}

impl ErrorBody {
    fn read(body: &[u8]) -> Self {
        serde_json::from_slice(body).unwrap_or_default()
    }

    fn message(&self) -> String {
        match &self.message {
            Value::String(text) => text.clone(),
            Value::Null => String::new(),
            // Validation errors are a list of sentences.
            other => other.to_string(),
        }
    }
}

fn request(config: &DaytonaConfig, method: Method, url: String) -> Request {
    let bearer = [b"Bearer ", config.api_key.expose()].concat();
    let request = Request::new(method, url)
        .secret("authorization", Secret::new(bearer))
        .header("x-daytona-source", "tidebox")
        .header("x-daytona-sdk-version", SDK_VERSION);
    match &config.organization {
        Some(organization) => request.header("x-daytona-organization-id", organization),
        None => request,
    }
}

fn control(config: &DaytonaConfig, method: Method, path: &str) -> Request {
    request(config, method, format!("{}{path}", config.api_url))
}

/// Label that identifies the sandbox created by a request whose response was lost. Lists omit it.
pub(super) const ATTEMPT: &str = "tidebox-attempt";

/// `POST /sandbox`. Idempotent, because `name` is unique.
pub fn create(
    config: &DaytonaConfig,
    labels: &BTreeMap<String, String>,
    env: &[(String, String)],
    name: &str,
    attempt: &str,
) -> Request {
    let env: BTreeMap<&str, &str> = env.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
    let mut labels = labels.clone();
    labels.insert(ATTEMPT.to_owned(), attempt.to_owned());
    let mut body =
        json!({ "name": name, "env": env, "labels": labels, "ttlMinutes": config.ttl_minutes, "volumes": [] });
    let mut set = |field: &str, value: Value| {
        if !value.is_null() {
            body[field] = value;
        }
    };
    set("user", json!(config.user));
    set("target", json!(config.target));
    set("autoStopInterval", json!(config.auto_stop_minutes));
    match &config.source {
        Source::Snapshot(snapshot) => set("snapshot", json!(snapshot)),
        Source::Image(image) => {
            set("buildInfo", json!({ "dockerfileContent": format!("FROM {image}\n") }));
            set("cpu", json!(config.resources.cpu));
            set("memory", json!(config.resources.memory));
            set("disk", json!(config.resources.disk));
        }
    }
    let joined = |words: &[String]| if words.is_empty() { Value::Null } else { json!(words.join(",")) };
    set("networkBlockAll", if config.network.block_all { json!(true) } else { Value::Null });
    set("networkAllowList", joined(&config.network.networks));
    set("domainAllowList", joined(&config.network.domains));
    control(config, Method::Post, "/sandbox").json(&body).idempotent()
}

/// `GET /sandbox/{id}`. Also accepts a name.
pub fn get(config: &DaytonaConfig, id: &str) -> Request {
    control(config, Method::Get, &format!("/sandbox/{}", percent_encode(id)))
}

/// `GET /sandbox/{id}/ports/{port}/preview-url`.
pub fn preview(config: &DaytonaConfig, id: &str, port: u16) -> Request {
    control(config, Method::Get, &format!("/sandbox/{}/ports/{port}/preview-url", percent_encode(id)))
}

/// Address of a server in a sandbox.
#[derive(Deserialize)]
pub struct Preview {
    /// URL of the server.
    pub url: String,
    /// Credential, sent in a header. A public sandbox may have none.
    #[serde(default)]
    pub token: Option<String>,
}

impl fmt::Debug for Preview {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Preview").field("url", &self.url).finish_non_exhaustive()
    }
}

/// `POST /sandbox/{id}/start`.
pub fn start(config: &DaytonaConfig, id: &str) -> Request {
    control(config, Method::Post, &format!("/sandbox/{}/start", percent_encode(id))).idempotent()
}

/// `DELETE /sandbox/{id}`.
pub fn delete(config: &DaytonaConfig, id: &str) -> Request {
    control(config, Method::Delete, &format!("/sandbox/{}", percent_encode(id)))
}

/// `GET /sandbox`.
pub fn list(config: &DaytonaConfig, request: &ListRequest) -> Request {
    let mut query = Vec::new();
    if let Some(cursor) = &request.cursor {
        query.push(format!("cursor={}", percent_encode(cursor)));
    }
    query.push("limit=100".to_owned());
    if !request.labels.is_empty() {
        query.push(format!("labels={}", percent_encode(json!(request.labels).to_string())));
    }
    control(config, Method::Get, &format!("/sandbox?{}", query.join("&")))
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Page {
    items: Vec<Sandbox>,
    #[serde(default)]
    next_cursor: Option<String>,
}

/// Parses a page of a list and skips deleted sandboxes.
///
/// # Errors
/// [`ErrorKind::Protocol`] if the body is not such a page.
pub fn parse_list(body: &[u8]) -> Result<ListPage> {
    let page: Page = parse("list", body)?;
    let there = page.items.into_iter().filter(|sandbox| sandbox.state() != State::Gone);
    let sandboxes = there.map(|mut sandbox| {
        sandbox.labels.remove(ATTEMPT);
        Ok(SandboxInfo { id: SandboxId::parse(sandbox.id)?, labels: sandbox.labels })
    });
    let cursor = page.next_cursor.filter(|cursor| !cursor.is_empty());
    Ok(ListPage { sandboxes: sandboxes.collect::<Result<_>>()?, cursor })
}

/// Parses JSON.
///
/// # Errors
/// [`ErrorKind::Protocol`] if the body has another format.
pub fn parse<T: for<'de> Deserialize<'de>>(operation: &'static str, body: &[u8]) -> Result<T> {
    serde_json::from_slice(body).map_err(|error| {
        // Omit the body: it may contain command output.
        Error::new(ErrorKind::Protocol, operation, "unexpected response from Daytona").with_source(error)
    })
}

/// Maps an error status to an error, if nothing more specific applies.
pub fn failure(operation: &'static str, status: u16, body: &[u8]) -> Error {
    let rejection = ErrorBody::read(body);
    let (kind, advice) = match status {
        400 | 409 | 422 => (ErrorKind::InvalidRequest, "Daytona rejected the request"),
        401 => (ErrorKind::Unauthenticated, "Daytona rejected the key; check DAYTONA_API_KEY"),
        402 => (ErrorKind::QuotaExceeded, "Daytona requires payment; check the organisation's wallet"),
        403 if rejection.message().contains("quota") || rejection.message().contains("limit exceeded") => (
            ErrorKind::QuotaExceeded,
            "the organisation's Daytona quota is exhausted; delete sandboxes or request a higher quota",
        ),
        403 => (ErrorKind::Forbidden, "Daytona does not permit this with this key"),
        404 => (ErrorKind::SandboxNotFound, "the sandbox does not exist"),
        408 | 504 => (ErrorKind::Timeout, "Daytona timed out; try again later"),
        429 => (ErrorKind::RateLimited, "Daytona's rate limit is exceeded; try again later"),
        500..=599 => {
            (ErrorKind::Unavailable, "Daytona is unavailable, or the sandbox does not respond; try again later")
        }
        _ => (ErrorKind::Protocol, "Daytona returned an unexpected status"),
    };
    let error = Error::new(kind, operation, advice).with_context("status", status.to_string());
    let error = match rejection.code.as_str() {
        Some(code) => error.with_context("code", code),
        None => error,
    };
    let message = rejection.message();
    if message.is_empty() { error } else { error.with_context("message", message) }
}

/// Reads the rate limit headers. Daytona limits several kinds of requests separately and names the kind in its headers.
/// Returns the time until the next request of this kind.
pub fn hint(reply: &Response) -> RetryHint {
    if reply.status != 429 || reply.header("retry-after").is_some() {
        return RetryHint::None;
    }
    let seconds = |prefix: &str| {
        let named = reply.headers.iter().filter(|(name, _)| name.starts_with(prefix));
        named.filter_map(|(_, value)| value.trim().parse::<u64>().ok()).max()
    };
    let pause = seconds("retry-after-").or_else(|| seconds("x-ratelimit-reset-"));
    pause.map_or(RetryHint::None, |pause| RetryHint::Retry(Some(Duration::from_secs(pause))))
}

/// Request builder for one sandbox's daemon.
#[derive(Clone, Debug)]
pub struct Toolbox {
    pub(super) config: DaytonaConfig,
    pub(super) url: String,
}

impl Toolbox {
    /// Creates the request builder for this sandbox.
    ///
    /// # Errors
    /// [`ErrorKind::Protocol`] if the daemon's URL is unknown.
    pub fn new(config: &DaytonaConfig, sandbox: &Sandbox) -> Result<Self> {
        let named = config.toolbox_url.as_deref().or(sandbox.toolbox_proxy_url.as_deref());
        let url = named.filter(|url| !url.is_empty()).map(str::to_owned);
        let url = url.ok_or_else(|| {
            let message = "Daytona did not return the sandbox's URL; set toolbox_url";
            Error::new(ErrorKind::Protocol, "connect to a sandbox", message)
        })?;
        if config.api_url.starts_with("https:") && !url.starts_with("https:") && config.toolbox_url.is_none() {
            let message = "Daytona returned a sandbox URL without TLS; the key is not sent to it";
            return Err(Error::new(ErrorKind::Protocol, "connect to a sandbox", message));
        }
        Ok(Self {
            config: config.clone(),
            url: format!("{}/{}", url.trim_end_matches('/'), percent_encode(&sandbox.id)),
        })
    }

    fn call(&self, method: Method, path: &str) -> Request {
        request(&self.config, method, format!("{}{path}", self.url))
    }

    /// `POST /process/pty`: a terminal with a login shell, which starts with the first connection.
    pub fn create_terminal(&self, name: &str, command: &Command, size: TerminalSize) -> Request {
        let envs: BTreeMap<&str, &str> =
            command.env.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
        let mut body = json!({ "id": name, "cols": size.columns, "rows": size.rows, "envs": envs, "lazyStart": true });
        if let Some(cwd) = &command.cwd {
            body["cwd"] = json!(cwd);
        }
        self.call(Method::Post, "/process/pty").json(&body)
    }

    /// `GET /process/pty/{session}/connect`: the WebSocket with keys and output.
    pub fn connect_terminal(&self, name: &str) -> Request {
        self.call(Method::Get, &format!("/process/pty/{name}/connect"))
    }

    /// `POST /process/pty/{session}/resize`.
    pub fn resize_terminal(&self, name: &str, size: TerminalSize) -> Request {
        let body = json!({ "cols": size.columns, "rows": size.rows });
        self.call(Method::Post, &format!("/process/pty/{name}/resize")).json(&body).idempotent()
    }

    /// `DELETE /process/pty/{session}`: kills its processes.
    pub fn delete_terminal(&self, name: &str) -> Request {
        self.call(Method::Delete, &format!("/process/pty/{name}"))
    }

    /// `POST /process/execute`. The daemon kills the command and its process group after `time`.
    pub fn execute(&self, line: &str, cwd: Option<&str>, env: &[(String, String)], time: Duration) -> Request {
        let seconds = time.as_secs().saturating_add(u64::from(time.subsec_nanos() > 0)).clamp(1, u64::from(u32::MAX));
        let mut body = json!({ "command": line, "timeout": seconds });
        if let Some(cwd) = cwd {
            body["cwd"] = json!(cwd);
        }
        if !env.is_empty() {
            body["envs"] = env.iter().map(|(name, value)| (name.clone(), json!(value))).collect();
        }
        let request_timeout = Duration::from_secs(seconds.saturating_add(30));
        self.call(Method::Post, "/process/execute").json(&body).timeouts(request_timeout, request_timeout)
    }

    /// `POST /files/bulk-upload`: uploads files and creates missing parent directories.
    pub fn upload(&self, files: Vec<(String, bytes::Bytes)>) -> Request {
        let paths =
            files.iter().enumerate().map(|(n, (path, _))| Part::text(format!("files[{n}].path"), path.as_str()));
        // Names precede contents: the daemon writes each file as it arrives and needs the path first.
        let paths: Vec<Part> = paths.collect();
        let named = |(n, (path, content))| Part::file(format!("files[{n}].file"), path, content);
        let parts: Vec<Part> = paths.into_iter().chain(files.into_iter().enumerate().map(named)).collect();
        let (media_type, chunks) = multipart::write(&parts);
        self.call(Method::Post, "/files/bulk-upload").chunked_body(media_type, chunks).idempotent()
    }

    /// `GET /files/download`, from a byte offset if the daemon supports it.
    pub fn download(&self, path: impl AsRef<[u8]>, from: u64) -> Request {
        let request = self.call(Method::Get, &format!("/files/download?path={}", percent_encode(path)));
        if from == 0 { request } else { request.header("range", format!("bytes={from}-")) }
    }
}

/// Response to a command.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Executed {
    /// Exit code; -1 if the command could not be started. Some versions call it `code`.
    #[serde(alias = "code")]
    pub exit_code: Option<i32>,
    /// Output.
    #[serde(default)]
    pub result: String,
}

#[derive(Debug, Default, Deserialize)]
struct Uploaded {
    #[serde(default)]
    errors: Vec<String>,
    #[serde(default)]
    files: Option<Vec<UploadedFile>>,
}

#[derive(Debug, Deserialize)]
struct UploadedFile {
    path: String,
}

/// Errors of a rejected upload by file; `None` if the body does not name them.
pub fn parse_upload(body: &[u8], paths: &[&str]) -> Option<Vec<std::result::Result<(), FileError>>> {
    let uploaded: Uploaded = serde_json::from_slice(body).ok()?;
    let written = uploaded.files.unwrap_or_default();
    let about = |path: &str| {
        let begins = |error: &&String| error.strip_prefix(path).is_some_and(|rest| rest.starts_with(": "));
        uploaded.errors.iter().find(begins).map(|error| file_error(error, path))
    };
    let result = |path: &&str| {
        if written.iter().any(|file| file.path == *path) { Some(Ok(())) } else { about(path).map(Err) }
    };
    paths.iter().map(result).collect()
}

/// Maps a Linux error message, passed through by the daemon, to a file error.
fn file_error(words: &str, path: &str) -> FileError {
    let code = if words.contains("not a directory") {
        FileErrorCode::NotADirectory
    } else if words.contains("is a directory") || words.contains("file exists") {
        FileErrorCode::IsDirectory
    } else if words.contains("permission denied") || words.contains("read-only file system") {
        FileErrorCode::PermissionDenied
    } else if words.contains("no space left") || words.contains("quota exceeded") {
        FileErrorCode::NoSpace
    } else {
        FileErrorCode::InvalidPath
    };
    FileError::with_code(code, path.as_bytes())
}

/// Maps a failed download to a file error; `None` if it has another cause.
pub fn download_error(status: u16, body: &[u8], path: &SandboxPath) -> Option<FileError> {
    let rejection = ErrorBody::read(body);
    let message = rejection.message();
    let code = match (status, rejection.code.as_str()) {
        // The proxy also responds with 404 for a deleted sandbox.
        (404, Some("FILE_NOT_FOUND")) => FileErrorCode::FileNotFound,
        (404, _) if message.contains("no such file") => FileErrorCode::FileNotFound,
        (403, Some("FILE_ACCESS_DENIED")) => FileErrorCode::PermissionDenied,
        (403, _) if message.contains("permission denied") => FileErrorCode::PermissionDenied,
        (400, _) if message.contains("not a directory") => FileErrorCode::NotADirectory,
        (400, _) if message.contains("must be a file") || message.contains("is a directory") => {
            FileErrorCode::IsDirectory
        }
        (400, _) => FileErrorCode::InvalidPath,
        _ => return None,
    };
    Some(FileError::with_code(code, path.as_bytes()))
}
