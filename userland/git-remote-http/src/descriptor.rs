//! Descriptors as streams.

use std::io::{self, Read, Write};

use tidebox_rt::{Errno, Fd};

/// Reads a descriptor, without a buffer.
#[derive(Debug)]
pub(crate) struct FdReader(pub(crate) Fd);

impl Read for FdReader {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        loop {
            match tidebox_rt::read(self.0, into) {
                Err(Errno::INTR) => {}
                other => return other.map_err(error),
            }
        }
    }
}

/// Writes a descriptor, without a buffer.
#[derive(Debug)]
pub(crate) struct FdWriter(pub(crate) Fd);

impl Write for FdWriter {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        tidebox_rt::write_all(self.0, bytes).map_err(error)?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

fn error(errno: Errno) -> io::Error {
    match errno {
        Errno::PIPE => io::ErrorKind::BrokenPipe.into(),
        other => io::Error::other(other.text()),
    }
}
