//! Words of makefiles: bytes separated by blanks.

/// Word separators.
pub(crate) fn is_space(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'\n' | b'\r' | 0x0b | 0x0c)
}

/// A space or a tab.
pub(crate) fn is_blank(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t')
}

/// Splits a text at white space.
pub(crate) fn words(text: &[u8]) -> impl Iterator<Item = &[u8]> {
    text.split(|byte| is_space(*byte)).filter(|word| !word.is_empty())
}

/// Trims leading blanks.
pub(crate) fn trim_start(text: &[u8]) -> &[u8] {
    let at = text.iter().position(|byte| !is_space(*byte)).unwrap_or(text.len());
    text.get(at..).unwrap_or_default()
}

/// Trims trailing blanks.
pub(crate) fn trim_end(text: &[u8]) -> &[u8] {
    let end = text.iter().rposition(|byte| !is_space(*byte)).map_or(0, |at| at + 1);
    text.get(..end).unwrap_or_default()
}

/// Trims blanks on both sides.
pub(crate) fn trim(text: &[u8]) -> &[u8] {
    trim_end(trim_start(text))
}

/// Joins texts with one space.
pub(crate) fn joined<'a>(words: impl IntoIterator<Item = &'a [u8]>) -> Vec<u8> {
    let mut out = Vec::new();
    for (at, word) in words.into_iter().enumerate() {
        if at > 0 {
            out.push(b' ');
        }
        out.extend_from_slice(word);
    }
    out
}

/// The first word, and the rest without leading blanks.
pub(crate) fn first_word(text: &[u8]) -> (&[u8], &[u8]) {
    let text = trim_start(text);
    let end = text.iter().position(|byte| is_space(*byte)).unwrap_or(text.len());
    (text.get(..end).unwrap_or_default(), trim_start(text.get(end..).unwrap_or_default()))
}

/// Position of the bracket that closes the one just before `text`.
pub(crate) fn closing(text: &[u8], open: u8, close: u8) -> Option<usize> {
    let mut depth = 0usize;
    for (at, byte) in text.iter().enumerate() {
        if *byte == open {
            depth += 1;
        } else if *byte == close {
            match depth.checked_sub(1) {
                None => return Some(at),
                Some(less) => depth = less,
            }
        }
    }
    None
}

/// The matching closing bracket.
pub(crate) fn partner(open: u8) -> u8 {
    if open == b'(' { b')' } else { b'}' }
}

/// Position of the first byte matched by `stop` that is neither quoted by a backslash nor inside a reference. Halves the
/// backslashes before it, because they quoted each other.
pub(crate) fn find_unquoted(text: &mut Vec<u8>, inside: bool, stop: impl Fn(u8) -> bool) -> Option<usize> {
    let mut at = 0;
    while let Some(byte) = text.get(at).copied() {
        if byte == b'$' && inside {
            at += reference_length(text.get(at..).unwrap_or_default());
            continue;
        }
        if !stop(byte) {
            at += 1;
            continue;
        }
        let before = text.get(..at).unwrap_or_default();
        let slashes = before.iter().rev().take_while(|byte| **byte == b'\\').count();
        if slashes == 0 {
            return Some(at);
        }
        // Every second backslash quotes the next one, and an odd one quotes the character.
        let dropped = slashes.div_ceil(2);
        text.drain(at - dropped..at);
        at -= dropped;
        if slashes % 2 == 0 {
            return Some(at);
        }
        at += 1;
    }
    None
}

/// Length of the reference that starts with this `$`.
pub(crate) fn reference_length(text: &[u8]) -> usize {
    match text.get(1) {
        None => 1,
        Some(open @ (b'(' | b'{')) => {
            let inside = text.get(2..).unwrap_or_default();
            closing(inside, *open, partner(*open)).map_or(text.len(), |end| end + 3)
        }
        Some(_) => 2,
    }
}
