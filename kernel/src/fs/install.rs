//! Files that the host installs: programs, devices and their directories. They are not charged to the quota.

use std::sync::Arc;

use super::blocks::Content;
use super::bytes::FileBytes;
use super::node::{Body, MODE_BITS, Node};
use super::walk::{EntryLocation, FollowMode};
use super::{Cred, Device, Fs, Ino, PathStart};
use crate::errno::Errno;

/// Credentials of the host, which pass every check.
const HOST: Cred = Cred { uid: 0, gid: 0 };

impl Fs {
    /// Installs a file whose bytes stay shared with the host, replacing an existing file, and creates missing parent directories
    /// (mode 755, owned by `uid` 0). Group and owner are both `uid`. Times are 0.
    ///
    /// # Errors
    /// Those of [`Self::walk`]; `ISDIR` if a directory exists there, `EXIST` if anything else but a file exists.
    pub fn install(&mut self, path: &[u8], bytes: FileBytes, mode: u32, uid: u32) -> Result<Ino, Errno> {
        self.install_node(path, Body::File(Content::image(bytes)), mode, uid)
    }

    /// Creates a directory and its missing parents. An existing one gets this mode and owner.
    ///
    /// # Errors
    /// Those of [`Self::walk`]; `EXIST` if something else exists there.
    pub fn install_dir(&mut self, path: &[u8], mode: u32, uid: u32) -> Result<Ino, Errno> {
        let ino = self.install_dirs(path)?;
        let node = self.node_mut(ino)?;
        (node.mode, node.uid, node.gid) = (mode & MODE_BITS, uid, uid);
        Ok(ino)
    }

    /// Installs a device owned by user 0, replacing an existing file.
    ///
    /// # Errors
    /// As [`Self::install`].
    pub fn install_device(&mut self, path: &[u8], device: Device, mode: u32) -> Result<Ino, Errno> {
        self.install_node(path, Body::Device(device), mode, 0)
    }

    /// Installs a symbolic link owned by user 0, replacing an existing file.
    ///
    /// # Errors
    /// As [`Self::install`], and those of [`Self::symlink`] for the target.
    pub fn install_symlink(&mut self, path: &[u8], target: &[u8]) -> Result<Ino, Errno> {
        self.check_target(target)?;
        self.install_node(path, Body::Symlink(target.into()), 0o777, 0)
    }

    /// Creates the mount point of the process file system; [`Self::walk`] leaves paths below it to procfs.
    ///
    /// # Errors
    /// As [`Self::install_dir`].
    pub fn install_proc(&mut self, path: &[u8]) -> Result<Ino, Errno> {
        let ino = self.install_dir(path, 0o555, 0)?;
        self.proc = Some(ino);
        Ok(ino)
    }

    fn install_node(&mut self, path: &[u8], body: Body, mode: u32, uid: u32) -> Result<Ino, Errno> {
        if let Some(slash) = path.iter().rposition(|&byte| byte == b'/') {
            self.install_dirs(path.get(..slash).unwrap_or_default())?;
        }
        let location = self
            .walk_to_parent(&HOST, PathStart::from(self.root), path, FollowMode::Entry)?
            .into_entry(|_| Errno::Isdir)?;
        match location.node {
            Some(ino) if self.is_dir(ino)? => return Err(Errno::Isdir),
            Some(ino) => {
                self.remove_entry(location.dir, &location.name, 0)?;
                self.decrement_nlink(ino, 0)?;
            }
            None => {}
        }
        let mut node = Node::new(body, &Cred { uid, gid: uid }, mode, 0, self.versions.next());
        node.installed = true;
        let ino = self.table.insert(node).ok_or(Errno::Nospc)?;
        self.insert_entry(location.dir, location.name, ino, 0)?;
        Ok(ino)
    }

    pub(super) fn install_dir_at(&mut self, location: EntryLocation) -> Result<Ino, Errno> {
        let mut node = Node::new(Body::Dir(Arc::default()), &HOST, 0o755, 0, self.versions.next());
        (node.installed, node.device) = (true, self.device(location.dir)?);
        let ino = self.table.insert(node).ok_or(Errno::Nospc)?;
        self.insert_entry(location.dir, location.name, ino, 0)?;
        let parent = self.node_mut(location.dir)?;
        parent.nlink = parent.nlink.saturating_add(1);
        Ok(ino)
    }

    /// Returns the directory at `path`; creates it and its parents if missing.
    fn install_dirs(&mut self, path: &[u8]) -> Result<Ino, Errno> {
        let mut dir = self.root;
        let ends = path.iter().enumerate().filter(|&(_, &byte)| byte == b'/').map(|(end, _)| end).chain([path.len()]);
        for above in ends.filter_map(|end| path.get(..end)) {
            if above.iter().all(|&byte| byte == b'/') {
                continue;
            }
            let place = self.walk_to_parent(&HOST, PathStart::from(self.root), above, FollowMode::Follow)?;
            dir = match place.node {
                Some(ino) if self.is_dir(ino)? => ino,
                Some(_) => return Err(Errno::Exist),
                None => {
                    let location = place.into_entry(|_| Errno::Exist)?;
                    self.install_dir_at(location)?
                }
            };
        }
        Ok(dir)
    }
}
