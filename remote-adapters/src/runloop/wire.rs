//! Conversion of values to requests and of responses to values.
//!
//! Sources: the official clients (PyPI `runloop_api_client` 3.0.0, npm `@runloop/api-client` 1.32.0).

use std::collections::BTreeMap;
use std::fmt;
use std::time::Duration;

use serde::Deserialize;
use serde_json::{Value, json};
use tidebox_core::shell_backend::quote;
use tidebox_core::{Error, ErrorKind, PortEndpoint, Result, SandboxPath, Secret};

use super::config::{Network, RunloopConfig, Source, whole_seconds};
use crate::data_plane::Command;
use crate::transport::multipart::{self, Part};
use crate::transport::{Method, Request, Response, RetryHint, percent_encode};

/// Long poll durations of Runloop for the status of a devbox and of a command.
pub(super) const DEVBOX_WAIT: Duration = Duration::from_secs(30);
pub(super) const COMMAND_WAIT: Duration = Duration::from_secs(25);

/// Extra time for the response of a long poll.
const BUFFER: Duration = Duration::from_secs(5);

/// A devbox.
#[derive(Clone, Debug, Deserialize)]
pub struct Devbox {
    /// Its id.
    pub id: String,
    /// Current status, such as `running`.
    #[serde(default)]
    pub status: String,
    /// Its labels.
    #[serde(default)]
    pub metadata: BTreeMap<String, String>,
    /// Reason of the failure.
    #[serde(default)]
    pub failure_reason: Option<String>,
}

/// Status category, from which the next action follows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    /// Running.
    Ready,
    /// Changing to another status.
    Changing,
    /// Suspended; can be resumed.
    Asleep,
    /// Deleted.
    Gone,
}

impl Devbox {
    /// Categorises the status. Unknown statuses count as changing.
    pub fn state(&self) -> State {
        match self.status.as_str() {
            "running" => State::Ready,
            "suspended" => State::Asleep,
            "failure" | "shutdown" => State::Gone,
            _ => State::Changing,
        }
    }
}

/// Statuses of devboxes that are not deleted, in lifecycle order: listing one after the other may return a devbox
/// twice, but misses none that moves forward.
pub(super) const STATUSES: [&str; 7] =
    ["queued", "provisioning", "initializing", "resuming", "running", "suspending", "suspended"];

fn request(config: &RunloopConfig, method: Method, path: &str) -> Request {
    let bearer = [b"Bearer ", config.api_key.expose()].concat();
    let request =
        Request::new(method, format!("{}{path}", config.api_url)).secret("authorization", Secret::new(bearer));
    if method == Method::Post {
        // Idempotency key: equal for all attempts of this request and unique to it.
        request.header("x-request-id", format!("tidebox-retry-{}", uuid7())).idempotent()
    } else {
        request
    }
}

/// Returns a version 7 UUID: timestamp and random bits.
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

/// `POST /v1/devboxes/{id}/wait_for_status`. 408 means that the wait timed out.
pub fn wait_for_devbox(config: &RunloopConfig, id: &str, statuses: &[&str], time: Duration) -> Request {
    let time = time.min(DEVBOX_WAIT);
    let request_timeout = time + BUFFER;
    let body = json!({ "statuses": statuses, "timeout_seconds": time.as_secs_f64() });
    request(config, Method::Post, &format!("/v1/devboxes/{}/wait_for_status", percent_encode(id)))
        .json(&body)
        .timeouts(request_timeout, request_timeout)
}

/// `GET /v1/devboxes/{id}`.
pub fn get(config: &RunloopConfig, id: &str) -> Request {
    request(config, Method::Get, &format!("/v1/devboxes/{}", percent_encode(id)))
}

/// `POST /v1/devboxes/{id}/resume` and `/shutdown`.
pub fn change_state(config: &RunloopConfig, id: &str, verb: &str) -> Request {
    request(config, Method::Post, &format!("/v1/devboxes/{}/{verb}", percent_encode(id)))
}

