//! The files of a sandbox: inodes, directories, links, contents, quota and snapshots.
//!
//! All data is in memory and shared copy-on-write: the inode table in chunks, directories as a whole, contents in blocks. A
//! snapshot or a fork therefore costs a few reference counts, and the first change after it copies only the affected parts.
//!
//! Names and paths are bytes. No function blocks, allocates beyond the quota, or panics on guest input.

mod attributes;
mod blocks;
mod bytes;
mod compare;
mod contents;
mod diff;
mod directory;
mod entries;
mod file;
mod install;
mod mount;
mod name;
mod node;
mod quota;
mod rename;
mod snapshot;
mod table;
mod version;
mod walk;

#[cfg(test)]
mod tests;

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::ops::Bound;
use std::sync::Arc;

use tidebox_core::Limits;

pub use bytes::{FileBytes, WeakFileBytes};
pub use compare::{EntryChange, InodeChange, InodeLocation, TreeChanges};
pub use contents::{BLOCK_BYTES, Block, Contents};
pub use diff::{DiffEntry, Visit};
pub use mount::{Access, EntryKind, Metadata, Mount, MountFile, MountMode, WriteSupport};
pub use quota::FileUsage;
pub use snapshot::FsSnapshot;

use crate::errno::Errno;
use mount::Mounts;
use node::{Body, Node};
use quota::Quota;
use table::Table;
use version::Versions;

/// Maximum length in bytes of a path that [`Fs::path_of`] builds. A guest can nest directories as deep as it has inodes, and a
/// path query must not cost the host 50 MiB each time. A path of this length cannot be passed to a call anyway.
pub const PATH_OF_MAX: usize = 64 * 1024;

/// Inode number (`st_ino`). It is never reused for another file, so the number of a freed inode returns [`Errno::Stale`] and
/// never another file's bytes. The root is 1; 0 is never used.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Ino(pub u64);

/// Bit that marks the numbers of objects in mounts. The table assigns no number with this bit, nor with the next higher one,
/// which marks `/proc`.
const MOUNT_OBJECT_BIT: u64 = 1 << 62;

impl Ino {
    /// Creates the number of an object in a mount, which is not in the table.
    fn mount_object(count: u64) -> Self {
        Self(MOUNT_OBJECT_BIT | (count & (MOUNT_OBJECT_BIT - 1)))
    }

    fn is_mount_object(self) -> bool {
        self.0 >> 62 == 1
    }
}

/// The kind of an inode. It never changes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Kind {
    /// A regular file.
    File,
    /// A directory.
    Dir,
    /// A symbolic link.
    Symlink,
    /// A character device, which the kernel reads and writes.
    Device(Device),
    /// A named pipe. The kernel holds its data; the inode holds none.
    Fifo,
}

/// The devices below `/dev`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Device {
    /// Reads as empty, discards writes.
    Null,
    /// Reads zeros, discards writes.
    Zero,
    /// Reads zeros, fails writes with `ENOSPC`.
    Full,
    /// Reads entropy.
    Random,
    /// Reads entropy.
    Urandom,
    /// The controlling terminal, if the process has one.
    Tty,
}

/// Attributes that `stat` returns. Times are nanoseconds since the epoch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stat {
    /// Inode number.
    pub ino: Ino,
    /// Index of the mount that contains it, counted from 1; 0 for the sandbox's own files. Names cannot be moved between devices.
    pub device: u32,
    /// Kind of the inode.
    pub kind: Kind,
    /// The twelve mode bits, without the file type.
    pub mode: u32,
    /// Owner.
    pub uid: u32,
    /// Group.
    pub gid: u32,
    /// Number of names; a directory has two and one more for each subdirectory. 0 if only a hold keeps it alive.
    pub nlink: u64,
    /// Bytes of a file or of a link's target, 4,096 for a directory.
    pub size: u64,
    /// Last access, as set by `set_times`; reading does not change it.
    pub atime: u64,
    /// Last change of the content.
    pub mtime: u64,
    /// Last change of the content or of an attribute.
    pub ctime: u64,
}

