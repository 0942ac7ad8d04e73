//! File systems that are not the sandbox's own, shown below a directory of it.
//!
//! A mounted file system speaks in paths ([`Mount`]), the rest of the kernel in inode numbers. In between stand objects:
//! each name found in a mount gets a number of its own (`found`), so that descriptors, working directories and every
//! call work on it as on any other file. Directories of the tree that have a mounted directory below them keep its path
//! (`Lower`): the mount point itself, what is pinned above a mount within a mount, and in copy-on-write mounts every
//! directory that was changed. So what a copy-on-write mount keeps is ordinary inodes: it is charged, taken into
//! snapshots and shared by forks as they are.

mod attach;
mod buffer;
mod content;
mod found;
mod list;
mod look;
mod pass;
mod port;
mod raise;

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

pub use port::{Access, EntryKind, Metadata, Mount, MountFile, MountMode, Writes};

use super::Ino;
use super::name::Name;
use found::Found;
pub(super) use look::Charge;
pub(super) use raise::{Change, Copy};

/// The directory of a mount that shows through a directory of the tree.
#[derive(Clone, Debug)]
pub(super) struct Lower {
    /// Its path in the mount, which stays when the directory above is renamed.
    pub(super) path: Arc<[u8]>,
    /// Names that were taken away or moved. Each is charged as an inode.
    pub(super) hidden: BTreeSet<Name>,
}

impl Lower {
    pub(super) fn new(path: impl Into<Arc<[u8]>>) -> Self {
        Self { path: path.into(), hidden: BTreeSet::new() }
    }
}

/// One mount. Snapshots and forks share it.
#[derive(Clone, Debug)]
pub(super) struct Mounted {
    pub(super) mount: Arc<dyn Mount>,
    pub(super) mode: MountMode,
    /// The directory at which it is mounted.
    pub(super) root: Ino,
}

/// All mounts of a file system, and what was found in them.
#[derive(Debug, Default)]
pub(super) struct Mounts {
    /// The first is device 1.
    pub(super) list: Arc<Vec<Mounted>>,
    found: Mutex<Found>,
}

impl Mounts {
    /// The same mounts for another file system, in which nothing was found yet.
    pub(super) fn of(list: &Arc<Vec<Mounted>>) -> Option<Box<Self>> {
        (!list.is_empty()).then(|| Box::new(Self { list: Arc::clone(list), found: Mutex::default() }))
    }

    fn found(&self) -> MutexGuard<'_, Found> {
        self.found.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn found_mut(&mut self) -> &mut Found {
        self.found.get_mut().unwrap_or_else(PoisonError::into_inner)
    }

    fn get(&self, device: u32) -> Option<&Mounted> {
        self.list.get(usize::try_from(device.checked_sub(1)?).ok()?)
    }
}

/// A path in a mount and one more name.
fn join(dir: &[u8], name: &[u8]) -> Vec<u8> {
    if dir.is_empty() { name.to_vec() } else { [dir, b"/", name].concat() }
}
