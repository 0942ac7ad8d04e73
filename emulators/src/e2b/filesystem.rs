//! File calls of the daemon: unary Connect calls.

use std::time::SystemTime;

use axum::Json;
use axum::extract::State;
use axum::http::HeaderMap;
use axum::response::{IntoResponse, Response};
use serde::Deserialize;
use serde_json::{Value, json};
use tidebox_core::shell_backend::quote;
use tidebox_core::{ExecuteRequest, FileInfo, FileKind, SandboxPath};

use super::Shared;
use super::envd::{call_error_response, file_error_response, path};
use crate::entries::{self, timestamp};
use crate::registry::SandboxRecord;

#[derive(Debug, Deserialize)]
pub(super) struct At {
    path: String,
    #[serde(default)]
    depth: u32,
}

#[derive(Debug, Deserialize)]
pub(super) struct Rename {
    source: String,
    destination: String,
}

/// Returns the sandbox and path of a call, or an error response.
async fn located(
    shared: &Shared,
    headers: &HeaderMap,
    text: &str,
) -> Result<(SandboxRecord, SandboxPath), Box<Response>> {
    let (_, sandbox) = shared.authorized_sandbox(headers).await?;
    let path = path(text).map_err(|error| Box::new(call_error_response(400, "invalid_argument", &error.message)))?;
    Ok((sandbox, path))
}

fn entry(info: &FileInfo) -> Value {
    let path = String::from_utf8_lossy(&info.path).into_owned();
    let name = path.rsplit('/').next().unwrap_or_default();
    let (kind, mode, letters) = match info.kind {
        FileKind::Directory => ("FILE_TYPE_DIRECTORY", 0o755, "drwxr-xr-x"),
        FileKind::Symlink => ("FILE_TYPE_SYMLINK", 0o777, "Lrwxrwxrwx"),
        FileKind::File | FileKind::Other => ("FILE_TYPE_FILE", 0o644, "-rw-r--r--"),
    };
    json!({
        "name": name,
        "type": kind,
        "path": path,
        // 64-bit numbers are strings in protobuf JSON.
        "size": info.size.unwrap_or_default().to_string(),
        "mode": mode,
        "permissions": letters,
        "owner": "user",
        "group": "user",
        "modifiedTime": timestamp(info.modified.unwrap_or(SystemTime::UNIX_EPOCH)),
    })
}

fn missing(path: &SandboxPath) -> Response {
    call_error_response(404, "not_found", &format!("file not found: lstat {path}: no such file or directory"))
}

/// `filesystem.Filesystem/Stat`
pub(super) async fn stat(State(shared): State<Shared>, headers: HeaderMap, Json(at): Json<At>) -> Response {
    let (sandbox, path) = match located(&shared, &headers, &at.path).await {
        Ok(located) => located,
        Err(rejected) => return *rejected,
    };
    match entries::stat(&sandbox, &path).await {
        Some(info) => Json(json!({ "entry": entry(&info) })).into_response(),
        None => missing(&path),
    }
}

/// `filesystem.Filesystem/ListDir`
pub(super) async fn list_dir(State(shared): State<Shared>, headers: HeaderMap, Json(at): Json<At>) -> Response {
    let (sandbox, path) = match located(&shared, &headers, &at.path).await {
        Ok(located) => located,
        Err(rejected) => return *rejected,
    };
    match entries::stat(&sandbox, &path).await {
        None => return missing(&path),
        Some(info) if info.kind == FileKind::File => {
            return call_error_response(400, "invalid_argument", &format!("path is not a directory: {path}"));
        }
        Some(_) => {}
    }
    let mut entries = Vec::new();
    let mut level = vec![path];
    for _ in 0..at.depth.max(1) {
        let mut below = Vec::new();
        for directory in level {
            if let Ok(Ok(listed)) = sandbox.sandbox.ls(&directory).await {
                let dirs = listed.entries.iter().filter(|entry| entry.is_dir());
                below.extend(dirs.filter_map(|entry| SandboxPath::parse(&entry.path).ok()));
                entries.extend(listed.entries);
            }
        }
        level = below;
    }
    entries.sort_by(|a, b| a.path.cmp(&b.path));
    Json(json!({ "entries": entries.iter().map(entry).collect::<Vec<_>>() })).into_response()
}

/// `filesystem.Filesystem/MakeDir`
pub(super) async fn make_dir(State(shared): State<Shared>, headers: HeaderMap, Json(at): Json<At>) -> Response {
    let (sandbox, path) = match located(&shared, &headers, &at.path).await {
        Ok(located) => located,
        Err(rejected) => return *rejected,
    };
    match entries::stat(&sandbox, &path).await.map(|info| info.kind) {
        Some(FileKind::Directory) => {
            return call_error_response(409, "already_exists", &format!("directory already exists: {path}"));
        }
        Some(_) => {
            let message = format!("path already exists but it is not a directory: {path}");
            return call_error_response(400, "invalid_argument", &message);
        }
        None => {}
    }
    run_and_respond(&sandbox, &path, &format!("mkdir -p -- {}", quote(&path.to_text()))).await
}

/// `filesystem.Filesystem/Move`
pub(super) async fn rename(State(shared): State<Shared>, headers: HeaderMap, Json(request): Json<Rename>) -> Response {
    let (sandbox, source) = match located(&shared, &headers, &request.source).await {
        Ok(located) => located,
        Err(rejected) => return *rejected,
    };
    let destination = match path(&request.destination) {
        Ok(destination) => destination,
        Err(error) => return call_error_response(400, "invalid_argument", &error.message),
    };
    if entries::stat(&sandbox, &source).await.is_none() {
        return call_error_response(404, "not_found", &format!("source file not found: {source}"));
    }
    let above = destination.parent().unwrap_or_else(SandboxPath::root);
    let words = [&above, &source, &destination].map(|path| quote(&path.to_text()));
    let [above, source, target] = words;
    run_and_respond(&sandbox, &destination, &format!("mkdir -p -- {above} && mv -T -- {source} {target}")).await
}

/// Runs a command that changes files, and returns the resulting entry.
async fn run_and_respond(sandbox: &SandboxRecord, path: &SandboxPath, command: &str) -> Response {
    match sandbox.sandbox.execute(ExecuteRequest::new(command)).await {
        Ok(response) if response.exit_code == Some(0) => match entries::stat(sandbox, path).await {
            Some(info) => Json(json!({ "entry": entry(&info) })).into_response(),
            None => missing(path),
        },
        Ok(response) => call_error_response(500, "internal", response.stderr_text().trim_end()),
        Err(error) => call_error_response(500, "internal", &error.to_string()),
    }
}

/// `filesystem.Filesystem/Remove`: removing a missing entry succeeds.
pub(super) async fn remove(State(shared): State<Shared>, headers: HeaderMap, Json(at): Json<At>) -> Response {
    let (sandbox, path) = match located(&shared, &headers, &at.path).await {
        Ok(located) => located,
        Err(rejected) => return *rejected,
    };
    match sandbox.sandbox.delete(&path).await {
        Ok(Ok(_)) => Json(json!({})).into_response(),
        Ok(Err(error)) if error.code == tidebox_core::FileErrorCode::FileNotFound => Json(json!({})).into_response(),
        Ok(Err(error)) => file_error_response(error.code, &error.message),
        Err(error) => call_error_response(500, "internal", &error.to_string()),
    }
}
