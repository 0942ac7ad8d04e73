//! Reading and changing files.

use axum::Json;
use axum::body::Bytes as BodyBytes;
use axum::extract::rejection::{JsonRejection, QueryRejection};
use axum::extract::{Path, Query};
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse as _, Response};
use axum::routing::{get, post};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;
use tidebox_core::{
    Content, EditRequest, FileError, FileErrorCode, ReadRequest, SandboxBackend, SandboxPath, Upload, WriteRequest,
};

use super::auth::Caller;
use super::error::{ApiError, ApiResult};
use super::openapi::{Api, Operation};
use super::values::{Bytes, FileValue, path};

/// Parameter of the query.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct PathQuery {
    path: String,
}

/// A page of a text file to read.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Read {
    path: String,
    /// Lines to skip. Default 0.
    #[serde(default)]
    offset: u64,
    /// Lines to return. Default 500.
    limit: Option<u64>,
}

/// A page of a text file, or a whole binary file.
#[derive(Debug, JsonSchema, Serialize)]
struct ReadValue {
    /// The text of the page.
    text: Option<String>,
    /// The bytes of a binary file.
    base64: Option<String>,
    mime: String,
    /// First and last line of the page, from 1, and number of lines of the file. Null for binary and empty files.
    first_line: Option<u64>,
    last_line: Option<u64>,
    total_lines: Option<u64>,
}

/// A file to write.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Write {
    path: String,
    content: Bytes,
}

/// A written file.
#[derive(Debug, JsonSchema, Serialize)]
struct WriteValue {
    path: String,
    /// True if it did not exist before.
    created: bool,
}

/// A string to replace in a text file.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Edit {
    path: String,
    old: String,
    new: String,
    /// Replaces all occurrences; otherwise `old` must occur once.
    #[serde(default)]
    replace_all: bool,
}

/// Result of an edit.
#[derive(Debug, JsonSchema, Serialize)]
struct EditValue {
    path: String,
    occurrences: usize,
}

/// Entries of a directory, by name.
#[derive(Debug, JsonSchema, Serialize)]
struct ListValue {
    entries: Vec<FileValue>,
}

pub(super) fn add(api: &mut Api) {
    const PATH: &str = "Absolute, or relative to /workspace";
    let operations = vec![
        Operation::new("get", "Downloads a file").query("path", "string", true, PATH).returns_media(
            200,
            "The bytes of the file.",
            "application/octet-stream",
            json!({}),
        ),
        Operation::new("put", "Uploads a file")
            .query("path", "string", true, PATH)
            .bytes()
            .returns::<super::values::Empty>(api, 200, "It was written."),
        Operation::new("delete", "Deletes a file, or a directory with its contents")
            .query("path", "string", true, PATH)
            .returns_media(204, "It does not exist any more.", "", json!(null)),
    ];
    api.route("/v1/sandboxes/{id}/files", operations, get(download).put(upload).delete(remove));
    let operation = Operation::new("get", "Lists a directory")
        .query("path", "string", true, PATH)
        .returns::<ListValue>(api, 200, "Its entries.");
    api.route("/v1/sandboxes/{id}/files/list", vec![operation], get(list));
    let operation =
        Operation::new("post", "Reads a page of a text file").json::<Read>(api).returns::<ReadValue>(api, 200, "It.");
    api.route("/v1/sandboxes/{id}/files/read", vec![operation], post(read));
    let operation = Operation::new("post", "Writes a file, with missing parent directories")
        .json::<Write>(api)
        .returns::<WriteValue>(api, 200, "It was written.");
    api.route("/v1/sandboxes/{id}/files/write", vec![operation], post(write));
    let operation = Operation::new("post", "Replaces a string in a text file").json::<Edit>(api).returns::<EditValue>(
        api,
        200,
        "It was replaced.",
    );
    api.route("/v1/sandboxes/{id}/files/edit", vec![operation], post(edit));
}

type PathResult = Result<Query<PathQuery>, QueryRejection>;

