//! Listing directories.

use super::capabilities::Need::{self, Execute, Modified, Sizes, Symlinks};
use super::case::{Case, cases};
use super::fault::{Verdict, holds, same, text};
use super::ground::{Ground, refused};
use crate::dialect::Dialect;
use crate::error::FileErrorCode;
use crate::file::{FileInfo, FileKind};

const ERRS: Need = Need::Dialect(|dialect| !dialect.missing_directory_is_empty(), "lists nothing for it");
const LISTS_NOTHING: Need = Need::Dialect(Dialect::missing_directory_is_empty, "has an error for it");

pub(super) const CASES: &[Case] = cases![
    "ls: files and directories are listed by name with whole paths" [] entries;
    "ls: only the directory itself is listed" [] flat;
    "ls: an empty directory has no entries" [] empty;
    "ls: names with a leading dot are listed" [] hidden;
    "ls: a directory of 500 files is listed whole" [] many;
    "ls: slashes at the end and in a row change nothing" [] slashes;
    "ls: a directory that is not there is an empty list" [LISTS_NOTHING] missing_is_empty;
    "ls: a directory that is not there is an error that says so" [ERRS] missing_is_refused;
    "ls: a file is no directory" [] file;
    "ls: sizes are the files' sizes" [Sizes] sizes;
    "ls: a file that changes later has no earlier time" [Modified] modified;
    "ls: a link is listed as a link, and followed when it is the directory" [Symlinks, Execute] links;
];

pub(super) async fn list(ground: &Ground<'_>, name: &str) -> Verdict<Vec<FileInfo>> {
    let path = if name.is_empty() { ground.dir.clone() } else { ground.path(name)? };
    Ok(ground.backend.ls(&path).await??.entries)
}

fn paths(entries: &[FileInfo]) -> Vec<String> {
    entries.iter().map(|entry| text(&entry.path)).collect()
}

/// Names below the case's directory as whole paths.
fn whole(ground: &Ground<'_>, names: &[&str]) -> Vec<String> {
    names.iter().map(|name| text(&ground.full(name))).collect()
}

async fn entries(ground: &Ground<'_>) -> Verdict {
    ground.put_names(&["b.txt", "a.txt", "sub/inside", "B.txt"], "x").await?;
    let entries = list(ground, "").await?;
    same("the paths", &paths(&entries), &whole(ground, &["B.txt", "a.txt", "b.txt", "sub"]))?;
    let kinds: Vec<FileKind> = entries.iter().map(|entry| entry.kind).collect();
    same("the kinds", &kinds, &vec![FileKind::File, FileKind::File, FileKind::File, FileKind::Directory])
}

async fn flat(ground: &Ground<'_>) -> Verdict {
    ground.put_names(&["a/b/c", "a/d"], "x").await?;
    same("the paths", &paths(&list(ground, "a").await?), &whole(ground, &["a/b", "a/d"]))
}

async fn empty(ground: &Ground<'_>) -> Verdict {
    ground.make_dir("nothing").await?;
    same("the paths", &paths(&list(ground, "nothing").await?), &Vec::<String>::new())
}

async fn hidden(ground: &Ground<'_>) -> Verdict {
    ground.put_names(&[".env", ".config/x"], "x").await?;
    same("the paths", &paths(&list(ground, "").await?), &whole(ground, &[".config", ".env"]))
}

async fn many(ground: &Ground<'_>) -> Verdict {
    let names: Vec<String> = (0..500).map(|number| format!("file_{number:03}")).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    ground.put_names(&names, "x").await?;
    same("the paths", &paths(&list(ground, "").await?), &whole(ground, &names))
}

async fn slashes(ground: &Ground<'_>) -> Verdict {
    ground.put("d/a", "x").await?;
    same("the paths", &paths(&list(ground, "/d//").await?), &whole(ground, &["d/a"]))
}

async fn missing_is_empty(ground: &Ground<'_>) -> Verdict {
    same("the paths", &paths(&list(ground, "nowhere").await?), &Vec::<String>::new())
}

async fn missing_is_refused(ground: &Ground<'_>) -> Verdict {
    let error = refused("ls", ground.backend.ls(&ground.path("nowhere")?).await)?;
    same("the code", &error.code, &FileErrorCode::FileNotFound)?;
    holds("a message with `path_not_found`", error.message.contains("path_not_found"), &error.message)
}

async fn file(ground: &Ground<'_>) -> Verdict {
    ground.put("a", "x").await?;
    let error = refused("ls", ground.backend.ls(&ground.path("a")?).await)?;
    same("the code", &error.code, &FileErrorCode::NotADirectory)
}

async fn sizes(ground: &Ground<'_>) -> Verdict {
    for size in [0, 1, 70_000] {
        ground.put(format!("{size:06}"), "x".repeat(size)).await?;
    }
    let sizes: Vec<Option<u64>> = list(ground, "").await?.iter().map(|entry| entry.size).collect();
    same("the sizes", &sizes, &vec![Some(0), Some(1), Some(70_000)])
}

async fn modified(ground: &Ground<'_>) -> Verdict {
    ground.put("a", "x").await?;
    ground.put("b", "x").await?;
    let times: Vec<_> = list(ground, "").await?.iter().map(|entry| entry.modified).collect();
    let in_order = matches!(times.as_slice(), [Some(a), Some(b)] if a <= b);
    holds("two times, the first not after the second", in_order, &times)
}

async fn links(ground: &Ground<'_>) -> Verdict {
    ground.put("d/a", "x").await?;
    ground.output("ln -s d link; ln -s nowhere broken").await?;
    let kinds: Vec<_> = list(ground, "").await?.iter().map(|entry| (text(&entry.path), entry.kind)).collect();
    let expected = [("broken", FileKind::Symlink), ("d", FileKind::Directory), ("link", FileKind::Symlink)];
    same("the kinds", &kinds, &expected.map(|(name, kind)| (text(&ground.full(name)), kind)).to_vec())?;
    same("what the link leads to", &paths(&list(ground, "link").await?), &whole(ground, &["link/a"]))
}
