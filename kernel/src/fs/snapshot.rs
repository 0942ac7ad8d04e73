//! Snapshots of the whole tree.

use std::collections::BTreeMap;
use std::sync::Arc;

use tidebox_core::Limits;

use super::mount::{MountEntry, Mounts};
use super::quota::{FileUsage, Quota};
use super::table::Table;
use super::version::Versions;
use super::{Fs, Ino};

/// An immutable copy of all files, sharing their bytes with the source file system and with file systems created from it.
/// Cloning, creating and restoring it cost the same few reference counts for any content.
#[derive(Clone)]
pub struct FsSnapshot {
    pub(super) table: Table,
    pub(super) root: Ino,
    proc: Option<Ino>,
    mounts: Arc<Vec<MountEntry>>,
    used: FileUsage,
}

impl FsSnapshot {
    /// Returns whether both are known to be equal without reading files: one is a clone of the other, or both were taken of one
    /// file system without a write in between. `false` does not mean that they differ.
    #[must_use]
    pub fn ptr_eq(&self, other: &Self) -> bool {
        self.table.is_same(&other.table) && self.root == other.root && self.proc == other.proc
    }

    /// Returns the root directory.
    #[must_use]
    pub fn root(&self) -> Ino {
        self.root
    }

    /// Returns the same files without the mounts: nothing in a mounted file system can be read or changed.
    #[must_use]
    pub fn without_mounts(&self) -> Self {
        Self { mounts: Arc::default(), ..self.clone() }
    }

    /// Returns these files with the mounts of another snapshot.
    #[must_use]
    pub fn with_mounts_of(self, other: &Self) -> Self {
        Self { mounts: Arc::clone(&other.mounts), ..self }
    }

    /// Returns the charge of the files in it.
    #[must_use]
    pub fn usage(&self) -> FileUsage {
        self.used
    }
}

impl core::fmt::Debug for FsSnapshot {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("Snapshot").field("used", &self.used).finish_non_exhaustive()
    }
}

impl Fs {
    /// Creates an independent file system from a snapshot. If `limits` allow less than it holds, the existing files stay and
    /// nothing can be added.
    #[must_use]
    pub fn from_snapshot(snapshot: &FsSnapshot, limits: &Limits) -> Self {
        Self {
            table: snapshot.table.clone(),
            root: snapshot.root,
            proc: snapshot.proc,
            quota: Quota::new(limits, snapshot.used),
            hold_counts: BTreeMap::new(),
            mounts: Mounts::of(&snapshot.mounts),
            versions: Versions::default(),
            path_bytes: limits.path_bytes as usize,
            symlink_depth: limits.symlink_depth,
        }
    }

    /// Takes a snapshot. Inodes without a name that exist only because they are held are not included.
    #[must_use]
    pub fn snapshot(&self) -> FsSnapshot {
        let orphans: Vec<Ino> = self
            .hold_counts
            .keys()
            .copied()
            .filter(|&ino| self.table.get(ino).is_some_and(|node| node.nlink == 0))
            .collect();
        let (mut table, mut quota) = (self.table.clone(), self.quota.clone());
        for ino in orphans {
            if let Some(node) = table.remove(ino) {
                quota.refund(&node);
            }
        }
        let mounts = self.mounts.as_deref().map(|mounts| Arc::clone(&mounts.list)).unwrap_or_default();
        FsSnapshot { table, root: self.root, proc: self.proc, mounts, used: quota.used }
    }

    /// Restores a snapshot. Held inodes that are in the snapshot stay held and show its content; held inodes that are not in it
    /// return `STALE` afterwards. No inode number is ever reused for another file.
    pub fn restore(&mut self, snapshot: &FsSnapshot) {
        self.table.restore_from(&snapshot.table);
        self.root = snapshot.root;
        self.proc = snapshot.proc;
        self.quota.used = snapshot.used;
        self.restore_mounts(&snapshot.mounts);
        let table = &self.table;
        self.hold_counts.retain(|&ino, _| ino.is_mount_object() || table.get(ino).is_some());
    }
}
