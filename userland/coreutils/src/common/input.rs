//! Input files.

use tidebox_gnu::message::{path_label, print_error};
use tidebox_rt::{Errno, Fd, Open, Stat};

/// Bytes moved at once: twice what a pipe holds, so that a pipe is emptied by one read.
pub(crate) const CHUNK: usize = 128 * 1024;

/// A file to read, or standard input.
#[derive(Debug)]
pub(crate) struct Input<'a> {
    fd: Fd,
    name: &'a [u8],
}

impl<'a> Input<'a> {
    /// Opens an operand; `-` is standard input.
    pub(crate) fn open(name: &'a [u8]) -> Result<Self, Errno> {
        let fd = match name {
            b"-" => 0,
            _ => tidebox_rt::open(name, Open { read: true, ..Open::default() })?,
        };
        Ok(Self { fd, name })
    }

    /// Which file this is, device and number, if it has an offset and something is left to read there.
    pub(crate) fn pending(&self) -> Option<(u32, u64)> {
        let stat = tidebox_rt::fstat(self.fd).ok()?;
        let at = tidebox_rt::seek(self.fd, 0).ok()?;
        (at < stat.size).then_some((stat.dev, stat.ino))
    }

    /// Returns the metadata of the input.
    pub(crate) fn state(&self) -> Result<Stat, Errno> {
        tidebox_rt::fstat(self.fd)
    }

    /// Seeks relative to the current offset and returns the new offset.
    pub(crate) fn seek(&self, by: i64) -> Result<u64, Errno> {
        tidebox_rt::seek(self.fd, by)
    }

    /// Goes to a place counted from the beginning, as far as the file can.
    pub(crate) fn go_to(&self, place: u64) {
        // What cannot be read again stays read.
        let _ = tidebox_rt::seek_to(self.fd, place);
    }

    /// Reads once; 0 bytes mean the end.
    pub(crate) fn read(&self, into: &mut [u8]) -> Result<usize, Errno> {
        loop {
            match tidebox_rt::read(self.fd, into) {
                Err(Errno::INTR) => {}
                other => return other,
            }
        }
    }
}

impl Drop for Input<'_> {
    fn drop(&mut self) {
        if self.name != b"-" {
            // Nothing was written, so that closing has nothing to report.
            let _ = tidebox_rt::close(self.fd);
        }
    }
}

/// Prints an error about a file.
pub(crate) fn complain_about(tool: &str, name: &[u8], errno: Errno) {
    print_error(tool, &format!("{}: {}", path_label(name), errno.text()));
}
