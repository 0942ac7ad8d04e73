//! Commands, each in one request.

use std::collections::BTreeMap;
use std::time::Duration;

use axum::Json;
use axum::response::{IntoResponse, Response};
use serde::Deserialize;
use serde_json::json;
use tidebox_core::shell_backend::quote;
use tidebox_core::{ExecuteRequest, SandboxPath, StopReason};

use super::asked::In;
use super::{HOME, refusal};
use crate::house::Room;

/// The longest time that a command may take whose client names none, or 0.
pub(super) const LONGEST: Duration = Duration::from_secs(24 * 60 * 60);

#[derive(Debug, Deserialize)]
pub(super) struct Execute {
    #[serde(default)]
    command: String,
    cwd: Option<String>,
    timeout: Option<u64>,
    #[serde(default)]
    envs: Option<BTreeMap<String, String>>,
}

/// A path as the daemon reads it: relative ones begin at the user's home.
pub(super) fn path(text: &str) -> Result<SandboxPath, tidebox_core::FileError> {
    SandboxPath::parse(HOME)?.resolve(text)
}

/// `POST /process/execute`: the command runs to its end, or to its time, whoever still waits for it.
pub(super) async fn execute(In(room): In, Json(asked): Json<Execute>) -> Response {
    if asked.command.trim().is_empty() {
        return refusal(400, "BAD_REQUEST", "command is required");
    }
    let cwd = asked.cwd.as_deref().unwrap_or(HOME);
    let directory = match path(cwd) {
        Ok(directory) if is_directory(&room, &directory).await => directory,
        // A process that cannot be started has no code of its own.
        _ => {
            return Json(json!({ "exitCode": -1, "result": format!("chdir {cwd}: no such file or directory") }))
                .into_response();
        }
    };
    let time = asked.timeout.filter(|seconds| *seconds > 0).map_or(LONGEST, Duration::from_secs);
    let mut request = ExecuteRequest::new(asked.command).with_timeout(time).with_cwd(directory);
    request.env = asked.envs.unwrap_or_default().into_iter().collect();
    let run = tokio::spawn(async move { room.sandbox.execute(request).await });
    match run.await {
        Ok(Ok(response)) if response.stopped_by == Some(StopReason::Timeout) => {
            refusal(408, "REQUEST_TIMEOUT", "command execution timeout")
        }
        Ok(Ok(response)) => {
            let result = String::from_utf8_lossy(&response.output).into_owned();
            Json(json!({ "exitCode": response.exit_code.unwrap_or(-1), "result": result })).into_response()
        }
        Ok(Err(error)) => refusal(500, "INTERNAL", &error.to_string()),
        Err(error) => refusal(500, "INTERNAL", &error.to_string()),
    }
}

/// Whether a directory is there.
async fn is_directory(room: &Room, path: &SandboxPath) -> bool {
    if path.as_bytes() == HOME.as_bytes() || path.as_bytes() == b"/" {
        return true;
    }
    let test = format!("test -d {}", quote(&path.to_text()));
    let root = SandboxPath::root();
    let response = room.sandbox.execute(ExecuteRequest::new(test).with_cwd(root)).await;
    response.is_ok_and(|response| response.exit_code == Some(0))
}
