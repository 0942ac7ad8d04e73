//! Writing whole trees into a sandbox from the host, confined to their destination.

use std::io::Read;

use tidebox_core::{Error, ErrorKind, Result, SandboxPath};
use tidebox_kernel::Errno;
use tidebox_kernel::fs::{BLOCK_BYTES, Fs, Ino, Kind, Resolved, Stat};

use crate::USER;

const OPERATION: &str = "seed files";

/// Writes directories, files and links into a sandbox that is being built.
///
/// Paths are relative to the working directory unless they are absolute. They must not contain `..` and symbolic links
/// in them are not followed, so a hostile tree stays within its destination. The user owns what is created, and system
/// files are never replaced. Everything is charged to the sandbox's limits before it is stored. Missing parent
/// directories are created with mode 755.
#[derive(Debug)]
pub struct SeedWriter<'a> {
    fs: &'a mut Fs,
    cwd: &'a SandboxPath,
    now: u64,
    /// Directories whose times are set after their entries are written.
    dirs: Vec<(Ino, u64)>,
}

/// Attributes of a new entry.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FileAttributes {
    /// The twelve mode bits; others are ignored.
    pub mode: u32,
    /// Modification time in nanoseconds since the epoch; `None` is now.
    pub modified: Option<u64>,
}

impl<'a> SeedWriter<'a> {
    pub(crate) fn new(fs: &'a mut Fs, cwd: &'a SandboxPath, now: u64) -> Self {
        Self { fs, cwd, now, dirs: Vec::new() }
    }

    /// Creates a directory. An existing one gets these attributes, unless it belongs to the system.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::InvalidRequest`] for an invalid path or an existing entry of another kind;
    /// [`ErrorKind::FileOperationFailed`] when the limits are reached.
    pub fn dir(&mut self, path: &[u8], attributes: FileAttributes) -> Result<()> {
        let at = self.parse_path(path)?;
        let ino = self.dirs_to(&at, at.len()).map_err(|errno| seed_error(path, errno))?;
        if self.fs.is_installed(ino) {
            return Ok(());
        }
        self.set_attributes(ino, attributes).map_err(|errno| seed_error(path, errno))?;
        self.dirs.push((ino, attributes.modified.unwrap_or(self.now)));
        Ok(())
    }

    /// Creates a file with the content of `from`, replacing an existing file or link. Long runs of zeros become holes,
    /// which are not charged.
    ///
    /// # Errors
    ///
    /// As [`dir`](Self::dir), and when `from` fails; the content read until then stays.
    pub fn file(&mut self, path: &[u8], attributes: FileAttributes, from: &mut dyn Read) -> Result<()> {
        let (dir, name) = self.remove_existing(path)?;
        let created = self.fs.create(&USER, dir, &name, 0o644, true, self.now);
        let (ino, _) = created.map_err(|errno| seed_error(path, errno))?;
        self.write_content(ino, path, from)?;
        self.set_attributes(ino, attributes).map_err(|errno| seed_error(path, errno))
    }

    /// Creates a symbolic link, replacing an existing file or link. The target is not checked: it is only followed
    /// inside the sandbox.
    ///
    /// # Errors
    ///
    /// As [`dir`](Self::dir).
    pub fn symlink(&mut self, path: &[u8], target: &[u8], attributes: FileAttributes) -> Result<()> {
        let (dir, name) = self.remove_existing(path)?;
        let created = self.fs.symlink(&USER, target, dir, &name, self.now);
        let ino = created.map_err(|errno| seed_error(path, errno))?;
        self.set_attributes(ino, FileAttributes { mode: 0o777, ..attributes }).map_err(|errno| seed_error(path, errno))
    }

    /// Creates an empty FIFO.
    ///
    /// # Errors
    ///
    /// As [`dir`](Self::dir).
    pub fn fifo(&mut self, path: &[u8], attributes: FileAttributes) -> Result<()> {
        let (dir, name) = self.remove_existing(path)?;
        let created = self.fs.mkfifo(&USER, dir, &name, attributes.mode, self.now);
        let ino = created.map_err(|errno| seed_error(path, errno))?;
        self.set_attributes(ino, attributes).map_err(|errno| seed_error(path, errno))
    }

    /// Creates a hard link to a file written before.
    ///
    /// # Errors
    ///
    /// As [`dir`](Self::dir); also [`ErrorKind::InvalidRequest`] if `target` is not a file of the user.
    pub fn hard_link(&mut self, path: &[u8], target: &[u8]) -> Result<()> {
        let at = self.parse_path(target)?;
        let found = self.find(&at).map_err(|errno| seed_error(target, errno))?;
        let good = found.filter(|&ino| self.is_replaceable(ino));
        let Some(ino) = good else {
            let message = "the target of a hard link has to be a file that was put in before it";
            return Err(invalid(path, message).with_context("target", String::from_utf8_lossy(target)));
        };
        let there = self.parse_path(path)?;
        if self.find(&there).is_ok_and(|already| already == Some(ino)) {
            return Ok(());
        }
        let (dir, name) = self.remove_existing(path)?;
        self.fs.link(&USER, ino, dir, &name, self.now).map_err(|errno| seed_error(path, errno))
    }

    /// Sets the times of directories, which writing entries has changed.
    pub(crate) fn finish(&mut self) {
        for (ino, modified) in std::mem::take(&mut self.dirs) {
            // A directory that was replaced has no time to set.
            let _ = self.fs.set_times(&USER, ino, Some(modified), Some(modified), self.now);
        }
    }

