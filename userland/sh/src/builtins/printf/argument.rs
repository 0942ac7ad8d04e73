//! Arguments as numbers.

use super::Printf;
use crate::expand::lossy;

impl Printf<'_> {
    /// The value of an argument of `%d` or a similar directive: C's notations, or a quote and a character.
    pub(super) fn integer(&mut self, arg: &[u8]) -> i64 {
        if let Some((b'\'' | b'"', rest)) = arg.split_first() {
            return i64::from(code_of_first(rest));
        }
        let text = arg.trim_ascii_start();
        let (negative, digits) = match text.split_first() {
            Some((b'-', digits)) => (true, digits),
            Some((b'+', digits)) => (false, digits),
            _ => (false, text),
        };
        let (radix, digits) = match digits {
            [b'0', b'x' | b'X', hex @ ..] => (16, hex),
            [b'0', octal @ ..] if !octal.is_empty() => (8, octal),
            _ => (10, digits),
        };
        let mut value: u64 = 0;
        let mut over = false;
        let mut len = 0;
        for &byte in digits {
            let Some(digit) = char::from(byte).to_digit(radix) else { break };
            let next = value.checked_mul(u64::from(radix)).and_then(|v| v.checked_add(u64::from(digit)));
            over |= next.is_none();
            value = next.unwrap_or(u64::MAX);
            len += 1;
        }
        if len != digits.len() || (len == 0 && !arg.is_empty()) {
            let kind: &[u8] = match radix {
                8 if !arg.starts_with(b"-") && digits.first().is_some_and(u8::is_ascii_digit) => {
                    b": invalid octal number"
                }
                16 => b": invalid hex number",
                _ => b": invalid number",
            };
            self.fail([arg, kind].concat());
        }
        let limit = if negative { 1 << 63 } else { u64::MAX };
        if over || value > limit {
            // Only a warning, so the status stays.
            self.shell.report_builtin_error([b"warning: ", arg, b": Numerical result out of range"].concat());
            return if negative { i64::MIN } else { i64::MAX };
        }
        if negative { (value as i64).wrapping_neg() } else { value as i64 }
    }

    pub(super) fn float(&mut self, arg: &[u8]) -> f64 {
        if let Some((b'\'' | b'"', rest)) = arg.split_first() {
            return f64::from(code_of_first(rest));
        }
        let text = lossy(arg.trim_ascii_start()).into_owned();
        if text.is_empty() {
            if !arg.is_empty() {
                self.fail([arg, b": invalid number"].concat());
            }
            return 0.0;
        }
        match text.parse() {
            Ok(value) => value,
            Err(_) => {
                let good = (1..text.len()).rev().find_map(|len| text.get(..len)?.parse().ok());
                let kind: &[u8] = match arg {
                    [b'0', b'0'..=b'9', ..] => b": invalid octal number",
                    [b'0', b'x' | b'X', ..] => b": invalid hex number",
                    _ => b": invalid number",
                };
                self.fail([arg, kind].concat());
                good.unwrap_or(0.0)
            }
        }
    }
}

/// The code of the first character, or of its first byte if it is invalid.
fn code_of_first(text: &[u8]) -> u32 {
    let char = text.get(..crate::character::char_len(text)).unwrap_or_default();
    let decoded =
        if char.len() > 1 { std::str::from_utf8(char).ok().and_then(|char| char.chars().next()) } else { None };
    decoded.map_or_else(|| text.first().copied().map_or(0, u32::from), u32::from)
}
