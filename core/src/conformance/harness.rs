//! What the harness of Deep Agents puts aside: results that are too large for the conversation, and its history.
//!
//! These cases write to the two directories at the root whose names the harness fixes.

use super::capabilities::Need::{FileBytes, HarnessDirectories};
use super::case::{Case, cases};
use super::fault::{Verdict, holds, same};
use super::ground::{Ground, page_text};
use crate::error::FileErrorCode;
use crate::file::{EditRequest, LineWindow, ReadRequest, WriteRequest};
use crate::path::SandboxPath;
use crate::search::GrepRequest;
use crate::transfer::Upload;

pub(super) const CASES: &[Case] = cases![
    "harness: a large result is put aside, pages back and is searched" [HarnessDirectories, FileBytes(5 << 20)] large_result;
    "harness: a conversation's history is kept through download, upload and edit" [HarnessDirectories] history;
];

const LINES: u64 = 100_000;

async fn remove(ground: &Ground<'_>, path: &SandboxPath) -> Verdict {
    match ground.backend.delete(path).await? {
        Err(error) if error.code != FileErrorCode::FileNotFound => Err(error.into()),
        _ => Ok(()),
    }
}

async fn large_result(ground: &Ground<'_>) -> Verdict {
    let path = SandboxPath::parse("/large_tool_results/call_conformance_Zm9vYmFy.txt")?;
    remove(ground, &path).await?;
    let verdict = put_aside(ground, &path).await;
    remove(ground, &path).await?;
    verdict
}

async fn put_aside(ground: &Ground<'_>, path: &SandboxPath) -> Verdict {
    let result: String =
        (0..LINES).map(|line| format!("{line:06} a line of a result of a tool, which is long\n")).collect();
    ground.backend.write(WriteRequest::new(path.clone(), result)).await??;
    let request = ReadRequest::new(path.clone()).with_offset(50_000).with_limit(100);
    let response = ground.backend.read(request).await??;
    same("the window", &response.window, &Some(LineWindow { start: 50_001, end: 50_100, total: LINES }))?;
    let shown = page_text(&response)?;
    holds("it begins with line 50000", shown.starts_with("050000 a line"), &shown)?;
    let found = ground.backend.grep(GrepRequest::new("077777 ", path.clone())).await??;
    same("the line found", &found.matches.iter().map(|found| found.line).collect::<Vec<_>>(), &vec![77_778])
}

async fn history(ground: &Ground<'_>) -> Verdict {
    let path = SandboxPath::parse("/conversation_history/conformance-thread.md")?;
    remove(ground, &path).await?;
    let verdict = keep_history(ground, &path).await;
    remove(ground, &path).await?;
    verdict
}

async fn keep_history(ground: &Ground<'_>, path: &SandboxPath) -> Verdict {
    let name = path.as_bytes().to_vec();
    let before = ground.backend.download_files(vec![name.clone()]).await?;
    holds("no history yet", before.iter().all(|got| got.result.is_err()), &before)?;
    for result in ground.backend.upload_files(vec![Upload::new(name.clone(), "## First\n")]).await? {
        result.result?;
    }
    ground.backend.edit(EditRequest::new(path.clone(), "## First\n", "## First\n## Second\n")).await??;
    let response = ground.backend.read(ReadRequest::new(path.clone())).await??;
    same("the history", &page_text(&response)?, &"## First\n## Second\n")
}
