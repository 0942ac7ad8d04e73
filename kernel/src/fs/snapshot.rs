//! Snapshots: the whole tree, shared.

use std::collections::BTreeMap;
use std::sync::Arc;

use tidebox_core::Limits;

use super::mount::{Mounted, Mounts};
use super::quota::{Quota, Usage};
use super::table::Table;
use super::version::Versions;
use super::{Fs, Ino};

/// An immutable copy of all files, which shares their bytes with the file systems it came from and goes to. Cloning it,
/// taking it and starting from it cost the same few reference counts whatever it holds.
#[derive(Clone)]
pub struct Snapshot {
    pub(super) table: Table,
    pub(super) root: Ino,
    proc: Option<Ino>,
    mounts: Arc<Vec<Mounted>>,
    used: Usage,
}

impl Snapshot {
    /// Whether nothing was changed between the two, as far as that shows without looking at files: one is a clone of the
    /// other, or both were taken of one file system that nobody wrote to meanwhile. `false` may be wrong, `true` is not.
    #[must_use]
    pub fn is_same(&self, other: &Self) -> bool {
        self.table.is_same(&other.table) && self.root == other.root && self.proc == other.proc
    }

    /// What the files in it were charged.
    #[must_use]
    pub fn usage(&self) -> Usage {
        self.used
    }
}

impl core::fmt::Debug for Snapshot {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("Snapshot").field("used", &self.used).finish_non_exhaustive()
    }
}

impl Fs {
    /// A file system of its own that begins with the files of a snapshot. When `limits` allow less than it holds, what is
    /// there stays and nothing can be added.
    #[must_use]
    pub fn from_snapshot(snapshot: &Snapshot, limits: &Limits) -> Self {
        Self {
            table: snapshot.table.clone(),
            root: snapshot.root,
            proc: snapshot.proc,
            quota: Quota::new(limits, snapshot.used),
            holds: BTreeMap::new(),
            mounts: Mounts::of(&snapshot.mounts),
            versions: Versions::default(),
            path_bytes: limits.path_bytes as usize,
            symlink_depth: limits.symlink_depth,
        }
    }

    /// Keeps what is there now. Inodes that have lost their last name and live only because they are held are not in it.
    #[must_use]
    pub fn snapshot(&self) -> Snapshot {
        let orphans: Vec<Ino> =
            self.holds.keys().copied().filter(|&ino| self.table.get(ino).is_some_and(|node| node.nlink == 0)).collect();
        let (mut table, mut quota) = (self.table.clone(), self.quota.clone());
        for ino in orphans {
            if let Some(node) = table.remove(ino) {
                quota.refund(&node);
            }
        }
        let mounts = self.mounts.as_deref().map(|mounts| Arc::clone(&mounts.list)).unwrap_or_default();
        Snapshot { table, root: self.root, proc: self.proc, mounts, used: quota.used }
    }

    /// Goes back to a snapshot. What is held and in the snapshot stays held and shows its old content; what is held and
    /// not in it answers `STALE` from then on. No inode number is ever used for another file.
    pub fn restore(&mut self, snapshot: &Snapshot) {
        self.table.roll_back_to(&snapshot.table);
        self.root = snapshot.root;
        self.proc = snapshot.proc;
        self.quota.used = snapshot.used;
        self.restore_mounts(&snapshot.mounts);
        let table = &self.table;
        self.holds.retain(|&ino, _| ino.is_foreign() || table.get(ino).is_some());
    }
}
