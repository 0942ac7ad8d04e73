//! Files to compare.

use tidebox_rt::{Errno, Fd, FileKind, Open, Stat};

/// Read buffer size in bytes.
const CHUNK: usize = 128 * 1024;

/// An open file, or standard input.
#[derive(Debug)]
pub(crate) struct File {
    fd: Fd,
    /// Metadata at the time of opening.
    pub(crate) stat: Stat,
}

impl File {
    /// Opens a file; `-` is standard input. A directory returns `ISDIR`.
    pub(crate) fn open(name: &[u8]) -> Result<Self, Errno> {
        let fd = match name {
            b"-" => 0,
            _ => tidebox_rt::open(name, Open { read: true, ..Open::default() })?,
        };
        let stat = match tidebox_rt::fstat(fd) {
            Ok(stat) if stat.kind() == FileKind::Dir => Err(Errno::ISDIR),
            other => other,
        };
        match stat {
            Ok(stat) => Ok(Self { fd, stat }),
            Err(errno) => {
                close(fd);
                Err(errno)
            }
        }
    }

    /// Reads until `into` is full or the file ends.
    pub(crate) fn fill(&self, into: &mut [u8]) -> Result<usize, Errno> {
        let mut used = 0;
        while let Some(rest) = into.get_mut(used..)
            && !rest.is_empty()
        {
            match tidebox_rt::read(self.fd, rest) {
                Ok(0) => break,
                Ok(got) => used += got,
                Err(Errno::INTR) => {}
                Err(errno) => return Err(errno),
            }
        }
        Ok(used)
    }

    /// Reads everything up to the end.
    pub(crate) fn load(&self) -> Result<Vec<u8>, Errno> {
        let mut text = Vec::new();
        loop {
            let used = text.len();
            text.try_reserve(CHUNK).map_err(|_| Errno::NOMEM)?;
            text.resize(used + CHUNK, 0);
            let got = self.fill(text.get_mut(used..).unwrap_or_default())?;
            text.truncate(used + got);
            if got < CHUNK {
                return Ok(text);
            }
        }
    }

    /// Skips bytes, by reading if the file is not seekable.
    pub(crate) fn skip(&self, mut bytes: u64) -> Result<(), Errno> {
        if bytes == 0 {
            return Ok(());
        }
        if self.stat.kind() == FileKind::File
            && let Ok(by) = i64::try_from(bytes)
            && tidebox_rt::seek(self.fd, by).is_ok()
        {
            return Ok(());
        }
        let mut buffer = vec![0; CHUNK];
        while bytes > 0 {
            let wanted = usize::try_from(bytes).unwrap_or(usize::MAX).min(CHUNK);
            let got = self.fill(buffer.get_mut(..wanted).unwrap_or_default())?;
            bytes -= got as u64;
            if got < wanted {
                break;
            }
        }
        Ok(())
    }
}

impl Drop for File {
    fn drop(&mut self) {
        close(self.fd);
    }
}

fn close(fd: Fd) {
    if fd > 2 {
        // Nothing was written, so closing reports no error.
        let _ = tidebox_rt::close(fd);
    }
}

/// Returns whether two files are the same, so that no comparison is needed.
pub(crate) fn same(a: &Stat, b: &Stat) -> bool {
    a.ino == b.ino && a.dev == b.dev && matches!(a.kind(), FileKind::File | FileKind::Dir) && a.kind() == b.kind()
}
