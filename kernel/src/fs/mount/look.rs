//! Looking at what is mounted: names, attributes and ways up.

use std::sync::Arc;

use super::found::Found;
use super::port::{EntryKind, Metadata};
use super::{MountMode, Mounted, Mounts, join};
use crate::errno::Errno;
use crate::fs::node::{Dir, MODE_BITS, Node, allowed};
use crate::fs::{Cred, Fs, Ino, Stat};
use crate::kernel::USER;

/// `st_size` of a directory, as for the sandbox's own.
const DIR_SIZE: u64 = 4096;

/// An object of a mount, or a directory of the tree that shows one.
#[derive(Debug)]
pub(in crate::fs) struct Object {
    pub(super) ino: Ino,
    pub(super) device: u32,
    pub(super) mounted: Mounted,
    /// Its path in the mount.
    pub(super) path: Vec<u8>,
    pub(super) kind: EntryKind,
    /// It has no name any more; only what is open of it can be used.
    pub(super) gone: bool,
}

/// In whose charge the names of a directory are.
#[derive(Debug)]
pub(in crate::fs) enum Charge {
    /// The sandbox's own tree.
    Own,
    /// The sandbox's, on top of a mount.
    CopyOnWrite,
    /// The mounted file system's.
    Mounted,
}

impl Fs {
    /// The inode of the tree that stands for an object, where there is one. Every public call begins with it.
    #[inline]
    pub(in crate::fs) fn own(&self, ino: Ino) -> Ino {
        if ino.is_foreign() { self.found().map_or(ino, |found| found.own(ino, &self.table)) } else { ino }
    }

    /// The number by which programs know an inode of the tree.
    pub(in crate::fs) fn shown(&self, ino: Ino) -> Ino {
        self.found().map_or(ino, |found| found.shown(ino))
    }

