//! Upper and lower case, character by character, as the C library changes it.

use crate::character::char_at;
use crate::ir::Bytes;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Case {
    Upper,
    Lower,
    /// The one that it does not have.
    Other,
}

/// Changes the case of characters. `choose` gets the bytes of a character and whether it is the first.
pub(crate) fn change(text: &[u8], choose: impl Fn(&[u8], bool) -> Option<Case>) -> Bytes {
    let mut out = Bytes::with_capacity(text.len());
    let mut rest = text;
    while let Some((char, len)) = char_at(rest) {
        let (bytes, after) = rest.split_at(len);
        let first = rest.len() == text.len();
        rest = after;
        // An invalid byte has no case.
        match choose(bytes, first).filter(|_| len > 1 || char.is_ascii()) {
            Some(case) => out.extend_from_slice(one(char, case).encode_utf8(&mut [0; 4]).as_bytes()),
            None => out.extend_from_slice(bytes),
        }
    }
    out
}

fn one(char: char, case: Case) -> char {
    let upper = match case {
        Case::Upper => true,
        Case::Lower => false,
        Case::Other => !char.is_uppercase(),
    };
    if !upper {
        return char.to_lowercase().next().unwrap_or(char);
    }
    // A character whose upper case is several stays as it is.
    let mut changed = char.to_uppercase();
    changed.next().filter(|_| changed.next().is_none()).unwrap_or(char)
}

pub(crate) fn upper(text: &[u8]) -> Bytes {
    change(text, |_, _| Some(Case::Upper))
}

pub(crate) fn lower(text: &[u8]) -> Bytes {
    change(text, |_, _| Some(Case::Lower))
}

pub(crate) fn first_upper(text: &[u8]) -> Bytes {
    change(text, |_, first| first.then_some(Case::Upper))
}

/// The first character in upper case, all others in lower case.
pub(crate) fn capital(text: &[u8]) -> Bytes {
    change(text, |_, first| Some(if first { Case::Upper } else { Case::Lower }))
}

#[cfg(test)]
mod tests {
    use super::{capital, first_upper, lower, upper};

    #[test]
    fn invalid_bytes_and_caseless_characters_stay() {
        assert_eq!(upper(b"\xffa\xc3\x9f"), b"\xffA\xc3\x9f");
        assert_eq!(upper("éŉz".as_bytes()), "ÉŉZ".as_bytes());
        assert_eq!(lower("İÉ\u{e9}".as_bytes()), "iéé".as_bytes());
    }

    #[test]
    fn capitals_stand_first() {
        assert_eq!(first_upper("éAb".as_bytes()), "ÉAb".as_bytes());
        assert_eq!(capital("éAB".as_bytes()), "Éab".as_bytes());
    }
}
