//! Requests and responses of the REST API. Their comments are the descriptions in the OpenAPI document.

use std::collections::BTreeMap;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tidebox_core::{ExecuteResponse, FileInfo, FileKind, ProcessInfo, ProcessState, SandboxPath};

use super::error::{ApiError, ApiResult};

/// Default directory of relative paths.
const WORKSPACE: &str = "/workspace";

/// Error response.
#[derive(Debug, JsonSchema, Serialize)]
pub(super) struct ErrorBody {
    error: ErrorValue,
}

/// An error.
#[derive(Debug, JsonSchema, Serialize)]
struct ErrorValue {
    /// Stable name, such as `invalid_request`, `sandbox_not_found`, `quota_exceeded` or `draining`.
    kind: String,
    /// Cause and remedy.
    message: String,
    /// The quota that denied the request.
    #[serde(skip_serializing_if = "Option::is_none")]
    quota: Option<String>,
    /// Its limit.
    #[serde(skip_serializing_if = "Option::is_none")]
    limit: Option<u64>,
    /// The used amount.
    #[serde(skip_serializing_if = "Option::is_none")]
    used: Option<u64>,
    /// Seconds until it frees. Null if that depends on the client.
    #[serde(skip_serializing_if = "Option::is_none")]
    frees_in_seconds: Option<u64>,
}

/// Parses a path. Relative ones start in `/workspace`.
pub(super) fn path(text: &str) -> ApiResult<SandboxPath> {
    Ok(SandboxPath::parse(WORKSPACE)?.resolve(text)?)
}

/// Parses a time in seconds.
pub(super) fn seconds(name: &str, value: f64) -> ApiResult<Duration> {
    Duration::try_from_secs_f64(value)
        .map_err(|_| ApiError::invalid(format!("{name} is {value}; expected seconds, 0 or more")))
}

/// Returns the seconds since 1970.
pub(super) fn since_epoch(at: SystemTime) -> f64 {
    at.duration_since(UNIX_EPOCH).unwrap_or_default().as_secs_f64()
}

/// Bytes as text or base64.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Bytes {
    /// Text, as UTF-8.
    pub(super) text: Option<String>,
    /// Any bytes in base64.
    pub(super) base64: Option<String>,
}

impl Bytes {
    pub(super) fn decode(self, name: &str) -> ApiResult<Vec<u8>> {
        match (self.text, self.base64) {
            (Some(text), None) => Ok(text.into_bytes()),
            (None, Some(encoded)) => {
                BASE64.decode(encoded).map_err(|error| ApiError::invalid(format!("{name}.base64 is invalid: {error}")))
            }
            _ => Err(ApiError::invalid(format!("{name} needs one of the keys text and base64"))),
        }
    }
}

/// A sandbox to create.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub(super) struct CreateSandbox {
    /// Labels, by which sandboxes are listed.
    pub(super) labels: BTreeMap<String, String>,
    /// Environment variables of its commands.
    pub(super) env: BTreeMap<String, String>,
    /// Memory of all its processes together. Default and maximum: that of the service.
    pub(super) memory_bytes: Option<u64>,
    /// Time after which it is closed, at most that of the tenant.
    pub(super) lifetime_seconds: Option<f64>,
    /// Id of the snapshot with its initial files.
    pub(super) snapshot: Option<String>,
}

/// A sandbox.
#[derive(Debug, JsonSchema, Serialize)]
pub(super) struct SandboxValue {
    /// Its id.
    pub(super) id: String,
    /// Its labels.
    pub(super) labels: BTreeMap<String, String>,
    /// Seconds since its creation.
    pub(super) age_seconds: f64,
    /// Seconds since its last call ended; 0 while one runs.
    pub(super) idle_seconds: f64,
    /// Seconds until it is closed, if its lifetime is limited.
    pub(super) expires_in_seconds: Option<f64>,
}

/// Sandboxes of the tenant, by id.
#[derive(Debug, JsonSchema, Serialize)]
pub(super) struct SandboxList {
    pub(super) sandboxes: Vec<SandboxValue>,
}

/// Quotas and usage of the tenant. A quota that is null is unlimited.
#[derive(Debug, JsonSchema, Serialize)]
pub(super) struct UsageValue {
    pub(super) tenant: String,
    pub(super) sandboxes: Amount,
    pub(super) memory_bytes: Amount,
    pub(super) cpu_seconds_per_hour: Amount,
    pub(super) cpu_seconds_total: Amount,
    /// Hosts that commands may read from, in addition to those of the service.
    pub(super) egress: Vec<String>,
    pub(super) idle_seconds: Option<u64>,
    pub(super) lifetime_seconds: Option<u64>,
}

/// A used amount and its quota.
#[derive(Debug, JsonSchema, Serialize)]
pub(super) struct Amount {
    pub(super) used: f64,
    pub(super) limit: Option<u64>,
}

