//! Files that a line search includes.

use super::super::capabilities::Requirement::{self, Execute, Symlinks};
use super::super::case::{Case, cases};
use super::super::context::{CaseContext, expect_error};
use super::super::failure::{CaseResult, check_eq, text};
use crate::dialect::Dialect;
use crate::error::FileErrorCode;
use crate::search::GrepRequest;

const SKIPS_GIT: Requirement = Requirement::Dialect(Dialect::grep_skips_git, "searches .git");
const TAKES_GIT: Requirement = Requirement::Dialect(|dialect| !dialect.grep_skips_git(), "skips .git");

pub(in super::super) const CASES: &[Case] = cases![
    "grep: directories are searched at any depth" [] nested;
    "grep: a single file is searched" [] one_file;
    "grep: a filter without a slash applies to names at any depth" [] filter_by_name;
    "grep: a filter with a slash applies to paths below the directory" [] filter_by_path;
    "grep: a filter may have braces and classes" [] filter_shapes;
    "grep: files with a leading dot are searched" [] hidden;
    "grep: .git is skipped" [SKIPS_GIT] git_skipped;
    "grep: .git is searched" [TAKES_GIT] git_searched;
    "grep: .gitignore is ignored" [] gitignore;
    "grep: binary files are skipped" [] binary;
    "grep: symbolic links are not followed" [Symlinks, Execute] links;
    "grep: a missing directory is an error and not an empty list" [] missing;
];

/// Returns the names of the files that contain `needle`.
async fn files(context: &CaseContext<'_>, below: &str, filter: Option<&str>) -> CaseResult<Vec<String>> {
    let path = if below.is_empty() { context.dir.clone() } else { context.path(below)? };
    let mut request = GrepRequest::new("needle", path);
    request.glob = filter.map(|filter| filter.as_bytes().to_vec());
    let response = context.backend.grep(request).await??;
    check_eq("truncated", &response.truncated, &None)?;
    let base = context.full("");
    let name = |path: &[u8]| path.strip_prefix(base.as_slice()).map_or_else(|| text(path), text);
    Ok(response.matches.iter().map(|found| name(&found.path)).collect())
}

async fn finds(context: &CaseContext<'_>, filter: Option<&str>, expected: &[&str]) -> CaseResult {
    check_eq(&format!("files with {filter:?}"), &files(context, "", filter).await?, &expected)
}

async fn nested(context: &CaseContext<'_>) -> CaseResult {
    context.put_names(&["a", "d/b", "d/e/c"], "needle\n").await?;
    finds(context, None, &["a", "d/b", "d/e/c"]).await?;
    check_eq("files below d", &files(context, "d", None).await?, &["d/b", "d/e/c"])
}

async fn one_file(context: &CaseContext<'_>) -> CaseResult {
    context.put_names(&["a", "b"], "needle\n").await?;
    check_eq("files", &files(context, "b", None).await?, &["b"])
}

async fn filter_by_name(context: &CaseContext<'_>) -> CaseResult {
    context.put_names(&["a.py", "a.txt", "d/b.py", "d/e/c.py", "py"], "needle\n").await?;
    finds(context, Some("*.py"), &["a.py", "d/b.py", "d/e/c.py"]).await?;
    finds(context, Some("b.*"), &["d/b.py"]).await
}

async fn filter_by_path(context: &CaseContext<'_>) -> CaseResult {
    context.put_names(&["a.py", "src/b.py", "src/d/c.py", "lib/src/d.py"], "needle\n").await?;
    finds(context, Some("src/**/*.py"), &["src/b.py", "src/d/c.py"]).await?;
    finds(context, Some("src/*.py"), &["src/b.py"]).await?;
    finds(context, Some("/*.py"), &["a.py"]).await
}

async fn filter_shapes(context: &CaseContext<'_>) -> CaseResult {
    context.put_names(&["a1.ts", "a2.tsx", "a3.js", "b1.ts"], "needle\n").await?;
    finds(context, Some("*.{ts,tsx}"), &["a1.ts", "a2.tsx", "b1.ts"]).await?;
    finds(context, Some("a[1-2].*"), &["a1.ts", "a2.tsx"]).await?;
    finds(context, Some("a?.js"), &["a3.js"]).await
}

async fn hidden(context: &CaseContext<'_>) -> CaseResult {
    context.put_names(&[".env", ".config/a"], "needle\n").await?;
    finds(context, None, &[".config/a", ".env"]).await
}

async fn git_skipped(context: &CaseContext<'_>) -> CaseResult {
    context.put_names(&[".git/config", "d/.git/config", "a", ".github/b"], "needle\n").await?;
    finds(context, None, &[".github/b", "a"]).await?;
    check_eq("files of .git itself", &files(context, ".git", None).await?, &[".git/config"])
}

async fn git_searched(context: &CaseContext<'_>) -> CaseResult {
    context.put_names(&[".git/config", "a"], "needle\n").await?;
    finds(context, None, &[".git/config", "a"]).await
}

async fn gitignore(context: &CaseContext<'_>) -> CaseResult {
    context.put(".gitignore", "*.log\nbuild/\n").await?;
    context.put_names(&["a.log", "build/b"], "needle\n").await?;
    finds(context, None, &["a.log", "build/b"]).await
}

async fn binary(context: &CaseContext<'_>) -> CaseResult {
    context.put("a.bin", b"needle\0\x01\x02\n".as_slice()).await?;
    context.put("a.txt", "needle\n").await?;
    finds(context, None, &["a.txt"]).await
}

async fn links(context: &CaseContext<'_>) -> CaseResult {
    context.put("d/a", "needle\n").await?;
    context.output("ln -s .. d/up; ln -s a d/b").await?;
    finds(context, None, &["d/a"]).await
}

async fn missing(context: &CaseContext<'_>) -> CaseResult {
    let error = expect_error("grep", context.backend.grep(GrepRequest::new("x", context.path("nowhere")?)).await)?;
    check_eq("the code", &error.code, &FileErrorCode::FileNotFound)
}
