//! Writing files.

use super::capabilities::Need::{self, Execute, FileBytes, Modes, Symlinks};
use super::case::{Case, cases};
use super::fault::{Fault, Verdict, holds, same};
use super::ground::{Ground, refused};
use crate::dialect::Dialect;
use crate::error::FileErrorCode;
use crate::file::{WriteRequest, WriteResponse};

const REPLACES: Need = Need::Dialect(Dialect::write_replaces, "does not replace files");
const REFUSES: Need = Need::Dialect(|dialect| !dialect.write_replaces(), "replaces files");

pub(super) const CASES: &[Case] = cases![
    "write: a new file is made and its path returned" [] creates;
    "write: directories above are made" [] parents;
    "write: an existing file is replaced as a whole" [REPLACES] replaces;
    "write: an existing file is refused and stays as it was" [REFUSES] refuses;
    "write: a replaced file keeps its mode" [REPLACES, Modes, Execute] keeps_mode;
    "write: no content makes an empty file" [] empty;
    "write: what a shell would take for itself stays as it is" [] special;
    "write: text beyond ASCII stays as it is" [] unicode;
    "write: every byte stays as it is" [] every_byte;
    "write: line ends are neither changed nor added" [] line_ends;
    "write: five megabytes are written whole" [FileBytes(5 << 20)] large;
    "write: a directory is not replaced by a file" [] directory;
    "write: nothing is written below a file" [] below_file;
    "write: a link is followed" [REPLACES, Symlinks, Execute] link;
];

async fn write(ground: &Ground<'_>, name: &str, content: impl Into<Vec<u8>>) -> Verdict<WriteResponse> {
    Ok(ground.backend.write(WriteRequest::new(ground.path(name)?, content)).await??)
}

async fn round(ground: &Ground<'_>, content: &str) -> Verdict {
    write(ground, "a", content).await?;
    same("the file", &ground.get_text("a").await?, &content)
}

async fn creates(ground: &Ground<'_>) -> Verdict {
    let written = write(ground, "a.txt", "one\ntwo\n").await?;
    same("the path", &written.path, &ground.path("a.txt")?)?;
    same("created", &written.created, &true)?;
    same("the file", &ground.get_text("a.txt").await?, &"one\ntwo\n")
}

async fn parents(ground: &Ground<'_>) -> Verdict {
    write(ground, "deep/er/est/a", "x").await?;
    same("the file", &ground.get_text("deep/er/est/a").await?, &"x")
}

async fn replaces(ground: &Ground<'_>) -> Verdict {
    ground.put("a", "a long first content").await?;
    let written = write(ground, "a", "short").await?;
    same("created", &written.created, &false)?;
    same("the file", &ground.get_text("a").await?, &"short")
}

async fn refuses(ground: &Ground<'_>) -> Verdict {
    ground.put("a", "first").await?;
    let error = refused("write", ground.backend.write(WriteRequest::new(ground.path("a")?, "second")).await)?;
    same("the code", &error.code, &FileErrorCode::AlreadyExists)?;
    holds("a message with `already exists`", error.message.contains("already exists"), &error.message)?;
    same("the file", &ground.get_text("a").await?, &"first")
}

async fn keeps_mode(ground: &Ground<'_>) -> Verdict {
    ground.put("a.sh", "#!/bin/sh\necho first\n").await?;
    ground.output("chmod 750 a.sh").await?;
    write(ground, "a.sh", "#!/bin/sh\necho second\n").await?;
    same("the mode", &ground.output("ls -l a.sh | cut -c1-10; ./a.sh").await?, &"-rwxr-x---\nsecond\n")
}

async fn empty(ground: &Ground<'_>) -> Verdict {
    write(ground, "a", "").await?;
    same("the file", &ground.get("a").await?, &Vec::<u8>::new())
}

async fn special(ground: &Ground<'_>) -> Verdict {
    round(ground, "$VAR `cmd` $(sub) 'a' \"b\" \\n \\\\ !x * ? [a] {b,c} ~ # & ; | < >\n\ttab\n\"\"\"\n'''\nEOF\n")
        .await
}

async fn unicode(ground: &Ground<'_>) -> Verdict {
    round(ground, "Hello 👋 世界 مرحبا Привет 🌍\ncafé \u{feff}\u{200d}\n").await
}

async fn every_byte(ground: &Ground<'_>) -> Verdict {
    let every_byte: Vec<u8> = (0..=255).collect();
    write(ground, "a", every_byte.clone()).await?;
    same("the file", &ground.get("a").await?, &every_byte)
}

async fn line_ends(ground: &Ground<'_>) -> Verdict {
    for (name, content) in [("crlf", "a\r\nb\r\n"), ("none", "a"), ("only", "\n\n\n"), ("mixed", "a\rb\n\r\n")] {
        write(ground, name, content).await?;
        same(name, &ground.get_text(name).await?, &content)?;
    }
    Ok(())
}

async fn large(ground: &Ground<'_>) -> Verdict {
    let content = "0123456789abcdef".repeat(5 << 16);
    write(ground, "a", content.clone()).await?;
    let got = ground.get("a").await?;
    same("bytes", &got.len(), &content.len())?;
    if got == content.as_bytes() { Ok(()) } else { Err(Fault::new("the same bytes", "others")) }
}

async fn directory(ground: &Ground<'_>) -> Verdict {
    ground.put("d/a", "x").await?;
    refused("write", ground.backend.write(WriteRequest::new(ground.path("d")?, "y")).await)?;
    same("the file in the directory", &ground.get_text("d/a").await?, &"x")
}

async fn below_file(ground: &Ground<'_>) -> Verdict {
    ground.put("a", "x").await?;
    refused("write", ground.backend.write(WriteRequest::new(ground.path("a/b")?, "y")).await)?;
    same("the file", &ground.get_text("a").await?, &"x")
}

async fn link(ground: &Ground<'_>) -> Verdict {
    ground.put("target", "old").await?;
    ground.output("ln -s target link").await?;
    write(ground, "link", "new").await?;
    same("what the link points to", &ground.get_text("target").await?, &"new")?;
    same("the link", &ground.output("readlink link").await?, &"target\n")
}
