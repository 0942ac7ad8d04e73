//! Numbers and ranges that options of `pr` take.

use tidebox_gnu::message::quote_value;

use super::settings::{MAX_VALUE, Tabs};
use crate::common::Failure;

/// Whether digits stand where the numbers of a range begin.
pub(super) fn begins_with_numbers(text: &[u8]) -> bool {
    let digits = text.iter().take_while(|byte| byte.is_ascii_digit()).count();
    let last = text.get(digits..).unwrap_or_default().strip_prefix(b":");
    digits > 0 && last.is_none_or(|last| last.first().is_some_and(u8::is_ascii_digit))
}

/// `FIRST[:LAST]`.
pub(super) fn range(text: &[u8]) -> Option<(u64, Option<u64>)> {
    let text = std::str::from_utf8(text).ok()?;
    let page = |text: &str| text.parse::<u64>().ok().filter(|page| *page > 0 && !text.starts_with('+'));
    match text.split_once(':') {
        None => Some((page(text)?, None)),
        Some((first, last)) => {
            let (first, last) = (page(first)?, page(last)?);
            (first <= last).then_some((first, Some(last)))
        }
    }
}

/// What is wrong with a range.
pub(super) fn no_range(text: &[u8]) -> Failure {
    let digits = text.iter().take_while(|byte| byte.is_ascii_digit()).count();
    let number = std::str::from_utf8(text.get(..digits).unwrap_or_default()).unwrap_or_default();
    let shown = String::from_utf8_lossy(text);
    Failure::Unsupported(match begins_with_numbers(text) {
        _ if digits > 0 && number.parse::<u64>().is_err() => match text.len() == digits {
            true => format!("--pages argument '{shown}' too large"),
            false => format!("invalid suffix in --pages argument '{shown}'"),
        },
        true => format!("invalid page range {}", quote_value(text)),
        false => format!("invalid --pages argument '{shown}'"),
    })
}

pub(super) fn number(text: &[u8], least: i64, what: &str) -> Result<usize, Failure> {
    let parsed = std::str::from_utf8(text).ok().and_then(|text| text.parse::<i64>().ok());
    match parsed {
        Some(number) if (least..=MAX_VALUE).contains(&number) => {
            usize::try_from(number).map_err(|_| wrong_number(what, text, ""))
        }
        Some(_) => Err(wrong_number(what, text, ": Numerical result out of range")),
        None if is_too_large(text) => Err(wrong_number(what, text, ": Value too large for defined data type")),
        None => Err(wrong_number(what, text, "")),
    }
}

/// Whether a text is a number that is larger than any can be here.
fn is_too_large(text: &[u8]) -> bool {
    !text.is_empty() && text.iter().all(u8::is_ascii_digit)
}

pub(super) fn wrong_number(what: &str, text: &[u8], why: &str) -> Failure {
    Failure::Unsupported(format!("{what}: {}{why}", quote_value(text)))
}

pub(super) fn tabs(key: char, text: &[u8]) -> Result<Tabs, Failure> {
    let (char, width) = char_and_number(key, text)?;
    Ok(Tabs { char: char.unwrap_or(b'\t'), width: width.unwrap_or(8) })
}

/// `[CHAR][NUMBER]`.
pub(super) fn char_and_number(key: char, text: &[u8]) -> Result<(Option<u8>, Option<usize>), Failure> {
    let (char, rest) = match text.split_first() {
        Some((first, rest)) if !first.is_ascii_digit() => (Some(*first), rest),
        _ => (None, text),
    };
    if rest.is_empty() {
        return Ok((char, None));
    }
    let wrong = || {
        let what = format!("'-{key}' extra characters or invalid number in the argument");
        Failure::Usage(format!("{what}: {}", quote_value(rest)))
    };
    let number = std::str::from_utf8(rest).ok().and_then(|text| text.parse::<usize>().ok());
    number.filter(|number| (1..=1 << 16).contains(number)).map(|number| (char, Some(number))).ok_or_else(wrong)
}
