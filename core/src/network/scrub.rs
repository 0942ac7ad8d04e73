//! Keeps a credential that a server sends back from reaching the guest by accident.

use crate::secret::Secret;

/// Shorter values are no credentials, and would be found by chance.
const SHORTEST: usize = 8;

/// Replaces added credentials by asterisks in what comes back.
///
/// It helps against services that repeat a request's headers in a page or an error. It is no boundary: a server that
/// encodes what it repeats is not noticed, so a credential belongs only to hosts that are trusted with it.
#[derive(Default)]
pub(super) struct Scrubber {
    needles: Vec<Secret>,
    /// Bytes at the end of what came so far that may begin a needle.
    held: Vec<u8>,
}

impl Scrubber {
    /// Looks for the part of each header value after its scheme: `abc...` of `Bearer abc...`.
    pub(super) fn new<'a>(values: impl Iterator<Item = &'a Secret>) -> Self {
        let needles = values
            .map(|value| {
                let bytes = value.expose();
                let token = bytes.iter().position(|byte| *byte == b' ').and_then(|at| bytes.get(at + 1..));
                Secret::new(token.filter(|token| token.len() >= SHORTEST).unwrap_or(bytes))
            })
            .filter(|needle| needle.expose().len() >= SHORTEST)
            .collect();
        Self { needles, held: Vec::new() }
    }

    /// Takes a piece and gives what can be shown by now.
    pub(super) fn push(&mut self, piece: Vec<u8>) -> Vec<u8> {
        if self.needles.is_empty() {
            return piece;
        }
        let mut bytes = std::mem::take(&mut self.held);
        bytes.extend_from_slice(&piece);
        self.mask(&mut bytes);
        let keep = self.needles.iter().map(|needle| unfinished(&bytes, needle.expose())).max().unwrap_or(0);
        self.held = bytes.split_off(bytes.len().saturating_sub(keep));
        bytes
    }

    /// What was held back, at the end.
    pub(super) fn finish(&mut self) -> Vec<u8> {
        std::mem::take(&mut self.held)
    }

    /// Masks within one whole text.
    pub(super) fn mask(&self, bytes: &mut [u8]) {
        for needle in &self.needles {
            let needle = needle.expose();
            let mut from = 0;
            while let Some(found) = find(bytes.get(from..).unwrap_or_default(), needle) {
                let at = from + found;
                if let Some(seen) = bytes.get_mut(at..at + needle.len()) {
                    seen.fill(b'*');
                }
                from = at + needle.len();
            }
        }
    }
}

/// Where `needle` begins.
fn find(bytes: &[u8], needle: &[u8]) -> Option<usize> {
    memchr::memmem::find(bytes, needle)
}

/// How many bytes at the end of `bytes` are the beginning of `needle`.
fn unfinished(bytes: &[u8], needle: &[u8]) -> usize {
    let most = needle.len().saturating_sub(1).min(bytes.len());
    (1..=most).rev().find(|n| needle.get(..*n).is_some_and(|start| bytes.ends_with(start))).unwrap_or(0)
}
