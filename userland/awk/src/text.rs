//! Byte strings with cheap clones.

use std::cell::Cell;
use std::rc::Rc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Characters are bytes. The value is set before the program starts.
static CHARS_ARE_BYTES: AtomicBool = AtomicBool::new(false);

/// Treats every byte as a character, as in the C locale.
pub(crate) fn treat_bytes_as_chars() {
    CHARS_ARE_BYTES.store(true, Ordering::Relaxed);
}

/// Returns whether every byte is a character.
pub(crate) fn chars_are_bytes() -> bool {
    CHARS_ARE_BYTES.load(Ordering::Relaxed)
}

/// Maximum length of an inline string. Most fields of most files fit.
const SHORT: usize = 22;

/// Marks an unknown number of characters.
const UNCOUNTED: usize = usize::MAX;

/// A string: bytes that are mostly UTF-8.
#[derive(Clone, Debug)]
pub(crate) enum Text {
    Short(u8, [u8; SHORT]),
    Long(Rc<Long>),
}

#[derive(Clone, Debug)]
pub(crate) struct Long {
    bytes: Vec<u8>,
    /// The number of characters, counted on first use.
    chars: Cell<usize>,
}

impl Default for Text {
    fn default() -> Self {
        Self::Short(0, [0; SHORT])
    }
}

impl Text {
    pub(crate) fn new(bytes: &[u8]) -> Self {
        let mut short = [0; SHORT];
        match short.get_mut(..bytes.len()) {
            Some(room) => {
                room.copy_from_slice(bytes);
                // At most `SHORT`.
                Self::Short(bytes.len() as u8, short)
            }
            None => Self::from_vec(bytes.to_vec()),
        }
    }

    pub(crate) fn from_vec(bytes: Vec<u8>) -> Self {
        if bytes.len() <= SHORT {
            return Self::new(&bytes);
        }
        Self::Long(Rc::new(Long { bytes, chars: Cell::new(UNCOUNTED) }))
    }

    #[inline]
    pub(crate) fn bytes(&self) -> &[u8] {
        match self {
            Self::Short(len, bytes) => bytes.get(..usize::from(*len)).unwrap_or_default(),
            Self::Long(long) => &long.bytes,
        }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.bytes().is_empty()
    }

    /// Counts characters; an invalid UTF-8 byte counts as one.
    pub(crate) fn chars(&self) -> usize {
        match self {
            Self::Short(..) => count(self.bytes()),
            Self::Long(long) => {
                if long.chars.get() == UNCOUNTED {
                    long.chars.set(count(&long.bytes));
                }
                long.chars.get()
            }
        }
    }

    /// Appends to the string, without a copy unless it is shared.
    pub(crate) fn push(&mut self, more: &[u8]) {
        match self {
            Self::Short(len, bytes) => {
                let old = usize::from(*len);
                if let Some(room) = bytes.get_mut(old..old + more.len()) {
                    room.copy_from_slice(more);
                    *len += more.len() as u8;
                    return;
                }
                let mut long = Vec::with_capacity((old + more.len()) * 2);
                long.extend_from_slice(self.bytes());
                long.extend_from_slice(more);
                *self = Self::from_vec(long);
            }
            Self::Long(long) => match Rc::get_mut(long) {
                Some(own) => {
                    own.bytes.extend_from_slice(more);
                    own.chars.set(UNCOUNTED);
                }
                None => {
                    let mut joined = Vec::with_capacity((long.bytes.len() + more.len()) * 2);
                    joined.extend_from_slice(&long.bytes);
                    joined.extend_from_slice(more);
                    *self = Self::from_vec(joined);
                }
            },
        }
    }
}

/// The length of the first character; 1 for an invalid UTF-8 byte.
pub(crate) fn char_len(bytes: &[u8]) -> usize {
    let wanted = match bytes.first() {
        None => return 0,
        Some(0..=0x7f) => return 1,
        Some(_) if chars_are_bytes() => return 1,
        Some(0xc2..=0xdf) => 2,
        Some(0xe0..=0xef) => 3,
        Some(0xf0..=0xf4) => 4,
        Some(_) => return 1,
    };
    if bytes.get(..wanted).is_some_and(|char| std::str::from_utf8(char).is_ok()) { wanted } else { 1 }
}

fn count(bytes: &[u8]) -> usize {
    if chars_are_bytes() || bytes.is_ascii() {
        return bytes.len();
    }
    match std::str::from_utf8(bytes) {
        Ok(text) => text.chars().count(),
        Err(_) => {
            let (mut at, mut chars) = (0, 0);
            while let Some(rest) = bytes.get(at..).filter(|rest| !rest.is_empty()) {
                at += char_len(rest);
                chars += 1;
            }
            chars
        }
    }
}

/// Byte offset of the character with a 0-based index; the length if the index is past the end.
pub(crate) fn offset_of(bytes: &[u8], chars: usize) -> usize {
    if chars_are_bytes() {
        return chars.min(bytes.len());
    }
    let mut at = 0;
    for _ in 0..chars {
        match bytes.get(at..) {
            Some(rest) if !rest.is_empty() => at += char_len(rest),
            _ => break,
        }
    }
    at
}

/// The number of characters before a byte offset.
pub(crate) fn chars_before(bytes: &[u8], at: usize) -> usize {
    count(bytes.get(..at).unwrap_or(bytes))
}
