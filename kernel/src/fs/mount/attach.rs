//! Mounting.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::port::{EntryKind, Mount, MountMode, Writes};
use super::{Lower, Mounted, Mounts};
use crate::errno::Errno;
use crate::fs::node::{Body, Dir, MODE_BITS, Node};
use crate::fs::walk::Final;
use crate::fs::{At, Cred, Fs, Ino};
use crate::kernel::USER;

/// Mounts of one file system. Far beyond use; it bounds what each walk could meet.
const MOUNTS: usize = 1024;

const HOST: Cred = Cred { uid: 0, gid: 0 };

impl Fs {
    /// An inode of the tree was freed that may have stood for an object of a mount.
    pub(in crate::fs) fn freed(&mut self, ino: Ino) {
        if let Some(found) = self.found_mut() {
            found.freed(ino);
        }
    }

    /// Goes back to the mounts of a snapshot. What is open stays usable as long as they are the same.
    pub(in crate::fs) fn restore_mounts(&mut self, list: &Arc<Vec<Mounted>>) {
        match &mut self.mounts {
            Some(mounts) if !list.is_empty() => {
                mounts.list = Arc::clone(list);
                mounts.found_mut().rolled_back(&self.table);
            }
            mounts => *mounts = Mounts::of(list),
        }
    }

    /// Shows a file system at a directory, which is made where it is missing, with those above it. It may lie in another
    /// mount. What was in the directory is hidden; of the sandbox's own tree it must be nothing.
    ///
    /// # Errors
    /// `BUSY` (`/`, `/proc`, or a directory at which something is mounted), `NOTEMPTY`, `NOTDIR` (the path leads to
    /// something else, or the mount's root is no directory), `ROFS` ([`MountMode::ReadWrite`] of what cannot be written,
    /// or a directory is missing in a mount that cannot be changed), `NOSPC` (more than a thousand mounts); those of
    /// [`Self::walk`] and of the mount itself.
    pub fn mount(&mut self, path: &[u8], mount: Arc<dyn Mount>, mode: MountMode) -> Result<(), Errno> {
        let metadata = mount.metadata(b"")?;
        if metadata.kind != EntryKind::Dir {
            return Err(Errno::Notdir);
        }
        if mode == MountMode::ReadWrite && mount.writes() == Writes::Never {
            return Err(Errno::Rofs);
        }
        let (parent, name) = self.mount_point(path)?;
        let count = self.mounts.as_deref().map_or(0, |mounts| mounts.list.len());
        let device = u32::try_from(count + 1).ok().filter(|_| count < MOUNTS).ok_or(Errno::Nospc)?;
        let covered = self.node(parent)?.dir()?.entries.get(name.as_bytes()).copied();
        let lower = Some(Box::new(Lower::new([])));
        let dir = Dir { parent, name: name.clone(), entries: BTreeMap::new(), lower };
        let version = self.versions.next();
        let mut node = Node::new(Body::Dir(Arc::new(dir)), &USER, metadata.mode & MODE_BITS, metadata.mtime, version);
        (node.installed, node.device) = (true, device);
        let root = self.table.insert(node).ok_or(Errno::Nospc)?;
        let now = self.node(parent)?.mtime;
        self.enlist(parent, name, root, now)?;
        if let Some(covered) = covered {
            self.drop_dir(parent, covered, now)?;
        }
        let above = self.node_mut(parent)?;
        above.nlink = above.nlink.saturating_add(1);
        self.mounts.get_or_insert_default().add(Mounted { mount, mode, root });
        Ok(())
    }

    /// The directory of the tree, and the name in it, at which to mount.
    fn mount_point(&mut self, path: &[u8]) -> Result<(Ino, crate::fs::name::Name), Errno> {
        let mut dir = self.root;
        let ends = path.iter().enumerate().filter(|&(_, &byte)| byte == b'/').map(|(end, _)| end).chain([path.len()]);
        let mut spot = None;
        for above in ends.filter_map(|end| path.get(..end)) {
            if above.iter().all(|&byte| byte == b'/') || above.ends_with(b"/") {
                continue;
            }
            let place = self.place(&HOST, At::from(self.root), above, Final::Follow)?;
            dir = match place.node {
                Some(ino) if self.is_dir(ino)? => self.raise(ino)?,
                Some(_) => return Err(Errno::Notdir),
                None => {
                    let mut missing = place.named(|_| Errno::Noent)?;
                    match self.charge(missing.dir)? {
                        super::look::Charge::Mounted => return Err(Errno::Rofs),
                        super::look::Charge::CopyOnWrite => missing.dir = self.raise(missing.dir)?,
                        super::look::Charge::Own => {}
                    }
                    self.install_dir_at(missing)?
                }
            };
            spot = Some(dir);
        }
        let dir = spot.filter(|_| dir != self.root && self.proc != Some(dir)).ok_or(Errno::Busy)?;
        if self.is_mount_root(dir) {
            return Err(Errno::Busy);
        }
        let node = self.node(dir)?.dir()?;
        if node.lower.is_none() && !node.entries.is_empty() {
            return Err(Errno::Notempty);
        }
        Ok((node.parent, node.name.clone()))
    }
}
