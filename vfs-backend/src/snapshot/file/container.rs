//! Container of a snapshot file: header, compressed records, compressed blocks, digest.
//!
//! ```text
//! 8 bytes   "TIDESNAP"
//! 4         version, 1
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

use lz4_flex::block::{compress, decompress_into};
use sha2::{Digest, Sha256};
use tidebox_core::{Error, ErrorKind, Limits, Result};
use tidebox_kernel::fs::{BLOCK_BYTES, Block};

use super::corrupt_snapshot;

const MAGIC: &[u8; 8] = b"TIDESNAP";

const VERSION: u32 = 1;

const DIGEST_BYTES: usize = 32;

/// Maximum LZ4 expansion per byte; a larger declared length is invalid.
const MAX_RATIO: u64 = 256;

/// Memory per record except the target of a link, which is charged as file bytes: a name, attributes, and overhead.
const RECORD_BYTES: u64 = 400;

/// A container with a verified digest.
pub(super) struct Container {
    pub(super) meta: Vec<u8>,
    pub(super) blocks: Vec<Block>,
}

pub(super) fn write(meta: &[u8], blocks: &[&[u8]]) -> Vec<u8> {
    let packed = compress(meta);
    let mut out = Vec::new();
    out.extend_from_slice(MAGIC);
    out.extend_from_slice(&VERSION.to_le_bytes());
    for number in [meta.len(), packed.len(), blocks.len()] {
        out.extend_from_slice(&(number as u64).to_le_bytes());
    }
    out.extend_from_slice(&packed);
    for block in blocks {
        let packed = compress(block);
        let stored = if packed.len() < block.len() { packed.as_slice() } else { block };
        // Blocks are at most 64 KiB.
        out.extend_from_slice(&(block.len() as u32).to_le_bytes());
        out.extend_from_slice(&(stored.len() as u32).to_le_bytes());
        out.extend_from_slice(stored);
    }
    let digest = Sha256::digest(&out);
    out.extend_from_slice(&digest);
    out
}

pub(super) fn read(bytes: &[u8], limits: &Limits) -> Result<Container> {
    let mut parts = ByteCursor(verify_digest(bytes)?);
    let (meta_len, packed_len, count) = (parts.u64()?, parts.u64()?, parts.u64()?);
    let max_len = limits.inodes.saturating_mul(RECORD_BYTES).saturating_add(limits.file_bytes).saturating_add(1 << 20);
    if meta_len > max_len || meta_len > packed_len.saturating_mul(MAX_RATIO) {
        return Err(corrupt_snapshot("the records claim an impossible length"));
    }
    let packed = parts.take(usize::try_from(packed_len).unwrap_or(usize::MAX))?;
    let meta = decompress(packed, usize::try_from(meta_len).unwrap_or(usize::MAX))?;
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

/// Verifies the digest and returns the bytes between the version and the digest.
fn verify_digest(bytes: &[u8]) -> Result<&[u8]> {
    let Some(rest) = bytes.strip_prefix(MAGIC) else {
        return Err(corrupt_snapshot("the bytes do not start with a snapshot header"));
    };
    let mut parts = ByteCursor(rest);
    let version = parts.u32()?;
    if version != VERSION {
        let message = format!(
            "the snapshot has format {version} and this program reads {VERSION}; use the program that wrote it"
        );
        return Err(Error::new(ErrorKind::InvalidRequest, "read snapshot", message));
    }
    let early = || corrupt_snapshot("the file ends too early");
    let length = bytes.len().checked_sub(DIGEST_BYTES).ok_or_else(early)?;
    let (body, digest) = bytes.split_at_checked(length).ok_or_else(early)?;
    if Sha256::digest(body).as_slice() != digest {
        return Err(corrupt_snapshot("the digest does not fit"));
    }
    parts.0.get(..parts.0.len().saturating_sub(DIGEST_BYTES)).ok_or_else(early)
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
