//! Giving and taking names: files, directories and links.

use std::sync::Arc;

use super::mount::{Charge, Copy};
use super::name::Name;
use super::node::{Body, Dir, Node};
use super::walk::{Final, Last, Spot};
use super::{At, Cred, Fs, Ino};
use crate::errno::Errno;

/// Who keeps the names of a directory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Names {
    /// The tree, where the sandbox's own files are and what it keeps on top of a mount.
    Tree,
    /// A mounted file system.
    Outside,
}

impl Fs {
    /// The file at `path`, made with `mode` (the caller has applied its umask) when there is none; the flag says whether
    /// it was. That is `open` with `O_CREAT`, and with `O_EXCL` when `exclusive`: then a final symbolic link is not
    /// followed and anything that exists is an error. Otherwise a dangling final link is followed and its target made.
    /// The permissions of a file that exists are the caller's to ask for, by [`Self::access`].
    ///
    /// # Errors
    /// Those of [`Self::walk`]; `EXIST`, `ISDIR` (a directory, or a slash behind the name, whatever is there, as on
    /// Linux), `ACCES` (the directory cannot be written), `NOSPC` (inodes), `ROFS` (inside `/proc`).
    pub fn create(
        &mut self,
        cred: &Cred,
        at: impl Into<At>,
        path: &[u8],
        mode: u32,
        exclusive: bool,
        now: u64,
    ) -> Result<(Ino, bool), Errno> {
        let last = if exclusive || path.ends_with(b"/") { Final::Entry } else { Final::Follow };
        let found = self.place(cred, at.into(), path, last)?;
        if found.slash && matches!(found.last, Last::Name(_)) {
            return Err(Errno::Isdir);
        }
        match found.node {
            Some(_) if exclusive => return Err(Errno::Exist),
            Some(ino) if self.is_dir(ino)? => return Err(Errno::Isdir),
            Some(ino) => return Ok((ino, false)),
            None => {}
        }
        let mut spot = found.named(|_| Errno::Isdir)?;
        if self.prepare(cred, &mut spot)? == Names::Outside {
            return Ok((self.create_outside(&spot, mode)?, true));
        }
        let ino = self.add(cred, spot, Body::File(Default::default()), mode, now)?;
        Ok((ino, true))
    }

    /// Makes an empty directory, as `mkdir` does. A slash at the end is allowed, a symbolic link is not followed.
    ///
    /// # Errors
    /// Those of [`Self::walk`]; `EXIST`, `ACCES`, `NOSPC`, `ROFS`, `MLINK`.
    pub fn mkdir(&mut self, cred: &Cred, at: impl Into<At>, path: &[u8], mode: u32, now: u64) -> Result<Ino, Errno> {
        let mut spot = self.vacant(cred, at.into(), path)?;
        if self.prepare(cred, &mut spot)? == Names::Outside {
            return self.mkdir_outside(&spot, mode);
        }
        let (parent, name) = (spot.dir, spot.name.clone());
        if self.node(parent)?.nlink == u32::MAX {
            return Err(Errno::Mlink);
        }
        let body = Body::Dir(Arc::new(Dir { parent, name, entries: Default::default(), lower: None }));
        let ino = self.add(cred, spot, body, mode, now)?;
        self.node_mut(parent)?.nlink += 1;
        Ok(ino)
    }

    /// Makes a symbolic link that holds `target`, which need not lead anywhere. Its bytes are charged to the quota.
    ///
    /// # Errors
    /// Those of [`Self::walk`]; `EXIST`, `ACCES`, `NOSPC`, `ROFS`; for the target `NOENT` (empty), `NAMETOOLONG`, `INVAL`
    /// (an embedded NUL).
    pub fn symlink(
        &mut self,
        cred: &Cred,
        target: &[u8],
        at: impl Into<At>,
        path: &[u8],
        now: u64,
    ) -> Result<Ino, Errno> {
        self.check_target(target)?;
        let mut spot = self.vacant(cred, at.into(), path)?;
        if spot.slash {
            return Err(Errno::Noent);
        }
        if self.prepare(cred, &mut spot)? == Names::Outside {
            return self.symlink_outside(&spot, target);
        }
        self.quota.take_bytes(target.len() as u64)?;
        let made = self.add(cred, spot, Body::Symlink(target.into()), 0o777, now);
        if made.is_err() {
            self.quota.give_bytes(target.len() as u64);
        }
        made
    }

    /// Makes a named pipe, as `mkfifo` does, with `mode` (the caller has applied its umask).
    ///
    /// # Errors
    /// Those of [`Self::walk`]; `EXIST`, `ACCES`, `NOSPC`, `ROFS`; `PERM` where a mounted file system would have to keep it, as
    /// Linux answers for one that has no special files.
    pub fn mkfifo(&mut self, cred: &Cred, at: impl Into<At>, path: &[u8], mode: u32, now: u64) -> Result<Ino, Errno> {
        let mut spot = self.vacant(cred, at.into(), path)?;
        if spot.slash {
            return Err(Errno::Noent);
        }
        match self.prepare(cred, &mut spot)? {
            Names::Outside => Err(Errno::Perm),
            Names::Tree => self.add(cred, spot, Body::Fifo, mode, now),
        }
    }

