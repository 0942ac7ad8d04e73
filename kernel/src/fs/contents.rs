//! File content detached from the file system.

use std::borrow::Cow;
use std::sync::Arc;

use super::blocks::{self, BLOCK, Content};
use super::bytes::FileBytes;
use super::mount::MountFile;
use crate::errno::Errno;

/// Bytes of a block, the unit in which files share content. The last block of a file may be shorter.
pub const BLOCK_BYTES: usize = blocks::BLOCK;

/// A block that several files can share.
#[derive(Clone, Debug)]
pub struct Block(blocks::Block);

impl Block {
    /// Creates a block of these bytes; `None` unless there are 1 to [`BLOCK_BYTES`] of them.
    #[must_use]
    pub fn new(bytes: Vec<u8>) -> Option<Self> {
        (1..=BLOCK_BYTES).contains(&bytes.len()).then(|| Self(Arc::new(bytes)))
    }

    /// Returns the bytes.
    #[must_use]
    pub fn as_bytes(&self) -> &[u8] {
        &self.0
    }

    /// Returns the number of bytes; never 0.
    #[must_use]
    #[expect(clippy::len_without_is_empty, reason = "a block is never empty")]
    pub fn len(&self) -> usize {
        self.0.len()
    }
}

/// The content of a file at one moment. Cloning and keeping it is cheap: the bytes are shared with the file system, which copies
/// a block before changing it. For a file in a mount it is the open file, which others may change.
#[derive(Clone, Debug, Default)]
pub struct Contents(Source);

#[derive(Clone, Debug)]
enum Source {
    Tree(Content),
    /// A file of a mount, read on demand, and its length at open.
    Mounted(Arc<dyn MountFile>, u64),
}

impl Default for Source {
    fn default() -> Self {
        Self::Tree(Content::default())
    }
}

impl Contents {
    pub(super) fn new(content: Content) -> Self {
        Self(Source::Tree(content))
    }

    pub(super) fn mounted(file: Arc<dyn MountFile>, len: u64) -> Self {
        Self(Source::Mounted(file, len))
    }

    /// Returns the bytes as the tree stores them; reads a mounted file if needed.
    pub(super) fn into_content(self) -> Result<Content, Errno> {
        match self.0 {
            Source::Tree(content) => Ok(content),
            Source::Mounted(..) => Ok(Content::from_bytes(&self.load()?)),
        }
    }

    /// Creates contents of `len` bytes from blocks and their indices in the file, with holes between them. `None` if an index
    /// occurs twice or a block extends beyond the end.
    #[must_use]
    pub fn from_blocks(len: u64, blocks: impl IntoIterator<Item = (u64, Block)>) -> Option<Self> {
        Content::assemble(len, blocks.into_iter().map(|(index, block)| (index, block.0))).map(Self::new)
    }

    /// Returns the stored blocks with their indices. The rest of a block up to [`BLOCK_BYTES`], and the gaps between blocks, read
    /// as zeros. Contents that share a block return the same slice. A file of a mount has no blocks until [`Self::into_memory`].
    pub fn blocks(&self) -> impl Iterator<Item = (u64, &[u8])> {
        let content = match &self.0 {
            Source::Tree(content) => Some(content),
            Source::Mounted(..) => None,
        };
        let blocks =
            content.into_iter().flat_map(|content| content.indices().map(|index| (index, content.block_bytes(index))));
        blocks.filter(|(_, bytes)| !bytes.is_empty())
    }

    /// Returns one of [`Self::blocks`]; empty if it is not stored.
    #[must_use]
    pub fn block(&self, index: u64) -> &[u8] {
        match &self.0 {
            Source::Tree(content) => content.block_bytes(index),
            Source::Mounted(..) => &[],
        }
    }

    /// Returns whether both contents read the same. Shared blocks are not compared.
    #[must_use]
    pub fn reads_like(&self, other: &Self) -> bool {
        match (&self.0, &other.0) {
            (Source::Tree(one), Source::Tree(two)) => one.content_eq(two),
            _ => self.len() == other.len() && self.load().is_ok_and(|one| other.load() == Ok(one)),
        }
    }

