//! What the daemon does with files besides moving their content.

use std::time::SystemTime;

use axum::Json;
use axum::extract::Query;
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use serde::Deserialize;
use serde_json::{Value, json};
use tidebox_core::shell_backend::quote;
use tidebox_core::{ExecuteRequest, ExecuteResponse, FileInfo, FileKind, SandboxPath, Upload};

use super::asked::{At, In, Located, parsed};
use super::process::path;
use super::{HOME, refusal};
use crate::entries::{look, timestamp};
use crate::house::Room;

/// `GET /work-dir` and `GET /user-home-dir`
pub(super) async fn home(In(_): In) -> Response {
    Json(json!({ "dir": HOME })).into_response()
}

pub(super) fn missing(path: &SandboxPath) -> Response {
    refusal(404, "FILE_NOT_FOUND", &format!("stat {path}: no such file or directory"))
}

fn described(info: &FileInfo) -> Value {
    let path = String::from_utf8_lossy(&info.path).into_owned();
    let (mode, permissions) = match info.kind {
        FileKind::Directory => ("drwxr-xr-x", "0755"),
        FileKind::Symlink => ("Lrwxrwxrwx", "0777"),
        FileKind::File | FileKind::Other => ("-rw-r--r--", "0644"),
    };
    let modified = timestamp(info.modified.unwrap_or(SystemTime::UNIX_EPOCH));
    json!({
        "name": path.rsplit('/').next().unwrap_or_default(),
        "path": path,
        "isDir": info.kind == FileKind::Directory,
        "size": info.size.unwrap_or_default(),
        "mode": mode,
        "permissions": permissions,
        "modTime": modified,
        "modifiedAt": modified,
        "owner": "daytona",
        "group": "daytona",
    })
}

/// `GET /files/info`
pub(super) async fn info(Located { room, path, .. }: Located) -> Response {
    match look(&room, &path).await {
        Some(info) => Json(described(&info)).into_response(),
        None => missing(&path),
    }
}

/// `GET /files`
pub(super) async fn list(In(room): In, Query(at): Query<At>) -> Response {
    let path = match parsed(Some(at.path.as_deref().unwrap_or(HOME))) {
        Ok(path) => path,
        Err(refused) => return *refused,
    };
    match look(&room, &path).await.map(|info| info.kind) {
        None => return missing(&path),
        Some(FileKind::Directory | FileKind::Symlink) => {}
        Some(_) => return refusal(400, "FILE_READ_FAILED", &format!("open {path}: not a directory")),
    }
    match room.sandbox.ls(&path).await {
        Ok(Ok(listed)) => Json(listed.entries.iter().map(described).collect::<Vec<_>>()).into_response(),
        Ok(Err(error)) => refusal(400, "FILE_READ_FAILED", &error.message),
        Err(error) => refusal(500, "INTERNAL", &error.to_string()),
    }
}

async fn run(room: &Room, command: String) -> Result<ExecuteResponse, Box<Response>> {
    let request = ExecuteRequest::new(command).with_cwd(SandboxPath::root());
    room.sandbox.execute(request).await.map_err(|error| Box::new(refusal(500, "INTERNAL", &error.to_string())))
}

/// The answer to what changes files.
async fn done(room: &Room, command: String, status: StatusCode) -> Response {
    match run(room, command).await {
        Ok(response) if response.exit_code == Some(0) => status.into_response(),
        Ok(response) => refusal(400, "BAD_REQUEST", response.stderr_text().trim_end()),
        Err(refused) => *refused,
    }
}

/// `POST /files/folder`
pub(super) async fn folder(Located { room, path, at }: Located) -> Response {
    let mode = at.mode.as_deref().unwrap_or("755");
    if !mode.chars().all(|digit| ('0'..='7').contains(&digit)) {
        return refusal(400, "BAD_REQUEST", "invalid mode format");
    }
    let word = quote(&path.to_text());
    done(&room, format!("mkdir -p -- {word} && chmod {mode} -- {word}"), StatusCode::CREATED).await
}

/// `POST /files/move`
pub(super) async fn rename(In(room): In, Query(at): Query<At>) -> Response {
    let (source, destination) = match (parsed(at.source.as_deref()), parsed(at.destination.as_deref())) {
        (Ok(source), Ok(destination)) => (source, destination),
        (Err(refused), _) | (_, Err(refused)) => return *refused,
    };
    if look(&room, &source).await.is_none() {
        return missing(&source);
    }
    let [from, to] = [&source, &destination].map(|path| quote(&path.to_text()));
    done(&room, format!("mv -T -- {from} {to}"), StatusCode::OK).await
}

/// `DELETE /files`
pub(super) async fn delete(Located { room, path, at }: Located) -> Response {
    match look(&room, &path).await.map(|info| info.kind) {
        None => return missing(&path),
        Some(FileKind::Directory) if at.recursive != Some(true) => {
            return refusal(400, "BAD_REQUEST", "cannot delete directory without recursive flag");
        }
        Some(_) => {}
    }
    done(&room, format!("rm -rf -- {}", quote(&path.to_text())), StatusCode::NO_CONTENT).await
}

/// `POST /files/permissions`
pub(super) async fn permissions(Located { room, path, at }: Located) -> Response {
    if look(&room, &path).await.is_none() {
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
    done(&room, commands.join(" && "), StatusCode::OK).await
}

/// `GET /files/search`: names that match a pattern.
pub(super) async fn search(Located { room, path, at }: Located) -> Response {
    let pattern = quote(at.pattern.as_deref().unwrap_or("*"));
    match run(&room, format!("find {} -name {pattern} -print0", quote(&path.to_text()))).await {
        Ok(response) => {
            let text = response.stdout_text();
            let files: Vec<&str> = text.split('\0').filter(|name| !name.is_empty()).collect();
            Json(json!({ "files": files })).into_response()
        }
        Err(refused) => *refused,
    }
}

/// `GET /files/find`: lines that hold a text.
pub(super) async fn find(Located { room, path, at }: Located) -> Response {
    let pattern = quote(at.pattern.as_deref().unwrap_or_default());
    match run(&room, format!("grep -rnFIHZ -e {pattern} -- {}", quote(&path.to_text()))).await {
        Ok(response) => {
            let text = response.stdout_text().into_owned();
            Json(text.lines().filter_map(matched).collect::<Vec<_>>()).into_response()
        }
        Err(refused) => *refused,
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
pub(super) async fn replace(In(room): In, Json(replace): Json<Replace>) -> Response {
    let mut results = Vec::new();
    for file in &replace.files {
        results.push(match replaced(&room, file, &replace.pattern, &replace.new_value).await {
            Ok(()) => json!({ "file": file, "success": true }),
            Err(error) => json!({ "file": file, "success": false, "error": error }),
        });
    }
    Json(results).into_response()
}

async fn replaced(room: &Room, file: &str, from: &str, to: &str) -> Result<(), String> {
    let path = path(file).map_err(|error| error.message)?;
    let told = |error: tidebox_core::Error| error.to_string();
    let files = room.sandbox.download_files(vec![path.as_bytes().to_vec()]).await.map_err(told)?;
    let content =
        files.into_iter().next().ok_or("nothing was said of the file")?.result.map_err(|error| error.message)?;
    let content = String::from_utf8(content).map_err(|error| error.to_string())?.replace(from, to);
    let upload = Upload::new(path.as_bytes(), content);
    let results = room.sandbox.upload_files(vec![upload]).await.map_err(told)?;
    results.into_iter().next().ok_or("nothing was said of the file")?.result.map_err(|error| error.message)
}
