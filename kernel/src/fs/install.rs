//! What the host places in the tree: programs, devices and the directories they stand in. None of it is charged.

use std::sync::Arc;

use super::blocks::Content;
use super::bytes::FileBytes;
use super::node::{Body, Dir, MODE_BITS, Node};
use super::walk::{Final, Spot};
use super::{At, Cred, Device, Fs, Ino};
use crate::errno::Errno;

/// The host may do everything.
const HOST: Cred = Cred { uid: 0, gid: 0 };

impl Fs {
    /// Places a file whose bytes stay shared with the host, in place of a file that is there, and makes the directories
    /// above it (mode 755, owned by `uid` 0). Group and owner are both `uid`. Times are 0.
    ///
    /// # Errors
    /// Those of [`Self::walk`]; `ISDIR` when a directory is there, `EXIST` when anything else but a file is.
    pub fn install(&mut self, path: &[u8], bytes: FileBytes, mode: u32, uid: u32) -> Result<Ino, Errno> {
        self.install_node(path, Body::File(Content::image(bytes)), mode, uid)
    }

    /// Makes a directory and those above it. One that exists gets this mode and owner.
    ///
    /// # Errors
    /// Those of [`Self::walk`]; `EXIST` when something else is there.
    pub fn install_dir(&mut self, path: &[u8], mode: u32, uid: u32) -> Result<Ino, Errno> {
        let ino = self.install_dirs(path)?;
        let node = self.node_mut(ino)?;
        (node.mode, node.uid, node.gid) = (mode & MODE_BITS, uid, uid);
        Ok(ino)
    }

    /// Places a device owned by user 0, in place of a file that is there.
    ///
    /// # Errors
    /// As [`Self::install`].
    pub fn install_device(&mut self, path: &[u8], device: Device, mode: u32) -> Result<Ino, Errno> {
        self.install_node(path, Body::Device(device), mode, 0)
    }

    /// Places a symbolic link owned by user 0, in place of a file that is there.
    ///
    /// # Errors
    /// As [`Self::install`], and those of [`Self::symlink`] for the target.
    pub fn install_symlink(&mut self, path: &[u8], target: &[u8]) -> Result<Ino, Errno> {
        self.check_target(target)?;
        self.install_node(path, Body::Symlink(target.into()), 0o777, 0)
    }

    /// Makes the directory whose inside [`Self::walk`] leaves to the process file system.
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
        let spot = self.place(&HOST, At::from(self.root), path, Final::Entry)?.named(|_| Errno::Isdir)?;
        match spot.node {
            Some(ino) if self.is_dir(ino)? => return Err(Errno::Isdir),
            Some(ino) => {
                self.strike(spot.dir, &spot.name, 0)?;
                self.drop_name(ino, 0)?;
            }
            None => {}
        }
        let mut node = Node::new(body, &Cred { uid, gid: uid }, mode, 0, self.versions.next());
        node.installed = true;
        let ino = self.table.insert(node).ok_or(Errno::Nospc)?;
        self.enlist(spot.dir, spot.name, ino, 0)?;
        Ok(ino)
    }

    pub(super) fn install_dir_at(&mut self, spot: Spot) -> Result<Ino, Errno> {
        let body = Body::Dir(Arc::new(Dir {
            parent: spot.dir,
            name: spot.name.clone(),
            entries: Default::default(),
            lower: None,
        }));
        let mut node = Node::new(body, &HOST, 0o755, 0, self.versions.next());
        (node.installed, node.device) = (true, self.device(spot.dir)?);
        let ino = self.table.insert(node).ok_or(Errno::Nospc)?;
        self.enlist(spot.dir, spot.name, ino, 0)?;
        let parent = self.node_mut(spot.dir)?;
        parent.nlink = parent.nlink.saturating_add(1);
        Ok(ino)
    }

    /// The directory at `path`, made with those above it where they are missing.
    fn install_dirs(&mut self, path: &[u8]) -> Result<Ino, Errno> {
        let mut dir = self.root;
        let ends = path.iter().enumerate().filter(|&(_, &byte)| byte == b'/').map(|(end, _)| end).chain([path.len()]);
        for above in ends.filter_map(|end| path.get(..end)) {
            if above.iter().all(|&byte| byte == b'/') {
                continue;
            }
            let place = self.place(&HOST, At::from(self.root), above, Final::Follow)?;
            dir = match place.node {
                Some(ino) if self.is_dir(ino)? => ino,
                Some(_) => return Err(Errno::Exist),
                None => {
                    let spot = place.named(|_| Errno::Exist)?;
                    self.install_dir_at(spot)?
                }
            };
        }
        Ok(dir)
    }
}
