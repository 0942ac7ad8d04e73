//! What a file system has to do to be mounted.

use core::fmt;
use std::sync::Arc;

use crate::errno::Errno;
use crate::fs::{Contents, Kind};

/// How a file system is mounted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum MountMode {
    /// Nothing can be changed; an attempt answers `ROFS`.
    ReadOnly,
    /// Every change is made in the mounted file system, at once.
    ReadWrite,
    /// Changes stay in the sandbox: they are charged to its quota, and part of its snapshots and forks. The mounted file
    /// system is only ever read.
    CopyOnWrite,
}

/// What an object of a mounted file system is. Pipes, sockets and devices are none: a mount hides them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum EntryKind {
    /// A regular file.
    File,
    /// A directory.
    Dir,
    /// A symbolic link.
    Symlink,
}

impl From<EntryKind> for Kind {
    fn from(kind: EntryKind) -> Self {
        match kind {
            EntryKind::File => Self::File,
            EntryKind::Dir => Self::Dir,
            EntryKind::Symlink => Self::Symlink,
        }
    }
}

/// What a mounted file system tells of an object. Its owner is always the sandbox's user.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Metadata {
    /// What it is.
    pub kind: EntryKind,
    /// The nine permission bits.
    pub mode: u32,
    /// Names of a file, where known; else 1. Directories count as 1, which tells programs not to rely on it.
    pub nlink: u64,
    /// Bytes of a file or of a link's target.
    pub size: u64,
    /// Last access, in nanoseconds since the epoch; 0 where unknown.
    pub atime: u64,
    /// Last change of the content.
    pub mtime: u64,
    /// Last change of anything.
    pub ctime: u64,
}

/// What a file is opened for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Access {
    /// To read.
    Read,
    /// To write, and to set its length. The file exists and is not cut.
    Write,
}

/// How a mounted file system takes changes of a file's bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Writes {
    /// Not at all: it can be mounted read-only and copy-on-write.
    Never,
    /// At any offset, through [`MountFile`].
    InPlace,
    /// As a whole, through [`Mount::replace`]. The kernel keeps a changed file, charged to the quota, until the last
    /// descriptor is closed or a program asks for `fsync`. The last one to close wins.
    Whole,
}

/// A file system that can be mounted.
///
/// Paths are bytes relative to its root, without `.`, `..`, empty components, NUL bytes and a slash at either end; the
/// root is the empty path. The kernel resolves symbolic links, so a path's components were directories a moment ago. An
/// implementation still has to make sure that nothing outside is reached when somebody else changes them meanwhile.
///
/// Every call is made while the kernel's lock is held, so one that takes long keeps the sandbox's other programs
/// waiting. What cannot be done answers an errno, and nothing panics. The defaults refuse every change.
pub trait Mount: Send + Sync + fmt::Debug {
    /// How files can be written. Default: never.
    fn writes(&self) -> Writes {
        Writes::Never
    }

    /// What an object is, without following a symbolic link. `NOENT` when there is none, or none to be shown.
    fn metadata(&self, path: &[u8]) -> Result<Metadata, Errno>;

    /// The names in a directory, in any order, without `.` and `..`.
    fn read_dir(&self, path: &[u8]) -> Result<Vec<(Vec<u8>, EntryKind)>, Errno>;

    /// What a symbolic link holds.
    fn read_link(&self, path: &[u8]) -> Result<Vec<u8>, Errno> {
        let _ = path;
        Err(Errno::Inval)
    }

    /// Opens a regular file. The kernel holds it no longer than a program does.
    fn open(&self, path: &[u8], access: Access) -> Result<Arc<dyn MountFile>, Errno>;

    /// Makes an empty file where nothing is.
    fn create(&self, path: &[u8], mode: u32) -> Result<(), Errno> {
        let _ = (path, mode);
        Err(Errno::Rofs)
    }

    /// Gives a file new content, for [`Writes::Whole`].
    fn replace(&self, path: &[u8], content: &Contents) -> Result<(), Errno> {
        let _ = (path, content);
        Err(Errno::Rofs)
    }

    /// Makes an empty directory where nothing is.
    fn create_dir(&self, path: &[u8], mode: u32) -> Result<(), Errno> {
        let _ = (path, mode);
        Err(Errno::Rofs)
    }

    /// Makes a symbolic link where nothing is. `PERM` for one that would lead out of the file system.
    fn symlink(&self, target: &[u8], path: &[u8]) -> Result<(), Errno> {
        let _ = (target, path);
        Err(Errno::Notsup)
    }

    /// Gives a regular file one more name.
    fn hard_link(&self, existing: &[u8], path: &[u8]) -> Result<(), Errno> {
        let _ = (existing, path);
        Err(Errno::Notsup)
    }

    /// Takes the name of a file or of a symbolic link.
    fn remove_file(&self, path: &[u8]) -> Result<(), Errno> {
        let _ = path;
        Err(Errno::Rofs)
    }

    /// Removes an empty directory.
    fn remove_dir(&self, path: &[u8]) -> Result<(), Errno> {
        let _ = path;
        Err(Errno::Rofs)
    }

    /// Renames, replacing what `to` named. `XDEV` when it cannot, which makes programs copy instead.
    fn rename(&self, from: &[u8], to: &[u8]) -> Result<(), Errno> {
        let _ = (from, to);
        Err(Errno::Xdev)
    }

    /// Sets the permission bits.
    fn set_mode(&self, path: &[u8], mode: u32) -> Result<(), Errno> {
        let _ = (path, mode);
        Err(Errno::Notsup)
    }

    /// Sets the times that are given, in nanoseconds since the epoch, of a file or directory or of a link itself.
    fn set_times(&self, path: &[u8], atime: Option<u64>, mtime: Option<u64>) -> Result<(), Errno> {
        let _ = (path, atime, mtime);
        Err(Errno::Notsup)
    }
}

/// An open file of a mount. It stays usable when its name is gone, if the mounted file system can do that.
pub trait MountFile: Send + Sync + fmt::Debug {
    /// What the file is now.
    fn metadata(&self) -> Result<Metadata, Errno>;

    /// Reads from `offset` on; 0 at the end. It may read less than there is room for.
    fn read_at(&self, offset: u64, dst: &mut [u8]) -> Result<usize, Errno>;

    /// Writes at `offset`.
    fn write_at(&self, offset: u64, src: &[u8]) -> Result<usize, Errno> {
        let _ = (offset, src);
        Err(Errno::Badf)
    }

    /// Cuts the file or lengthens it with zeros.
    fn set_len(&self, len: u64) -> Result<(), Errno> {
        let _ = len;
        Err(Errno::Badf)
    }

    /// Waits until what was written is safe.
    fn sync(&self) -> Result<(), Errno> {
        Ok(())
    }
}
