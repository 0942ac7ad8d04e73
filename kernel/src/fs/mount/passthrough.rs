//! Passthrough: changes of names and attributes that the mounted file system executes.

use super::api::{EntryKind, MountMode};
use super::join;
use super::lookup::MountObject;
use crate::errno::Errno;
use crate::fs::walk::EntryLocation;
use crate::fs::{Fs, Ino};

/// Permission bits that a guest may set. The set-user-ID, set-group-ID and sticky bits would take effect on the host.
const PERMISSIONS: u32 = 0o777;

impl Fs {
    /// Returns `ROFS` if the mount cannot be changed.
    pub(in crate::fs) fn check_writable(&self, device: u32) -> Result<(), Errno> {
        match self.mounted(device)?.mode {
            MountMode::ReadOnly => Err(Errno::Rofs),
            MountMode::ReadWrite | MountMode::CopyOnWrite => Ok(()),
        }
    }

    /// Returns the directory object of a location, and the path of the name in its mount.
    fn mount_target(&self, location: &EntryLocation) -> Result<(MountObject, Vec<u8>), Errno> {
        let dir = self.object(location.dir)?;
        self.check_writable(dir.device)?;
        if dir.unlinked {
            return Err(Errno::Noent);
        }
        let path = join(&dir.path, location.name.as_bytes());
        Ok((dir, path))
    }

    /// Creates an object in a mount with `make`, and looks it up.
    fn create_with(
        &mut self,
        location: &EntryLocation,
        kind: EntryKind,
        make: impl FnOnce(&MountObject, &[u8]) -> Result<(), Errno>,
    ) -> Result<Ino, Errno> {
        let (dir, path) = self.mount_target(location)?;
        make(&dir, &path)?;
        self.relist(location.dir, location.name.as_bytes(), Some(kind));
        self.lookup_lower(location.dir, location.name.as_bytes())?.ok_or(Errno::Io)
    }

    pub(in crate::fs) fn create_in_mount(&mut self, location: &EntryLocation, mode: u32) -> Result<Ino, Errno> {
        let make = |dir: &MountObject, path: &[u8]| dir.mounted.mount.create(path, mode & PERMISSIONS);
        self.create_with(location, EntryKind::File, make)
    }

    pub(in crate::fs) fn mkdir_in_mount(&mut self, location: &EntryLocation, mode: u32) -> Result<Ino, Errno> {
        let make = |dir: &MountObject, path: &[u8]| dir.mounted.mount.create_dir(path, mode & PERMISSIONS);
        self.create_with(location, EntryKind::Dir, make)
    }

    pub(in crate::fs) fn symlink_in_mount(&mut self, location: &EntryLocation, target: &[u8]) -> Result<Ino, Errno> {
        let make = |dir: &MountObject, path: &[u8]| dir.mounted.mount.symlink(target, path);
        self.create_with(location, EntryKind::Symlink, make)
    }

    pub(in crate::fs) fn link_in_mount(&mut self, location: &EntryLocation, existing: Ino) -> Result<(), Errno> {
        let existing = self.object(existing)?;
        match existing.kind {
            _ if existing.unlinked => return Err(Errno::Noent),
            EntryKind::Dir => return Err(Errno::Perm),
            // A link that stays inside the mount from its own directory may lead out from another one.
            EntryKind::Symlink => return Err(Errno::Notsup),
            EntryKind::File => {}
        }
        let make = |dir: &MountObject, path: &[u8]| dir.mounted.mount.hard_link(&existing.path, path);
        self.create_with(location, EntryKind::File, make).map(drop)
    }

    /// Removes a file, a link or an empty directory.
    pub(in crate::fs) fn remove_in_mount(&mut self, location: &EntryLocation, ino: Ino) -> Result<(), Errno> {
        let (dir, path) = self.mount_target(location)?;
        // A directory of the tree exists here only because something is mounted below it.
        if self.table.get(ino).is_some() {
            return Err(Errno::Busy);
        }
        let object = self.object(ino)?;
        if self.hold_counts.contains_key(&ino) && object.kind == EntryKind::File {
            self.keep_open(&object);
        }
        match object.kind {
            EntryKind::Dir => dir.mounted.mount.remove_dir(&path)?,
            EntryKind::File | EntryKind::Symlink => dir.mounted.mount.remove_file(&path)?,
        }
        self.relist(location.dir, location.name.as_bytes(), None);
        self.unlink_object(ino);
        Ok(())
    }

    pub(in crate::fs) fn rename_in_mount(
        &mut self,
        ino: Ino,
        old: &EntryLocation,
        new: &EntryLocation,
    ) -> Result<(), Errno> {
        let ((from_dir, from), (_, to)) = (self.mount_target(old)?, self.mount_target(new)?);
        let pinned = |ino: Ino| self.table.get(ino).is_some();
        if pinned(ino) || new.node.is_some_and(pinned) {
            return Err(Errno::Busy);
        }
        let object = self.object(ino)?;
        // Flush writes under the old name before the name can be reused.
        self.flush(ino)?;
        if let Some(replaced) = new.node
            && self.hold_counts.contains_key(&replaced)
            && let Ok(replaced) = self.object(replaced)
            && replaced.kind == EntryKind::File
        {
            self.keep_open(&replaced);
        }
        from_dir.mounted.mount.rename(&from, &to)?;
        if let Some(replaced) = new.node {
            self.unlink_object(replaced);
        }
        self.relist(old.dir, old.name.as_bytes(), None);
        self.relist(new.dir, new.name.as_bytes(), Some(object.kind));
        if let Some(found) = self.objects_mut() {
            let parent = found.lower_of(new.dir);
            found.rename(ino, parent, &new.name);
        }
        Ok(())
    }

    pub(in crate::fs) fn chmod_in_mount(&mut self, object: &MountObject, mode: u32) -> Result<(), Errno> {
        if object.unlinked {
            return Err(Errno::Notsup);
        }
        object.mounted.mount.set_mode(&object.path, mode & PERMISSIONS)?;
        self.invalidate_metadata(object.ino);
        if let Some(node) = self.table.get_mut(object.ino) {
            node.mode = mode & PERMISSIONS;
        }
        Ok(())
    }

    pub(in crate::fs) fn set_times_in_mount(
        &mut self,
        object: &MountObject,
        atime: Option<u64>,
        mtime: Option<u64>,
    ) -> Result<(), Errno> {
        if object.unlinked {
            return Err(Errno::Notsup);
        }
        // A later flush would overwrite the time.
        self.flush(object.ino)?;
        object.mounted.mount.set_times(&object.path, atime, mtime)?;
        self.invalidate_metadata(object.ino);
        Ok(())
    }

    fn invalidate_metadata(&mut self, ino: Ino) {
        if let Some(entry) = self.objects_mut().and_then(|found| found.entries.get_mut(&ino)) {
            entry.metadata = None;
        }
    }

    fn relist(&mut self, dir: Ino, name: &[u8], kind: Option<EntryKind>) {
        if let Some(found) = self.objects_mut() {
            let dir = found.lower_of(dir);
            found.update_listing(dir, name, kind);
        }
    }

    /// Returns the target of a symbolic link of a mount.
    pub(in crate::fs) fn mounted_readlink(&self, ino: Ino) -> Result<Vec<u8>, Errno> {
        let object = self.object(ino)?;
        match object.kind {
            EntryKind::Symlink if !object.unlinked => object.mounted.mount.read_link(&object.path),
            EntryKind::Symlink => Err(Errno::Stale),
            EntryKind::File | EntryKind::Dir => Err(Errno::Inval),
        }
    }
}
