//! File name patterns compatible with `fnmatch`.

/// Matching options.
#[derive(Clone, Copy, Debug, Default)]
pub struct Flags {
    /// Case-insensitive matching.
    pub ignore_case: bool,
    /// `*`, `?` and sets do not match a slash.
    pub pathname: bool,
}

/// Returns whether the whole name matches the pattern.
///
/// The run time is bounded by the product of both lengths for every pattern.
pub fn matches(pattern: &[u8], name: &[u8], flags: Flags) -> bool {
    let mut at = 0;
    let mut seen = 0;
    // Backtracking position if the rest after the last `*` does not match: the pattern after it, and the name it has consumed.
    let mut star: Option<(usize, usize)> = None;
    loop {
        let rest = pattern.get(at..).unwrap_or_default();
        if let Some((b'*', _)) = rest.split_first() {
            at += 1;
            star = Some((at, seen));
            continue;
        }
        let left = name.get(seen..).unwrap_or_default();
        if rest.is_empty() && left.is_empty() {
            return true;
        }
        if let Some((used, eaten)) = one(rest, left, flags) {
            at += used;
            seen += eaten;
            continue;
        }
        let Some((after, swallowed)) = star else {
            return false;
        };
        let Some(next) = name.get(swallowed) else {
            return false;
        };
        if flags.pathname && *next == b'/' {
            return false;
        }
        star = Some((after, swallowed + 1));
        at = after;
        seen = swallowed + 1;
    }
}

/// Returns whether a pattern contains a wildcard.
pub fn is_pattern(text: &[u8]) -> bool {
    text.iter().any(|byte| matches!(byte, b'*' | b'?' | b'[' | b'\\'))
}

/// Matches one character; returns the lengths consumed in pattern and name.
fn one(pattern: &[u8], name: &[u8], flags: Flags) -> Option<(usize, usize)> {
    let (char, eaten) = next_char(name)?;
    let first = *pattern.first()?;
    if flags.pathname && char == '/' {
        return (first == b'/').then_some((1, 1));
    }
    match first {
        b'?' => return Some((1, eaten)),
        b'[' => {
            if let Some((used, fits)) = set(pattern, char, flags) {
                return fits.then_some((used, eaten));
            }
        }
        _ => {}
    }
    let quoted = usize::from(first == b'\\' && pattern.len() > 1);
    let (wanted, used) = next_char(pattern.get(quoted..)?)?;
    same(wanted, char, flags).then_some((quoted + used, eaten))
}

fn same(a: char, b: char, flags: Flags) -> bool {
    a == b || (flags.ignore_case && a.to_lowercase().eq(b.to_lowercase()))
}

/// Returns the first character and its length. A byte that is not UTF-8 counts as a distinct character.
fn next_char(bytes: &[u8]) -> Option<(char, usize)> {
    let first = *bytes.first()?;
    if first.is_ascii() {
        return Some((char::from(first), 1));
    }
    let head = bytes.get(..bytes.len().min(4))?;
    let valid = match std::str::from_utf8(head) {
        Ok(text) => text,
        Err(error) => std::str::from_utf8(head.get(..error.valid_up_to())?).ok()?,
    };
    match valid.chars().next() {
        Some(char) => Some((char, char.len_utf8())),
        // Map the 128 bytes into the private use area.
        None => Some((char::from_u32(0x0010_ff00 + u32::from(first))?, 1)),
    }
}

/// Matches a set such as `[!a-z]`; returns its length and whether it contains the character. `None` if it is not closed; `[` is
/// then a literal.
fn set(pattern: &[u8], char: char, flags: Flags) -> Option<(usize, bool)> {
    let mut at = 1;
    let negated = matches!(pattern.get(at), Some(b'!' | b'^'));
    at += usize::from(negated);
    let begin = at;
    let mut fits = false;
    loop {
        let rest = pattern.get(at..)?;
        if rest.first() == Some(&b']') && at > begin {
            return Some((at + 1, fits != negated));
        }
        if let Some((used, name)) = class_name(rest) {
            fits |= in_class(name, char, flags)?;
            at += used;
            continue;
        }
        let (low, used) = set_char(rest)?;
        at += used;
        let after = pattern.get(at..)?;
        let high = match after {
            [b'-', next, ..] if *next != b']' => {
                let (high, used) = set_char(after.get(1..)?)?;
                at += used + 1;
                high
            }
            _ => low,
        };
        fits |= (low..=high).contains(&char);
        if flags.ignore_case {
            fits |= char.to_lowercase().chain(char.to_uppercase()).any(|other| (low..=high).contains(&other));
        }
    }
}

