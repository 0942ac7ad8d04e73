//! Values to requests and replies to values.
//!
//! Sources: the official clients (PyPI `daytona` 0.226.1, npm `@daytona/sdk` 0.216.0) and what is public of the daemon.

use std::collections::BTreeMap;
use std::time::Duration;

use serde::Deserialize;
use serde_json::{Value, json};
use tidebox_core::{
    Error, ErrorKind, FileError, FileErrorCode, ListPage, ListRequest, Result, SandboxId, SandboxInfo, SandboxPath,
    Secret,
};

use super::config::{DaytonaConfig, Source};
use crate::transport::multipart::{self, Part};
use crate::transport::{Hint, Method, Reply, Request, escape};

/// The version of the official client whose formats these are. The daemon answers older ones, and those that name none, in other
/// formats.
const SDK_VERSION: &str = "0.226.1";

/// A sandbox, as the control plane tells of it.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Sandbox {
    /// Its id.
    pub id: String,
    /// What it does, such as `started`.
    #[serde(default)]
    pub state: String,
    /// Why it is in an error state.
    #[serde(default)]
    pub error_reason: Option<String>,
    /// Its labels.
    #[serde(default)]
    pub labels: BTreeMap<String, String>,
    /// Where its daemon is, without its id.
    #[serde(default)]
    pub toolbox_proxy_url: Option<String>,
}

/// What is to be done about a state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    /// It works.
    Ready,
    /// It is on its way to another state.
    Changing,
    /// It sleeps and can be started.
    Asleep,
    /// It is gone, or about to be.
    Gone,
    /// It will not work again by itself.
    Broken,
}

impl Sandbox {
    /// What its state means. One that nobody knows yet is on its way to another.
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

/// What an error looks like, of both planes.
#[derive(Debug, Default, Deserialize)]
struct Refusal {
    #[serde(default)]
    message: Value,
    #[serde(default)]
    code: Value,
}

impl Refusal {
    fn read(body: &[u8]) -> Self {
        serde_json::from_slice(body).unwrap_or_default()
    }