    /// Gives an inode one more name. Which inode is the caller's choice, so `link` and `linkat` with and without
    /// `AT_SYMLINK_FOLLOW` are this after different walks.
    ///
    /// # Errors
    /// Those of [`Self::walk`] for the new name; `EXIST`, `ACCES`, `NOSPC`, `ROFS`, `PERM` (a directory), `MLINK`, `NOENT`
    /// (the inode has lost its last name), `XDEV` (into or out of a mounted file system).
    pub fn link(&mut self, cred: &Cred, existing: Ino, at: impl Into<At>, path: &[u8], now: u64) -> Result<(), Errno> {
        let mut spot = self.vacant(cred, at.into(), path)?;
        if spot.slash {
            return Err(Errno::Noent);
        }
        self.may_change(cred, spot.dir)?;
        let mut existing = self.own(existing);
        if self.is_dir(existing)? {
            return Err(Errno::Perm);
        }
        self.check_border(existing, spot.dir)?;
        match self.prepare(cred, &mut spot)? {
            Names::Outside => return self.link_outside(&spot, existing),
            Names::Tree => existing = self.copy_up(existing, Copy::All)?,
        }
        let node = self.node(existing)?;
        match node.nlink {
            0 => return Err(Errno::Noent),
            u32::MAX => return Err(Errno::Mlink),
            _ => {}
        }
        self.quota.take_inode()?;
        let node = self.node_mut(existing)?;
        node.nlink += 1;
        node.ctime = now;
        self.enlist(spot.dir, spot.name, existing, now)
    }

    /// Takes the name of something that is no directory. The inode lives on while it has other names or is held.
    ///
    /// # Errors
    /// Those of [`Self::walk`]; `NOENT`, `ISDIR`, `NOTDIR` (a slash behind a file), `ACCES`, `PERM` (another's file, where the
    /// directory has the sticky bit), `ROFS`.
    pub fn unlink(&mut self, cred: &Cred, at: impl Into<At>, path: &[u8], now: u64) -> Result<(), Errno> {
        let mut spot = self.place(cred, at.into(), path, Final::Entry)?.named(|_| Errno::Isdir)?;
        let ino = spot.node.ok_or(Errno::Noent)?;
        match self.is_dir(ino)? {
            true => return Err(Errno::Isdir),
            false if spot.slash => return Err(Errno::Notdir),
            false => {}
        }
        match self.prepare(cred, &mut spot)? {
            Names::Outside => self.remove_outside(&spot, ino),
            Names::Tree => {
                self.hide(spot.dir, &spot.name)?;
                self.strike(spot.dir, &spot.name, now)?;
                self.drop_name(ino, now)
            }
        }
    }

    /// Takes an empty directory away. One that is held stays usable as a start of paths, but nothing is found or made
    /// in it any more.
    ///
    /// # Errors
    /// Those of [`Self::walk`]; `NOENT`, `NOTDIR` (a symbolic link too), `NOTEMPTY` (also for `..`), `INVAL` (for `.`),
    /// `BUSY` (`/`, `/proc` and where something is mounted), `ACCES`, `PERM` (as for [`Self::unlink`]), `ROFS`.
    pub fn rmdir(&mut self, cred: &Cred, at: impl Into<At>, path: &[u8], now: u64) -> Result<(), Errno> {
        let mut spot = self.place(cred, at.into(), path, Final::Entry)?.named(|last| match last {
            Last::Dot => Errno::Inval,
            Last::DotDot => Errno::Notempty,
            Last::Root | Last::Name(_) => Errno::Busy,
        })?;
        let ino = spot.node.ok_or(Errno::Noent)?;
        if !self.is_dir(ino)? {
            return Err(Errno::Notdir);
        }
        if Some(ino) == self.proc || self.is_mount_root(ino) {
            return Err(Errno::Busy);
        }
        if !self.is_empty_dir(ino)? {
            return Err(Errno::Notempty);
        }
        match self.prepare(cred, &mut spot)? {
            Names::Outside => self.remove_outside(&spot, ino),
            Names::Tree => {
                self.hide(spot.dir, &spot.name)?;
                self.strike(spot.dir, &spot.name, now)?;
                self.drop_dir(spot.dir, ino, now)
            }
        }
    }

