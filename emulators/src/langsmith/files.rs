//! File upload, download and search.

use std::collections::hash_map::DefaultHasher;
use std::hash::{Hash as _, Hasher as _};

use axum::Json;
use axum::body::Body;
use axum::extract::{Path, Query, State};
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use serde::Deserialize;
use serde_json::{Value, json};
use tidebox_core::{FileError, FileErrorCode, FileInfo, GlobRequest, GrepRequest, Upload};

use super::exec::path;
use super::{Shared, absent_response, error_response};
use crate::entries::timestamp_millis;
use crate::form::RequestBody;
use crate::registry::SandboxRecord;

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct At {
    path: String,
}

fn file_error_response(error: &FileError, otherwise: &str) -> Response {
    match error.code {
        FileErrorCode::FileNotFound => error_response(404, "FileNotFound", &error.message),
        FileErrorCode::PermissionDenied => error_response(403, "PermissionDenied", &error.message),
        _ => error_response(500, otherwise, &error.message),
    }
}

/// Directory to which the clients upload the context of a Docker build, before they run the build in the sandbox.
const BUILD_DIRECTORY: &str = "/var/lib/langsmith-build/";

/// `POST /upload?path=`
pub(super) async fn upload(
    State(shared): State<Shared>,
    Path(name): Path<String>,
    Query(at): Query<At>,
    headers: HeaderMap,
    form: RequestBody,
) -> Response {
    let sandbox = match shared.authorized_sandbox(&name, &headers).await {
        Ok(sandbox) => sandbox,
        Err(rejected) => return *rejected,
    };
    if at.path.starts_with(BUILD_DIRECTORY) {
        return absent_response("builds of Docker images");
    }
    let Some(part) = form.parts().into_iter().find(|part| part.name == "file") else {
        return error_response(400, "InvalidRequest", "the body has no part `file`");
    };
    let parsed = match path(&at.path) {
        Ok(parsed) => parsed,
        Err(error) => return file_error_response(&error, "WriteError"),
    };
    let upload = Upload::new(parsed.as_bytes(), part.content);
    match sandbox.sandbox.upload_files(vec![upload]).await.map(|mut results| results.pop()) {
        Ok(Some(result)) => match result.result {
            Ok(()) => Json(json!({})).into_response(),
            Err(error) => file_error_response(&error, "WriteError"),
        },
        Ok(None) => error_response(500, "WriteError", "the backend returned no result for the file"),
        Err(error) => error_response(502, "ConnectionError", &error.to_string()),
    }
}

/// `GET /download?path=`, and `HEAD` without the content.
pub(super) async fn download(
    State(shared): State<Shared>,
    Path(name): Path<String>,
    Query(at): Query<At>,
    headers: HeaderMap,
) -> Response {
    let sandbox = match shared.authorized_sandbox(&name, &headers).await {
        Ok(sandbox) => sandbox,
        Err(rejected) => return *rejected,
    };
    content(&sandbox, &at.path, &headers).await
}

/// Response with a file, or the requested range of it.
pub(super) async fn content(sandbox: &SandboxRecord, name: &str, headers: &HeaderMap) -> Response {
    let parsed = match path(name) {
        Ok(parsed) => parsed,
        Err(error) => return file_error_response(&error, "ReadError"),
    };
    match sandbox.sandbox.download_files(vec![parsed.as_bytes().to_vec()]).await.map(|mut files| files.pop()) {
        Ok(Some(file)) => match file.result {
            Ok(content) => whole_or_part(headers, content),
            Err(error) => file_error_response(&error, "ReadError"),
        },
        Ok(None) => error_response(500, "ReadError", "the backend returned no result for the file"),
        Err(error) => error_response(502, "ConnectionError", &error.to_string()),
    }
}

/// Returns the content, the requested range, or "not modified".
fn whole_or_part(headers: &HeaderMap, content: Vec<u8>) -> Response {
    let mut hasher = DefaultHasher::new();
    content.hash(&mut hasher);
    let tag = format!("\"{:016x}\"", hasher.finish());
    let params = |name: header::HeaderName| headers.get(name).and_then(|value| value.to_str().ok());
    let length = content.len();
    let mut response = if params(header::IF_NONE_MATCH) == Some(&tag) {
        StatusCode::NOT_MODIFIED.into_response()
    } else {
        let same = params(header::IF_RANGE).is_none_or(|given| given == tag);
        match params(header::RANGE).filter(|_| same).map(|range| bounds(range, length)) {
            None => Body::from(content).into_response(),
            Some(Some((first, last))) => {
                let chunk = content.get(first..=last).unwrap_or_default().to_vec();
                let range = [(header::CONTENT_RANGE, format!("bytes {first}-{last}/{length}"))];
                (StatusCode::PARTIAL_CONTENT, range, chunk).into_response()
            }
            Some(None) => {
                let range = [(header::CONTENT_RANGE, format!("bytes */{length}"))];
                (StatusCode::RANGE_NOT_SATISFIABLE, range).into_response()
            }
        }
    };
    let head = response.headers_mut();
    head.insert(header::ACCEPT_RANGES, HeaderValue::from_static("bytes"));
    head.insert(header::CONTENT_TYPE, HeaderValue::from_static("application/octet-stream"));
    // Hexadecimal digits and quotes are always a valid header value.
    head.extend(HeaderValue::from_str(&tag).ok().map(|tag| (header::ETAG, tag)));
    response
}

