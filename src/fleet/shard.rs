//! Shards of sandboxes.

use sha2::{Digest as _, Sha256};

/// Number of shards. Two letters of an id name one, and few requests are needed to move all of them.
pub const SHARDS: u16 = 1024;

/// Letters of the ids that this program draws, in the order of their values.
const LETTERS: &[u8; 32] = b"abcdefghijklmnopqrstuvwxyz234567";

/// Returns the shard of a sandbox: the value of the last two letters of its id, each of `a` to `z` and `2` to `7` with five bits. For
/// an id with another end it is the start of its SHA-256 digest, modulo [`SHARDS`].
pub fn shard_of(id: &str) -> u16 {
    letters(id).unwrap_or_else(|| {
        let digest = Sha256::digest(id);
        let start = digest.first_chunk::<2>().copied().unwrap_or_default();
        u16::from_le_bytes(start) % SHARDS
    })
}

fn letters(id: &str) -> Option<u16> {
    let value =
        |letter: u8| LETTERS.iter().position(|known| *known == letter).and_then(|value| u16::try_from(value).ok());
    let [high, low] = id.as_bytes().last_chunk::<2>()?;
    Some(value(*high)? * 32 + value(*low)?)
}