    /// The bytes that a symbolic link holds.
    ///
    /// # Errors
    /// `INVAL` when it is no symbolic link, `STALE`.
    pub fn readlink(&self, ino: Ino) -> Result<Vec<u8>, Errno> {
        let ino = self.own(ino);
        if ino.is_foreign() {
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

    /// A name that is still free.
    fn vacant(&self, cred: &Cred, at: At, path: &[u8]) -> Result<Spot, Errno> {
        let spot = self.place(cred, at, path, Final::Entry)?.named(|_| Errno::Exist)?;
        if spot.node.is_some() { Err(Errno::Exist) } else { Ok(spot) }
    }

    /// Whether names may be given and taken in a directory. One that was removed has none to give (POSIX: `ENOENT`).
    pub(super) fn may_change(&self, cred: &Cred, dir: Ino) -> Result<(), Errno> {
        let Some(node) = self.table.get(dir) else {
            // What a mount forbids itself, it says itself.
            return self.access(cred, dir, 3);
        };
        match node.nlink {
            0 => Err(Errno::Noent),
            _ if node.device != 0 => self.access(cred, dir, 3),
            _ if node.allows(cred, 3) => Ok(()),
            _ => Err(Errno::Acces),
        }
    }

    /// In a directory with the sticky bit, names are taken by who owns what they name, or the directory. `PERM` for others.
    fn may_take(&self, cred: &Cred, dir: Ino, ino: Ino) -> Result<(), Errno> {
        let (Some(dir), Some(node)) = (self.table.get(dir), self.table.get(ino)) else { return Ok(()) };
        // What a mount forbids, it says itself.
        let sticky = dir.mode & 0o1000 != 0 && dir.device == 0;
        match sticky && ![0, dir.uid, node.uid].contains(&cred.uid) {
            true => Err(Errno::Perm),
            false => Ok(()),
        }
    }

    /// Checks that names may be given and taken in the spot's directory, and says who keeps them. In a copy-on-write mount
    /// the directory becomes one of the tree.
    pub(super) fn prepare(&mut self, cred: &Cred, spot: &mut Spot) -> Result<Names, Errno> {
        // It may have become one of the tree a moment ago.
        spot.dir = self.own(spot.dir);
        self.may_change(cred, spot.dir)?;
        if let Some(ino) = spot.node {
            self.may_take(cred, spot.dir, ino)?;
        }
        match self.charge(spot.dir)? {
            Charge::Own => Ok(Names::Tree),
            Charge::CopyOnWrite => {
                spot.dir = self.raise(spot.dir)?;
                Ok(Names::Tree)
            }
            Charge::Mounted => Ok(Names::Outside),
        }
    }

    /// Puts a new inode at a free spot. In a set-group-ID directory it takes over the group, and a directory the bit.
    fn add(&mut self, cred: &Cred, spot: Spot, body: Body, mode: u32, now: u64) -> Result<Ino, Errno> {
        self.may_change(cred, spot.dir)?;
        self.quota.take_inode()?;
        let mut node = Node::new(body, cred, mode, now, self.versions.next());
        let parent = self.node(spot.dir)?;
        node.device = parent.device;
        if parent.mode & 0o2000 != 0 {
            node.gid = parent.gid;
            node.mode |= if node.is_dir() { 0o2000 } else { 0 };
        }
        let Some(ino) = self.table.insert(node) else {
            self.quota.give_inode();
            return Err(Errno::Nospc);
        };
        self.enlist(spot.dir, spot.name, ino, now)?;
        Ok(ino)
    }

    /// Writes an entry into a directory, in place of one that is there.
    pub(super) fn enlist(&mut self, dir: Ino, name: Name, ino: Ino, now: u64) -> Result<(), Errno> {
        let node = self.node_mut(dir)?;
        node.changed(now);
        node.dir_mut()?.entries.insert(name, ino);
        Ok(())
    }

    /// Strikes an entry from a directory.
    pub(super) fn strike(&mut self, dir: Ino, name: &Name, now: u64) -> Result<(), Errno> {
        let node = self.node_mut(dir)?;
        node.changed(now);
        node.dir_mut()?.entries.remove(name);
        Ok(())
    }

    /// Counts one name less of something that is no directory.
    pub(super) fn drop_name(&mut self, ino: Ino, now: u64) -> Result<(), Errno> {
        if ino.is_foreign() {
            self.lose(ino);
            return Ok(());
        }
        let node = self.node_mut(ino)?;
        node.nlink = node.nlink.saturating_sub(1);
        node.ctime = now;
        if node.nlink > 0 {
            self.quota.give_inode();
        } else {
            self.reap(ino);
        }
        Ok(())
    }

    /// Takes an empty directory out of its parent's count.
    pub(super) fn drop_dir(&mut self, parent: Ino, ino: Ino, now: u64) -> Result<(), Errno> {
        if ino.is_foreign() {
            self.lose(ino);
            return Ok(());
        }
        let above = self.node_mut(parent)?;
        above.nlink = above.nlink.saturating_sub(1);
        let node = self.node_mut(ino)?;
        node.nlink = 0;
        node.ctime = now;
        self.reap(ino);
        Ok(())
    }
}
