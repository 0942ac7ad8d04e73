//! What cannot be edited, and stays as it was.

use super::super::capabilities::Need;
use super::super::case::{Case, cases};
use super::super::fault::{Verdict, holds, same};
use super::super::ground::{Ground, refused};
use crate::error::{FileError, FileErrorCode};
use crate::file::EditRequest;

const REFUSES_EMPTY: Need = Need::Dialect(|dialect| !dialect.edit_fills_empty_file(), "fills empty files");

pub(in super::super) const CASES: &[Case] = cases![
    "edit: a string that is not there is refused, and the file stays" [] string_missing;
    "edit: a string that is there twice is refused, and the file stays" [] string_twice;
    "edit: a file that is not there is refused" [] file_missing;
    "edit: a directory is refused" [] directory;
    "edit: a file that is not text is refused, and stays" [] binary;
    "edit: nothing cannot be replaced in a text" [] empty_string;
    "edit: nothing cannot be replaced in an empty file" [REFUSES_EMPTY] empty_string_in_empty_file;
];

async fn edit(ground: &Ground<'_>, name: &str, old: &str) -> Verdict<FileError> {
    refused("edit", ground.backend.edit(EditRequest::new(ground.path(name)?, old, "new")).await)
}

async fn string_missing(ground: &Ground<'_>) -> Verdict {
    ground.put("a", "Hello world").await?;
    let error = edit(ground, "a", "hello").await?;
    same("the code", &error.code, &FileErrorCode::StringNotFound)?;
    let said = error.message.contains("String not found in file: 'hello'");
    holds("the words `String not found in file: 'hello'`", said, &error.message)?;
    same("the file", &ground.get_text("a").await?, &"Hello world")
}

async fn string_twice(ground: &Ground<'_>) -> Verdict {
    ground.put("a", "apple apple").await?;
    let error = edit(ground, "a", "apple").await?;
    same("the code", &error.code, &FileErrorCode::StringNotUnique)?;
    let said = error.message.contains("appears multiple times") && error.message.contains("replace_all");
    holds("that it appears multiple times, and `replace_all`", said, &error.message)?;
    same("the file", &ground.get_text("a").await?, &"apple apple")
}

async fn file_missing(ground: &Ground<'_>) -> Verdict {
    let error = edit(ground, "nothing", "x").await?;
    same("the code", &error.code, &FileErrorCode::FileNotFound)?;
    let said = error.message.contains("not found") || error.message.contains("not_found");
    holds("a message with `not found`", said, &error.message)
}

async fn directory(ground: &Ground<'_>) -> Verdict {
    ground.put("d/a", "x").await?;
    same("the code", &edit(ground, "d", "x").await?.code, &FileErrorCode::IsDirectory)
}

async fn binary(ground: &Ground<'_>) -> Verdict {
    ground.put("a", b"x\xff\xfe".as_slice()).await?;
    same("the code", &edit(ground, "a", "x").await?.code, &FileErrorCode::NotText)?;
    same("the file", &ground.get("a").await?, &b"x\xff\xfe".to_vec())
}

async fn empty_string(ground: &Ground<'_>) -> Verdict {
    ground.put("a", "text").await?;
    same("the code", &edit(ground, "a", "").await?.code, &FileErrorCode::InvalidPattern)?;
    same("the file", &ground.get_text("a").await?, &"text")
}

async fn empty_string_in_empty_file(ground: &Ground<'_>) -> Verdict {
    ground.put("a", "").await?;
    same("the code", &edit(ground, "a", "").await?.code, &FileErrorCode::InvalidPattern)?;
    same("the file", &ground.get_text("a").await?, &"")
}
