//! Finding files by name, where the dialects differ.

use super::super::capabilities::Need;
use super::super::case::{Case, cases};
use super::super::fault::{Verdict, same, text};
use super::super::ground::Ground;
use super::glob;
use crate::dialect::Dialect;

const RELATIVE: Need = Need::Dialect(Dialect::glob_is_relative, "returns absolute paths");
const ABSOLUTE: Need = Need::Dialect(|dialect| !dialect.glob_is_relative(), "returns relative paths");
const DIRECTORIES: Need = Need::Dialect(Dialect::glob_finds_directories, "finds files only");
const FILES_ONLY: Need = Need::Dialect(|dialect| !dialect.glob_finds_directories(), "finds directories too");
const ANY_DEPTH: Need = Need::Dialect(|dialect| dialect.glob_rules().bare_at_any_depth, "reads it otherwise");
const ONE_DEPTH: Need = Need::Dialect(|dialect| !dialect.glob_rules().bare_at_any_depth, "reads it otherwise");
const STAR_IS_DOT: Need = Need::Dialect(|dialect| dialect.glob_rules().star_matches_dot, "reads it otherwise");
const STAR_IS_NO_DOT: Need = Need::Dialect(|dialect| !dialect.glob_rules().star_matches_dot, "reads it otherwise");

pub(in super::super) const CASES: &[Case] = cases![
    "glob: paths are relative to the directory searched" [RELATIVE] relative;
    "glob: paths are absolute" [ABSOLUTE] absolute;
    "glob: directories are found and told as such" [DIRECTORIES] directories;
    "glob: a slash at the end finds directories only" [DIRECTORIES] directories_only;
    "glob: only files are found" [FILES_ONLY] files_only;
    "glob: a pattern without a slash finds names at any depth, also below hidden directories" [ANY_DEPTH] any_depth;
    "glob: a pattern without a slash stays in the directory searched" [ONE_DEPTH] one_depth;
    "glob: a star finds names with a leading dot" [STAR_IS_DOT] star_is_dot;
    "glob: a star finds no names with a leading dot" [STAR_IS_NO_DOT] star_is_no_dot;
];

async fn finds(ground: &Ground<'_>, pattern: &str, expected: &[&str]) -> Verdict {
    let files = glob(ground, pattern).await?.files;
    let paths: Vec<String> = files.iter().map(|file| text(&file.path)).collect();
    let absolute = !ground.dialect().glob_is_relative();
    let whole = |name: &&str| if absolute { text(&ground.full(name)) } else { (*name).to_owned() };
    same(&format!("files that match {pattern:?}"), &paths, &expected.iter().map(whole).collect::<Vec<_>>())
}

async fn relative(ground: &Ground<'_>) -> Verdict {
    ground.put_names(&["a.py", "d/b.py"], "").await?;
    finds(ground, "**/*.py", &["a.py", "d/b.py"]).await
}

async fn absolute(ground: &Ground<'_>) -> Verdict {
    relative(ground).await
}

async fn directories(ground: &Ground<'_>) -> Verdict {
    ground.put_names(&["file", "dir1/a", "dir2/a"], "").await?;
    finds(ground, "*", &["dir1", "dir2", "file"]).await?;
    let kinds: Vec<bool> = glob(ground, "*").await?.files.iter().map(crate::file::FileInfo::is_dir).collect();
    same("which are directories", &kinds, &vec![true, true, false])
}

async fn directories_only(ground: &Ground<'_>) -> Verdict {
    ground.put_names(&["file", "dir1/a"], "").await?;
    finds(ground, "*/", &["dir1"]).await
}

async fn files_only(ground: &Ground<'_>) -> Verdict {
    ground.put_names(&["file", "dir1/a"], "").await?;
    finds(ground, "*", &["dir1/a", "file"]).await?;
    finds(ground, "dir1", &[]).await
}

async fn any_depth(ground: &Ground<'_>) -> Verdict {
    ground.put_names(&["a.yml", "d/e/b.yml", ".github/workflows/ci.yml"], "").await?;
    finds(ground, "*.yml", &[".github/workflows/ci.yml", "a.yml", "d/e/b.yml"]).await?;
    finds(ground, "**/*.yml", &["a.yml", "d/e/b.yml"]).await
}

async fn one_depth(ground: &Ground<'_>) -> Verdict {
    ground.put_names(&["a.py", "d/b.py"], "").await?;
    finds(ground, "*.py", &["a.py"]).await
}

async fn star_is_dot(ground: &Ground<'_>) -> Verdict {
    ground.put_names(&[".env", "a"], "").await?;
    finds(ground, "*", &[".env", "a"]).await
}

async fn star_is_no_dot(ground: &Ground<'_>) -> Verdict {
    ground.put_names(&[".env", "a"], "").await?;
    finds(ground, "*", &["a"]).await?;
    finds(ground, ".*", &[".env"]).await
}
