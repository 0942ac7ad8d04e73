//! Format of a saved sandbox: magic, version, a head in JSON with its checksum, the snapshot, and its checksum.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use tidebox_core::{Error, ErrorKind, Result, SandboxId};
use tidebox_vfs_backend::SavedSandbox;

const MAGIC: &[u8; 8] = b"TIDEBOX\n";

/// The only supported version.
const VERSION: u32 = 1;

/// Maximum size of the head (id and labels) in bytes. Bounds the allocation for a corrupt length.
const MAX_HEAD_BYTES: u32 = 1 << 20;

/// Size of a checksum (SHA-256) in bytes.
const CHECKSUM_BYTES: usize = 32;

/// Maximum length of a file stem in bytes, below the limit of file systems including the extension.
const MAX_STEM_BYTES: usize = 150;

/// Error of reading a file.
#[derive(Debug)]
pub(super) enum ReadError {
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

#[derive(Serialize, Deserialize)]
struct Head {
    id: String,
    labels: BTreeMap<String, String>,
    /// Nanoseconds since the Unix epoch.
    created: u64,
    used: u64,
    snapshot_bytes: u64,
}

/// Returns the file stem of a sandbox: its id, with `%` and two hexadecimal digits for every byte other than a lower-case letter,
/// a digit, `-` or `_`. Names are therefore distinct on case-insensitive file systems.
pub(super) fn file_stem(id: &SandboxId) -> String {
    let mut stem = String::new();
    for byte in id.as_str().bytes() {
        match byte {
            b'a'..=b'z' | b'0'..=b'9' | b'-' | b'_' => stem.push(char::from(byte)),
            other => stem.push_str(&format!("%{other:02x}")),
        }
    }
    if stem.len() <= MAX_STEM_BYTES {
        return stem;
    }
    // `%lo` is not an escape, so no short id has this stem.
    let digest = Sha256::digest(id.as_str().as_bytes());
    digest.iter().fold("%long-".to_owned(), |stem, byte| stem + &format!("{byte:02x}"))
}

/// Returns the bytes before the snapshot.
pub(super) fn head(saved: &SavedSandbox, snapshot: &[u8]) -> Result<Vec<u8>> {
    let SavedSandbox { id, labels, created, last_used: used } = saved;
    let head = Head {
        id: id.as_str().to_owned(),
        labels: labels.clone(),
        created: *created,
        used: *used,
        snapshot_bytes: snapshot.len() as u64,
    };
    let json = serde_json::to_vec(&head)
        .map_err(|error| Error::new(ErrorKind::Storage, "save sandbox", error.to_string()).with_source(error))?;
    let Some(length) = u32::try_from(json.len()).ok().filter(|length| *length <= MAX_HEAD_BYTES) else {
        let message = format!("id and labels exceed {MAX_HEAD_BYTES} bytes; use shorter labels");
        return Err(Error::new(ErrorKind::InvalidRequest, "save sandbox", message));
    };
    let mut bytes = [MAGIC.as_slice(), &VERSION.to_le_bytes(), &length.to_le_bytes(), &json].concat();
    let digest = checksum(&bytes);
    bytes.extend_from_slice(&digest);
    Ok(bytes)
}

pub(super) fn checksum(bytes: &[u8]) -> [u8; CHECKSUM_BYTES] {
    Sha256::digest(bytes).into()
}

/// Reads the head of a file without its snapshot.
pub(super) fn read_head(path: &Path) -> Result<SavedSandbox, ReadError> {
    let (head, _) = open(path)?;
    let id = SandboxId::parse(head.id).map_err(|error| ReadError::Content(format!("is corrupt: {error}")))?;
    Ok(SavedSandbox { id, labels: head.labels, created: head.created, last_used: head.used })
}

/// Reads the snapshot of the sandbox with this id.
pub(super) fn read(path: &Path, id: &SandboxId) -> Result<Vec<u8>, ReadError> {
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
    Ok(snapshot)
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
