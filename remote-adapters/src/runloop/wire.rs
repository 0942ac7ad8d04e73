//! Values to requests and replies to values.
//!
//! Sources: the official clients (PyPI `runloop_api_client` 3.0.0, npm `@runloop/api-client` 1.32.0).

use std::collections::BTreeMap;
use std::time::Duration;

use serde::Deserialize;
use serde_json::{Value, json};
use tidebox_core::shell_backend::quote;
use tidebox_core::{Error, ErrorKind, Result, SandboxPath, Secret};

use super::config::{Network, RunloopConfig, Source, whole_seconds};
use crate::plane::Command;
use crate::transport::multipart::{self, Part};
use crate::transport::{Hint, Method, Reply, Request, escape};

/// How long Runloop holds an answer back that waits for a status of a devbox, and of a command.
pub(super) const DEVBOX_WAIT: Duration = Duration::from_secs(30);
pub(super) const COMMAND_WAIT: Duration = Duration::from_secs(25);

/// How much longer than that an answer is waited for.
const BUFFER: Duration = Duration::from_secs(5);

/// A devbox.
#[derive(Clone, Debug, Deserialize)]
pub struct Devbox {
    /// Its id.
    pub id: String,
    /// What it does, such as `running`.
    #[serde(default)]
    pub status: String,
    /// Its labels.
    #[serde(default)]
    pub metadata: BTreeMap<String, String>,
    /// Why it failed.
    #[serde(default)]
    pub failure_reason: Option<String>,
}

/// What is to be done about a status.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    /// It works.
    Ready,
    /// It is on its way to another status.
    Changing,
    /// It sleeps and can be resumed.
    Asleep,
    /// It is gone.
    Gone,
}

impl Devbox {
    /// What its status means. One that nobody knows yet is on its way to another.
    pub fn state(&self) -> State {
        match self.status.as_str() {
            "running" => State::Ready,
            "suspended" => State::Asleep,
            "failure" | "shutdown" => State::Gone,
            _ => State::Changing,
        }
    }
}

/// The statuses of devboxes that are not gone, in the order in which one moves through them: who looks at one after the other
/// may see a devbox twice, but misses none that goes forward.
pub(super) const STATUSES: [&str; 7] =
    ["queued", "provisioning", "initializing", "resuming", "running", "suspending", "suspended"];

fn request(config: &RunloopConfig, method: Method, path: &str) -> Request {
    let bearer = [b"Bearer ", config.api_key.expose()].concat();
    let request =
        Request::new(method, format!("{}{path}", config.api_url)).secret("authorization", Secret::new(bearer));
    if method == Method::Post {
        // The same for every attempt of this request, and for no other: it is done once.
        request.header("x-request-id", format!("tidebox-retry-{}", uuid7())).repeatable()
    } else {
        request
    }
}

/// A name as of UUID version 7: a time that only grows, and chance.
pub(super) fn uuid7() -> String {
    let since = web_time::SystemTime::now().duration_since(web_time::UNIX_EPOCH).unwrap_or_default();
    let millis = since.as_millis() & 0xffff_ffff_ffff;
    let bits = (millis << 80)
        | (fastrand::u128(..) & ((1 << 80) - 1)) & !(0xf << 76) & !(0x3 << 62)
        | (0x7 << 76)
        | (0x2 << 62);
    let digits = format!("{bits:032x}");
    let part = |from: usize, to: usize| digits.get(from..to).unwrap_or_default().to_owned();
    [part(0, 8), part(8, 12), part(12, 16), part(16, 20), part(20, 32)].join("-")
}

