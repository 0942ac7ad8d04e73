//! The offload directories of Deep Agents: tool results that are too large for the conversation, and its history.
//!
//! These cases write to the two directories at the root whose names Deep Agents fixes.

use super::capabilities::Requirement::{FileBytes, OffloadDirectories};
use super::case::{Case, cases};
use super::context::{CaseContext, page_text};
use super::failure::{CaseResult, check, check_eq};
use crate::error::FileErrorCode;
use crate::file::{EditRequest, LineWindow, ReadRequest, WriteRequest};
use crate::path::SandboxPath;
use crate::search::GrepRequest;
use crate::transfer::Upload;

pub(super) const CASES: &[Case] = cases![
    "offload: a large result can be written, paged and searched" [OffloadDirectories, FileBytes(5 << 20)] large_result;
    "offload: a conversation history survives download, upload and edit" [OffloadDirectories] history;
];

const LINES: u64 = 100_000;

async fn remove(context: &CaseContext<'_>, path: &SandboxPath) -> CaseResult {
    match context.backend.delete(path).await? {
        Err(error) if error.code != FileErrorCode::FileNotFound => Err(error.into()),
        _ => Ok(()),
    }
}

async fn large_result(context: &CaseContext<'_>) -> CaseResult {
    let path = SandboxPath::parse("/large_tool_results/call_conformance_Zm9vYmFy.txt")?;
    remove(context, &path).await?;
    let verdict = put_aside(context, &path).await;
    remove(context, &path).await?;
    verdict
}

async fn put_aside(context: &CaseContext<'_>, path: &SandboxPath) -> CaseResult {
    let result: String =
        (0..LINES).map(|line| format!("{line:06} a line of a result of a tool, which is long\n")).collect();
    context.backend.write(WriteRequest::new(path.clone(), result)).await??;
    let request = ReadRequest::new(path.clone()).with_offset(50_000).with_limit(100);
    let response = context.backend.read(request).await??;
    check_eq("the window", &response.window, &Some(LineWindow { start: 50_001, end: 50_100, total: LINES }))?;
    let shown = page_text(&response)?;
    check("the page starts with line 50000", shown.starts_with("050000 a line"), &shown)?;
    let found = context.backend.grep(GrepRequest::new("077777 ", path.clone())).await??;
    check_eq("the line found", &found.matches.iter().map(|found| found.line).collect::<Vec<_>>(), &vec![77_778])
}

async fn history(context: &CaseContext<'_>) -> CaseResult {
    let path = SandboxPath::parse("/conversation_history/conformance-thread.md")?;
    remove(context, &path).await?;
    let verdict = keep_history(context, &path).await;
    remove(context, &path).await?;
    verdict
}

async fn keep_history(context: &CaseContext<'_>, path: &SandboxPath) -> CaseResult {
    let name = path.as_bytes().to_vec();
    let before = context.backend.download_files(vec![name.clone()]).await?;
    check("no existing history", before.iter().all(|got| got.result.is_err()), &before)?;
    for result in context.backend.upload_files(vec![Upload::new(name.clone(), "## First\n")]).await? {
        result.result?;
    }
    context.backend.edit(EditRequest::new(path.clone(), "## First\n", "## First\n## Second\n")).await??;
    let response = context.backend.read(ReadRequest::new(path.clone())).await??;
    check_eq("the history", &page_text(&response)?, &"## First\n## Second\n")
}
