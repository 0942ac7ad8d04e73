//! File transfers over plain HTTP.

use axum::Json;
use axum::body::Body;
use axum::extract::{Query, State};
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{IntoResponse, Response};
use serde_json::{Value, json};
use tidebox_core::{FileError, FileErrorCode, SandboxPath, Upload};
use tidebox_remote_adapters::transport::multipart::ReadPart;

use super::envd::path;
use super::signature::FileQuery;
use super::{Shared, absent_response, error_response};
use crate::form::RequestBody;
use crate::registry::SandboxRecord;

/// `GET /files?path=`
pub(super) async fn download(
    State(shared): State<Shared>,
    Query(at): Query<FileQuery>,
    headers: HeaderMap,
) -> Response {
    let sandbox = match shared.authorized_files(&headers, &at, "read").await {
        Ok(sandbox) => sandbox,
        Err(rejected) => return *rejected,
    };
    let given = at.path.unwrap_or_default();
    let parsed = match path(&given) {
        Ok(parsed) => parsed,
        Err(error) => return error_response(400, &error.message),
    };
    match sandbox.sandbox.download_files(vec![parsed.as_bytes().to_vec()]).await.map(|mut files| files.pop()) {
        Ok(Some(file)) => match file.result {
            Ok(content) => part(&headers, content),
            Err(error) => download_error(&given, &error),
        },
        Ok(None) => error_response(500, "the backend returned no result for the file"),
        Err(error) => error_response(500, &error.to_string()),
    }
}

fn download_error(path: &str, error: &FileError) -> Response {
    match error.code {
        FileErrorCode::FileNotFound => error_response(404, &format!("path '{path}' does not exist")),
        FileErrorCode::IsDirectory => error_response(400, &format!("path '{path}' is a directory")),
        FileErrorCode::NotADirectory => error_response(404, &format!("path '{path}' does not exist")),
        FileErrorCode::PermissionDenied => error_response(403, &format!("permission denied: {path}")),
        _ => error_response(400, &error.message),
    }
}

/// Returns the content, or the requested range.
fn part(headers: &HeaderMap, content: Vec<u8>) -> Response {
    let all =
        [(header::CONTENT_TYPE, "application/octet-stream".to_owned()), (header::ACCEPT_RANGES, "bytes".to_owned())];
    let request = headers.get(header::RANGE).and_then(|range| range.to_str().ok());
    let range = request.and_then(|range| range.strip_prefix("bytes=")?.split_once('-'));
    let Some((first, last)) = range.and_then(|(first, last)| Some((first.parse::<usize>().ok()?, last))) else {
        return (all, Body::from(content)).into_response();
    };
    let last = last.parse::<usize>().unwrap_or(usize::MAX).min(content.len().saturating_sub(1));
    match content.get(first..=last) {
        Some(chunk) => {
            let range = [(header::CONTENT_RANGE, format!("bytes {first}-{last}/{}", content.len()))];
            (StatusCode::PARTIAL_CONTENT, all, range, chunk.to_vec()).into_response()
        }
        None => StatusCode::RANGE_NOT_SATISFIABLE.into_response(),
    }
}

/// `POST /files`
pub(super) async fn upload(
    State(shared): State<Shared>,
    Query(at): Query<FileQuery>,
    headers: HeaderMap,
    form: RequestBody,
) -> Response {
    let sandbox = match shared.authorized_files(&headers, &at, "write").await {
        Ok(sandbox) => sandbox,
        Err(rejected) => return *rejected,
    };
    if headers.contains_key(header::CONTENT_ENCODING) {
        return absent_response("compressed uploads (`gzip`)");
    }
    if headers.keys().any(|name| name.as_str().starts_with("x-metadata-")) {
        return absent_response("metadata of files");
    }
    let files: Vec<(String, Vec<u8>)> = match form {
        RequestBody::Parts(parts) => {
            let many = parts.len() > 1;
            let named = |part: ReadPart| {
                let own = part.file.unwrap_or_default();
                let name = at.path.clone().filter(|_| !many).unwrap_or(own);
                (name, part.content)
            };
            parts.into_iter().filter(|part| part.name == "file").map(named).collect()
        }
        RequestBody::Broken => return error_response(400, "the body is not multipart"),
        RequestBody::Other(content) => {
            let Some(name) = at.path else {
                return error_response(400, "path query parameter is required for raw body upload");
            };
            vec![(name, content)]
        }
    };
    let mut entries = Vec::new();
    for (name, content) in files {
        match write_file(&sandbox, &name, content).await {
            Ok(entry) => entries.push(entry),
            Err(rejected) => return *rejected,
        }
    }
    // The real daemon declares it as plain text.
    ([(header::CONTENT_TYPE, "text/plain; charset=utf-8")], Json(entries).into_response().into_body()).into_response()
}

async fn write_file(sandbox: &SandboxRecord, name: &str, content: Vec<u8>) -> Result<Value, Box<Response>> {
    let parsed = path(name).map_err(|error| Box::new(error_response(400, &error.message)))?;
    let uploaded = sandbox.sandbox.upload_files(vec![Upload::new(parsed.as_bytes(), content)]).await;
    match uploaded.map(|mut results| results.pop()) {
        Ok(Some(result)) => match result.result {
            Ok(()) => Ok(entry(&parsed)),
            Err(error) => Err(Box::new(upload_error(&parsed, &error))),
        },
        Ok(None) => Err(Box::new(error_response(500, "the backend returned no result for the file"))),
        Err(error) => Err(Box::new(error_response(500, &error.to_string()))),
    }
}

fn entry(path: &SandboxPath) -> Value {
    json!({ "name": String::from_utf8_lossy(path.name()), "path": path.to_text(), "type": "file" })
}

fn upload_error(path: &SandboxPath, error: &FileError) -> Response {
    match error.code {
        FileErrorCode::IsDirectory => error_response(400, &format!("path is a directory: {path}")),
        FileErrorCode::NotADirectory => {
            let above = path.parent().unwrap_or_else(SandboxPath::root);
            error_response(500, &format!("error ensuring directories: path is a file: {above}"))
        }
        FileErrorCode::NoSpace | FileErrorCode::TooLarge => error_response(507, "not enough disk space available"),
        FileErrorCode::PermissionDenied => {
            error_response(500, &format!("error opening file: open {path}: permission denied"))
        }
        _ => error_response(400, &error.message),
    }
}