    fn message(&self) -> String {
        match &self.message {
            Value::String(text) => text.clone(),
            Value::Null => String::new(),
            // Validation answers a list of sentences.
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

/// The label by which a request finds the sandbox that it made, when its answer was lost. Lists leave it out.
pub(super) const ATTEMPT: &str = "tidebox-attempt";

/// `POST /sandbox`. Of one `name` there can be one only, so it may be sent twice.
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
    control(config, Method::Post, "/sandbox").json(&body).repeatable()
}

/// `GET /sandbox/{id}`. A name will do too.
pub fn get(config: &DaytonaConfig, id: &str) -> Request {
    control(config, Method::Get, &format!("/sandbox/{}", escape(id)))
}

/// `POST /sandbox/{id}/start`.
pub fn start(config: &DaytonaConfig, id: &str) -> Request {
    control(config, Method::Post, &format!("/sandbox/{}/start", escape(id))).repeatable()
}

/// `DELETE /sandbox/{id}`.
pub fn delete(config: &DaytonaConfig, id: &str) -> Request {
    control(config, Method::Delete, &format!("/sandbox/{}", escape(id)))
}

/// `GET /sandbox`.
pub fn list(config: &DaytonaConfig, request: &ListRequest) -> Request {
    let mut query = Vec::new();
    if let Some(cursor) = &request.cursor {
        query.push(format!("cursor={}", escape(cursor)));
    }
    query.push("limit=100".to_owned());
    if !request.labels.is_empty() {
        query.push(format!("labels={}", escape(json!(request.labels).to_string())));
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

/// Reads a page of a list, without sandboxes that are gone.
///
/// # Errors
/// [`ErrorKind::Protocol`] when it is none.
pub fn listed(body: &[u8]) -> Result<ListPage> {
    let page: Page = parse("list", body)?;
    let there = page.items.into_iter().filter(|sandbox| sandbox.state() != State::Gone);
    let sandboxes = there.map(|mut sandbox| {
        sandbox.labels.remove(ATTEMPT);
        Ok(SandboxInfo { id: SandboxId::parse(sandbox.id)?, labels: sandbox.labels })
    });
    let cursor = page.next_cursor.filter(|cursor| !cursor.is_empty());
    Ok(ListPage { sandboxes: sandboxes.collect::<Result<_>>()?, cursor })
}

/// Reads JSON.
///
/// # Errors
/// [`ErrorKind::Protocol`] when it is not what is expected.
pub fn parse<T: for<'de> Deserialize<'de>>(operation: &'static str, body: &[u8]) -> Result<T> {
    serde_json::from_slice(body).map_err(|error| {
        // The body may hold what a command printed, so it is not shown.
        Error::new(ErrorKind::Protocol, operation, "Daytona answered something else than expected").with_source(error)
    })
}

/// What a status that is no success means, where nothing more is known.
pub fn failure(operation: &'static str, status: u16, body: &[u8]) -> Error {
    let refusal = Refusal::read(body);
    let (kind, advice) = match status {
        400 | 409 | 422 => (ErrorKind::InvalidRequest, "Daytona refuses the request"),
        401 => (ErrorKind::Unauthenticated, "Daytona does not accept the key; look at DAYTONA_API_KEY"),
        402 => (ErrorKind::QuotaExceeded, "Daytona asks for credit; look at the organisation's wallet"),
        403 if refusal.message().contains("quota") || refusal.message().contains("limit exceeded") => (
            ErrorKind::QuotaExceeded,
            "the organisation's quota at Daytona is used up; delete sandboxes or ask for more",
        ),
        403 => (ErrorKind::Forbidden, "Daytona refuses it to this key"),
        404 => (ErrorKind::SandboxNotFound, "there is no such sandbox"),
        408 | 504 => (ErrorKind::Timeout, "Daytona did not get it done in time; try again later"),
        429 => (ErrorKind::RateLimited, "Daytona asks for fewer requests; try again later"),
        500..=599 => (ErrorKind::Unavailable, "Daytona is not well, or the sandbox does not answer; try again later"),
        _ => (ErrorKind::Protocol, "Daytona answered a status that its protocol does not have here"),
    };
    let error = Error::new(kind, operation, advice).with_context("status", status.to_string());
    let error = match refusal.code.as_str() {
        Some(code) => error.with_context("code", code),
        None => error,
    };
    let message = refusal.message();
    if message.is_empty() { error } else { error.with_context("message", message) }
}

/// Daytona counts requests of several kinds apart, and names the kind in its headers: the time until the next one of this kind.
pub fn hint(reply: &Reply) -> Hint {
    if reply.status != 429 || reply.header("retry-after").is_some() {
        return Hint::None;
    }
    let seconds = |prefix: &str| {
        let named = reply.headers.iter().filter(|(name, _)| name.starts_with(prefix));
        named.filter_map(|(_, value)| value.trim().parse::<u64>().ok()).max()
    };
    let pause = seconds("retry-after-").or_else(|| seconds("x-ratelimit-reset-"));
    pause.map_or(Hint::None, |pause| Hint::Again(Some(Duration::from_secs(pause))))
}

/// How one sandbox's daemon is reached.
#[derive(Clone, Debug)]
pub struct Toolbox {
    pub(super) config: DaytonaConfig,
    pub(super) url: String,
}

impl Toolbox {
    /// The daemon of this sandbox.
    ///
    /// # Errors
    /// [`ErrorKind::Protocol`] when nobody says where it is.
    pub fn new(config: &DaytonaConfig, sandbox: &Sandbox) -> Result<Self> {
        let named = config.toolbox_url.as_deref().or(sandbox.toolbox_proxy_url.as_deref());
        let url = named.filter(|url| !url.is_empty()).map(str::to_owned);
        let url = url.ok_or_else(|| {
            let message = "Daytona did not say where the sandbox is reached; name it as toolbox_url";
            Error::new(ErrorKind::Protocol, "connect to a sandbox", message)
        })?;
        if config.api_url.starts_with("https:") && !url.starts_with("https:") && config.toolbox_url.is_none() {
            let message = "Daytona named an address of the sandbox without TLS, to which no key is sent";
            return Err(Error::new(ErrorKind::Protocol, "connect to a sandbox", message));
        }
        Ok(Self { config: config.clone(), url: format!("{}/{}", url.trim_end_matches('/'), escape(&sandbox.id)) })
    }

    fn call(&self, method: Method, path: &str) -> Request {
        request(&self.config, method, format!("{}{path}", self.url))
    }

    /// `POST /process/execute`. The daemon kills the command, and all of its group, after `time`.
    pub fn execute(&self, line: &str, cwd: Option<&str>, env: &[(String, String)], time: Duration) -> Request {
        let seconds = time.as_secs().saturating_add(u64::from(time.subsec_nanos() > 0)).clamp(1, u64::from(u32::MAX));
        let mut body = json!({ "command": line, "timeout": seconds });
        if let Some(cwd) = cwd {
            body["cwd"] = json!(cwd);
        }
        if !env.is_empty() {
            body["envs"] = env.iter().map(|(name, value)| (name.clone(), json!(value))).collect();
        }
        let patience = Duration::from_secs(seconds.saturating_add(30));
        self.call(Method::Post, "/process/execute").json(&body).patience(patience, patience)
    }

    /// `POST /files/bulk-upload`: files, with the directories above them.
    pub fn upload(&self, files: Vec<(String, bytes::Bytes)>) -> Request {
        let paths =
            files.iter().enumerate().map(|(n, (path, _))| Part::text(format!("files[{n}].path"), path.as_str()));
        // All names first: the daemon writes each file when it comes, and has to know where.
        let paths: Vec<Part> = paths.collect();
        let named = |(n, (path, content))| Part::file(format!("files[{n}].file"), path, content);
        let parts: Vec<Part> = paths.into_iter().chain(files.into_iter().enumerate().map(named)).collect();
        let (media_type, pieces) = multipart::write(&parts);
        self.call(Method::Post, "/files/bulk-upload").pieces(media_type, pieces).repeatable()
    }

    /// `GET /files/download`, from a byte on where the daemon can do it.
    pub fn download(&self, path: impl AsRef<[u8]>, from: u64) -> Request {
        let request = self.call(Method::Get, &format!("/files/download?path={}", escape(path)));
        if from == 0 { request } else { request.header("range", format!("bytes={from}-")) }
    }
}

/// What came of a command.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Executed {
    /// Its exit code; -1 when it could not be started. Some versions call it `code`.
    #[serde(alias = "code")]
    pub exit_code: Option<i32>,
    /// What it printed.
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

/// What a refused upload says of each of these files; `None` when it does not tell.
pub fn uploaded(body: &[u8], paths: &[&str]) -> Option<Vec<std::result::Result<(), FileError>>> {
    let uploaded: Uploaded = serde_json::from_slice(body).ok()?;
    let written = uploaded.files.unwrap_or_default();
    let about = |path: &str| {
        let begins = |error: &&String| error.strip_prefix(path).is_some_and(|rest| rest.starts_with(": "));
        uploaded.errors.iter().find(begins).map(|error| refused(error, path))
    };
    let result = |path: &&str| {
        if written.iter().any(|file| file.path == *path) { Some(Ok(())) } else { about(path).map(Err) }
    };
    paths.iter().map(result).collect()
}

/// A refusal from the words of Linux that the daemon passes on.
fn refused(words: &str, path: &str) -> FileError {
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
    FileError::refused(code, path.as_bytes())
}

/// The refusal of a download; `None` when it is none of a file.
pub fn download_refusal(status: u16, body: &[u8], path: &SandboxPath) -> Option<FileError> {
    let refusal = Refusal::read(body);
    let message = refusal.message();
    let code = match (status, refusal.code.as_str()) {
        // The proxy answers 404 too, for a sandbox that is gone.
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
    Some(FileError::refused(code, path.as_bytes()))
}
