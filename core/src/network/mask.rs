//! Masks credentials that a server sends back, so that they do not reach the guest by accident.

use crate::secret::Secret;

/// Minimum length. Shorter values are not credentials and would match randomly.
const MIN_LENGTH: usize = 8;

/// Replaces added credentials by asterisks in responses.
///
/// It helps against services that repeat a request's headers in a page or an error. It is not a security boundary: a credential
/// that the server encodes is not detected, so send credentials only to hosts that are trusted with them.
#[derive(Default)]
pub(super) struct SecretMasker {
    needles: Vec<Secret>,
    /// Last received bytes, which may be the start of a needle.
    partial: Vec<u8>,
}

impl SecretMasker {
    /// Searches for the part of each header value after its scheme: `abc...` of `Bearer abc...`.
    pub(super) fn new<'a>(values: impl Iterator<Item = &'a Secret>) -> Self {
        let needles = values
            .map(|value| {
                let bytes = value.expose();
                let token = bytes.iter().position(|byte| *byte == b' ').and_then(|at| bytes.get(at + 1..));
                Secret::new(token.filter(|token| token.len() >= MIN_LENGTH).unwrap_or(bytes))
            })
            .filter(|needle| needle.expose().len() >= MIN_LENGTH)
            .collect();
        Self { needles, partial: Vec::new() }
    }

    /// Takes a chunk and returns the bytes that are complete.
    pub(super) fn push(&mut self, chunk: Vec<u8>) -> Vec<u8> {
        if self.needles.is_empty() {
            return chunk;
        }
        let mut bytes = std::mem::take(&mut self.partial);
        bytes.extend_from_slice(&chunk);
        self.mask(&mut bytes);
        let keep = self.needles.iter().map(|needle| partial_match_len(&bytes, needle.expose())).max().unwrap_or(0);
        self.partial = bytes.split_off(bytes.len().saturating_sub(keep));
        bytes
    }

    /// Returns the remaining bytes at the end.
    pub(super) fn finish(&mut self) -> Vec<u8> {
        std::mem::take(&mut self.partial)
    }

    /// Masks one complete text.
    pub(super) fn mask(&self, bytes: &mut [u8]) {
        for needle in &self.needles {
            let needle = needle.expose();
            let mut from = 0;
            while let Some(found) = find(bytes.get(from..).unwrap_or_default(), needle) {
                let at = from + found;
                if let Some(matched) = bytes.get_mut(at..at + needle.len()) {
                    matched.fill(b'*');
                }
                from = at + needle.len();
            }
        }
    }
}

/// Returns the index of `needle`.
fn find(bytes: &[u8], needle: &[u8]) -> Option<usize> {
    memchr::memmem::find(bytes, needle)
}

/// Returns the number of bytes at the end of `bytes` that are a prefix of `needle`.
fn partial_match_len(bytes: &[u8], needle: &[u8]) -> usize {
    let max = needle.len().saturating_sub(1).min(bytes.len());
    (1..=max).rev().find(|n| needle.get(..*n).is_some_and(|start| bytes.ends_with(start))).unwrap_or(0)
}
