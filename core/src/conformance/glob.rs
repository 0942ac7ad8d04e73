//! Finding files by name, by the rules that all dialects share.

pub(super) mod dialect;

use super::capabilities::Need::{Execute, GlobFiles, Symlinks};
use super::case::{Case, cases};
use super::fault::{Verdict, same, text};
use super::ground::{Ground, refused};
use crate::error::FileErrorCode;
use crate::file::FileKind;
use crate::search::{GlobRequest, GlobResponse, Truncation};

pub(super) const CASES: &[Case] = cases![
    "glob: a star stands for any part of a name, in order of names" [] star;
    "glob: two stars stand for any number of directories" [] two_stars;
    "glob: a pattern with a slash begins at the directory searched" [] slash;
    "glob: a slash at the beginning anchors the pattern there" [] anchored;
    "glob: a question mark stands for one character, also beyond ASCII" [] question_mark;
    "glob: a class stands for one character of it" [] classes;
    "glob: braces stand for each of their alternatives" [] braces;
    "glob: a backslash takes a wildcard's meaning away" [] escapes;
    "glob: a name without wildcards finds itself" [] plain;
    "glob: case counts" [] case_counts;
    "glob: a leading dot in the pattern finds hidden files" [] dot;
    "glob: nothing found is an empty list" [] nothing;
    "glob: .gitignore is not heeded" [] gitignore;
    "glob: files are told as files, with whole metadata" [] metadata;
    "glob: a pattern that leaves the directory is refused" [] leaving;
    "glob: an empty pattern is refused" [] empty_pattern;
    "glob: a place that is not there is an error and not an empty list" [] missing;
    "glob: a file is no place to search" [] file;
    "glob: a loop of links is walked once" [Symlinks, Execute] link_loop;
    "glob: one file over the limit marks the result as cut" [GlobFiles] limit;
];

pub(super) async fn glob(ground: &Ground<'_>, pattern: &str) -> Verdict<GlobResponse> {
    Ok(ground.backend.glob(GlobRequest::new(pattern, ground.dir.clone())).await??)
}

/// What is found, relative to the case's directory, whatever the dialect returns.
async fn found(ground: &Ground<'_>, pattern: &str) -> Verdict<Vec<String>> {
    let response = glob(ground, pattern).await?;
    same("truncated", &response.truncated, &None)?;
    let base = ground.full("");
    let relative = |path: &[u8]| text(path.strip_prefix(base.as_slice()).unwrap_or(path));
    Ok(response.files.iter().map(|file| relative(&file.path)).collect())
}

async fn finds(ground: &Ground<'_>, pattern: &str, expected: &[&str]) -> Verdict {
    same(&format!("files that match {pattern:?}"), &found(ground, pattern).await?, &expected)
}

async fn star(ground: &Ground<'_>) -> Verdict {
    ground.put_names(&["b.py", "a.py", "B.py", "a.txt", "py"], "").await?;
    finds(ground, "*.py", &["B.py", "a.py", "b.py"]).await?;
    finds(ground, "a*", &["a.py", "a.txt"]).await
}

async fn two_stars(ground: &Ground<'_>) -> Verdict {
    ground.put_names(&["a.py", "d/b.py", "d/e/c.py", "d/e/c.txt"], "").await?;
    finds(ground, "**/*.py", &["a.py", "d/b.py", "d/e/c.py"]).await?;
    finds(ground, "d/**/c.*", &["d/e/c.py", "d/e/c.txt"]).await
}

async fn slash(ground: &Ground<'_>) -> Verdict {
    ground.put_names(&["src/a.py", "lib/src/b.py", "src/d/c.py"], "").await?;
    finds(ground, "src/*.py", &["src/a.py"]).await?;
    finds(ground, "*/*/*.py", &["lib/src/b.py", "src/d/c.py"]).await
}

async fn anchored(ground: &Ground<'_>) -> Verdict {
    ground.put_names(&["a.py", "d/b.py"], "").await?;
    finds(ground, "/*.py", &["a.py"]).await
}

async fn question_mark(ground: &Ground<'_>) -> Verdict {
    ground.put_names(&["file1.txt", "file10.txt", "fileé.txt", "file.txt"], "").await?;
    finds(ground, "file?.txt", &["file1.txt", "fileé.txt"]).await
}

async fn classes(ground: &Ground<'_>) -> Verdict {
    ground.put_names(&["f1", "f2", "f3", "fA", "fé"], "").await?;
    finds(ground, "f[1-2]", &["f1", "f2"]).await?;
    finds(ground, "f[!1-3]", &["fA", "fé"]).await?;
    finds(ground, "f[Aé]", &["fA", "fé"]).await
}

