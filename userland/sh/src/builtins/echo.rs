//! `echo`.

use crate::ir::Bytes;
use crate::parse::{number, push_char};
use crate::state::{Run, Shell};

pub(super) fn echo(shell: &mut Shell, args: &[Bytes]) -> Run<u8> {
    let mut words = args.get(1..).unwrap_or_default();
    let (mut newline, mut escapes) = (true, shell.options.xpg_echo);
    while let Some((first, rest)) = words.split_first() {
        let Some(letters) = first.strip_prefix(b"-").filter(|letters| !letters.is_empty()) else { break };
        if !letters.iter().all(|b| matches!(b, b'n' | b'e' | b'E')) {
            break;
        }
        for letter in letters {
            match letter {
                b'n' => newline = false,
                b'e' => escapes = true,
                _ => escapes = false,
            }
        }
        words = rest;
    }
    let mut line = words.join(&b' ');
    if escapes {
        let (text, ended) = unescape(&line);
        line = text;
        newline &= !ended;
    }
    if newline {
        line.push(b'\n');
    }
    Ok(shell.print(line))
}

/// Text with the escapes of `echo -e` and `printf %b` replaced; whether `\c` ended it.
pub(super) fn unescape(text: &[u8]) -> (Bytes, bool) {
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
            b'c' => return (out, true),
            b'e' | b'E' => out.push(27),
            b'f' => out.push(12),
            b'n' => out.push(b'\n'),
            b'r' => out.push(b'\r'),
            b't' => out.push(b'\t'),
            b'v' => out.push(11),
            b'\\' => out.push(b'\\'),
            b'0' => {
                let (value, len) = number(rest, 8, 3);
                out.push((value & 255) as u8);
                rest = rest.get(len..).unwrap_or_default();
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
            other => out.extend_from_slice(&[b'\\', other]),
        }
    }
    (out, false)
}
