//! Transfers of one or several files.

use std::collections::BTreeMap;

use axum::Json;
use axum::body::Body;
use axum::extract::Query;
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{IntoResponse, Response};
use serde::Deserialize;
use serde_json::json;
use tidebox_core::{FileError, FileErrorCode, SandboxPath, Upload};
use tidebox_remote_adapters::transport::multipart::{self, Part};

use super::error_response;
use super::process::path;
use super::request::{FileQuery, FileTarget, SandboxRef};
use crate::form::RequestBody;
use crate::registry::SandboxRecord;

/// Error of a failed read: status, code and Linux message.
fn unreadable(path: &SandboxPath, error: &FileError) -> (u16, &'static str, String) {
    match error.code {
        FileErrorCode::FileNotFound => (404, "FILE_NOT_FOUND", format!("stat {path}: no such file or directory")),
        FileErrorCode::PermissionDenied => (403, "FILE_ACCESS_DENIED", format!("open {path}: permission denied")),
        FileErrorCode::IsDirectory => (400, "INVALID_FILE_PATH", "path must be a file".to_owned()),
        FileErrorCode::NotADirectory => (400, "INVALID_FILE_PATH", format!("stat {path}: not a directory")),
        _ => (400, "FILE_READ_FAILED", error.message.clone()),
    }
}

async fn content(sandbox: &SandboxRecord, path: &SandboxPath) -> Result<Vec<u8>, (u16, &'static str, String)> {
    match sandbox.sandbox.download_files(vec![path.as_bytes().to_vec()]).await.map(|mut files| files.pop()) {
        Ok(Some(file)) => file.result.map_err(|error| unreadable(path, &error)),
        Ok(None) => Err((500, "INTERNAL", "the backend returned no result for the file".to_owned())),
        Err(error) => Err((500, "INTERNAL", error.to_string())),
    }
}

/// `GET /files/download`, with optional range.
pub(super) async fn download(FileTarget { sandbox, path, .. }: FileTarget, headers: HeaderMap) -> Response {
    let content = match content(&sandbox, &path).await {
        Ok(content) => content,
        Err((status, code, message)) => return error_response(status, code, &message),
    };
    let kind = [(header::CONTENT_TYPE, "application/octet-stream")];
    let range =
        headers.get(header::RANGE).and_then(|range| range.to_str().ok()?.strip_prefix("bytes=")?.strip_suffix('-'));
    match range.and_then(|from| from.parse::<usize>().ok()) {
        None => (kind, Body::from(content)).into_response(),
        Some(from) => match content.get(from..) {
            Some(rest) if !rest.is_empty() => {
                let length = content.len();
                let range = [(header::CONTENT_RANGE, format!("bytes {from}-{}/{length}", length.saturating_sub(1)))];
                (StatusCode::PARTIAL_CONTENT, kind, range, rest.to_vec()).into_response()
            }
            _ => StatusCode::RANGE_NOT_SATISFIABLE.into_response(),
        },
    }
}

#[derive(Debug, Deserialize)]
pub(super) struct Paths {
    paths: Vec<String>,
}

/// `POST /files/bulk-download`: one part per file, with its content or its error.
pub(super) async fn download_many(SandboxRef(sandbox): SandboxRef, Json(Paths { paths }): Json<Paths>) -> Response {
    if paths.is_empty() {
        return error_response(400, "BAD_REQUEST", "request body must be {\"paths\": [ ... ]} and non-empty");
    }
    let mut parts = Vec::new();
    for name in paths {
        let read = match path(&name) {
            Ok(path) => content(&sandbox, &path).await,
            Err(error) => Err((400, "INVALID_FILE_PATH", error.message)),
        };
        parts.push(match read {
            Ok(content) => Part::file("file", name, content),
            Err((status, code, message)) => {
                let error = json!({ "statusCode": status, "code": code, "message": message });
                let mut part = Part::file("error", name, error.to_string());
                part.media_type = Some("application/json");
                part
            }
        });
    }
    let (media_type, chunks) = multipart::write(&parts);
    ([(header::CONTENT_TYPE, media_type)], chunks.concat()).into_response()
}

