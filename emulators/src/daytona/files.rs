//! File operations of the daemon, except transfers.

use axum::Json;
use axum::extract::Query;
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use serde::Deserialize;
use serde_json::{Value, json};
use tidebox_core::shell_backend::quote;
use tidebox_core::{ExecuteRequest, ExecuteResponse, FileKind, SandboxPath, Upload};

use super::process::path;
use super::request::{FileQuery, FileTarget, SandboxRef, parse_path};
use super::{HOME, USER, error_response};
use crate::entries::{Attributes, attributes, stat, timestamp};
use crate::registry::SandboxRecord;

/// `GET /work-dir` and `GET /user-home-dir`
pub(super) async fn home(SandboxRef(_): SandboxRef) -> Response {
    Json(json!({ "dir": HOME })).into_response()
}

pub(super) fn missing(path: &SandboxPath) -> Response {
    error_response(404, "FILE_NOT_FOUND", &format!("stat {path}: no such file or directory"))
}

fn described(file: &Attributes) -> Value {
    let modified = timestamp(file.modified);
    json!({
        "name": file.name(),
        "path": file.path,
        "isDir": file.kind == FileKind::Directory,
        "size": file.size,
        "mode": file.letters(),
        "permissions": format!("{:04o}", file.permissions()),
        "modTime": modified,
        "modifiedAt": modified,
        "owner": file.owner(USER.name),
        "group": file.owner(USER.name),
    })
}

/// `GET /files/info`
pub(super) async fn info(FileTarget { sandbox, path, .. }: FileTarget) -> Response {
    match attributes(&sandbox, &path, 0).await {
        Ok(found) => found.first().map_or_else(|| missing(&path), |file| Json(described(file)).into_response()),
        Err(error) => error_response(500, "INTERNAL", &error),
    }
}

/// `GET /files`
pub(super) async fn list(SandboxRef(sandbox): SandboxRef, Query(at): Query<FileQuery>) -> Response {
    let path = match parse_path(Some(at.path.as_deref().unwrap_or(HOME))) {
        Ok(path) => path,
        Err(rejected) => return *rejected,
    };
    match stat(&sandbox, &path).await.map(|info| info.kind) {
        None => return missing(&path),
        Some(FileKind::Directory | FileKind::Symlink) => {}
        Some(_) => return error_response(400, "FILE_READ_FAILED", &format!("open {path}: not a directory")),
    }
    match attributes(&sandbox, &path, at.depth.unwrap_or(1).max(1)).await {
        // The first entry is the directory itself.
        Ok(found) => Json(found.iter().skip(1).map(described).collect::<Vec<_>>()).into_response(),
        Err(error) => error_response(400, "FILE_READ_FAILED", &error),
    }
}

async fn run(sandbox: &SandboxRecord, command: String) -> Result<ExecuteResponse, Box<Response>> {
    let request = ExecuteRequest::new(command).with_cwd(SandboxPath::root());
    sandbox
        .sandbox
        .execute(request)
        .await
        .map_err(|error| Box::new(error_response(500, "INTERNAL", &error.to_string())))
}

/// Runs a command that changes files, and responds.
async fn run_and_respond(sandbox: &SandboxRecord, command: String, status: StatusCode) -> Response {
    match run(sandbox, command).await {
        Ok(response) if response.exit_code == Some(0) => status.into_response(),
        Ok(response) => error_response(400, "BAD_REQUEST", response.stderr_text().trim_end()),
        Err(rejected) => *rejected,
    }
}

/// `POST /files/folder`
pub(super) async fn create_dir(FileTarget { sandbox, path, at }: FileTarget) -> Response {
    let mode = at.mode.as_deref().unwrap_or("755");
    if !mode.chars().all(|digit| ('0'..='7').contains(&digit)) {
        return error_response(400, "BAD_REQUEST", "invalid mode format");
    }
    let word = quote(&path.to_text());
    run_and_respond(&sandbox, format!("mkdir -p -- {word} && chmod {mode} -- {word}"), StatusCode::CREATED).await
}

/// `POST /files/move`
pub(super) async fn rename(SandboxRef(sandbox): SandboxRef, Query(at): Query<FileQuery>) -> Response {
    let (source, destination) = match (parse_path(at.source.as_deref()), parse_path(at.destination.as_deref())) {
        (Ok(source), Ok(destination)) => (source, destination),
        (Err(rejected), _) | (_, Err(rejected)) => return *rejected,
    };
    if stat(&sandbox, &source).await.is_none() {
        return missing(&source);
    }
    let [from, to] = [&source, &destination].map(|path| quote(&path.to_text()));
    run_and_respond(&sandbox, format!("mv -T -- {from} {to}"), StatusCode::OK).await
}

