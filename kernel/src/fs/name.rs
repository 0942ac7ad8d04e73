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

    pub(super) fn as_bytes(&self) -> &[u8] {
        match self {
            Self::Inline(len, bytes) => bytes.get(..usize::from(*len)).unwrap_or_default(),
            Self::Shared(bytes) => bytes,
        }
    }
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
