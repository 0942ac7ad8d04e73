//! `printf`.

use crate::number;
use crate::text;
use crate::value::Value;

/// Maximum width and precision, to bound memory.
const MAX_WIDTH: usize = 1 << 26;

/// Maximum number of computed decimals; a double has only zeros after them.
const MAX_DIGITS: usize = 1100;

/// The error of `%1$s` and `%*1$d`.
const UNNUMBERED: &str = "arguments by number (`count$') are not supported";

/// One `%` directive, without its letter.
#[derive(Clone, Debug, Default)]
struct Spec {
    left: bool,
    plus: bool,
    space: bool,
    zero: bool,
    alternate: bool,
    width: usize,
    precision: Option<usize>,
}

impl Spec {
    /// Parses the flags at the start of a text and returns their number.
    fn flags(&mut self, text: &[u8]) -> usize {
        for (at, byte) in text.iter().enumerate() {
            match byte {
                b'-' => self.left = true,
                b'+' => self.plus = true,
                b' ' => self.space = true,
                b'0' => self.zero = true,
                b'#' => self.alternate = true,
                b'\'' => {}
                _ => return at,
            }
        }
        text.len()
    }
}

/// Source of the arguments.
struct Arguments<'a> {
    format: &'a [u8],
    values: &'a [Value],
    next: usize,
}

impl<'a> Arguments<'a> {
    /// The next argument. `letter` is the position of the directive's letter.
    fn take(&mut self, letter: usize) -> Result<&'a Value, String> {
        self.next += 1;
        self.values.get(self.next - 1).ok_or_else(|| {
            let format = String::from_utf8_lossy(self.format).into_owned();
            let spaces = " ".repeat(letter);
            format!("not enough arguments to satisfy format string\n\t`{format}'\n\t{spaces}^ ran out for this one")
        })
    }
}

/// Formats values. Fails with GNU awk's message if there are too few.
pub(crate) fn write(format: &[u8], values: &[Value], conversion: &[u8], out: &mut Vec<u8>) -> Result<(), String> {
    let mut arguments = Arguments { format, values, next: 0 };
    let mut at = 0;
    while let Some(rest) = format.get(at..).filter(|rest| !rest.is_empty()) {
        let plain = memchr::memchr(b'%', rest).unwrap_or(rest.len());
        out.extend_from_slice(rest.get(..plain).unwrap_or_default());
        at += plain;
        if at >= format.len() {
            break;
        }
        at = directive(&mut arguments, at, conversion, out)?;
    }
    Ok(())
}

/// Formats one directive. Returns the position after it.
fn directive(
    arguments: &mut Arguments<'_>,
    start: usize,
    conversion: &[u8],
    out: &mut Vec<u8>,
) -> Result<usize, String> {
    let format = arguments.format;
    let mut spec = Spec::default();
    let mut at = start + 1;
    let digits = |at: usize| digits_at(format, at);
    let parsed = |at: usize, length: usize| -> usize {
        let text = std::str::from_utf8(format.get(at..at + length).unwrap_or_default()).unwrap_or("0");
        text.parse().unwrap_or(MAX_WIDTH).min(MAX_WIDTH)
    };
    if digits(at) > 0 && format.get(at + digits(at)) == Some(&b'$') {
        return Err(UNNUMBERED.to_owned());
    }
    at += spec.flags(format.get(at..).unwrap_or_default());
    if format.get(at) == Some(&b'*') {
        at += 1;
        let width = starred(arguments, at)?;
        spec.left |= width < 0.0;
        spec.width = (width.abs() as usize).min(MAX_WIDTH);
    } else {
        spec.width = parsed(at, digits(at).max(1).min(format.len().saturating_sub(at)));
        spec.width = if digits(at) == 0 { 0 } else { spec.width };
        at += digits(at);
    }
    if format.get(at) == Some(&b'.') {
        at += 1;
        if format.get(at) == Some(&b'*') {
            at += 1;
            let precision = starred(arguments, at)?;
            spec.precision = (precision >= 0.0).then_some((precision as usize).min(MAX_WIDTH));
        } else {
            spec.precision = Some(if digits(at) == 0 { 0 } else { parsed(at, digits(at)) });
            at += digits(at);
        }
    }
    while matches!(format.get(at), Some(b'h' | b'l' | b'L' | b'q' | b'j' | b't')) {
        at += 1;
    }
    if at >= format.len() {
        // An incomplete directive at the end is written literally.
        out.extend_from_slice(format.get(start..).unwrap_or_default());
        return Ok(format.len());
    }
    if !convert(arguments, at, &spec, conversion, out)? {
        out.extend_from_slice(format.get(start..=at).unwrap_or_default());
    }
    Ok(at + 1)
}

