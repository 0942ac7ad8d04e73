//! Finding files by name: rules that differ between dialects.

use super::super::capabilities::Requirement;
use super::super::case::{Case, cases};
use super::super::context::CaseContext;
use super::super::failure::{CaseResult, check_eq, text};
use super::glob;
use crate::dialect::Dialect;

const RELATIVE: Requirement = Requirement::Dialect(Dialect::glob_is_relative, "returns absolute paths");
const ABSOLUTE: Requirement = Requirement::Dialect(|dialect| !dialect.glob_is_relative(), "returns relative paths");
const DIRECTORIES: Requirement = Requirement::Dialect(Dialect::glob_finds_directories, "finds files only");
const FILES_ONLY: Requirement =
    Requirement::Dialect(|dialect| !dialect.glob_finds_directories(), "finds directories too");
const ANY_DEPTH: Requirement =
    Requirement::Dialect(|dialect| dialect.glob_rules().bare_at_any_depth, "interprets the pattern differently");
const ONE_DEPTH: Requirement =
    Requirement::Dialect(|dialect| !dialect.glob_rules().bare_at_any_depth, "interprets the pattern differently");
const STAR_IS_DOT: Requirement =
    Requirement::Dialect(|dialect| dialect.glob_rules().star_matches_dot, "interprets the pattern differently");
const STAR_IS_NO_DOT: Requirement =
    Requirement::Dialect(|dialect| !dialect.glob_rules().star_matches_dot, "interprets the pattern differently");

pub(in super::super) const CASES: &[Case] = cases![
    "glob: paths are relative to the searched directory" [RELATIVE] relative;
    "glob: paths are absolute" [ABSOLUTE] absolute;
    "glob: directories are found and reported as directories" [DIRECTORIES] directories;
    "glob: a trailing slash matches only directories" [DIRECTORIES] directories_only;
    "glob: only files are found" [FILES_ONLY] files_only;
    "glob: a pattern without a slash matches at any depth, also below hidden directories" [ANY_DEPTH] any_depth;
    "glob: a pattern without a slash matches only in the searched directory" [ONE_DEPTH] one_depth;
    "glob: a star matches a leading dot" [STAR_IS_DOT] star_is_dot;
    "glob: a star does not match a leading dot" [STAR_IS_NO_DOT] star_is_no_dot;
];

async fn finds(context: &CaseContext<'_>, pattern: &str, expected: &[&str]) -> CaseResult {
    let files = glob(context, pattern).await?.files;
    let paths: Vec<String> = files.iter().map(|file| text(&file.path)).collect();
    let absolute = !context.dialect().glob_is_relative();
    let whole = |name: &&str| if absolute { text(&context.full(name)) } else { (*name).to_owned() };
    check_eq(&format!("files that match {pattern:?}"), &paths, &expected.iter().map(whole).collect::<Vec<_>>())
}

async fn relative(context: &CaseContext<'_>) -> CaseResult {
    context.put_names(&["a.py", "d/b.py"], "").await?;
    finds(context, "**/*.py", &["a.py", "d/b.py"]).await
}

async fn absolute(context: &CaseContext<'_>) -> CaseResult {
    relative(context).await
}

async fn directories(context: &CaseContext<'_>) -> CaseResult {
    context.put_names(&["file", "dir1/a", "dir2/a"], "").await?;
    finds(context, "*", &["dir1", "dir2", "file"]).await?;
    let kinds: Vec<bool> = glob(context, "*").await?.files.iter().map(crate::file::FileInfo::is_dir).collect();
    check_eq("the kinds of the entries", &kinds, &vec![true, true, false])
}

async fn directories_only(context: &CaseContext<'_>) -> CaseResult {
    context.put_names(&["file", "dir1/a"], "").await?;
    finds(context, "*/", &["dir1"]).await
}

async fn files_only(context: &CaseContext<'_>) -> CaseResult {
    context.put_names(&["file", "dir1/a"], "").await?;
    finds(context, "*", &["dir1/a", "file"]).await?;
    finds(context, "dir1", &[]).await
}

async fn any_depth(context: &CaseContext<'_>) -> CaseResult {
    context.put_names(&["a.yml", "d/e/b.yml", ".github/workflows/ci.yml"], "").await?;
    finds(context, "*.yml", &[".github/workflows/ci.yml", "a.yml", "d/e/b.yml"]).await?;
    finds(context, "**/*.yml", &["a.yml", "d/e/b.yml"]).await
}

async fn one_depth(context: &CaseContext<'_>) -> CaseResult {
    context.put_names(&["a.py", "d/b.py"], "").await?;
    finds(context, "*.py", &["a.py"]).await
}

async fn star_is_dot(context: &CaseContext<'_>) -> CaseResult {
    context.put_names(&[".env", "a"], "").await?;
    finds(context, "*", &[".env", "a"]).await
}

async fn star_is_no_dot(context: &CaseContext<'_>) -> CaseResult {
    context.put_names(&[".env", "a"], "").await?;
    finds(context, "*", &["a"]).await?;
    finds(context, ".*", &[".env"]).await
}
