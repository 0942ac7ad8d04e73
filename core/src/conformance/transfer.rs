//! Host and sandbox exchanging files.

pub(super) mod refusal;

use super::capabilities::Need::{Execute, FileBytes, Symlinks};
use super::case::{Case, cases};
use super::fault::{Fault, Verdict, holds, same, text};
use super::ground::Ground;
use crate::transfer::Upload;

pub(super) const CASES: &[Case] = cases![
    "upload_files: what is uploaded is downloaded" [] round_trip;
    "upload_files: every byte stays as it is" [] every_byte;
    "upload_files: an empty file is a file" [] empty_file;
    "upload_files: directories above are made" [] parents;
    "upload_files: an existing file is replaced in every dialect" [] replaces;
    "upload_files: one result for each file, in order, with its path as it was given" [] upload_order;
    "upload_files: of two files at one path the last one stays" [] last_wins;
    "upload_files: no files are no results" [] none;
    "upload_files: ten megabytes arrive whole" [FileBytes(10 << 20)] large;
    "upload_files: an uploaded file is an ordinary file for commands" [Execute] for_commands;
    "download_files: one result for each path, in order, with its path as it was given" [] download_order;
    "download_files: one path may be asked for twice" [] twice;
    "download_files: a link is followed" [Symlinks, Execute] link;
];

async fn round_trip(ground: &Ground<'_>) -> Verdict {
    ground.put("a", "special chars \n\t\r\0 'x' é\n").await?;
    same("the file", &ground.get_text("a").await?, &"special chars \n\t\r\0 'x' é\n")
}

async fn every_byte(ground: &Ground<'_>) -> Verdict {
    let every_byte: Vec<u8> = (0..=255).collect();
    ground.put("a", every_byte.clone()).await?;
    same("the file", &ground.get("a").await?, &every_byte)
}

async fn empty_file(ground: &Ground<'_>) -> Verdict {
    ground.put("a", "").await?;
    same("the file", &ground.get("a").await?, &Vec::<u8>::new())
}

async fn parents(ground: &Ground<'_>) -> Verdict {
    ground.put("d/e/f/a", "x").await?;
    same("the file", &ground.get_text("d/e/f/a").await?, &"x")
}

async fn replaces(ground: &Ground<'_>) -> Verdict {
    ground.put("a", "a long first content").await?;
    ground.put("a", "short").await?;
    same("the file", &ground.get_text("a").await?, &"short")
}

async fn upload_order(ground: &Ground<'_>) -> Verdict {
    ground.put("file", "x").await?;
    let names = ["1", "//2", "file/below", "./3", "d/../4"];
    let paths: Vec<Vec<u8>> = names.iter().map(|name| ground.full(name)).collect();
    let files = paths.iter().map(|path| Upload::new(path.clone(), "x")).collect();
    let results = ground.backend.upload_files(files).await?;
    let given: Vec<&Vec<u8>> = results.iter().map(|result| &result.path).collect();
    same("the paths", &given, &paths.iter().collect::<Vec<_>>())?;
    let done: Vec<bool> = results.iter().map(|result| result.result.is_ok()).collect();
    // `d` is not there, and a path through it leads nowhere.
    holds("a refusal of the third alone among the first four", done.starts_with(&[true, true, false, true]), &done)?;
    same("the third file", &ground.get_text("3").await?, &"x")
}

async fn last_wins(ground: &Ground<'_>) -> Verdict {
    ground.put_all(vec![(b"a".to_vec(), b"1".to_vec()), (b"a".to_vec(), b"2".to_vec())]).await?;
    same("the file", &ground.get_text("a").await?, &"2")
}

async fn none(ground: &Ground<'_>) -> Verdict {
    same("results of no uploads", &ground.backend.upload_files(Vec::new()).await?.len(), &0)?;
    same("results of no downloads", &ground.backend.download_files(Vec::new()).await?.len(), &0)
}

async fn large(ground: &Ground<'_>) -> Verdict {
    let content: Vec<u8> = (0..10_u32 << 20).map(|at| (at.wrapping_mul(2_654_435_761) >> 24) as u8).collect();
    ground.put("a", content.clone()).await?;
    let got = ground.get("a").await?;
    same("bytes", &got.len(), &content.len())?;
    if got == content { Ok(()) } else { Err(Fault::new("the same bytes", "others")) }
}

async fn for_commands(ground: &Ground<'_>) -> Verdict {
    ground.put("a", "one\ntwo\n").await?;
    same("the output", &ground.output("wc -l < a | tr -d ' '; echo three >> a; cat a").await?, &"2\none\ntwo\nthree\n")
}

async fn download_order(ground: &Ground<'_>) -> Verdict {
    ground.put("d/a", "1").await?;
    ground.put("b", "2").await?;
    let paths: Vec<Vec<u8>> = ["b", "nothing", "d//a", "d"].iter().map(|name| ground.full(name)).collect();
    let results = ground.backend.download_files(paths.clone()).await?;
    same("the paths", &results.iter().map(|result| result.path.clone()).collect::<Vec<_>>(), &paths)?;
    let contents: Vec<Option<String>> = results.iter().map(|got| got.result.as_deref().ok().map(text)).collect();
    same("the contents", &contents, &vec![Some("2".to_owned()), None, Some("1".to_owned()), None])
}

async fn twice(ground: &Ground<'_>) -> Verdict {
    ground.put("a", "x").await?;
    let results = ground.backend.download_files(vec![ground.full("a"); 2]).await?;
    let contents: Vec<_> = results.iter().map(|got| got.result.as_deref().ok().map(text)).collect();
    same("the contents", &contents, &vec![Some("x".to_owned()); 2])
}

async fn link(ground: &Ground<'_>) -> Verdict {
    ground.put("a", "behind").await?;
    ground.output("ln -s a link").await?;
    same("the file", &ground.get_text("link").await?, &"behind")
}
