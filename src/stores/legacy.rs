//! Format of a saved sandbox before there were generations: magic, version, a head in JSON with its checksum, the snapshot, and its
//! checksum.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

use serde::Deserialize;
use sha2::{Digest, Sha256};
use tidebox_core::SandboxId;
use tidebox_vfs_backend::SavedSandbox;

const MAGIC: &[u8; 8] = b"TIDEBOX\n";

/// The only supported version.
const VERSION: u32 = 1;

/// Maximum size of the head (id and labels) in bytes. Bounds the allocation for a corrupt length.
const MAX_HEAD_BYTES: u32 = 1 << 20;

/// Size of a checksum (SHA-256) in bytes.
const CHECKSUM_BYTES: usize = 32;

/// Error of reading a file.
#[derive(Debug)]
pub(crate) enum ReadError {
    Io(io::Error),
    /// Description of the corruption, after the file's name.
    Content(String),
}

impl From<io::Error> for ReadError {
    fn from(error: io::Error) -> Self {
        match error.kind() {
            io::ErrorKind::UnexpectedEof => Self::Content("is corrupt: it is truncated".to_owned()),
            _ => Self::Io(error),
        }
    }
}

fn corrupt<T>(what: &str) -> Result<T, ReadError> {
    Err(ReadError::Content(what.to_owned()))
}

#[derive(Deserialize)]
struct Head {
    id: String,
    labels: BTreeMap<String, String>,
    /// Nanoseconds since the Unix epoch.
    created: u64,
    used: u64,
    snapshot_bytes: u64,
}

fn checksum(bytes: &[u8]) -> [u8; CHECKSUM_BYTES] {
    Sha256::digest(bytes).into()
}

/// Reads the head of a file without its snapshot.
pub(crate) fn read_head(path: &Path) -> Result<SavedSandbox, ReadError> {
    open(path)?.0.into_saved()
}

/// Reads the sandbox with this id: its metadata and its snapshot file.
pub(crate) fn read(path: &Path, id: &SandboxId) -> Result<(SavedSandbox, Vec<u8>), ReadError> {
    let (head, mut file) = open(path)?;
    if head.id != id.as_str() {
        return corrupt("belongs to another sandbox: it was renamed");
    }
    let mut snapshot = Vec::new();
    file.read_to_end(&mut snapshot)?;
    let Some(at) = snapshot.len().checked_sub(CHECKSUM_BYTES).filter(|at| *at as u64 == head.snapshot_bytes) else {
        return corrupt("is corrupt: its length is wrong");
    };
    let digest = snapshot.split_off(at);
    if digest != checksum(&snapshot) {
        return corrupt("is corrupt: checksum mismatch");
    }
    Ok((head.into_saved()?, snapshot))
}

impl Head {
    fn into_saved(self) -> Result<SavedSandbox, ReadError> {
        let id = SandboxId::parse(self.id).map_err(|error| ReadError::Content(format!("is corrupt: {error}")))?;
        Ok(SavedSandbox { id, labels: self.labels, created: self.created, last_used: self.used })
    }
}

/// Opens a file and returns its verified head and the file positioned at the snapshot.
fn open(path: &Path) -> Result<(Head, File), ReadError> {
    let mut file = File::open(path)?;
    let mut start = [0; 16];
    file.read_exact(&mut start)?;
    let (magic, rest) = start.split_at(MAGIC.len());
    let (version, length) = rest.split_at(4);
    let number = |bytes: &[u8]| bytes.try_into().map(u32::from_le_bytes).unwrap_or(u32::MAX);
    if magic != MAGIC {
        return corrupt("is not a saved sandbox");
    }
    match number(version) {
        VERSION => {}
        other => {
            let description = format!(
                "has format version {other}; this program supports version {VERSION}; use the version of Tidebox that wrote it"
            );
            return Err(ReadError::Content(description));
        }
    }
    let length = number(length);
    if length > MAX_HEAD_BYTES {
        return corrupt("is corrupt: its head is too long");
    }
    let mut json = vec![0; length as usize];
    file.read_exact(&mut json)?;
    let mut digest = [0; CHECKSUM_BYTES];
    file.read_exact(&mut digest)?;
    if digest != checksum(&[&start, json.as_slice()].concat()) {
        return corrupt("is corrupt: checksum mismatch of its head");
    }
    match serde_json::from_slice(&json) {
        Ok(head) => Ok((head, file)),
        Err(error) => Err(ReadError::Content(format!("is corrupt: {error}"))),
    }
}
