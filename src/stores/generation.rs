//! Format of a generation.
//!
//! ```text
//! 8 bytes   "TIDEGEN\n"
//! 4         version, 1
//! 4         length of the head
//!           the head, in JSON
//! 32        SHA-256 of everything above
//!           the content
//! 32        SHA-256 of everything above: the digest of the generation
//! ```
//!
//! Numbers are little-endian.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use tidebox_core::{Error, ErrorKind, Result, SandboxId};
use tidebox_vfs_backend::SavedSandbox;

use crate::stores::name::{hex, unhex};
use crate::stores::wire::Reader;

const MAGIC: &[u8; 8] = b"TIDEGEN\n";

/// The only supported version.
const VERSION: u32 = 1;

/// Maximum length of the head in bytes: id, labels and the list of packs. Bounds the allocation for a corrupt length.
const MAX_HEAD_BYTES: u32 = 1 << 20;

pub(crate) const DIGEST_BYTES: usize = 32;

/// Bytes that contain nearly every head.
pub(crate) const HEAD_READ_BYTES: u64 = 8 << 10;

/// Returns the number of bytes that contain the head of a generation that starts with these bytes, if they do not.
pub(crate) fn missing_head_bytes(start: &[u8]) -> Option<u64> {
    let length = Reader(start.get(12..)?).u32()?.min(MAX_HEAD_BYTES);
    let needed = 16 + u64::from(length) + DIGEST_BYTES as u64;
    (start.len() as u64 >= HEAD_READ_BYTES && needed > start.len() as u64).then_some(needed)
}

/// Content of a generation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum GenerationKind {
    /// A whole snapshot.
    Full,
    /// Changes since the previous generation.
    Changes,
    /// Nothing: another writer takes the sandbox over.
    Claim,
    /// Nothing: the sandbox was deleted. No generation follows.
    Deleted,
}

/// The program that writes a sandbox.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Writer {
    /// Random name of the program's store.
    pub owner: String,
    /// Number of the generation by which it took the sandbox over.
    pub epoch: u64,
}

/// Position in a chain.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Head {
    /// Number of the newest generation, from 1.
    pub number: u64,
    /// Digest of that generation.
    pub digest: [u8; DIGEST_BYTES],
}

/// A pack to which the content refers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PackRef {
    /// Digest, which is its name.
    pub digest: [u8; DIGEST_BYTES],
    /// Length in bytes.
    pub len: u64,
}

/// An entry that a writer appends.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// Type of the content.
    pub kind: GenerationKind,
    /// Metadata of the sandbox.
    pub sandbox: SavedSandbox,
    /// The writer.
    pub writer: Writer,
    /// Number of the full generation on which the content is based; its own number for a full one.
    pub base: u64,
    /// Packs to which the content refers.
    pub packs: Vec<PackRef>,
    /// Random bytes by which a writer recognizes its own entry after a lost response.
    pub nonce: [u8; 16],
    /// The content.
    pub content: Vec<u8>,
}

#[derive(Serialize, Deserialize)]
struct JsonHead {
    id: String,
    number: u64,
    kind: GenerationKind,
    before: String,
    nonce: String,
    writer: Writer,
    base: u64,
    labels: BTreeMap<String, String>,
    /// Nanoseconds since the Unix epoch.
    created: u64,
    used: u64,
    #[serde(default)]
    packs: Vec<(String, u64)>,
    content_bytes: u64,
}

/// A verified head.
#[derive(Clone, Debug)]
pub(crate) struct Decoded {
    pub(crate) number: u64,
    /// Digest of the generation before.
    pub(crate) before: [u8; DIGEST_BYTES],
    /// The entry; without content if only the head was decoded.
    pub(crate) entry: Entry,
}