    /// Returns the blocks that differ from those of `before`, as their index and the number of bytes at their start that are the
    /// same; `None` if both read the same or one is a file of a mount. Shared blocks are not compared. A block that only `before`
    /// has is listed, too.
    #[must_use]
    pub fn changed_blocks(&self, before: &Self) -> Option<Vec<(u64, usize)>> {
        match (&self.0, &before.0) {
            (Source::Tree(now), Source::Tree(before)) => now.changed_blocks(before),
            _ => None,
        }
    }

    /// Creates contents of `len` bytes from the blocks that [`Self::changed_blocks`] lists, each with the bytes after its common start.
    /// `None` if they do not fit, and for a file of a mount.
    #[must_use]
    pub fn patched<'a>(&self, len: u64, changes: impl IntoIterator<Item = (u64, usize, &'a [u8])>) -> Option<Self> {
        match &self.0 {
            Source::Tree(content) => content.patched(len, changes).map(Self::new),
            Source::Mounted(..) => None,
        }
    }

    /// Returns the length in bytes.
    #[must_use]
    pub fn len(&self) -> u64 {
        match &self.0 {
            Source::Tree(content) => content.len(),
            Source::Mounted(_, len) => *len,
        }
    }

    /// Returns whether the length is 0.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Copies bytes starting at `offset` and returns their number; 0 at or beyond the end, and if a mounted file cannot be read.
    #[must_use]
    pub fn read_at(&self, offset: u64, dst: &mut [u8]) -> usize {
        match &self.0 {
            Source::Tree(content) => content.read_at(offset, dst),
            Source::Mounted(file, _) => file.read_at(offset, dst).unwrap_or(0).min(dst.len()),
        }
    }

    /// Returns all bytes. A mounted file that has become shorter ends at its current end.
    ///
    /// # Errors
    /// The error of the mount.
    pub fn load(&self) -> Result<Cow<'_, [u8]>, Errno> {
        let (file, len) = match &self.0 {
            Source::Tree(content) => return Ok(content.bytes()),
            Source::Mounted(file, len) => (file, *len),
        };
        let mut bytes = Vec::new();
        while (bytes.len() as u64) < len {
            let start = bytes.len();
            let left = usize::try_from(len - start as u64).unwrap_or(BLOCK).min(BLOCK);
            bytes.resize(start + left, 0);
            let count = file.read_at(start as u64, bytes.get_mut(start..).unwrap_or_default())?;
            bytes.truncate(start.saturating_add(count));
            if count == 0 {
                break;
            }
        }
        Ok(Cow::Owned(bytes))
    }

    /// Loads the bytes into memory, independent of later changes to the file.
    ///
    /// # Errors
    /// As [`Self::load`].
    pub fn into_memory(self) -> Result<Self, Errno> {
        self.into_content().map(Self::new)
    }

    /// Returns all bytes: borrowed if they are contiguous, as in an installed file or one of a single block. Empty for a mounted
    /// file that cannot be read; see [`Self::load`].
    #[must_use]
    pub fn as_bytes(&self) -> Cow<'_, [u8]> {
        self.load().unwrap_or_default()
    }

    /// Returns a copy of all bytes.
    #[must_use]
    pub fn to_vec(&self) -> Vec<u8> {
        self.as_bytes().into_owned()
    }

    /// Returns the bytes of an installed file; `None` for every other file.
    #[must_use]
    pub fn shared(&self) -> Option<&FileBytes> {
        match &self.0 {
            Source::Tree(content) => content.shared(),
            Source::Mounted(..) => None,
        }
    }

    /// Returns whether both share the same memory; `false` does not mean that they differ. The address is not reused while one of
    /// them exists.
    #[must_use]
    pub fn is_same(&self, other: &Self) -> bool {
        match (&self.0, &other.0) {
            (Source::Tree(one), Source::Tree(two)) => one.is_same(two),
            _ => false,
        }
    }
}
