//! Quoting of names.

use tidebox_gnu::message;

/// Quotes a name. A colon is escaped if it would end the name.
pub(crate) fn escaped(name: &[u8], colon: bool) -> Vec<u8> {
    with_escapes(name, colon, None)
}

/// Escapes bytes that could harm a terminal.
fn with_escapes(name: &[u8], colon: bool, quote: Option<u8>) -> Vec<u8> {
    let mut out = Vec::with_capacity(name.len());
    let mut rest = name;
    while let Some(first) = rest.first() {
        let (step, escaped) = match *first {
            b'\\' => (1, b"\\\\".to_vec()),
            b'\n' => (1, b"\\n".to_vec()),
            b'\t' => (1, b"\\t".to_vec()),
            b'\r' => (1, b"\\r".to_vec()),
            7 => (1, b"\\a".to_vec()),
            8 => (1, b"\\b".to_vec()),
            11 => (1, b"\\v".to_vec()),
            12 => (1, b"\\f".to_vec()),
            b':' if colon => (1, b"\\:".to_vec()),
            byte if Some(byte) == quote => (1, vec![b'\\', byte]),
            b' '..=b'~' => (1, vec![*first]),
            byte @ (0..=31 | 127) => (1, format!("\\{byte:03o}").into_bytes()),
            byte => match first_char(rest) {
                Some(char) if message::unicode_locale() && !char.is_control() => {
                    (char.len_utf8(), char.to_string().into_bytes())
                }
                _ => (1, format!("\\{byte:03o}").into_bytes()),
            },
        };
        out.extend_from_slice(&escaped);
        rest = rest.get(step..).unwrap_or_default();
    }
    out
}

fn first_char(bytes: &[u8]) -> Option<char> {
    (2..=4).find_map(|length| std::str::from_utf8(bytes.get(..length)?).ok()?.chars().next())
}

/// Quotes a name, with curly quotes if the locale has them.
pub(crate) fn quoted(name: &[u8]) -> Vec<u8> {
    let (open, close) = if message::unicode_locale() { ("‘", "’") } else { ("'", "'") };
    let quote = (close == "'").then_some(b'\'');
    [open.as_bytes(), &with_escapes(name, false, quote), close.as_bytes()].concat()
}