/// `DELETE /files`
pub(super) async fn delete(FileTarget { sandbox, path, at }: FileTarget) -> Response {
    match stat(&sandbox, &path).await.map(|info| info.kind) {
        None => return missing(&path),
        Some(FileKind::Directory) if at.recursive != Some(true) => {
            return error_response(400, "BAD_REQUEST", "cannot delete directory without recursive flag");
        }
        Some(_) => {}
    }
    run_and_respond(&sandbox, format!("rm -rf -- {}", quote(&path.to_text())), StatusCode::NO_CONTENT).await
}

/// `POST /files/permissions`
pub(super) async fn permissions(FileTarget { sandbox, path, at }: FileTarget) -> Response {
    if stat(&sandbox, &path).await.is_none() {
        return missing(&path);
    }
    let word = quote(&path.to_text());
    let mut commands = Vec::new();
    if let Some(mode) = &at.mode {
        commands.push(format!("chmod {} -- {word}", quote(mode)));
    }
    if let Some(owner) = &at.owner {
        commands.push(format!("chown {} -- {word}", quote(owner)));
    }
    if let Some(group) = &at.group {
        commands.push(format!("chgrp {} -- {word}", quote(group)));
    }
    commands.push("true".to_owned());
    run_and_respond(&sandbox, commands.join(" && "), StatusCode::OK).await
}

/// `GET /files/search`: file names that match a pattern.
pub(super) async fn search(FileTarget { sandbox, path, at }: FileTarget) -> Response {
    let pattern = quote(at.pattern.as_deref().unwrap_or("*"));
    match run(&sandbox, format!("find {} -name {pattern} -print0", quote(&path.to_text()))).await {
        Ok(response) => {
            let text = response.stdout_text();
            let files: Vec<&str> = text.split('\0').filter(|name| !name.is_empty()).collect();
            Json(json!({ "files": files })).into_response()
        }
        Err(rejected) => *rejected,
    }
}

/// `GET /files/find`: lines that contain a text.
pub(super) async fn find(FileTarget { sandbox, path, at }: FileTarget) -> Response {
    let pattern = quote(at.pattern.as_deref().unwrap_or_default());
    match run(&sandbox, format!("grep -rnFIHZ -e {pattern} -- {}", quote(&path.to_text()))).await {
        Ok(response) => {
            let text = response.stdout_text().into_owned();
            Json(text.lines().filter_map(matched).collect::<Vec<_>>()).into_response()
        }
        Err(rejected) => *rejected,
    }
}

fn matched(line: &str) -> Option<Value> {
    let (file, rest) = line.split_once('\0')?;
    let (number, content) = rest.split_once(':')?;
    Some(json!({ "file": file, "line": number.parse::<u64>().ok()?, "content": content }))
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Replace {
    files: Vec<String>,
    pattern: String,
    new_value: String,
}

/// `POST /files/replace`
pub(super) async fn replace(SandboxRef(sandbox): SandboxRef, Json(replace): Json<Replace>) -> Response {
    let mut results = Vec::new();
    for file in &replace.files {
        results.push(match replaced(&sandbox, file, &replace.pattern, &replace.new_value).await {
            Ok(()) => json!({ "file": file, "success": true }),
            Err(error) => json!({ "file": file, "success": false, "error": error }),
        });
    }
    Json(results).into_response()
}

async fn replaced(sandbox: &SandboxRecord, file: &str, from: &str, to: &str) -> Result<(), String> {
    let path = path(file).map_err(|error| error.message)?;
    let sink = |error: tidebox_core::Error| error.to_string();
    let files = sandbox.sandbox.download_files(vec![path.as_bytes().to_vec()]).await.map_err(sink)?;
    let content = files
        .into_iter()
        .next()
        .ok_or("the backend returned no result for the file")?
        .result
        .map_err(|error| error.message)?;
    let content = String::from_utf8(content).map_err(|error| error.to_string())?.replace(from, to);
    let upload = Upload::new(path.as_bytes(), content);
    let results = sandbox.sandbox.upload_files(vec![upload]).await.map_err(sink)?;
    results
        .into_iter()
        .next()
        .ok_or("the backend returned no result for the file")?
        .result
        .map_err(|error| error.message)
}
