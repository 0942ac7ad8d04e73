//! File transfers.

use axum::Json;
use axum::extract::{Path, State};
use axum::http::{HeaderMap, header};
use axum::response::{IntoResponse, Response};
use serde::Deserialize;
use serde_json::json;
use tidebox_core::shell_backend::quote;
use tidebox_core::{ExecuteRequest, FileErrorCode, SandboxPath, Upload};

use super::{HOME, Shared, error_response};
use crate::form::RequestBody;
use crate::registry::SandboxRecord;

fn path(text: &str) -> Result<SandboxPath, Box<Response>> {
    let home = SandboxPath::parse(HOME).and_then(|home| home.resolve(text));
    home.map_err(|error| Box::new(error_response(400, "bad_request", &error.message)))
}

/// Writes a file, whose parent directory must exist.
async fn write_file(sandbox: &SandboxRecord, name: &str, content: Vec<u8>) -> Result<(), Box<Response>> {
    let path = path(name)?;
    let respond_with_error = |message: String| Box::new(error_response(400, "bad_request", &message));
    let above = path.parent().unwrap_or_else(SandboxPath::root);
    let test = ExecuteRequest::new(format!("test -d {}", quote(&above.to_text())));
    let test = sandbox.sandbox.execute(test.with_cwd(SandboxPath::root())).await;
    if test.is_ok_and(|response| response.exit_code != Some(0)) {
        return Err(respond_with_error(format!("open {path}: no such file or directory")));
    }
    let uploaded = sandbox.sandbox.upload_files(vec![Upload::new(path.as_bytes(), content)]).await;
    match uploaded.map(|mut results| results.pop()) {
        Ok(Some(result)) => result.result.map_err(|error| respond_with_error(error.message)),
        Ok(None) => Err(respond_with_error("the backend returned no result for the file".to_owned())),
        Err(error) => Err(Box::new(error_response(500, "internal", &error.to_string()))),
    }
}

async fn content(sandbox: &SandboxRecord, name: &str) -> Result<Vec<u8>, Box<Response>> {
    let path = path(name)?;
    match sandbox.sandbox.download_files(vec![path.as_bytes().to_vec()]).await.map(|mut files| files.pop()) {
        Ok(Some(file)) => file.result.map_err(|error| {
            Box::new(match error.code {
                FileErrorCode::FileNotFound => error_response(404, "not_found", "file not found"),
                _ => error_response(400, "bad_request", &error.message),
            })
        }),
        Ok(None) => Err(Box::new(error_response(500, "internal", "the backend returned no result for the file"))),
        Err(error) => Err(Box::new(error_response(500, "internal", &error.to_string()))),
    }
}

/// `POST /v1/devboxes/{id}/upload_file`
pub(super) async fn upload(
    State(shared): State<Shared>,
    Path(id): Path<String>,
    headers: HeaderMap,
    form: RequestBody,
) -> Response {
    let sandbox = match shared.authorized_sandbox(&id, &headers).await {
        Ok(sandbox) => sandbox,
        Err(rejected) => return *rejected,
    };
    let mut parts = form.parts();
    let mut part = |name: &str| {
        let at = parts.iter().position(|part| part.name == name)?;
        Some(parts.swap_remove(at).content)
    };
    let (Some(name), Some(content)) = (part("path"), part("file")) else {
        return error_response(400, "bad_request", "path and file are required");
    };
    match write_file(&sandbox, &String::from_utf8_lossy(&name), content).await {
        Ok(()) => Json(json!({})).into_response(),
        Err(rejected) => *rejected,
    }
}

#[derive(Debug, Deserialize)]
pub(super) struct Download {
    path: String,
}

/// `POST /v1/devboxes/{id}/download_file`
pub(super) async fn download(
    State(shared): State<Shared>,
    Path(id): Path<String>,
    headers: HeaderMap,
    Json(request): Json<Download>,
) -> Response {
    let sandbox = match shared.authorized_sandbox(&id, &headers).await {
        Ok(sandbox) => sandbox,
        Err(rejected) => return *rejected,
    };
    match content(&sandbox, &request.path).await {
        Ok(content) => ([(header::CONTENT_TYPE, "application/octet-stream")], content).into_response(),
        Err(rejected) => *rejected,
    }
}

#[derive(Debug, Deserialize)]
pub(super) struct Text {
    file_path: String,
    #[serde(default)]
    contents: String,
}

/// `POST /v1/devboxes/{id}/read_file_contents`
pub(super) async fn read(
    State(shared): State<Shared>,
    Path(id): Path<String>,
    headers: HeaderMap,
    Json(request): Json<Text>,
) -> Response {
    let sandbox = match shared.authorized_sandbox(&id, &headers).await {
        Ok(sandbox) => sandbox,
        Err(rejected) => return *rejected,
    };
    match content(&sandbox, &request.file_path).await {
        Ok(content) => String::from_utf8_lossy(&content).into_owned().into_response(),
        Err(rejected) => *rejected,
    }
}

/// `POST /v1/devboxes/{id}/write_file_contents`
pub(super) async fn write(
    State(shared): State<Shared>,
    Path(id): Path<String>,
    headers: HeaderMap,
    Json(request): Json<Text>,
) -> Response {
    let sandbox = match shared.authorized_sandbox(&id, &headers).await {
        Ok(sandbox) => sandbox,
        Err(rejected) => return *rejected,
    };
    match write_file(&sandbox, &request.file_path, request.contents.into_bytes()).await {
        Ok(()) => Json(json!({ "devbox_id": id, "exit_status": 0, "stdout": "", "stderr": "" })).into_response(),
        Err(rejected) => *rejected,
    }
}
