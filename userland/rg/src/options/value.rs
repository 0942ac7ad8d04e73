//! Values of options.

use std::ffi::OsString;

use tidebox_gnu::message::bytes_path;

use super::{NO_PATTERN, misuse, value_name};
use crate::message::reason;

/// The value of an option. A missing pattern takes precedence: a missing value is reported only if a pattern was given.
pub(super) fn needed(name: &str, value: Option<Vec<u8>>, has_pattern: bool) -> Result<Vec<u8>, String> {
    let what = value_name(name).unwrap_or("VALUE");
    let more = if matches!(name, "regexp" | "file" | "glob" | "iglob" | "type" | "type-not") { "..." } else { "" };
    value.ok_or_else(|| {
        if has_pattern || matches!(name, "regexp" | "file") {
            misuse(&format!("The argument '--{name} <{what}>{more}' requires a value but none was supplied"))
        } else {
            misuse(NO_PATTERN)
        }
    })
}

pub(super) fn text(value: &[u8]) -> String {
    String::from_utf8_lossy(value).into_owned()
}

pub(super) fn number<T: std::str::FromStr>(name: &str, value: &[u8]) -> Result<T, String>
where
    T::Err: std::fmt::Display,
{
    let what = value_name(name).unwrap_or("NUM");
    text(value).parse().map_err(|error| format!("error: Invalid value for '--{name} <{what}>': {error}\n"))
}

/// A number with suffix `K`, `M` or `G`.
pub(super) fn size(value: &[u8]) -> Result<u64, String> {
    let written = text(value);
    let (digits, unit) = match written.strip_suffix(['K', 'M', 'G']) {
        Some(digits) => (digits, written.chars().last()),
        None => (written.as_str(), None),
    };
    let shift = match unit {
        Some('K') => 10,
        Some('M') => 20,
        Some('G') => 30,
        _ => 0,
    };
    let bad = || {
        format!(
            "invalid format for size '{written}', which should be a sequence of digits \
             followed by an optional 'K', 'M' or 'G' suffix"
        )
    };
    digits.parse::<u64>().ok().and_then(|number| number.checked_mul(1 << shift)).ok_or_else(bad)
}

/// A separator with the C escapes `
/// `, `\t`, `\0` and `\xFF`.
pub(super) fn separator(value: &[u8]) -> Vec<u8> {
    let mut out = Vec::new();
    let mut rest = value;
    while let Some((byte, after)) = rest.split_first() {
        rest = after;
        if *byte != b'\\' {
            out.push(*byte);
            continue;
        }
        let hex =
            after.get(1..3).filter(|_| after.first() == Some(&b'x')).and_then(|hex| std::str::from_utf8(hex).ok());
        if let Some(byte) = hex.and_then(|hex| u8::from_str_radix(hex, 16).ok()) {
            out.push(byte);
            rest = after.get(3..).unwrap_or_default();
            continue;
        }
        let escape = match after.first() {
            Some(b'n') => b'\n',
            Some(b't') => b'\t',
            Some(b'r') => b'\r',
            Some(b'0') => 0,
            Some(b'\\') => b'\\',
            _ => {
                out.push(b'\\');
                continue;
            }
        };
        out.push(escape);
        rest = after.get(1..).unwrap_or_default();
    }
    out
}

pub(super) fn no_choice(option: &str, value: &str, what: &str, choices: &str) -> String {
    misuse(&format!("'{value}' isn't a valid value for '--{option} <{what}>'\n\t[possible values: {choices}]\n"))
}

pub(super) fn pattern(value: &[u8]) -> Result<String, String> {
    String::from_utf8(value.to_vec()).map_err(|error| {
        let at = error.utf8_error().valid_up_to();
        format!(
            "found invalid UTF-8 in pattern at byte offset {at}: {} (disable Unicode mode and use hex escape sequences to \
             match arbitrary bytes in a pattern, e.g., '(?-u)\\xFF')",
            text(value)
        )
    })
}

/// The lines of a file; `-` is standard input.
pub(super) fn patterns_from(file: &[u8]) -> Result<Vec<String>, String> {
    let read = if file == b"-" {
        std::io::read_to_string(std::io::stdin()).map(String::into_bytes)
    } else {
        std::fs::read(bytes_path(file))
    };
    let shown = OsString::from(bytes_path(file));
    let content = read.map_err(|error| format!("{}: {}", shown.to_string_lossy(), reason(&error)))?;
    let content = content.strip_suffix(b"\n").map_or_else(|| content.clone(), <[u8]>::to_vec);
    if content.is_empty() {
        return Ok(Vec::new());
    }
    content.split(|byte| *byte == b'\n').map(|line| pattern(line.strip_suffix(b"\r").unwrap_or(line))).collect()
}
