//! Sets in brackets, such as `[^[:alpha:]_-]`.

use super::Error;
use super::parse::first_char;
use super::syntax::Set;

const NO_RANGE: &str = "Invalid range end";
const UNMATCHED: &str = "Unmatched [, [^, [:, [., or [=";

/// Reads a set that begins at the start of `source`: the set and its length.
pub(crate) fn parse(source: &[u8], unicode: bool) -> Result<(Set, usize), Error> {
    let mut at = 1;
    let mut set = Set { negated: source.get(at) == Some(&b'^'), ranges: Vec::new() };
    at += usize::from(set.negated);
    let begin = at;
    // Neither classes nor ranges: what looks like a class without its own brackets is a mistake then.
    let mut plain = true;
    loop {
        let rest = source.get(at..).unwrap_or_default();
        // Where nothing at all follows the bracket, GNU has other words.
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
        // A dash is a character only where it comes first or last, and otherwise makes a range.
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

/// One character, which may be written as `[.x.]` or `[=x=]`: it and its length.
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
        // A byte that is not UTF-8 is a character where every byte is one.
        None => Ok((rest.first().map_or(char::REPLACEMENT_CHARACTER, |byte| char_of_byte(*byte)), 1)),
    }
}

/// Behind the characters of every language; the last of them stand for the bytes from 0 to 255.
const BYTES: u32 = 0x10_ff00;

/// The character that stands for a byte which is no text. None of any text is equal to it.
fn char_of_byte(byte: u8) -> char {
    char::from_u32(BYTES + u32::from(byte)).unwrap_or(char::REPLACEMENT_CHARACTER)
}

/// The byte for which a character stands.
pub(crate) fn byte_of_char(char: char) -> Option<u8> {
    u32::from(char).checked_sub(BYTES).and_then(|byte| u8::try_from(byte).ok())
}

/// What stands before `close`, and the length with it.
fn until<'a>(inner: &'a [u8], close: &[u8]) -> Result<(&'a [u8], usize), Error> {
    let end = inner.windows(2).position(|pair| pair == close).ok_or_else(|| Error::new(UNMATCHED))?;
    Ok((inner.get(..end).unwrap_or_default(), end + 2))
}
