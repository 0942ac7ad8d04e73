//! Creating and removing names: files, directories and links.

use std::sync::Arc;

use super::mount::{CopyRange, DirOwner};
use super::name::Name;
use super::node::{Body, Node};
use super::walk::{EntryLocation, FollowMode, LastComponent};
use super::{Cred, Fs, Ino, PathStart};
use crate::errno::Errno;

/// The component that stores the names of a directory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum EntryStore {
    /// The tree: the sandbox's own files and the upper side of a copy-on-write mount.
    Tree,
    /// A mounted file system.
    Mount,
}

impl Fs {
    /// Returns the file at `path`; creates it with `mode` (the caller has applied its umask) if missing. The flag reports whether
    /// it was created. This is `open` with `O_CREAT`, and with `O_EXCL` if `exclusive`: then a final symbolic link is not
    /// followed and any existing object is an error. Otherwise a dangling final link is followed and its target created. The
    /// caller must check the permissions of an existing file with [`Self::access`].
    ///
    /// # Errors
    /// Those of [`Self::walk`]; `EXIST`, `ISDIR` (a directory, or a trailing slash, even on a missing name, as on Linux), `ACCES`
    /// (the directory is not writable), `NOSPC` (inodes), `ROFS` (inside `/proc`).
    pub fn create(
        &mut self,
        cred: &Cred,
        at: impl Into<PathStart>,
        path: &[u8],
        mode: u32,
        exclusive: bool,
        now: u64,
    ) -> Result<(Ino, bool), Errno> {
        let last = if exclusive || path.ends_with(b"/") { FollowMode::Entry } else { FollowMode::Follow };
        let found = self.walk_to_parent(cred, at.into(), path, last)?;
        if found.trailing_slash && matches!(found.last, LastComponent::Name(_)) {
            return Err(Errno::Isdir);
        }
        match found.node {
            Some(_) if exclusive => return Err(Errno::Exist),
            Some(ino) if self.is_dir(ino)? => return Err(Errno::Isdir),
            Some(ino) => return Ok((ino, false)),
            None => {}
        }
        let mut location = found.into_entry(|_| Errno::Isdir)?;
        if self.prepare_dir_change(cred, &mut location)? == EntryStore::Mount {
            return Ok((self.create_in_mount(&location, mode)?, true));
        }
        let ino = self.add(cred, location, Body::File(Default::default()), mode, now)?;
        Ok((ino, true))
    }

    /// Creates an empty directory, as `mkdir` does. A trailing slash is allowed, a symbolic link is not followed.
    ///
    /// # Errors
    /// Those of [`Self::walk`]; `EXIST`, `ACCES`, `NOSPC`, `ROFS`, `MLINK`.
    pub fn mkdir(
        &mut self,
        cred: &Cred,
        at: impl Into<PathStart>,
        path: &[u8],
        mode: u32,
        now: u64,
    ) -> Result<Ino, Errno> {
        let mut location = self.resolve_new_name(cred, at.into(), path)?;
        if self.prepare_dir_change(cred, &mut location)? == EntryStore::Mount {
            return self.mkdir_in_mount(&location, mode);
        }
        let parent = location.dir;
        if self.node(parent)?.nlink == u32::MAX {
            return Err(Errno::Mlink);
        }
        let ino = self.add(cred, location, Body::Dir(Arc::default()), mode, now)?;
        self.node_mut(parent)?.nlink += 1;
        Ok(ino)
    }

    /// Creates a symbolic link to `target`, which need not exist. Its bytes are charged to the quota.
    ///
    /// # Errors
    /// Those of [`Self::walk`]; `EXIST`, `ACCES`, `NOSPC`, `ROFS`; for the target `NOENT` (empty), `NAMETOOLONG`, `INVAL` (an
    /// embedded NUL).
    pub fn symlink(
        &mut self,
        cred: &Cred,
        target: &[u8],
        at: impl Into<PathStart>,
        path: &[u8],
        now: u64,
    ) -> Result<Ino, Errno> {
        self.check_target(target)?;
        let mut location = self.resolve_new_name(cred, at.into(), path)?;
        if location.trailing_slash {
            return Err(Errno::Noent);
        }
        if self.prepare_dir_change(cred, &mut location)? == EntryStore::Mount {
            return self.symlink_in_mount(&location, target);
        }
        self.quota.charge_bytes(target.len() as u64)?;
        let created = self.add(cred, location, Body::Symlink(target.into()), 0o777, now);
        if created.is_err() {
            self.quota.refund_bytes(target.len() as u64);
        }
        created
    }

