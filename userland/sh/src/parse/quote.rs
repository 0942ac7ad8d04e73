//! Quotation that is resolved while parsing.

use crate::escape::{self, Escapes};
use crate::ir::Bytes;

/// The text that `$'..'` means.
pub(crate) fn ansi_c(text: &[u8]) -> Bytes {
    let mut out = Bytes::with_capacity(text.len());
    let mut rest = text;
    while let Some((&byte, after)) = rest.split_first() {
        rest = match (byte, after) {
            (b'\\', [b'c', b'\\', b'\\', after @ ..]) => {
                out.push(b'\\' & 31);
                after
            }
            (b'\\', [b'c', control, after @ ..]) => {
                out.push(if *control == b'?' { 127 } else { control.to_ascii_uppercase() & 31 });
                after
            }
            (b'\\', [b'x', b'{', after @ ..]) => braced_byte(after, &mut out),
            (b'\\', _) => escape::replace(Escapes::Ansi, after, &mut out, |_| {}),
            _ => {
                out.push(byte);
                after
            }
        };
    }
    // A NUL cannot be part of a string of the shell; bash cuts there too.
    if let Some(nul) = out.iter().position(|&b| b == 0) {
        out.truncate(nul);
    }
    out
}

/// Reads `HH}` of `\x{HH}`: any number of digits, of a number whose low byte counts. Without digits it is NUL.
fn braced_byte<'t>(text: &'t [u8], out: &mut Bytes) -> &'t [u8] {
    let len = text.iter().position(|b| !b.is_ascii_hexdigit()).unwrap_or(text.len());
    let (digits, after) = text.split_at(len);
    let value = digits
        .iter()
        .fold(0_u32, |value, &b| value.wrapping_mul(16).wrapping_add(char::from(b).to_digit(16).unwrap_or(0)));
    out.push((value & 255) as u8);
    after.strip_prefix(b"}").unwrap_or(after)
}

/// A word without its quotes and without expanding anything, as for the delimiter of a here-document.
pub(crate) fn remove_quotes(raw: &[u8]) -> Bytes {
    let mut out = Bytes::new();
    let mut quote = None;
    let mut bytes = raw.iter().copied().peekable();
    while let Some(byte) = bytes.next() {
        match (quote, byte) {
            (None, b'\\') => out.extend(bytes.next().filter(|&b| b != b'\n')),
            // `$".."` and `$'..'` quote like the same without the dollar.
            (None, b'$') if matches!(bytes.peek(), Some(b'\'' | b'"')) => {}
            (None, b'\'' | b'"') => quote = Some(byte),
            (Some(b'"'), b'\\') if bytes.peek() == Some(&b'\n') => drop(bytes.next()),
            (Some(b'"'), b'\\') if matches!(bytes.peek(), Some(b'"' | b'\\' | b'$' | b'`')) => out.extend(bytes.next()),
            (Some(open), _) if open == byte => quote = None,
            _ => out.push(byte),
        }
    }
    out
}
