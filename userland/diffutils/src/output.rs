//! Buffered standard output.

use crate::Failure;

/// Buffer size in bytes.
const FULL: usize = 128 * 1024;

/// The output buffer.
#[derive(Debug, Default)]
pub(crate) struct Output {
    buffer: Vec<u8>,
}

impl Output {
    /// Prints bytes.
    pub(crate) fn put(&mut self, bytes: &[u8]) -> Result<(), Failure> {
        self.buffer.extend_from_slice(bytes);
        if self.buffer.len() >= FULL { self.flush() } else { Ok(()) }
    }

    /// Flushes the buffer.
    pub(crate) fn flush(&mut self) -> Result<(), Failure> {
        tidebox_rt::write_all(1, &self.buffer).map_err(Failure::Write)?;
        self.buffer.clear();
        Ok(())
    }
}