    /// Creates a FIFO, as `mkfifo` does, with `mode` (the caller has applied its umask).
    ///
    /// # Errors
    /// Those of [`Self::walk`]; `EXIST`, `ACCES`, `NOSPC`, `ROFS`; `PERM` if a mounted file system would have to store it, as
    /// Linux returns for one without special files.
    pub fn mkfifo(
        &mut self,
        cred: &Cred,
        at: impl Into<PathStart>,
        path: &[u8],
        mode: u32,
        now: u64,
    ) -> Result<Ino, Errno> {
        let mut location = self.resolve_new_name(cred, at.into(), path)?;
        if location.trailing_slash {
            return Err(Errno::Noent);
        }
        match self.prepare_dir_change(cred, &mut location)? {
            EntryStore::Mount => Err(Errno::Perm),
            EntryStore::Tree => self.add(cred, location, Body::Fifo, mode, now),
        }
    }

    /// Creates another name for an inode. The caller selects the inode, so `link` and `linkat` with and without
    /// `AT_SYMLINK_FOLLOW` differ only in the preceding walk.
    ///
    /// # Errors
    /// Those of [`Self::walk`] for the new name; `EXIST`, `ACCES`, `NOSPC`, `ROFS`, `PERM` (a directory), `MLINK`, `NOENT` (the
    /// inode has lost its last name), `XDEV` (into or out of a mounted file system).
    pub fn link(
        &mut self,
        cred: &Cred,
        existing: Ino,
        at: impl Into<PathStart>,
        path: &[u8],
        now: u64,
    ) -> Result<(), Errno> {
        let mut location = self.resolve_new_name(cred, at.into(), path)?;
        if location.trailing_slash {
            return Err(Errno::Noent);
        }
        self.check_dir_writable(cred, location.dir)?;
        let mut existing = self.upper_ino(existing);
        if self.is_dir(existing)? {
            return Err(Errno::Perm);
        }
        self.check_same_device(existing, location.dir)?;
        match self.prepare_dir_change(cred, &mut location)? {
            EntryStore::Mount => return self.link_in_mount(&location, existing),
            EntryStore::Tree => existing = self.copy_up(existing, CopyRange::All)?,
        }
        let node = self.node(existing)?;
        match node.nlink {
            0 => return Err(Errno::Noent),
            u32::MAX => return Err(Errno::Mlink),
            _ => {}
        }
        self.quota.charge_inode()?;
        let node = self.node_mut(existing)?;
        node.nlink += 1;
        node.ctime = now;
        self.insert_entry(location.dir, location.name, existing, now)
    }

    /// Removes the name of a non-directory. The inode exists while it has other names or is held.
    ///
    /// # Errors
    /// Those of [`Self::walk`]; `NOENT`, `ISDIR`, `NOTDIR` (a trailing slash after a file), `ACCES`, `PERM` (another user's file
    /// in a directory with the sticky bit), `ROFS`.
    pub fn unlink(&mut self, cred: &Cred, at: impl Into<PathStart>, path: &[u8], now: u64) -> Result<(), Errno> {
        let mut location =
            self.walk_to_parent(cred, at.into(), path, FollowMode::Entry)?.into_entry(|_| Errno::Isdir)?;
        let ino = location.node.ok_or(Errno::Noent)?;
        match self.is_dir(ino)? {
            true => return Err(Errno::Isdir),
            false if location.trailing_slash => return Err(Errno::Notdir),
            false => {}
        }
        match self.prepare_dir_change(cred, &mut location)? {
            EntryStore::Mount => self.remove_in_mount(&location, ino),
            EntryStore::Tree => {
                self.add_whiteout(location.dir, &location.name)?;
                self.remove_entry(location.dir, &location.name, now)?;
                self.decrement_nlink(ino, now)
            }
        }
    }

