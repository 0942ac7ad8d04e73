//! Finding files by name: rules shared by all dialects.

pub(super) mod dialect;

use super::capabilities::Requirement::{Execute, GlobFiles, Symlinks};
use super::case::{Case, cases};
use super::context::{CaseContext, expect_error};
use super::failure::{CaseResult, check_eq, text};
use crate::error::FileErrorCode;
use crate::file::FileKind;
use crate::search::{GlobRequest, GlobResponse, Truncation};

pub(super) const CASES: &[Case] = cases![
    "glob: a star matches any part of a name; results are sorted" [] star;
    "glob: two stars match any number of directories" [] two_stars;
    "glob: a pattern with a slash is relative to the searched directory" [] slash;
    "glob: a leading slash anchors the pattern at the searched directory" [] anchored;
    "glob: a question mark matches one character, also non-ASCII" [] question_mark;
    "glob: a class matches one of its characters" [] classes;
    "glob: braces match each alternative" [] braces;
    "glob: a backslash escapes a wildcard" [] escapes;
    "glob: a name without wildcards matches literally" [] plain;
    "glob: patterns are case-sensitive" [] case_counts;
    "glob: a leading dot in the pattern matches hidden files" [] dot;
    "glob: no match returns an empty list" [] nothing;
    "glob: .gitignore is ignored" [] gitignore;
    "glob: files have complete metadata" [] metadata;
    "glob: a pattern that leaves the directory is rejected" [] leaving;
    "glob: an empty pattern is rejected" [] empty_pattern;
    "glob: a missing directory is an error and not an empty list" [] missing;
    "glob: searching a file is an error" [] file;
    "glob: a symbolic link loop is visited once" [Symlinks, Execute] link_loop;
    "glob: one file over the limit marks the result as truncated" [GlobFiles] limit;
];

pub(super) async fn glob(context: &CaseContext<'_>, pattern: &str) -> CaseResult<GlobResponse> {
    Ok(context.backend.glob(GlobRequest::new(pattern, context.dir.clone())).await??)
}

/// Returns the matching paths relative to the case's directory, in every dialect.
async fn matching_names(context: &CaseContext<'_>, pattern: &str) -> CaseResult<Vec<String>> {
    let response = glob(context, pattern).await?;
    check_eq("truncated", &response.truncated, &None)?;
    let base = context.full("");
    let relative = |path: &[u8]| text(path.strip_prefix(base.as_slice()).unwrap_or(path));
    Ok(response.files.iter().map(|file| relative(&file.path)).collect())
}

async fn finds(context: &CaseContext<'_>, pattern: &str, expected: &[&str]) -> CaseResult {
    check_eq(&format!("files that match {pattern:?}"), &matching_names(context, pattern).await?, &expected)
}

async fn star(context: &CaseContext<'_>) -> CaseResult {
    context.put_names(&["b.py", "a.py", "B.py", "a.txt", "py"], "").await?;
    finds(context, "*.py", &["B.py", "a.py", "b.py"]).await?;
    finds(context, "a*", &["a.py", "a.txt"]).await
}

async fn two_stars(context: &CaseContext<'_>) -> CaseResult {
    context.put_names(&["a.py", "d/b.py", "d/e/c.py", "d/e/c.txt"], "").await?;
    finds(context, "**/*.py", &["a.py", "d/b.py", "d/e/c.py"]).await?;
    finds(context, "d/**/c.*", &["d/e/c.py", "d/e/c.txt"]).await
}

async fn slash(context: &CaseContext<'_>) -> CaseResult {
    context.put_names(&["src/a.py", "lib/src/b.py", "src/d/c.py"], "").await?;
    finds(context, "src/*.py", &["src/a.py"]).await?;
    finds(context, "*/*/*.py", &["lib/src/b.py", "src/d/c.py"]).await
}

async fn anchored(context: &CaseContext<'_>) -> CaseResult {
    context.put_names(&["a.py", "d/b.py"], "").await?;
    finds(context, "/*.py", &["a.py"]).await
}

async fn question_mark(context: &CaseContext<'_>) -> CaseResult {
    context.put_names(&["file1.txt", "file10.txt", "fileé.txt", "file.txt"], "").await?;
    finds(context, "file?.txt", &["file1.txt", "fileé.txt"]).await
}

async fn classes(context: &CaseContext<'_>) -> CaseResult {
    context.put_names(&["f1", "f2", "f3", "fA", "fé"], "").await?;
    finds(context, "f[1-2]", &["f1", "f2"]).await?;
    finds(context, "f[!1-3]", &["fA", "fé"]).await?;
    finds(context, "f[Aé]", &["fA", "fé"]).await
}

