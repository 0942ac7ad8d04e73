//! Open files of a sandbox.

use std::io::{self, Read, Seek, SeekFrom, Write};
use std::sync::Arc;

use tidebox_kernel::Errno;
use tidebox_kernel::fs::{Contents, Fs, Ino};
use tidebox_vfs_backend::VfsBackend;

use super::io_error;

/// Returns the target of a seek. A target before the start is an error, one after the end is not.
fn target(from: SeekFrom, here: u64, end: u64) -> io::Result<u64> {
    let target = match from {
        SeekFrom::Start(offset) => Some(offset),
        SeekFrom::Current(offset) => here.checked_add_signed(offset),
        SeekFrom::End(offset) => end.checked_add_signed(offset),
    };
    target.filter(|&target| i64::try_from(target).is_ok()).ok_or_else(|| io_error(Errno::Inval))
}

/// A file with the content from the time when it was opened.
#[derive(Debug)]
pub(super) struct Reader {
    contents: Contents,
    offset: u64,
}

impl Reader {
    pub(super) fn new(contents: Contents) -> Self {
        Self { contents, offset: 0 }
    }
}

impl Read for Reader {
    fn read(&mut self, dst: &mut [u8]) -> io::Result<usize> {
        let count = self.contents.read_at(self.offset, dst);
        self.offset = self.offset.saturating_add(count as u64);
        Ok(count)
    }
}

impl Seek for Reader {
    fn seek(&mut self, from: SeekFrom) -> io::Result<u64> {
        self.offset = target(from, self.offset, self.contents.len())?;
        Ok(self.offset)
    }
}

/// A file whose writes are immediate. It stays usable after its name was removed.
#[derive(Debug)]
pub(super) struct Writer {
    sandbox: Arc<VfsBackend>,
    ino: Ino,
    offset: u64,
}

impl Writer {
    /// Takes ownership of a reference to the inode.
    pub(super) fn new(sandbox: Arc<VfsBackend>, ino: Ino, offset: u64) -> Self {
        Self { sandbox, ino, offset }
    }

    fn with<T>(&self, call: impl FnOnce(&mut Fs, u64) -> Result<T, Errno>) -> io::Result<T> {
        self.sandbox.with_fs(call).map_err(io::Error::other)?.map_err(io_error)
    }
}

impl Write for Writer {
    fn write(&mut self, src: &[u8]) -> io::Result<usize> {
        let count = self.with(|fs, now| fs.write_at(self.ino, self.offset, src, now))?;
        self.offset = self.offset.saturating_add(count as u64);
        Ok(count)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.with(|fs, _| fs.flush(self.ino))
    }
}

impl Seek for Writer {
    fn seek(&mut self, from: SeekFrom) -> io::Result<u64> {
        let end = self.with(|fs, _| fs.len(self.ino))?;
        self.offset = target(from, self.offset, end)?;
        Ok(self.offset)
    }
}

impl Drop for Writer {
    fn drop(&mut self) {
        // The inodes of a closed sandbox are already freed.
        let _ = self.sandbox.with_fs(|fs, _| fs.release(self.ino));
    }
}
