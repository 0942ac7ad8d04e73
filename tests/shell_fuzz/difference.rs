//! Differences between two outcomes, for display and for shrinking scripts.

use std::collections::BTreeSet;

use crate::format::Outcome;

/// Returns the text of a message without its names and numbers.
fn kind(line: &str) -> String {
    let text = line.split(" (error token").next().unwrap_or_default();
    let kind = text.rsplit(": ").next().unwrap_or_default();
    kind.split(['`', '\'', '"']).step_by(2).collect::<String>().replace(|c: char| c.is_ascii_digit(), "")
}

/// Returns the kinds of error messages in an outcome.
pub(crate) fn messages(outcome: &Outcome) -> BTreeSet<String> {
    String::from_utf8_lossy(&outcome.stderr).lines().map(kind).collect()
}

/// Returns whether an outcome contains a text in either stream.
pub(crate) fn contains(outcome: &Outcome, text: &str) -> bool {
    holds(&outcome.stdout, text) || holds(&outcome.stderr, text)
}

pub(crate) fn holds(bytes: &[u8], text: &str) -> bool {
    bytes.windows(text.len()).any(|part| part == text.as_bytes())
}

/// Returns whether every line of the second outcome is in the first.
pub(crate) fn only_lacks(expected: &Outcome, seen: &Outcome) -> bool {
    split_lines(&expected.stdout, &seen.stdout).1.is_empty() && split_lines(&expected.stderr, &seen.stderr).1.is_empty()
}

/// Returns the kinds of differences between two outcomes. While a script is shrunk, no other difference may replace the original
/// one.
pub(crate) fn kinds(expected: &Outcome, seen: &Outcome) -> BTreeSet<String> {
    let mut kinds = BTreeSet::new();
    if expected.exit != seen.exit {
        kinds.insert("exit".to_owned());
    }
    if expected.stdout != seen.stdout {
        kinds.insert("stdout".to_owned());
    }
    let (missing, added) = split_lines(&expected.stderr, &seen.stderr);
    kinds.extend(missing.iter().map(|line| format!("-{}", kind(line))));
    kinds.extend(added.iter().map(|line| format!("+{}", kind(line))));
    if kinds.is_empty() && expected.stderr != seen.stderr {
        kinds.insert("order".to_owned());
    }
    kinds
}

/// Formats the lines that only one of two outcomes has, each with a sign in front.
pub(crate) fn lines(expected: &Outcome, seen: &Outcome) -> String {
    let mut text = String::new();
    for (name, expected, seen) in
        [("stdout", &expected.stdout, &seen.stdout), ("stderr", &expected.stderr, &seen.stderr)]
    {
        let (missing, added) = split_lines(expected, seen);
        for (sign, lines) in [("-", missing), ("+", added)] {
            lines.iter().for_each(|line| text.push_str(&format!("# {name} {sign}{line}\n")));
        }
        if expected != seen && text.is_empty() {
            text.push_str(&format!("# {name} is in another order\n"));
        }
    }
    if expected.exit != seen.exit {
        text.push_str(&format!("# exit {} instead of {}\n", seen.exit, expected.exit));
    }
    text
}

/// Returns the lines that only the first has, and those that only the second has.
fn split_lines(first: &[u8], second: &[u8]) -> (Vec<String>, Vec<String>) {
    let lines = |text: &[u8]| -> Vec<String> {
        String::from_utf8_lossy(text).split_inclusive('\n').map(|line| line.escape_debug().to_string()).collect()
    };
    let (mut missing, mut added) = (Vec::new(), lines(second));
    for line in lines(first) {
        match added.iter().position(|other| *other == line) {
            Some(at) => {
                added.remove(at);
            }
            None => missing.push(line),
        }
    }
    (missing, added)
}