async fn braces(ground: &Ground<'_>) -> Verdict {
    ground.put_names(&["a.ts", "a.tsx", "a.md", "a.js"], "").await?;
    finds(ground, "*.{ts{,x},md}", &["a.md", "a.ts", "a.tsx"]).await
}

async fn escapes(ground: &Ground<'_>) -> Verdict {
    ground.put_names(&["a*b", "axb", "a[1]"], "").await?;
    finds(ground, "a\\*b", &["a*b"]).await?;
    finds(ground, "a\\[1\\]", &["a[1]"]).await
}

async fn plain(ground: &Ground<'_>) -> Verdict {
    ground.put_names(&["README.md", "d/a.txt"], "").await?;
    finds(ground, "README.md", &["README.md"]).await?;
    finds(ground, "d/a.txt", &["d/a.txt"]).await
}

async fn case_counts(ground: &Ground<'_>) -> Verdict {
    ground.put_names(&["a.PY", "b.py"], "").await?;
    finds(ground, "*.py", &["b.py"]).await
}

async fn dot(ground: &Ground<'_>) -> Verdict {
    ground.put_names(&[".hidden1", ".hidden2", "visible"], "").await?;
    finds(ground, ".hid*", &[".hidden1", ".hidden2"]).await
}

async fn nothing(ground: &Ground<'_>) -> Verdict {
    ground.put("a.txt", "").await?;
    finds(ground, "*.py", &[]).await
}

async fn gitignore(ground: &Ground<'_>) -> Verdict {
    ground.put(".gitignore", "*.log\n").await?;
    ground.put("a.log", "").await?;
    finds(ground, "*.log", &["a.log"]).await
}

async fn metadata(ground: &Ground<'_>) -> Verdict {
    ground.put("a.txt", "12345").await?;
    let response = glob(ground, "*.txt").await?;
    let kinds: Vec<FileKind> = response.files.iter().map(|file| file.kind).collect();
    same("the kinds", &kinds, &vec![FileKind::File])?;
    let expected = ground.capabilities.sizes.then_some(5);
    same("the sizes", &response.files.iter().map(|file| file.size).collect::<Vec<_>>(), &vec![expected])
}

async fn leaving(ground: &Ground<'_>) -> Verdict {
    ground.put("a", "").await?;
    for pattern in ["../*", "d/../../*"] {
        let error = refused("glob", ground.backend.glob(GlobRequest::new(pattern, ground.dir.clone())).await)?;
        same("the code", &error.code, &FileErrorCode::InvalidPattern)?;
    }
    Ok(())
}

async fn empty_pattern(ground: &Ground<'_>) -> Verdict {
    ground.put("a", "").await?;
    let error = refused("glob", ground.backend.glob(GlobRequest::new("", ground.dir.clone())).await)?;
    same("the code", &error.code, &FileErrorCode::InvalidPattern)
}

async fn missing(ground: &Ground<'_>) -> Verdict {
    let error = refused("glob", ground.backend.glob(GlobRequest::new("*", ground.path("nowhere")?)).await)?;
    same("the code", &error.code, &FileErrorCode::FileNotFound)
}

async fn file(ground: &Ground<'_>) -> Verdict {
    ground.put("a", "").await?;
    let error = refused("glob", ground.backend.glob(GlobRequest::new("*", ground.path("a")?)).await)?;
    same("the code", &error.code, &FileErrorCode::NotADirectory)
}

async fn link_loop(ground: &Ground<'_>) -> Verdict {
    ground.put("d/a.py", "").await?;
    ground.output("ln -s .. d/up; ln -s d e").await?;
    finds(ground, "**/*.py", &["d/a.py"]).await
}

async fn limit(ground: &Ground<'_>) -> Verdict {
    let limit = ground.capabilities.glob_files.unwrap_or_default();
    let files = (0..=limit).map(|number| (format!("{number:06}.x").into_bytes(), Vec::new())).collect();
    ground.put_all(files).await?;
    let response = glob(ground, "*.x").await?;
    same("files and truncated", &(response.files.len(), response.truncated), &(limit, Some(Truncation::Budget)))?;
    ground.backend.delete(&ground.path("000000.x")?).await??;
    let response = glob(ground, "*.x").await?;
    same("files and truncated", &(response.files.len(), response.truncated), &(limit, None))
}
