//! Quoting values so that the shell reads them back.

use crate::character;
use crate::ir::Bytes;

/// Quotes text as `'..'`; quotes in it are escaped outside.
pub(crate) fn single_quote(text: &[u8]) -> Bytes {
    if text == b"'" {
        return b"\\'".to_vec();
    }
    let mut out = vec![b'\''];
    for &byte in text {
        if byte == b'\'' {
            out.extend_from_slice(b"'\\''");
        } else {
            out.push(byte);
        }
    }
    out.push(b'\'');
    out
}

/// `$'..'`; invalid bytes are written in octal.
pub(crate) fn ansi_quote(text: &[u8]) -> Bytes {
    let mut out = b"$'".to_vec();
    if character::in_bytes() {
        for &byte in text {
            match byte {
                0..=127 => ansi_escape(&[byte], &mut out),
                _ => out.extend_from_slice(format!("\\{byte:03o}").as_bytes()),
            }
        }
        out.push(b'\'');
        return out;
    }
    for chunk in text.utf8_chunks() {
        for char in chunk.valid().chars() {
            let mut bytes = [0; 4];
            let bytes = char.encode_utf8(&mut bytes).as_bytes();
            if is_hidden(char) {
                bytes.iter().for_each(|byte| out.extend_from_slice(format!("\\{byte:03o}").as_bytes()));
            } else {
                ansi_escape(bytes, &mut out);
            }
        }
        for byte in chunk.invalid() {
            out.extend_from_slice(format!("\\{byte:03o}").as_bytes());
        }
    }
    out.push(b'\'');
    out
}

fn ansi_escape(text: &[u8], out: &mut Bytes) {
    for &byte in text {
        match byte {
            7 => out.extend_from_slice(b"\\a"),
            8 => out.extend_from_slice(b"\\b"),
            9 => out.extend_from_slice(b"\\t"),
            10 => out.extend_from_slice(b"\\n"),
            11 => out.extend_from_slice(b"\\v"),
            12 => out.extend_from_slice(b"\\f"),
            13 => out.extend_from_slice(b"\\r"),
            27 => out.extend_from_slice(b"\\E"),
            b'\\' | b'\'' => out.extend_from_slice(&[b'\\', byte]),
            0..=31 | 127 => out.extend_from_slice(format!("\\{byte:03o}").as_bytes()),
            _ => out.push(byte),
        }
    }
}

/// Returns whether text must be written as `$'..'` to stay on one line.
pub(crate) fn needs_ansi(text: &[u8]) -> bool {
    text.iter().any(|&b| b < 32 || b == 127)
        || (!text.is_ascii() && (character::in_bytes() || std::str::from_utf8(text).map_or(true, shows_nothing)))
}

/// Returns whether a text has an invisible character: a control character, a line or paragraph separator, or a noncharacter.
fn shows_nothing(text: &str) -> bool {
    text.chars().any(is_hidden)
}

fn is_hidden(char: char) -> bool {
    let code = u32::from(char);
    matches!(code, 0x80..=0x9f | 0x2028 | 0x2029 | 0xfdd0..=0xfdef) || code & 0xfffe == 0xfffe
}

/// As `declare -p` and `${map[@]@K}` write a key: quoted only if the shell would otherwise parse it differently.
pub(crate) fn key_quote(key: &[u8]) -> Bytes {
    let special = |(at, byte): (usize, &u8)| match byte {
        b'~' => at == 0 || matches!(key.get(at - 1), Some(b'=' | b':')),
        b'#' => at == 0,
        byte => b" \t\n'\"\\|&;()<>!{}*[?]^$`".contains(byte),
    };
    if key.is_empty() || key == b"@" || needs_ansi(key) || key.iter().enumerate().any(special) {
        return declare_quote(key);
    }
    key.to_vec()
}

/// As messages show a command's name: plain, or as `$'..'` when it would not stay on one line.
pub(crate) fn message_quote(text: &[u8]) -> Bytes {
    if needs_ansi(text) { ansi_quote(text) } else { text.to_vec() }
}

/// Quotes like `printf %q`: with backslashes before special characters.
pub(crate) fn shell_quote(text: &[u8]) -> Bytes {
    if text.is_empty() {
        return b"''".to_vec();
    }
    if needs_ansi(text) {
        return ansi_quote(text);
    }
    let mut out = Bytes::with_capacity(text.len());
    for (at, &byte) in text.iter().enumerate() {
        // A tilde means a directory at the start of a word and of each path in a list of paths.
        let begins = at == 0 || (byte == b'~' && matches!(text.get(at - 1), Some(b':' | b'=')));
        let special = b" !\"$&'()*,;<>?[\\]^`{|}".contains(&byte) || (begins && matches!(byte, b'#' | b'~'));
        if special {
            out.push(b'\\');
        }
        out.push(byte);
    }
    out
}

/// As `${x@Q}` and `set` write a value.
pub(crate) fn quote_value(text: &[u8]) -> Bytes {
    if needs_ansi(text) { ansi_quote(text) } else { single_quote(text) }
}

/// As `declare -p` writes a value: in double quotes, or `$'..'` when it holds control characters.
pub(crate) fn declare_quote(text: &[u8]) -> Bytes {
    if needs_ansi(text) {
        return ansi_quote(text);
    }
    let mut out = vec![b'"'];
    for &byte in text {
        if matches!(byte, b'"' | b'\\' | b'$' | b'`') {
            out.push(b'\\');
        }
        out.push(byte);
    }
    out.push(b'"');
    out
}

/// As `set -x` writes a word: bare when nothing in it is special.
pub(crate) fn trace_quote(text: &[u8]) -> Bytes {
    let plain = |(at, &byte): (usize, &u8)| match byte {
        b'#' => at > 0,
        b'~' => at > 0 && !matches!(text.get(at - 1), Some(b':' | b'=')),
        _ => byte.is_ascii_alphanumeric() || b"_-+=./:,@%".contains(&byte) || byte >= 128,
    };
    let bare = !text.is_empty() && text.iter().enumerate().all(plain) && !needs_ansi(text);
    if bare { text.to_vec() } else { quote_value(text) }
}