/// Formats the argument by the letter at a position. Returns `false` for an unknown letter.
fn convert(
    arguments: &mut Arguments<'_>,
    at: usize,
    spec: &Spec,
    conversion: &[u8],
    out: &mut Vec<u8>,
) -> Result<bool, String> {
    let letter = arguments.format.get(at).copied().unwrap_or_default();
    match letter {
        b'%' => out.push(b'%'),
        b'c' => character(arguments.take(at)?, spec, conversion, out),
        b's' => {
            let value = arguments.take(at)?;
            let mut text = Vec::new();
            value.write(conversion, &mut text);
            if let Some(precision) = spec.precision {
                text.truncate(text::offset_of(&text, precision));
            }
            pad_text(&text, spec, out);
        }
        b'd' | b'i' => integer(arguments.take(at)?.number(), spec, out),
        b'o' | b'x' | b'X' | b'u' => unsigned(arguments.take(at)?.number(), letter, spec, out),
        b'e' | b'E' | b'f' | b'F' | b'g' | b'G' => floating(arguments.take(at)?.number(), letter, spec, out),
        b'a' | b'A' => return Err(format!("the format `%{}' is not supported", char::from(letter))),
        _ => return Ok(false),
    }
    Ok(true)
}

fn digits_at(format: &[u8], at: usize) -> usize {
    format.iter().skip(at).take_while(|byte| byte.is_ascii_digit()).count()
}

/// The value for a `*` before this position.
fn starred(arguments: &mut Arguments<'_>, at: usize) -> Result<f64, String> {
    let format = arguments.format;
    let digits = digits_at(format, at);
    if digits > 0 && format.get(at + digits) == Some(&b'$') {
        return Err(UNNUMBERED.to_owned());
    }
    Ok(arguments.take(at.saturating_sub(1))?.number().trunc())
}

/// Formats one number with `CONVFMT` or `OFMT`.
pub(crate) fn number(format: &[u8], value: f64, out: &mut Vec<u8>) {
    // Only one argument exists; further directives are formatted as without an argument.
    if write(format, &[Value::Number(value)], b"%.6g", out).is_err() {
        number::write_general(value, 6, false, out);
    }
}

fn pad_text(text: &[u8], spec: &Spec, out: &mut Vec<u8>) {
    let missing = match spec.width {
        0 => 0,
        width => width.saturating_sub(text::chars_before(text, text.len())),
    };
    if !spec.left {
        out.resize(out.len() + missing, b' ');
    }
    out.extend_from_slice(text);
    if spec.left {
        out.resize(out.len() + missing, b' ');
    }
}

fn character(value: &Value, spec: &Spec, conversion: &[u8], out: &mut Vec<u8>) {
    let mut text = Vec::new();
    let numeric = match value {
        Value::Number(number) => Some(*number),
        Value::Input(text) => number::looks_numeric(text.bytes()),
        _ => None,
    };
    match numeric {
        Some(number) => write_char(number, &mut text),
        None => {
            value.write(conversion, &mut text);
            // NUL is a character, too.
            let length = text::char_len(&text).max(1);
            text.resize(length, 0);
        }
    }
    pad_text(&text, spec, out);
}

/// The character with a code point, even if it is invalid in Unicode.
fn write_char(number: f64, out: &mut Vec<u8>) {
    let code = number as i64 as u32;
    match code {
        _ if text::chars_are_bytes() => out.push(code as u8),
        0..=0x7f => out.push(code as u8),
        0x80..=0x7ff => out.extend_from_slice(&[0xc0 | (code >> 6) as u8, 0x80 | (code & 63) as u8]),
        0xd800..=0xdfff => out.push(code as u8),
        0x800..=0xffff => {
            out.extend_from_slice(&[
                0xe0 | (code >> 12) as u8,
                0x80 | (code >> 6 & 63) as u8,
                0x80 | (code & 63) as u8,
            ]);
        }
        0x1_0000..=0x1f_ffff => out.extend_from_slice(&[
            0xf0 | (code >> 18) as u8,
            0x80 | (code >> 12 & 63) as u8,
            0x80 | (code >> 6 & 63) as u8,
            0x80 | (code & 63) as u8,
        ]),
        // The original UTF-8 encoding, up to six bytes.
        0x20_0000..=0x7fff_ffff => {
            let (first, more) = if code < 0x400_0000 { (0xf8 | code >> 24, 4) } else { (0xfc | code >> 30, 5) };
            out.push(first as u8);
            out.extend((0..more).rev().map(|at| 0x80 | (code >> (at * 6) & 63) as u8));
        }
        _ => out.push(code as u8),
    }
}

