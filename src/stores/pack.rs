//! Content of a generation: a snapshot file or changes, with large blocks in packs.
//!
//! ```text
//! 1 byte    0: the rest is the file
//!
//! 1 byte    1: the blocks of the file are in packs
//! 8         length of the file
//! 8         length of its start: everything before the blocks
//!           the start
//! 8         number of blocks
//!           for each block: 4 bytes number of the pack, 8 bytes offset, 4 bytes length, 32 bytes SHA-256
//!           the end of the file: everything after the blocks
//! ```
//!
//! Numbers are little-endian. A block is stored as it is in the file, with its two lengths. The digest at the end of the file
//! covers all of it, so the digests of blocks are only names by which later saves find them.
//!
//! A pack starts with 16 random bytes. No save therefore creates an old pack again that garbage collection is removing.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use sha2::{Digest, Sha256};

use crate::stores::generation::{DIGEST_BYTES, PackRef};
use crate::stores::wire::Reader;

/// Files of at most this size in bytes are stored in the generation.
pub(crate) const INLINE_BYTES: usize = 256 << 10;

const INLINE: u8 = 0;
const PACKED: u8 = 1;

/// Bytes of a file before its records: magic, version and three numbers.
const FILE_HEADER_BYTES: usize = 36;

/// Random bytes at the start of a pack.
pub(crate) const PACK_START_BYTES: usize = 16;

/// Bytes of a reference to a block.
const REFERENCE_BYTES: usize = 48;

/// Location of a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Location {
    /// Index in the list of packs.
    pack: usize,
    offset: u64,
    len: u32,
}

/// Blocks in the packs of a chain.
#[derive(Clone, Debug, Default)]
pub(crate) struct KnownBlocks {
    packs: Vec<PackRef>,
    blocks: HashMap<[u8; DIGEST_BYTES], Location>,
}

impl KnownBlocks {
    /// Returns the packs.
    pub(crate) fn packs(&self) -> &[PackRef] {
        &self.packs
    }

    fn insert(&mut self, digest: [u8; DIGEST_BYTES], pack: PackRef, offset: u64, len: u32) {
        let index = match self.packs.iter().position(|known| *known == pack) {
            Some(index) => index,
            None => {
                self.packs.push(pack);
                self.packs.len() - 1
            }
        };
        self.blocks.insert(digest, Location { pack: index, offset, len });
    }

    /// Returns the packs whose larger half is not used by these blocks. A whole save copies what is left of them, so that they can
    /// be removed.
    fn sparse_packs(&self, digests: &[[u8; DIGEST_BYTES]]) -> Vec<usize> {
        let mut used = vec![0_u64; self.packs.len()];
        let unique: HashSet<_> = digests.iter().collect();
        for location in unique.into_iter().filter_map(|digest| self.blocks.get(digest)) {
            if let Some(used) = used.get_mut(location.pack) {
                *used += u64::from(location.len);
            }
        }
        let sparse = |&(pack, used): &(&PackRef, u64)| used.saturating_mul(2) < pack.len;
        self.packs.iter().zip(used).enumerate().filter(|(_, pack)| sparse(pack)).map(|(index, _)| index).collect()
    }
}

/// Encoded content.
pub(crate) struct EncodedContent {
    pub(crate) content: Vec<u8>,
    /// Packs to which it refers.
    pub(crate) packs: Vec<PackRef>,
    /// A pack that must be stored before it.
    pub(crate) new_pack: Option<(PackRef, Vec<u8>)>,
    /// Blocks that the next save can refer to.
    pub(crate) known: Arc<KnownBlocks>,
}

/// Encodes a file. `pack_start` are random bytes. `is_whole` is true for a snapshot, which ends the use of all blocks that it does not contain.
pub(crate) fn encode(
    file: &[u8],
    known: &Arc<KnownBlocks>,
    is_whole: bool,
    pack_start: [u8; PACK_START_BYTES],
) -> EncodedContent {
    let inline = || EncodedContent {
        content: [&[INLINE], file].concat(),
        packs: Vec::new(),
        new_pack: None,
        known: if is_whole { Arc::default() } else { Arc::clone(known) },
    };
    if file.len() <= INLINE_BYTES {
        return inline();
    }
    match FileParts::parse(file) {
        Some(parts) => encode_packed(file.len(), &parts, known, is_whole, pack_start),
        None => inline(),
    }
}

