//! Attributes of inodes and who may change them.

use super::mount::{Change, Copy};
use super::node::MODE_BITS;
use super::{Cred, Fs, Ino, Stat};
use crate::errno::Errno;

impl Fs {
    /// The attributes of an inode.
    ///
    /// # Errors
    /// `STALE` when it was freed.
    pub fn stat(&self, ino: Ino) -> Result<Stat, Errno> {
        match self.table.get(ino) {
            Some(node) if node.device == 0 => Ok(node.stat(ino)),
            None if !ino.is_foreign() => Err(Errno::Stale),
            _ => self.mounted_stat(ino),
        }
    }

    /// Whether the caller may read (4), write (2) and execute or search (1) an inode, added up; 0 asks for nothing. The
    /// first of owner, group and others that fits decides, as POSIX 4.7 says.
    ///
    /// # Errors
    /// `ACCES`, `ROFS` (to write in a read-only mount), `STALE`.
    pub fn access(&self, cred: &Cred, ino: Ino, want: u32) -> Result<(), Errno> {
        match self.table.get(ino) {
            Some(node) if node.device == 0 => {
                if node.allows(cred, want & 7) {
                    Ok(())
                } else {
                    Err(Errno::Acces)
                }
            }
            None if !ino.is_foreign() => Err(Errno::Stale),
            _ => self.mounted_access(cred, ino, want & 7),
        }
    }

    /// Sets the twelve mode bits.
    ///
    /// # Errors
    /// `PERM` unless the caller owns the inode, `STALE`; in a mount `ROFS`, `NOTSUP`, or what it answers.
    pub fn chmod(&mut self, cred: &Cred, ino: Ino, mode: u32, now: u64) -> Result<(), Errno> {
        self.owned(cred, ino)?;
        let ino = match self.changed_by(ino)? {
            Change::Tree(ino) => ino,
            Change::Mounted(object) => return self.chmod_outside(&object, mode),
        };
        let node = self.node_mut(ino)?;
        node.mode = mode & MODE_BITS;
        node.ctime = now;
        Ok(())
    }

    /// Something was written to what holds no content itself.
    pub(crate) fn written(&mut self, ino: Ino, now: u64) {
        // One that a restored snapshot took away has no times any more.
        if let Ok(node) = self.node_mut(ino) {
            node.changed(now);
        }
    }

    /// Gives an inode to a user and a group. For the host alone, which may do so without asking; times stay.
    ///
    /// # Errors
    /// `STALE`; `PERM` or `ROFS` for what a mount keeps.
    pub fn chown(&mut self, ino: Ino, uid: u32, gid: u32) -> Result<(), Errno> {
        let Change::Tree(ino) = self.changed_by(ino)? else { return Err(Errno::Perm) };
        let node = self.node_mut(ino)?;
        (node.uid, node.gid) = (uid, gid);
        Ok(())
    }

    /// Makes an inode look as it did elsewhere: everything of [`Stat`] that can be set. For the host alone.
    ///
    /// # Errors
    /// `STALE`; what a mount answers, which keeps mode and times of its files but not their owner.
    pub fn imprint(&mut self, ino: Ino, look: &Stat) -> Result<(), Errno> {
        let ino = match self.changed_by(ino)? {
            Change::Tree(ino) => ino,
            Change::Mounted(object) => {
                self.chmod_outside(&object, look.mode)?;
                return self.set_times_outside(&object, Some(look.atime), Some(look.mtime));
            }
        };
        let node = self.node_mut(ino)?;
        node.mode = look.mode & MODE_BITS;
        (node.uid, node.gid) = (look.uid, look.gid);
        (node.atime, node.mtime, node.ctime) = (look.atime, look.mtime, look.ctime);
        Ok(())
    }

    /// Whether the host placed this inode, as it does with programs and devices. `false` for one that is not there.
    #[must_use]
    pub fn is_installed(&self, ino: Ino) -> bool {
        self.node(self.own(ino)).is_ok_and(|node| node.installed)
    }

    /// Sets the times that are given, as `utimensat` does. The owner may set any; who may only write the file may set
    /// both to `now`.
    ///
    /// # Errors
    /// `PERM` (a time of one's choice), `ACCES` (the current time), `STALE`; in a mount `ROFS`, `NOTSUP`, or what it answers.
    pub fn set_times(
        &mut self,
        cred: &Cred,
        ino: Ino,
        atime: Option<u64>,
        mtime: Option<u64>,
        now: u64,
    ) -> Result<(), Errno> {
        if self.owned(cred, ino).is_err() {
            if (atime, mtime) != (Some(now), Some(now)) {
                return Err(Errno::Perm);
            }
            self.access(cred, ino, 2)?;
        }
        let ino = match self.changed_by(ino)? {
            Change::Tree(ino) => ino,
            Change::Mounted(object) => return self.set_times_outside(&object, atime, mtime),
        };
        let node = self.node_mut(ino)?;
        node.atime = atime.unwrap_or(node.atime);
        node.mtime = mtime.unwrap_or(node.mtime);
        node.ctime = now;
        Ok(())
    }

    fn owned(&self, cred: &Cred, ino: Ino) -> Result<(), Errno> {
        if cred.uid == 0 || cred.uid == self.stat(ino)?.uid { Ok(()) } else { Err(Errno::Perm) }
    }

    /// Who carries out a change of attributes. Without mounts it is always the tree.
    fn changed_by(&mut self, ino: Ino) -> Result<Change, Errno> {
        match self.table.get(ino) {
            Some(node) if node.device == 0 => Ok(Change::Tree(ino)),
            None if !ino.is_foreign() => Err(Errno::Stale),
            _ => self.change(ino, Copy::All),
        }
    }
}
