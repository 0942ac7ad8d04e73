//! The interface that a mounted file system implements.

use core::fmt;
use std::sync::Arc;

use crate::errno::Errno;
use crate::fs::{Contents, Kind};

/// Write mode of a mount.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum MountMode {
    /// No changes; an attempt fails with `ROFS`.
    ReadOnly,
    /// Every change is immediately executed by the mounted file system.
    ReadWrite,
    /// Changes stay in the sandbox: they are charged to its quota and are part of its snapshots and forks. The mounted file
    /// system is only read.
    CopyOnWrite,
}

/// Kind of a mounted object. Pipes, sockets and devices are not supported: a mount must hide them.
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

/// Metadata of a mounted object. The owner is always the sandbox's user.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Metadata {
    /// Kind of the object.
    pub kind: EntryKind,
    /// The nine permission bits.
    pub mode: u32,
    /// Number of names of a file if known, else 1. Directories report 1, so that programs do not rely on it.
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

/// Access mode of an open file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Access {
    /// Read.
    Read,
    /// Write and set the length. The file exists and is not truncated.
    Write,
}

/// Write support of a mounted file system.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum WriteSupport {
    /// Not writable: it can be mounted read-only and copy-on-write.
    None,
    /// At any offset, through [`MountFile`].
    InPlace,
    /// Whole files only, through [`Mount::replace`]. The kernel buffers a changed file, charged to the quota, until the last
    /// descriptor is closed or a program calls `fsync`. The last one to close wins.
    ReplaceOnly,
}

/// A file system that can be mounted.
///
/// Paths are bytes relative to its root, without `.`, `..`, empty components, NUL bytes and a slash at either end; the root is
/// the empty path. The kernel resolves symbolic links, so the components of a path were directories at the time of the lookup. An
/// implementation must still ensure that no path escapes the root if another process changes them concurrently.
///
/// Every call runs under the kernel's lock, so a slow call blocks the sandbox's other programs. Failures return an errno and
/// never panic. The default methods reject every change.
pub trait Mount: Send + Sync + fmt::Debug {
    /// Returns the write support. Default: none.
    fn writes(&self) -> WriteSupport {
        WriteSupport::None
    }

    /// Returns the metadata of an object without following a symbolic link. `NOENT` if it does not exist or is hidden.
    fn metadata(&self, path: &[u8]) -> Result<Metadata, Errno>;

    /// Returns the names in a directory, in any order, without `.` and `..`.
    fn read_dir(&self, path: &[u8]) -> Result<Vec<(Vec<u8>, EntryKind)>, Errno>;

    /// Returns the target of a symbolic link.
    fn read_link(&self, path: &[u8]) -> Result<Vec<u8>, Errno> {
        let _ = path;
        Err(Errno::Inval)
    }

    /// Opens a regular file. The kernel keeps it open at most as long as a program does.
    fn open(&self, path: &[u8], access: Access) -> Result<Arc<dyn MountFile>, Errno>;

    /// Creates an empty file. The path must not exist.
    fn create(&self, path: &[u8], mode: u32) -> Result<(), Errno> {
        let _ = (path, mode);
        Err(Errno::Rofs)
    }

    /// Replaces the content of a file, for [`WriteSupport::ReplaceOnly`].
    fn replace(&self, path: &[u8], content: &Contents) -> Result<(), Errno> {
        let _ = (path, content);
        Err(Errno::Rofs)
    }

    /// Creates an empty directory. The path must not exist.
    fn create_dir(&self, path: &[u8], mode: u32) -> Result<(), Errno> {
        let _ = (path, mode);
        Err(Errno::Rofs)
    }

    /// Creates a symbolic link. The path must not exist. `PERM` for a target outside the file system.
    fn symlink(&self, target: &[u8], path: &[u8]) -> Result<(), Errno> {
        let _ = (target, path);
        Err(Errno::Notsup)
    }

    /// Creates another name for a regular file.
    fn hard_link(&self, existing: &[u8], path: &[u8]) -> Result<(), Errno> {
        let _ = (existing, path);
        Err(Errno::Notsup)
    }

    /// Removes a file or a symbolic link.
    fn remove_file(&self, path: &[u8]) -> Result<(), Errno> {
        let _ = path;
        Err(Errno::Rofs)
    }

    /// Removes an empty directory.
    fn remove_dir(&self, path: &[u8]) -> Result<(), Errno> {
        let _ = path;
        Err(Errno::Rofs)
    }

    /// Renames an object, replacing an existing `to`. `XDEV` if it cannot, which makes programs copy instead.
    fn rename(&self, from: &[u8], to: &[u8]) -> Result<(), Errno> {
        let _ = (from, to);
        Err(Errno::Xdev)
    }

    /// Sets the permission bits.
    fn set_mode(&self, path: &[u8], mode: u32) -> Result<(), Errno> {
        let _ = (path, mode);
        Err(Errno::Notsup)
    }

    /// Sets the given times, in nanoseconds since the epoch, of a file, a directory or a symbolic link itself.
    fn set_times(&self, path: &[u8], atime: Option<u64>, mtime: Option<u64>) -> Result<(), Errno> {
        let _ = (path, atime, mtime);
        Err(Errno::Notsup)
    }
}

/// An open file of a mount. It stays usable after its name is removed, if the mounted file system supports that.
pub trait MountFile: Send + Sync + fmt::Debug {
    /// Returns the current metadata of the file.
    fn metadata(&self) -> Result<Metadata, Errno>;

    /// Reads starting at `offset`; 0 at the end. Short reads are allowed.
    fn read_at(&self, offset: u64, dst: &mut [u8]) -> Result<usize, Errno>;

    /// Writes at `offset`.
    fn write_at(&self, offset: u64, src: &[u8]) -> Result<usize, Errno> {
        let _ = (offset, src);
        Err(Errno::Badf)
    }

    /// Truncates the file or extends it with zeros.
    fn set_len(&self, len: u64) -> Result<(), Errno> {
        let _ = len;
        Err(Errno::Badf)
    }

    /// Flushes written data to stable storage.
    fn sync(&self) -> Result<(), Errno> {
        Ok(())
    }
}
