//! Backslash escapes of `echo -e`, `printf` and `$'..'`.

use crate::ir::Bytes;

/// The dialect of escapes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Escapes {
    /// `echo -e`: an octal number comes after `\0`, and quotes have no escape.
    Echo,
    /// An operand of `printf %b`: as `echo -e`, and the 0 may be missing.
    Operand,
    /// The format of `printf`, and `$'..'`: an octal number is one to three digits, and quotes have escapes.
    Ansi,
}

/// Appends the meaning of the escape at the start of `text`, after its backslash, and returns the rest. An invalid escape
/// stays as it is; `report` is called if digits are missing. The caller handles `\c`, because its meaning differs.
pub(crate) fn replace<'t>(escapes: Escapes, text: &'t [u8], out: &mut Bytes, report: impl FnOnce(&str)) -> &'t [u8] {
    let Some((&letter, rest)) = text.split_first() else {
        out.push(b'\\');
        return text;
    };
    let ansi = escapes == Escapes::Ansi;
    let byte = match letter {
        b'a' => 7,
        b'b' => 8,
        b'e' | b'E' => 27,
        b'f' => 12,
        b'n' => b'\n',
        b'r' => b'\r',
        b't' => b'\t',
        b'v' => 11,
        b'\\' => b'\\',
        b'\'' | b'"' | b'?' if ansi => letter,
        b'0' if !ansi => return octal(rest, out),
        b'0'..=b'7' if escapes != Escapes::Echo => return octal(text, out),
        b'x' | b'u' | b'U' => return hexadecimal(letter, rest, out, report),
        _ => {
            out.extend_from_slice(&[b'\\', letter]);
            return rest;
        }
    };
    out.push(byte);
    rest
}

fn octal<'t>(digits: &'t [u8], out: &mut Bytes) -> &'t [u8] {
    let (value, len) = number(digits, 8, 3);
    out.push((value & 255) as u8);
    digits.get(len..).unwrap_or_default()
}

/// `\xHH` is a byte, `\uHHHH` and `\UHHHHHHHH` are characters.
fn hexadecimal<'t>(letter: u8, digits: &'t [u8], out: &mut Bytes, report: impl FnOnce(&str)) -> &'t [u8] {
    let (max_digits, missing) = match letter {
        b'x' => (2, "missing hex digit for \\x"),
        b'u' => (4, "missing unicode digit for \\u"),
        _ => (8, "missing unicode digit for \\U"),
    };
    let (value, len) = number(digits, 16, max_digits);
    match (len, letter) {
        (0, _) => {
            out.extend_from_slice(&[b'\\', letter]);
            report(missing);
        }
        (_, b'x') => out.push((value & 255) as u8),
        _ => push_char(out, value),
    }
    digits.get(len..).unwrap_or_default()
}

/// Text with the escapes of `echo -e` or `printf %b` replaced; whether `\c` ended it.
pub(crate) fn unescape(escapes: Escapes, text: &[u8], mut report: impl FnMut(&str)) -> (Bytes, bool) {
    let mut out = Bytes::with_capacity(text.len());
    let mut rest = text;
    while let Some((&byte, after)) = rest.split_first() {
        rest = after;
        match byte {
            b'\\' if after.first() == Some(&b'c') => return (out, true),
            b'\\' => rest = replace(escapes, after, &mut out, &mut report),
            _ => out.push(byte),
        }
    }
    (out, false)
}

/// The number at the start of `text` with at max_digits `max_digits` digits, and how many it has.
fn number(text: &[u8], radix: u32, max_digits: usize) -> (u32, usize) {
    let mut value: u32 = 0;
    let mut len = 0;
    for &byte in text.iter().take(max_digits) {
        let Some(digit) = char::from(byte).to_digit(radix) else { break };
        value = value.wrapping_mul(radix).wrapping_add(digit);
        len += 1;
    }
    (value, len)
}

/// Appends a code point in UTF-8, as bash does, even if it is not a character. Without such characters in the locale it
/// stays an escape.
fn push_char(out: &mut Bytes, code: u32) {
    if code > 0x7f && !crate::character::writes_unicode() {
        let text = if code <= 0xffff { format!("\\u{code:04X}") } else { format!("\\U{code:08X}") };
        out.extend_from_slice(text.as_bytes());
        return;
    }
    if let Some(char) = char::from_u32(code) {
        out.extend_from_slice(char.encode_utf8(&mut [0; 4]).as_bytes());
        return;
    }
    let (lead, more) = match code {
        0..=0xffff => (0xe0, 2),
        0x1_0000..=0x1f_ffff => (0xf0, 3),
        0x20_0000..=0x3ff_ffff => (0xf8, 4),
        0x400_0000..=0x7fff_ffff => (0xfc, 5),
        _ => return,
    };
    out.push(lead | (code >> (6 * more)) as u8);
    out.extend((0..more).rev().map(|at| 0x80 | ((code >> (6 * at)) & 0x3f) as u8));
}
