//! Rejected edits, which must leave the file unchanged.

use super::super::capabilities::Requirement;
use super::super::case::{Case, cases};
use super::super::context::{CaseContext, expect_error};
use super::super::failure::{CaseResult, check, check_eq};
use crate::error::{FileError, FileErrorCode};
use crate::file::EditRequest;

const REFUSES_EMPTY: Requirement =
    Requirement::Dialect(|dialect| !dialect.edit_fills_empty_file(), "fills empty files");

pub(in super::super) const CASES: &[Case] = cases![
    "edit: a missing string is rejected, and the file is unchanged" [] string_missing;
    "edit: a repeated string is rejected, and the file is unchanged" [] string_twice;
    "edit: a missing file is rejected" [] file_missing;
    "edit: a directory is rejected" [] directory;
    "edit: a binary file is rejected and unchanged" [] binary;
    "edit: an empty string is rejected in a non-empty file" [] empty_string;
    "edit: an empty string is rejected in an empty file" [REFUSES_EMPTY] empty_string_in_empty_file;
];

async fn edit(context: &CaseContext<'_>, name: &str, old: &str) -> CaseResult<FileError> {
    expect_error("edit", context.backend.edit(EditRequest::new(context.path(name)?, old, "new")).await)
}

async fn string_missing(context: &CaseContext<'_>) -> CaseResult {
    context.put("a", "Hello world").await?;
    let error = edit(context, "a", "hello").await?;
    check_eq("the code", &error.code, &FileErrorCode::StringNotFound)?;
    let matches = error.message.contains("String not found in file: 'hello'");
    check("the message `String not found in file: 'hello'`", matches, &error.message)?;
    check_eq("the file", &context.get_text("a").await?, &"Hello world")
}

async fn string_twice(context: &CaseContext<'_>) -> CaseResult {
    context.put("a", "apple apple").await?;
    let error = edit(context, "a", "apple").await?;
    check_eq("the code", &error.code, &FileErrorCode::StringNotUnique)?;
    let matches = error.message.contains("appears multiple times") && error.message.contains("replace_all");
    check("a message with `appears multiple times` and `replace_all`", matches, &error.message)?;
    check_eq("the file", &context.get_text("a").await?, &"apple apple")
}

async fn file_missing(context: &CaseContext<'_>) -> CaseResult {
    let error = edit(context, "nothing", "x").await?;
    check_eq("the code", &error.code, &FileErrorCode::FileNotFound)?;
    let matches = error.message.contains("not found") || error.message.contains("not_found");
    check("a message with `not found`", matches, &error.message)
}

async fn directory(context: &CaseContext<'_>) -> CaseResult {
    context.put("d/a", "x").await?;
    check_eq("the code", &edit(context, "d", "x").await?.code, &FileErrorCode::IsDirectory)
}

async fn binary(context: &CaseContext<'_>) -> CaseResult {
    context.put("a", b"x\xff\xfe".as_slice()).await?;
    check_eq("the code", &edit(context, "a", "x").await?.code, &FileErrorCode::NotText)?;
    check_eq("the file", &context.get("a").await?, &b"x\xff\xfe".to_vec())
}

async fn empty_string(context: &CaseContext<'_>) -> CaseResult {
    context.put("a", "text").await?;
    check_eq("the code", &edit(context, "a", "").await?.code, &FileErrorCode::InvalidPattern)?;
    check_eq("the file", &context.get_text("a").await?, &"text")
}

async fn empty_string_in_empty_file(context: &CaseContext<'_>) -> CaseResult {
    context.put("a", "").await?;
    check_eq("the code", &edit(context, "a", "").await?.code, &FileErrorCode::InvalidPattern)?;
    check_eq("the file", &context.get_text("a").await?, &"")
}