/// Credentials of a call. User 0 passes every check; it is the host, never a guest.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cred {
    /// User.
    pub uid: u32,
    /// Group. Supplementary groups are not supported.
    pub gid: u32,
}

/// Start of a relative path. An [`Ino`] converts into one without confinement.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PathStart {
    dir: Ino,
    beneath: bool,
}

impl PathStart {
    /// Confines paths to the directory, as preview1 requires: a path that would leave it by `..`, by a symbolic link or by being
    /// absolute fails with `NOTCAPABLE`. At the root, only absolute paths are rejected.
    #[must_use]
    pub fn beneath(dir: Ino) -> Self {
        Self { dir, beneath: true }
    }
}

impl From<Ino> for PathStart {
    fn from(dir: Ino) -> Self {
        Self { dir, beneath: false }
    }
}

/// The result of resolving a path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Resolved {
    /// An inode.
    Node(Ino),
    /// The path below `/proc`, without `.`, `..`, repeated slashes or one at either end. Empty for `/proc` itself.
    Proc(Vec<u8>),
}

/// The file system of one sandbox.
#[derive(Debug)]
pub struct Fs {
    table: Table,
    root: Ino,
    proc: Option<Ino>,
    quota: Quota,
    /// Hold count of each inode. Not in the table, because holds are not part of a snapshot.
    hold_counts: BTreeMap<Ino, u32>,
    versions: Versions,
    /// `None` if nothing is mounted.
    mounts: Option<Box<Mounts>>,
    path_bytes: usize,
    symlink_depth: u32,
}

impl Fs {
    /// Creates a file system with an empty `/`, which has mode 755 and belongs to user 0 until [`Self::install_dir`] changes it.
    #[must_use]
    pub fn new(limits: &Limits) -> Self {
        let mut table = Table::new();
        let mut versions = Versions::default();
        // The first slot of an empty table, so the number is known before the node exists.
        let root = Ino(1);
        let mut node = Node::new(Body::Dir(Arc::default()), &Cred { uid: 0, gid: 0 }, 0o755, 0, versions.next());
        (node.installed, node.parent) = (true, root);
        let stored = table.insert(node);
        debug_assert_eq!(stored, Some(root));
        Self {
            table,
            root,
            proc: None,
            quota: Quota::new(limits, FileUsage::default()),
            hold_counts: BTreeMap::new(),
            versions,
            mounts: None,
            path_bytes: limits.path_bytes as usize,
            symlink_depth: limits.symlink_depth,
        }
    }

    /// Returns the root directory.
    #[must_use]
    pub fn root(&self) -> Ino {
        self.root
    }

    /// Returns the limit on files that is exhausted, if one is.
    pub(crate) fn exhausted_limit(&self) -> Option<tidebox_core::StopReason> {
        self.quota.exhausted_limit()
    }

    /// Returns the quota usage of the files.
    #[must_use]
    pub fn usage(&self) -> FileUsage {
        self.quota.used
    }

