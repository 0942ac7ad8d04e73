//! Deleting files and directories.

use super::capabilities::Requirement::{Execute, Symlinks};
use super::case::{Case, cases};
use super::context::{CaseContext, expect_error};
use super::failure::{CaseResult, check_eq};
use crate::error::FileErrorCode;

pub(super) const CASES: &[Case] = cases![
    "delete: only the given file is deleted" [] file;
    "delete: a directory is deleted with its contents" [] directory;
    "delete: a missing file is an error" [] missing;
    "delete: a deep tree is deleted" [] deep;
    "delete: a symbolic link is deleted, and its target is kept" [Symlinks, Execute] link;
    "delete: a dangling symbolic link is deleted" [Symlinks, Execute] broken_link;
];

async fn delete(context: &CaseContext<'_>, name: &str) -> CaseResult {
    let path = context.path(name)?;
    let deleted = context.backend.delete(&path).await??;
    check_eq("the path", &deleted.path, &path)
}

async fn file(context: &CaseContext<'_>) -> CaseResult {
    context.put_names(&["a", "ab"], "x").await?;
    delete(context, "a").await?;
    check_eq(
        "existence of the file and of another one",
        &(context.exists("a").await?, context.exists("ab").await?),
        &(false, true),
    )
}

async fn directory(context: &CaseContext<'_>) -> CaseResult {
    context.put_names(&["d/a", "d/.hidden", "d/e/f", "kept"], "x").await?;
    delete(context, "d").await?;
    check_eq("number of remaining entries", &super::ls::list(context, "").await?.len(), &1)?;
    check_eq("the other file", &context.get_text("kept").await?, &"x")
}

async fn missing(context: &CaseContext<'_>) -> CaseResult {
    let path = context.path("nothing")?;
    let error = expect_error("delete", context.backend.delete(&path).await)?;
    check_eq("the code", &error.code, &FileErrorCode::FileNotFound)
}

async fn deep(context: &CaseContext<'_>) -> CaseResult {
    context.put(format!("d/{}a", "e/".repeat(100)), "x").await?;
    delete(context, "d").await?;
    check_eq("number of remaining entries", &super::ls::list(context, "").await?.len(), &0)
}

async fn link(context: &CaseContext<'_>) -> CaseResult {
    context.put_names(&["d/a", "e/b"], "x").await?;
    context.output("ln -s ../d e/link; ln -s d other").await?;
    delete(context, "e").await?;
    delete(context, "other").await?;
    check_eq("the target of the links", &context.get_text("d/a").await?, &"x")
}

async fn broken_link(context: &CaseContext<'_>) -> CaseResult {
    context.output("ln -s nowhere link").await?;
    delete(context, "link").await?;
    check_eq("number of remaining entries", &super::ls::list(context, "").await?.len(), &0)
}