    /// Removes an empty directory. A held one stays usable as a start of paths, but lookup and creation in it fail.
    ///
    /// # Errors
    /// Those of [`Self::walk`]; `NOENT`, `NOTDIR` (a symbolic link too), `NOTEMPTY` (also for `..`), `INVAL` (for `.`), `BUSY`
    /// (`/`, `/proc` and mount points), `ACCES`, `PERM` (as for [`Self::unlink`]), `ROFS`.
    pub fn rmdir(&mut self, cred: &Cred, at: impl Into<PathStart>, path: &[u8], now: u64) -> Result<(), Errno> {
        let mut location =
            self.walk_to_parent(cred, at.into(), path, FollowMode::Entry)?.into_entry(|last| match last {
                LastComponent::Dot => Errno::Inval,
                LastComponent::DotDot => Errno::Notempty,
                LastComponent::Root | LastComponent::Name(_) => Errno::Busy,
            })?;
        let ino = location.node.ok_or(Errno::Noent)?;
        if !self.is_dir(ino)? {
            return Err(Errno::Notdir);
        }
        if Some(ino) == self.proc || self.is_mount_root(ino) {
            return Err(Errno::Busy);
        }
        if !self.is_empty_dir(ino)? {
            return Err(Errno::Notempty);
        }
        match self.prepare_dir_change(cred, &mut location)? {
            EntryStore::Mount => self.remove_in_mount(&location, ino),
            EntryStore::Tree => {
                self.add_whiteout(location.dir, &location.name)?;
                self.remove_entry(location.dir, &location.name, now)?;
                self.detach_dir(location.dir, ino, now)
            }
        }
    }

    /// Returns the target of a symbolic link.
    ///
    /// # Errors
    /// `INVAL` if it is not a symbolic link, `STALE`.
    pub fn readlink(&self, ino: Ino) -> Result<Vec<u8>, Errno> {
        let ino = self.upper_ino(ino);
        if ino.is_mount_object() {
            return self.mounted_readlink(ino);
        }
        match &self.node(ino)?.body {
            Body::Symlink(target) => Ok(target.to_vec()),
            _ => Err(Errno::Inval),
        }
    }

    pub(super) fn check_target(&self, target: &[u8]) -> Result<(), Errno> {
        match target.len() {
            0 => Err(Errno::Noent),
            len if len > self.path_bytes => Err(Errno::Nametoolong),
            _ if target.contains(&0) => Err(Errno::Inval),
            _ => Ok(()),
        }
    }

    /// Resolves a name that must not exist.
    fn resolve_new_name(&self, cred: &Cred, at: PathStart, path: &[u8]) -> Result<EntryLocation, Errno> {
        let location = self.walk_to_parent(cred, at, path, FollowMode::Entry)?.into_entry(|_| Errno::Exist)?;
        if location.node.is_some() { Err(Errno::Exist) } else { Ok(location) }
    }

    /// Checks that names in a directory may be changed. In a removed directory they cannot (POSIX: `ENOENT`).
    pub(super) fn check_dir_writable(&self, cred: &Cred, dir: Ino) -> Result<(), Errno> {
        let Some(node) = self.table.get(dir) else {
            // The mount reports its own denials.
            return self.access(cred, dir, 3);
        };
        match node.nlink {
            0 => Err(Errno::Noent),
            _ if node.device != 0 => self.access(cred, dir, 3),
            _ if node.allows(cred, 3) => Ok(()),
            _ => Err(Errno::Acces),
        }
    }

    /// Checks the sticky bit: only the owner of the object or of the directory may remove the name. `PERM` for others.
    fn check_sticky(&self, cred: &Cred, dir: Ino, ino: Ino) -> Result<(), Errno> {
        let (Some(dir), Some(node)) = (self.table.get(dir), self.table.get(ino)) else { return Ok(()) };
        // The mount reports its own denials.
        let sticky = dir.mode & 0o1000 != 0 && dir.device == 0;
        match sticky && ![0, dir.uid, node.uid].contains(&cred.uid) {
            true => Err(Errno::Perm),
            false => Ok(()),
        }
    }