async fn download(caller: Caller, Path(id): Path<String>, query: PathResult) -> ApiResult<Response> {
    let path = path(&query?.0.path)?;
    let sandbox = caller.sandbox(&id).await?;
    let mut files = sandbox.sandbox.download_files(vec![path.as_bytes().to_vec()]).await?;
    let file = files.pop().ok_or_else(|| ApiError::invalid("no file was downloaded"))?;
    Ok(([(header::CONTENT_TYPE, "application/octet-stream")], file.result?).into_response())
}

async fn upload(caller: Caller, Path(id): Path<String>, query: PathResult, body: BodyBytes) -> ApiResult<Response> {
    let path = path(&query?.0.path)?;
    let sandbox = caller.sandbox(&id).await?;
    let mut files = sandbox.sandbox.upload_files(vec![Upload::new(path.as_bytes(), body.to_vec())]).await?;
    files.pop().ok_or_else(|| ApiError::invalid("no file was uploaded"))?.result?;
    Ok(super::done())
}

async fn remove(caller: Caller, Path(id): Path<String>, query: PathResult) -> ApiResult<StatusCode> {
    let path = path(&query?.0.path)?;
    caller.sandbox(&id).await?.sandbox.delete(&path).await??;
    Ok(StatusCode::NO_CONTENT)
}

async fn list(caller: Caller, Path(id): Path<String>, query: PathResult) -> ApiResult<Json<ListValue>> {
    let path = path(&query?.0.path)?;
    let sandbox = caller.sandbox(&id).await?.sandbox;
    let listed = sandbox.ls(&path).await??;
    // Dialects differ: a missing directory may be an empty list.
    if listed.entries.is_empty() && !exists(&*sandbox, &path).await? {
        let message = format!("the directory {path} does not exist");
        return Err(FileError::new(FileErrorCode::FileNotFound, message).into());
    }
    Ok(Json(ListValue { entries: listed.entries.iter().map(FileValue::new).collect() }))
}

/// Returns whether a path is an entry of its parent directory.
async fn exists(sandbox: &dyn SandboxBackend, path: &SandboxPath) -> ApiResult<bool> {
    let Some(parent) = path.parent() else { return Ok(true) };
    let listed = sandbox.ls(&parent).await??;
    Ok(listed.entries.iter().any(|entry| entry.path == path.as_bytes()))
}

async fn read(
    caller: Caller,
    Path(id): Path<String>,
    body: Result<Json<Read>, JsonRejection>,
) -> ApiResult<Json<ReadValue>> {
    let Json(Read { path: name, offset, limit }) = body?;
    let mut request = ReadRequest::new(path(&name)?).with_offset(offset);
    request.limit = limit;
    let page = caller.sandbox(&id).await?.sandbox.read(request).await??;
    let (text, base64) = match page.content {
        Content::Text(text) => (Some(text), None),
        Content::Binary(bytes) => (None, Some(super::values::encode(&bytes))),
    };
    Ok(Json(ReadValue {
        text,
        base64,
        mime: page.mime.into_owned(),
        first_line: page.window.map(|window| window.start),
        last_line: page.window.map(|window| window.end),
        total_lines: page.window.map(|window| window.total),
    }))
}

async fn write(
    caller: Caller,
    Path(id): Path<String>,
    body: Result<Json<Write>, JsonRejection>,
) -> ApiResult<Json<WriteValue>> {
    let Json(Write { path: name, content }) = body?;
    let request = WriteRequest::new(path(&name)?, content.decode("content")?);
    let written = caller.sandbox(&id).await?.sandbox.write(request).await??;
    Ok(Json(WriteValue { path: written.path.to_text().into_owned(), created: written.created }))
}

async fn edit(
    caller: Caller,
    Path(id): Path<String>,
    body: Result<Json<Edit>, JsonRejection>,
) -> ApiResult<Json<EditValue>> {
    let Json(Edit { path: name, old, new, replace_all }) = body?;
    let mut request = EditRequest::new(path(&name)?, old, new);
    request.replace_all = replace_all;
    let edited = caller.sandbox(&id).await?.sandbox.edit(request).await??;
    Ok(Json(EditValue { path: edited.path.to_text().into_owned(), occurrences: edited.occurrences }))
}
