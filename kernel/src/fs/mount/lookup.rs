//! Lookup in mounted file systems: names, metadata and parent directories.

use std::sync::Arc;

use super::api::{EntryKind, Metadata};
use super::objects::ObjectTable;
use super::{MountEntry, MountMode, Mounts, join};
use crate::errno::Errno;
use crate::fs::node::{Dir, MODE_BITS, Node, allowed};
use crate::fs::{Cred, Fs, Ino, Stat};
use crate::kernel::USER;

/// `st_size` of a directory, as for the sandbox's own.
const DIR_SIZE: u64 = 4096;

/// An object of a mount, or a directory of the tree with a mounted lower directory.
#[derive(Debug)]
pub(in crate::fs) struct MountObject {
    pub(super) ino: Ino,
    pub(super) device: u32,
    pub(super) mounted: MountEntry,
    /// Its path in the mount.
    pub(super) path: Vec<u8>,
    pub(super) kind: EntryKind,
    /// It has no name any more; only its open files can be used.
    pub(super) unlinked: bool,
}

/// The component that stores the names of a directory.
#[derive(Debug)]
pub(in crate::fs) enum DirOwner {
    /// The sandbox's own tree.
    Sandbox,
    /// The sandbox, on top of a mount.
    CopyOnWrite,
    /// The mounted file system.
    Mounted,
}

impl Fs {
    /// Returns the upper inode of an object, if it has one. Every public call starts with it.
    #[inline]
    pub(in crate::fs) fn upper_ino(&self, ino: Ino) -> Ino {
        if ino.is_mount_object() {
            self.objects().map_or(ino, |found| found.upper_or_self(ino, &self.table))
        } else {
            ino
        }
    }

    /// Returns the number that guests see for an inode of the tree.
    pub(in crate::fs) fn guest_ino(&self, ino: Ino) -> Ino {
        self.objects().map_or(ino, |found| found.lower_of(ino))
    }

