//! What files hold.

use super::blocks::{Content, cost_of};
use super::contents::Contents;
use super::mount::{Change, Copy};
use super::node::Node;
use super::{Fs, Ino};
use crate::errno::Errno;

/// Offsets are an `off_t` to POSIX, so one beyond it is a negative number to the program that passed it.
const OFFSET_MAX: u64 = i64::MAX as u64;

/// Where a file's bytes are read.
enum Reader<'a> {
    Tree(&'a Node),
    Mounted(Ino),
}

impl Fs {
    #[inline]
    fn reader(&self, ino: Ino) -> Result<Reader<'_>, Errno> {
        if let Some(node) = self.table.get(ino) {
            return Ok(Reader::Tree(node));
        }
        let own = self.own(ino);
        match self.table.get(own) {
            Some(node) => Ok(Reader::Tree(node)),
            None if own.is_foreign() => Ok(Reader::Mounted(own)),
            None => Err(Errno::Stale),
        }
    }

    /// Who writes a file.
    #[inline]
    fn writer(&mut self, ino: Ino, copy: Copy) -> Result<Change, Errno> {
        match self.table.get(ino) {
            Some(_) => Ok(Change::Tree(ino)),
            None if ino.is_foreign() => self.change(ino, copy),
            None => Err(Errno::Stale),
        }
    }

    /// Copies from `offset` on and returns how many bytes there were; 0 at the end and beyond. Holes read as zeros. The
    /// access time stays, as on a Linux system mounted with `noatime`.
    ///
    /// # Errors
    /// `ISDIR`; `INVAL` for a device or a symbolic link; `STALE`.
    pub fn read_at(&self, ino: Ino, offset: u64, dst: &mut [u8]) -> Result<usize, Errno> {
        match self.reader(ino)? {
            Reader::Tree(node) => Ok(node.file()?.read_at(offset, dst)),
            Reader::Mounted(ino) => self.mounted_read(ino, offset, dst),
        }
    }

    /// Writes at `offset`, leaving a hole before it if the file is shorter. As POSIX says for `write`, only as many bytes
    /// are written as there is room for; the count says how many.
    ///
    /// # Errors
    /// `NOSPC` and `FBIG` when there is room for none, and nothing has changed then; `INVAL` for an offset beyond `off_t`,
    /// a device or a symbolic link; `ISDIR`; `STALE`.
    pub fn write_at(&mut self, ino: Ino, offset: u64, src: &[u8], now: u64) -> Result<usize, Errno> {
        if offset > OFFSET_MAX {
            return Err(Errno::Inval);
        }
        let ino = match self.writer(ino, Copy::All)? {
            Change::Tree(ino) => ino,
            Change::Mounted(object) => return self.mounted_write(&object, offset, src),
        };
        // Asked for its kind first, so that a directory answers so whatever the offset.
        self.node(ino)?.file()?;
        if src.is_empty() {
            return Ok(0);
        }
        let longest = self.quota.single_file_bytes.saturating_sub(offset);
        let src = src.get(..usize::try_from(longest).unwrap_or(usize::MAX)).unwrap_or(src);
        if src.is_empty() {
            return Err(Errno::Fbig);
        }
        let (room, version) = (self.quota.room(), self.versions.next());
        let node = self.table.get_mut(ino).ok_or(Errno::Stale)?;
        let content = node.file_mut()?;
        let before = content.charged();
        let count = content.write_at(offset, src, room)?;
        let after = content.charged();
        node.version = version;
        node.changed(now);
        self.quota.settle(before, after);
        Ok(count)
    }

    /// Makes the file `len` bytes long, as `ftruncate` does: what lies beyond is gone, what is new reads as zeros and
    /// costs nothing.
    ///
    /// # Errors
    /// `FBIG` beyond the limit of one file; `INVAL` beyond `off_t`, for a device or a symbolic link; `ISDIR`; `NOSPC` when
    /// an installed file shrinks and what stays does not fit; `STALE`.
    pub fn truncate(&mut self, ino: Ino, len: u64, now: u64) -> Result<(), Errno> {
        if len > OFFSET_MAX {
            return Err(Errno::Inval);
        }
        let ino = match self.writer(ino, Copy::Start(len))? {
            Change::Tree(ino) => ino,
            Change::Mounted(object) => return self.mounted_truncate(&object, len),
        };
        let old = self.node(ino)?.file()?.len();
        if len > self.quota.single_file_bytes && len > old {
            return Err(Errno::Fbig);
        }
        let (room, version) = (self.quota.room(), self.versions.next());
        let node = self.table.get_mut(ino).ok_or(Errno::Stale)?;
        let content = node.file_mut()?;
        let before = content.charged();
        content.set_len(len, room)?;
        let after = content.charged();
        node.version = version;
        node.changed(now);
        self.quota.settle(before, after);
        Ok(())
    }

    /// Length of a file in bytes.
    ///
    /// # Errors
    /// As [`Self::read_at`].
    pub fn len(&self, ino: Ino) -> Result<u64, Errno> {
        match self.reader(ino)? {
            Reader::Tree(node) => Ok(node.file()?.len()),
            Reader::Mounted(ino) => self.mounted_len(ino),
        }
    }

    /// All bytes of a file of at most `max` bytes.
    ///
    /// # Errors
    /// `FBIG` when it is longer than `max`; else as [`Self::read_at`].
    pub fn read_all(&self, ino: Ino, max: u64) -> Result<Vec<u8>, Errno> {
        let contents = self.contents(ino)?;
        if contents.len() > max {
            return Err(Errno::Fbig);
        }
        Ok(contents.load()?.into_owned())
    }

    /// Replaces what a file holds. When the new bytes do not fit, the old ones stay.
    ///
    /// # Errors
    /// `FBIG`, `NOSPC`, `ISDIR`, `INVAL`, `STALE`; nothing has changed then.
    pub fn write_all(&mut self, ino: Ino, bytes: &[u8], now: u64) -> Result<(), Errno> {
        // Room is asked for first, so that nothing is copied up for a write that fails.
        let ino = match self.table.get(ino) {
            None if ino.is_foreign() && cost_of(bytes.len() as u64) > self.quota.room() => return Err(Errno::Nospc),
            _ => match self.writer(ino, Copy::Start(0))? {
                Change::Tree(ino) => ino,
                Change::Mounted(object) => return self.mounted_write_all(&object, bytes),
            },
        };
        let before = self.node(ino)?.file()?.charged();
        let after = cost_of(bytes.len() as u64);
        if bytes.len() as u64 > self.quota.single_file_bytes {
            return Err(Errno::Fbig);
        }
        if after > self.quota.room().saturating_add(before) {
            return Err(Errno::Nospc);
        }
        let version = self.versions.next();
        let node = self.node_mut(ino)?;
        *node.file_mut()? = Content::from_bytes(bytes);
        node.version = version;
        node.changed(now);
        self.quota.settle(before, after);
        Ok(())
    }

    /// Replaces what a file holds by contents that stay shared with whoever has them. They are charged as if they were
    /// written.
    ///
    /// # Errors
    /// As [`Self::write_all`]; nothing has changed then.
    pub fn place_contents(&mut self, ino: Ino, contents: Contents, now: u64) -> Result<(), Errno> {
        let ino = match self.writer(ino, Copy::Start(0))? {
            Change::Tree(ino) => ino,
            Change::Mounted(object) => return self.mounted_write_all(&object, &contents.load()?),
        };
        let before = self.node(ino)?.file()?.charged();
        if contents.len() > self.quota.single_file_bytes {
            return Err(Errno::Fbig);
        }
        let image = contents.shared().map_or(0, |bytes| cost_of(bytes.len() as u64));
        let room = self.quota.room().saturating_add(before);
        if image > room {
            return Err(Errno::Nospc);
        }
        let content = contents.into_content()?.owned();
        let after = content.charged();
        if after > room {
            return Err(Errno::Nospc);
        }
        let version = self.versions.next();
        let node = self.node_mut(ino)?;
        *node.file_mut()? = content;
        node.version = version;
        node.changed(now);
        self.quota.settle(before, after);
        Ok(())
    }

    /// What a file holds now, shared with it: later writes do not show.
    ///
    /// # Errors
    /// As [`Self::read_at`].
    pub fn contents(&self, ino: Ino) -> Result<Contents, Errno> {
        match self.reader(ino)? {
            Reader::Tree(node) => Ok(Contents::new(node.file()?.clone())),
            Reader::Mounted(ino) => self.mounted_contents(ino),
        }
    }

    /// A number that changes whenever the content changes. It is drawn once per process of the host, so it names one
    /// content even across snapshots, forks and inodes. 0 when there is no such inode.
    #[must_use]
    pub fn version(&self, ino: Ino) -> u64 {
        match self.reader(ino) {
            Ok(Reader::Tree(node)) => node.version,
            Ok(Reader::Mounted(ino)) => self.mounted_version(ino),
            Err(_) => 0,
        }
    }
}
