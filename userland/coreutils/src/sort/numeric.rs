//! Orderings of numbers and months. Decimal numbers are compared without rounding.

use std::cmp::Ordering;

use super::key::is_blank;

/// Digits of a decimal number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Decimal<'t> {
    negative: bool,
    whole: &'t [u8],
    fraction: &'t [u8],
}

/// Splits the digits at the start of a text from the rest.
pub(super) fn split_digits(text: &[u8]) -> (&[u8], &[u8]) {
    let end = text.iter().take_while(|byte| byte.is_ascii_digit()).count();
    text.split_at_checked(end).unwrap_or((text, b""))
}

fn decimal(text: &[u8]) -> (Decimal<'_>, &[u8]) {
    let text = text.trim_ascii_start_blank();
    let (negative, text) = match text.strip_prefix(b"-") {
        Some(rest) => (true, rest),
        None => (false, text),
    };
    let (whole, mut rest) = split_digits(text);
    let mut fraction: &[u8] = b"";
    if let [b'.', after @ ..] = rest {
        (fraction, rest) = split_digits(after);
    }
    let zeros = whole.iter().take_while(|byte| **byte == b'0').count();
    let whole = whole.get(zeros..).unwrap_or_default();
    let end = fraction.iter().rposition(|byte| *byte != b'0').map_or(0, |at| at + 1);
    let fraction = fraction.get(..end).unwrap_or_default();
    // Negative zero equals zero.
    let negative = negative && !(whole.is_empty() && fraction.is_empty());
    (Decimal { negative, whole, fraction }, rest)
}

trait Blank {
    fn trim_ascii_start_blank(&self) -> &Self;
}

impl Blank for [u8] {
    fn trim_ascii_start_blank(&self) -> &Self {
        let start = self.iter().take_while(|byte| is_blank(**byte)).count();
        self.get(start..).unwrap_or_default()
    }
}

impl Decimal<'_> {
    fn compare(&self, other: &Self) -> Ordering {
        match (self.negative, other.negative) {
            (false, true) => return Ordering::Greater,
            (true, false) => return Ordering::Less,
            _ => {}
        }
        let by_whole = self.whole.len().cmp(&other.whole.len()).then_with(|| self.whole.cmp(other.whole));
        let order = by_whole.then_with(|| self.fraction.cmp(other.fraction));
        if self.negative { order.reverse() } else { order }
    }
}

/// Returns a whole number of at most 18 digits. Other numbers need [`numeric`].
pub(super) fn small_whole(text: &[u8]) -> Option<i64> {
    let (decimal, _) = decimal(text);
    if !decimal.fraction.is_empty() || decimal.whole.len() > 18 {
        return None;
    }
    let value = decimal.whole.iter().fold(0_i64, |value, digit| value * 10 + i64::from(digit - b'0'));
    Some(if decimal.negative { -value } else { value })
}

/// Returns the length of the number at the start of a text. With `human` it includes the unit.
pub(super) fn length(text: &[u8], human: bool) -> usize {
    let sign = usize::from(text.first() == Some(&b'-'));
    let (whole, rest) = split_digits(text.get(sign..).unwrap_or_default());
    let fraction = match rest {
        [b'.', after @ ..] => 1 + split_digits(after).0.len(),
        _ => 0,
    };
    if whole.is_empty() && fraction < 2 {
        return 0;
    }
    let unit = rest.get(fraction).is_some_and(|unit| human && b"kKMGTPEZY".contains(unit));
    sign + whole.len() + fraction + usize::from(unit)
}

/// Compares numbers like `-n`.
pub(super) fn numeric(a: &[u8], b: &[u8]) -> Ordering {
    decimal(a).0.compare(&decimal(b).0)
}

/// Compares numbers like `-h`: by unit, then by value.
pub(super) fn human(a: &[u8], b: &[u8]) -> Ordering {
    let unit = |(number, rest): (Decimal<'_>, &[u8])| -> i32 {
        if number.whole.is_empty() && number.fraction.is_empty() {
            return 0;
        }
        let rank = match rest.first() {
            Some(b'k') => 1,
            Some(letter) => b"KMGTPEZY".iter().position(|unit| unit == letter).map_or(0, |at| at as i32 + 1),
            None => 0,
        };
        if number.negative { -rank } else { rank }
    };
    unit(decimal(a)).cmp(&unit(decimal(b))).then_with(|| numeric(a, b))
}

