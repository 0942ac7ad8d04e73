//! The files of a sandbox: inodes, directories, links, contents, quota and snapshots.
//!
//! Everything is in memory and shared copy-on-write: the inode table in chunks, directories whole, contents in blocks. So
//! a snapshot or a fork is a few reference counts, and the first change after it copies only what it touches.
//!
//! Names and paths are bytes. Nothing here waits, allocates beyond the quota, or panics on what a guest passes.

mod attributes;
mod blocks;
mod bytes;
mod compare;
mod contents;
mod file;
mod install;
mod mount;
mod name;
mod node;
mod quota;
mod rename;
mod snapshot;
mod table;
mod tree;
mod version;
mod walk;

#[cfg(test)]
mod tests;

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::ops::Bound;
use std::sync::Arc;

use tidebox_core::Limits;

pub use bytes::{FileBytes, Watch};
pub use compare::{Entry, Visit};
pub use contents::{BLOCK_BYTES, Block, Contents};
pub use mount::{Access, EntryKind, Metadata, Mount, MountFile, MountMode, Writes};
pub use quota::Usage;
pub use snapshot::Snapshot;

use crate::errno::Errno;
use mount::Mounts;
use node::{Body, Dir, Node};
use quota::Quota;
use table::Table;
use version::Versions;

/// Longest path in bytes that [`Fs::path_of`] builds. A guest can nest directories as deep as it has inodes, and asking
/// for a path must not cost the host 50 MiB each time; no path of this length can be passed to a call anyway.
pub const PATH_OF_MAX: usize = 64 * 1024;

/// Number of an inode, as `st_ino` shows it. It is never used for another file, so one that is kept for too long answers
/// [`Errno::Stale`] and not with a stranger's bytes. The root is 1, and 0 is never used.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Ino(pub u64);

/// The bit that sets the numbers of objects in mounts apart. The table gives out none with it, nor with the bit above,
/// which marks `/proc`.
const FOREIGN: u64 = 1 << 62;

impl Ino {
    /// The number of an object that lies in a mount and not in the table.
    fn foreign(count: u64) -> Self {
        Self(FOREIGN | (count & (FOREIGN - 1)))
    }

    fn is_foreign(self) -> bool {
        self.0 >> 62 == 1
    }
}

/// What an inode is. It never changes.
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
    /// A named pipe. What goes through it is the kernel's; the inode holds nothing.
    Fifo,
}

/// The devices below `/dev`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Device {
    /// Reads nothing, takes everything.
    Null,
    /// Reads zeros, takes everything.
    Zero,
    /// Reads zeros, answers `ENOSPC` to writes.
    Full,
    /// Reads entropy.
    Random,
    /// Reads entropy.
    Urandom,
    /// The controlling terminal, if there is one.
    Tty,
}

/// What `stat` shows. Times are nanoseconds since the epoch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stat {
    /// Number of the inode.
    pub ino: Ino,
    /// Which mount it lies in, counted from 1; 0 for the sandbox's own files. Names cannot be moved from one to another.
    pub device: u32,
    /// What it is.
    pub kind: Kind,
    /// The twelve mode bits, without the file type.
    pub mode: u32,
    /// Owner.
    pub uid: u32,
    /// Group.
    pub gid: u32,
    /// Number of names; a directory has two and one more for each subdirectory. 0 when it lives only because it is held.
    pub nlink: u64,
    /// Bytes of a file or of a link's target, 4,096 for a directory.
    pub size: u64,
    /// Last access, as set by `set_times`: reading does not change it.
    pub atime: u64,
    /// Last change of the content.
    pub mtime: u64,
    /// Last change of the content or of an attribute.
    pub ctime: u64,
}

/// On whose behalf a call is made. User 0 passes every check; it is the host's, never a guest's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cred {
    /// User.
    pub uid: u32,
    /// Group. There are no further groups.
    pub gid: u32,
}

/// Where a relative path starts. An [`Ino`] converts into one without bounds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct At {
    dir: Ino,
    beneath: bool,
}

impl At {
    /// The directory as preview1 sees one: paths that would leave it answer `NOTCAPABLE`, be it by a `..`, by a symbolic
    /// link or by being absolute. Beneath the root nothing can be left, and only absolute paths are refused.
    #[must_use]
    pub fn beneath(dir: Ino) -> Self {
        Self { dir, beneath: true }
    }
}

impl From<Ino> for At {
    fn from(dir: Ino) -> Self {
        Self { dir, beneath: false }
    }
}

/// What a path leads to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Target {
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
    /// How often each inode is held. Not in the table, because what is held is no part of a snapshot.
    holds: BTreeMap<Ino, u32>,
    versions: Versions,
    /// `None` as long as nothing is mounted.
    mounts: Option<Box<Mounts>>,
    path_bytes: usize,
    symlink_depth: u32,
}

