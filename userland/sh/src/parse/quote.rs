//! Quotation that is resolved while parsing.

use crate::ir::Bytes;

/// The text that `$'..'` means.
pub(crate) fn ansi_c(text: &[u8]) -> Bytes {
    let mut out = Bytes::with_capacity(text.len());
    let mut rest = text;
    while let Some((&byte, after)) = rest.split_first() {
        rest = after;
        if byte != b'\\' {
            out.push(byte);
            continue;
        }
        let Some((&escape, after)) = rest.split_first() else {
            out.push(b'\\');
            break;
        };
        rest = after;
        match escape {
            b'a' => out.push(7),
            b'b' => out.push(8),
            b'e' | b'E' => out.push(27),
            b'f' => out.push(12),
            b'n' => out.push(b'\n'),
            b'r' => out.push(b'\r'),
            b't' => out.push(b'\t'),
            b'v' => out.push(11),
            b'\\' | b'\'' | b'"' | b'?' => out.push(escape),
            b'0'..=b'7' => {
                let (value, len) = number(text_with(escape, rest).as_slice(), 8, 3);
                out.push((value & 255) as u8);
                rest = rest.get(len.saturating_sub(1)..).unwrap_or_default();
            }
            b'x' | b'u' | b'U' => {
                let most = match escape {
                    b'x' => 2,
                    b'u' => 4,
                    _ => 8,
                };
                let (value, len) = number(rest, 16, most);
                if len == 0 {
                    out.extend_from_slice(&[b'\\', escape]);
                } else if escape == b'x' {
                    out.push((value & 255) as u8);
                } else {
                    push_char(&mut out, value);
                }
                rest = rest.get(len..).unwrap_or_default();
            }
            b'c' => {
                if let Some((&control, after)) = rest.split_first() {
                    out.push(control.to_ascii_uppercase() ^ 64);
                    rest = after;
                }
            }
            other => out.extend_from_slice(&[b'\\', other]),
        }
    }
    // A NUL cannot be part of a string of the shell; bash cuts there too.
    if let Some(nul) = out.iter().position(|&b| b == 0) {
        out.truncate(nul);
    }
    out
}

/// The first digits again, because octal escapes have no letter of their own.
fn text_with(first: u8, rest: &[u8]) -> Bytes {
    let mut text = vec![first];
    text.extend_from_slice(rest.get(..2.min(rest.len())).unwrap_or_default());
    text
}

/// The number at the start of `text` with at most `most` digits, and how many it has.
pub(crate) fn number(text: &[u8], radix: u32, most: usize) -> (u32, usize) {
    let mut value: u32 = 0;
    let mut len = 0;
    for &byte in text.iter().take(most) {
        let Some(digit) = char::from(byte).to_digit(radix) else { break };
        value = value.wrapping_mul(radix).wrapping_add(digit);
        len += 1;
    }
    (value, len)
}

/// Appends a code point as UTF-8; one that does not exist becomes the replacement character.
pub(crate) fn push_char(out: &mut Bytes, code: u32) {
    let char = char::from_u32(code).unwrap_or(char::REPLACEMENT_CHARACTER);
    out.extend_from_slice(char.encode_utf8(&mut [0; 4]).as_bytes());
}

/// A word without its quotes and without expanding anything, as for the delimiter of a here-document.
pub(super) fn remove_quotes(raw: &[u8]) -> Bytes {
    let mut out = Bytes::new();
    let mut quote = None;
    let mut bytes = raw.iter().copied().peekable();
    while let Some(byte) = bytes.next() {
        match (quote, byte) {
            (None, b'\\') => out.extend(bytes.next().filter(|&b| b != b'\n')),
            (None, b'\'' | b'"') => quote = Some(byte),
            (Some(b'"'), b'\\') if matches!(bytes.peek(), Some(b'"' | b'\\' | b'$' | b'`')) => out.extend(bytes.next()),
            (Some(open), _) if open == byte => quote = None,
            _ => out.push(byte),
        }
    }
    out
}