fn encode_packed(
    file_len: usize,
    parts: &FileParts<'_>,
    known: &KnownBlocks,
    is_whole: bool,
    pack_start: [u8; PACK_START_BYTES],
) -> EncodedContent {
    let digests: Vec<[u8; DIGEST_BYTES]> = parts.blocks.iter().map(|block| Sha256::digest(block).into()).collect();
    let sparse = if is_whole { known.sparse_packs(&digests) } else { Vec::new() };
    let usable = |digest| known.blocks.get(digest).filter(|location| !sparse.contains(&location.pack));
    let (mut new_bytes, mut new_blocks) = (pack_start.to_vec(), HashMap::new());
    for (digest, block) in digests.iter().zip(&parts.blocks) {
        if usable(digest).is_none() && !new_blocks.contains_key(digest) {
            new_blocks.insert(*digest, (new_bytes.len() as u64, block.len() as u32));
            new_bytes.extend_from_slice(block);
        }
    }
    let new_pack = PackRef { digest: Sha256::digest(&new_bytes).into(), len: new_bytes.len() as u64 };
    let mut after = if is_whole { KnownBlocks::default() } else { known.clone() };
    let mut packs: Vec<PackRef> = Vec::new();
    let mut content = Vec::with_capacity(parts.start.len() + parts.blocks.len() * REFERENCE_BYTES + 64);
    content.push(PACKED);
    content.extend_from_slice(&(file_len as u64).to_le_bytes());
    content.extend_from_slice(&(parts.start.len() as u64).to_le_bytes());
    content.extend_from_slice(parts.start);
    content.extend_from_slice(&(parts.blocks.len() as u64).to_le_bytes());
    for digest in &digests {
        let old = usable(digest).and_then(|at| Some((*known.packs.get(at.pack)?, at.offset, at.len)));
        let new = || new_blocks.get(digest).map(|&(offset, len)| (new_pack, offset, len));
        let Some((pack, offset, len)) = old.or_else(new) else { continue };
        let index = packs.iter().position(|known| *known == pack).unwrap_or_else(|| {
            packs.push(pack);
            packs.len() - 1
        });
        content.extend_from_slice(&(index as u32).to_le_bytes());
        content.extend_from_slice(&offset.to_le_bytes());
        content.extend_from_slice(&len.to_le_bytes());
        content.extend_from_slice(digest);
        after.insert(*digest, pack, offset, len);
    }
    content.extend_from_slice(parts.end);
    let new_pack = (!new_blocks.is_empty()).then_some((new_pack, new_bytes));
    EncodedContent { content, packs, new_pack, known: Arc::new(after) }
}

/// Decodes content and adds its blocks to the known ones. The bytes are untrusted: at most `max_bytes` are allocated. `None` for
/// content that is corrupt or larger.
pub(crate) fn decode(
    content: &[u8],
    packs: &[PackRef],
    pack_bytes: &[Vec<u8>],
    max_bytes: u64,
    known: &mut KnownBlocks,
) -> Option<Vec<u8>> {
    let (form, rest) = content.split_first()?;
    if *form == INLINE {
        return (rest.len() as u64 <= max_bytes).then(|| rest.to_vec());
    }
    let mut reader = Reader(rest);
    let file_len = reader.u64().filter(|len| *form == PACKED && *len <= max_bytes)?;
    let start_len = reader.u64()?;
    let mut file = reader.take(start_len)?.to_vec();
    for _ in 0..reader.u64()? {
        let (pack, offset, len) = (reader.u32()? as usize, reader.u64()?, reader.u32()?);
        let digest = reader.array()?;
        let start = usize::try_from(offset).ok()?;
        let block = pack_bytes.get(pack)?.get(start..start.checked_add(len as usize)?)?;
        if (file.len() + block.len()) as u64 > file_len {
            return None;
        }
        file.extend_from_slice(block);
        known.insert(digest, *packs.get(pack)?, offset, len);
    }
    file.extend_from_slice(reader.0);
    (file.len() as u64 == file_len).then_some(file)
}

/// The parts of a snapshot file or of changes.
struct FileParts<'a> {
    start: &'a [u8],
    blocks: Vec<&'a [u8]>,
    end: &'a [u8],
}

impl<'a> FileParts<'a> {
    fn parse(file: &'a [u8]) -> Option<Self> {
        let mut header = Reader(file.get(12..FILE_HEADER_BYTES)?);
        let (_, records_len, count) = (header.u64()?, header.u64()?, header.u64()?);
        let start_len = FILE_HEADER_BYTES.checked_add(usize::try_from(records_len).ok()?)?;
        let (start, mut rest) = file.split_at_checked(start_len)?;
        let mut blocks = Vec::new();
        for _ in 0..count {
            let stored = Reader(rest.get(4..)?).u32()? as usize;
            let (block, after) = rest.split_at_checked(stored.checked_add(8)?)?;
            blocks.push(block);
            rest = after;
        }
        Some(Self { start, blocks, end: rest })
    }
}
