//! Bracket expressions such as `[^[:alpha:]_-]`.

use super::Error;
use super::parse::first_char;
use super::syntax::Set;

const NO_RANGE: &str = "Invalid range end";
const UNMATCHED: &str = "Unmatched [, [^, [:, [., or [=";

/// Parses the set at the start of `source`; returns the set and its length.
pub(crate) fn parse(source: &[u8], unicode: bool) -> Result<(Set, usize), Error> {
    let mut at = 1;
    let mut set = Set { negated: source.get(at) == Some(&b'^'), ranges: Vec::new() };
    at += usize::from(set.negated);
    let begin = at;
    // A class without its own brackets (`[:alpha:]`) is an error.
    let mut plain = true;
    loop {
        let rest = source.get(at..).unwrap_or_default();
        // GNU has a different message if the pattern ends at the bracket.
        let open = if at == begin { "Invalid regular expression" } else { UNMATCHED };
        let first = *rest.first().ok_or_else(|| Error::new(open))?;
        if first == b']' && at > begin {
            at += 1;
            break;
        }
        if let Some(inner) = rest.strip_prefix(b"[:") {
            let (name, used) = until(inner, b":]")?;
            let class = std::str::from_utf8(name).ok().filter(|name| *name != "word");
            let class = class.and_then(|name| Set::named(name, unicode));
            set.ranges.extend(class.ok_or_else(|| Error::new("Invalid character class name"))?.ranges);
            at += used + 2;
            plain = false;
            continue;
        }
        // A dash is literal only in first or last position; otherwise it makes a range.
        if first == b'-' && at > begin && rest.get(1).is_some_and(|next| *next != b']') {
            return Err(Error::new(NO_RANGE));
        }
        let (low, used) = element(rest)?;
        at += used;
        let high = match source.get(at..) {
            Some([b'-', next, ..]) if *next != b']' => {
                let rest = source.get(at + 1..).unwrap_or_default();
                if rest.starts_with(b"[:") {
                    return Err(Error::new(NO_RANGE));
                }
                let (high, used) = element(rest)?;
                at += used + 1;
                plain = false;
                high
            }
            _ => low,
        };
        if high < low {
            return Err(Error::new(NO_RANGE));
        }
        set.ranges.push((low, high));
    }
    let text = source.get(..at).unwrap_or_default();
    if plain && text.len() > 4 && text.starts_with(b"[:") && text.ends_with(b":]") {
        return Err(Error::new("character class syntax is [[:space:]], not [:space:]"));
    }
    Ok((set, at))
}

/// Parses one character, also written `[.x.]` or `[=x=]`; returns it and its length.
fn element(rest: &[u8]) -> Result<(char, usize), Error> {
    for (open, close) in [(b"[.", b".]"), (b"[=", b"=]")] {
        if let Some(inner) = rest.strip_prefix(open) {
            let (name, used) = until(inner, close)?;
            return match first_char(name) {
                Some(char) if char.len_utf8() == name.len() => Ok((char, used + 2)),
                _ => Err(Error::new("Invalid collation character")),
            };
        }
    }
    match first_char(rest) {
        Some(char) => Ok((char, char.len_utf8())),
        None if rest.is_empty() => Err(Error::new(UNMATCHED)),
        // In a byte locale, a byte that is not UTF-8 is a character.
        None => Ok((rest.first().map_or(char::REPLACEMENT_CHARACTER, |byte| char_of_byte(*byte)), 1)),
    }
}

/// Beyond all assigned characters; the last code points represent the bytes 0 to 255.
const BYTES: u32 = 0x10_ff00;

/// Returns the code point that represents a byte that is not text. It matches no text character.
fn char_of_byte(byte: u8) -> char {
    char::from_u32(BYTES + u32::from(byte)).unwrap_or(char::REPLACEMENT_CHARACTER)
}

/// Returns the byte that a code point represents.
pub(crate) fn byte_of_char(char: char) -> Option<u8> {
    u32::from(char).checked_sub(BYTES).and_then(|byte| u8::try_from(byte).ok())
}

/// Returns the text before `close`, and the length including it.
fn until<'a>(inner: &'a [u8], close: &[u8]) -> Result<(&'a [u8], usize), Error> {
    let end = inner.windows(2).position(|pair| pair == close).ok_or_else(|| Error::new(UNMATCHED))?;
    Ok((inner.get(..end).unwrap_or_default(), end + 2))
}