/// Encodes a generation. Returns it with its position.
///
/// # Errors
/// [`ErrorKind::InvalidRequest`] if id and labels are too long.
pub(crate) fn encode(after: Option<&Head>, entry: &Entry) -> Result<(Vec<u8>, Head)> {
    let number = after.map_or(1, |head| head.number.saturating_add(1));
    let SavedSandbox { id, labels, created, last_used } = &entry.sandbox;
    let head = JsonHead {
        id: id.as_str().to_owned(),
        number,
        kind: entry.kind,
        before: hex(&after.map_or([0; DIGEST_BYTES], |head| head.digest)),
        nonce: hex(&entry.nonce),
        writer: entry.writer.clone(),
        base: entry.base,
        labels: labels.clone(),
        created: *created,
        used: *last_used,
        packs: entry.packs.iter().map(|pack| (hex(&pack.digest), pack.len)).collect(),
        content_bytes: entry.content.len() as u64,
    };
    let json = serde_json::to_vec(&head)
        .map_err(|error| Error::new(ErrorKind::Storage, "save sandbox", error.to_string()).with_source(error))?;
    let Some(length) = u32::try_from(json.len()).ok().filter(|length| *length <= MAX_HEAD_BYTES) else {
        let message =
            format!("cannot save the sandbox: id and labels exceed {MAX_HEAD_BYTES} bytes; use shorter labels");
        return Err(Error::new(ErrorKind::InvalidRequest, "save sandbox", message));
    };
    let mut bytes = Vec::with_capacity(16 + json.len() + entry.content.len() + 2 * DIGEST_BYTES);
    bytes.extend_from_slice(MAGIC);
    bytes.extend_from_slice(&VERSION.to_le_bytes());
    bytes.extend_from_slice(&length.to_le_bytes());
    bytes.extend_from_slice(&json);
    let mut hash = Sha256::new_with_prefix(&bytes);
    let head_digest = hash.clone().finalize();
    bytes.extend_from_slice(&head_digest);
    bytes.extend_from_slice(&entry.content);
    hash.update(head_digest);
    hash.update(&entry.content);
    let digest: [u8; DIGEST_BYTES] = hash.finalize().into();
    bytes.extend_from_slice(&digest);
    Ok((bytes, Head { number, digest }))
}

/// Decodes the head of a generation, whose rest may be missing.
///
/// # Errors
/// A description of the corruption, to follow the object's name.
pub(crate) fn decode_head(bytes: &[u8]) -> Result<Decoded, String> {
    decode_start(bytes).map(|(decoded, _)| decoded)
}

/// Decodes a whole generation. Returns it with its digest.
///
/// # Errors
/// As [`decode_head`].
pub(crate) fn decode(bytes: &[u8]) -> Result<(Decoded, Head), String> {
    let (mut decoded, content_bytes) = decode_start(bytes)?;
    let truncated = || "is corrupt: it is truncated".to_owned();
    let (body, digest) = bytes.split_last_chunk::<DIGEST_BYTES>().ok_or_else(truncated)?;
    if Sha256::digest(body).as_slice() != digest {
        return Err("is corrupt: checksum mismatch".to_owned());
    }
    let content = usize::try_from(content_bytes).ok().and_then(|len| body.len().checked_sub(len));
    let content = content.and_then(|start| body.get(start..)).ok_or_else(truncated)?;
    decoded.entry.content = content.to_vec();
    let head = Head { number: decoded.number, digest: *digest };
    Ok((decoded, head))
}

fn decode_start(bytes: &[u8]) -> Result<(Decoded, u64), String> {
    let mut reader = Reader(bytes);
    if reader.take(8) != Some(MAGIC) {
        return Err("is not a saved sandbox".to_owned());
    }
    let truncated = || "is corrupt: it is truncated".to_owned();
    let version = reader.u32().ok_or_else(truncated)?;
    if version != VERSION {
        return Err(format!(
            "has format version {version}; this program supports version {VERSION}; use the version of Tidebox that wrote it"
        ));
    }
    let length = reader.u32().ok_or_else(truncated)?;
    if length > MAX_HEAD_BYTES {
        return Err("is corrupt: its head is too long".to_owned());
    }
    let json = reader.take(u64::from(length)).ok_or_else(truncated)?;
    let start = bytes.get(..16 + json.len()).ok_or_else(truncated)?;
    if reader.array::<DIGEST_BYTES>().ok_or_else(truncated)? != *Sha256::digest(start) {
        return Err("is corrupt: checksum mismatch of its head".to_owned());
    }
    let head: JsonHead = serde_json::from_slice(json).map_err(|error| format!("is corrupt: {error}"))?;
    let content_bytes = head.content_bytes;
    let decoded = head.into_decoded().ok_or_else(|| "is corrupt: its head has an invalid value".to_owned())?;
    Ok((decoded, content_bytes))
}

impl JsonHead {
    fn into_decoded(self) -> Option<Decoded> {
        let digest = |text: &str| unhex(text)?.try_into().ok();
        let packs = self.packs.iter().map(|(name, len)| Some(PackRef { digest: digest(name)?, len: *len }));
        let sandbox = SavedSandbox {
            id: SandboxId::parse(self.id).ok()?,
            labels: self.labels,
            created: self.created,
            last_used: self.used,
        };
        let entry = Entry {
            kind: self.kind,
            sandbox,
            writer: self.writer,
            base: self.base,
            packs: packs.collect::<Option<_>>()?,
            nonce: unhex(&self.nonce)?.try_into().ok()?,
            content: Vec::new(),
        };
        Some(Decoded { number: self.number, before: digest(&self.before)?, entry })
    }
}
