//! Changes that the mounted file system carries out: names and attributes.

use super::join;
use super::look::Object;
use super::port::{EntryKind, MountMode};
use crate::errno::Errno;
use crate::fs::walk::Spot;
use crate::fs::{Fs, Ino};

/// What a guest may set of another's file: set-user-ID and its like mean more outside than inside.
const PERMISSIONS: u32 = 0o777;

impl Fs {
    /// `ROFS` where nothing can be changed.
    pub(in crate::fs) fn check_writable(&self, device: u32) -> Result<(), Errno> {
        match self.mounted(device)?.mode {
            MountMode::ReadOnly => Err(Errno::Rofs),
            MountMode::ReadWrite | MountMode::CopyOnWrite => Ok(()),
        }
    }

    /// The directory in whose mount a name is given or taken, and the path of the name there.
    fn outside(&self, spot: &Spot) -> Result<(Object, Vec<u8>), Errno> {
        let dir = self.object(spot.dir)?;
        self.check_writable(dir.device)?;
        if dir.gone {
            return Err(Errno::Noent);
        }
        let path = join(&dir.path, spot.name.as_bytes());
        Ok((dir, path))
    }

    /// Makes something in a mount, and finds it.
    fn make_outside(
        &mut self,
        spot: &Spot,
        kind: EntryKind,
        make: impl FnOnce(&Object, &[u8]) -> Result<(), Errno>,
    ) -> Result<Ino, Errno> {
        let (dir, path) = self.outside(spot)?;
        make(&dir, &path)?;
        self.relist(spot.dir, spot.name.as_bytes(), Some(kind));
        self.look_below(spot.dir, spot.name.as_bytes())?.ok_or(Errno::Io)
    }

    pub(in crate::fs) fn create_outside(&mut self, spot: &Spot, mode: u32) -> Result<Ino, Errno> {
        let make = |dir: &Object, path: &[u8]| dir.mounted.mount.create(path, mode & PERMISSIONS);
        self.make_outside(spot, EntryKind::File, make)
    }

    pub(in crate::fs) fn mkdir_outside(&mut self, spot: &Spot, mode: u32) -> Result<Ino, Errno> {
        let make = |dir: &Object, path: &[u8]| dir.mounted.mount.create_dir(path, mode & PERMISSIONS);
        self.make_outside(spot, EntryKind::Dir, make)
    }

    pub(in crate::fs) fn symlink_outside(&mut self, spot: &Spot, target: &[u8]) -> Result<Ino, Errno> {
        let make = |dir: &Object, path: &[u8]| dir.mounted.mount.symlink(target, path);
        self.make_outside(spot, EntryKind::Symlink, make)
    }

    pub(in crate::fs) fn link_outside(&mut self, spot: &Spot, existing: Ino) -> Result<(), Errno> {
        let existing = self.object(existing)?;
        match existing.kind {
            _ if existing.gone => return Err(Errno::Noent),
            EntryKind::Dir => return Err(Errno::Perm),
            // A link that is right in its own directory may lead out from another.
            EntryKind::Symlink => return Err(Errno::Notsup),
            EntryKind::File => {}
        }
        let make = |dir: &Object, path: &[u8]| dir.mounted.mount.hard_link(&existing.path, path);
        self.make_outside(spot, EntryKind::File, make).map(drop)
    }

    /// Takes the name of a file, a link or an empty directory.
    pub(in crate::fs) fn remove_outside(&mut self, spot: &Spot, ino: Ino) -> Result<(), Errno> {
        let (dir, path) = self.outside(spot)?;
        // A directory of the tree is here only because something is mounted in it.
        if self.table.get(ino).is_some() {
            return Err(Errno::Busy);
        }
        let object = self.object(ino)?;
        if self.holds.contains_key(&ino) && object.kind == EntryKind::File {
            self.keep_open(&object);
        }
        match object.kind {
            EntryKind::Dir => dir.mounted.mount.remove_dir(&path)?,
            EntryKind::File | EntryKind::Symlink => dir.mounted.mount.remove_file(&path)?,
        }
        self.relist(spot.dir, spot.name.as_bytes(), None);
        self.lose(ino);
        Ok(())
    }

    pub(in crate::fs) fn rename_outside(&mut self, ino: Ino, old: &Spot, new: &Spot) -> Result<(), Errno> {
        let ((from_dir, from), (_, to)) = (self.outside(old)?, self.outside(new)?);
        let pinned = |ino: Ino| self.table.get(ino).is_some();
        if pinned(ino) || new.node.is_some_and(pinned) {
            return Err(Errno::Busy);
        }
        let object = self.object(ino)?;
        // What is written under the old name has to be stored before the name is another's.
        self.flush(ino)?;
        if let Some(replaced) = new.node
            && self.holds.contains_key(&replaced)
            && let Ok(replaced) = self.object(replaced)
            && replaced.kind == EntryKind::File
        {
            self.keep_open(&replaced);
        }
        from_dir.mounted.mount.rename(&from, &to)?;
        if let Some(replaced) = new.node {
            self.lose(replaced);
        }
        self.relist(old.dir, old.name.as_bytes(), None);
        self.relist(new.dir, new.name.as_bytes(), Some(object.kind));
        if let Some(found) = self.found_mut() {
            let parent = found.shown(new.dir);
            found.rename(ino, parent, &new.name);
        }
        Ok(())
    }

    pub(in crate::fs) fn chmod_outside(&mut self, object: &Object, mode: u32) -> Result<(), Errno> {
        if object.gone {
            return Err(Errno::Notsup);
        }
        object.mounted.mount.set_mode(&object.path, mode & PERMISSIONS)?;
        self.forget_metadata(object.ino);
        if let Some(node) = self.table.get_mut(object.ino) {
            node.mode = mode & PERMISSIONS;
        }
        Ok(())
    }

    pub(in crate::fs) fn set_times_outside(
        &mut self,
        object: &Object,
        atime: Option<u64>,
        mtime: Option<u64>,
    ) -> Result<(), Errno> {
        if object.gone {
            return Err(Errno::Notsup);
        }
        // Storing it later would set the time anew.
        self.flush(object.ino)?;
        object.mounted.mount.set_times(&object.path, atime, mtime)?;
        self.forget_metadata(object.ino);
        Ok(())
    }

    fn forget_metadata(&mut self, ino: Ino) {
        if let Some(entry) = self.found_mut().and_then(|found| found.entries.get_mut(&ino)) {
            entry.metadata = None;
        }
    }

    fn relist(&mut self, dir: Ino, name: &[u8], kind: Option<EntryKind>) {
        if let Some(found) = self.found_mut() {
            let dir = found.shown(dir);
            found.relist(dir, name, kind);
        }
    }

    /// What a symbolic link of a mount holds.
    pub(in crate::fs) fn mounted_readlink(&self, ino: Ino) -> Result<Vec<u8>, Errno> {
        let object = self.object(ino)?;
        match object.kind {
            EntryKind::Symlink if !object.gone => object.mounted.mount.read_link(&object.path),
            EntryKind::Symlink => Err(Errno::Stale),
            EntryKind::File | EntryKind::Dir => Err(Errno::Inval),
        }
    }
}
