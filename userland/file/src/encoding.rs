//! Text encoding and line format.

/// Number of bytes examined to detect the encoding.
const LOOKED_AT: usize = 64 * 1024;

/// Longer lines are reported.
const LONG: usize = 300;

/// An encoding: its name, and its character set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Encoding {
    pub(crate) name: &'static str,
    pub(crate) charset: &'static str,
}

const fn encoding(name: &'static str, charset: &'static str) -> Encoding {
    Encoding { name, charset }
}

/// ASCII text characters: printable characters, white space, bell, backspace and escape.
fn is_plain(byte: u8) -> bool {
    matches!(byte, 7..=13 | 27 | 32..=126)
}

/// Detects the encoding of text and decodes it; `None` if it is not text.
pub(crate) fn find(bytes: &[u8]) -> Option<(Encoding, Vec<u32>)> {
    let looked_at = bytes.len().min(LOOKED_AT);
    let text_bytes = bytes.get(..looked_at).unwrap_or_default();
    let whole = bytes.get(..looked_at).unwrap_or_default();
    if text_bytes.is_empty() {
        return None;
    }
    let wide = |bytes: &[u8]| bytes.iter().map(|byte| u32::from(*byte)).collect::<Vec<u32>>();
    if text_bytes.iter().all(|byte| is_plain(*byte)) {
        return Some((encoding("ASCII", "us-ascii"), wide(text_bytes)));
    }
    let has_more = bytes.len() > looked_at;
    if let Some(rest) = text_bytes.strip_prefix(b"\xef\xbb\xbf")
        && let Some(text) = utf8(rest, has_more)
    {
        return Some((encoding("Unicode text, UTF-8 (with BOM)", "utf-8"), text));
    }
    if let Some(text) = utf8(text_bytes, has_more) {
        return Some((encoding("Unicode text, UTF-8", "utf-8"), text));
    }
    if let Some(found) = utf16(whole) {
        return Some(found);
    }
    if text_bytes.iter().all(|byte| is_plain(*byte) || *byte >= 160 || *byte == 133) {
        return Some((encoding("ISO-8859", "iso-8859-1"), wide(text_bytes)));
    }
    if text_bytes.iter().all(|byte| is_plain(*byte) || *byte >= 128) {
        return Some((encoding("Non-ISO extended-ASCII", "unknown-8bit"), wide(text_bytes)));
    }
    None
}

fn utf8(bytes: &[u8], has_more: bool) -> Option<Vec<u32>> {
    let text = match std::str::from_utf8(bytes) {
        Ok(text) => text,
        // The last character may be truncated.
        Err(error) if has_more && error.error_len().is_none() => {
            std::str::from_utf8(bytes.get(..error.valid_up_to())?).ok()?
        }
        Err(_) => return None,
    };
    let plain = text.chars().all(|letter| !letter.is_ascii() || is_plain(letter as u8));
    plain.then(|| text.chars().map(u32::from).collect())
}

fn utf16(bytes: &[u8]) -> Option<(Encoding, Vec<u32>)> {
    let (found, read): (Encoding, fn([u8; 2]) -> u16) = match bytes.get(..2)? {
        b"\xff\xfe" => (encoding("Unicode text, UTF-16, little-endian", "utf-16le"), u16::from_le_bytes),
        b"\xfe\xff" => (encoding("Unicode text, UTF-16, big-endian", "utf-16be"), u16::from_be_bytes),
        _ => return None,
    };
    let units = bytes.get(2..)?.chunks_exact(2).map(|pair| read([pair[0], pair[1]]));
    let text: Vec<u32> = char::decode_utf16(units).map(|letter| letter.map_or(0xfffe, u32::from)).collect();
    is_text(&text).then_some((found, text))
}

fn is_text(text: &[u32]) -> bool {
    text.iter()
        .all(|letter| *letter != 0xfffe && u8::try_from(*letter).map_or(true, |byte| byte >= 128 || is_plain(byte)))
}

/// Describes lines and control characters, after the encoding.
pub(crate) fn lines(text: &[u32]) -> String {
    let (mut crlf, mut cr, mut lf, mut nel, mut longest) = (0u64, 0u64, 0u64, 0u64, 0);
    let (mut escapes, mut backspaces, mut seen_return) = (false, false, false);
    // Length of the current line in characters.
    let mut length = 0;
    for letter in text {
        length += 1;
        match letter {
            0x0a if seen_return => crlf += 1,
            0x0a => lf += 1,
            _ => cr += u64::from(seen_return),
        }
        match letter {
            0x0a => length = 0,
            0x85 => (nel, length) = (nel + 1, 0),
            _ if seen_return => length = 1,
            _ => {}
        }
        seen_return = *letter == 0x0d;
        escapes |= *letter == 0x1b;
        backspaces |= *letter == 0x08;
        // A carriage return may be half of a line end.
        if length > LONG && !seen_return {
            longest = longest.max(length);
        }
    }
    cr += u64::from(seen_return);
    let mut out = String::new();
    if longest > 0 {
        out.push_str(&format!(", with very long lines ({longest})"));
    }
    if crlf + cr + lf + nel == 0 {
        out.push_str(", with no line terminators");
    } else if crlf + cr + nel > 0 {
        let kinds = [(crlf, "CRLF"), (cr, "CR"), (lf, "LF"), (nel, "NEL")];
        let names: Vec<&str> = kinds.iter().filter(|(count, _)| *count > 0).map(|(_, name)| *name).collect();
        out.push_str(&format!(", with {} line terminators", names.join(", ")));
    }
    if escapes {
        out.push_str(", with escape sequences");
    }
    if backspaces {
        out.push_str(", with overstriking");
    }
    out
}
