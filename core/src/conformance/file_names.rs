//! File names that break tools which pass them through a shell or parse its output.

use super::capabilities::Requirement::{Execute, NonUtf8Names};
use super::case::{Case, cases};
use super::context::{CaseContext, page_text, quoted};
use super::failure::{CaseResult, check_eq, text};
use crate::file::{EditRequest, ReadRequest, WriteRequest};
use crate::path::SandboxPath;
use crate::search::{GlobRequest, GrepRequest};

pub(super) const CASES: &[Case] = cases![
    "names: spaces and quotes work in every tool" [] quotes;
    "names: colons, dashes and text like search output work in every tool" [] separators;
    "names: newlines and control characters work in every tool" [] controls;
    "names: pattern and shell characters work in every tool" [] patterns;
    "names: non-ASCII text works in every tool" [] unicode;
    "names: dots, tildes and long names work in every tool" [] dots;
    "names: non-UTF-8 bytes work in every tool" [NonUtf8Names] bytes;
    "names: commands and tools use the same file names" [Execute] for_commands;
];

/// Passes a file with this name through every tool, alone in a directory.
async fn works(context: &CaseContext<'_>, name: &[u8]) -> CaseResult {
    let shown = format!("a file named {:?}", text(name));
    let dir = context.path("d")?;
    let path = SandboxPath::parse(dir.join(name))?;
    let backend = context.backend;
    backend.write(WriteRequest::new(path.clone(), "needle\n")).await??;
    backend.edit(EditRequest::new(path.clone(), "needle", "thread")).await??;
    let response = backend.read(ReadRequest::new(path.clone())).await??;
    check_eq(&format!("{shown}, read"), &page_text(&response)?, &"thread\n")?;
    let got = backend.download_files(vec![path.as_bytes().to_vec()]).await?;
    let content = got.first().and_then(|got| got.result.as_deref().ok()).map(text);
    check_eq(&format!("{shown}, downloaded"), &content, &Some("thread\n".to_owned()))?;
    let entries = backend.ls(&dir).await??.entries;
    check_eq(
        &format!("{shown}, listed"),
        &one(entries.iter().map(|entry| entry.path.as_slice())),
        &text(path.as_bytes()),
    )?;
    let found = backend.grep(GrepRequest::new("thread", dir.clone())).await??.matches;
    check_eq(
        &format!("{shown}, searched"),
        &one(found.iter().map(|found| found.path.as_slice())),
        &text(path.as_bytes()),
    )?;
    check_eq(&format!("{shown}, its line"), &one(found.iter().map(|found| found.text.as_slice())), &"thread")?;
    // A name with a leading dot needs a pattern with a leading dot.
    let pattern = if name.starts_with(b".") { ".*" } else { "*" };
    let files = backend.glob(GlobRequest::new(pattern, dir.clone())).await??.files;
    let expected = if context.dialect().glob_is_relative() { name } else { path.as_bytes() };
    check_eq(&format!("{shown}, found"), &one(files.iter().map(|file| file.path.as_slice())), &text(expected))?;
    backend.delete(&path).await??;
    check_eq(&format!("{shown}, deleted"), &backend.ls(&dir).await??.entries.len(), &0)
}

/// Returns the only element, or a text with the number of elements.
fn one<'a>(mut all: impl Iterator<Item = &'a [u8]>) -> String {
    match (all.next(), all.count()) {
        (Some(one), 0) => text(one),
        (None, _) => "none".to_owned(),
        (Some(_), more) => format!("{} of them", more + 1),
    }
}

async fn all_work(context: &CaseContext<'_>, names: &[&str]) -> CaseResult {
    for name in names {
        works(context, name.as_bytes()).await?;
    }
    Ok(())
}

async fn quotes(context: &CaseContext<'_>) -> CaseResult {
    all_work(context, &["a b", " begins and ends ", "it's", "\"quoted\"", "'\"'", "a\tb"]).await
}

async fn separators(context: &CaseContext<'_>) -> CaseResult {
    all_work(context, &["a:1:b", ":", "12:34", "-rf", "--", "-", "a=b", "a,b"]).await
}

async fn controls(context: &CaseContext<'_>) -> CaseResult {
    all_work(context, &["two\nlines", "\n", "a\rb", "\u{1}\u{7f}", "\u{1b}[31m"]).await
}

async fn patterns(context: &CaseContext<'_>) -> CaseResult {
    all_work(context, &["*?[a]", "{a,b}", "$(echo x)", "`x`", "$HOME", "a;b", "a&b|c", "\\", "\\n", "!x", "#a", "%s"])
        .await
}

async fn unicode(context: &CaseContext<'_>) -> CaseResult {
    all_work(context, &["é👋", "测试文件.txt", "файл", "e\u{301}", "\u{202e}abc", "\u{feff}"]).await
}

async fn dots(context: &CaseContext<'_>) -> CaseResult {
    all_work(context, &["...", ".hidden", "a.", "~", "~root", &"x".repeat(255)]).await
}

async fn bytes(context: &CaseContext<'_>) -> CaseResult {
    for name in [&b"\xff\xfe"[..], b"a\xffb", b"\xc3", b"\xed\xa0\x80"] {
        works(context, name).await?;
    }
    Ok(())
}

async fn for_commands(context: &CaseContext<'_>) -> CaseResult {
    for name in ["a b", "it's", "é👋", "-n", "$x", "a\nb"] {
        context.put(name, "from the host\n").await?;
        let command = format!("f={}; cat \"./$f\"; echo from a command >> \"./$f\"", quoted(name));
        check_eq("the command's view of the file", &context.output(&command).await?, &"from the host\n")?;
        check_eq("the host's view of the file", &context.get_text(name).await?, &"from the host\nfrom a command\n")?;
    }
    Ok(())
}
