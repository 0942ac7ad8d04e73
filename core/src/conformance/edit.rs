//! Replacing strings in files.

pub(super) mod errors;

use super::capabilities::Requirement::{self, Execute, FileBytes, Modes};
use super::case::{Case, cases};
use super::context::CaseContext;
use super::failure::{CaseResult, check_eq};
use crate::dialect::Dialect;
use crate::file::{EditRequest, EditResponse};

const FILLS: Requirement = Requirement::Dialect(Dialect::edit_fills_empty_file, "does not fill empty files");

pub(super) const CASES: &[Case] = cases![
    "edit: a single occurrence is replaced and counted" [] one;
    "edit: replace_all replaces and counts every occurrence" [] all;
    "edit: both strings are literal" [] literal;
    "edit: a string may span lines" [] lines;
    "edit: non-ASCII text is found and replaced" [] unicode;
    "edit: the replacement may be empty" [] removes;
    "edit: a final newline is neither added nor removed" [] last_line;
    "edit: LF in the request matches CRLF in the file, which is kept" [] lf_in_crlf;
    "edit: CRLF in the request matches LF in the file, which is kept" [] crlf_in_lf;
    "edit: an exact match takes precedence over line ending conversion" [] crlf_as_given;
    "edit: an empty file is filled by replacing the empty string" [FILLS] fills;
    "edit: an edited file keeps its mode" [Modes, Execute] keeps_mode;
    "edit: five megabytes can be edited" [FileBytes(6 << 20)] large;
];

async fn edit(context: &CaseContext<'_>, name: &str, old: &str, new: &str) -> CaseResult<EditResponse> {
    Ok(context.backend.edit(EditRequest::new(context.path(name)?, old, new)).await??)
}

/// Edits a file with this content and checks the result.
async fn becomes(context: &CaseContext<'_>, content: &str, (old, new): (&str, &str), expected: &str) -> CaseResult {
    context.put("a", content).await?;
    check_eq("occurrences", &edit(context, "a", old, new).await?.occurrences, &1)?;
    check_eq("the file", &context.get_text("a").await?, &expected)
}

async fn one(context: &CaseContext<'_>) -> CaseResult {
    context.put("a", "Hello world\nGoodbye world\n").await?;
    let edited = edit(context, "a", "Goodbye", "Farewell").await?;
    check_eq("the response", &edited, &EditResponse { path: context.path("a")?, occurrences: 1 })?;
    check_eq("the file", &context.get_text("a").await?, &"Hello world\nFarewell world\n")
}

async fn all(context: &CaseContext<'_>) -> CaseResult {
    context.put("a", "apple\nbanana apple\napple").await?;
    let request = EditRequest::new(context.path("a")?, "apple", "pear").all();
    check_eq("occurrences", &context.backend.edit(request).await??.occurrences, &3)?;
    check_eq("the file", &context.get_text("a").await?, &"pear\nbanana pear\npear")
}

async fn literal(context: &CaseContext<'_>) -> CaseResult {
    becomes(
        context,
        "Price: $100.00 [a-z]* end",
        ("$100.00 [a-z]*", "$& \\1 'x' \"y\" $(z)"),
        "Price: $& \\1 'x' \"y\" $(z) end",
    )
    .await
}

async fn lines(context: &CaseContext<'_>) -> CaseResult {
    becomes(context, "1\n2\n3\n", ("1\n2\n", "one\n\ntwo\n"), "one\n\ntwo\n3\n").await
}

async fn unicode(context: &CaseContext<'_>) -> CaseResult {
    becomes(context, "a 👋 世界 é", ("👋 世界", "🌍"), "a 🌍 é").await
}

async fn removes(context: &CaseContext<'_>) -> CaseResult {
    becomes(context, "keep drop keep", (" drop", ""), "keep keep").await
}

async fn last_line(context: &CaseContext<'_>) -> CaseResult {
    becomes(context, "a\nb", ("b", "c"), "a\nc").await?;
    becomes(context, "a\nb\n", ("b", "c"), "a\nc\n").await
}

async fn lf_in_crlf(context: &CaseContext<'_>) -> CaseResult {
    becomes(context, "a\r\nb\r\nc\r\n", ("a\nb\n", "x\ny\n"), "x\r\ny\r\nc\r\n").await
}

async fn crlf_in_lf(context: &CaseContext<'_>) -> CaseResult {
    becomes(context, "a\nb\nc\n", ("a\r\nb\r\n", "x\r\ny\r\n"), "x\ny\nc\n").await
}

async fn crlf_as_given(context: &CaseContext<'_>) -> CaseResult {
    becomes(context, "a\r\nb\r\nc\n", ("a\r\nb", "a\nb"), "a\nb\r\nc\n").await
}

async fn fills(context: &CaseContext<'_>) -> CaseResult {
    context.put("a", "").await?;
    edit(context, "a", "", "filled").await?;
    check_eq("the file", &context.get_text("a").await?, &"filled")
}

async fn keeps_mode(context: &CaseContext<'_>) -> CaseResult {
    context.put("a", "first").await?;
    context.output("chmod 600 a").await?;
    edit(context, "a", "first", "second").await?;
    check_eq("the mode and the file", &context.output("ls -l a | cut -c1-10; cat a").await?, &"-rw-------\nsecond")
}

async fn large(context: &CaseContext<'_>) -> CaseResult {
    let half = "some line of text\n".repeat(150_000);
    context.put("a", format!("{half}needle\n{half}")).await?;
    edit(context, "a", "needle\n", "thread of another length\n").await?;
    let got = context.get("a").await?;
    check_eq("bytes", &got.len(), &(2 * half.len() + 25))?;
    let middle = got.get(half.len()..half.len() + 25);
    check_eq("the replaced line", &middle, &Some(b"thread of another length\n".as_slice()))
}