/// Writes a file. The error has the daemon's message, which is Linux's.
async fn write_file(sandbox: &SandboxRecord, name: &str, content: Vec<u8>) -> Result<usize, String> {
    let parsed = path(name).map_err(|error| error.message)?;
    let length = content.len();
    let uploaded = sandbox.sandbox.upload_files(vec![Upload::new(parsed.as_bytes(), content)]).await;
    match uploaded.map(|mut results| results.pop()) {
        Ok(Some(result)) => result.result.map(|()| length).map_err(|error| unwritable(&parsed, &error)),
        Ok(None) => Err("the backend returned no result for the file".to_owned()),
        Err(error) => Err(error.to_string()),
    }
}

fn unwritable(path: &SandboxPath, error: &FileError) -> String {
    let above = path.parent().unwrap_or_else(SandboxPath::root);
    match error.code {
        FileErrorCode::NotADirectory => format!("mkdir {above}: not a directory"),
        FileErrorCode::IsDirectory => format!(
            "rename: rename {above}/.daytona-upload-1 {path}: file exists; fallback: open {path}: is a directory"
        ),
        FileErrorCode::PermissionDenied => {
            format!("create temp: open {above}/.daytona-upload-1: permission denied")
        }
        FileErrorCode::NoSpace | FileErrorCode::TooLarge => "write: no space left on device".to_owned(),
        _ => error.message.clone(),
    }
}

/// `POST /files/upload`: one file, named by the query.
pub(super) async fn upload(
    SandboxRef(sandbox): SandboxRef,
    Query(at): Query<FileQuery>,
    form: RequestBody,
) -> Response {
    let Some(name) = at.path else { return error_response(400, "INVALID_FILE_PATH", "path is required") };
    let Some(file) = form.parts().into_iter().find(|part| part.name == "file") else {
        return error_response(400, "BAD_REQUEST", "http: no such file");
    };
    match write_file(&sandbox, &name, file.content).await {
        Ok(_) => StatusCode::OK.into_response(),
        Err(error) => error_response(400, "BAD_REQUEST", &error),
    }
}

/// `POST /files/bulk-upload`: writes every file it can, independently of the others.
pub(super) async fn upload_many(SandboxRef(sandbox): SandboxRef, form: RequestBody) -> Response {
    let RequestBody::Parts(parts) = form else {
        return (StatusCode::BAD_REQUEST, Json(json!({ "errors": ["invalid multipart form"] }))).into_response();
    };
    let mut names: BTreeMap<String, String> = BTreeMap::new();
    let (mut errors, mut files) = (Vec::new(), Vec::new());
    for part in parts {
        let index = part.name.trim_start_matches("files[").split(']').next().unwrap_or_default().to_owned();
        if part.name.ends_with(".path") {
            // The daemon trims the path.
            let name = String::from_utf8_lossy(&part.content).trim().to_owned();
            if name.is_empty() {
                errors.push(format!("path[{index}]: empty path"));
            } else {
                names.insert(index, name);
            }
        } else if part.name.ends_with(".file") {
            let Some(name) = names.get(&index) else {
                errors.push(format!("file[{index}]: missing .path metadata"));
                continue;
            };
            match write_file(&sandbox, name, part.content).await {
                Ok(bytes) => files.push(json!({ "path": name, "bytes": bytes })),
                Err(error) => errors.push(format!("{name}: {error}")),
            }
        }
    }
    let (status, reply) = if errors.is_empty() {
        (StatusCode::OK, json!({ "files": files }))
    } else {
        (StatusCode::BAD_REQUEST, json!({ "errors": errors, "files": files }))
    };
    (status, Json(reply)).into_response()
}