    pub(super) fn found(&self) -> Option<std::sync::MutexGuard<'_, Found>> {
        Some(self.mounts.as_deref()?.found())
    }

    pub(super) fn found_mut(&mut self) -> Option<&mut Found> {
        Some(self.mounts.as_deref_mut()?.found_mut())
    }

    pub(super) fn mounted(&self, device: u32) -> Result<&Mounted, Errno> {
        self.mounts.as_deref().and_then(|mounts| mounts.get(device)).ok_or(Errno::Stale)
    }

    /// Whether an object of a mount has this number.
    pub(in crate::fs) fn is_found(&self, ino: Ino) -> bool {
        ino.is_foreign() && self.found().is_some_and(|found| found.entries.contains_key(&ino))
    }

    /// What a number of [`Ino::foreign`] stands for, or a directory of the tree with a mounted one below it.
    pub(super) fn object(&self, ino: Ino) -> Result<Object, Errno> {
        let mounts = self.mounts.as_deref().ok_or(Errno::Stale)?;
        if let Some(node) = self.table.get(ino) {
            let path = node.dir()?.lower.as_ref().ok_or(Errno::Stale)?.path.to_vec();
            let (device, mounted) = (node.device, self.mounted(node.device)?.clone());
            return Ok(Object { ino, device, mounted, path, kind: EntryKind::Dir, gone: node.nlink == 0 });
        }
        let mut found = mounts.found();
        found.touch(ino);
        let entry = found.entries.get(&ino).ok_or(Errno::Stale)?;
        let (device, kind, gone) = (entry.device, entry.kind, entry.gone);
        let path = if gone { Vec::new() } else { self.path_in_mount(&found, ino)? };
        drop(found);
        Ok(Object { ino, device, mounted: self.mounted(device)?.clone(), path, kind, gone })
    }

    fn path_in_mount(&self, found: &Found, ino: Ino) -> Result<Vec<u8>, Errno> {
        let mut names = Vec::new();
        let mut at = ino;
        loop {
            if let Some(node) = self.table.get(at) {
                let lower = node.dir()?.lower.as_ref().ok_or(Errno::Stale)?;
                let names = names.iter().rev().copied();
                return Ok(names.fold(lower.path.to_vec(), |path, name| join(&path, name)));
            }
            let entry = found.entries.get(&at).filter(|entry| !entry.gone).ok_or(Errno::Stale)?;
            names.push(entry.name.as_bytes());
            at = found.own(entry.parent, &self.table);
        }
    }

    /// What a directory has under a name, below what the tree itself has there.
    pub(in crate::fs) fn look_below(&self, dir: Ino, name: &[u8]) -> Result<Option<Ino>, Errno> {
        let lower = self.table.get(dir).map(|node| node.dir().map(|dir| dir.lower.as_deref())).transpose()?;
        match lower {
            Some(None) => return Ok(None),
            Some(Some(lower)) if lower.hidden.contains(name) => return Ok(None),
            Some(Some(_)) | None => {}
        }
        let object = self.object(dir)?;
        if object.gone {
            return Ok(None);
        }
        let metadata = match object.mounted.mount.metadata(&join(&object.path, name)) {
            Ok(metadata) => Some(metadata),
            Err(Errno::Noent | Errno::Notdir) => None,
            Err(errno) => return Err(errno),
        };
        let Some(mut found) = self.found() else { return Err(Errno::Stale) };
        let dir = found.shown(dir);
        Ok(match metadata {
            Some(metadata) => {
                found.trim(|ino| self.holds.contains_key(&ino));
                Some(found.number(object.device, dir, name, metadata.kind, Some(metadata)))
            }
            None => {
                if let Some(ino) = found.known(dir, name) {
                    found.detach(ino);
                    if !self.holds.contains_key(&ino) {
                        found.close(ino);
                    }
                }
                None
            }
        })
    }

    /// What an object is, without asking the mount.
    pub(in crate::fs) fn found_kind(&self, ino: Ino) -> Result<EntryKind, Errno> {
        let found = self.found().ok_or(Errno::Stale)?;
        found.entries.get(&ino).map(|entry| entry.kind).ok_or(Errno::Stale)
    }

    /// Whether an inode or an object is a directory.
    pub(in crate::fs) fn is_dir(&self, ino: Ino) -> Result<bool, Errno> {
        match self.table.get(ino) {
            Some(node) => Ok(node.is_dir()),
            None => Ok(self.found_kind(ino)? == EntryKind::Dir),
        }
    }

    /// Whether a walk may go through an object, by what is known of it.
    pub(in crate::fs) fn may_enter(&self, cred: &Cred, ino: Ino) -> Result<(), Errno> {
        let known = self.found().and_then(|found| found.entries.get(&ino).map(|entry| (entry.kind, entry.metadata)));
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

    /// The directory that holds an object; for a directory of the tree `None`.
    pub(in crate::fs) fn found_parent(&self, ino: Ino) -> Option<Ino> {
        let found = self.found()?;
        let parent = found.entries.get(&ino)?.parent;
        Some(found.own(parent, &self.table))
    }

    /// The directory that holds an object, and its name there; `None` when it has none.
    pub(in crate::fs) fn found_place(&self, ino: Ino) -> Option<(Ino, Vec<u8>)> {
        let found = self.found()?;
        let entry = found.entries.get(&ino).filter(|entry| !entry.gone)?;
        Some((found.own(entry.parent, &self.table), entry.name.as_bytes().to_vec()))
    }

    /// What an object is now. `STALE` when it was replaced by another kind of thing, or is gone.
    pub(super) fn metadata_of(&self, object: &Object) -> Result<Metadata, Errno> {
        let found = |fs: &Self| fs.found().and_then(|found| found.entries.get(&object.ino)?.metadata);
        let open = self.found().and_then(|found| {
            let entry = found.entries.get(&object.ino)?;
            entry.reader.clone().or_else(|| entry.writer.clone())
        });
        let mut metadata = match open {
            Some(open) => open.metadata()?,
            None if object.gone => found(self).ok_or(Errno::Stale)?,
            None => object.mounted.mount.metadata(&object.path).map_err(|errno| match errno {
                Errno::Noent | Errno::Notdir => Errno::Stale,
                other => other,
            })?,
        };
        if metadata.kind != object.kind {
            return Err(Errno::Stale);
        }
        if let Some(mut found) = self.found()
            && let Some(entry) = found.entries.get_mut(&object.ino)
        {
            entry.metadata = Some(metadata);
            if let Some(buffer) = &entry.buffer {
                metadata.size = buffer.content.len();
            }
        }
        Ok(metadata)
    }

    /// `stat` of what is mounted, and of what the sandbox keeps on top of a mount.
    #[cold]
    pub(in crate::fs) fn mounted_stat(&self, ino: Ino) -> Result<Stat, Errno> {
        let ino = self.own(ino);
        if let Some(node) = self.table.get(ino) {
            let mut stat = node.stat(self.shown(ino));
            let passes = matches!(self.charge(ino)?, Charge::Mounted);
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
                // Outside it may have other names.
                EntryKind::File if object.gone && object.mounted.mode != MountMode::CopyOnWrite => metadata.nlink,
                _ if object.gone => 0,
                EntryKind::Dir => 1,
                EntryKind::File | EntryKind::Symlink => metadata.nlink.max(1),
            },
            size: if metadata.kind == EntryKind::Dir { DIR_SIZE } else { metadata.size },
            atime: metadata.atime,
            mtime: metadata.mtime,
            ctime: metadata.ctime,
        })
    }

    /// `access` of the same.
    #[cold]
    pub(in crate::fs) fn mounted_access(&self, cred: &Cred, ino: Ino, want: u32) -> Result<(), Errno> {
        let stat = self.mounted_stat(ino)?;
        if want & 2 != 0 && self.mounted(stat.device)?.mode == MountMode::ReadOnly {
            return Err(Errno::Rofs);
        }
        if allowed(stat.mode, stat.uid, stat.gid, cred, want) { Ok(()) } else { Err(Errno::Acces) }
    }

    /// In whose charge the names of a directory are.
    pub(in crate::fs) fn charge(&self, dir: Ino) -> Result<Charge, Errno> {
        let device = self.device(dir)?;
        if device == 0 {
            return Ok(Charge::Own);
        }
        Ok(match self.mounted(device)?.mode {
            MountMode::CopyOnWrite => Charge::CopyOnWrite,
            MountMode::ReadOnly | MountMode::ReadWrite => Charge::Mounted,
        })
    }

    /// Whether a name can lead from one directory to what is in the other. Only the mounted file systems themselves keep to
    /// themselves; what lies on top of a copy-on-write mount is the tree's, and moves in it like everything else.
    pub(in crate::fs) fn check_border(&self, one: Ino, two: Ino) -> Result<(), Errno> {
        let keeps = |dir: Ino| Ok::<_, Errno>(matches!(self.charge(dir)?, Charge::Mounted));
        if self.device(one)? != self.device(two)? && (keeps(one)? || keeps(two)?) { Err(Errno::Xdev) } else { Ok(()) }
    }

    /// The mount in which an inode or an object lies.
    pub(in crate::fs) fn device(&self, ino: Ino) -> Result<u32, Errno> {
        match self.table.get(ino) {
            Some(node) => Ok(node.device),
            None => {
                self.found().and_then(|found| found.entries.get(&ino).map(|entry| entry.device)).ok_or(Errno::Stale)
            }
        }
    }

    /// Whether what is in a directory belongs to a mounted file system and not to the sandbox: it lies in a mount that is
    /// read-only or written through. Exports leave it out.
    #[must_use]
    pub fn is_outside(&self, dir: Ino) -> bool {
        matches!(self.charge(self.own(dir)), Ok(Charge::Mounted))
    }

    /// Whether a directory of the tree is where something is mounted.
    #[must_use]
    pub fn is_mount_point(&self, dir: Ino) -> bool {
        self.is_mount_root(self.own(dir))
    }

    /// The same of a number that is the tree's own.
    pub(in crate::fs) fn is_mount_root(&self, ino: Ino) -> bool {
        let root = self.table.get(ino).and_then(|node| lower(node)).is_some_and(|lower| lower.path.is_empty());
        root && self.mounts.is_some()
    }

    /// How many objects of mounts have a number.
    #[cfg(test)]
    pub(in crate::fs) fn remembered(&self) -> usize {
        self.found().map_or(0, |found| found.entries.len())
    }

    /// Where file systems are mounted, in the order of the mounting, and how.
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
    pub(super) fn add(&mut self, mounted: Mounted) {
        Arc::make_mut(&mut self.list).push(mounted);
    }
}