/// `POST /v1/devboxes/{id}/enable_tunnel`: one tunnel for all ports of a devbox. Returns an existing one.
pub fn enable_tunnel(config: &RunloopConfig, id: &str) -> Request {
    let body = json!({ "auth_mode": "authenticated" });
    request(config, Method::Post, &format!("/v1/devboxes/{}/enable_tunnel", percent_encode(id))).json(&body)
}

/// A tunnel. An open one, which another client has created, has no credential.
#[derive(Deserialize)]
pub struct Tunnel {
    tunnel_key: String,
    #[serde(default)]
    auth_token: Option<String>,
}

impl fmt::Debug for Tunnel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Tunnel").finish_non_exhaustive()
    }
}

impl Tunnel {
    /// Address of a server in the devbox: `PORT-KEY.tunnel.DOMAIN`, where the API's host is `api.DOMAIN` or `DOMAIN`.
    ///
    /// # Errors
    /// [`ErrorKind::Protocol`] for a key that cannot be part of a host name.
    pub fn endpoint(self, config: &RunloopConfig, port: u16) -> Result<PortEndpoint> {
        let key = &self.tunnel_key;
        if key.is_empty() || !key.chars().all(|c| c.is_ascii_alphanumeric() || "-_".contains(c)) {
            let message = "Runloop returned a tunnel whose key is not a valid part of a host name";
            return Err(Error::new(ErrorKind::Protocol, "port_endpoint", message));
        }
        let (scheme, rest) = config.api_url.split_once("://").unwrap_or(("https", &config.api_url));
        let authority = rest.split('/').next().unwrap_or_default();
        let host = authority.rsplit_once('@').map_or(authority, |(_, host)| host);
        let domain = host.strip_prefix("api.").unwrap_or(host);
        // An address has no subdomains; every name below `localhost` is this computer.
        let domain =
            domain.strip_prefix("127.0.0.1").map_or_else(|| domain.to_owned(), |port| format!("localhost{port}"));
        let endpoint = PortEndpoint::new(format!("{scheme}://{port}-{key}.tunnel.{domain}"));
        Ok(match self.auth_token {
            Some(token) => {
                endpoint.with_header("x-runloop-tunnel-authorization", Secret::new(format!("Bearer {token}")))
            }
            None => endpoint,
        })
    }
}

/// `GET /v1/devboxes` with this status, after this devbox.
pub fn list(config: &RunloopConfig, status: &str, behind: Option<&str>) -> Request {
    let mut path = "/v1/devboxes?limit=1000".to_owned();
    if let Some(behind) = behind {
        path.push_str(&format!("&starting_after={}", percent_encode(behind)));
    }
    request(config, Method::Get, &format!("{path}&status={status}&include_total_count=false"))
}

/// A page of a list of devboxes.
#[derive(Debug, Deserialize)]
pub struct Page {
    /// Devboxes of the page.
    pub devboxes: Vec<Devbox>,
    /// True if another page follows.
    #[serde(default)]
    pub has_more: bool,
}

/// A network policy.
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
    /// Policies of the page.
    pub network_policies: Vec<Policy>,
}

/// Returns a name derived from the policy's content, so that each policy is created once: FNV-1a over its fields.
pub(super) fn policy_name(network: &Network) -> String {
    let words = network.hosts.iter().map(String::as_str).chain([""]).chain(network.networks.iter().map(String::as_str));
    let bytes = words.flat_map(|word| word.bytes().chain([0]));
    let hash =
        bytes.fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3));
    format!("tidebox-{hash:016x}")
}

/// `GET /v1/network-policies` whose name equals or contains this name.
pub fn policies(config: &RunloopConfig, name: &str) -> Request {
    request(config, Method::Get, &format!("/v1/network-policies?name={}", percent_encode(name)))
}