/// `POST /v1/devboxes`.
pub fn create(
    config: &RunloopConfig,
    labels: &BTreeMap<String, String>,
    env: &[(String, String)],
    policy: Option<&str>,
) -> Request {
    let env: BTreeMap<&str, &str> = env.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
    let mut launch = json!({ "keep_alive_time_seconds": config.keep_alive });
    if let Some(size) = config.size {
        launch["resource_size_request"] = json!("CUSTOM_SIZE");
        launch["custom_cpu_cores"] = json!(size.cpu);
        launch["custom_gb_memory"] = json!(size.memory);
        if let Some(disk) = size.disk {
            launch["custom_disk_size"] = json!(disk);
        }
    }
    if let Some(policy) = policy {
        launch["network_policy_id"] = json!(policy);
    }
    let mut body = json!({ "environment_variables": env, "launch_parameters": launch, "metadata": labels });
    match &config.source {
        Source::Default => {}
        Source::Blueprint(name) => body["blueprint_name"] = json!(name),
        Source::BlueprintId(id) => body["blueprint_id"] = json!(id),
        Source::Snapshot(id) => body["snapshot_id"] = json!(id),
    }
    request(config, Method::Post, "/v1/devboxes").json(&body)
}

/// `POST /v1/devboxes/{id}/wait_for_status`. 408 means: not yet.
pub fn wait_for_devbox(config: &RunloopConfig, id: &str, statuses: &[&str], time: Duration) -> Request {
    let time = time.min(DEVBOX_WAIT);
    let patience = time + BUFFER;
    let body = json!({ "statuses": statuses, "timeout_seconds": time.as_secs_f64() });
    request(config, Method::Post, &format!("/v1/devboxes/{}/wait_for_status", escape(id)))
        .json(&body)
        .patience(patience, patience)
}

/// `GET /v1/devboxes/{id}`.
pub fn get(config: &RunloopConfig, id: &str) -> Request {
    request(config, Method::Get, &format!("/v1/devboxes/{}", escape(id)))
}

/// `POST /v1/devboxes/{id}/resume` and `/shutdown`.
pub fn turn(config: &RunloopConfig, id: &str, verb: &str) -> Request {
    request(config, Method::Post, &format!("/v1/devboxes/{}/{verb}", escape(id)))
}

/// `GET /v1/devboxes` with this status, behind this devbox.
pub fn list(config: &RunloopConfig, status: &str, behind: Option<&str>) -> Request {
    let mut path = "/v1/devboxes?limit=1000".to_owned();
    if let Some(behind) = behind {
        path.push_str(&format!("&starting_after={}", escape(behind)));
    }
    request(config, Method::Get, &format!("{path}&status={status}&include_total_count=false"))
}

/// A page of a list of devboxes.
#[derive(Debug, Deserialize)]
pub struct Page {
    /// Its devboxes.
    pub devboxes: Vec<Devbox>,
    /// Whether there is another behind it.
    #[serde(default)]
    pub has_more: bool,
}

/// A policy: what programs reach.
#[derive(Debug, Deserialize)]
pub struct Policy {
    /// Its id.
    pub id: String,
    /// Its name.
    #[serde(default)]
    pub name: String,
}

/// A page of a list of policies.
#[derive(Debug, Deserialize)]
pub struct Policies {
    /// Its policies.
    pub network_policies: Vec<Policy>,
}

/// A name that says what a policy allows, so that each is made once: FNV-1a over what is in it.
pub(super) fn policy_name(network: &Network) -> String {
    let words = network.hosts.iter().map(String::as_str).chain([""]).chain(network.networks.iter().map(String::as_str));
    let bytes = words.flat_map(|word| word.bytes().chain([0]));
    let hash =
        bytes.fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3));
    format!("tidebox-{hash:016x}")
}

/// `GET /v1/network-policies` with this name, or one that holds it.
pub fn policies(config: &RunloopConfig, name: &str) -> Request {
    request(config, Method::Get, &format!("/v1/network-policies?name={}", escape(name)))
}

/// `POST /v1/network-policies`.
pub fn create_policy(config: &RunloopConfig, name: &str, network: &Network) -> Request {
    let mut body = json!({ "name": name, "allow_all": false, "allowed_hostnames": network.hosts });
    if !network.networks.is_empty() {
        body["allowed_cidrs"] = network.networks.iter().map(|cidr| json!({ "cidr": cidr })).collect();
    }
    request(config, Method::Post, "/v1/network-policies").json(&body)
}

