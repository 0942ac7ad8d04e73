//! Version sort order, as in `ls -v` and `sort -V`.

use std::cmp::Ordering;

/// Compares two names: runs of digits as numbers, and file extensions only if the rest is equal.
pub fn compare(a: &[u8], b: &[u8]) -> Ordering {
    let by_dots = dots(a).cmp(&dots(b));
    if by_dots != Ordering::Equal || a == b {
        return by_dots;
    }
    let (short_a, short_b) = (without_extensions(a), without_extensions(b));
    in_pieces(short_a, short_b).then_with(|| in_pieces(a, b))
}

/// Empty names, `.` and `..` sort first, then hidden ones, then the others.
fn dots(name: &[u8]) -> u8 {
    match name {
        b"" => 0,
        b"." => 1,
        b".." => 2,
        [b'.', ..] => 3,
        _ => 4,
    }
}

/// Returns the name without its extensions: each a dot, a letter or `~`, and letters, digits and `~`.
fn without_extensions(name: &[u8]) -> &[u8] {
    let at = |at: usize| name.get(at).copied().unwrap_or(0);
    let mut end = 0;
    let mut here = 0;
    loop {
        while at(here) == b'.' && (at(here + 1).is_ascii_alphabetic() || at(here + 1) == b'~') {
            here += 2;
            while at(here).is_ascii_alphanumeric() || at(here) == b'~' {
                here += 1;
            }
        }
        if here >= name.len() {
            break;
        }
        here += 1;
        end = here;
    }
    name.get(..end).unwrap_or(name)
}

/// Sort weight of a non-digit byte: `~` sorts before the end, letters before punctuation.
fn rank(byte: Option<u8>) -> i32 {
    match byte {
        None => -1,
        Some(byte) if byte.is_ascii_digit() => 0,
        Some(byte) if byte.is_ascii_alphabetic() => i32::from(byte),
        Some(b'~') => -2,
        Some(byte) => i32::from(byte) + 256,
    }
}

fn in_pieces(mut a: &[u8], mut b: &[u8]) -> Ordering {
    let is_text = |text: &[u8]| text.first().is_some_and(|byte| !byte.is_ascii_digit());
    while !a.is_empty() || !b.is_empty() {
        while is_text(a) || is_text(b) {
            let order = rank(a.first().copied()).cmp(&rank(b.first().copied()));
            if order != Ordering::Equal {
                return order;
            }
            (a, b) = (a.get(1..).unwrap_or_default(), b.get(1..).unwrap_or_default());
        }
        let (digits_a, rest_a) = number(a);
        let (digits_b, rest_b) = number(b);
        let order = digits_a.len().cmp(&digits_b.len()).then_with(|| digits_a.cmp(digits_b));
        if order != Ordering::Equal {
            return order;
        }
        (a, b) = (rest_a, rest_b);
    }
    Ordering::Equal
}

/// Returns the leading digits without leading zeros, and the rest.
fn number(text: &[u8]) -> (&[u8], &[u8]) {
    let end = text.iter().take_while(|byte| byte.is_ascii_digit()).count();
    let (digits, rest) = text.split_at_checked(end).unwrap_or((text, b""));
    let zeros = digits.iter().take_while(|byte| **byte == b'0').count();
    (digits.get(zeros..).unwrap_or_default(), rest)
}

#[cfg(test)]
mod tests {
    use super::compare;

    #[test]
    fn numbers_count_as_numbers_and_extensions_last() {
        let ordered = [
            "",
            ".",
            "..",
            ".a",
            "1.2~rc",
            "1.2",
            "1.2.1",
            "1.9",
            "1.10",
            "a.b",
            "a1.txt",
            "a2.txt",
            "a10.txt",
            "ab",
            "f-1.tar.gz",
            "f-1.9.tar.gz",
            "f-1.10.tar.gz",
        ];
        for pair in ordered.windows(2) {
            assert!(compare(pair[0].as_bytes(), pair[1].as_bytes()).is_lt(), "{pair:?}");
            assert!(compare(pair[1].as_bytes(), pair[0].as_bytes()).is_gt(), "{pair:?}");
        }
        assert!(compare(b"a01", b"a1").is_eq());
    }
}
