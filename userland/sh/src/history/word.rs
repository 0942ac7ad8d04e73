//! The words of an entry, as references such as `!!:2` count them: roughly the shell's tokens.

use std::ops::Range;

/// Returns whether a byte separates words.
pub(super) fn is_blank(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'\n')
}

fn ends_word(byte: u8) -> bool {
    is_blank(byte) || matches!(byte, b';' | b'&' | b'(' | b')' | b'|' | b'<' | b'>')
}

/// The ranges of the words of a text, up to one that starts with `comment`.
pub(super) fn words(text: &[u8], comment: u8) -> Vec<Range<usize>> {
    let mut words = Vec::new();
    let mut at = 0;
    loop {
        at += text.get(at..).unwrap_or_default().iter().take_while(|&&b| is_blank(b)).count();
        if at >= text.len() || text.get(at) == Some(&comment) {
            return words;
        }
        let end = word_end(text, at).max(at + 1);
        words.push(at..end);
        at = end;
    }
}

/// The word that holds the byte at `at`.
pub(super) fn word_at(text: &[u8], at: usize, comment: u8) -> &[u8] {
    words(text, comment).into_iter().find(|word| word.contains(&at)).and_then(|word| text.get(word)).unwrap_or_default()
}

/// The end of the word that starts at `start`.
pub(super) fn word_end(text: &[u8], start: usize) -> usize {
    let rest = text.get(start..).unwrap_or_default();
    match rest {
        [] => start,
        [b'(' | b')' | b'\n', ..] => start + 1,
        [b'<' | b'>', b'(', ..] => plain_end(text, start + 2, Some((b'(', b')', 1))),
        [b'<' | b'>' | b';' | b'&' | b'|', ..] => start + operator_len(rest),
        [b'0'..=b'9', ..] => {
            // A descriptor before a redirection is part of it.
            let digits = rest.iter().take_while(|b| b.is_ascii_digit()).count();
            match rest.get(digits) {
                Some(b'<' | b'>') => start + digits + operator_len(rest.get(digits..).unwrap_or_default()),
                _ => plain_end(text, start + digits, None),
            }
        }
        _ => plain_end(text, start, None),
    }
}

fn operator_len(rest: &[u8]) -> usize {
    match rest {
        [b'<', b'<', b'-' | b'<', ..] => 3,
        [a, b, ..] if a == b => 2,
        [b'<' | b'>', b'&', after @ ..] => {
            let digits = after.iter().take_while(|b| b.is_ascii_digit()).count();
            2 + digits + usize::from(after.get(digits) == Some(&b'-'))
        }
        [b'&', b'>', ..] | [b'>', b'|', ..] => 2,
        _ => 1,
    }
}

/// The end of a word that is not an operator, starting within it. `closing` is the open construct: the bytes that open and
/// close it, and their nesting.
fn plain_end(text: &[u8], from: usize, mut closing: Option<(u8, u8, u32)>) -> usize {
    let mut at = from;
    while let Some(&byte) = text.get(at) {
        let next = text.get(at + 1).copied();
        if byte == b'\\' {
            let quotes = match closing {
                Some((_, b'\'', _)) => false,
                Some((_, b'"', _)) => matches!(next, Some(b'\\' | b'`' | b'"' | b'$' | b'\n')),
                _ => true,
            };
            at += if quotes { 2 } else { 1 };
            continue;
        }
        closing = match closing {
            Some((open, close, depth)) if byte == open && open != close => Some((open, close, depth + 1)),
            Some((open, close, depth)) if byte == close => (depth > 1).then_some((open, close, depth - 1)),
            Some(other) => Some(other),
            None if matches!(byte, b'<' | b'>' | b'$' | b'!' | b'@' | b'?' | b'+' | b'*') && next == Some(b'(') => {
                at += 1;
                Some((b'(', b')', 1))
            }
            None if ends_word(byte) => return at,
            None if matches!(byte, b'"' | b'\'' | b'`') => Some((byte, byte, 1)),
            None => None,
        };
        at += 1;
    }
    text.len()
}
