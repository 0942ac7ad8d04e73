//! One saved sandbox as a file: magic, version, a head in JSON with its checksum, the snapshot, and its checksum.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use tidebox_core::{Error, ErrorKind, Result, SandboxId};
use tidebox_vfs_backend::SavedSandbox;

const MAGIC: &[u8; 8] = b"TIDEBOX\n";

/// The only version that this code writes and reads.
const VERSION: u32 = 1;

/// Longest head that is read: an id and labels. A damaged length must not become an allocation.
const HEAD_BYTES: u32 = 1 << 20;

/// Bytes of a checksum (SHA-256).
const CHECKSUM: usize = 32;

/// Longest file name made of an id, well below what file systems take, with room for the extension.
const STEM_BYTES: usize = 150;

/// Why a file cannot be used.
#[derive(Debug)]
pub(super) enum Damage {
    Io(io::Error),
    /// What is wrong, as the end of a sentence that begins with the file's name.
    Content(String),
}

impl From<io::Error> for Damage {
    fn from(error: io::Error) -> Self {
        match error.kind() {
            io::ErrorKind::UnexpectedEof => Self::Content("is damaged: it was cut off".to_owned()),
            _ => Self::Io(error),
        }
    }
}

fn content<T>(what: &str) -> Result<T, Damage> {
    Err(Damage::Content(what.to_owned()))
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

/// The name of a sandbox's files without extension: the id, with `%` and two hexadecimal digits for every byte that is not
/// a small letter, digit, `-` or `_`. File systems that ignore case keep names apart that differ in case only.
pub(super) fn stem(id: &SandboxId) -> String {
    let mut stem = String::new();
    for byte in id.as_str().bytes() {
        match byte {
            b'a'..=b'z' | b'0'..=b'9' | b'-' | b'_' => stem.push(char::from(byte)),
            other => stem.push_str(&format!("%{other:02x}")),
        }
    }
    if stem.len() <= STEM_BYTES {
        return stem;
    }
    // The mark is no hexadecimal digit, so that no short id has this name.
    let digest = Sha256::digest(id.as_str().as_bytes());
    digest.iter().fold("%long-".to_owned(), |stem, byte| stem + &format!("{byte:02x}"))
}

/// All that is before the snapshot.
pub(super) fn head(saved: &SavedSandbox, snapshot: &[u8]) -> Result<Vec<u8>> {
    let SavedSandbox { id, labels, created, used } = saved;
    let head = Head {
        id: id.as_str().to_owned(),
        labels: labels.clone(),
        created: *created,
        used: *used,
        snapshot_bytes: snapshot.len() as u64,
    };
    let json = serde_json::to_vec(&head)
        .map_err(|error| Error::new(ErrorKind::Storage, "save sandbox", error.to_string()).with_source(error))?;
    let Some(length) = u32::try_from(json.len()).ok().filter(|length| *length <= HEAD_BYTES) else {
        let message = format!("id and labels of a sandbox may have {HEAD_BYTES} bytes together; use shorter labels");
        return Err(Error::new(ErrorKind::InvalidRequest, "save sandbox", message));
    };
    let mut bytes = [MAGIC.as_slice(), &VERSION.to_le_bytes(), &length.to_le_bytes(), &json].concat();
    let digest = checksum(&bytes);
    bytes.extend_from_slice(&digest);
    Ok(bytes)
}

pub(super) fn checksum(bytes: &[u8]) -> [u8; CHECKSUM] {
    Sha256::digest(bytes).into()
}

/// What is known of the sandbox, without reading the snapshot.
pub(super) fn read_head(path: &Path) -> Result<SavedSandbox, Damage> {
    let (head, _) = open(path)?;
    let id = SandboxId::parse(head.id).map_err(|error| Damage::Content(format!("is damaged: {error}")))?;
    Ok(SavedSandbox { id, labels: head.labels, created: head.created, used: head.used })
}

/// The snapshot of the sandbox of this id.
pub(super) fn read(path: &Path, id: &SandboxId) -> Result<Vec<u8>, Damage> {
    let (head, mut file) = open(path)?;
    if head.id != id.as_str() {
        return content("is another sandbox's: somebody renamed it");
    }
    let mut snapshot = Vec::new();
    file.read_to_end(&mut snapshot)?;
    let Some(at) = snapshot.len().checked_sub(CHECKSUM).filter(|at| *at as u64 == head.snapshot_bytes) else {
        return content("is damaged: it was cut off, or something was added");
    };
    let digest = snapshot.split_off(at);
    if digest != checksum(&snapshot) {
        return content("is damaged: its checksum is wrong");
    }
    Ok(snapshot)
}

/// The checked head, and the file behind it.
fn open(path: &Path) -> Result<(Head, File), Damage> {
    let mut file = File::open(path)?;
    let mut start = [0; 16];
    file.read_exact(&mut start)?;
    let (magic, rest) = start.split_at(MAGIC.len());
    let (version, length) = rest.split_at(4);
    let number = |bytes: &[u8]| bytes.try_into().map(u32::from_le_bytes).unwrap_or(u32::MAX);
    if magic != MAGIC {
        return content("is no saved sandbox");
    }
    match number(version) {
        VERSION => {}
        other => {
            let what = format!(
                "has version {other} of the format and this program reads version {VERSION}: use the Tidebox that wrote it"
            );
            return Err(Damage::Content(what));
        }
    }
    let length = number(length);
    if length > HEAD_BYTES {
        return content("is damaged: its head is too long");
    }
    let mut json = vec![0; length as usize];
    file.read_exact(&mut json)?;
    let mut digest = [0; CHECKSUM];
    file.read_exact(&mut digest)?;
    if digest != checksum(&[&start, json.as_slice()].concat()) {
        return content("is damaged: the checksum of its head is wrong");
    }
    match serde_json::from_slice(&json) {
        Ok(head) => Ok((head, file)),
        Err(error) => Err(Damage::Content(format!("is damaged: {error}"))),
    }
}
