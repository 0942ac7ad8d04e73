//! Transfers of files between host and sandbox.

pub(super) mod errors;

use super::capabilities::Requirement::{Execute, FileBytes, Symlinks};
use super::case::{Case, cases};
use super::context::CaseContext;
use super::failure::{CaseFailure, CaseResult, check, check_eq, text};
use crate::transfer::Upload;

pub(super) const CASES: &[Case] = cases![
    "upload_files: an uploaded file can be downloaded" [] round_trip;
    "upload_files: all byte values are unchanged" [] every_byte;
    "upload_files: an empty file is created" [] empty_file;
    "upload_files: parent directories are created" [] parents;
    "upload_files: an existing file is replaced in every dialect" [] replaces;
    "upload_files: results are in request order with the requested paths" [] upload_order;
    "upload_files: the last of two files at one path wins" [] last_wins;
    "upload_files: no files return no results" [] none;
    "upload_files: 10 MiB arrive complete" [FileBytes(10 << 20)] large;
    "upload_files: commands can use an uploaded file" [Execute] for_commands;
    "download_files: results are in request order with the requested paths" [] download_order;
    "download_files: one path may be requested twice" [] twice;
    "download_files: a link is followed" [Symlinks, Execute] link;
];

async fn round_trip(context: &CaseContext<'_>) -> CaseResult {
    context.put("a", "special chars \n\t\r\0 'x' é\n").await?;
    check_eq("the file", &context.get_text("a").await?, &"special chars \n\t\r\0 'x' é\n")
}

async fn every_byte(context: &CaseContext<'_>) -> CaseResult {
    let every_byte: Vec<u8> = (0..=255).collect();
    context.put("a", every_byte.clone()).await?;
    check_eq("the file", &context.get("a").await?, &every_byte)
}

async fn empty_file(context: &CaseContext<'_>) -> CaseResult {
    context.put("a", "").await?;
    check_eq("the file", &context.get("a").await?, &Vec::<u8>::new())
}

async fn parents(context: &CaseContext<'_>) -> CaseResult {
    context.put("d/e/f/a", "x").await?;
    check_eq("the file", &context.get_text("d/e/f/a").await?, &"x")
}

async fn replaces(context: &CaseContext<'_>) -> CaseResult {
    context.put("a", "a long first content").await?;
    context.put("a", "short").await?;
    check_eq("the file", &context.get_text("a").await?, &"short")
}

async fn upload_order(context: &CaseContext<'_>) -> CaseResult {
    context.put("file", "x").await?;
    let names = ["1", "//2", "file/below", "./3", "d/../4"];
    let paths: Vec<Vec<u8>> = names.iter().map(|name| context.full(name)).collect();
    let files = paths.iter().map(|path| Upload::new(path.clone(), "x")).collect();
    let results = context.backend.upload_files(files).await?;
    let given: Vec<&Vec<u8>> = results.iter().map(|result| &result.path).collect();
    check_eq("the paths", &given, &paths.iter().collect::<Vec<_>>())?;
    let done: Vec<bool> = results.iter().map(|result| result.result.is_ok()).collect();
    // `d` does not exist, so a path through it does not resolve.
    check("an error for only the third of the first four", done.starts_with(&[true, true, false, true]), &done)?;
    check_eq("the third file", &context.get_text("3").await?, &"x")
}

async fn last_wins(context: &CaseContext<'_>) -> CaseResult {
    context.put_all(vec![(b"a".to_vec(), b"1".to_vec()), (b"a".to_vec(), b"2".to_vec())]).await?;
    check_eq("the file", &context.get_text("a").await?, &"2")
}

async fn none(context: &CaseContext<'_>) -> CaseResult {
    check_eq("results of no uploads", &context.backend.upload_files(Vec::new()).await?.len(), &0)?;
    check_eq("results of no downloads", &context.backend.download_files(Vec::new()).await?.len(), &0)
}

async fn large(context: &CaseContext<'_>) -> CaseResult {
    let content: Vec<u8> = (0..10_u32 << 20).map(|at| (at.wrapping_mul(2_654_435_761) >> 24) as u8).collect();
    context.put("a", content.clone()).await?;
    let got = context.get("a").await?;
    check_eq("bytes", &got.len(), &content.len())?;
    if got == content { Ok(()) } else { Err(CaseFailure::new("the same bytes", "others")) }
}

async fn for_commands(context: &CaseContext<'_>) -> CaseResult {
    context.put("a", "one\ntwo\n").await?;
    check_eq(
        "the output",
        &context.output("wc -l < a | tr -d ' '; echo three >> a; cat a").await?,
        &"2\none\ntwo\nthree\n",
    )
}

async fn download_order(context: &CaseContext<'_>) -> CaseResult {
    context.put("d/a", "1").await?;
    context.put("b", "2").await?;
    let paths: Vec<Vec<u8>> = ["b", "nothing", "d//a", "d"].iter().map(|name| context.full(name)).collect();
    let results = context.backend.download_files(paths.clone()).await?;
    check_eq("the paths", &results.iter().map(|result| result.path.clone()).collect::<Vec<_>>(), &paths)?;
    let contents: Vec<Option<String>> = results.iter().map(|got| got.result.as_deref().ok().map(text)).collect();
    check_eq("the contents", &contents, &vec![Some("2".to_owned()), None, Some("1".to_owned()), None])
}

async fn twice(context: &CaseContext<'_>) -> CaseResult {
    context.put("a", "x").await?;
    let results = context.backend.download_files(vec![context.full("a"); 2]).await?;
    let contents: Vec<_> = results.iter().map(|got| got.result.as_deref().ok().map(text)).collect();
    check_eq("the contents", &contents, &vec![Some("x".to_owned()); 2])
}

async fn link(context: &CaseContext<'_>) -> CaseResult {
    context.put("a", "target").await?;
    context.output("ln -s a link").await?;
    check_eq("the file", &context.get_text("link").await?, &"target")
}
