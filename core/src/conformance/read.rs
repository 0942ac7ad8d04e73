//! Reading text by page.

pub(super) mod errors;
pub(super) mod kind;

use super::capabilities::Requirement::{self, Execute, FileBytes, Symlinks};
use super::case::{Case, cases};
use super::context::{CaseContext, page_text};
use super::failure::{CaseFailure, CaseResult, check, check_eq};
use crate::dialect::Dialect;
use crate::file::{LineWindow, ReadResponse};
use crate::page::PAGE_BYTES;

const SHOWS_CRLF: Requirement = Requirement::Dialect(|dialect| !dialect.reads_crlf_as_lf(), "shows LF");
const SHOWS_LF: Requirement = Requirement::Dialect(Dialect::reads_crlf_as_lf, "shows CRLF");

pub(super) const CASES: &[Case] = cases![
    "read: a small file is returned whole and unchanged, with its window" [] whole_file;
    "read: a page contains the requested lines and its window" [] page;
    "read: a page that reaches the end has no next page" [] last_page;
    "read: consecutive pages add up to the file" [] pages;
    "read: the last line counts with and without a newline" [] last_line;
    "read: empty lines count as lines" [] blank_lines;
    "read: the default page length is the dialect's" [] default_limit;
    "read: a limit of zero returns no lines and no error" [] no_lines;
    "read: an empty file returns the notice for every offset" [] empty;
    "read: non-ASCII text is unchanged" [] unicode;
    "read: carriage returns are kept" [SHOWS_CRLF] crlf_as_it_is;
    "read: carriage returns before newlines are removed" [SHOWS_LF] crlf_as_lf;
    "read: a line of 3,000 characters is not truncated" [] long_line;
    "read: a page over 500 KiB ends at a whole line, and the next page continues" [] long_page;
    "read: a line over 500 KiB is truncated with a note" [] longest_line;
    "read: a page near the end of a 5 MB file is correct" [FileBytes(6_000_000)] large_file;
    "read: a link is followed" [Symlinks, Execute] link;
];

fn window(start: u64, end: u64, total: u64) -> Option<LineWindow> {
    Some(LineWindow { start, end, total })
}

/// Returns a page's text as the dialect returns it if more pages follow.
fn inner<'t>(context: &CaseContext<'_>, text: &'t str) -> &'t str {
    if context.dialect().omits_page_separator() { text.strip_suffix('\n').unwrap_or(text) } else { text }
}

fn numbered(lines: u64) -> String {
    (0..lines).map(|line| format!("line {line}\n")).collect()
}

fn is_page(response: &ReadResponse, text: &str, expected: Option<LineWindow>) -> CaseResult {
    check_eq("the text", &page_text(response)?, &text)?;
    check_eq("the window", &response.window, &expected)
}

async fn whole_file(context: &CaseContext<'_>) -> CaseResult {
    context.put("a", "  one\n\ttwo\n3: three\n").await?;
    let response = context.read("a").await?;
    is_page(&response, "  one\n\ttwo\n3: three\n", window(1, 3, 3))?;
    check_eq("next_offset", &response.window.and_then(|window| window.next_offset()), &None)
}

async fn page(context: &CaseContext<'_>) -> CaseResult {
    context.put("a", "1\n2\n3\n4\n5\n6\n").await?;
    let response = context.read_page("a", 2, 2).await?;
    is_page(&response, inner(context, "3\n4\n"), window(3, 4, 6))?;
    check_eq("next_offset", &response.window.and_then(|window| window.next_offset()), &Some(4))
}

async fn last_page(context: &CaseContext<'_>) -> CaseResult {
    context.put("a", "1\n2\n3\n").await?;
    is_page(&context.read_page("a", 1, 2).await?, "2\n3\n", window(2, 3, 3))?;
    is_page(&context.read_page("a", 2, 1000).await?, "3\n", window(3, 3, 3))
}

async fn pages(context: &CaseContext<'_>) -> CaseResult {
    let file = numbered(250) + "\n\nan end without a line end";
    context.put("a", file.clone()).await?;
    let (mut pages, mut offset) = (Vec::new(), Some(0));
    while let Some(from) = offset {
        let response = context.read_page("a", from, 60).await?;
        pages.push(page_text(&response)?.to_owned());
        offset = response.window.and_then(|window| window.next_offset());
        if pages.len() > 10 || offset.is_some_and(|next| next <= from) {
            return Err(CaseFailure::new(
                "pages with increasing offsets",
                format!("page {} starts at {offset:?}", pages.len()),
            ));
        }
    }
    check_eq("number of pages", &pages.len(), &5)?;
    let joint = if context.dialect().omits_page_separator() { "\n" } else { "" };
    check_eq("the concatenated pages", &pages.join(joint), &file)
}

