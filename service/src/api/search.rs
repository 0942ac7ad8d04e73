//! Finding files by name and by content.

use axum::Json;
use axum::extract::Path;
use axum::extract::rejection::JsonRejection;
use axum::routing::post;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tidebox_core::{GlobRequest, GrepRequest};

use super::auth::Caller;
use super::error::ApiResult;
use super::openapi::{Api, Operation};
use super::values::{FileValue, path};

/// Default directory of a search.
fn workspace() -> String {
    "/workspace".to_owned()
}

/// A search for files by name.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Glob {
    /// For example `**/*.py`.
    pattern: String,
    /// Directory to search. Default `/workspace`.
    #[serde(default = "workspace")]
    path: String,
}

/// Files that match. Their paths are relative to the searched directory, unless that is `/`.
#[derive(Debug, JsonSchema, Serialize)]
struct GlobValue {
    files: Vec<FileValue>,
    /// Set if there may be more: `max_count`, `budget` or `unreadable`.
    truncated: Option<String>,
}

/// A search for lines with a literal string.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Grep {
    /// The string.
    pattern: String,
    /// A directory or a file. Default `/workspace`.
    #[serde(default = "workspace")]
    path: String,
    /// Only files that match, for example `*.py`.
    glob: Option<String>,
    /// Maximum number of lines.
    max_count: Option<usize>,
}

/// A line that matches.
#[derive(Debug, JsonSchema, Serialize)]
struct Line {
    path: String,
    /// From 1.
    line: u64,
    text: String,
}

/// Lines that match.
#[derive(Debug, JsonSchema, Serialize)]
struct GrepValue {
    matches: Vec<Line>,
    /// Set if there may be more: `max_count`, `budget` or `unreadable`.
    truncated: Option<String>,
}

pub(super) fn add(api: &mut Api) {
    let operation =
        Operation::new("post", "Finds files by name").json::<Glob>(api).returns::<GlobValue>(api, 200, "The files.");
    api.route("/v1/sandboxes/{id}/files/glob", vec![operation], post(glob));
    let operation = Operation::new("post", "Finds lines with a string").json::<Grep>(api).returns::<GrepValue>(
        api,
        200,
        "The lines.",
    );
    api.route("/v1/sandboxes/{id}/files/grep", vec![operation], post(grep));
}

async fn glob(
    caller: Caller,
    Path(id): Path<String>,
    body: Result<Json<Glob>, JsonRejection>,
) -> ApiResult<Json<GlobValue>> {
    let Json(Glob { pattern, path: name }) = body?;
    let found = caller.sandbox(&id).await?.sandbox.glob(GlobRequest::new(pattern, path(&name)?)).await??;
    Ok(Json(GlobValue {
        files: found.files.iter().map(FileValue::new).collect(),
        truncated: found.truncated.map(|reason| reason.as_str().to_owned()),
    }))
}

async fn grep(
    caller: Caller,
    Path(id): Path<String>,
    body: Result<Json<Grep>, JsonRejection>,
) -> ApiResult<Json<GrepValue>> {
    let Json(Grep { pattern, path: name, glob, max_count }) = body?;
    let mut request = GrepRequest::new(pattern, path(&name)?);
    (request.glob, request.max_count) = (glob.map(String::into_bytes), max_count);
    let found = caller.sandbox(&id).await?.sandbox.grep(request).await??;
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let lines = found.matches.iter();
    Ok(Json(GrepValue {
        matches: lines.map(|line| Line { path: text(&line.path), line: line.line, text: text(&line.text) }).collect(),
        truncated: found.truncated.map(|reason| reason.as_str().to_owned()),
    }))
}
