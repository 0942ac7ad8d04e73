//! Keys as they were written of old, `+POS1 [-POS2]`.

use tidebox_gnu::message::quote_value;

use super::key::{Key, count};

/// Makes them values of `-k` that begin with a NUL.
pub(super) fn with_old_keys(arguments: Vec<Vec<u8>>) -> Vec<Vec<u8>> {
    let takes_next = |word: &[u8]| {
        let short = word.len() > 1 && word.first() == Some(&b'-') && word.get(1) != Some(&b'-');
        let last = word.last().copied().unwrap_or_default();
        let earlier = word.get(1..word.len().saturating_sub(1)).unwrap_or_default();
        short && b"koStT".contains(&last) && !earlier.iter().any(|letter| b"koStT".contains(letter))
    };
    let mut out: Vec<Vec<u8>> = Vec::with_capacity(arguments.len());
    let mut words = arguments.into_iter().peekable();
    let (mut ended, mut value) = (false, false);
    while let Some(word) = words.next() {
        ended |= word == b"--" && !value;
        if ended || value || word.first() != Some(&b'+') {
            value = !value && takes_next(&word);
            out.push(word);
            continue;
        }
        let last = words.next_if(|next| matches!(next.as_slice(), [b'-', b'0'..=b'9', ..]));
        let mut spec = [b"-k\0", word.as_slice()].concat();
        if let Some(last) = &last {
            spec.push(b' ');
            spec.extend_from_slice(last);
        }
        match old_key(spec.get(3..).unwrap_or_default()) {
            Err(_) if last.is_none() => out.push(word),
            _ => out.push(spec),
        }
    }
    out
}

/// A key of old: fields and characters are counted from 0.
pub(super) fn old_key(spec: &[u8]) -> Result<Key, String> {
    let mut parts = spec.splitn(2, |byte| *byte == b' ');
    let (first, last) = (parts.next().unwrap_or_default(), parts.next());
    let stray =
        |spec: &[u8]| format!("stray character in field spec: invalid field specification {}", quote_value(spec));
    let mut key = Key { obsolete: true, ..Key::default() };
    let (field, mut rest) = count(first.get(1..).unwrap_or_default(), "invalid number at field start")?;
    let mut char = 0;
    if let [b'.', after @ ..] = rest {
        (char, rest) = count(after, "invalid number after '.'")?;
    }
    key.start = Some((field, char)).filter(|start| *start != (0, 0));
    if !key.letters(rest, true, false).is_empty() {
        return Err(stray(first));
    }
    if let Some(last) = last {
        let (field, mut rest) = count(last.get(1..).unwrap_or_default(), "invalid number after '-'")?;
        let mut char = 0;
        if let [b'.', after @ ..] = rest {
            (char, rest) = count(after, "invalid number after '.'")?;
        }
        // Where no character is said, the key ends with the field before.
        key.end = Some((if char == 0 { field.saturating_sub(1) } else { field }, char));
        if char == 0 && field == 0 {
            key.end = Some((0, 0));
        }
        if !key.letters(rest, false, true).is_empty() {
            return Err(stray(last));
        }
    }
    Ok(key)
}
