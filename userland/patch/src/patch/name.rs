//! File names in the headers of patches, and their timestamps.

use tidebox_gnu::calendar::days_to;
use tidebox_gnu::escape::control;

/// Old, new, and `Index:`.
pub(crate) const OLD: usize = 0;
pub(crate) const NEW: usize = 1;
pub(crate) const INDEX: usize = 2;

/// A file of a header line.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Named {
    /// The name after stripping; `None` if it is missing or `/dev/null`.
    pub(crate) name: Option<Vec<u8>>,
    /// The text after the name.
    pub(crate) stamp: Vec<u8>,
    /// Seconds since 1970; 0 also marks a missing file.
    pub(crate) seconds: Option<i64>,
}

/// Parses a name and the rest. `strip` is the number of `-p`; without it only the last component is used.
pub(crate) fn fetch(text: &[u8], strip: Option<usize>) -> Named {
    let text = text.strip_suffix(b"\n").unwrap_or(text);
    let text = text.trim_ascii_start();
    let (name, rest) = if text.first() == Some(&b'"') {
        match quoted(text) {
            Some((name, rest)) => (name, rest),
            None => return Named::default(),
        }
    } else {
        let end = end_of_name(text);
        let (name, rest) = text.split_at_checked(end).unwrap_or((text, b""));
        (name.to_vec(), rest)
    };
    if name.is_empty() {
        return Named::default();
    }
    if name == b"/dev/null" {
        return Named { seconds: Some(0), ..Named::default() };
    }
    let seconds = time(rest).map(|seconds| if seconds.abs() < 26 * 3600 { 0 } else { seconds });
    Named { name: stripped(&name, strip), stamp: rest.to_vec(), seconds }
}

/// A name ends at white space; if a tab precedes the time, spaces belong to the name.
fn end_of_name(text: &[u8]) -> usize {
    match text.iter().position(|byte| *byte == b'\t') {
        Some(tab) => tab,
        None => text.iter().position(u8::is_ascii_whitespace).unwrap_or(text.len()),
    }
}

/// Parses a name in double quotes with C escapes; returns the rest.
pub(crate) fn quoted(text: &[u8]) -> Option<(Vec<u8>, &[u8])> {
    let mut rest = text.strip_prefix(b"\"")?;
    let mut name = Vec::new();
    loop {
        let (first, after) = rest.split_first()?;
        rest = after;
        match first {
            b'"' => return Some((name, rest)),
            b'\\' => {
                let (letter, after) = rest.split_first()?;
                rest = after;
                name.push(match letter {
                    b'\\' | b'"' => *letter,
                    b'0'..=b'3' => {
                        let digits = rest.get(..2)?;
                        rest = rest.get(2..)?;
                        digits.iter().try_fold(letter - b'0', |value, digit| {
                            (b'0'..=b'7').contains(digit).then(|| value.wrapping_mul(8) | (digit - b'0'))
                        })?
                    }
                    letter => control(*letter)?,
                });
            }
            byte => name.push(*byte),
        }
    }
}

/// Strips leading directories. `None` if the name has fewer of them.
pub(crate) fn stripped(name: &[u8], strip: Option<usize>) -> Option<Vec<u8>> {
    let mut rest = name;
    let mut left = strip;
    let mut kept = name;
    while let Some(at) = rest.iter().position(|byte| *byte == b'/') {
        let run = rest.iter().skip(at).take_while(|byte| **byte == b'/').count();
        rest = rest.get(at + run..).unwrap_or_default();
        match &mut left {
            Some(0) => break,
            Some(left) => *left -= 1,
            None => {}
        }
        kept = rest;
    }
    (left.unwrap_or(0) == 0 && !kept.is_empty()).then(|| kept.to_vec())
}

/// Returns whether a file of that name is within the working directory.
pub(crate) fn is_safe(name: &[u8]) -> bool {
    !name.starts_with(b"/") && name.split(|byte| *byte == b'/').all(|part| part != b"..")
}

/// Returns the number of directories of a name.
pub(crate) fn depth(name: &[u8]) -> usize {
    let parts = name.split(|byte| *byte == b'/').filter(|part| !part.is_empty()).count();
    parts.saturating_sub(1)
}

/// Returns the best name: fewest directories, then the shortest last component, then the shortest name.
pub(crate) fn best(names: &[Option<Vec<u8>>; 3], counts: impl Fn(usize) -> bool) -> Option<usize> {
    let last = |name: &[u8]| name.rsplit(|byte| *byte == b'/').next().map_or(0, <[u8]>::len);
    names
        .iter()
        .enumerate()
        .filter(|(at, _)| counts(*at))
        .filter_map(|(at, name)| name.as_deref().map(|name| (depth(name), last(name), name.len(), at)))
        .min()
        .map(|(.., at)| at)
}

/// A time as diffs write it: `2020-01-31 12:34:56.789 +0100` or `Fri Jan 31 12:34:56 2020`.
fn time(text: &[u8]) -> Option<i64> {
    let text = std::str::from_utf8(text).ok()?.trim();
    let words: Vec<&str> = text.split_whitespace().collect();
    match words.as_slice() {
        [date, clock, zone @ ..] if date.contains('-') => {
            let mut parts = date.splitn(3, '-').map(str::parse::<u32>);
            let days = days(i64::from(parts.next()?.ok()?), parts.next()?.ok()?, parts.next()?.ok()?)?;
            Some(days * 86_400 + clock_of(clock)? - zone.first().map_or(Some(0), |zone| zone_of(zone))?)
        }
        [_, month, day, clock, year, ..] => {
            const MONTHS: &str = "JanFebMarAprMayJunJulAugSepOctNovDec";
            let month = MONTHS.find(month.get(..3)?)? / 3 + 1;
            let days = days(year.parse().ok()?, u32::try_from(month).ok()?, day.parse().ok()?)?;
            Some(days * 86_400 + clock_of(clock)?)
        }
        _ => None,
    }
}

fn days(year: i64, month: u32, day: u32) -> Option<i64> {
    ((1..=12).contains(&month) && (1..=31).contains(&day) && year < 100_000).then(|| days_to(year, month, day))
}

fn clock_of(text: &str) -> Option<i64> {
    let (whole, _) = text.split_once('.').unwrap_or((text, ""));
    let mut parts = whole.split(':').map(str::parse::<u16>);
    let (hour, minute) = (i64::from(parts.next()?.ok()?), i64::from(parts.next()?.ok()?));
    let second = i64::from(parts.next().map_or(Some(0), Result::ok)?);
    Some(hour * 3600 + minute * 60 + second)
}

fn zone_of(text: &str) -> Option<i64> {
    let (sign, digits) = match text.strip_prefix('-') {
        Some(digits) => (-1, digits),
        None => (1, text.strip_prefix('+')?),
    };
    let number: i64 = digits.parse::<u16>().ok()?.into();
    Some(sign * (number / 100 * 3600 + number % 100 * 60))
}
