//! `POST /run_code` as SandboxFusion serves it: one fresh sandbox per request.
//!
//! The status is 200 for failed programs too. `SandboxError` is only for failures of the service, because clients repeat them.

use std::collections::BTreeMap;
use std::time::Duration;

use axum::Json;
use axum::extract::rejection::JsonRejection;
use axum::http::StatusCode;
use axum::response::{IntoResponse as _, Response};
use axum::routing::{get, post};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;
use tidebox_core::{ErrorKind, ExecuteRequest, ExecuteResponse, Result, SandboxBackend, StopReason, Upload};
use tidebox_emulators::{NewSandbox, random_token};

use super::auth::Caller;
use super::openapi::{Api, Operation};
use super::values::path;

/// Names that contain this are not written.
const IGNORED: &str = "IGNORE_THIS_FILE";
/// Languages of SandboxFusion that a sandbox runs: name, extension of the file, and program.
const LANGUAGES: [(&str, &str, &str); 2] = [("python", "py", "python3"), ("bash", "sh", "bash")];

/// A program to run.
#[derive(Debug, Deserialize, JsonSchema)]
struct RunCode {
    /// Its text.
    code: String,
    /// `python` or `bash`. Others of SandboxFusion give the status `SandboxError`.
    language: String,
    /// Without effect: none of the languages is compiled.
    #[serde(default = "ten", rename = "compile_timeout")]
    _compile_timeout: f64,
    /// Wall time in seconds. Default 10.
    #[serde(default = "ten")]
    run_timeout: f64,
    /// Memory in MiB. Default -1, that of the service.
    #[serde(default = "none", rename = "memory_limit_MB")]
    memory_limit_mb: i64,
    /// Standard input.
    stdin: Option<String>,
    /// Files by path, in base64. Those that are null are not written.
    #[serde(default)]
    files: BTreeMap<String, Option<String>>,
    /// Files to return.
    #[serde(default)]
    fetch_files: Vec<String>,
}

fn ten() -> f64 {
    10.0
}

fn none() -> i64 {
    -1
}

/// Result of a program.
#[derive(Debug, JsonSchema, Serialize)]
struct RunCodeValue {
    /// `Success`, `Failed` or `SandboxError`.
    status: &'static str,
    /// Cause of a `SandboxError`.
    message: String,
    /// Always null: none of the languages is compiled.
    compile_result: Option<RunResult>,
    run_result: Option<RunResult>,
    executor_pod_name: Option<String>,
    /// The requested files that exist, in base64.
    files: BTreeMap<String, String>,
}

/// Result of a run.
#[derive(Debug, JsonSchema, Serialize)]
struct RunResult {
    /// `Finished`, `Error` or `TimeLimitExceeded`.
    status: &'static str,
    /// Seconds.
    execution_time: f64,
    /// Null after the time limit.
    return_code: Option<i32>,
    stdout: String,
    stderr: String,
}

pub(super) fn add(api: &mut Api) {
    let operation = Operation::new("post", "Runs a program in a fresh sandbox, as SandboxFusion does")
        .json::<RunCode>(api)
        .returns::<RunCodeValue>(api, 200, "The result, also of a failed program.");
    api.route("/run_code", vec![operation], post(run_code));
    let operation = Operation::new("get", "Returns \"pong\", as SandboxFusion does").returns::<String>(api, 200, "It.");
    api.route("/v1/ping", vec![operation], get(|| std::future::ready(Json("pong"))));
}

async fn run_code(caller: Caller, body: std::result::Result<Json<RunCode>, JsonRejection>) -> Response {
    let request = match body {
        Ok(Json(request)) => request,
        // As FastAPI reports a malformed body.
        Err(rejection) => {
            let detail = json!([{ "type": "json_invalid", "loc": ["body"], "msg": rejection.body_text() }]);
            return (StatusCode::UNPROCESSABLE_ENTITY, Json(json!({ "detail": detail }))).into_response();
        }
    };
    match run_in_sandbox(&caller, request).await {
        Ok(value) => Json(value).into_response(),
        // A denied quota frees later, so that the client should repeat the request.
        Err(error) if error.kind() == ErrorKind::QuotaExceeded => super::ApiError::from(error).into_response(),
        Err(error) => Json(sandbox_error(error.message())).into_response(),
    }
}

fn sandbox_error(message: &str) -> RunCodeValue {
    RunCodeValue {
        status: "SandboxError",
        message: message.to_owned(),
        compile_result: None,
        run_result: None,
        executor_pod_name: None,
        files: BTreeMap::new(),
    }
}

