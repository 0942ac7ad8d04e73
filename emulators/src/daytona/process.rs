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
use super::{HOME, absent_response, error_response};
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
    match run(sandbox, request).await {
        Ok((code, result)) => Json(json!({ "exitCode": code, "result": result })).into_response(),
        Err(rejected) => *rejected,
    }
}

/// Runs a command to its end, even if the client disconnects. Returns its exit code and output.
async fn run(sandbox: SandboxRecord, request: ExecuteRequest) -> Result<(i32, String), Box<Response>> {
    let run = tokio::spawn(async move { sandbox.sandbox.execute(request).await });
    match run.await {
        Ok(Ok(response)) if response.stopped_by == Some(StopReason::Timeout) => {
            Err(Box::new(error_response(408, "REQUEST_TIMEOUT", "command execution timeout")))
        }
        Ok(Ok(response)) => {
            Ok((response.exit_code.unwrap_or(-1), String::from_utf8_lossy(&response.output).into_owned()))
        }
        Ok(Err(error)) => Err(Box::new(error_response(500, "INTERNAL", &error.to_string()))),
        Err(error) => Err(Box::new(error_response(500, "INTERNAL", &error.to_string()))),
    }
}

/// Interpreters of code, by language: the program, and the option before the code.
const LANGUAGES: [(&str, &str, &str); 3] =
    [("python", "python3", "-c"), ("javascript", "node", "-e"), ("typescript", "ts-node", "-e")];

#[derive(Debug, Deserialize)]
pub(super) struct CodeRun {
    #[serde(default)]
    code: String,
    #[serde(default)]
    language: String,
    #[serde(default)]
    argv: Option<Vec<String>>,
    #[serde(default)]
    envs: Option<BTreeMap<String, String>>,
    timeout: Option<u64>,
}

/// `POST /process/code-run`
pub(super) async fn code_run(SandboxRef(sandbox): SandboxRef, Json(params): Json<CodeRun>) -> Response {
    let language = if params.language.is_empty() { "python" } else { params.language.as_str() };
    let Some((_, program, option)) = LANGUAGES.iter().find(|(name, _, _)| *name == language) else {
        return error_response(400, "BAD_REQUEST", &format!("unsupported language: {language}"));
    };
    if !has_program(&sandbox, program).await {
        return missing_interpreter(language, program);
    }
    let argv = params.argv.unwrap_or_default();
    let words = [*program, *option, params.code.as_str()].into_iter().chain(argv.iter().map(String::as_str));
    let command = words.map(quote).collect::<Vec<_>>().join(" ");
    let time = params.timeout.filter(|seconds| *seconds > 0).map_or(MAX_LENGTH, Duration::from_secs);
    let mut request = ExecuteRequest::new(command).with_timeout(time);
    request.cwd = path(HOME).ok();
    request.env = params.envs.unwrap_or_default().into_iter().collect();
    match run(sandbox, request).await {
        Ok((code, result)) => {
            Json(json!({ "exitCode": code, "result": result, "artifacts": { "charts": [] } })).into_response()
        }
        Err(rejected) => *rejected,
    }
}

/// Returns whether a sandbox has a program.
pub(super) async fn has_program(sandbox: &SandboxRecord, program: &str) -> bool {
    let request = ExecuteRequest::new(format!("command -v {program}")).with_cwd(SandboxPath::root());
    let found = sandbox.sandbox.execute(request).await;
    found.is_ok_and(|response| response.exit_code == Some(0))
}

fn missing_interpreter(language: &str, program: &str) -> Response {
    absent_response(&format!("{program} in its sandboxes, so it cannot run code in {language}"))
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