    /// Checks that names in the directory of a location may be changed, and returns the component that stores them. In a
    /// copy-on-write mount the directory is copied up.
    pub(super) fn prepare_dir_change(
        &mut self,
        cred: &Cred,
        location: &mut EntryLocation,
    ) -> Result<EntryStore, Errno> {
        // The directory may have been copied up in between.
        location.dir = self.upper_ino(location.dir);
        self.check_dir_writable(cred, location.dir)?;
        if let Some(ino) = location.node {
            self.check_sticky(cred, location.dir, ino)?;
        }
        match self.dir_owner(location.dir)? {
            DirOwner::Sandbox => Ok(EntryStore::Tree),
            DirOwner::CopyOnWrite => {
                location.dir = self.copy_up_dir(location.dir)?;
                Ok(EntryStore::Tree)
            }
            DirOwner::Mounted => Ok(EntryStore::Mount),
        }
    }

    /// Inserts a new inode at a free location. In a set-group-ID directory it inherits the group, and a directory also the bit.
    fn add(&mut self, cred: &Cred, location: EntryLocation, body: Body, mode: u32, now: u64) -> Result<Ino, Errno> {
        self.check_dir_writable(cred, location.dir)?;
        self.quota.charge_inode()?;
        let mut node = Node::new(body, cred, mode, now, self.versions.next());
        let parent = self.node(location.dir)?;
        node.device = parent.device;
        if parent.mode & 0o2000 != 0 {
            node.gid = parent.gid;
            node.mode |= if node.is_dir() { 0o2000 } else { 0 };
        }
        let Some(ino) = self.table.insert(node) else {
            self.quota.refund_inode();
            return Err(Errno::Nospc);
        };
        self.insert_entry(location.dir, location.name, ino, now)?;
        Ok(ino)
    }

    /// Writes an entry into a directory, replacing an existing one.
    pub(super) fn insert_entry(&mut self, dir: Ino, name: Name, ino: Ino, now: u64) -> Result<(), Errno> {
        self.node_mut(dir)?.changed(now);
        self.insert_name(dir, name, ino)
    }

    /// Writes an entry into a directory without changing its times.
    pub(super) fn insert_name(&mut self, dir: Ino, name: Name, ino: Ino) -> Result<(), Errno> {
        self.node_mut(dir)?.dir_mut()?.entries.insert(name.clone(), ino);
        let node = self.node_mut(ino)?;
        (node.parent, node.name) = (dir, name);
        Ok(())
    }

    /// Removes an entry from a directory.
    pub(super) fn remove_entry(&mut self, dir: Ino, name: &Name, now: u64) -> Result<(), Errno> {
        let node = self.node_mut(dir)?;
        node.changed(now);
        node.dir_mut()?.entries.remove(name.as_bytes());
        Ok(())
    }

    /// Decrements the link count of a non-directory.
    pub(super) fn decrement_nlink(&mut self, ino: Ino, now: u64) -> Result<(), Errno> {
        if ino.is_mount_object() {
            self.unlink_object(ino);
            return Ok(());
        }
        let node = self.node_mut(ino)?;
        node.nlink = node.nlink.saturating_sub(1);
        node.ctime = now;
        if node.nlink > 0 {
            self.quota.refund_inode();
        } else {
            self.free_if_unused(ino);
        }
        Ok(())
    }

    /// Removes an empty directory from its parent's link count.
    pub(super) fn detach_dir(&mut self, parent: Ino, ino: Ino, now: u64) -> Result<(), Errno> {
        if ino.is_mount_object() {
            self.unlink_object(ino);
            return Ok(());
        }
        let above = self.node_mut(parent)?;
        above.nlink = above.nlink.saturating_sub(1);
        let node = self.node_mut(ino)?;
        node.nlink = 0;
        node.ctime = now;
        self.free_if_unused(ino);
        Ok(())
    }
}
