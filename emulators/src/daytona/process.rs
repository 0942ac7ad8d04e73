//! One-shot commands.

use std::collections::BTreeMap;
use std::time::Duration;

use axum::Json;
use axum::response::{IntoResponse, Response};
use serde::Deserialize;
use serde_json::json;
use tidebox_core::shell_backend::quote;
use tidebox_core::{ExecuteRequest, SandboxPath, StopReason};

use super::request::SandboxRef;
use super::{HOME, error_response};
use crate::registry::SandboxRecord;

/// Maximum duration of a command whose client specifies none, or 0.
pub(super) const MAX_LENGTH: Duration = Duration::from_secs(24 * 60 * 60);

#[derive(Debug, Deserialize)]
pub(super) struct Execute {
    #[serde(default)]
    command: String,
    cwd: Option<String>,
    timeout: Option<u64>,
    #[serde(default)]
    envs: Option<BTreeMap<String, String>>,
}

/// Parses a path as the daemon does: relative paths start at the user's home.
pub(super) fn path(text: &str) -> Result<SandboxPath, tidebox_core::FileError> {
    SandboxPath::parse(HOME)?.resolve(text)
}

/// `POST /process/execute`: the command runs until it exits or times out, even if the client disconnects.
pub(super) async fn execute(SandboxRef(sandbox): SandboxRef, Json(params): Json<Execute>) -> Response {
    if params.command.trim().is_empty() {
        return error_response(400, "BAD_REQUEST", "command is required");
    }
    let cwd = params.cwd.as_deref().unwrap_or(HOME);
    let directory = match path(cwd) {
        Ok(directory) if is_directory(&sandbox, &directory).await => directory,
        // A process that cannot be started has no exit code.
        _ => {
            return Json(json!({ "exitCode": -1, "result": format!("chdir {cwd}: no such file or directory") }))
                .into_response();
        }
    };
    let time = params.timeout.filter(|seconds| *seconds > 0).map_or(MAX_LENGTH, Duration::from_secs);
    let mut request = ExecuteRequest::new(params.command).with_timeout(time).with_cwd(directory);
    request.env = params.envs.unwrap_or_default().into_iter().collect();
    let run = tokio::spawn(async move { sandbox.sandbox.execute(request).await });
    match run.await {
        Ok(Ok(response)) if response.stopped_by == Some(StopReason::Timeout) => {
            error_response(408, "REQUEST_TIMEOUT", "command execution timeout")
        }
        Ok(Ok(response)) => {
            let result = String::from_utf8_lossy(&response.output).into_owned();
            Json(json!({ "exitCode": response.exit_code.unwrap_or(-1), "result": result })).into_response()
        }
        Ok(Err(error)) => error_response(500, "INTERNAL", &error.to_string()),
        Err(error) => error_response(500, "INTERNAL", &error.to_string()),
    }
}

/// Returns whether a directory exists.
async fn is_directory(sandbox: &SandboxRecord, path: &SandboxPath) -> bool {
    if path.as_bytes() == HOME.as_bytes() || path.as_bytes() == b"/" {
        return true;
    }
    let test = format!("test -d {}", quote(&path.to_text()));
    let root = SandboxPath::root();
    let response = sandbox.sandbox.execute(ExecuteRequest::new(test).with_cwd(root)).await;
    response.is_ok_and(|response| response.exit_code == Some(0))
}