    fn set_attributes(&mut self, ino: Ino, attributes: FileAttributes) -> Result<(), Errno> {
        let modified = attributes.modified.unwrap_or(self.now);
        let stat = self.fs.stat(ino)?;
        let stat = Stat { mode: attributes.mode, atime: modified, mtime: modified, ctime: self.now, ..stat };
        self.fs.set_stat(ino, &stat)
    }

    fn write_content(&mut self, ino: Ino, path: &[u8], from: &mut dyn Read) -> Result<()> {
        let mut block = vec![0; BLOCK_BYTES];
        let (mut offset, mut stored) = (0_u64, 0_u64);
        loop {
            let count = fill(from, &mut block).map_err(|error| {
                Error::new(ErrorKind::InvalidRequest, OPERATION, "cannot read the source of a file")
                    .with_context("path", String::from_utf8_lossy(path))
                    .with_source(error)
            })?;
            let bytes = block.get(..count).unwrap_or_default();
            if bytes.iter().any(|&byte| byte != 0) {
                let written =
                    self.fs.write_at(ino, offset, bytes, self.now).map_err(|errno| seed_error(path, errno))?;
                if written < count {
                    return Err(seed_error(path, Errno::Nospc));
                }
                stored = offset.saturating_add(count as u64);
            }
            offset = offset.saturating_add(count as u64);
            // Endless zeros are rejected at the limit, not at the end of the stream.
            if offset > stored {
                self.fs.truncate(ino, offset, self.now).map_err(|errno| seed_error(path, errno))?;
            }
            if count < BLOCK_BYTES {
                return Ok(());
            }
        }
    }

    /// Returns the components of a path, starting at the root.
    fn parse_path(&self, path: &[u8]) -> Result<Vec<Vec<u8>>> {
        let bad = path.contains(&0) || path.is_empty();
        if bad || path.split(|&byte| byte == b'/').any(|name| name == b"..") {
            return Err(invalid(path, "a path must not be empty or contain '..' or a NUL byte"));
        }
        let cwd = if path.starts_with(b"/") { &[][..] } else { self.cwd.as_bytes() };
        let names = cwd.split(|&byte| byte == b'/').chain(path.split(|&byte| byte == b'/'));
        Ok(names.filter(|name| !name.is_empty() && *name != b".").map(<[u8]>::to_vec).collect())
    }

    /// Returns the directory of the first `count` components and creates missing ones. Links are not followed.
    fn dirs_to(&mut self, names: &[Vec<u8>], count: usize) -> Result<Ino, Errno> {
        let mut dir = self.fs.root();
        for name in names.iter().take(count) {
            dir = match self.child(dir, name)? {
                Some(ino) if self.fs.stat(ino)?.kind == Kind::Dir => ino,
                Some(_) => return Err(Errno::Notdir),
                None => self.fs.mkdir(&USER, dir, name, 0o755, self.now)?,
            };
        }
        Ok(dir)
    }

    fn find(&self, names: &[Vec<u8>]) -> Result<Option<Ino>, Errno> {
        let mut here = self.fs.root();
        for name in names {
            match self.child(here, name)? {
                Some(ino) => here = ino,
                None => return Ok(None),
            }
        }
        Ok(Some(here))
    }

    fn child(&self, dir: Ino, name: &[u8]) -> Result<Option<Ino>, Errno> {
        match self.fs.walk(&USER, dir, name, false) {
            Ok(Resolved::Node(ino)) => Ok(Some(ino)),
            Ok(Resolved::Proc(_)) => Err(Errno::Rofs),
            Err(Errno::Noent) => Ok(None),
            Err(errno) => Err(errno),
        }
    }

    fn is_replaceable(&self, ino: Ino) -> bool {
        !self.fs.is_installed(ino) && self.fs.stat(ino).is_ok_and(|stat| stat.kind != Kind::Dir)
    }

    /// Returns a directory and a free name in it; removes an existing file or link of the user.
    fn remove_existing(&mut self, path: &[u8]) -> Result<(Ino, Vec<u8>)> {
        let mut names = self.parse_path(path)?;
        let Some(name) = names.pop() else { return Err(invalid(path, "a directory already exists there")) };
        let dir = self.dirs_to(&names, names.len()).map_err(|errno| seed_error(path, errno))?;
        match self.child(dir, &name).map_err(|errno| seed_error(path, errno))? {
            None => {}
            Some(ino) if self.is_replaceable(ino) => {
                self.fs.unlink(&USER, dir, &name, self.now).map_err(|errno| seed_error(path, errno))?;
            }
            Some(ino) if self.fs.is_installed(ino) => {
                return Err(invalid(path, "the path belongs to the system of the sandbox; choose another"));
            }
            Some(_) => return Err(invalid(path, "a directory already exists there")),
        }
        Ok((dir, name))
    }
}

/// Reads until the block is full or the input ends.
fn fill(from: &mut dyn Read, block: &mut [u8]) -> std::io::Result<usize> {
    let mut count = 0;
    while let Some(available) = block.get_mut(count..).filter(|available| !available.is_empty()) {
        match from.read(available) {
            Ok(0) => break,
            Ok(more) => count += more,
            Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(count)
}

fn invalid(path: &[u8], message: &str) -> Error {
    Error::new(ErrorKind::InvalidRequest, OPERATION, message).with_context("path", String::from_utf8_lossy(path))
}

fn seed_error(path: &[u8], errno: Errno) -> Error {
    match errno {
        Errno::Notdir => invalid(path, "a part of the path is a file or a link, not a directory"),
        Errno::Rofs => invalid(path, "cannot add files to /proc; choose another directory"),
        Errno::Acces | Errno::Perm => {
            invalid(path, "the directory belongs to the system of the sandbox; choose another")
        }
        other => Error::from(crate::file_error::file_error(other, path)),
    }
}
