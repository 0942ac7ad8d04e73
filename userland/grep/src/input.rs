//! Buffered file reader that always holds whole lines.

use std::io::{ErrorKind, Read};

/// Initial read size. Programs with little output finish with one read.
const FIRST_READ: usize = 32 * 1024;

/// Later read size. Beyond it, the cost of a read is small compared with the search.
const MAX_READ: usize = 512 * 1024;

/// Bytes of a file, starting at some line.
#[derive(Debug)]
pub(crate) struct Input<R> {
    from: R,
    bytes: Vec<u8>,
    filled: usize,
    /// File offset of the first byte.
    pub(crate) offset: u64,
    /// True at the end of the file.
    pub(crate) ended: bool,
    read_size: usize,
}

impl<R: Read> Input<R> {
    pub(crate) fn new(from: R) -> Self {
        Self { from, bytes: Vec::new(), filled: 0, offset: 0, ended: false, read_size: FIRST_READ }
    }

    /// The buffered bytes.
    pub(crate) fn bytes(&self) -> &[u8] {
        self.bytes.get(..self.filled).unwrap_or_default()
    }

    /// The buffered bytes, mutable.
    pub(crate) fn bytes_mut(&mut self) -> &mut [u8] {
        self.bytes.get_mut(..self.filled).unwrap_or_default()
    }

    /// Drops the first `count` bytes.
    pub(crate) fn forget(&mut self, count: usize) {
        let count = count.min(self.filled);
        self.bytes.copy_within(count..self.filled, 0);
        self.filled -= count;
        self.offset = self.offset.saturating_add(count as u64);
    }

    /// Reads more. Returns the number of bytes read.
    pub(crate) fn read(&mut self) -> std::io::Result<usize> {
        let wanted = self.filled.saturating_add(self.read_size);
        if self.bytes.len() < wanted {
            self.bytes.try_reserve(wanted - self.bytes.len()).map_err(|_| ErrorKind::OutOfMemory)?;
            self.bytes.resize(wanted, 0);
        }
        let room = self.bytes.get_mut(self.filled..).unwrap_or_default();
        let count = loop {
            match self.from.read(room) {
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                other => break other?,
            }
        };
        self.ended = count == 0;
        if count == room.len() {
            self.read_size = self.read_size.saturating_mul(4).min(MAX_READ);
        }
        self.filled += count;
        Ok(count)
    }
}