/// A command to run.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Execute {
    /// Command line of bash. Either this or `arguments`.
    pub(super) command: Option<String>,
    /// Program and arguments, without a shell.
    pub(super) arguments: Option<Vec<String>>,
    /// Working directory. Default `/workspace`.
    pub(super) cwd: Option<String>,
    /// Further environment variables.
    #[serde(default)]
    pub(super) env: BTreeMap<String, String>,
    /// Standard input.
    pub(super) stdin: Option<Bytes>,
    /// Time after which it is stopped with exit code 124. Default: that of the service.
    pub(super) timeout_seconds: Option<f64>,
    /// Keeps working directory, variables and functions for the next command with this key. Default false.
    #[serde(default)]
    pub(super) persistent: bool,
    /// Keeps processes that still run at the end, as a process of the sandbox. Default false.
    #[serde(default)]
    pub(super) background: bool,
    /// Part of the output to keep beyond the limit: `head`, `tail`, or `stop` to end the command. Default `head`.
    pub(super) output_overflow: Option<String>,
}

/// Result of a command. A failed command is a result too.
#[derive(Debug, JsonSchema, Serialize)]
pub(super) struct ExecuteValue {
    /// Exit code; 128 + n after signal n.
    pub(super) exit_code: Option<i32>,
    /// Standard output as text, with U+FFFD for invalid UTF-8.
    pub(super) stdout: String,
    /// Standard error as text.
    pub(super) stderr: String,
    /// Output was dropped at the limit.
    pub(super) truncated: bool,
    /// Reason of its stop: `timeout`, `cpu_time`, `memory`, `output`, `files`, `inodes`, `descriptors`, `processes`, `nesting` or
    /// `cancelled`.
    pub(super) stopped_by: Option<String>,
    /// Wall time.
    pub(super) duration_seconds: f64,
    /// Processor time.
    pub(super) cpu_seconds: Option<f64>,
    /// Peak memory of all its processes together.
    pub(super) peak_memory_bytes: u64,
    /// The process that runs on, with `background`.
    pub(super) process: Option<String>,
}

impl ExecuteValue {
    pub(super) fn new(response: &ExecuteResponse) -> Self {
        Self {
            exit_code: response.exit_code,
            stdout: response.stdout_text().into_owned(),
            stderr: response.stderr_text().into_owned(),
            truncated: response.truncated,
            stopped_by: response.stopped_by.map(|reason| reason.as_str().to_owned()),
            duration_seconds: response.duration.as_secs_f64(),
            cpu_seconds: response.cpu_time.map(|time| time.as_secs_f64()),
            peak_memory_bytes: response.peak_memory_bytes,
            process: response.process.as_ref().map(|id| id.as_str().to_owned()),
        }
    }
}

/// An entry of a directory or of a search.
#[derive(Debug, JsonSchema, Serialize)]
pub(super) struct FileValue {
    /// Path, with U+FFFD for invalid UTF-8.
    path: String,
    /// `file`, `directory`, `symlink` or `other`.
    kind: String,
    size: Option<u64>,
    /// Seconds since 1970.
    modified: Option<f64>,
}

impl FileValue {
    pub(super) fn new(info: &FileInfo) -> Self {
        let kind = match info.kind {
            FileKind::File => "file",
            FileKind::Directory => "directory",
            FileKind::Symlink => "symlink",
            FileKind::Other => "other",
        };
        Self {
            path: String::from_utf8_lossy(&info.path).into_owned(),
            kind: kind.to_owned(),
            size: info.size,
            modified: info.modified.map(since_epoch),
        }
    }
}

/// A process.
#[derive(Debug, JsonSchema, Serialize)]
pub(super) struct ProcessValue {
    pub(super) id: String,
    pub(super) command: String,
    pub(super) tag: Option<String>,
    /// True until it ends.
    pub(super) running: bool,
    pub(super) exit_code: Option<i32>,
    pub(super) stopped_by: Option<String>,
    /// Bytes that it has written.
    pub(super) written_bytes: u64,
}

impl ProcessValue {
    pub(super) fn new(info: &ProcessInfo) -> Self {
        let (exit_code, stopped_by) = end(&info.state);
        Self {
            id: info.id.as_str().to_owned(),
            command: info.command.clone(),
            tag: info.tag.clone(),
            running: !info.state.has_ended(),
            exit_code,
            stopped_by,
            written_bytes: info.written_bytes,
        }
    }
}

/// Returns exit code and stop reason of a process that has ended.
pub(super) fn end(state: &ProcessState) -> (Option<i32>, Option<String>) {
    match state {
        ProcessState::Running => (None, None),
        ProcessState::Ended { exit_code, stopped_by } => {
            (*exit_code, stopped_by.map(|reason| reason.as_str().to_owned()))
        }
    }
}

/// Nothing: an empty object.
#[derive(Debug, JsonSchema, Serialize)]
pub(super) struct Empty {}

/// Encodes bytes in base64.
pub(super) fn encode(bytes: &[u8]) -> String {
    BASE64.encode(bytes)
}
