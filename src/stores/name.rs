//! Names of objects.

use sha2::{Digest, Sha256};
use tidebox_core::SandboxId;

/// Maximum length of a sandbox's part of a name in bytes, below the limit of file systems.
const MAX_STEM_BYTES: usize = 150;

/// Start of the names of packs. Numbers sort before it.
const PACK: &str = "pack-";

/// Returns the part of a name for a sandbox: its id, with `%` and two hexadecimal digits for every byte other than a lower-case
/// letter, a digit, `-` or `_`. Names are therefore distinct on case-insensitive file systems.
pub(crate) fn stem(id: &SandboxId) -> String {
    let mut stem = escape(id.as_str());
    if stem.len() > MAX_STEM_BYTES {
        // `%lo` is not an escape, so no short id has this stem.
        stem = format!("%long-{}", hex(&Sha256::digest(id.as_str().as_bytes())));
    }
    stem
}

/// Escapes the start of an id.
pub(crate) fn escape(id: &str) -> String {
    let mut escaped = String::with_capacity(id.len());
    for byte in id.bytes() {
        match byte {
            b'a'..=b'z' | b'0'..=b'9' | b'-' | b'_' => escaped.push(char::from(byte)),
            other => escaped.push_str(&format!("%{other:02x}")),
        }
    }
    escaped
}

/// Returns the prefix of all objects of a sandbox.
pub(crate) fn dir(stem: &str) -> String {
    format!("{stem}/")
}

/// Returns a name after all objects of a sandbox.
pub(crate) fn after_all(stem: &str) -> String {
    format!("{stem}/~")
}

/// Returns the name of a generation. Names sort as numbers do.
pub(crate) fn generation(stem: &str, number: u64) -> String {
    format!("{stem}/{number:016x}")
}

/// Returns the name of a pack.
pub(crate) fn pack(stem: &str, digest: &[u8; 32]) -> String {
    format!("{stem}/{PACK}{}", hex(digest))
}

/// Splits a name into the sandbox's part and the object's.
pub(crate) fn split(name: &str) -> Option<(&str, &str)> {
    name.split_once('/')
}

/// Returns the number of a generation from the object's part of its name.
pub(crate) fn number(object: &str) -> Option<u64> {
    (object.len() == 16).then(|| u64::from_str_radix(object, 16).ok()).flatten()
}

/// Returns the digest of a pack from the object's part of its name.
pub(crate) fn pack_digest(object: &str) -> Option<[u8; 32]> {
    unhex(object.strip_prefix(PACK)?)?.try_into().ok()
}

pub(crate) fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::with_capacity(bytes.len() * 2), |hex, byte| hex + &format!("{byte:02x}"))
}

pub(crate) fn unhex(text: &str) -> Option<Vec<u8>> {
    let digits: Option<Vec<u8>> = text.chars().map(|digit| Some(digit.to_digit(16)? as u8)).collect();
    let digits = digits.filter(|digits| digits.len() % 2 == 0)?;
    Some(digits.chunks(2).map(|pair| pair.iter().fold(0, |byte, digit| byte << 4 | digit)).collect())
}
