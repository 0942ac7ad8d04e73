//! Attaching and restoring mounts.

use std::sync::Arc;

use super::api::{EntryKind, Mount, MountMode, WriteSupport};
use super::{Lower, MountEntry, Mounts};
use crate::errno::Errno;
use crate::fs::node::{Body, Dir, MODE_BITS, Node};
use crate::fs::walk::FollowMode;
use crate::fs::{Cred, Fs, Ino, PathStart};
use crate::kernel::USER;

/// Maximum number of mounts of one file system; bounds the work of each walk.
const MOUNTS: usize = 1024;

const HOST: Cred = Cred { uid: 0, gid: 0 };

impl Fs {
    /// Handles a freed inode of the tree that may be the upper inode of a mount object.
    pub(in crate::fs) fn on_inode_freed(&mut self, ino: Ino) {
        if let Some(found) = self.objects_mut() {
            found.on_upper_freed(ino);
        }
    }

    /// Restores the mounts of a snapshot. Open files stay usable if the mounts are the same.
    pub(in crate::fs) fn restore_mounts(&mut self, list: &Arc<Vec<MountEntry>>) {
        match &mut self.mounts {
            Some(mounts) if !list.is_empty() => {
                mounts.list = Arc::clone(list);
                mounts.objects_mut().on_restore(&self.table);
            }
            mounts => *mounts = Mounts::of(list),
        }
    }

    /// Mounts a file system at a directory, which is created with its parents if missing. The mount point may lie in another
    /// mount, whose directory content is then hidden; a directory of the sandbox's own tree must be empty.
    ///
    /// # Errors
    /// `BUSY` (`/`, `/proc`, or an existing mount point), `NOTEMPTY`, `NOTDIR` (the path leads to something else, or the mount's
    /// root is not a directory), `ROFS` ([`MountMode::ReadWrite`] for a file system that cannot be written, or a directory is
    /// missing in a mount that cannot be changed), `NOSPC` (more than 1024 mounts); those of [`Self::walk`] and of the mount
    /// itself.
    pub fn mount(&mut self, path: &[u8], mount: Arc<dyn Mount>, mode: MountMode) -> Result<(), Errno> {
        let metadata = mount.metadata(b"")?;
        if metadata.kind != EntryKind::Dir {
            return Err(Errno::Notdir);
        }
        if mode == MountMode::ReadWrite && mount.writes() == WriteSupport::None {
            return Err(Errno::Rofs);
        }
        let (parent, name) = self.mount_point(path)?;
        let count = self.mounts.as_deref().map_or(0, |mounts| mounts.list.len());
        let device = u32::try_from(count + 1).ok().filter(|_| count < MOUNTS).ok_or(Errno::Nospc)?;
        let covered = self.node(parent)?.dir()?.entries.get(name.as_bytes());
        let dir = Dir { lower: Some(Box::new(Lower::new([]))), ..Dir::default() };
        let version = self.versions.next();
        let mut node = Node::new(Body::Dir(Arc::new(dir)), &USER, metadata.mode & MODE_BITS, metadata.mtime, version);
        (node.installed, node.device) = (true, device);
        let root = self.table.insert(node).ok_or(Errno::Nospc)?;
        let now = self.node(parent)?.mtime;
        self.insert_entry(parent, name, root, now)?;
        if let Some(covered) = covered {
            self.detach_dir(parent, covered, now)?;
        }
        let above = self.node_mut(parent)?;
        above.nlink = above.nlink.saturating_add(1);
        self.mounts.get_or_insert_default().add(MountEntry { mount, mode, root });
        Ok(())
    }

    /// Returns the parent directory in the tree and the name of the mount point.
    fn mount_point(&mut self, path: &[u8]) -> Result<(Ino, crate::fs::name::Name), Errno> {
        let mut dir = self.root;
        let ends = path.iter().enumerate().filter(|&(_, &byte)| byte == b'/').map(|(end, _)| end).chain([path.len()]);
        let mut location = None;
        for above in ends.filter_map(|end| path.get(..end)) {
            if above.iter().all(|&byte| byte == b'/') || above.ends_with(b"/") {
                continue;
            }
            let place = self.walk_to_parent(&HOST, PathStart::from(self.root), above, FollowMode::Follow)?;
            dir = match place.node {
                Some(ino) if self.is_dir(ino)? => self.copy_up_dir(ino)?,
                Some(_) => return Err(Errno::Notdir),
                None => {
                    let mut missing = place.into_entry(|_| Errno::Noent)?;
                    match self.dir_owner(missing.dir)? {
                        super::lookup::DirOwner::Mounted => return Err(Errno::Rofs),
                        super::lookup::DirOwner::CopyOnWrite => missing.dir = self.copy_up_dir(missing.dir)?,
                        super::lookup::DirOwner::Sandbox => {}
                    }
                    self.install_dir_at(missing)?
                }
            };
            location = Some(dir);
        }
        let dir = location.filter(|_| dir != self.root && self.proc != Some(dir)).ok_or(Errno::Busy)?;
        if self.is_mount_root(dir) {
            return Err(Errno::Busy);
        }
        let node = self.node(dir)?;
        let own = node.dir()?;
        if own.lower.is_none() && !own.entries.is_empty() {
            return Err(Errno::Notempty);
        }
        Ok((node.parent, node.name.clone()))
    }
}