/// What runs, as Runloop tells of it.
#[derive(Clone, Debug, Default, Deserialize)]
pub struct Execution {
    /// Its id, which is Runloop's and not the name that it was given.
    pub execution_id: String,
    /// `queued`, `running` or `completed`.
    #[serde(default)]
    pub status: String,
    /// Its exit code, when it has ended.
    #[serde(default)]
    pub exit_status: Option<i32>,
    /// The last lines of its standard output.
    #[serde(default)]
    pub stdout: Option<String>,
    /// The last lines of its standard error.
    #[serde(default)]
    pub stderr: Option<String>,
    /// Whether there was more.
    #[serde(default)]
    pub stdout_truncated: Option<bool>,
    /// Whether there was more.
    #[serde(default)]
    pub stderr_truncated: Option<bool>,
}

impl Execution {
    /// Whether it has ended.
    pub fn is_over(&self) -> bool {
        self.status == "completed"
    }
}

/// How many lines an answer holds where nothing is said. Whether such a cut is told as one is not written down, so an answer of
/// so many lines counts as cut.
pub(super) const LINES: usize = 100;

/// A line of shell that runs a script with a directory and variables, and for so long at most, as far as the devbox has
/// `timeout`: for a client that is gone.
pub(super) fn line(command: &Command, shell: &str, time: Duration) -> String {
    let mut line = String::new();
    if let Some(cwd) = &command.cwd {
        line.push_str(&format!("cd {} || exit 1; ", quote(cwd)));
    }
    let seconds = whole_seconds(time);
    line.push_str(&format!(
        "if command -v timeout >/dev/null; then set -- timeout -s KILL {seconds}; else set --; fi; exec "
    ));
    if !command.env.is_empty() {
        line.push_str("env ");
        for (name, value) in &command.env {
            line.push_str(&quote(&format!("{name}={value}")));
            line.push(' ');
        }
    }
    line.push_str(&format!("\"$@\" {} -c {} </dev/null", quote(shell), quote(&command.script)));
    line
}

fn of(config: &RunloopConfig, devbox: &str, method: Method, path: &str) -> Request {
    request(config, method, &format!("/v1/devboxes/{}{path}", escape(devbox)))
}

/// `POST /v1/devboxes/{id}/execute`: starts a command under this name, or finds the one that was started under it, and waits for
/// its end for at most `time`.
pub fn execute(config: &RunloopConfig, devbox: &str, line: &str, name: &str, time: Duration) -> Request {
    let seconds = whole_seconds(time.min(COMMAND_WAIT));
    let patience = Duration::from_secs(seconds) + BUFFER;
    let body = json!({ "command": line, "command_id": name, "optimistic_timeout": seconds });
    of(config, devbox, Method::Post, "/execute").json(&body).patience(patience, patience)
}

/// `POST /v1/devboxes/{id}/executions/{execution}/wait_for_status`. 408 means: not yet.
pub fn wait_for_command(config: &RunloopConfig, devbox: &str, execution: &str, time: Duration) -> Request {
    let time = time.min(COMMAND_WAIT);
    let patience = time + BUFFER;
    let body = json!({ "statuses": ["completed"], "timeout_seconds": time.as_secs_f64() });
    of(config, devbox, Method::Post, &format!("/executions/{}/wait_for_status", escape(execution)))
        .json(&body)
        .patience(patience, patience)
}

/// `GET /v1/devboxes/{id}/executions/{execution}/stream_stdout_updates`, or of standard error, from a byte on.
pub fn updates(config: &RunloopConfig, devbox: &str, execution: &str, stream: &str, from: u64) -> Request {
    let query = if from == 0 { String::new() } else { format!("?offset={from}") };
    let path = format!("/executions/{}/stream_{stream}_updates{query}", escape(execution));
    let silence = Duration::from_secs(10 * 60);
    of(config, devbox, Method::Get, &path)
        .header("accept", "text/event-stream")
        .patience(Duration::from_secs(60), silence)
}

