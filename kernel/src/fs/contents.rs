//! A file's bytes, away from the file system.

use std::borrow::Cow;
use std::sync::Arc;

use super::blocks::{self, BLOCK, Content};
use super::bytes::FileBytes;
use super::mount::MountFile;
use crate::errno::Errno;

/// Bytes of a block, the unit in which files share what they hold. The last block of a file may be shorter.
pub const BLOCK_BYTES: usize = blocks::BLOCK;

/// Bytes that several files can share.
#[derive(Clone, Debug)]
pub struct Block(blocks::Block);

impl Block {
    /// A block of these bytes; `None` unless there are 1 to [`BLOCK_BYTES`] of them.
    #[must_use]
    pub fn new(bytes: Vec<u8>) -> Option<Self> {
        (1..=BLOCK_BYTES).contains(&bytes.len()).then(|| Self(Arc::new(bytes)))
    }

    /// How many bytes it holds; never 0.
    #[must_use]
    #[expect(clippy::len_without_is_empty, reason = "a block is never empty")]
    pub fn len(&self) -> usize {
        self.0.len()
    }
}

/// What a file held at one moment. Cloning it and keeping it are cheap: the bytes are shared with the file system, which
/// copies a block before it changes it. Of a file in a mount it is the open file, which others may change meanwhile.
#[derive(Clone, Debug, Default)]
pub struct Contents(Source);

#[derive(Clone, Debug)]
enum Source {
    Own(Content),
    /// A file of a mount, which is read when asked, and its length when it was opened.
    Mounted(Arc<dyn MountFile>, u64),
}

impl Default for Source {
    fn default() -> Self {
        Self::Own(Content::default())
    }
}

impl Contents {
    pub(super) fn new(content: Content) -> Self {
        Self(Source::Own(content))
    }

    pub(super) fn mounted(file: Arc<dyn MountFile>, len: u64) -> Self {
        Self(Source::Mounted(file, len))
    }

    /// The bytes as the tree keeps them, read from a mount if need be.
    pub(super) fn into_content(self) -> Result<Content, Errno> {
        match self.0 {
            Source::Own(content) => Ok(content),
            Source::Mounted(..) => Ok(Content::from_bytes(&self.load()?)),
        }
    }

    /// Contents of `len` bytes from blocks and the number of each in the file, with holes where there are none. `None`
    /// when a number comes twice or a block reaches beyond the end.
    #[must_use]
    pub fn assemble(len: u64, blocks: impl IntoIterator<Item = (u64, Block)>) -> Option<Self> {
        Content::assemble(len, blocks.into_iter().map(|(index, block)| (index, block.0))).map(Self::new)
    }

    /// The blocks that hold something, with their numbers. What a block does not hold of its [`BLOCK_BYTES`], and what
    /// lies between blocks, reads as zeros. Contents that share a block give the same slice. A file of a mount has no
    /// blocks until it is [`Self::loaded`].
    pub fn blocks(&self) -> impl Iterator<Item = (u64, &[u8])> {
        let content = match &self.0 {
            Source::Own(content) => Some(content),
            Source::Mounted(..) => None,
        };
        let blocks =
            content.into_iter().flat_map(|content| content.indices().map(|index| (index, content.piece(index))));
        blocks.filter(|(_, bytes)| !bytes.is_empty())
    }

    /// One of [`Self::blocks`]; empty where there is none.
    #[must_use]
    pub fn block(&self, index: u64) -> &[u8] {
        match &self.0 {
            Source::Own(content) => content.piece(index),
            Source::Mounted(..) => &[],
        }
    }

    /// Whether both read the same. Only blocks that are not shared are compared.
    #[must_use]
    pub fn reads_like(&self, other: &Self) -> bool {
        match (&self.0, &other.0) {
            (Source::Own(one), Source::Own(two)) => one.reads_like(two),
            _ => self.len() == other.len() && self.load().is_ok_and(|one| other.load() == Ok(one)),
        }
    }

    /// Length in bytes.
    #[must_use]
    pub fn len(&self) -> u64 {
        match &self.0 {
            Source::Own(content) => content.len(),
            Source::Mounted(_, len) => *len,
        }
    }

    /// Whether there are no bytes.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Copies from `offset` on and returns how many bytes there were; 0 at the end and beyond, and where a file of a mount
    /// cannot be read.
    #[must_use]
    pub fn read_at(&self, offset: u64, dst: &mut [u8]) -> usize {
        match &self.0 {
            Source::Own(content) => content.read_at(offset, dst),
            Source::Mounted(file, _) => file.read_at(offset, dst).unwrap_or(0).min(dst.len()),
        }
    }

    /// All bytes, or why a file of a mount cannot be read. It ends where the file ends now, if that is sooner.
    ///
    /// # Errors
    /// What the mount answers.
    pub fn load(&self) -> Result<Cow<'_, [u8]>, Errno> {
        let (file, len) = match &self.0 {
            Source::Own(content) => return Ok(content.bytes()),
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

    /// The same bytes, kept in memory whatever becomes of the file.
    ///
    /// # Errors
    /// As [`Self::load`].
    pub fn loaded(self) -> Result<Self, Errno> {
        self.into_content().map(Self::new)
    }

    /// All bytes: borrowed when they lie together, as in an installed file or one of a single block. Of a file in a mount
    /// that cannot be read, none; see [`Self::load`].
    #[must_use]
    pub fn as_bytes(&self) -> Cow<'_, [u8]> {
        self.load().unwrap_or_default()
    }

    /// A copy of all bytes.
    #[must_use]
    pub fn to_vec(&self) -> Vec<u8> {
        self.as_bytes().into_owned()
    }

    /// The bytes of an installed file, as the host placed them. `None` for every other file.
    #[must_use]
    pub fn shared(&self) -> Option<&FileBytes> {
        match &self.0 {
            Source::Own(content) => content.shared(),
            Source::Mounted(..) => None,
        }
    }

    /// Whether both are the same bytes in the same place, which is certain only when it says yes. As long as one is
    /// kept, no later content can take its place.
    #[must_use]
    pub fn is_same(&self, other: &Self) -> bool {
        match (&self.0, &other.0) {
            (Source::Own(one), Source::Own(two)) => one.is_same(two),
            _ => false,
        }
    }
}