/// `POST /v1/network-policies`.
pub fn create_policy(config: &RunloopConfig, name: &str, network: &Network) -> Request {
    let mut body = json!({ "name": name, "allow_all": false, "allowed_hostnames": network.hosts });
    if !network.networks.is_empty() {
        body["allowed_cidrs"] = network.networks.iter().map(|cidr| json!({ "cidr": cidr })).collect();
    }
    request(config, Method::Post, "/v1/network-policies").json(&body)
}

/// A command as returned by Runloop.
#[derive(Clone, Debug, Default, Deserialize)]
pub struct Execution {
    /// Id chosen by Runloop, not the client's name for it.
    pub execution_id: String,
    /// `queued`, `running` or `completed`.
    #[serde(default)]
    pub status: String,
    /// Exit code, once it has exited.
    #[serde(default)]
    pub exit_status: Option<i32>,
    /// Last lines of standard output.
    #[serde(default)]
    pub stdout: Option<String>,
    /// Last lines of standard error.
    #[serde(default)]
    pub stderr: Option<String>,
    /// True if earlier lines were omitted.
    #[serde(default)]
    pub stdout_truncated: Option<bool>,
    /// True if earlier lines were omitted.
    #[serde(default)]
    pub stderr_truncated: Option<bool>,
}

impl Execution {
    /// Returns whether it has exited.
    pub fn is_finished(&self) -> bool {
        self.status == "completed"
    }
}

/// Default number of lines in a response. It is undocumented whether such a cut is flagged, so a response with this
/// many lines counts as truncated.
pub(super) const LINES: usize = 100;

/// A shell line that runs a script with a working directory, variables and a time limit. The limit needs `timeout` in
/// the devbox and applies if the client disconnects.
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

fn devbox_request(config: &RunloopConfig, devbox: &str, method: Method, path: &str) -> Request {
    request(config, method, &format!("/v1/devboxes/{}{path}", percent_encode(devbox)))
}

/// `POST /v1/devboxes/{id}/execute`: starts a command under this name, or finds the existing one, and waits up to
/// `time` for its exit.
pub fn execute(config: &RunloopConfig, devbox: &str, line: &str, name: &str, time: Duration) -> Request {
    let seconds = whole_seconds(time.min(COMMAND_WAIT));
    let request_timeout = Duration::from_secs(seconds) + BUFFER;
    let body = json!({ "command": line, "command_id": name, "optimistic_timeout": seconds });
    devbox_request(config, devbox, Method::Post, "/execute").json(&body).timeouts(request_timeout, request_timeout)
}

/// `POST /v1/devboxes/{id}/executions/{execution}/wait_for_status`. 408 means that the wait timed out.
pub fn wait_for_command(config: &RunloopConfig, devbox: &str, execution: &str, time: Duration) -> Request {
    let time = time.min(COMMAND_WAIT);
    let request_timeout = time + BUFFER;
    let body = json!({ "statuses": ["completed"], "timeout_seconds": time.as_secs_f64() });
    devbox_request(config, devbox, Method::Post, &format!("/executions/{}/wait_for_status", percent_encode(execution)))
        .json(&body)
        .timeouts(request_timeout, request_timeout)
}

/// `GET /v1/devboxes/{id}/executions/{execution}/stream_stdout_updates`, or of standard error, from a byte offset.
pub fn updates(config: &RunloopConfig, devbox: &str, execution: &str, stream: &str, from: u64) -> Request {
    let query = if from == 0 { String::new() } else { format!("?offset={from}") };
    let path = format!("/executions/{}/stream_{stream}_updates{query}", percent_encode(execution));
    let silence = Duration::from_secs(10 * 60);
    devbox_request(config, devbox, Method::Get, &path)
        .header("accept", "text/event-stream")
        .timeouts(Duration::from_secs(60), silence)
}