    pub(super) fn objects(&self) -> Option<std::sync::MutexGuard<'_, ObjectTable>> {
        Some(self.mounts.as_deref()?.objects())
    }

    pub(super) fn objects_mut(&mut self) -> Option<&mut ObjectTable> {
        Some(self.mounts.as_deref_mut()?.objects_mut())
    }

    pub(super) fn mounted(&self, device: u32) -> Result<&MountEntry, Errno> {
        self.mounts.as_deref().and_then(|mounts| mounts.get(device)).ok_or(Errno::Stale)
    }

    /// Returns whether a mount object has this number.
    pub(in crate::fs) fn is_known_object(&self, ino: Ino) -> bool {
        ino.is_mount_object() && self.objects().is_some_and(|found| found.entries.contains_key(&ino))
    }

    /// Returns the object of a [`Ino::mount_object`] number, or of a directory of the tree with a mounted lower directory.
    pub(super) fn object(&self, ino: Ino) -> Result<MountObject, Errno> {
        let mounts = self.mounts.as_deref().ok_or(Errno::Stale)?;
        if let Some(node) = self.table.get(ino) {
            let path = node.dir()?.lower.as_ref().ok_or(Errno::Stale)?.path.to_vec();
            let (device, mounted) = (node.device, self.mounted(node.device)?.clone());
            return Ok(MountObject { ino, device, mounted, path, kind: EntryKind::Dir, unlinked: node.nlink == 0 });
        }
        let mut found = mounts.objects();
        found.touch(ino);
        let entry = found.entries.get(&ino).ok_or(Errno::Stale)?;
        let (device, kind, unlinked) = (entry.device, entry.kind, entry.unlinked);
        let path = if unlinked { Vec::new() } else { self.path_in_mount(&found, ino)? };
        drop(found);
        Ok(MountObject { ino, device, mounted: self.mounted(device)?.clone(), path, kind, unlinked })
    }

    fn path_in_mount(&self, found: &ObjectTable, ino: Ino) -> Result<Vec<u8>, Errno> {
        let mut names = Vec::new();
        let mut at = ino;
        loop {
            if let Some(node) = self.table.get(at) {
                let lower = node.dir()?.lower.as_ref().ok_or(Errno::Stale)?;
                let names = names.iter().rev().copied();
                return Ok(names.fold(lower.path.to_vec(), |path, name| join(&path, name)));
            }
            let entry = found.entries.get(&at).filter(|entry| !entry.unlinked).ok_or(Errno::Stale)?;
            names.push(entry.name.as_bytes());
            at = found.upper_or_self(entry.parent, &self.table);
        }
    }

    /// Looks up a name in the lower directory, after the tree itself has no entry.
    pub(in crate::fs) fn lookup_lower(&self, dir: Ino, name: &[u8]) -> Result<Option<Ino>, Errno> {
        let lower = self.table.get(dir).map(|node| node.dir().map(|dir| dir.lower.as_deref())).transpose()?;
        match lower {
            Some(None) => return Ok(None),
            Some(Some(lower)) if lower.whiteouts.contains(name) => return Ok(None),
            Some(Some(_)) | None => {}
        }
        let object = self.object(dir)?;
        if object.unlinked {
            return Ok(None);
        }
        let metadata = match object.mounted.mount.metadata(&join(&object.path, name)) {
            Ok(metadata) => Some(metadata),
            Err(Errno::Noent | Errno::Notdir) => None,
            Err(errno) => return Err(errno),
        };
        let Some(mut found) = self.objects() else { return Err(Errno::Stale) };
        let dir = found.lower_of(dir);
        Ok(match metadata {
            Some(metadata) => {
                found.evict(|ino| self.hold_counts.contains_key(&ino));
                Some(found.get_or_insert(object.device, dir, name, metadata.kind, Some(metadata)))
            }
            None => {
                if let Some(ino) = found.get(dir, name) {
                    found.unlink(ino);
                    if !self.hold_counts.contains_key(&ino) {
                        found.close(ino);
                    }
                }
                None
            }
        })
    }

    /// Returns the kind of an object without a call to the mount.
    pub(in crate::fs) fn object_kind(&self, ino: Ino) -> Result<EntryKind, Errno> {
        let found = self.objects().ok_or(Errno::Stale)?;
        found.entries.get(&ino).map(|entry| entry.kind).ok_or(Errno::Stale)
    }

    /// Returns whether an inode or an object is a directory.
    pub(in crate::fs) fn is_dir(&self, ino: Ino) -> Result<bool, Errno> {
        match self.table.get(ino) {
            Some(node) => Ok(node.is_dir()),
            None => Ok(self.object_kind(ino)? == EntryKind::Dir),
        }
    }

    /// Checks search permission on an object, based on its cached metadata.
    pub(in crate::fs) fn check_search(&self, cred: &Cred, ino: Ino) -> Result<(), Errno> {
        let known = self.objects().and_then(|found| found.entries.get(&ino).map(|entry| (entry.kind, entry.metadata)));
        let (kind, metadata) = known.ok_or(Errno::Stale)?;
        if kind != EntryKind::Dir {
            return Err(Errno::Notdir);
        }
        let mode = match metadata {
            Some(metadata) => metadata.mode,
            None => self.metadata_of(&self.object(ino)?)?.mode,
        };
        if allowed(mode, USER.uid, USER.gid, cred, 1) { Ok(()) } else { Err(Errno::Acces) }
    }

    /// Returns the parent directory of an object; `None` for a directory of the tree.
    pub(in crate::fs) fn object_parent(&self, ino: Ino) -> Option<Ino> {
        let found = self.objects()?;
        let parent = found.entries.get(&ino)?.parent;
        Some(found.upper_or_self(parent, &self.table))
    }

    /// Returns the parent directory and the name of an object; `None` if it was unlinked.
    pub(in crate::fs) fn object_location(&self, ino: Ino) -> Option<(Ino, Vec<u8>)> {
        let found = self.objects()?;
        let entry = found.entries.get(&ino).filter(|entry| !entry.unlinked)?;
        Some((found.upper_or_self(entry.parent, &self.table), entry.name.as_bytes().to_vec()))
    }

    /// Returns the current metadata of an object. `STALE` if it was removed or replaced by an object of another kind.
    pub(super) fn metadata_of(&self, object: &MountObject) -> Result<Metadata, Errno> {
        let found = |fs: &Self| fs.objects().and_then(|found| found.entries.get(&object.ino)?.metadata);
        let open = self.objects().and_then(|found| {
            let entry = found.entries.get(&object.ino)?;
            entry.reader.clone().or_else(|| entry.writer.clone())
        });
        let mut metadata = match open {
            Some(open) => open.metadata()?,
            None if object.unlinked => found(self).ok_or(Errno::Stale)?,
            None => object.mounted.mount.metadata(&object.path).map_err(|errno| match errno {
                Errno::Noent | Errno::Notdir => Errno::Stale,
                other => other,
            })?,
        };
        if metadata.kind != object.kind {
            return Err(Errno::Stale);
        }
        if let Some(mut found) = self.objects()
            && let Some(entry) = found.entries.get_mut(&object.ino)
        {
            entry.metadata = Some(metadata);
            if let Some(buffer) = &entry.buffer {
                metadata.size = buffer.content.len();
            }
        }
        Ok(metadata)
    }

    /// `stat` of mounted objects and of upper inodes in a mount.
    #[cold]
    pub(in crate::fs) fn mounted_stat(&self, ino: Ino) -> Result<Stat, Errno> {
        let ino = self.upper_ino(ino);
        if let Some(node) = self.table.get(ino) {
            let mut stat = node.stat(self.guest_ino(ino));
            let passes = matches!(self.dir_owner(ino)?, DirOwner::Mounted);
            if passes && let Ok(metadata) = self.object(ino).and_then(|object| self.metadata_of(&object)) {
                (stat.mode, stat.atime) = (metadata.mode & MODE_BITS, metadata.atime);
                (stat.mtime, stat.ctime) = (metadata.mtime, metadata.ctime);
            }
            if node.is_dir() && node.nlink > 0 && lower(node).is_some() {
                stat.nlink = 1;
            }
            return Ok(stat);
        }
        let object = self.object(ino)?;
        let metadata = self.metadata_of(&object)?;
        Ok(Stat {
            ino,
            device: object.device,
            kind: metadata.kind.into(),
            mode: metadata.mode & MODE_BITS,
            uid: USER.uid,
            gid: USER.gid,
            nlink: match metadata.kind {
                // The host file may have other names.
                EntryKind::File if object.unlinked && object.mounted.mode != MountMode::CopyOnWrite => metadata.nlink,
                _ if object.unlinked => 0,
                EntryKind::Dir => 1,
                EntryKind::File | EntryKind::Symlink => metadata.nlink.max(1),
            },
            size: if metadata.kind == EntryKind::Dir { DIR_SIZE } else { metadata.size },
            atime: metadata.atime,
            mtime: metadata.mtime,
            ctime: metadata.ctime,
        })
    }

    /// `access` of the same objects.
    #[cold]
    pub(in crate::fs) fn mounted_access(&self, cred: &Cred, ino: Ino, want: u32) -> Result<(), Errno> {
        let stat = self.mounted_stat(ino)?;
        if want & 2 != 0 && self.mounted(stat.device)?.mode == MountMode::ReadOnly {
            return Err(Errno::Rofs);
        }
        if allowed(stat.mode, stat.uid, stat.gid, cred, want) { Ok(()) } else { Err(Errno::Acces) }
    }

    /// Returns the component that stores the names of a directory.
    pub(in crate::fs) fn dir_owner(&self, dir: Ino) -> Result<DirOwner, Errno> {
        let device = self.device(dir)?;
        if device == 0 {
            return Ok(DirOwner::Sandbox);
        }
        Ok(match self.mounted(device)?.mode {
            MountMode::CopyOnWrite => DirOwner::CopyOnWrite,
            MountMode::ReadOnly | MountMode::ReadWrite => DirOwner::Mounted,
        })
    }

    /// Checks that a name can be moved or linked between two directories. Only mounted file systems are separate devices; upper
    /// inodes of a copy-on-write mount belong to the tree and move freely within it.
    pub(in crate::fs) fn check_same_device(&self, one: Ino, two: Ino) -> Result<(), Errno> {
        let keeps = |dir: Ino| Ok::<_, Errno>(matches!(self.dir_owner(dir)?, DirOwner::Mounted));
        if self.device(one)? != self.device(two)? && (keeps(one)? || keeps(two)?) { Err(Errno::Xdev) } else { Ok(()) }
    }

    /// Returns the mount that contains an inode or an object.
    pub(in crate::fs) fn device(&self, ino: Ino) -> Result<u32, Errno> {
        match self.table.get(ino) {
            Some(node) => Ok(node.device),
            None => {
                self.objects().and_then(|found| found.entries.get(&ino).map(|entry| entry.device)).ok_or(Errno::Stale)
            }
        }
    }

    /// Returns whether the entries of a directory belong to a mounted file system and not to the sandbox: it lies in a mount that
    /// is read-only or read-write. Exports skip it.
    #[must_use]
    pub fn is_in_mount(&self, dir: Ino) -> bool {
        matches!(self.dir_owner(self.upper_ino(dir)), Ok(DirOwner::Mounted))
    }

    /// Returns whether a directory of the tree is a mount point.
    #[must_use]
    pub fn is_mount_point(&self, dir: Ino) -> bool {
        self.is_mount_root(self.upper_ino(dir))
    }

    /// Like [`Self::is_mount_point`], for a number of the tree.
    pub(in crate::fs) fn is_mount_root(&self, ino: Ino) -> bool {
        let root = self.table.get(ino).and_then(|node| lower(node)).is_some_and(|lower| lower.path.is_empty());
        root && self.mounts.is_some()
    }

    /// Returns the number of mount objects in the table.
    #[cfg(test)]
    pub(in crate::fs) fn object_count(&self) -> usize {
        self.objects().map_or(0, |found| found.entries.len())
    }

    /// Returns the mount points and their modes, in mount order.
    #[must_use]
    pub fn mounts(&self) -> Vec<(Vec<u8>, MountMode)> {
        let Some(mounts) = self.mounts.as_deref() else { return Vec::new() };
        let path = |root: &Ino| self.path_of(*root);
        mounts.list.iter().filter_map(|mounted| Some((path(&mounted.root)?, mounted.mode))).collect()
    }
}

fn lower(node: &Node) -> Option<&super::Lower> {
    node.dir().ok().and_then(|dir: &Dir| dir.lower.as_deref())
}

impl Mounts {
    pub(super) fn add(&mut self, mounted: MountEntry) {
        Arc::make_mut(&mut self.list).push(mounted);
    }
}
