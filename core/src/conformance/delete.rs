//! Deleting files and directories.

use super::capabilities::Need::{Execute, Symlinks};
use super::case::{Case, cases};
use super::fault::{Verdict, same};
use super::ground::{Ground, refused};
use crate::error::FileErrorCode;

pub(super) const CASES: &[Case] = cases![
    "delete: a file is gone, and no other" [] file;
    "delete: a directory is gone with everything in it" [] directory;
    "delete: what is not there is refused" [] missing;
    "delete: a deep tree is gone" [] deep;
    "delete: a link is deleted, and not what it points to" [Symlinks, Execute] link;
    "delete: a link that points nowhere is deleted" [Symlinks, Execute] broken_link;
];

async fn delete(ground: &Ground<'_>, name: &str) -> Verdict {
    let path = ground.path(name)?;
    let deleted = ground.backend.delete(&path).await??;
    same("the path", &deleted.path, &path)
}

async fn file(ground: &Ground<'_>) -> Verdict {
    ground.put_names(&["a", "ab"], "x").await?;
    delete(ground, "a").await?;
    same(
        "whether the file and another are there",
        &(ground.is_there("a").await?, ground.is_there("ab").await?),
        &(false, true),
    )
}

async fn directory(ground: &Ground<'_>) -> Verdict {
    ground.put_names(&["d/a", "d/.hidden", "d/e/f", "kept"], "x").await?;
    delete(ground, "d").await?;
    same("what is left", &super::ls::list(ground, "").await?.len(), &1)?;
    same("the other file", &ground.get_text("kept").await?, &"x")
}

async fn missing(ground: &Ground<'_>) -> Verdict {
    let path = ground.path("nothing")?;
    let error = refused("delete", ground.backend.delete(&path).await)?;
    same("the code", &error.code, &FileErrorCode::FileNotFound)
}

async fn deep(ground: &Ground<'_>) -> Verdict {
    ground.put(format!("d/{}a", "e/".repeat(100)), "x").await?;
    delete(ground, "d").await?;
    same("what is left", &super::ls::list(ground, "").await?.len(), &0)
}

async fn link(ground: &Ground<'_>) -> Verdict {
    ground.put_names(&["d/a", "e/b"], "x").await?;
    ground.output("ln -s ../d e/link; ln -s d other").await?;
    delete(ground, "e").await?;
    delete(ground, "other").await?;
    same("the file behind the links", &ground.get_text("d/a").await?, &"x")
}

async fn broken_link(ground: &Ground<'_>) -> Verdict {
    ground.output("ln -s nowhere link").await?;
    delete(ground, "link").await?;
    same("what is left", &super::ls::list(ground, "").await?.len(), &0)
}
