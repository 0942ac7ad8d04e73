//! Reading text page by page.

pub(super) mod kind;
pub(super) mod refusal;

use super::capabilities::Need::{self, Execute, FileBytes, Symlinks};
use super::case::{Case, cases};
use super::fault::{Fault, Verdict, holds, same};
use super::ground::{Ground, page_text};
use crate::dialect::Dialect;
use crate::file::{LineWindow, ReadResponse};
use crate::page::PAGE_BYTES;

const SHOWS_CRLF: Need = Need::Dialect(|dialect| !dialect.reads_crlf_as_lf(), "shows LF");
const SHOWS_LF: Need = Need::Dialect(Dialect::reads_crlf_as_lf, "shows CRLF");

pub(super) const CASES: &[Case] = cases![
    "read: a small file comes whole, as it is, with its window" [] whole;
    "read: a page holds the lines asked for, and its window says which" [] page;
    "read: a page that reaches the end says that nothing follows" [] last_page;
    "read: pages, each begun where the one before said, are the file" [] pages;
    "read: the last line counts with and without its line end" [] last_line;
    "read: lines of nothing are lines" [] blank_lines;
    "read: without a limit a page has the dialect's length" [] default_limit;
    "read: no lines asked for are none, and no error" [] no_lines;
    "read: an empty file says that it is empty, wherever the page begins" [] empty;
    "read: text beyond ASCII arrives unharmed" [] unicode;
    "read: carriage returns are shown as they are" [SHOWS_CRLF] crlf_as_it_is;
    "read: carriage returns before line ends are left out" [SHOWS_LF] crlf_as_lf;
    "read: a line of 3,000 characters is whole" [] long_line;
    "read: a page of more than 500 KiB ends at a whole line, and the next goes on there" [] long_page;
    "read: a line of more than 500 KiB is cut and says so" [] longest_line;
    "read: a page near the end of five megabytes is the right one" [FileBytes(6_000_000)] large_file;
    "read: a link is followed" [Symlinks, Execute] link;
];

fn window(start: u64, end: u64, total: u64) -> Option<LineWindow> {
    Some(LineWindow { start, end, total })
}

/// What the dialect shows of a page that others follow.
fn inner<'t>(ground: &Ground<'_>, text: &'t str) -> &'t str {
    if ground.dialect().line_ends_separate_pages() { text.strip_suffix('\n').unwrap_or(text) } else { text }
}

fn numbered(lines: u64) -> String {
    (0..lines).map(|line| format!("line {line}\n")).collect()
}

fn is_page(response: &ReadResponse, text: &str, expected: Option<LineWindow>) -> Verdict {
    same("the text", &page_text(response)?, &text)?;
    same("the window", &response.window, &expected)
}

async fn whole(ground: &Ground<'_>) -> Verdict {
    ground.put("a", "  one\n\ttwo\n3: three\n").await?;
    let response = ground.read("a").await?;
    is_page(&response, "  one\n\ttwo\n3: three\n", window(1, 3, 3))?;
    same("next_offset", &response.window.and_then(|window| window.next_offset()), &None)
}

async fn page(ground: &Ground<'_>) -> Verdict {
    ground.put("a", "1\n2\n3\n4\n5\n6\n").await?;
    let response = ground.read_page("a", 2, 2).await?;
    is_page(&response, inner(ground, "3\n4\n"), window(3, 4, 6))?;
    same("next_offset", &response.window.and_then(|window| window.next_offset()), &Some(4))
}

async fn last_page(ground: &Ground<'_>) -> Verdict {
    ground.put("a", "1\n2\n3\n").await?;
    is_page(&ground.read_page("a", 1, 2).await?, "2\n3\n", window(2, 3, 3))?;
    is_page(&ground.read_page("a", 2, 1000).await?, "3\n", window(3, 3, 3))
}

async fn pages(ground: &Ground<'_>) -> Verdict {
    let file = numbered(250) + "\n\nan end without a line end";
    ground.put("a", file.clone()).await?;
    let (mut pages, mut offset) = (Vec::new(), Some(0));
    while let Some(from) = offset {
        let response = ground.read_page("a", from, 60).await?;
        pages.push(page_text(&response)?.to_owned());
        offset = response.window.and_then(|window| window.next_offset());
        if pages.len() > 10 || offset.is_some_and(|next| next <= from) {
            return Err(Fault::new("pages that go on", format!("page {} begins at {offset:?}", pages.len())));
        }
    }
    same("how many pages", &pages.len(), &5)?;
    let joint = if ground.dialect().line_ends_separate_pages() { "\n" } else { "" };
    same("the pages put together", &pages.join(joint), &file)
}

