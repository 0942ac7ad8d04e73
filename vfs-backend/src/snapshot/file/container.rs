//! Container of a snapshot file and of changes: header, compressed records, compressed blocks, digest.
//!
//! ```text
//! 8 bytes   "TIDESNAP", "TIDECHNG" for changes, or "TIDEPROC" for a process
//! 4         version, 1; plus 0x8000_0000 if nothing is compressed and the digest is missing
//! 8         length of the records
//! 8         length of the compressed records
//! 8         number of blocks
//!           the compressed records
//!           for each block: 4 bytes length, 4 bytes stored length, the stored bytes
//! 32        SHA-256 of everything above
//! ```
//!
//! Numbers are little-endian. A block whose two lengths are equal is stored uncompressed, otherwise compressed. Compression
//! is LZ4's block format.

use std::borrow::Cow;

use lz4_flex::block::{compress, decompress_into};
use sha2::{Digest, Sha256};
use tidebox_core::{Error, ErrorKind, Limits, Result};
use tidebox_kernel::fs::{BLOCK_BYTES, Block};

use super::corrupt_snapshot;

const VERSION: u32 = 1;

/// Bit of the version for [`Packing::Raw`].
const RAW: u32 = 1 << 31;

const DIGEST_BYTES: usize = 32;

/// Magic, version and three numbers.
const HEADER_BYTES: usize = 36;

/// Maximum LZ4 expansion per byte; a larger declared length is invalid.
const MAX_RATIO: u64 = 256;

/// Memory per record except the target of a link, which is charged as file bytes: a name, attributes, and overhead.
const RECORD_BYTES: u64 = 400;

/// Type of the content.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ContainerKind {
    Snapshot,
    Changes,
    /// A saved process; its blocks are its pages.
    Process,
}

impl ContainerKind {
    fn magic(self) -> &'static [u8; 8] {
        match self {
            Self::Snapshot => b"TIDESNAP",
            Self::Changes => b"TIDECHNG",
            Self::Process => b"TIDEPROC",
        }
    }

    /// Returns whether the bytes have the magic of this kind.
    pub(super) fn is_start_of(self, bytes: &[u8]) -> bool {
        bytes.starts_with(self.magic())
    }
}

/// Form of a container.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Packing {
    /// Compressed with LZ4, with a digest at the end: for files and stores.
    Compressed,
    /// As they are, without a digest: for bytes that stay in the process.
    Raw,
}

/// A container with a verified digest.
pub(super) struct Container {
    pub(super) meta: Vec<u8>,
    pub(super) blocks: Vec<Block>,
}

pub(super) fn write(kind: ContainerKind, packing: Packing, meta: &[u8], blocks: &[&[u8]]) -> Vec<u8> {
    let is_raw = packing == Packing::Raw;
    let packed = if is_raw { Cow::Borrowed(meta) } else { Cow::Owned(compress(meta)) };
    let size = blocks.iter().map(|block| block.len() + 8).sum::<usize>();
    let mut out = Vec::with_capacity(if is_raw { HEADER_BYTES + meta.len() + size } else { 0 });
    out.extend_from_slice(kind.magic());
    out.extend_from_slice(&(if is_raw { VERSION | RAW } else { VERSION }).to_le_bytes());
    for number in [meta.len(), packed.len(), blocks.len()] {
        out.extend_from_slice(&(number as u64).to_le_bytes());
    }
    out.extend_from_slice(&packed);
    for block in blocks {
        let packed = if is_raw { Vec::new() } else { compress(block) };
        let stored = if !is_raw && packed.len() < block.len() { packed.as_slice() } else { block };
        // Blocks are at most 64 KiB.
        out.extend_from_slice(&(block.len() as u32).to_le_bytes());
        out.extend_from_slice(&(stored.len() as u32).to_le_bytes());
        out.extend_from_slice(stored);
    }
    if !is_raw {
        let digest = Sha256::digest(&out);
        out.extend_from_slice(&digest);
    }
    out
}

