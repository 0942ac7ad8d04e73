//! Writing files.

use super::capabilities::Requirement::{self, Execute, FileBytes, Modes, Symlinks};
use super::case::{Case, cases};
use super::context::{CaseContext, expect_error};
use super::failure::{CaseFailure, CaseResult, check, check_eq};
use crate::dialect::Dialect;
use crate::error::FileErrorCode;
use crate::file::{WriteRequest, WriteResponse};

const REPLACES: Requirement = Requirement::Dialect(Dialect::write_replaces, "does not replace files");
const REFUSES: Requirement = Requirement::Dialect(|dialect| !dialect.write_replaces(), "replaces files");

pub(super) const CASES: &[Case] = cases![
    "write: a new file is created and its path returned" [] creates;
    "write: parent directories are created" [] parents;
    "write: an existing file is replaced as a whole" [REPLACES] replaces;
    "write: an existing file is rejected and unchanged" [REFUSES] refuses;
    "write: a replaced file keeps its mode" [REPLACES, Modes, Execute] keeps_mode;
    "write: empty content creates an empty file" [] empty;
    "write: shell syntax is stored literally" [] special;
    "write: non-ASCII text is unchanged" [] unicode;
    "write: all byte values are unchanged" [] every_byte;
    "write: line endings are neither changed nor added" [] line_ends;
    "write: 5 MB are written completely" [FileBytes(5 << 20)] large;
    "write: a directory is not replaced by a file" [] directory;
    "write: nothing is written below a file" [] below_file;
    "write: a link is followed" [REPLACES, Symlinks, Execute] link;
];

async fn write(context: &CaseContext<'_>, name: &str, content: impl Into<Vec<u8>>) -> CaseResult<WriteResponse> {
    Ok(context.backend.write(WriteRequest::new(context.path(name)?, content)).await??)
}

async fn round(context: &CaseContext<'_>, content: &str) -> CaseResult {
    write(context, "a", content).await?;
    check_eq("the file", &context.get_text("a").await?, &content)
}

async fn creates(context: &CaseContext<'_>) -> CaseResult {
    let written = write(context, "a.txt", "one\ntwo\n").await?;
    check_eq("the path", &written.path, &context.path("a.txt")?)?;
    check_eq("created", &written.created, &true)?;
    check_eq("the file", &context.get_text("a.txt").await?, &"one\ntwo\n")
}

async fn parents(context: &CaseContext<'_>) -> CaseResult {
    write(context, "deep/er/est/a", "x").await?;
    check_eq("the file", &context.get_text("deep/er/est/a").await?, &"x")
}

async fn replaces(context: &CaseContext<'_>) -> CaseResult {
    context.put("a", "a long first content").await?;
    let written = write(context, "a", "short").await?;
    check_eq("created", &written.created, &false)?;
    check_eq("the file", &context.get_text("a").await?, &"short")
}

async fn refuses(context: &CaseContext<'_>) -> CaseResult {
    context.put("a", "first").await?;
    let error = expect_error("write", context.backend.write(WriteRequest::new(context.path("a")?, "second")).await)?;
    check_eq("the code", &error.code, &FileErrorCode::AlreadyExists)?;
    check("a message with `already exists`", error.message.contains("already exists"), &error.message)?;
    check_eq("the file", &context.get_text("a").await?, &"first")
}

async fn keeps_mode(context: &CaseContext<'_>) -> CaseResult {
    context.put("a.sh", "#!/bin/sh\necho first\n").await?;
    context.output("chmod 750 a.sh").await?;
    write(context, "a.sh", "#!/bin/sh\necho second\n").await?;
    check_eq("the mode", &context.output("ls -l a.sh | cut -c1-10; ./a.sh").await?, &"-rwxr-x---\nsecond\n")
}

async fn empty(context: &CaseContext<'_>) -> CaseResult {
    write(context, "a", "").await?;
    check_eq("the file", &context.get("a").await?, &Vec::<u8>::new())
}

async fn special(context: &CaseContext<'_>) -> CaseResult {
    round(context, "$VAR `cmd` $(sub) 'a' \"b\" \\n \\\\ !x * ? [a] {b,c} ~ # & ; | < >\n\ttab\n\"\"\"\n'''\nEOF\n")
        .await
}

async fn unicode(context: &CaseContext<'_>) -> CaseResult {
    round(context, "Hello 👋 世界 مرحبا Привет 🌍\ncafé \u{feff}\u{200d}\n").await
}

async fn every_byte(context: &CaseContext<'_>) -> CaseResult {
    let every_byte: Vec<u8> = (0..=255).collect();
    write(context, "a", every_byte.clone()).await?;
    check_eq("the file", &context.get("a").await?, &every_byte)
}

async fn line_ends(context: &CaseContext<'_>) -> CaseResult {
    for (name, content) in [("crlf", "a\r\nb\r\n"), ("none", "a"), ("only", "\n\n\n"), ("mixed", "a\rb\n\r\n")] {
        write(context, name, content).await?;
        check_eq(name, &context.get_text(name).await?, &content)?;
    }
    Ok(())
}

async fn large(context: &CaseContext<'_>) -> CaseResult {
    let content = "0123456789abcdef".repeat(5 << 16);
    write(context, "a", content.clone()).await?;
    let got = context.get("a").await?;
    check_eq("bytes", &got.len(), &content.len())?;
    if got == content.as_bytes() { Ok(()) } else { Err(CaseFailure::new("the same bytes", "others")) }
}

async fn directory(context: &CaseContext<'_>) -> CaseResult {
    context.put("d/a", "x").await?;
    expect_error("write", context.backend.write(WriteRequest::new(context.path("d")?, "y")).await)?;
    check_eq("the file in the directory", &context.get_text("d/a").await?, &"x")
}

async fn below_file(context: &CaseContext<'_>) -> CaseResult {
    context.put("a", "x").await?;
    expect_error("write", context.backend.write(WriteRequest::new(context.path("a/b")?, "y")).await)?;
    check_eq("the file", &context.get_text("a").await?, &"x")
}

async fn link(context: &CaseContext<'_>) -> CaseResult {
    context.put("target", "old").await?;
    context.output("ln -s target link").await?;
    write(context, "link", "new").await?;
    check_eq("the link's target", &context.get_text("target").await?, &"new")?;
    check_eq("the link", &context.output("readlink link").await?, &"target\n")
}
