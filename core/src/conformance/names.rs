//! Names that break tools which pass them through a shell or parse its output.

use super::capabilities::Need::{ByteNames, Execute};
use super::case::{Case, cases};
use super::fault::{Verdict, same, text};
use super::ground::{Ground, page_text, quoted};
use crate::file::{EditRequest, ReadRequest, WriteRequest};
use crate::path::SandboxPath;
use crate::search::{GlobRequest, GrepRequest};

pub(super) const CASES: &[Case] = cases![
    "names: spaces and quotes work in every tool" [] quotes;
    "names: colons, dashes and what a search prints work in every tool" [] separators;
    "names: line ends and control characters work in every tool" [] controls;
    "names: characters of patterns and of the shell work in every tool" [] patterns;
    "names: text beyond ASCII works in every tool" [] unicode;
    "names: dots, tildes and long names work in every tool" [] dots;
    "names: bytes that are not UTF-8 work in every tool" [ByteNames] bytes;
    "names: commands and tools call a file by the same name" [Execute] for_commands;
];

/// Takes a file of this name through every tool, alone in a directory.
async fn works(ground: &Ground<'_>, name: &[u8]) -> Verdict {
    let shown = format!("a file named {:?}", text(name));
    let dir = ground.path("d")?;
    let path = SandboxPath::parse(dir.join(name))?;
    let backend = ground.backend;
    backend.write(WriteRequest::new(path.clone(), "needle\n")).await??;
    backend.edit(EditRequest::new(path.clone(), "needle", "thread")).await??;
    let response = backend.read(ReadRequest::new(path.clone())).await??;
    same(&format!("{shown}, read"), &page_text(&response)?, &"thread\n")?;
    let got = backend.download_files(vec![path.as_bytes().to_vec()]).await?;
    let content = got.first().and_then(|got| got.result.as_deref().ok()).map(text);
    same(&format!("{shown}, downloaded"), &content, &Some("thread\n".to_owned()))?;
    let entries = backend.ls(&dir).await??.entries;
    same(&format!("{shown}, listed"), &one(entries.iter().map(|entry| entry.path.as_slice())), &text(path.as_bytes()))?;
    let found = backend.grep(GrepRequest::new("thread", dir.clone())).await??.matches;
    same(&format!("{shown}, searched"), &one(found.iter().map(|found| found.path.as_slice())), &text(path.as_bytes()))?;
    same(&format!("{shown}, its line"), &one(found.iter().map(|found| found.text.as_slice())), &"thread")?;
    // A name that begins with a dot needs a pattern that does.
    let pattern = if name.starts_with(b".") { ".*" } else { "*" };
    let files = backend.glob(GlobRequest::new(pattern, dir.clone())).await??.files;
    let expected = if ground.dialect().glob_is_relative() { name } else { path.as_bytes() };
    same(&format!("{shown}, found"), &one(files.iter().map(|file| file.path.as_slice())), &text(expected))?;
    backend.delete(&path).await??;
    same(&format!("{shown}, deleted"), &backend.ls(&dir).await??.entries.len(), &0)
}

/// The only one; else how many there are.
fn one<'a>(mut all: impl Iterator<Item = &'a [u8]>) -> String {
    match (all.next(), all.count()) {
        (Some(one), 0) => text(one),
        (None, _) => "none".to_owned(),
        (Some(_), more) => format!("{} of them", more + 1),
    }
}

async fn all_work(ground: &Ground<'_>, names: &[&str]) -> Verdict {
    for name in names {
        works(ground, name.as_bytes()).await?;
    }
    Ok(())
}

async fn quotes(ground: &Ground<'_>) -> Verdict {
    all_work(ground, &["a b", " begins and ends ", "it's", "\"quoted\"", "'\"'", "a\tb"]).await
}

async fn separators(ground: &Ground<'_>) -> Verdict {
    all_work(ground, &["a:1:b", ":", "12:34", "-rf", "--", "-", "a=b", "a,b"]).await
}

async fn controls(ground: &Ground<'_>) -> Verdict {
    all_work(ground, &["two\nlines", "\n", "a\rb", "\u{1}\u{7f}", "\u{1b}[31m"]).await
}

async fn patterns(ground: &Ground<'_>) -> Verdict {
    all_work(ground, &["*?[a]", "{a,b}", "$(echo x)", "`x`", "$HOME", "a;b", "a&b|c", "\\", "\\n", "!x", "#a", "%s"])
        .await
}

async fn unicode(ground: &Ground<'_>) -> Verdict {
    all_work(ground, &["é👋", "测试文件.txt", "файл", "e\u{301}", "\u{202e}abc", "\u{feff}"]).await
}

async fn dots(ground: &Ground<'_>) -> Verdict {
    all_work(ground, &["...", ".hidden", "a.", "~", "~root", &"x".repeat(255)]).await
}

async fn bytes(ground: &Ground<'_>) -> Verdict {
    for name in [&b"\xff\xfe"[..], b"a\xffb", b"\xc3", b"\xed\xa0\x80"] {
        works(ground, name).await?;
    }
    Ok(())
}

async fn for_commands(ground: &Ground<'_>) -> Verdict {
    for name in ["a b", "it's", "é👋", "-n", "$x", "a\nb"] {
        ground.put(name, "from the host\n").await?;
        let command = format!("f={}; cat \"./$f\"; echo from a command >> \"./$f\"", quoted(name));
        same("what a command reads", &ground.output(&command).await?, &"from the host\n")?;
        same("what the host reads", &ground.get_text(name).await?, &"from the host\nfrom a command\n")?;
    }
    Ok(())
}
