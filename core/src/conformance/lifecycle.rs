//! Identity and lifecycle of a sandbox.

use super::capabilities::Requirement::AllowClose;
use super::case::{Case, cases};
use super::context::CaseContext;
use super::failure::{CaseFailure, CaseResult, check, check_eq};
use crate::error::{ErrorKind, Result};
use crate::execute::ExecuteRequest;
use crate::file::{EditRequest, ReadRequest, WriteRequest};
use crate::search::{GlobRequest, GrepRequest};
use crate::transfer::Upload;

pub(super) const CASES: &[Case] = cases![
    "id: a sandbox has a non-empty and stable id" [] stable_id;
];

/// Cases that end the sandbox.
pub(super) const CLOSING: &[Case] = cases![
    "close: every method of a closed sandbox fails with closed, and closing twice succeeds" [AllowClose] closed;
];

async fn stable_id(context: &CaseContext<'_>) -> CaseResult {
    let id = context.backend.id().as_str().to_owned();
    check("an id that is not empty", !id.is_empty(), &id)?;
    context.put("a", "x").await?;
    check_eq("the id after an operation", &context.backend.id().as_str(), &id)
}

async fn closed(context: &CaseContext<'_>) -> CaseResult {
    let backend = context.backend;
    let path = context.path("a")?;
    context.put("a", "x").await?;
    context.clear().await?;
    backend.close().await?;
    backend.close().await?;
    is_closed("execute", backend.execute(ExecuteRequest::new("echo x")).await)?;
    let mut sink = |_| {};
    is_closed("execute_streaming", backend.execute_streaming(ExecuteRequest::new("echo x"), &mut sink).await)?;
    is_closed("ls", backend.ls(&context.dir).await)?;
    is_closed("read", backend.read(ReadRequest::new(path.clone())).await)?;
    is_closed("write", backend.write(WriteRequest::new(path.clone(), "x")).await)?;
    is_closed("edit", backend.edit(EditRequest::new(path.clone(), "x", "y")).await)?;
    is_closed("delete", backend.delete(&path).await)?;
    is_closed("grep", backend.grep(GrepRequest::new("x", context.dir.clone())).await)?;
    is_closed("glob", backend.glob(GlobRequest::new("*", context.dir.clone())).await)?;
    is_closed("upload_files", backend.upload_files(vec![Upload::new(path.as_bytes(), "x")]).await)?;
    is_closed("download_files", backend.download_files(vec![path.as_bytes().to_vec()]).await)
}

fn is_closed<T: std::fmt::Debug>(method: &str, result: Result<T>) -> CaseResult {
    match result {
        Err(error) if error.kind() == ErrorKind::Closed => Ok(()),
        Err(error) => Err(CaseFailure::new(format!("`closed` from {method}"), format!("{} ({error})", error.kind()))),
        Ok(value) => Err(CaseFailure::new(format!("`closed` from {method}"), format!("{value:?}"))),
    }
}