async fn last_line(ground: &Ground<'_>) -> Verdict {
    for (name, content) in [("with", "a\nb\n"), ("without", "a\nb")] {
        ground.put(name, content).await?;
        is_page(&ground.read(name).await?, content, window(1, 2, 2))?;
    }
    Ok(())
}

async fn blank_lines(ground: &Ground<'_>) -> Verdict {
    ground.put("a", "\n\n\n\n\n").await?;
    is_page(&ground.read("a").await?, "\n\n\n\n\n", window(1, 5, 5))
}

async fn default_limit(ground: &Ground<'_>) -> Verdict {
    let limit = ground.dialect().read_limit();
    ground.put("a", numbered(limit + 7)).await?;
    is_page(&ground.read("a").await?, inner(ground, &numbered(limit)), window(1, limit, limit + 7))
}

async fn no_lines(ground: &Ground<'_>) -> Verdict {
    ground.put("a", "1\n2\n").await?;
    let response = ground.read_page("a", 0, 0).await?;
    is_page(&response, "", None)?;
    same("no_lines_requested", &response.no_lines_requested, &true)
}

async fn empty(ground: &Ground<'_>) -> Verdict {
    ground.put("a", "").await?;
    for offset in [0, 7] {
        let response = ground.read_page("a", offset, 100).await?;
        same("the text", &page_text(&response)?, &"")?;
        same("is_empty_file", &response.is_empty_file(), &true)?;
        same("the window", &response.window, &None)?;
    }
    Ok(())
}

async fn unicode(ground: &Ground<'_>) -> Verdict {
    let file = "héllo 👋\n世界 مرحبا\nПривет \u{10ffff}\n";
    ground.put("a", file).await?;
    is_page(&ground.read("a").await?, file, window(1, 3, 3))
}

async fn crlf_as_it_is(ground: &Ground<'_>) -> Verdict {
    ground.put("a", "a\r\nb\r\nc").await?;
    is_page(&ground.read("a").await?, "a\r\nb\r\nc", window(1, 3, 3))
}

async fn crlf_as_lf(ground: &Ground<'_>) -> Verdict {
    ground.put("a", "a\r\nb\r\nc").await?;
    is_page(&ground.read("a").await?, "a\nb\nc", window(1, 3, 3))?;
    is_page(&ground.read_page("a", 0, 2).await?, "a\nb", window(1, 2, 3))
}

async fn long_line(ground: &Ground<'_>) -> Verdict {
    let file = format!("short\n{}\nshort\n", "x".repeat(3000));
    ground.put("a", file.clone()).await?;
    is_page(&ground.read("a").await?, &file, window(1, 3, 3))
}

async fn long_page(ground: &Ground<'_>) -> Verdict {
    let line = format!("{}\n", "x".repeat(8191));
    ground.put("a", line.repeat(100)).await?;
    let response = ground.read_page("a", 0, 100).await?;
    let shown = page_text(&response)?.len();
    holds("at most 500 KiB of text", shown <= PAGE_BYTES, &shown)?;
    let Some(window) = response.window else { return Err(Fault::new("a window", "none")) };
    let lines = (shown as u64).div_ceil(8192);
    same("the lines of the window", &(window.start, window.end, window.total), &(1, lines, 100))?;
    let next = ground.read_page("a", window.end, 1).await?;
    same("where the next page begins", &next.window.map(|window| window.start), &Some(lines + 1))
}

async fn longest_line(ground: &Ground<'_>) -> Verdict {
    ground.put("a", format!("{}\nnext\n", "x".repeat(700_000))).await?;
    let response = ground.read_page("a", 0, 10).await?;
    same("line_cut", &response.line_cut, &true)?;
    same("the window", &response.window, &window(1, 1, 2))?;
    let shown = page_text(&response)?.len();
    holds("at most 500 KiB of text, and not nothing", shown <= PAGE_BYTES && shown > 0, &shown)
}

async fn large_file(ground: &Ground<'_>) -> Verdict {
    let file: String = (0..100_000).map(|line| format!("{line:06} {}\n", "x".repeat(43))).collect();
    ground.put("a", file).await?;
    let response = ground.read_page("a", 99_990, 3).await?;
    same("the window", &response.window, &window(99_991, 99_993, 100_000))?;
    let shown = page_text(&response)?;
    holds("it begins with line 99990", shown.starts_with("099990 x"), &shown)
}

async fn link(ground: &Ground<'_>) -> Verdict {
    ground.put("a", "behind the link\n").await?;
    ground.output("ln -s a link").await?;
    is_page(&ground.read("link").await?, "behind the link\n", window(1, 1, 1))
}
