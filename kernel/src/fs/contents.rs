//! A file's bytes, away from the file system.

use std::borrow::Cow;
use std::sync::Arc;

use super::blocks::{self, Content};

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
/// copies a block before it changes it.
#[derive(Clone, Debug, Default)]
pub struct Contents(Content);

impl Contents {
    pub(super) fn new(content: Content) -> Self {
        Self(content)
    }

    pub(super) fn into_content(self) -> Content {
        self.0
    }

    /// Contents of `len` bytes from blocks and the number of each in the file, with holes where there are none. `None`
    /// when a number comes twice or a block reaches beyond the end.
    #[must_use]
    pub fn assemble(len: u64, blocks: impl IntoIterator<Item = (u64, Block)>) -> Option<Self> {
        Content::assemble(len, blocks.into_iter().map(|(index, block)| (index, block.0))).map(Self)
    }

    /// The blocks that hold something, with their numbers. What a block does not hold of its [`BLOCK_BYTES`], and what
    /// lies between blocks, reads as zeros. Contents that share a block give the same slice.
    pub fn blocks(&self) -> impl Iterator<Item = (u64, &[u8])> {
        self.0.indices().map(|index| (index, self.0.piece(index))).filter(|(_, bytes)| !bytes.is_empty())
    }

    /// One of [`Self::blocks`]; empty where there is none.
    #[must_use]
    pub fn block(&self, index: u64) -> &[u8] {
        self.0.piece(index)
    }

    /// Whether both read the same. Only blocks that are not shared are compared.
    #[must_use]
    pub fn reads_like(&self, other: &Self) -> bool {
        self.0.reads_like(&other.0)
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
