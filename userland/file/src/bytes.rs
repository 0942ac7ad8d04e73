//! Numbers and strings at offsets of a file.

/// Bytes of a file, or of a part of it. Out-of-range reads return `None`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Bytes<'a>(pub(crate) &'a [u8]);

impl<'a> Bytes<'a> {
    /// Returns whether it has these bytes at an offset.
    pub(crate) fn has(self, at: usize, wanted: &[u8]) -> bool {
        self.get(at, wanted.len()) == Some(wanted)
    }

    pub(crate) fn get(self, at: usize, count: usize) -> Option<&'a [u8]> {
        self.0.get(at..at.checked_add(count)?)
    }

    pub(crate) fn byte(self, at: usize) -> Option<u8> {
        self.0.get(at).copied()
    }

    fn number<const N: usize>(self, at: usize) -> Option<[u8; N]> {
        self.get(at, N)?.try_into().ok()
    }

    pub(crate) fn le16(self, at: usize) -> Option<u16> {
        self.number(at).map(u16::from_le_bytes)
    }

    pub(crate) fn be16(self, at: usize) -> Option<u16> {
        self.number(at).map(u16::from_be_bytes)
    }

    pub(crate) fn le32(self, at: usize) -> Option<u32> {
        self.number(at).map(u32::from_le_bytes)
    }

    pub(crate) fn be32(self, at: usize) -> Option<u32> {
        self.number(at).map(u32::from_be_bytes)
    }

    pub(crate) fn be64(self, at: usize) -> Option<u64> {
        self.number(at).map(u64::from_be_bytes)
    }

    pub(crate) fn le64(self, at: usize) -> Option<u64> {
        self.number(at).map(u64::from_le_bytes)
    }

    /// Finds a string within the first `within` bytes after `from`.
    pub(crate) fn find(self, from: usize, within: usize, wanted: &[u8]) -> Option<usize> {
        let end = from.saturating_add(within).saturating_add(wanted.len()).min(self.0.len());
        let at = memchr::memmem::find(self.0.get(from..end)?, wanted)?;
        Some(from + at)
    }

    /// Returns the text up to the next zero byte.
    pub(crate) fn text(self, at: usize) -> String {
        let rest = self.0.get(at..).unwrap_or_default();
        let end = memchr::memchr(0, rest).unwrap_or(rest.len());
        String::from_utf8_lossy(rest.get(..end).unwrap_or_default()).into_owned()
    }
}
