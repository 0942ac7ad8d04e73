//! What cannot be read.

use super::super::capabilities::Need;
use super::super::case::{Case, cases};
use super::super::fault::{Verdict, holds, same};
use super::super::ground::{Ground, refused};
use crate::dialect::Dialect;
use crate::error::{FileError, FileErrorCode};
use crate::file::ReadRequest;

const SAYS_NOT_FOUND: Need = Need::Dialect(|dialect| dialect == Dialect::Js, "says it otherwise");
const NAMES_THE_CODE: Need = Need::Dialect(|dialect| dialect != Dialect::Js, "says it in words");

pub(in super::super) const CASES: &[Case] = cases![
    "read: a file that is not there is `not found`" [SAYS_NOT_FOUND] missing_in_words;
    "read: a file that is not there is `file_not_found`" [NAMES_THE_CODE] missing_by_code;
    "read: a directory is refused" [] directory;
    "read: a path through a file is refused" [] through_file;
    "read: a page past the end is an error that says how long the file is" [] past_end;
    "read: a page at the very end is past the end" [] at_end;
];

async fn read(ground: &Ground<'_>, name: &str, offset: u64) -> Verdict<FileError> {
    let request = ReadRequest::new(ground.path(name)?).with_offset(offset);
    refused("read", ground.backend.read(request).await)
}

async fn missing_in_words(ground: &Ground<'_>) -> Verdict {
    let error = read(ground, "nothing", 0).await?;
    same("the code", &error.code, &FileErrorCode::FileNotFound)?;
    holds("a message with `not found`", error.message.contains("not found"), &error.message)
}

async fn missing_by_code(ground: &Ground<'_>) -> Verdict {
    let error = read(ground, "nothing", 0).await?;
    same("the code", &error.code, &FileErrorCode::FileNotFound)?;
    holds("a message with `file_not_found`", error.message.contains("file_not_found"), &error.message)
}

async fn directory(ground: &Ground<'_>) -> Verdict {
    ground.put("d/a", "x").await?;
    same("the code", &read(ground, "d", 0).await?.code, &FileErrorCode::IsDirectory)
}

async fn through_file(ground: &Ground<'_>) -> Verdict {
    ground.put("a", "x").await?;
    let code = read(ground, "a/b", 0).await?.code;
    let good = matches!(code, FileErrorCode::NotADirectory | FileErrorCode::FileNotFound);
    holds("`not_a_directory` or `file_not_found`", good, &code)
}

async fn past_end(ground: &Ground<'_>) -> Verdict {
    ground.put("a", "1\n2\n3\n").await?;
    let error = read(ground, "a", 100).await?;
    same("the code", &error.code, &FileErrorCode::PastEnd)?;
    let said = error.message.contains("Line offset 100 exceeds file length (3 lines)");
    holds("the words `Line offset 100 exceeds file length (3 lines)`", said, &error.message)
}

async fn at_end(ground: &Ground<'_>) -> Verdict {
    ground.put("a", "1\n2\n3\n").await?;
    same("the code", &read(ground, "a", 3).await?.code, &FileErrorCode::PastEnd)
}