fn set_char(rest: &[u8]) -> Option<(char, usize)> {
    if rest.first() == Some(&b'\\') && rest.len() > 1 {
        let (char, used) = next_char(rest.get(1..)?)?;
        return Some((char, used + 1));
    }
    next_char(rest)
}

fn class_name(rest: &[u8]) -> Option<(usize, &[u8])> {
    let inner = rest.strip_prefix(b"[:")?;
    let end = inner.windows(2).position(|pair| pair == b":]")?;
    Some((end + 4, inner.get(..end)?))
}

fn in_class(name: &[u8], char: char, flags: Flags) -> Option<bool> {
    let either = |test: fn(&char) -> bool| {
        test(&char) || (flags.ignore_case && char.to_lowercase().chain(char.to_uppercase()).any(|other| test(&other)))
    };
    Some(match name {
        b"alpha" => char.is_alphabetic(),
        b"digit" => char.is_ascii_digit(),
        b"alnum" => char.is_alphanumeric(),
        b"upper" => either(|c| c.is_uppercase()),
        b"lower" => either(|c| c.is_lowercase()),
        b"space" => char.is_whitespace(),
        b"blank" => matches!(char, ' ' | '\t'),
        b"punct" => char.is_ascii_punctuation(),
        b"print" => !char.is_control(),
        b"graph" => !char.is_control() && !char.is_whitespace(),
        b"cntrl" => char.is_control(),
        b"xdigit" => char.is_ascii_hexdigit(),
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::{Flags, matches};

    fn fits(pattern: &str, name: &str) -> bool {
        matches(pattern.as_bytes(), name.as_bytes(), Flags::default())
    }

    #[test]
    fn patterns_match_whole_names() {
        for (pattern, name) in [
            ("*", ""),
            ("*.rs", "main.rs"),
            ("a*b*c", "a--b--b--c"),
            ("?", "é"),
            ("[a-c]x", "bx"),
            ("[!a-c]x", "dx"),
            ("[]]", "]"),
            ("[a-]", "-"),
            ("[[:digit:]]*", "7up"),
            ("\\*", "*"),
            ("[", "["),
            ("a[", "a["),
            ("*/x", "a/b/x"),
            ("[\\]]", "]"),
        ] {
            assert!(fits(pattern, name), "{pattern} should match {name}");
        }
        for (pattern, name) in
            [("*.rs", "main.rst"), ("?", ""), ("a", "A"), ("[!a]", "a"), ("\\*", "a"), ("", "a"), ("[[:digit:]]", "x")]
        {
            assert!(!fits(pattern, name), "{pattern} should not match {name}");
        }
    }

    #[test]
    fn case_and_slashes_are_optional() {
        let ignore_case = Flags { ignore_case: true, pathname: false };
        assert!(matches(b"*.RS", b"main.rs", ignore_case));
        assert!(matches(b"[A-C]", b"b", ignore_case));
        let pathname = Flags { ignore_case: false, pathname: true };
        assert!(!matches(b"*/x", b"a/b/x", pathname));
        assert!(matches(b"*/x", b"a/x", pathname));
        assert!(!matches(b"a?x", b"a/x", pathname));
    }

    #[test]
    fn many_stars_end_soon() {
        let pattern = "*a".repeat(200);
        let name = "a".repeat(199) + "b";
        assert!(!fits(&pattern, &name));
    }

    #[test]
    fn bytes_that_are_not_utf8_match_themselves_only() {
        assert!(matches(b"?\xff", b"a\xff", Flags::default()));
        assert!(matches(b"?", b"\xff", Flags::default()));
        assert!(!matches(b"\xfe", b"\xff", Flags::default()));
    }
}
