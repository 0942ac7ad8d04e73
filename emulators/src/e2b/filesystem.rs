//! File calls of the daemon: unary Connect calls.

use axum::Json;
use axum::extract::State;
use axum::http::HeaderMap;
use axum::response::{IntoResponse, Response};
use serde::Deserialize;
use serde_json::{Value, json};
use tidebox_core::shell_backend::quote;
use tidebox_core::{ExecuteRequest, FileKind, SandboxPath};

use super::envd::{call_error_response, file_error_response, path};
use super::{Shared, USER};
use crate::entries::{self, Attributes, timestamp};
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

/// Returns the attributes of one file, or an error response.
async fn stat_one(sandbox: &SandboxRecord, path: &SandboxPath) -> Result<Attributes, Box<Response>> {
    match entries::attributes(sandbox, path, 0).await {
        Ok(found) => found.into_iter().next().ok_or_else(|| Box::new(missing(path))),
        Err(error) => Err(Box::new(call_error_response(500, "internal", &error))),
    }
}

/// Returns the sandbox and path of a call, or an error response.
pub(super) async fn located(
    shared: &Shared,
    headers: &HeaderMap,
    text: &str,
) -> Result<(SandboxRecord, SandboxPath), Box<Response>> {
    let (_, sandbox) = shared.authorized_sandbox(headers).await?;
    let path = path(text).map_err(|error| Box::new(call_error_response(400, "invalid_argument", &error.message)))?;
    Ok((sandbox, path))
}

pub(super) fn entry(file: &Attributes) -> Value {
    let kind = match file.kind {
        FileKind::Directory => "FILE_TYPE_DIRECTORY",
        FileKind::Symlink => "FILE_TYPE_SYMLINK",
        FileKind::File | FileKind::Other => "FILE_TYPE_FILE",
    };
    let mut entry = json!({
        "name": file.name(),
        "type": kind,
        "path": file.path,
        // 64-bit numbers are strings in protobuf JSON.
        "size": file.size.to_string(),
        "mode": file.permissions(),
        "permissions": file.letters(),
        "owner": file.owner(USER.name),
        "group": file.owner(USER.name),
        "modifiedTime": timestamp(file.modified),
    });
    if let Some(target) = &file.target {
        entry["symlinkTarget"] = json!(target);
        entry["isSymlink"] = json!(true);
    }
    entry
}

pub(super) fn missing(path: &SandboxPath) -> Response {
    call_error_response(404, "not_found", &format!("file not found: lstat {path}: no such file or directory"))
}

/// `filesystem.Filesystem/Stat`
pub(super) async fn stat(State(shared): State<Shared>, headers: HeaderMap, Json(at): Json<At>) -> Response {
    let (sandbox, path) = match located(&shared, &headers, &at.path).await {
        Ok(located) => located,
        Err(rejected) => return *rejected,
    };
    match stat_one(&sandbox, &path).await {
        Ok(file) => Json(json!({ "entry": entry(&file) })).into_response(),
        Err(rejected) => *rejected,
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
    match entries::attributes(&sandbox, &path, at.depth.max(1)).await {
        // The first entry is the directory itself.
        Ok(found) => Json(json!({ "entries": found.iter().skip(1).map(entry).collect::<Vec<_>>() })).into_response(),
        Err(error) => call_error_response(500, "internal", &error),
    }
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
        Ok(response) if response.exit_code == Some(0) => match stat_one(sandbox, path).await {
            Ok(file) => Json(json!({ "entry": entry(&file) })).into_response(),
            Err(rejected) => *rejected,
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
