//! File names in directories.

use core::borrow::Borrow;
use core::cmp::Ordering;
use core::fmt;
use std::sync::Arc;

/// Maximum length of a file name in bytes: `NAME_MAX` of Linux.
pub(super) const NAME_MAX: usize = 255;

/// Inline capacity that does not make a `Name` larger than a pointer, a length and a tag.
const INLINE: usize = 22;

/// A name of at most [`NAME_MAX`] bytes. Short names are stored inline, so that a lookup compares names without following
/// pointers, and copying a directory on write does not allocate once per name.
#[derive(Clone)]
pub(super) enum Name {
    Inline(u8, [u8; INLINE]),
    Shared(Arc<[u8]>),
}

impl Name {
    pub(super) fn new(bytes: &[u8]) -> Self {
        let mut inline = [0; INLINE];
        match (inline.get_mut(..bytes.len()), u8::try_from(bytes.len())) {
            (Some(slot), Ok(len)) => {
                slot.copy_from_slice(bytes);
                Self::Inline(len, inline)
            }
            _ => Self::Shared(bytes.into()),
        }
    }

    /// Returns the first bytes as a number, padded with zeros. Numbers that differ compare like the names.
    fn prefix(&self) -> u64 {
        match self {
            Self::Inline(_, bytes) => bytes.first_chunk().map_or(0, |first| u64::from_be_bytes(*first)),
            Self::Shared(bytes) => prefix(bytes),
        }
    }

    /// Compares with a key. Most comparisons of a search are decided by one comparison of numbers.
    pub(super) fn cmp_key(&self, key: &NameKey<'_>) -> Ordering {
        self.prefix().cmp(&key.prefix).then_with(|| self.as_bytes().cmp(key.bytes))
    }

    pub(super) fn as_bytes(&self) -> &[u8] {
        match self {
            Self::Inline(len, bytes) => bytes.get(..usize::from(*len)).unwrap_or_default(),
            Self::Shared(bytes) => bytes,
        }
    }
}

/// A name to search.
pub(super) struct NameKey<'a> {
    bytes: &'a [u8],
    prefix: u64,
}

impl<'a> NameKey<'a> {
    pub(super) fn new(bytes: &'a [u8]) -> Self {
        Self { bytes, prefix: prefix(bytes) }
    }
}

fn prefix(bytes: &[u8]) -> u64 {
    if let Some(first) = bytes.first_chunk() {
        return u64::from_be_bytes(*first);
    }
    bytes.iter().zip((0..8).rev()).fold(0, |number, (byte, place)| number | u64::from(*byte) << (8 * place))
}

impl Borrow<[u8]> for Name {
    fn borrow(&self) -> &[u8] {
        self.as_bytes()
    }
}

impl PartialEq for Name {
    fn eq(&self, other: &Self) -> bool {
        self.as_bytes() == other.as_bytes()
    }
}

impl Eq for Name {}

impl PartialOrd for Name {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Name {
    fn cmp(&self, other: &Self) -> Ordering {
        self.as_bytes().cmp(other.as_bytes())
    }
}

impl fmt::Debug for Name {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "\"{}\"", self.as_bytes().escape_ascii())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_compare_with_keys_as_their_bytes_do() {
        let long = [b'x'; NAME_MAX];
        let names: [&[u8]; 13] = [
            b"",
            b"a",
            b"a ",
            b"ab",
            b"abcdefg",
            b"abcdefgh",
            b"abcdefghi",
            b"abcdefgz",
            b"b",
            b"\xff",
            b"a name of more than 22 bytes",
            b"a name of more than 22 bytes, too",
            &long,
        ];
        for name in names {
            for key in names {
                assert_eq!(Name::new(name).cmp_key(&NameKey::new(key)), name.cmp(key), "{name:?} and {key:?}");
            }
        }
    }
}
