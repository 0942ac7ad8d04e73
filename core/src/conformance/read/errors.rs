//! Rejected reads.

use super::super::capabilities::Requirement;
use super::super::case::{Case, cases};
use super::super::context::{CaseContext, expect_error};
use super::super::failure::{CaseResult, check, check_eq};
use crate::dialect::Dialect;
use crate::error::{FileError, FileErrorCode};
use crate::file::ReadRequest;

const MESSAGE_WITH_TEXT: Requirement =
    Requirement::Dialect(|dialect| dialect == Dialect::Js, "has a different message");
const MESSAGE_WITH_CODE: Requirement =
    Requirement::Dialect(|dialect| dialect != Dialect::Js, "has messages without error codes");

pub(in super::super) const CASES: &[Case] = cases![
    "read: a missing file is `not found`" [MESSAGE_WITH_TEXT] missing_with_text;
    "read: a missing file is `file_not_found`" [MESSAGE_WITH_CODE] missing_with_code;
    "read: a directory is rejected" [] directory;
    "read: a path through a file is rejected" [] through_file;
    "read: a page past the end is an error with the file's length" [] past_end;
    "read: a page at the very end is past the end" [] at_end;
];

async fn read(context: &CaseContext<'_>, name: &str, offset: u64) -> CaseResult<FileError> {
    let request = ReadRequest::new(context.path(name)?).with_offset(offset);
    expect_error("read", context.backend.read(request).await)
}

async fn missing_with_text(context: &CaseContext<'_>) -> CaseResult {
    let error = read(context, "nothing", 0).await?;
    check_eq("the code", &error.code, &FileErrorCode::FileNotFound)?;
    check("a message with `not found`", error.message.contains("not found"), &error.message)
}

async fn missing_with_code(context: &CaseContext<'_>) -> CaseResult {
    let error = read(context, "nothing", 0).await?;
    check_eq("the code", &error.code, &FileErrorCode::FileNotFound)?;
    check("a message with `file_not_found`", error.message.contains("file_not_found"), &error.message)
}

async fn directory(context: &CaseContext<'_>) -> CaseResult {
    context.put("d/a", "x").await?;
    check_eq("the code", &read(context, "d", 0).await?.code, &FileErrorCode::IsDirectory)
}

async fn through_file(context: &CaseContext<'_>) -> CaseResult {
    context.put("a", "x").await?;
    let code = read(context, "a/b", 0).await?.code;
    let good = matches!(code, FileErrorCode::NotADirectory | FileErrorCode::FileNotFound);
    check("`not_a_directory` or `file_not_found`", good, &code)
}

async fn past_end(context: &CaseContext<'_>) -> CaseResult {
    context.put("a", "1\n2\n3\n").await?;
    let error = read(context, "a", 100).await?;
    check_eq("the code", &error.code, &FileErrorCode::PastEnd)?;
    let matches = error.message.contains("Line offset 100 exceeds file length (3 lines)");
    check("the message `Line offset 100 exceeds file length (3 lines)`", matches, &error.message)
}

async fn at_end(context: &CaseContext<'_>) -> CaseResult {
    context.put("a", "1\n2\n3\n").await?;
    check_eq("the code", &read(context, "a", 3).await?.code, &FileErrorCode::PastEnd)
}