/// Returns the number of a month for `-M`; 0 if the text does not start with one.
pub(super) fn month(text: &[u8]) -> usize {
    let name = text.trim_ascii_start_blank().get(..3).unwrap_or_default();
    let known = |month: &&str| month.as_bytes().get(..3).is_some_and(|short| short.eq_ignore_ascii_case(name));
    tidebox_gnu::calendar::MONTHS.iter().position(known).map_or(0, |at| at + 1)
}

/// Compares numbers like `-g`. Other texts come first, then NaN, then numbers.
pub(super) fn general(a: &[u8], b: &[u8]) -> Ordering {
    match (floating(a).0, floating(b).0) {
        (None, None) => Ordering::Equal,
        (None, _) => Ordering::Less,
        (_, None) => Ordering::Greater,
        (Some(a), Some(b)) => {
            let of_nan = || match (a.is_nan(), b.is_nan()) {
                (true, true) => a.to_bits().cmp(&b.to_bits()),
                (true, false) => Ordering::Less,
                _ => Ordering::Greater,
            };
            a.partial_cmp(&b).unwrap_or_else(of_nan)
        }
    }
}

/// Parses the number at the start of a text like `strtod`. Returns it with its length.
pub(super) fn floating(text: &[u8]) -> (Option<f64>, usize) {
    let start = text.iter().take_while(|byte| byte.is_ascii_whitespace() || **byte == 0x0b).count();
    let at = |at: usize| text.get(at).copied().unwrap_or(0);
    let mut here = start;
    if matches!(at(here), b'+' | b'-') {
        here += 1;
    }
    let rest = text.get(here..).unwrap_or_default();
    let has_prefix = |prefix: &[u8]| rest.get(..prefix.len()).is_some_and(|head| head.eq_ignore_ascii_case(prefix));
    let sign = if at(start) == b'-' { -1.0 } else { 1.0 };
    for (word, value) in [("infinity", f64::INFINITY), ("inf", f64::INFINITY), ("nan", f64::NAN)] {
        if has_prefix(word.as_bytes()) {
            return (Some(value.copysign(sign)), here + word.len());
        }
    }
    if has_prefix(b"0x")
        && (at(here + 2).is_ascii_hexdigit() || at(here + 2) == b'.' && at(here + 3).is_ascii_hexdigit())
    {
        let (value, length) = hexadecimal(rest.get(2..).unwrap_or_default());
        return (Some(value * sign), here + 2 + length);
    }
    let digits = |from: usize| text.get(from..).map_or(0, |rest| split_digits(rest).0.len());
    let whole = digits(here);
    let mut end = here + whole;
    let mut some = whole;
    if at(end) == b'.' {
        let fraction = digits(end + 1);
        some += fraction;
        end += 1 + fraction;
    }
    if some == 0 {
        return (None, 0);
    }
    if matches!(at(end), b'e' | b'E') {
        let signed = usize::from(matches!(at(end + 1), b'+' | b'-'));
        let exponent = digits(end + 1 + signed);
        if exponent > 0 {
            end += 1 + signed + exponent;
        }
    }
    let number = text.get(start..end).and_then(|number| std::str::from_utf8(number).ok());
    (number.and_then(|number| number.parse().ok()), end)
}

/// Parses a hexadecimal number after its `0x`. Returns it with its length.
fn hexadecimal(text: &[u8]) -> (f64, usize) {
    let (mut value, mut scale, mut at, mut fraction) = (0.0_f64, 0_i32, 0, false);
    while let Some(byte) = text.get(at) {
        match (char::from(*byte).to_digit(16), byte) {
            (Some(digit), _) => {
                value = value * 16.0 + f64::from(digit);
                scale -= if fraction { 4 } else { 0 };
            }
            (None, b'.') if !fraction => fraction = true,
            _ => break,
        }
        at += 1;
    }
    if matches!(text.get(at), Some(b'p' | b'P')) {
        let rest = text.get(at + 1..).unwrap_or_default();
        let negative = rest.first() == Some(&b'-');
        let signed = usize::from(matches!(rest.first(), Some(b'+' | b'-')));
        let (digits, _) = split_digits(rest.get(signed..).unwrap_or_default());
        if !digits.is_empty() {
            let power = std::str::from_utf8(digits).ok().and_then(|digits| digits.parse().ok()).unwrap_or(99_999);
            scale = scale.saturating_add(if negative { -power } else { power });
            at += 1 + signed + digits.len();
        }
    }
    (value * 2.0_f64.powi(scale), at)
}
