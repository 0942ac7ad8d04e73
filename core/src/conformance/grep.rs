//! Finding lines by a literal string.

pub(super) mod scope;

use super::case::{Case, cases};
use super::fault::{Verdict, same, text};
use super::ground::{Ground, refused};
use crate::error::FileErrorCode;
use crate::search::{GrepRequest, GrepResponse, Truncation};

pub(super) const CASES: &[Case] = cases![
    "grep: lines are found with whole paths and numbers from 1" [] lines;
    "grep: a line is found once, however often it matches" [] once;
    "grep: the pattern is literal" [] literal;
    "grep: the pattern's case counts" [] case_counts;
    "grep: text beyond ASCII is found" [] unicode;
    "grep: a pattern may look like an option or like shell" [] like_an_option;
    "grep: the last line needs no line end" [] last_line;
    "grep: nothing found is an empty list" [] nothing;
    "grep: a pattern that spans lines is refused" [] two_lines;
    "grep: matches up to the count are all there is" [] count_exact;
    "grep: one match over the count marks the result as cut" [] count_over;
    "grep: a line near the end of 100,000 has its number" [] far_line;
];

fn search(ground: &Ground<'_>, pattern: &str) -> GrepRequest {
    GrepRequest::new(pattern, ground.dir.clone())
}

async fn grep(ground: &Ground<'_>, request: GrepRequest) -> Verdict<GrepResponse> {
    Ok(ground.backend.grep(request).await??)
}

/// The matches as `name:line:text`, the names relative to the case's directory.
async fn found(ground: &Ground<'_>, request: GrepRequest) -> Verdict<Vec<String>> {
    let response = grep(ground, request).await?;
    same("truncated", &response.truncated, &None)?;
    let base = ground.full("");
    let line = |found: crate::search::GrepMatch| {
        let name = found.path.strip_prefix(base.as_slice()).map_or_else(|| text(&found.path), text);
        format!("{name}:{}:{}", found.line, text(&found.text))
    };
    Ok(response.matches.into_iter().map(line).collect())
}

async fn finds(ground: &Ground<'_>, pattern: &str, expected: &[&str]) -> Verdict {
    same(&format!("lines with {pattern:?}"), &found(ground, search(ground, pattern)).await?, &expected)
}

async fn lines(ground: &Ground<'_>) -> Verdict {
    ground.put("b.txt", "Hello there\n\nGoodbye\nHello again\n").await?;
    ground.put("a.txt", "none\nHello\n").await?;
    finds(ground, "Hello", &["a.txt:2:Hello", "b.txt:1:Hello there", "b.txt:4:Hello again"]).await
}

async fn once(ground: &Ground<'_>) -> Verdict {
    ground.put("a", "xx x xx\n").await?;
    finds(ground, "x", &["a:1:xx x xx"]).await
}

async fn literal(ground: &Ground<'_>) -> Verdict {
    ground.put("a", "test123\nPrice: $100\n[a-z]*\nstr | int\na (b)\na.c\nabc\n^x$\n\\d\n").await?;
    for (pattern, line) in
        [("$100", "2:Price: $100"), ("[a-z]*", "3:[a-z]*"), ("str | int", "4:str | int"), ("a (b)", "5:a (b)")]
    {
        finds(ground, pattern, &[&format!("a:{line}")]).await?;
    }
    finds(ground, "a.c", &["a:6:a.c"]).await?;
    finds(ground, "^x$", &["a:8:^x$"]).await?;
    finds(ground, "\\d", &["a:9:\\d"]).await
}

async fn case_counts(ground: &Ground<'_>) -> Verdict {
    ground.put("a", "Hello\nhello\nHELLO\n").await?;
    finds(ground, "hello", &["a:2:hello"]).await
}

async fn unicode(ground: &Ground<'_>) -> Verdict {
    ground.put("a", "Hello 世界\nПривет\n👋\n").await?;
    finds(ground, "世", &["a:1:Hello 世界"]).await?;
    finds(ground, "👋", &["a:3:👋"]).await
}

async fn like_an_option(ground: &Ground<'_>) -> Verdict {
    ground.put("a", "--help\n'; echo x; '\n$(id)\n\"`\n").await?;
    finds(ground, "--help", &["a:1:--help"]).await?;
    finds(ground, "'; echo", &["a:2:'; echo x; '"]).await?;
    finds(ground, "$(id)", &["a:3:$(id)"]).await?;
    finds(ground, "\"`", &["a:4:\"`"]).await
}

async fn last_line(ground: &Ground<'_>) -> Verdict {
    ground.put("a", "one\nneedle").await?;
    finds(ground, "needle", &["a:2:needle"]).await
}

async fn nothing(ground: &Ground<'_>) -> Verdict {
    ground.put("a", "one\n").await?;
    finds(ground, "needle", &[]).await?;
    ground.put("b", "").await?;
    ground.make_dir("d").await?;
    same(
        "in an empty directory",
        &found(ground, GrepRequest::new("x", ground.path("d")?)).await?,
        &Vec::<String>::new(),
    )
}

async fn two_lines(ground: &Ground<'_>) -> Verdict {
    ground.put("a", "one\ntwo\n").await?;
    let error = refused("grep", ground.backend.grep(search(ground, "one\ntwo")).await)?;
    same("the code", &error.code, &FileErrorCode::InvalidPattern)
}

async fn count_exact(ground: &Ground<'_>) -> Verdict {
    ground.put_names(&["a", "b"], "x\nx\n").await?;
    let response = grep(ground, search(ground, "x").with_max_count(4)).await?;
    same("matches and truncated", &(response.matches.len(), response.truncated), &(4, None))
}

async fn count_over(ground: &Ground<'_>) -> Verdict {
    ground.put_names(&["a", "b"], "x\nx\n").await?;
    for count in [1, 3] {
        let response = grep(ground, search(ground, "x").with_max_count(count)).await?;
        let expected = (count, Some(Truncation::MaxCount));
        same("matches and truncated", &(response.matches.len(), response.truncated), &expected)?;
    }
    Ok(())
}

async fn far_line(ground: &Ground<'_>) -> Verdict {
    let file: String = (1..=100_000).map(|line| format!("line {line} of it\n")).collect();
    ground.put("a", file).await?;
    finds(ground, "line 99999 of", &["a:99999:line 99999 of it"]).await
}