async fn last_line(context: &CaseContext<'_>) -> CaseResult {
    for (name, content) in [("with", "a\nb\n"), ("without", "a\nb")] {
        context.put(name, content).await?;
        is_page(&context.read(name).await?, content, window(1, 2, 2))?;
    }
    Ok(())
}

async fn blank_lines(context: &CaseContext<'_>) -> CaseResult {
    context.put("a", "\n\n\n\n\n").await?;
    is_page(&context.read("a").await?, "\n\n\n\n\n", window(1, 5, 5))
}

async fn default_limit(context: &CaseContext<'_>) -> CaseResult {
    let limit = context.dialect().read_limit();
    context.put("a", numbered(limit + 7)).await?;
    is_page(&context.read("a").await?, inner(context, &numbered(limit)), window(1, limit, limit + 7))
}

async fn no_lines(context: &CaseContext<'_>) -> CaseResult {
    context.put("a", "1\n2\n").await?;
    let response = context.read_page("a", 0, 0).await?;
    is_page(&response, "", None)?;
    check_eq("no_lines_requested", &response.no_lines_requested, &true)
}

async fn empty(context: &CaseContext<'_>) -> CaseResult {
    context.put("a", "").await?;
    for offset in [0, 7] {
        let response = context.read_page("a", offset, 100).await?;
        check_eq("the text", &page_text(&response)?, &"")?;
        check_eq("is_empty_file", &response.is_empty_file(), &true)?;
        check_eq("the window", &response.window, &None)?;
    }
    Ok(())
}

async fn unicode(context: &CaseContext<'_>) -> CaseResult {
    let file = "héllo 👋\n世界 مرحبا\nПривет \u{10ffff}\n";
    context.put("a", file).await?;
    is_page(&context.read("a").await?, file, window(1, 3, 3))
}

async fn crlf_as_it_is(context: &CaseContext<'_>) -> CaseResult {
    context.put("a", "a\r\nb\r\nc").await?;
    is_page(&context.read("a").await?, "a\r\nb\r\nc", window(1, 3, 3))
}

async fn crlf_as_lf(context: &CaseContext<'_>) -> CaseResult {
    context.put("a", "a\r\nb\r\nc").await?;
    is_page(&context.read("a").await?, "a\nb\nc", window(1, 3, 3))?;
    is_page(&context.read_page("a", 0, 2).await?, "a\nb", window(1, 2, 3))
}

async fn long_line(context: &CaseContext<'_>) -> CaseResult {
    let file = format!("short\n{}\nshort\n", "x".repeat(3000));
    context.put("a", file.clone()).await?;
    is_page(&context.read("a").await?, &file, window(1, 3, 3))
}

async fn long_page(context: &CaseContext<'_>) -> CaseResult {
    let line = format!("{}\n", "x".repeat(8191));
    context.put("a", line.repeat(100)).await?;
    let response = context.read_page("a", 0, 100).await?;
    let shown = page_text(&response)?.len();
    check("at most 500 KiB of text", shown <= PAGE_BYTES, &shown)?;
    let Some(window) = response.window else { return Err(CaseFailure::new("a window", "none")) };
    let lines = (shown as u64).div_ceil(8192);
    check_eq("the lines of the window", &(window.start, window.end, window.total), &(1, lines, 100))?;
    let next = context.read_page("a", window.end, 1).await?;
    check_eq("the start of the next page", &next.window.map(|window| window.start), &Some(lines + 1))
}

async fn longest_line(context: &CaseContext<'_>) -> CaseResult {
    context.put("a", format!("{}\nnext\n", "x".repeat(700_000))).await?;
    let response = context.read_page("a", 0, 10).await?;
    check_eq("line_cut", &response.line_truncated, &true)?;
    check_eq("the window", &response.window, &window(1, 1, 2))?;
    let shown = page_text(&response)?.len();
    check("at least 1 byte and at most 500 KiB of text", shown <= PAGE_BYTES && shown > 0, &shown)
}

async fn large_file(context: &CaseContext<'_>) -> CaseResult {
    let file: String = (0..100_000).map(|line| format!("{line:06} {}\n", "x".repeat(43))).collect();
    context.put("a", file).await?;
    let response = context.read_page("a", 99_990, 3).await?;
    check_eq("the window", &response.window, &window(99_991, 99_993, 100_000))?;
    let shown = page_text(&response)?;
    check("the page starts with line 99990", shown.starts_with("099990 x"), &shown)
}

async fn link(context: &CaseContext<'_>) -> CaseResult {
    context.put("a", "target of the link\n").await?;
    context.output("ln -s a link").await?;
    is_page(&context.read("link").await?, "target of the link\n", window(1, 1, 1))
}
