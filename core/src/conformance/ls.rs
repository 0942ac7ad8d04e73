//! Listing directories.

use super::capabilities::Requirement::{self, Execute, Modified, Sizes, Symlinks};
use super::case::{Case, cases};
use super::context::{CaseContext, expect_error};
use super::failure::{CaseResult, check, check_eq, text};
use crate::dialect::Dialect;
use crate::error::FileErrorCode;
use crate::file::{FileInfo, FileKind};

const ERRS: Requirement =
    Requirement::Dialect(|dialect| !dialect.missing_directory_is_empty(), "returns an empty list");
const LISTS_NOTHING: Requirement = Requirement::Dialect(Dialect::missing_directory_is_empty, "has an error for it");

pub(super) const CASES: &[Case] = cases![
    "ls: files and directories are sorted by name with absolute paths" [] entries;
    "ls: listing is not recursive" [] flat;
    "ls: an empty directory has no entries" [] empty;
    "ls: names with a leading dot are listed" [] hidden;
    "ls: a directory of 500 files is listed completely" [] many;
    "ls: trailing and repeated slashes are ignored" [] slashes;
    "ls: a missing directory returns an empty list" [LISTS_NOTHING] missing_is_empty;
    "ls: a missing directory is an error" [ERRS] missing_is_an_error;
    "ls: listing a file is an error" [] file;
    "ls: sizes are the files' sizes" [Sizes] sizes;
    "ls: a later change has no earlier modification time" [Modified] modified;
    "ls: a link is listed as a link, and followed when it is the directory" [Symlinks, Execute] links;
];

pub(super) async fn list(context: &CaseContext<'_>, name: &str) -> CaseResult<Vec<FileInfo>> {
    let path = if name.is_empty() { context.dir.clone() } else { context.path(name)? };
    Ok(context.backend.ls(&path).await??.entries)
}

fn paths(entries: &[FileInfo]) -> Vec<String> {
    entries.iter().map(|entry| text(&entry.path)).collect()
}

/// Joins names with the case's directory.
fn full_paths(context: &CaseContext<'_>, names: &[&str]) -> Vec<String> {
    names.iter().map(|name| text(&context.full(name))).collect()
}

async fn entries(context: &CaseContext<'_>) -> CaseResult {
    context.put_names(&["b.txt", "a.txt", "sub/inside", "B.txt"], "x").await?;
    let entries = list(context, "").await?;
    check_eq("the paths", &paths(&entries), &full_paths(context, &["B.txt", "a.txt", "b.txt", "sub"]))?;
    let kinds: Vec<FileKind> = entries.iter().map(|entry| entry.kind).collect();
    check_eq("the kinds", &kinds, &vec![FileKind::File, FileKind::File, FileKind::File, FileKind::Directory])
}

async fn flat(context: &CaseContext<'_>) -> CaseResult {
    context.put_names(&["a/b/c", "a/d"], "x").await?;
    check_eq("the paths", &paths(&list(context, "a").await?), &full_paths(context, &["a/b", "a/d"]))
}

async fn empty(context: &CaseContext<'_>) -> CaseResult {
    context.make_dir("nothing").await?;
    check_eq("the paths", &paths(&list(context, "nothing").await?), &Vec::<String>::new())
}

async fn hidden(context: &CaseContext<'_>) -> CaseResult {
    context.put_names(&[".env", ".config/x"], "x").await?;
    check_eq("the paths", &paths(&list(context, "").await?), &full_paths(context, &[".config", ".env"]))
}

async fn many(context: &CaseContext<'_>) -> CaseResult {
    let names: Vec<String> = (0..500).map(|number| format!("file_{number:03}")).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    context.put_names(&names, "x").await?;
    check_eq("the paths", &paths(&list(context, "").await?), &full_paths(context, &names))
}

async fn slashes(context: &CaseContext<'_>) -> CaseResult {
    context.put("d/a", "x").await?;
    check_eq("the paths", &paths(&list(context, "/d//").await?), &full_paths(context, &["d/a"]))
}

async fn missing_is_empty(context: &CaseContext<'_>) -> CaseResult {
    check_eq("the paths", &paths(&list(context, "nowhere").await?), &Vec::<String>::new())
}

async fn missing_is_an_error(context: &CaseContext<'_>) -> CaseResult {
    let error = expect_error("ls", context.backend.ls(&context.path("nowhere")?).await)?;
    check_eq("the code", &error.code, &FileErrorCode::FileNotFound)?;
    check("a message with `path_not_found`", error.message.contains("path_not_found"), &error.message)
}

async fn file(context: &CaseContext<'_>) -> CaseResult {
    context.put("a", "x").await?;
    let error = expect_error("ls", context.backend.ls(&context.path("a")?).await)?;
    check_eq("the code", &error.code, &FileErrorCode::NotADirectory)
}

async fn sizes(context: &CaseContext<'_>) -> CaseResult {
    for size in [0, 1, 70_000] {
        context.put(format!("{size:06}"), "x".repeat(size)).await?;
    }
    let sizes: Vec<Option<u64>> = list(context, "").await?.iter().map(|entry| entry.size).collect();
    check_eq("the sizes", &sizes, &vec![Some(0), Some(1), Some(70_000)])
}

async fn modified(context: &CaseContext<'_>) -> CaseResult {
    context.put("a", "x").await?;
    context.put("b", "x").await?;
    let times: Vec<_> = list(context, "").await?.iter().map(|entry| entry.modified).collect();
    let in_order = matches!(times.as_slice(), [Some(a), Some(b)] if a <= b);
    check("two times in ascending order", in_order, &times)
}

async fn links(context: &CaseContext<'_>) -> CaseResult {
    context.put("d/a", "x").await?;
    context.output("ln -s d link; ln -s nowhere broken").await?;
    let kinds: Vec<_> = list(context, "").await?.iter().map(|entry| (text(&entry.path), entry.kind)).collect();
    let expected = [("broken", FileKind::Symlink), ("d", FileKind::Directory), ("link", FileKind::Symlink)];
    check_eq("the kinds", &kinds, &expected.map(|(name, kind)| (text(&context.full(name)), kind)).to_vec())?;
    check_eq("the link's target", &paths(&list(context, "link").await?), &full_paths(context, &["link/a"]))
}
