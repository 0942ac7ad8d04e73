//! Reading and writing file content.

use super::blocks::{Content, cost_of};
use super::contents::Contents;
use super::mount::{CopyRange, WriteTarget};
use super::node::Node;
use super::{Fs, Ino};
use crate::errno::Errno;

/// Offsets are `off_t` in POSIX; a larger one is a negative number to the program that passed it.
const OFFSET_MAX: u64 = i64::MAX as u64;

/// The source of a file's bytes.
enum ReadSource<'a> {
    Tree(&'a Node),
    Mounted(Ino),
}

impl Fs {
    #[inline]
    fn reader(&self, ino: Ino) -> Result<ReadSource<'_>, Errno> {
        if let Some(node) = self.table.get(ino) {
            return Ok(ReadSource::Tree(node));
        }
        let upper = self.upper_ino(ino);
        match self.table.get(upper) {
            Some(node) => Ok(ReadSource::Tree(node)),
            None if upper.is_mount_object() => Ok(ReadSource::Mounted(upper)),
            None => Err(Errno::Stale),
        }
    }

    /// Returns the target of a write: the tree or a mount.
    #[inline]
    fn writer(&mut self, ino: Ino, copy: CopyRange) -> Result<WriteTarget, Errno> {
        match self.table.get(ino) {
            Some(_) => Ok(WriteTarget::Tree(ino)),
            None if ino.is_mount_object() => self.write_target(ino, copy),
            None => Err(Errno::Stale),
        }
    }

    /// Copies bytes starting at `offset` and returns their number; 0 at or beyond the end. Holes read as zeros. The access time
    /// does not change, as on Linux with `noatime`.
    ///
    /// # Errors
    /// `ISDIR`; `INVAL` for a device or a symbolic link; `STALE`.
    pub fn read_at(&self, ino: Ino, offset: u64, dst: &mut [u8]) -> Result<usize, Errno> {
        match self.reader(ino)? {
            ReadSource::Tree(node) => Ok(node.file()?.read_at(offset, dst)),
            ReadSource::Mounted(ino) => self.mounted_read(ino, offset, dst),
        }
    }

    /// Writes at `offset`, leaving a hole before it if the file is shorter. As POSIX specifies for `write`, a partial write is
    /// possible if space is short; returns the number of bytes written.
    ///
    /// # Errors
    /// `NOSPC` and `FBIG` if not one byte fits, without any change; `INVAL` for an offset beyond `off_t`, a device or a
    /// symbolic link; `ISDIR`; `STALE`.
    pub fn write_at(&mut self, ino: Ino, offset: u64, src: &[u8], now: u64) -> Result<usize, Errno> {
        if offset > OFFSET_MAX {
            return Err(Errno::Inval);
        }
        let ino = match self.writer(ino, CopyRange::All)? {
            WriteTarget::Tree(ino) => ino,
            WriteTarget::Mounted(object) => return self.mounted_write(&object, offset, src),
        };
        // Checks the kind first, so that a directory returns `ISDIR` at any offset.
        self.node(ino)?.file()?;
        if src.is_empty() {
            return Ok(0);
        }
        let longest = self.quota.single_file_bytes.saturating_sub(offset);
        let src = src.get(..usize::try_from(longest).unwrap_or(usize::MAX)).unwrap_or(src);
        if src.is_empty() {
            return Err(Errno::Fbig);
        }
        let (available, version) = (self.quota.available_bytes(), self.versions.next());
        let node = self.table.get_mut(ino).ok_or(Errno::Stale)?;
        let content = node.file_mut()?;
        let before = content.charged();
        let count = content.write_at(offset, src, available)?;
        let after = content.charged();
        node.version = version;
        node.changed(now);
        self.quota.adjust_charge(before, after);
        Ok(count)
    }

    /// Sets the length to `len` bytes, as `ftruncate` does: bytes beyond it are dropped, new bytes read as zeros and cost
    /// nothing.
    ///
    /// # Errors
    /// `FBIG` beyond the limit of one file; `INVAL` beyond `off_t`, for a device or a symbolic link; `ISDIR`; `NOSPC` if an
    /// installed file shrinks and the remaining bytes do not fit; `STALE`.
    pub fn truncate(&mut self, ino: Ino, len: u64, now: u64) -> Result<(), Errno> {
        if len > OFFSET_MAX {
            return Err(Errno::Inval);
        }
        let ino = match self.writer(ino, CopyRange::Prefix(len))? {
            WriteTarget::Tree(ino) => ino,
            WriteTarget::Mounted(object) => return self.mounted_truncate(&object, len),
        };
        let old = self.node(ino)?.file()?.len();
        if len > self.quota.single_file_bytes && len > old {
            return Err(Errno::Fbig);
        }
        let (available, version) = (self.quota.available_bytes(), self.versions.next());
        let node = self.table.get_mut(ino).ok_or(Errno::Stale)?;
        let content = node.file_mut()?;
        let before = content.charged();
        content.set_len(len, available)?;
        let after = content.charged();
        node.version = version;
        node.changed(now);
        self.quota.adjust_charge(before, after);
        Ok(())
    }

    /// Returns the length of a file in bytes.
    ///
    /// # Errors
    /// As [`Self::read_at`].
    pub fn len(&self, ino: Ino) -> Result<u64, Errno> {
        match self.reader(ino)? {
            ReadSource::Tree(node) => Ok(node.file()?.len()),
            ReadSource::Mounted(ino) => self.mounted_len(ino),
        }
    }

    /// Returns all bytes of a file of at most `max` bytes.
    ///
    /// # Errors
    /// `FBIG` if it is longer than `max`; else as [`Self::read_at`].
    pub fn read_all(&self, ino: Ino, max: u64) -> Result<Vec<u8>, Errno> {
        let contents = self.contents(ino)?;
        if contents.len() > max {
            return Err(Errno::Fbig);
        }
        Ok(contents.load()?.into_owned())
    }

    /// Replaces the content of a file. If the new bytes do not fit, the old ones stay.
    ///
    /// # Errors
    /// `FBIG`, `NOSPC`, `ISDIR`, `INVAL`, `STALE`; nothing has changed then.
    pub fn write_all(&mut self, ino: Ino, bytes: &[u8], now: u64) -> Result<(), Errno> {
        // Checks the quota first, so that a failing write copies nothing up.
        let ino = match self.table.get(ino) {
            None if ino.is_mount_object() && cost_of(bytes.len() as u64) > self.quota.available_bytes() => {
                return Err(Errno::Nospc);
            }
            _ => match self.writer(ino, CopyRange::Prefix(0))? {
                WriteTarget::Tree(ino) => ino,
                WriteTarget::Mounted(object) => return self.mounted_write_all(&object, bytes),
            },
        };
        let before = self.node(ino)?.file()?.charged();
        let after = cost_of(bytes.len() as u64);
        if bytes.len() as u64 > self.quota.single_file_bytes {
            return Err(Errno::Fbig);
        }
        if after > self.quota.available_bytes().saturating_add(before) {
            return Err(Errno::Nospc);
        }
        let version = self.versions.next();
        let node = self.node_mut(ino)?;
        *node.file_mut()? = Content::from_bytes(bytes);
        node.version = version;
        node.changed(now);
        self.quota.adjust_charge(before, after);
        Ok(())
    }

    /// Replaces the content of a file by contents that stay shared with other holders. They are charged like written bytes.
    ///
    /// # Errors
    /// As [`Self::write_all`]; nothing has changed then.
    pub fn set_contents(&mut self, ino: Ino, contents: Contents, now: u64) -> Result<(), Errno> {
        let ino = match self.writer(ino, CopyRange::Prefix(0))? {
            WriteTarget::Tree(ino) => ino,
            WriteTarget::Mounted(object) => return self.mounted_write_all(&object, &contents.load()?),
        };
        let before = self.node(ino)?.file()?.charged();
        if contents.len() > self.quota.single_file_bytes {
            return Err(Errno::Fbig);
        }
        let image = contents.shared().map_or(0, |bytes| cost_of(bytes.len() as u64));
        let available = self.quota.available_bytes().saturating_add(before);
        if image > available {
            return Err(Errno::Nospc);
        }
        let content = contents.into_content()?.into_owned_blocks();
        let after = content.charged();
        if after > available {
            return Err(Errno::Nospc);
        }
        let version = self.versions.next();
        let node = self.node_mut(ino)?;
        *node.file_mut()? = content;
        node.version = version;
        node.changed(now);
        self.quota.adjust_charge(before, after);
        Ok(())
    }

    /// Returns the current content of a file. The bytes are shared; later writes do not change the returned value.
    ///
    /// # Errors
    /// As [`Self::read_at`].
    pub fn contents(&self, ino: Ino) -> Result<Contents, Errno> {
        match self.reader(ino)? {
            ReadSource::Tree(node) => Ok(Contents::new(node.file()?.clone())),
            ReadSource::Mounted(ino) => self.mounted_contents(ino),
        }
    }

    /// Returns a number that changes whenever the content changes. It is unique within the host process, so it identifies one
    /// content across snapshots, forks and inodes. 0 if the inode does not exist.
    #[must_use]
    pub fn version(&self, ino: Ino) -> u64 {
        match self.reader(ino) {
            Ok(ReadSource::Tree(node)) => node.version,
            Ok(ReadSource::Mounted(ino)) => self.mounted_version(ino),
            Err(_) => 0,
        }
    }
}