    /// Returns the entries of a directory in byte order, starting after the name `after`, which need not exist any more. The
    /// caller adds `.` and `..`. Empty for a non-directory and for a mounted directory that cannot be read, see
    /// [`Self::check_dir`].
    pub fn read_dir<'a>(
        &'a self,
        ino: Ino,
        after: Option<&[u8]>,
    ) -> impl Iterator<Item = (Cow<'a, [u8]>, Ino, Kind)> + use<'a> {
        let start = after.map_or(Bound::Unbounded, Bound::Excluded);
        let ino = self.upper_ino(ino);
        let dir = self.table.get(ino).and_then(|node| node.dir().ok()).filter(|dir| dir.lower.is_none());
        let merged = if dir.is_none() && self.mounts.is_some() { self.merged_dir(ino, after) } else { None };
        let entries = dir.map(|dir| dir.entries.range(start));
        entries
            .into_iter()
            .flatten()
            .filter_map(|(name, ino)| Some((Cow::Borrowed(name.as_bytes()), ino, self.table.get(ino)?.kind())))
            .chain(merged.into_iter().flatten())
    }

    /// Returns whether the inode is the same in both, unchanged since one was created from a snapshot of the other. False for some
    /// unchanged inodes, whose neighbours in the table were changed.
    #[must_use]
    pub fn shares(&self, other: &Self, ino: Ino) -> bool {
        self.table.shares(&other.table, ino)
    }

    /// Returns the parent of a directory. The root is its own parent; for a non-directory, returns the root.
    #[must_use]
    pub fn parent(&self, dir: Ino) -> Ino {
        let dir = self.upper_ino(dir);
        match self.table.get(dir) {
            Some(node) if node.is_dir() => node.parent,
            Some(_) => self.root,
            None => self.object_parent(dir).unwrap_or(self.root),
        }
    }

    /// Returns the absolute path of a directory; `None` if it was removed, is not a directory, or its path is longer than
    /// [`PATH_OF_MAX`].
    #[must_use]
    pub fn path_of(&self, dir: Ino) -> Option<Vec<u8>> {
        let (mut names, mut len) = (Vec::new(), 0);
        let mut ino = self.upper_ino(dir);
        loop {
            if ino.is_mount_object() {
                let (parent, name) = self.object_location(ino).filter(|_| self.is_dir(ino) == Ok(true))?;
                len += name.len() + 1;
                names.push(Cow::Owned(name));
                ino = parent;
                continue;
            }
            let node = self.table.get(ino)?;
            if !node.is_dir() || node.nlink == 0 {
                return None;
            }
            if ino == self.root {
                break;
            }
            let name = node.name.as_bytes();
            len += name.len() + 1;
            if len > PATH_OF_MAX {
                return None;
            }
            names.push(Cow::Borrowed(name));
            ino = node.parent;
        }
        let mut path = Vec::with_capacity(len);
        for name in names.iter().rev() {
            path.push(b'/');
            path.extend_from_slice(name);
        }
        Some(if path.is_empty() { b"/".to_vec() } else { path })
    }

    /// Keeps an inode alive after its last name is removed, as an open descriptor does. Holds are counted.
    pub fn hold(&mut self, ino: Ino) {
        let ino = self.upper_ino(ino);
        if self.table.get(ino).is_some() || self.is_known_object(ino) {
            let holds = self.hold_counts.entry(ino).or_insert(0);
            *holds = holds.saturating_add(1);
        }
    }

    /// Drops one hold; the last one frees an inode without names and refunds its charge.
    pub fn release(&mut self, ino: Ino) {
        let ino = self.upper_ino(ino);
        if let Some(holds) = self.hold_counts.get_mut(&ino) {
            *holds -= 1;
            if *holds == 0 {
                self.hold_counts.remove(&ino);
                if ino.is_mount_object() { self.on_last_release(ino) } else { self.free_if_unused(ino) }
            }
        }
    }

    /// Frees an inode that has no name and is not held.
    fn free_if_unused(&mut self, ino: Ino) {
        let idle = self.table.get(ino).is_some_and(|node| node.nlink == 0);
        if idle
            && !self.hold_counts.contains_key(&ino)
            && let Some(node) = self.table.remove(ino)
        {
            self.quota.refund(&node);
            if node.device != 0 {
                self.on_inode_freed(ino);
            }
        }
    }

    fn node(&self, ino: Ino) -> Result<&Node, Errno> {
        self.table.get(ino).ok_or(Errno::Stale)
    }

    fn node_mut(&mut self, ino: Ino) -> Result<&mut Node, Errno> {
        self.table.get_mut(ino).ok_or(Errno::Stale)
    }
}
