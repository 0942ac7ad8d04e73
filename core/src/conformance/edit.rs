//! Replacing strings in files.

pub(super) mod refusal;

use super::capabilities::Need::{self, Execute, FileBytes, Modes};
use super::case::{Case, cases};
use super::fault::{Verdict, same};
use super::ground::Ground;
use crate::dialect::Dialect;
use crate::file::{EditRequest, EditResponse};

const FILLS: Need = Need::Dialect(Dialect::edit_fills_empty_file, "does not fill empty files");

pub(super) const CASES: &[Case] = cases![
    "edit: the one occurrence is replaced and counted" [] one;
    "edit: every occurrence is replaced on request, and counted" [] all;
    "edit: strings are literal, also the new one" [] literal;
    "edit: a string may span lines" [] lines;
    "edit: text beyond ASCII is found and replaced" [] unicode;
    "edit: nothing is a string to replace with" [] removes;
    "edit: a line end at the end is neither added nor lost" [] last_line;
    "edit: lines with LF are found in a file with CRLF, which keeps it" [] lf_in_crlf;
    "edit: lines with CRLF are found in a file with LF, which keeps it" [] crlf_in_lf;
    "edit: a string that is there as it is given is replaced as it is" [] crlf_as_given;
    "edit: an empty file is filled by replacing nothing" [FILLS] fills;
    "edit: an edited file keeps its mode" [Modes, Execute] keeps_mode;
    "edit: five megabytes can be edited" [FileBytes(6 << 20)] large;
];

async fn edit(ground: &Ground<'_>, name: &str, old: &str, new: &str) -> Verdict<EditResponse> {
    Ok(ground.backend.edit(EditRequest::new(ground.path(name)?, old, new)).await??)
}

/// Edits a file of this content and holds the result.
async fn becomes(ground: &Ground<'_>, content: &str, (old, new): (&str, &str), expected: &str) -> Verdict {
    ground.put("a", content).await?;
    same("occurrences", &edit(ground, "a", old, new).await?.occurrences, &1)?;
    same("the file", &ground.get_text("a").await?, &expected)
}

async fn one(ground: &Ground<'_>) -> Verdict {
    ground.put("a", "Hello world\nGoodbye world\n").await?;
    let edited = edit(ground, "a", "Goodbye", "Farewell").await?;
    same("the response", &edited, &EditResponse { path: ground.path("a")?, occurrences: 1 })?;
    same("the file", &ground.get_text("a").await?, &"Hello world\nFarewell world\n")
}

async fn all(ground: &Ground<'_>) -> Verdict {
    ground.put("a", "apple\nbanana apple\napple").await?;
    let request = EditRequest::new(ground.path("a")?, "apple", "pear").all();
    same("occurrences", &ground.backend.edit(request).await??.occurrences, &3)?;
    same("the file", &ground.get_text("a").await?, &"pear\nbanana pear\npear")
}

async fn literal(ground: &Ground<'_>) -> Verdict {
    becomes(
        ground,
        "Price: $100.00 [a-z]* end",
        ("$100.00 [a-z]*", "$& \\1 'x' \"y\" $(z)"),
        "Price: $& \\1 'x' \"y\" $(z) end",
    )
    .await
}

async fn lines(ground: &Ground<'_>) -> Verdict {
    becomes(ground, "1\n2\n3\n", ("1\n2\n", "one\n\ntwo\n"), "one\n\ntwo\n3\n").await
}

async fn unicode(ground: &Ground<'_>) -> Verdict {
    becomes(ground, "a 👋 世界 é", ("👋 世界", "🌍"), "a 🌍 é").await
}

async fn removes(ground: &Ground<'_>) -> Verdict {
    becomes(ground, "keep drop keep", (" drop", ""), "keep keep").await
}

async fn last_line(ground: &Ground<'_>) -> Verdict {
    becomes(ground, "a\nb", ("b", "c"), "a\nc").await?;
    becomes(ground, "a\nb\n", ("b", "c"), "a\nc\n").await
}

async fn lf_in_crlf(ground: &Ground<'_>) -> Verdict {
    becomes(ground, "a\r\nb\r\nc\r\n", ("a\nb\n", "x\ny\n"), "x\r\ny\r\nc\r\n").await
}

async fn crlf_in_lf(ground: &Ground<'_>) -> Verdict {
    becomes(ground, "a\nb\nc\n", ("a\r\nb\r\n", "x\r\ny\r\n"), "x\ny\nc\n").await
}

async fn crlf_as_given(ground: &Ground<'_>) -> Verdict {
    becomes(ground, "a\r\nb\r\nc\n", ("a\r\nb", "a\nb"), "a\nb\r\nc\n").await
}

async fn fills(ground: &Ground<'_>) -> Verdict {
    ground.put("a", "").await?;
    edit(ground, "a", "", "filled").await?;
    same("the file", &ground.get_text("a").await?, &"filled")
}

async fn keeps_mode(ground: &Ground<'_>) -> Verdict {
    ground.put("a", "first").await?;
    ground.output("chmod 600 a").await?;
    edit(ground, "a", "first", "second").await?;
    same("the mode and the file", &ground.output("ls -l a | cut -c1-10; cat a").await?, &"-rw-------\nsecond")
}

async fn large(ground: &Ground<'_>) -> Verdict {
    let half = "some line of text\n".repeat(150_000);
    ground.put("a", format!("{half}needle\n{half}")).await?;
    edit(ground, "a", "needle\n", "thread of another length\n").await?;
    let got = ground.get("a").await?;
    same("bytes", &got.len(), &(2 * half.len() + 25))?;
    let middle = got.get(half.len()..half.len() + 25);
    same("the replaced line", &middle, &Some(b"thread of another length\n".as_slice()))
}
