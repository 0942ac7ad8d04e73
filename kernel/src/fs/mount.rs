//! Mounted file systems.
//!
//! A mounted file system uses paths ([`Mount`]), the rest of the kernel inode numbers. Objects connect the two: each name looked
//! up in a mount gets its own number (`objects`), so that descriptors, working directories and every call work on it as on any
//! other file. A directory of the tree with a mounted lower directory stores its path (`Lower`): the mount point itself, a
//! directory that is pinned above a nested mount, and in copy-on-write mounts every changed directory. The upper side of a
//! copy-on-write mount therefore consists of ordinary inodes: they are charged, included in snapshots and shared by forks like
//! all others.

mod api;
mod attach;
mod buffer;
mod content;
mod copy_up;
mod list;
mod lookup;
mod objects;
mod passthrough;

use std::collections::BTreeSet;
use std::sync::{Arc, MutexGuard};

use tidebox_core::lock::Mutex;

pub use api::{Access, EntryKind, Metadata, Mount, MountFile, MountMode, WriteSupport};

use super::Ino;
use super::name::Name;
pub(super) use copy_up::{CopyRange, WriteTarget};
pub(super) use lookup::DirOwner;
use objects::ObjectTable;

/// The lower (mounted) directory of a directory of the tree.
#[derive(Clone, Debug)]
pub(super) struct Lower {
    /// Its path in the mount, which does not change if the upper directory is renamed.
    pub(super) path: Arc<[u8]>,
    /// Whiteouts: names that were removed or moved. Each is charged as an inode.
    pub(super) whiteouts: BTreeSet<Name>,
}

impl Lower {
    pub(super) fn new(path: impl Into<Arc<[u8]>>) -> Self {
        Self { path: path.into(), whiteouts: BTreeSet::new() }
    }
}

/// One mount, shared by snapshots and forks.
#[derive(Clone, Debug)]
pub(super) struct MountEntry {
    pub(super) mount: Arc<dyn Mount>,
    pub(super) mode: MountMode,
    /// The mount point.
    pub(super) root: Ino,
}

/// All mounts of a file system, and their known objects.
#[derive(Debug, Default)]
pub(super) struct Mounts {
    /// The first is device 1.
    pub(super) list: Arc<Vec<MountEntry>>,
    objects: Mutex<ObjectTable>,
}

impl Mounts {
    /// Creates the same mounts for another file system, with an empty object table.
    pub(super) fn of(list: &Arc<Vec<MountEntry>>) -> Option<Box<Self>> {
        (!list.is_empty()).then(|| Box::new(Self { list: Arc::clone(list), objects: Mutex::default() }))
    }

    fn objects(&self) -> MutexGuard<'_, ObjectTable> {
        self.objects.lock()
    }

    fn objects_mut(&mut self) -> &mut ObjectTable {
        self.objects.get_mut()
    }

    fn get(&self, device: u32) -> Option<&MountEntry> {
        self.list.get(usize::try_from(device.checked_sub(1)?).ok()?)
    }
}

/// Appends a name to a path in a mount.
fn join(dir: &[u8], name: &[u8]) -> Vec<u8> {
    if dir.is_empty() { name.to_vec() } else { [dir, b"/", name].concat() }
}