pub(super) fn read(kind: ContainerKind, bytes: &[u8], limits: &Limits) -> Result<Container> {
    let (body, packing) = verify(kind, bytes)?;
    let mut parts = ByteCursor(body);
    let (meta_len, packed_len, count) = (parts.u64()?, parts.u64()?, parts.u64()?);
    let max_len = limits.inodes.saturating_mul(RECORD_BYTES).saturating_add(limits.file_bytes).saturating_add(1 << 20);
    if meta_len > max_len || meta_len > packed_len.saturating_mul(MAX_RATIO) {
        return Err(corrupt_snapshot("the records claim an impossible length"));
    }
    let packed = parts.take(usize::try_from(packed_len).unwrap_or(usize::MAX))?;
    let meta = match packing {
        Packing::Raw => packed.to_vec(),
        Packing::Compressed => decompress(packed, usize::try_from(meta_len).unwrap_or(usize::MAX))?,
    };
    let mut blocks = Vec::new();
    let mut available = limits.file_bytes;
    for _ in 0..count {
        let (len, stored) = (parts.u32()? as usize, parts.u32()? as usize);
        if len > BLOCK_BYTES || stored > len {
            return Err(corrupt_snapshot("a block claims an impossible length"));
        }
        available = available.checked_sub(len as u64).ok_or_else(|| too_large(limits))?;
        let stored = parts.take(stored)?;
        let block = if stored.len() == len { stored.to_vec() } else { decompress(stored, len)? };
        blocks.push(Block::new(block).ok_or_else(|| corrupt_snapshot("a block is empty"))?);
    }
    if !parts.0.is_empty() {
        return Err(corrupt_snapshot("unexpected trailing data"));
    }
    Ok(Container { meta, blocks })
}

/// Verifies the header and the digest, if there is one, and returns the bytes between the two.
fn verify(kind: ContainerKind, bytes: &[u8]) -> Result<(&[u8], Packing)> {
    let Some(rest) = bytes.strip_prefix(kind.magic()) else {
        return Err(corrupt_snapshot("the bytes do not start with a snapshot header"));
    };
    let mut parts = ByteCursor(rest);
    let version = parts.u32()?;
    let is_raw = version & RAW != 0 && kind == ContainerKind::Changes;
    let version = if is_raw { version & !RAW } else { version };
    if version != VERSION {
        let message = format!(
            "the snapshot has format {version} and this program reads {VERSION}; use the program that wrote it"
        );
        return Err(Error::new(ErrorKind::InvalidRequest, "read snapshot", message));
    }
    if is_raw {
        return Ok((parts.0, Packing::Raw));
    }
    let early = || corrupt_snapshot("the file ends too early");
    let length = bytes.len().checked_sub(DIGEST_BYTES).ok_or_else(early)?;
    let (body, digest) = bytes.split_at_checked(length).ok_or_else(early)?;
    if Sha256::digest(body).as_slice() != digest {
        return Err(corrupt_snapshot("the digest does not fit"));
    }
    let body = parts.0.get(..parts.0.len().saturating_sub(DIGEST_BYTES)).ok_or_else(early)?;
    Ok((body, Packing::Compressed))
}

fn decompress(packed: &[u8], len: usize) -> Result<Vec<u8>> {
    let mut bytes = vec![0; len];
    match decompress_into(packed, &mut bytes) {
        Ok(count) if count == len => Ok(bytes),
        _ => Err(corrupt_snapshot("a part cannot be decompressed")),
    }
}

fn too_large(limits: &Limits) -> Error {
    let message = format!("the snapshot has more than the {} bytes that Limits::file_bytes allows", limits.file_bytes);
    Error::new(ErrorKind::FileOperationFailed, "read snapshot", message)
}

struct ByteCursor<'a>(&'a [u8]);

impl<'a> ByteCursor<'a> {
    fn take(&mut self, count: usize) -> Result<&'a [u8]> {
        let (taken, rest) =
            self.0.split_at_checked(count).ok_or_else(|| corrupt_snapshot("the file ends too early"))?;
        self.0 = rest;
        Ok(taken)
    }

    fn array<const N: usize>(&mut self) -> Result<[u8; N]> {
        self.take(N)?.try_into().map_err(|_| corrupt_snapshot("the file ends too early"))
    }

    fn u32(&mut self) -> Result<u32> {
        self.array().map(u32::from_le_bytes)
    }

    fn u64(&mut self) -> Result<u64> {
        self.array().map(u64::from_le_bytes)
    }
}
