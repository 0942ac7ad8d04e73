//! Names as tar shows them.

/// A name with what could harm a terminal written as escapes. A colon is written so where it would end the name.
pub(crate) fn escaped(name: &[u8], colon: bool) -> Vec<u8> {
    let mut out = Vec::with_capacity(name.len());
    let mut rest = name;
    while let Some(first) = rest.first() {
        let (step, shown) = match *first {
            b'\\' => (1, b"\\\\".to_vec()),
            b'\n' => (1, b"\\n".to_vec()),
            b'\t' => (1, b"\\t".to_vec()),
            b'\r' => (1, b"\\r".to_vec()),
            7 => (1, b"\\a".to_vec()),
            8 => (1, b"\\b".to_vec()),
            11 => (1, b"\\v".to_vec()),
            12 => (1, b"\\f".to_vec()),
            b':' if colon => (1, b"\\:".to_vec()),
            b' '..=b'~' => (1, vec![*first]),
            byte @ (0..=31 | 127) => (1, format!("\\{byte:03o}").into_bytes()),
            byte => match char_of(rest) {
                Some(char) if tidebox_gnu::message::unicode_locale() && !char.is_control() => {
                    (char.len_utf8(), char.to_string().into_bytes())
                }
                _ => (1, format!("\\{byte:03o}").into_bytes()),
            },
        };
        out.extend_from_slice(&shown);
        rest = rest.get(step..).unwrap_or_default();
    }
    out
}

fn char_of(bytes: &[u8]) -> Option<char> {
    (2..=4).find_map(|length| std::str::from_utf8(bytes.get(..length)?).ok()?.chars().next())
}

/// A name in quotes: curly ones where the locale has them.
pub(crate) fn quoted(name: &[u8]) -> Vec<u8> {
    let (open, close) = if tidebox_gnu::message::unicode_locale() { ("‘", "’") } else { ("'", "'") };
    [open.as_bytes(), &escaped(name, false), close.as_bytes()].concat()
}