/// Writes digits with sign and prefix, padded to width and precision.
fn pad_number(sign: &str, prefix: &str, digits: &[u8], whole: bool, spec: &Spec, out: &mut Vec<u8>) {
    let least = if whole { spec.precision.unwrap_or(1) } else { 0 };
    let mut zeros = least.saturating_sub(digits.len());
    let length = sign.len() + prefix.len() + zeros + digits.len();
    let missing = spec.width.saturating_sub(length);
    // The precision is the minimum number of digits.
    let by_zeros = spec.zero && !spec.left && !(whole && spec.precision.is_some());
    if by_zeros {
        zeros += missing;
    } else if !spec.left {
        out.resize(out.len() + missing, b' ');
    }
    out.extend_from_slice(sign.as_bytes());
    out.extend_from_slice(prefix.as_bytes());
    out.resize(out.len() + zeros, b'0');
    out.extend_from_slice(digits);
    if spec.left {
        out.resize(out.len() + missing, b' ');
    }
}

fn sign(negative: bool, spec: &Spec) -> &'static str {
    match (negative, spec.plus, spec.space) {
        (true, _, _) => "-",
        (_, true, _) => "+",
        (_, _, true) => " ",
        _ => "",
    }
}

/// Formats infinity and NaN: a name instead of digits.
fn not_a_number(value: f64, out: &mut Vec<u8>) -> bool {
    let Some(word) = number::special(value) else {
        return false;
    };
    // Neither width nor flags change it.
    out.extend_from_slice(word.as_bytes());
    true
}

fn integer(value: f64, spec: &Spec, out: &mut Vec<u8>) {
    if not_a_number(value, out) {
        return;
    }
    let whole = value.trunc();
    let mut digits = Vec::new();
    match number::as_integer(whole) {
        Some(whole) => number::write_integer(whole.saturating_abs(), &mut digits),
        None => number::write_fixed(whole.abs(), 0, &mut digits),
    }
    if digits == b"0" && spec.precision == Some(0) {
        digits.clear();
    }
    pad_number(sign(whole < 0.0, spec), "", &digits, true, spec, out);
}

fn unsigned(value: f64, letter: u8, spec: &Spec, out: &mut Vec<u8>) {
    if not_a_number(value, out) {
        return;
    }
    let whole = value.trunc();
    let bits = if (-9_223_372_036_854_775_808.0..0.0).contains(&whole) {
        whole as i64 as u64
    } else if (0.0..18_446_744_073_709_551_616.0).contains(&whole) {
        whole as u64
    } else {
        // Values out of range are formatted as `%g`.
        return floating(value, b'g', &Spec { precision: spec.precision, ..spec.clone() }, out);
    };
    let (mut digits, prefix) = match letter {
        b'o' => (format!("{bits:o}"), ""),
        b'x' => (format!("{bits:x}"), if spec.alternate && bits != 0 { "0x" } else { "" }),
        b'X' => (format!("{bits:X}"), if spec.alternate && bits != 0 { "0X" } else { "" }),
        _ => (bits.to_string(), ""),
    };
    if letter == b'o' && spec.alternate && !digits.starts_with('0') {
        digits.insert(0, '0');
    }
    if bits == 0 && spec.precision == Some(0) && !(letter == b'o' && spec.alternate) {
        digits.clear();
    }
    pad_number("", prefix, digits.as_bytes(), true, spec, out);
}

fn floating(value: f64, letter: u8, spec: &Spec, out: &mut Vec<u8>) {
    if not_a_number(value, out) {
        return;
    }
    let magnitude = value.abs();
    let precision = spec.precision.unwrap_or(6);
    // All further digits are zeros.
    let (worked, zeros) = (precision.min(MAX_DIGITS), precision.saturating_sub(MAX_DIGITS));
    let mut digits = Vec::new();
    match letter {
        b'f' | b'F' => {
            number::write_fixed(magnitude, worked, &mut digits);
            digits.resize(digits.len() + zeros, b'0');
            if spec.alternate && precision == 0 {
                digits.push(b'.');
            }
        }
        b'e' | b'E' => number::write_scientific(magnitude, worked, spec.alternate, &mut digits),
        _ => number::write_general(magnitude, worked, spec.alternate, &mut digits),
    }
    if letter.is_ascii_uppercase() {
        digits.make_ascii_uppercase();
    }
    pad_number(sign(value.is_sign_negative(), spec), "", &digits, false, spec, out);
}
