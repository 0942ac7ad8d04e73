//! The patterns of `-P` and `-I`.

use tidebox_gnu::glob::{Flags, matches};

/// Returns whether a name matches any of the patterns; each may contain alternatives separated by bars.
pub(crate) fn any(patterns: &[Vec<u8>], name: &[u8], is_folder: bool, ignore_case: bool) -> bool {
    patterns.iter().any(|pattern| alternatives(pattern).iter().any(|one| fits(one, name, is_folder, ignore_case)))
}

fn fits(pattern: &[u8], name: &[u8], is_folder: bool, ignore_case: bool) -> bool {
    let flags = Flags { ignore_case, ..Flags::default() };
    match pattern.strip_suffix(b"/") {
        Some(pattern) => is_folder && matches(pattern, name, flags),
        None => matches(pattern, name, flags),
    }
}

/// Splits at bars outside of brackets and not escaped by backslashes.
fn alternatives(pattern: &[u8]) -> Vec<Vec<u8>> {
    let mut parts = vec![Vec::new()];
    let (mut escaped, mut bracket) = (false, false);
    for byte in pattern {
        match byte {
            b'|' if !escaped && !bracket => {
                parts.push(Vec::new());
                continue;
            }
            b'[' if !escaped => bracket = true,
            b']' if !escaped => bracket = false,
            _ => {}
        }
        escaped = *byte == b'\\' && !escaped;
        if let Some(last) = parts.last_mut() {
            last.push(*byte);
        }
    }
    parts
}
