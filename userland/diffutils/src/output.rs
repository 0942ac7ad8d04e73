//! Buffered standard output.

use tidebox_rt::Fd;

use crate::Failure;

/// Buffer size in bytes.
const FULL: usize = 128 * 1024;

/// The output buffer.
#[derive(Debug)]
pub(crate) struct Output {
    held: Vec<u8>,
    to: Fd,
}

/// Standard output.
impl Default for Output {
    fn default() -> Self {
        Self::to(1)
    }
}

impl Output {
    /// Writes to a descriptor.
    pub(crate) fn to(to: Fd) -> Self {
        Self { held: Vec::new(), to }
    }

    /// Prints bytes.
    pub(crate) fn put(&mut self, bytes: &[u8]) -> Result<(), Failure> {
        self.held.extend_from_slice(bytes);
        if self.held.len() >= FULL { self.flush() } else { Ok(()) }
    }

    /// Flushes the buffer.
    pub(crate) fn flush(&mut self) -> Result<(), Failure> {
        tidebox_rt::write_all(self.to, &self.held).map_err(Failure::Write)?;
        self.held.clear();
        Ok(())
    }
}
