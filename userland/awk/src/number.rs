//! Number parsing and formatting.

use std::io::Write;
use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::Relaxed;

/// Returns whether `0x11` and `011` in input data are numbers.
static OTHER_BASES: AtomicBool = AtomicBool::new(false);

/// `--non-decimal-data`.
pub(crate) fn read_other_bases() {
    OTHER_BASES.store(true, Relaxed);
}

/// End of the hexadecimal or octal number whose leading zero is at a position.
fn other_base(text: &[u8], at: usize) -> Option<usize> {
    let rest = text.get(at + 1..)?;
    if let Some((b'x' | b'X', hex)) = rest.split_first() {
        let digits = hex.iter().take_while(|byte| byte.is_ascii_hexdigit()).count();
        return (digits > 0).then_some(at + 2 + digits);
    }
    let digits = rest.iter().take_while(|byte| byte.is_ascii_digit()).count();
    let signed = at.checked_sub(1).and_then(|before| text.get(before)) == Some(&b'+');
    (!signed && is_octal(rest)).then_some(at + 1 + digits)
}

/// Parses the decimal number at the start of a text like `strtod`. Returns its value and end, or `None` without a number.
pub(crate) fn prefix(text: &[u8]) -> Option<(f64, usize)> {
    let start = blanks(text);
    let mut at = start;
    let byte = |at: usize| text.get(at).copied().unwrap_or(0);
    let negative = byte(at) == b'-';
    if negative || byte(at) == b'+' {
        at += 1;
    }
    if matches!(byte(at), b'i' | b'I' | b'n' | b'N') {
        return magic(text, start);
    }
    if byte(at) == b'0'
        && OTHER_BASES.load(Relaxed)
        && let Some(end) = other_base(text, at)
    {
        let value = with_base(text.get(at..end)?);
        return Some((if negative { -value } else { value }, end));
    }
    let digits_start = at;
    let (mut mantissa, mut digits, mut scale) = (0u64, 0u32, 0usize);
    while byte(at).is_ascii_digit() {
        mantissa = mantissa.wrapping_mul(10).wrapping_add(u64::from(byte(at) - b'0'));
        digits += 1;
        at += 1;
    }
    if byte(at) == b'.' {
        at += 1;
        while byte(at).is_ascii_digit() {
            mantissa = mantissa.wrapping_mul(10).wrapping_add(u64::from(byte(at) - b'0'));
            digits += 1;
            scale += 1;
            at += 1;
        }
    }
    if digits == 0 {
        return None;
    }
    let mut exponent = false;
    if matches!(byte(at), b'e' | b'E') {
        let mut after = at + 1;
        if matches!(byte(after), b'+' | b'-') {
            after += 1;
        }
        if byte(after).is_ascii_digit() {
            exponent = true;
            while byte(after).is_ascii_digit() {
                after += 1;
            }
            at = after;
        }
    }
    // Both operands are exact, so the result is exact.
    let value = match POWERS.get(scale) {
        Some(power) if digits <= 15 && !exponent => mantissa as f64 / power,
        _ => std::str::from_utf8(text.get(digits_start..at)?).ok()?.parse().ok()?,
    };
    Some((if negative { -value } else { value }, at))
}

/// Powers of ten that a double holds exactly.
const POWERS: [f64; 16] = [1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15];

/// `+inf`, `-nan` and similar, valid only with a sign and alone.
fn magic(text: &[u8], start: usize) -> Option<(f64, usize)> {
    let word = text.get(start..start + 4)?;
    let value = match word.get(1..)?.to_ascii_lowercase().as_slice() {
        b"inf" => f64::INFINITY,
        b"nan" => f64::NAN,
        _ => return None,
    };
    let alone = text.get(start + 4..).is_none_or(|rest| rest.iter().all(|byte| is_blank(*byte)));
    let value = match word.first() {
        Some(b'-') => -value,
        Some(b'+') => value,
        _ => return None,
    };
    alone.then_some((value, start + 4))
}

fn is_blank(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'\n' | 0x0b | 0x0c | b'\r')
}

fn blanks(text: &[u8]) -> usize {
    text.iter().position(|byte| !is_blank(*byte)).unwrap_or(text.len())
}

/// The value of the number at the start of a text, or 0.
#[inline]
pub(crate) fn value_of(text: &[u8]) -> f64 {
    prefix(text).map_or(0.0, |(value, _)| value)
}

/// The value of a text that consists of a number and optional blanks.
#[inline]
pub(crate) fn looks_numeric(text: &[u8]) -> Option<f64> {
    let (value, end) = prefix(text)?;
    text.get(end..)?.iter().all(|byte| is_blank(*byte)).then_some(value)
}

