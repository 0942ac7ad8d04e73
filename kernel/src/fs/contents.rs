//! A file's bytes, away from the file system.

use std::borrow::Cow;
use std::sync::Arc;

use super::blocks::Content;

/// What a file held at one moment. Cloning it and keeping it are cheap: the bytes are shared with the file system, which
/// copies a block before it changes it.
#[derive(Clone, Debug, Default)]
pub struct Contents(Content);

impl Contents {
    pub(super) fn new(content: Content) -> Self {
        Self(content)
    }

    /// Length in bytes.
    #[must_use]
    pub fn len(&self) -> u64 {
        self.0.len()
    }

    /// Whether there are no bytes.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.len() == 0
    }

    /// Copies from `offset` on and returns how many bytes there were; 0 at the end and beyond.
    #[must_use]
    pub fn read_at(&self, offset: u64, dst: &mut [u8]) -> usize {
        self.0.read_at(offset, dst)
    }

    /// All bytes: borrowed when they lie together, as in an installed file or one of a single block.
    #[must_use]
    pub fn as_bytes(&self) -> Cow<'_, [u8]> {
        self.0.bytes()
    }

    /// A copy of all bytes.
    #[must_use]
    pub fn to_vec(&self) -> Vec<u8> {
        self.0.bytes().into_owned()
    }

    /// The bytes of an installed file, as the host placed them. `None` for every other file.
    #[must_use]
    pub fn shared(&self) -> Option<&Arc<[u8]>> {
        self.0.shared()
    }

    /// Whether both are the same bytes in the same place, which is certain only when it says yes. As long as one is
    /// kept, no later content can take its place.
    #[must_use]
    pub fn is_same(&self, other: &Self) -> bool {
        self.0.is_same(&other.0)
    }
}