async fn run_in_sandbox(caller: &Caller, request: RunCode) -> Result<RunCodeValue> {
    let Some((_, extension, program)) = LANGUAGES.iter().find(|(name, ..)| *name == request.language) else {
        let names = LANGUAGES.map(|(name, ..)| name).join(", ");
        return Ok(sandbox_error(&format!("cannot run {:?}: Tidebox runs {names}", request.language)));
    };
    let memory_bytes = u64::try_from(request.memory_limit_mb).ok().filter(|limit| *limit > 0);
    let memory_bytes = memory_bytes.map(|limit| limit.saturating_mul(1 << 20));
    let id = format!("run-{}", random_token()?);
    caller.notes.set_sandbox(&id);
    let new = NewSandbox { memory_bytes, is_temporary: true, ..NewSandbox::default() };
    let record = caller.registry.create_from(id.clone(), BTreeMap::new(), new).await?;
    // Closed even if the client disconnects.
    let guard = CloseOnDrop { registry: caller.registry.clone(), id: id.clone() };
    let ran = run(&*record.sandbox, request, extension, program).await;
    drop(guard);
    ran
}

/// Closes a sandbox when it is dropped.
struct CloseOnDrop {
    registry: tidebox_emulators::SandboxRegistry,
    id: String,
}

impl Drop for CloseOnDrop {
    fn drop(&mut self) {
        let (registry, id) = (self.registry.clone(), std::mem::take(&mut self.id));
        tokio::spawn(async move { registry.close(&id).await });
    }
}

async fn run(sandbox: &dyn SandboxBackend, request: RunCode, extension: &str, program: &str) -> Result<RunCodeValue> {
    // In the working directory, so that the program can import the files next to it.
    let script = format!("/workspace/{}.{extension}", random_token()?);
    let mut uploads = vec![Upload::new(script.as_str(), request.code)];
    for (name, content) in request.files {
        let Some(content) = content.filter(|_| !name.contains(IGNORED)) else { continue };
        let (Ok(path), Ok(content)) = (path(&name), BASE64.decode(&content)) else {
            return Ok(sandbox_error(&format!("cannot write {name:?}: the path or its base64 is invalid")));
        };
        uploads.push(Upload::new(path.as_bytes(), content));
    }
    for uploaded in sandbox.upload_files(uploads).await? {
        if let Err(error) = uploaded.result {
            return Ok(sandbox_error(&error.message));
        }
    }
    let mut command = ExecuteRequest::from_arguments([program, &script])?;
    command.timeout = Duration::try_from_secs_f64(request.run_timeout).ok();
    command.stdin = request.stdin.unwrap_or_default().into_bytes();
    let response = sandbox.execute(command).await?;
    if response.exit_code == Some(127) && is_missing(sandbox, program).await? {
        let message = format!("the sandbox has no {program}; install its pack with `tidebox pack add`");
        return Ok(sandbox_error(&message));
    }
    let files = fetch(sandbox, request.fetch_files).await?;
    Ok(result(&response, files))
}

/// Returns whether the sandbox lacks a program. A program that exits with 127 itself does not.
async fn is_missing(sandbox: &dyn SandboxBackend, program: &str) -> Result<bool> {
    let found = sandbox.execute(ExecuteRequest::new(format!("command -v {program}"))).await?;
    Ok(found.exit_code != Some(0))
}

/// Returns the requested files that exist.
async fn fetch(sandbox: &dyn SandboxBackend, names: Vec<String>) -> Result<BTreeMap<String, String>> {
    let valid: Vec<(String, Vec<u8>)> =
        names.into_iter().filter_map(|name| path(&name).ok().map(|path| (name, path.as_bytes().to_vec()))).collect();
    let paths = valid.iter().map(|(_, path)| path.clone()).collect();
    let downloads = sandbox.download_files(paths).await?;
    let files = valid.into_iter().zip(downloads);
    Ok(files.filter_map(|((name, _), file)| Some((name, BASE64.encode(file.result.ok()?)))).collect())
}

fn result(response: &ExecuteResponse, files: BTreeMap<String, String>) -> RunCodeValue {
    let is_timeout = response.stopped_by == Some(StopReason::Timeout);
    let return_code = if is_timeout { None } else { response.exit_code };
    let run = RunResult {
        status: if is_timeout { "TimeLimitExceeded" } else { "Finished" },
        execution_time: response.duration.as_secs_f64(),
        return_code,
        stdout: response.stdout_text().into_owned(),
        stderr: response.stderr_text().into_owned(),
    };
    let status = if return_code == Some(0) { "Success" } else { "Failed" };
    RunCodeValue {
        status,
        message: String::new(),
        compile_result: None,
        run_result: Some(run),
        executor_pod_name: None,
        files,
    }
}