/// Parses a number like program source or `strtonum`, with `0x` and a leading 0 for octal.
pub(crate) fn with_base(text: &[u8]) -> f64 {
    let start = blanks(text);
    let rest = text.get(start..).unwrap_or_default();
    let (negative, digits) = match rest {
        [b'-', rest @ ..] => (true, rest),
        [b'+', rest @ ..] => (false, rest),
        _ => (false, rest),
    };
    let value = match digits {
        [b'0', b'x' | b'X', hex @ ..] => in_base(hex, 16),
        [b'0', octal @ ..] if is_octal(octal) => in_base(octal, 8),
        _ => return value_of(text),
    };
    if negative { -value } else { value }
}

/// Returns whether the text after a leading 0 is octal: digits below 8, without a point or exponent.
pub(crate) fn is_octal(digits: &[u8]) -> bool {
    let end = digits.iter().position(|byte| !byte.is_ascii_digit()).unwrap_or(digits.len());
    let stops = !matches!(digits.get(end), Some(b'.' | b'e' | b'E'));
    end > 0 && stops && digits.get(..end).is_some_and(|digits| digits.iter().all(|byte| *byte < b'8'))
}

pub(crate) fn in_base(digits: &[u8], base: u32) -> f64 {
    let mut value = 0.0;
    for digit in digits.iter().map_while(|byte| char::from(*byte).to_digit(base)) {
        value = value * f64::from(base) + f64::from(digit);
    }
    value
}

/// Formats an integer without a format string.
#[inline]
pub(crate) fn write_integer(value: i64, out: &mut Vec<u8>) {
    let mut room = [0u8; 20];
    let mut at = room.len();
    let mut rest = value.unsigned_abs();
    loop {
        at -= 1;
        if let Some(digit) = room.get_mut(at) {
            *digit = b'0' + (rest % 10) as u8;
        }
        rest /= 10;
        if rest == 0 {
            break;
        }
    }
    if value < 0 {
        out.push(b'-');
    }
    out.extend_from_slice(room.get(at..).unwrap_or_default());
}

/// The integer value of a double, if it is integral and in range.
#[inline]
pub(crate) fn as_integer(value: f64) -> Option<i64> {
    let whole = value as i64;
    (whole as f64 == value && whole != i64::MAX && whole != i64::MIN).then_some(whole)
}

/// Text for values that are not numbers.
pub(crate) fn special(value: f64) -> Option<&'static str> {
    if value.is_nan() {
        return Some(if value.is_sign_negative() { "-nan" } else { "+nan" });
    }
    value.is_infinite().then_some(if value < 0.0 { "-inf" } else { "+inf" })
}

/// Formats a number with the given number of decimals.
pub(crate) fn write_fixed(value: f64, digits: usize, out: &mut Vec<u8>) {
    // Writing to memory does not fail.
    let _ = write!(out, "{value:.digits$}");
}

/// Writes a number as `%e` does.
pub(crate) fn write_scientific(value: f64, digits: usize, point: bool, out: &mut Vec<u8>) {
    let text = format!("{value:.digits$e}");
    let (mantissa, exponent) = text.split_once('e').unwrap_or((&text, "0"));
    let (sign, exponent) = exponent.strip_prefix('-').map_or(('+', exponent), |rest| ('-', rest));
    let dot = if point && digits == 0 { "." } else { "" };
    let _ = write!(out, "{mantissa}{dot}e{sign}{exponent:0>2}");
}

/// Writes a number as `%g` does; `full` keeps zeros at the end.
pub(crate) fn write_general(value: f64, precision: usize, full: bool, out: &mut Vec<u8>) {
    let precision = precision.max(1);
    let text = format!("{value:.*e}", precision - 1);
    let (mantissa, exponent) = text.split_once('e').unwrap_or((&text, "0"));
    let power: i64 = exponent.parse().unwrap_or(0);
    let trimmed = |text: &str| -> String {
        if full || !text.contains('.') {
            return text.to_owned();
        }
        text.trim_end_matches('0').trim_end_matches('.').to_owned()
    };
    if power < -4 || power >= precision as i64 {
        let dot = if full && precision == 1 { "." } else { "" };
        let sign = if power < 0 { '-' } else { '+' };
        let _ = write!(out, "{}{dot}e{sign}{:02}", trimmed(mantissa), power.unsigned_abs());
        return;
    }
    let digits = usize::try_from(precision as i64 - 1 - power).unwrap_or(0);
    let fixed = format!("{value:.digits$}");
    let dot = if full && digits == 0 { "." } else { "" };
    let _ = write!(out, "{}{dot}", trimmed(&fixed));
}
