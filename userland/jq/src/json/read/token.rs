//! JSON tokens.

use super::Fault;
use crate::value::{Number, Val};

pub(super) fn literal_value(token: &[u8]) -> Result<Val, Fault> {
    match token {
        b"true" => Ok(Val::Bool(true)),
        b"false" => Ok(Val::Bool(false)),
        b"null" => Ok(Val::Null),
        b"nan" => Ok(Val::number(f64::NAN)),
        // Three letters could be `nan`, which counts as a number.
        [b'n', _, _] => Err("Invalid numeric literal"),
        [b't' | b'f' | b'n', ..] => Err("Invalid literal"),
        token => {
            let bad = "Invalid numeric literal";
            let text = std::str::from_utf8(token).map_err(|_| bad)?;
            let unsigned = text.strip_prefix(['-', '+']).unwrap_or(text);
            if unsigned.eq_ignore_ascii_case("nan") {
                return Ok(Val::number(f64::NAN));
            }
            let is_infinite = unsigned.eq_ignore_ascii_case("infinity") || unsigned.eq_ignore_ascii_case("inf");
            if !is_infinite && !unsigned.starts_with(|char: char| char.is_ascii_digit() || char == '.') {
                return Err(bad);
            }
            Number::from_literal(text).map(Val::Number).ok_or(bad)
        }
    }
}

pub(super) fn hex(digits: Option<&[u8]>) -> Option<u32> {
    let digits = std::str::from_utf8(digits?).ok()?;
    digits.bytes().all(|digit| digit.is_ascii_hexdigit()).then(|| u32::from_str_radix(digits, 16).ok())?
}

/// The text between quotes.
pub(super) fn unescaped(token: &[u8]) -> Result<String, Fault> {
    let mut text = Vec::with_capacity(token.len());
    let mut at = 0;
    while let Some(byte) = token.get(at) {
        at += 1;
        match byte {
            b'\\' => {
                let escape = token.get(at).ok_or("Expected escape character at end of string")?;
                at += 1;
                text.push(match escape {
                    b'\\' | b'"' | b'/' => *escape,
                    b'b' => 8,
                    b'f' => 12,
                    b't' => b'\t',
                    b'n' => b'\n',
                    b'r' => b'\r',
                    b'u' => {
                        let char = escaped_char(token, &mut at)?;
                        text.extend_from_slice(char.encode_utf8(&mut [0; 4]).as_bytes());
                        continue;
                    }
                    _ => return Err("Invalid escape"),
                });
            }
            0x01..0x1f => {
                return Err("Invalid string: control characters from U+0000 through U+001F must be escaped");
            }
            byte => text.push(*byte),
        }
    }
    Ok(match String::from_utf8(text) {
        Ok(text) => text,
        Err(error) => String::from_utf8_lossy(error.as_bytes()).into_owned(),
    })
}

pub(super) fn escaped_char(token: &[u8], at: &mut usize) -> Result<char, Fault> {
    if token.len() < *at + 4 {
        return Err("Invalid \\uXXXX escape");
    }
    let mut code = hex(token.get(*at..*at + 4)).ok_or("Invalid characters in \\uXXXX escape")?;
    *at += 4;
    if (0xd800..0xdc00).contains(&code) {
        let follows = token.get(*at..*at + 2) == Some(b"\\u");
        let low = hex(token.get(*at + 2..*at + 6)).filter(|low| follows && (0xdc00..0xe000).contains(low));
        let low = low.ok_or("Invalid \\uXXXX\\uXXXX surrogate pair escape")?;
        *at += 6;
        code = 0x10000 + ((code - 0xd800) << 10) + (low - 0xdc00);
    }
    Ok(char::from_u32(code).unwrap_or(char::REPLACEMENT_CHARACTER))
}