async fn braces(context: &CaseContext<'_>) -> CaseResult {
    context.put_names(&["a.ts", "a.tsx", "a.md", "a.js"], "").await?;
    finds(context, "*.{ts{,x},md}", &["a.md", "a.ts", "a.tsx"]).await
}

async fn escapes(context: &CaseContext<'_>) -> CaseResult {
    context.put_names(&["a*b", "axb", "a[1]"], "").await?;
    finds(context, "a\\*b", &["a*b"]).await?;
    finds(context, "a\\[1\\]", &["a[1]"]).await
}

async fn plain(context: &CaseContext<'_>) -> CaseResult {
    context.put_names(&["README.md", "d/a.txt"], "").await?;
    finds(context, "README.md", &["README.md"]).await?;
    finds(context, "d/a.txt", &["d/a.txt"]).await
}

async fn case_counts(context: &CaseContext<'_>) -> CaseResult {
    context.put_names(&["a.PY", "b.py"], "").await?;
    finds(context, "*.py", &["b.py"]).await
}

async fn dot(context: &CaseContext<'_>) -> CaseResult {
    context.put_names(&[".hidden1", ".hidden2", "visible"], "").await?;
    finds(context, ".hid*", &[".hidden1", ".hidden2"]).await
}

async fn nothing(context: &CaseContext<'_>) -> CaseResult {
    context.put("a.txt", "").await?;
    finds(context, "*.py", &[]).await
}

async fn gitignore(context: &CaseContext<'_>) -> CaseResult {
    context.put(".gitignore", "*.log\n").await?;
    context.put("a.log", "").await?;
    finds(context, "*.log", &["a.log"]).await
}

async fn metadata(context: &CaseContext<'_>) -> CaseResult {
    context.put("a.txt", "12345").await?;
    let response = glob(context, "*.txt").await?;
    let kinds: Vec<FileKind> = response.files.iter().map(|file| file.kind).collect();
    check_eq("the kinds", &kinds, &vec![FileKind::File])?;
    let expected = context.capabilities.sizes.then_some(5);
    check_eq("the sizes", &response.files.iter().map(|file| file.size).collect::<Vec<_>>(), &vec![expected])
}

async fn leaving(context: &CaseContext<'_>) -> CaseResult {
    context.put("a", "").await?;
    for pattern in ["../*", "d/../../*"] {
        let error = expect_error("glob", context.backend.glob(GlobRequest::new(pattern, context.dir.clone())).await)?;
        check_eq("the code", &error.code, &FileErrorCode::InvalidPattern)?;
    }
    Ok(())
}

async fn empty_pattern(context: &CaseContext<'_>) -> CaseResult {
    context.put("a", "").await?;
    let error = expect_error("glob", context.backend.glob(GlobRequest::new("", context.dir.clone())).await)?;
    check_eq("the code", &error.code, &FileErrorCode::InvalidPattern)
}

async fn missing(context: &CaseContext<'_>) -> CaseResult {
    let error = expect_error("glob", context.backend.glob(GlobRequest::new("*", context.path("nowhere")?)).await)?;
    check_eq("the code", &error.code, &FileErrorCode::FileNotFound)
}

async fn file(context: &CaseContext<'_>) -> CaseResult {
    context.put("a", "").await?;
    let error = expect_error("glob", context.backend.glob(GlobRequest::new("*", context.path("a")?)).await)?;
    check_eq("the code", &error.code, &FileErrorCode::NotADirectory)
}

async fn link_loop(context: &CaseContext<'_>) -> CaseResult {
    context.put("d/a.py", "").await?;
    context.output("ln -s .. d/up; ln -s d e").await?;
    finds(context, "**/*.py", &["d/a.py"]).await
}

async fn limit(context: &CaseContext<'_>) -> CaseResult {
    let limit = context.capabilities.glob_files.unwrap_or_default();
    let files = (0..=limit).map(|number| (format!("{number:06}.x").into_bytes(), Vec::new())).collect();
    context.put_all(files).await?;
    let response = glob(context, "*.x").await?;
    check_eq("files and truncated", &(response.files.len(), response.truncated), &(limit, Some(Truncation::Budget)))?;
    context.backend.delete(&context.path("000000.x")?).await??;
    let response = glob(context, "*.x").await?;
    check_eq("files and truncated", &(response.files.len(), response.truncated), &(limit, None))
}
