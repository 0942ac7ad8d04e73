//! Marks that are not history references, because they are quoted or part of the shell's syntax.

use super::expand::Expander;

/// Returns whether the mark at `at` is part of `[!..]`, `${!..}`, `$!` or `!(..)`, or quoted.
pub(super) fn is_the_shells(line: &[u8], at: usize, expander: &Expander<'_>) -> bool {
    let before = |back: usize| at.checked_sub(back).and_then(|at| line.get(at)).copied();
    let after = line.get(at + 1..).unwrap_or_default();
    match (before(2), before(1)) {
        (_, Some(b'[')) if after.contains(&b']') => return true,
        (Some(b'$'), Some(b'{')) if after.contains(&b'}') => return true,
        (Some(_), Some(b'$')) if line.get(at) == Some(&b'!') => return true,
        _ => {}
    }
    if expander.extglob() && at > 1 && after.first() == Some(&b'(') && after.contains(&b')') {
        return true;
    }
    let mut from = 0;
    if expander.starts_single_quoted() {
        match closing_quote(line) {
            Some(end) if end < at => from = end + 1,
            _ => return true,
        }
    }
    let mark = line.get(at).copied().unwrap_or(0);
    // Searches from the start; a mark that the search skips is quoted.
    let mut found = next_mark(line, from, mark, expander.posix());
    while found > 0 && found < at {
        found = next_mark(line, found + 1, mark, expander.posix());
    }
    found > at
}

/// Offset of the next unquoted mark, starting at `from`, or the end of the line.
fn next_mark(line: &[u8], from: usize, mark: u8, posix: bool) -> usize {
    let (mut dquote, mut outer_dquote, mut backquote, mut substitutions) = (false, false, false, 0_u32);
    let mut at = from;
    while let Some(&byte) = line.get(at) {
        let next = line.get(at + 1).copied();
        if byte == mark && byte != b'\\' && !(dquote && next == Some(b'"')) {
            return at;
        }
        match byte {
            b'\\' => at += 1,
            _ if byte == mark => {}
            b'`' if backquote => {
                backquote = false;
                dquote = outer_dquote;
            }
            b'`' => {
                backquote = true;
                outer_dquote = std::mem::take(&mut dquote);
            }
            b'\'' if !dquote => at = quote_end(line, at, b'\''),
            b'"' if posix => at = quote_end(line, at, b'"'),
            b'"' => dquote = !dquote,
            b'$' | b'<' | b'>' if next == Some(b'(') => {
                substitutions += 1;
                outer_dquote = std::mem::take(&mut dquote);
                at += 1;
            }
            b')' if substitutions > 0 => {
                substitutions -= 1;
                dquote = outer_dquote;
            }
            _ => {}
        }
        at += 1;
    }
    line.len()
}

/// Offset of the quote that closes the one at `at`, or of the last byte of the line.
fn quote_end(line: &[u8], at: usize, quote: u8) -> usize {
    let mut at = at + 1;
    while let Some(&byte) = line.get(at) {
        if byte == quote {
            return at;
        }
        at += if byte == b'\\' && quote != b'\'' { 2 } else { 1 };
    }
    line.len()
}

/// The single quote that ends the quotation in which a line starts. As in bash, quotes within double quotes do not count.
fn closing_quote(line: &[u8]) -> Option<usize> {
    let mut at = 0;
    while let Some(&byte) = line.get(at) {
        match byte {
            b'\'' => return Some(at),
            b'\\' => at += 1,
            b'"' | b'`' => at = quote_end(line, at, byte),
            _ => {}
        }
        at += 1;
    }
    None
}