impl Fs {
    /// A file system with nothing in it but `/`, which has mode 755 and belongs to user 0 until [`Self::install_dir`]
    /// says otherwise.
    #[must_use]
    pub fn new(limits: &Limits) -> Self {
        let mut table = Table::new();
        let mut versions = Versions::default();
        // The first slot of an empty table, so the number is known before there is a node to hold it.
        let root = Ino(1);
        let dir = Dir { parent: root, name: name::Name::new(b""), entries: BTreeMap::new(), lower: None };
        let mut node = Node::new(Body::Dir(Arc::new(dir)), &Cred { uid: 0, gid: 0 }, 0o755, 0, versions.next());
        node.installed = true;
        let stored = table.insert(node);
        debug_assert_eq!(stored, Some(root));
        Self {
            table,
            root,
            proc: None,
            quota: Quota::new(limits, Usage::default()),
            holds: BTreeMap::new(),
            versions,
            mounts: None,
            path_bytes: limits.path_bytes as usize,
            symlink_depth: limits.symlink_depth,
        }
    }

    /// The root directory.
    #[must_use]
    pub fn root(&self) -> Ino {
        self.root
    }

    /// What the files use of the quota.
    #[must_use]
    pub fn usage(&self) -> Usage {
        self.quota.used
    }

    /// The entries of a directory in the order of the bytes of their names, from behind the name `after`, which need not
    /// exist any more. `.` and `..` are the caller's to add. What is no directory has no entries, nor has one of a mount that
    /// cannot be read, see [`Self::check_dir`].
    pub fn read_dir<'a>(
        &'a self,
        ino: Ino,
        after: Option<&[u8]>,
    ) -> impl Iterator<Item = (Cow<'a, [u8]>, Ino, Kind)> + use<'a> {
        let start = after.map_or(Bound::Unbounded, Bound::Excluded);
        let ino = self.own(ino);
        let dir = self.table.get(ino).and_then(|node| node.dir().ok()).filter(|dir| dir.lower.is_none());
        let merged = if dir.is_none() && self.mounts.is_some() { self.merged(ino, after) } else { None };
        let entries = dir.map(|dir| dir.entries.range::<[u8], _>((start, Bound::Unbounded)));
        entries
            .into_iter()
            .flatten()
            .filter_map(|(name, &ino)| Some((Cow::Borrowed(name.as_bytes()), ino, self.table.get(ino)?.kind())))
            .chain(merged.into_iter().flatten())
    }

    /// The directory above one; the root is above itself. Of what is no directory, the root.
    #[must_use]
    pub fn parent(&self, dir: Ino) -> Ino {
        let dir = self.own(dir);
        match self.table.get(dir) {
            Some(node) => node.dir().map_or(self.root, |dir| dir.parent),
            None => self.found_parent(dir).unwrap_or(self.root),
        }
    }

    /// The absolute path of a directory; `None` when it was removed, is no directory, or lies so deep that its path is
    /// longer than [`PATH_OF_MAX`].
    #[must_use]
    pub fn path_of(&self, dir: Ino) -> Option<Vec<u8>> {
        let (mut names, mut len) = (Vec::new(), 0);
        let mut ino = self.own(dir);
        loop {
            if ino.is_foreign() {
                let (parent, name) = self.found_place(ino).filter(|_| self.is_dir(ino) == Ok(true))?;
                len += name.len() + 1;
                names.push(Cow::Owned(name));
                ino = parent;
                continue;
            }
            let node = self.table.get(ino)?;
            let dir = node.dir().ok()?;
            if node.nlink == 0 {
                return None;
            }
            if ino == self.root {
                break;
            }
            let name = dir.name.as_bytes();
            len += name.len() + 1;
            if len > PATH_OF_MAX {
                return None;
            }
            names.push(Cow::Borrowed(name));
            ino = dir.parent;
        }
        let mut path = Vec::with_capacity(len);
        for name in names.iter().rev() {
            path.push(b'/');
            path.extend_from_slice(name);
        }
        Some(if path.is_empty() { b"/".to_vec() } else { path })
    }

    /// Keeps an inode alive after its last name is gone, as an open descriptor does. Holds count.
    pub fn hold(&mut self, ino: Ino) {
        let ino = self.own(ino);
        if self.table.get(ino).is_some() || self.is_found(ino) {
            let holds = self.holds.entry(ino).or_insert(0);
            *holds = holds.saturating_add(1);
        }
    }

    /// Takes one hold back; the last one frees an inode without names and refunds what it was charged.
    pub fn release(&mut self, ino: Ino) {
        let ino = self.own(ino);
        if let Some(holds) = self.holds.get_mut(&ino) {
            *holds -= 1;
            if *holds == 0 {
                self.holds.remove(&ino);
                if ino.is_foreign() { self.let_go(ino) } else { self.reap(ino) }
            }
        }
    }

    /// Frees an inode that has no name and is not held.
    fn reap(&mut self, ino: Ino) {
        let idle = self.table.get(ino).is_some_and(|node| node.nlink == 0);
        if idle
            && !self.holds.contains_key(&ino)
            && let Some(node) = self.table.remove(ino)
        {
            self.quota.refund(&node);
            if node.device != 0 {
                self.freed(ino);
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