/// First and last byte of `bytes=A-B`, `bytes=A-` and `bytes=-N`.
fn bounds(range: &str, length: usize) -> Option<(usize, usize)> {
    let (first, last) = range.strip_prefix("bytes=")?.split_once('-')?;
    let end = length.checked_sub(1)?;
    let bounds = match (first.parse::<usize>(), last.parse::<usize>()) {
        (Ok(first), Ok(last)) => (first, last.min(end)),
        (Ok(first), Err(_)) => (first, end),
        (Err(_), Ok(count)) => (length.saturating_sub(count), end),
        (Err(_), Err(_)) => return None,
    };
    (bounds.0 <= bounds.1).then_some(bounds)
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Search {
    pattern: String,
    path: String,
    glob: Option<String>,
    limit: Option<usize>,
}

/// Maximum number of matches.
const MATCHES: usize = 1000;

fn entry_to_json(info: &FileInfo) -> Value {
    json!({
        "path": String::from_utf8_lossy(&info.path),
        "is_dir": info.is_dir(),
        "size_bytes": info.size.unwrap_or_default(),
        "modified_at": info.modified.map(timestamp_millis),
    })
}

/// `POST /glob`: files and directories.
pub(super) async fn glob(
    State(shared): State<Shared>,
    Path(name): Path<String>,
    headers: HeaderMap,
    Json(search): Json<Search>,
) -> Response {
    let sandbox = match shared.authorized_sandbox(&name, &headers).await {
        Ok(sandbox) => sandbox,
        Err(rejected) => return *rejected,
    };
    let root = match path(&search.path) {
        Ok(root) => root,
        Err(error) => return file_error_response(&error, "ReadError"),
    };
    // Clients list a directory with this pattern; other patterns match files only.
    let (mut entries, cut) = if search.pattern == "*" {
        match sandbox.sandbox.ls(&root).await {
            Ok(Ok(listed)) => (listed.entries, false),
            Ok(Err(error)) => return file_error_response(&error, "ReadError"),
            Err(error) => return error_response(502, "ConnectionError", &error.to_string()),
        }
    } else {
        match sandbox.sandbox.glob(GlobRequest::new(search.pattern, root)).await {
            Ok(Ok(globbed)) => (globbed.files, globbed.truncated.is_some()),
            Ok(Err(error)) => return file_error_response(&error, "ReadError"),
            Err(error) => return error_response(502, "ConnectionError", &error.to_string()),
        }
    };
    let limit = search.limit.unwrap_or(MATCHES).min(MATCHES);
    let truncated = cut || entries.len() > limit;
    entries.truncate(limit);
    Json(json!({ "matches": entries.iter().map(entry_to_json).collect::<Vec<_>>(), "truncated": truncated }))
        .into_response()
}

/// `POST /grep`: literal search.
pub(super) async fn grep(
    State(shared): State<Shared>,
    Path(name): Path<String>,
    headers: HeaderMap,
    Json(search): Json<Search>,
) -> Response {
    let sandbox = match shared.authorized_sandbox(&name, &headers).await {
        Ok(sandbox) => sandbox,
        Err(rejected) => return *rejected,
    };
    let root = match path(&search.path) {
        Ok(root) => root,
        Err(error) => return file_error_response(&error, "ReadError"),
    };
    let mut request = GrepRequest::new(search.pattern, root);
    request.glob = search.glob.map(String::into_bytes);
    request.max_count = Some(search.limit.unwrap_or(MATCHES).min(MATCHES));
    match sandbox.sandbox.grep(request).await {
        Ok(Ok(response)) => {
            let one = |found: &tidebox_core::GrepMatch| {
                let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
                json!({ "path": text(&found.path), "line": found.line, "text": text(&found.text) })
            };
            let matches: Vec<Value> = response.matches.iter().map(one).collect();
            Json(json!({ "matches": matches, "truncated": response.truncated.is_some() })).into_response()
        }
        Ok(Err(error)) => file_error_response(&error, "ReadError"),
        Err(error) => error_response(502, "ConnectionError", &error.to_string()),
    }
}
