//! Extracts the parts of files that rules apply to: comments, code, names of tests, paragraphs of Markdown.

use std::sync::LazyLock;

use regex::Regex;

/// A marker that exempts its line.
const ALLOW: &str = "words: allow";

/// Lines of one kind that belong together, joined by newlines.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Paragraph {
    pub(super) text: String,
    /// The number of the first line in the file, from 1.
    first_line: usize,
}

impl Paragraph {
    /// Returns the line number of byte `offset` of `text` in the file, from 1. `text` is the paragraph with parts of lines
    /// replaced.
    pub(super) fn line_at(&self, text: &str, offset: usize) -> usize {
        let before = text.bytes().take(offset).filter(|byte| *byte == b'\n').count();
        self.first_line.saturating_add(before)
    }
}

/// Collects lines into paragraphs.
#[derive(Default)]
struct Paragraphs {
    finished: Vec<Paragraph>,
    current: Option<Paragraph>,
}

impl Paragraphs {
    fn push(&mut self, number: usize, line: &str) {
        match &mut self.current {
            Some(paragraph) => {
                paragraph.text.push('\n');
                paragraph.text.push_str(line);
            }
            None => self.current = Some(Paragraph { text: line.to_owned(), first_line: number }),
        }
    }

    fn end(&mut self) {
        self.finished.extend(self.current.take());
    }

    fn finish(mut self) -> Vec<Paragraph> {
        self.end();
        self.finished
    }
}

/// The comments of Rust or TypeScript, without code spans and examples. A paragraph ends at an empty comment line, at the
/// start of a list item and at code.
pub(super) fn comments(content: &str) -> Vec<Paragraph> {
    let mut paragraphs = Paragraphs::default();
    let mut is_example = false;
    let mut in_block = false;
    for (number, line) in (1..).zip(content.lines()) {
        let trimmed = line.trim_start();
        let comment = if in_block || trimmed.starts_with("/*") {
            in_block = !trimmed.contains("*/");
            Some(
                trimmed
                    .trim_start_matches("/**")
                    .trim_start_matches("/*")
                    .trim_end_matches("*/")
                    .trim_start_matches('*'),
            )
        } else {
            line_comment(line)
        };
        let Some(comment) = comment else {
            paragraphs.end();
            is_example = false;
            continue;
        };
        let comment = comment.trim();
        if comment.starts_with("```") {
            is_example = !is_example;
            paragraphs.end();
            continue;
        }
        // A comment after code is a paragraph of its own.
        if !trimmed.starts_with("//") && !trimmed.starts_with('*') && !trimmed.starts_with("/*") {
            paragraphs.end();
        }
        push_prose(&mut paragraphs, number, comment, is_example);
    }
    paragraphs.finish()
}

/// The text of a `//` comment in a line.
fn line_comment(line: &str) -> Option<&str> {
    static START: LazyLock<Regex> =
        LazyLock::new(|| Regex::new(r"^(?:\s*|.*[;,{}()\]]\s+)//[/!]?(.*)$").expect("a valid pattern"));
    START.captures(line).and_then(|captures| captures.get(1)).map(|text| text.as_str())
}

/// The prose of Markdown: no fenced or indented code, no code spans, no HTML comments.
pub(super) fn markdown(content: &str) -> Vec<Paragraph> {
    let mut paragraphs = Paragraphs::default();
    let mut is_example = false;
    for (number, line) in (1..).zip(content.lines()) {
        let trimmed = line.trim();
        if trimmed.starts_with("```") {
            is_example = !is_example;
            paragraphs.end();
            continue;
        }
        if trimmed.starts_with('#') || trimmed.starts_with('|') {
            paragraphs.end();
        }
        // Headings of pages for users may be questions.
        push_prose(&mut paragraphs, number, trimmed.trim_start_matches('|'), is_example || trimmed.starts_with('#'));
    }
    paragraphs.finish()
}

fn push_prose(paragraphs: &mut Paragraphs, number: usize, line: &str, is_skipped: bool) {
    static CODE_SPAN: LazyLock<Regex> = LazyLock::new(|| Regex::new("`[^`]*`").expect("a valid pattern"));
    static ITEM: LazyLock<Regex> = LazyLock::new(|| Regex::new(r"^(?:[-*]|\d+\.) ").expect("a valid pattern"));
    if is_skipped || line.is_empty() {
        paragraphs.end();
        return;
    }
    if ITEM.is_match(line) {
        paragraphs.end();
    }
    let line = if line.contains(ALLOW) { String::new() } else { CODE_SPAN.replace_all(line, "``").into_owned() };
    paragraphs.push(number, &line);
}

/// The code of a Rust file, without comments and string literals, as one paragraph.
pub(super) fn code(content: &str) -> Vec<Paragraph> {
    static STRING: LazyLock<Regex> = LazyLock::new(|| Regex::new(r#""(?:[^"\\]|\\.)*""#).expect("a valid pattern"));
    let mut paragraphs = Paragraphs::default();
    for (number, line) in (1..).zip(content.lines()) {
        let is_comment = line.trim_start().starts_with("//") || line.contains(ALLOW);
        let line = if is_comment { String::new() } else { STRING.replace_all(line, "\"\"").into_owned() };
        paragraphs.push(number, &line);
    }
    paragraphs.finish()
}

/// The names of functions with a test attribute, one paragraph each.
pub(super) fn test_names(content: &str) -> Vec<Paragraph> {
    static ATTRIBUTE: LazyLock<Regex> =
        LazyLock::new(|| Regex::new(r"^\s*#\[(?:\w+::)*test(?:\(.*\))?\]").expect("a valid pattern"));
    static NAME: LazyLock<Regex> = LazyLock::new(|| Regex::new(r"\bfn (\w+)").expect("a valid pattern"));
    let mut names = Vec::new();
    let mut is_test = false;
    for (number, line) in (1..).zip(content.lines()) {
        is_test |= ATTRIBUTE.is_match(line);
        if let Some(name) = NAME.captures(line).filter(|_| is_test).and_then(|captures| captures.get(1)) {
            names.push(Paragraph { text: name.as_str().to_owned(), first_line: number });
            is_test = false;
        }
    }
    names
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(paragraphs: &[Paragraph]) -> Vec<&str> {
        paragraphs.iter().map(|paragraph| paragraph.text.as_str()).collect()
    }

    #[test]
    fn comment_lines_join_until_an_empty_line_an_item_or_code() {
        let content = "//! One\n//! two.\n//!\n//! - three\n//! - four\nfn f() {} // five\n// six\n";
        assert_eq!(texts(&comments(content)), ["One\ntwo.", "- three", "- four", "five\nsix"]);
    }

    #[test]
    fn a_url_in_a_string_is_not_a_comment() {
        assert!(comments("let url = \"http://localhost\";\n").is_empty());
    }

    #[test]
    fn prose_excludes_code_spans_and_fenced_code() {
        let content = "Run `told` now.\n\n```sh\ntold\n```\n";
        assert_eq!(texts(&markdown(content)), ["Run `` now."]);
    }

    #[test]
    fn an_allowed_line_is_empty() {
        assert_eq!(texts(&comments("// told words: allow quoted from bash\n")), [""]);
    }
}
