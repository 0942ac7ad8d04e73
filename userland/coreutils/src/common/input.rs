//! Input files.

use tidebox_gnu::message::{path_label, print_error};
use tidebox_rt::{Errno, Fd, Open, Stat};

/// Bytes of one read: twice the capacity of a pipe, so that one read empties a pipe.
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

    /// Returns device and inode if the input is seekable and has unread bytes.
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

    /// Seeks to an absolute offset, if the input is seekable.
    pub(crate) fn seek_to(&self, offset: u64) {
        // Bytes of a pipe cannot be read again.
        let _ = tidebox_rt::seek_to(self.fd, offset);
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
            // The file was only read; closing cannot lose data.
            let _ = tidebox_rt::close(self.fd);
        }
    }
}

/// Prints an error about a file.
pub(crate) fn print_file_error(tool: &str, name: &[u8], errno: Errno) {
    print_error(tool, &format!("{}: {}", path_label(name), errno.text()));
}
