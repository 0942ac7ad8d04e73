//! Escapes of `--printf`.

use tidebox_gnu::message::print_error;

/// Prints an escape and returns the text after it.
pub(super) fn escape<'r>(rest: &'r [u8], out: &mut Vec<u8>) -> &'r [u8] {
    let Some((letter, after)) = rest.split_first() else {
        print_error("stat", "warning: backslash at end of format");
        out.push(b'\\');
        return rest;
    };
    out.push(match letter {
        b'a' => 7,
        b'b' => 8,
        b'e' => 27,
        b'f' => 12,
        b'n' => b'\n',
        b'r' => b'\r',
        b't' => b'\t',
        b'v' => 11,
        b'0'..=b'7' => {
            let count = rest.iter().take(3).take_while(|byte| (b'0'..=b'7').contains(byte)).count();
            let (octal, after) = rest.split_at_checked(count).unwrap_or((rest, b""));
            let value = octal.iter().fold(0u32, |value, digit| value * 8 + u32::from(digit - b'0'));
            out.push(u8::try_from(value & 255).unwrap_or(0));
            return after;
        }
        b'"' | b'\\' => *letter,
        b'x' if after.first().is_some_and(u8::is_ascii_hexdigit) => {
            let count = after.iter().take(2).take_while(|byte| byte.is_ascii_hexdigit()).count();
            let (digits, after) = after.split_at_checked(count).unwrap_or((after, b""));
            let value = std::str::from_utf8(digits).ok().and_then(|digits| u8::from_str_radix(digits, 16).ok());
            out.push(value.unwrap_or(0));
            return after;
        }
        other => {
            print_error("stat", &format!("warning: unrecognized escape '\\{}'", char::from(*other)));
            *other
        }
    });
    after
}
