//! Finding lines by a literal string.

pub(super) mod scope;

use super::case::{Case, cases};
use super::context::{CaseContext, expect_error};
use super::failure::{CaseResult, check_eq, text};
use crate::error::FileErrorCode;
use crate::search::{GrepRequest, GrepResponse, Truncation};

pub(super) const CASES: &[Case] = cases![
    "grep: matches have absolute paths and line numbers from 1" [] lines;
    "grep: a line with several matches is returned once" [] once;
    "grep: the pattern is literal" [] literal;
    "grep: the pattern is case-sensitive" [] case_counts;
    "grep: non-ASCII text is found" [] unicode;
    "grep: a pattern may look like an option or like shell" [] like_an_option;
    "grep: a last line without a newline is found" [] last_line;
    "grep: no match returns an empty list" [] nothing;
    "grep: a pattern with a newline is rejected" [] two_lines;
    "grep: matches up to the limit are all returned" [] count_exact;
    "grep: one match over the limit marks the result as truncated" [] count_over;
    "grep: line numbers are correct in a file of 100,000 lines" [] far_line;
];

fn search(context: &CaseContext<'_>, pattern: &str) -> GrepRequest {
    GrepRequest::new(pattern, context.dir.clone())
}

async fn grep(context: &CaseContext<'_>, request: GrepRequest) -> CaseResult<GrepResponse> {
    Ok(context.backend.grep(request).await??)
}

/// Returns the matches as `name:line:text`, with names relative to the case's directory.
async fn search_lines(context: &CaseContext<'_>, request: GrepRequest) -> CaseResult<Vec<String>> {
    let response = grep(context, request).await?;
    check_eq("truncated", &response.truncated, &None)?;
    let base = context.full("");
    let line = |found: crate::search::GrepMatch| {
        let name = found.path.strip_prefix(base.as_slice()).map_or_else(|| text(&found.path), text);
        format!("{name}:{}:{}", found.line, text(&found.text))
    };
    Ok(response.matches.into_iter().map(line).collect())
}

async fn finds(context: &CaseContext<'_>, pattern: &str, expected: &[&str]) -> CaseResult {
    check_eq(&format!("lines with {pattern:?}"), &search_lines(context, search(context, pattern)).await?, &expected)
}

async fn lines(context: &CaseContext<'_>) -> CaseResult {
    context.put("b.txt", "Hello there\n\nGoodbye\nHello again\n").await?;
    context.put("a.txt", "none\nHello\n").await?;
    finds(context, "Hello", &["a.txt:2:Hello", "b.txt:1:Hello there", "b.txt:4:Hello again"]).await
}

async fn once(context: &CaseContext<'_>) -> CaseResult {
    context.put("a", "xx x xx\n").await?;
    finds(context, "x", &["a:1:xx x xx"]).await
}

async fn literal(context: &CaseContext<'_>) -> CaseResult {
    context.put("a", "test123\nPrice: $100\n[a-z]*\nstr | int\na (b)\na.c\nabc\n^x$\n\\d\n").await?;
    for (pattern, line) in
        [("$100", "2:Price: $100"), ("[a-z]*", "3:[a-z]*"), ("str | int", "4:str | int"), ("a (b)", "5:a (b)")]
    {
        finds(context, pattern, &[&format!("a:{line}")]).await?;
    }
    finds(context, "a.c", &["a:6:a.c"]).await?;
    finds(context, "^x$", &["a:8:^x$"]).await?;
    finds(context, "\\d", &["a:9:\\d"]).await
}

async fn case_counts(context: &CaseContext<'_>) -> CaseResult {
    context.put("a", "Hello\nhello\nHELLO\n").await?;
    finds(context, "hello", &["a:2:hello"]).await
}

async fn unicode(context: &CaseContext<'_>) -> CaseResult {
    context.put("a", "Hello 世界\nПривет\n👋\n").await?;
    finds(context, "世", &["a:1:Hello 世界"]).await?;
    finds(context, "👋", &["a:3:👋"]).await
}

async fn like_an_option(context: &CaseContext<'_>) -> CaseResult {
    context.put("a", "--help\n'; echo x; '\n$(id)\n\"`\n").await?;
    finds(context, "--help", &["a:1:--help"]).await?;
    finds(context, "'; echo", &["a:2:'; echo x; '"]).await?;
    finds(context, "$(id)", &["a:3:$(id)"]).await?;
    finds(context, "\"`", &["a:4:\"`"]).await
}

async fn last_line(context: &CaseContext<'_>) -> CaseResult {
    context.put("a", "one\nneedle").await?;
    finds(context, "needle", &["a:2:needle"]).await
}

async fn nothing(context: &CaseContext<'_>) -> CaseResult {
    context.put("a", "one\n").await?;
    finds(context, "needle", &[]).await?;
    context.put("b", "").await?;
    context.make_dir("d").await?;
    check_eq(
        "in an empty directory",
        &search_lines(context, GrepRequest::new("x", context.path("d")?)).await?,
        &Vec::<String>::new(),
    )
}

async fn two_lines(context: &CaseContext<'_>) -> CaseResult {
    context.put("a", "one\ntwo\n").await?;
    let error = expect_error("grep", context.backend.grep(search(context, "one\ntwo")).await)?;
    check_eq("the code", &error.code, &FileErrorCode::InvalidPattern)
}

async fn count_exact(context: &CaseContext<'_>) -> CaseResult {
    context.put_names(&["a", "b"], "x\nx\n").await?;
    let response = grep(context, search(context, "x").with_max_count(4)).await?;
    check_eq("matches and truncated", &(response.matches.len(), response.truncated), &(4, None))
}

async fn count_over(context: &CaseContext<'_>) -> CaseResult {
    context.put_names(&["a", "b"], "x\nx\n").await?;
    for count in [1, 3] {
        let response = grep(context, search(context, "x").with_max_count(count)).await?;
        let expected = (count, Some(Truncation::MaxCount));
        check_eq("matches and truncated", &(response.matches.len(), response.truncated), &expected)?;
    }
    Ok(())
}

async fn far_line(context: &CaseContext<'_>) -> CaseResult {
    let file: String = (1..=100_000).map(|line| format!("line {line} of it\n")).collect();
    context.put("a", file).await?;
    finds(context, "line 99999 of", &["a:99999:line 99999 of it"]).await
}