/// `POST /v1/devboxes/{id}/executions/{execution}/kill`, with all of its process group.
pub fn kill(config: &RunloopConfig, devbox: &str, execution: &str) -> Request {
    let body = json!({ "kill_process_group": true });
    of(config, devbox, Method::Post, &format!("/executions/{}/kill", escape(execution))).json(&body)
}

/// `POST /v1/devboxes/{id}/upload_file`.
pub fn upload(config: &RunloopConfig, devbox: &str, path: &SandboxPath, content: bytes::Bytes) -> Request {
    let parts = [Part::text("path", path.to_text()), Part::file("file", "upload", content)];
    let (media_type, pieces) = multipart::write(&parts);
    of(config, devbox, Method::Post, "/upload_file").pieces(media_type, pieces)
}

/// `POST /v1/devboxes/{id}/download_file`.
pub fn download(config: &RunloopConfig, devbox: &str, path: &SandboxPath) -> Request {
    of(config, devbox, Method::Post, "/download_file").json(&json!({ "path": path.to_text() }))
}

/// A piece of output.
#[derive(Debug, Deserialize)]
pub struct Update {
    /// The text.
    pub output: String,
    /// The byte of the stream at which it begins.
    #[serde(default)]
    pub offset: Option<u64>,
}

/// Reads JSON.
///
/// # Errors
/// [`ErrorKind::Protocol`] when it is not what is expected.
pub fn parse<T: for<'de> Deserialize<'de>>(operation: &'static str, body: &[u8]) -> Result<T> {
    serde_json::from_slice(body).map_err(|error| {
        // The body may hold what a command printed, so it is not shown.
        Error::new(ErrorKind::Protocol, operation, "Runloop answered something else than expected").with_source(error)
    })
}

/// What a status that is no success means, where nothing more is known.
pub fn failure(operation: &'static str, status: u16, body: &[u8]) -> Error {
    let body: Value = serde_json::from_slice(body).unwrap_or_default();
    let (kind, advice) = match status {
        400 | 409 | 422 => (ErrorKind::InvalidRequest, "Runloop refuses the request"),
        401 => (ErrorKind::Unauthenticated, "Runloop does not accept the key; look at RUNLOOP_API_KEY"),
        402 => (ErrorKind::QuotaExceeded, "Runloop asks for credit; look at the account"),
        403 => (ErrorKind::Forbidden, "Runloop refuses it to this key"),
        404 => (ErrorKind::SandboxNotFound, "there is no such devbox"),
        408 | 504 => (ErrorKind::Timeout, "Runloop did not get it done in time; try again later"),
        429 => (ErrorKind::RateLimited, "Runloop asks for fewer requests; try again later"),
        500..=599 => (ErrorKind::Unavailable, "Runloop is not well; try again later"),
        _ => (ErrorKind::Protocol, "Runloop answered a status that its protocol does not have here"),
    };
    let error = Error::new(kind, operation, advice).with_context("status", status.to_string());
    match body.get("message").and_then(Value::as_str).filter(|message| !message.is_empty()) {
        Some(message) => error.with_context("message", message),
        None => error,
    }
}

/// Runloop says in headers whether another attempt makes sense, and after how many milliseconds.
pub fn hint(reply: &Reply) -> Hint {
    let pause = reply.header("retry-after-ms").and_then(|millis| millis.trim().parse::<f64>().ok());
    let pause = pause.and_then(|millis| Duration::try_from_secs_f64(millis / 1000.0).ok());
    match (reply.header("x-should-retry"), pause) {
        (Some("false"), _) => Hint::Final,
        // A long poll that is over is an answer.
        _ if reply.status == 408 => Hint::Final,
        (Some("true"), pause) => Hint::Again(pause),
        (_, Some(pause)) if reply.status == 429 => Hint::Again(Some(pause)),
        // Every request has an id or only reads, so even what may have been done can be asked for again.
        (_, pause) if reply.status >= 500 => Hint::Again(pause),
        _ => Hint::None,
    }
}
