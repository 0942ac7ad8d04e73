//! Checks for patterns, and quoting of text for literal use in a pattern.

use crate::ir::Bytes;

/// Returns whether text contains a byte that makes it a pattern.
pub(crate) fn has_special(text: &[u8], extended: bool) -> bool {
    text.iter().any(|b| matches!(b, b'*' | b'?' | b'['))
        || (extended && text.windows(2).any(|w| w[1] == b'(' && matches!(w[0], b'@' | b'!' | b'+')))
}

/// Returns whether the text of a whole word is a pattern. A single bracket, as in `[ a = b ]`, is not.
pub(crate) fn is_pattern(text: &[u8], extended: bool) -> bool {
    text.iter().any(|b| matches!(b, b'*' | b'?'))
        || text
            .iter()
            .position(|&b| b == b'[')
            .is_some_and(|at| text.get(at..).is_some_and(|rest| rest.contains(&b']')))
        || (extended && text.windows(2).any(|w| w[1] == b'(' && matches!(w[0], b'@' | b'!' | b'+')))
}

/// Returns whether text with escaped quotes is a pattern of paths: a bracket must close before the next slash.
pub(crate) fn is_glob(text: &[u8], extended: bool) -> bool {
    let (mut at, mut open) = (0, false);
    while let Some(&byte) = text.get(at) {
        let next = text.get(at + 1).copied();
        match byte {
            b'*' | b'?' => return true,
            b'[' => open = true,
            b']' if open => return true,
            b'/' => open = false,
            b'+' | b'@' | b'!' if extended && next == Some(b'(') => return true,
            b'\\' if next != Some(b'/') || open => at += 1,
            _ => {}
        }
        at += 1;
    }
    false
}

/// Returns whether the last byte is a backslash that quotes the following byte.
pub(crate) fn ends_in_backslash(text: &[u8]) -> bool {
    text.iter().rev().take_while(|&&byte| byte == b'\\').count() % 2 == 1
}

/// Returns whether quoted text after a pattern needs a backslash that [`escape_into`] does not write: every quoted character
/// consumes one, and the last of the pattern lacks it.
pub(crate) fn needs_backslash(pattern: &[u8], text: &[u8]) -> bool {
    ends_in_backslash(pattern) && text.first().is_some_and(|&first| !is_special(first))
}

/// Returns whether a byte may be special in a pattern.
fn is_special(byte: u8) -> bool {
    b"*?[]\\()|@!+-^".contains(&byte)
}

/// Text as a pattern that matches exactly it.
pub(crate) fn escape_into(out: &mut Bytes, text: &[u8]) {
    for &byte in text {
        if is_special(byte) {
            out.push(b'\\');
        }
        out.push(byte);
    }
}