/// `POST /v1/devboxes/{id}/executions/{execution}/kill`, including its process group.
pub fn kill(config: &RunloopConfig, devbox: &str, execution: &str) -> Request {
    let body = json!({ "kill_process_group": true });
    devbox_request(config, devbox, Method::Post, &format!("/executions/{}/kill", percent_encode(execution))).json(&body)
}

/// `POST /v1/devboxes/{id}/upload_file`.
pub fn upload(config: &RunloopConfig, devbox: &str, path: &SandboxPath, content: bytes::Bytes) -> Request {
    let parts = [Part::text("path", path.to_text()), Part::file("file", "upload", content)];
    let (media_type, chunks) = multipart::write(&parts);
    devbox_request(config, devbox, Method::Post, "/upload_file").chunked_body(media_type, chunks)
}

/// `POST /v1/devboxes/{id}/download_file`.
pub fn download(config: &RunloopConfig, devbox: &str, path: &SandboxPath) -> Request {
    devbox_request(config, devbox, Method::Post, "/download_file").json(&json!({ "path": path.to_text() }))
}

/// A chunk of output.
#[derive(Debug, Deserialize)]
pub struct Update {
    /// The text.
    pub output: String,
    /// Byte offset in the stream.
    #[serde(default)]
    pub offset: Option<u64>,
}

/// Parses JSON.
///
/// # Errors
/// [`ErrorKind::Protocol`] if the body has another format.
pub fn parse<T: for<'de> Deserialize<'de>>(operation: &'static str, body: &[u8]) -> Result<T> {
    serde_json::from_slice(body).map_err(|error| {
        // Omit the body: it may contain command output.
        Error::new(ErrorKind::Protocol, operation, "unexpected response from Runloop").with_source(error)
    })
}

/// Maps an error status to an error, if nothing more specific applies.
pub fn failure(operation: &'static str, status: u16, body: &[u8]) -> Error {
    let body: Value = serde_json::from_slice(body).unwrap_or_default();
    let (kind, advice) = match status {
        400 | 409 | 422 => (ErrorKind::InvalidRequest, "Runloop rejected the request"),
        401 => (ErrorKind::Unauthenticated, "Runloop rejected the key; check RUNLOOP_API_KEY"),
        402 => (ErrorKind::QuotaExceeded, "Runloop requires payment; check the account"),
        403 => (ErrorKind::Forbidden, "Runloop does not permit this with this key"),
        404 => (ErrorKind::SandboxNotFound, "the devbox does not exist"),
        408 | 504 => (ErrorKind::Timeout, "Runloop timed out; try again later"),
        429 => (ErrorKind::RateLimited, "Runloop's rate limit is exceeded; try again later"),
        500..=599 => (ErrorKind::Unavailable, "Runloop is unavailable; try again later"),
        _ => (ErrorKind::Protocol, "Runloop returned an unexpected status"),
    };
    let error = Error::new(kind, operation, advice).with_context("status", status.to_string());
    match body.get("message").and_then(Value::as_str).filter(|message| !message.is_empty()) {
        Some(message) => error.with_context("message", message),
        None => error,
    }
}

/// Reads the headers in which Runloop states whether a retry makes sense, and after how many milliseconds.
pub fn hint(reply: &Response) -> RetryHint {
    let pause = reply.header("retry-after-ms").and_then(|millis| millis.trim().parse::<f64>().ok());
    let pause = pause.and_then(|millis| Duration::try_from_secs_f64(millis / 1000.0).ok());
    match (reply.header("x-should-retry"), pause) {
        (Some("false"), _) => RetryHint::Final,
        // The end of a long poll is a valid response.
        _ if reply.status == 408 => RetryHint::Final,
        (Some("true"), pause) => RetryHint::Retry(pause),
        (_, Some(pause)) if reply.status == 429 => RetryHint::Retry(Some(pause)),
        // Every request has an idempotency key or only reads, so it can be retried even if it was executed.
        (_, pause) if reply.status >= 500 => RetryHint::Retry(pause),
        _ => RetryHint::None,
    }
}
