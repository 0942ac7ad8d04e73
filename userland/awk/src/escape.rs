//! Escapes of strings and regular expressions.

use crate::number;

/// The byte of an escape valid in both strings and regular expressions, and its length: a letter for a control character, or up
/// to three octal digits.
pub(crate) fn character(rest: &[u8]) -> Option<(u8, usize)> {
    let byte = match rest.first()? {
        b'n' => b'\n',
        b't' => b'\t',
        b'r' => b'\r',
        b'f' => 0x0c,
        b'v' => 0x0b,
        b'a' => 7,
        b'b' => 8,
        b'0'..=b'7' => {
            let length = rest.iter().take(3).take_while(|byte| (b'0'..=b'7').contains(byte)).count();
            let value = rest.get(..length)?.iter().fold(0u32, |value, digit| value * 8 + u32::from(digit - b'0'));
            return Some(((value & 255) as u8, length));
        }
        _ => return None,
    };
    Some((byte, 1))
}

/// Resolves one escape after its backslash. Returns the number of bytes used, and a warning if necessary.
pub(crate) fn unescape(rest: &[u8], out: &mut Vec<u8>) -> (usize, Option<String>) {
    let Some(letter) = rest.first().copied() else {
        out.push(b'\\');
        return (0, None);
    };
    if let Some((byte, length)) = character(rest) {
        out.push(byte);
        return (length, None);
    }
    let byte = match letter {
        b'"' | b'\\' => letter,
        b'x' => {
            let digits = rest.iter().skip(1).take(2).take_while(|byte| byte.is_ascii_hexdigit()).count();
            let value = number::in_base(rest.get(1..1 + digits).unwrap_or_default(), 16);
            if digits == 0 {
                out.push(b'x');
                return (1, Some("no hex digits in `\\x' escape sequence".to_owned()));
            }
            out.push(value as u8);
            return (1 + digits, None);
        }
        byte => {
            out.push(byte);
            let shown = String::from_utf8_lossy(&[byte]).into_owned();
            return (1, Some(format!("escape sequence `\\{shown}' treated as plain `{shown}'")));
        }
    };
    out.push(byte);
    (1, None)
}
