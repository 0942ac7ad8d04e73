//! Finds standard-library paths in source text, `use` groups included.
//!
//! Not a parser: it drops comments and string contents and reads `std::...` paths as tokens. A path through an alias
//! (`use std as s`) is not found; aliases do not appear by accident.

/// Returns the occurrences of `paths`, or of paths below them, in `source`: line (from 1) and path.
pub(super) fn named<'a>(source: &str, paths: &[&'a str]) -> Vec<(usize, &'a str)> {
    let tokens = tokens(source);
    let mut found = Vec::new();
    for at in 0..tokens.len() {
        let starts_path = tokens.get(at).is_some_and(|token| token.text == "std")
            && tokens.get(at + 1).is_some_and(|token| token.text == "::");
        if !starts_path {
            continue;
        }
        let mut used = Vec::new();
        use_tree(&tokens, at, &mut Vec::new(), &mut used);
        for (line, used) in used {
            for path in paths {
                let below = used.strip_prefix(path).is_some_and(|rest| rest.is_empty() || rest.starts_with("::"));
                // A glob or a whole module brings in what is below it.
                let above = used
                    .strip_suffix("::*")
                    .is_some_and(|module| path.strip_prefix(module).is_some_and(|rest| rest.starts_with("::")));
                if below || above {
                    found.push((line, *path));
                }
            }
        }
    }
    // `use std::time;` followed by `time::Instant` names it by its last two parts.
    for window in tokens.windows(3) {
        let [first, separator, second] = window else { continue };
        let last_two = format!("::{}{}{}", first.text, separator.text, second.text);
        for path in paths {
            if separator.text == "::" && path.ends_with(&last_two) {
                found.push((first.line, *path));
            }
        }
    }
    found.sort_unstable();
    found.dedup();
    found
}

#[derive(Clone, Copy, Debug)]
struct Token<'a> {
    line: usize,
    text: &'a str,
}

/// Reads one path at `at`, following groups, and returns where it ends. Every complete path goes to `used`.
fn use_tree(tokens: &[Token<'_>], mut at: usize, prefix: &mut Vec<String>, used: &mut Vec<(usize, String)>) -> usize {
    let depth = prefix.len();
    while let Some(token) = tokens.get(at) {
        if token.text == "{" {
            at += 1;
            while tokens.get(at).is_some_and(|token| token.text != "}") {
                let next = use_tree(tokens, at, prefix, used);
                at = next.max(at + 1);
                if tokens.get(at).is_some_and(|token| token.text == ",") {
                    at += 1;
                }
            }
            prefix.truncate(depth);
            return at + 1;
        }
        if token.text != "*" && !token.text.starts_with(|c: char| c.is_alphanumeric() || c == '_') {
            break;
        }
        prefix.push(token.text.to_owned());
        at += 1;
        if tokens.get(at).is_some_and(|token| token.text == "::") {
            at += 1;
            continue;
        }
        used.push((token.line, prefix.join("::")));
        break;
    }
    prefix.truncate(depth);
    at
}

/// Splits source into identifiers and numbers, `::` and single characters, without comments and the contents of string literals.
fn tokens(source: &str) -> Vec<Token<'_>> {
    let bytes = source.as_bytes();
    let mut tokens = Vec::new();
    let (mut at, mut line) = (0, 1);
    while let Some(&byte) = bytes.get(at) {
        let rest = source.get(at..).unwrap_or_default();
        let length = if rest.starts_with("//") {
            rest.find('\n').unwrap_or(rest.len())
        } else if rest.starts_with("/*") {
            rest.find("*/").map_or(rest.len(), |end| end + 2)
        } else if let Some(length) = raw_string_length(rest) {
            length
        } else if byte == b'"' {
            string_length(rest)
        } else if let Some(quote) = ["'\"'", "'\\\"'"].iter().find(|quote| rest.starts_with(**quote)) {
            quote.len()
        } else if byte.is_ascii_alphabetic() || byte == b'_' {
            rest.find(|c: char| !(c.is_alphanumeric() || c == '_')).unwrap_or(rest.len())
        } else if rest.starts_with("::") {
            2
        } else {
            rest.chars().next().map_or(1, char::len_utf8)
        };
        let text = rest.get(..length).unwrap_or(rest);
        let is_token = !text.trim().is_empty() && !text.starts_with(['"', '/', '\'']) && !text.ends_with(['"', '#']);
        if is_token {
            tokens.push(Token { line, text });
        }
        line += text.matches('\n').count();
        at += length.max(1);
    }
    tokens
}

/// Length of the string literal at the start of `rest`, both quotes included.
fn string_length(rest: &str) -> usize {
    let mut escaped = false;
    for (at, c) in rest.char_indices().skip(1) {
        match c {
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            '"' => return at + 1,
            _ => {}
        }
    }
    rest.len()
}

/// Length of the raw string literal at the start of `rest` (`r"..."`, `r#"..."#`), if there is one.
fn raw_string_length(rest: &str) -> Option<usize> {
    let after_r = rest.strip_prefix('r')?;
    let hashes = after_r.len() - after_r.trim_start_matches('#').len();
    let body = after_r.get(hashes..)?.strip_prefix('"')?;
    let close = format!("\"{}", "#".repeat(hashes));
    let end = body.find(&close).map_or(body.len(), |at| at + close.len());
    Some(1 + hashes + 1 + end)
}
