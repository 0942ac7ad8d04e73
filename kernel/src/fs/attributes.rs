//! Inode attributes and permission checks for changing them.

use super::mount::{CopyRange, WriteTarget};
use super::node::MODE_BITS;
use super::{Cred, Fs, Ino, Stat};
use crate::errno::Errno;

impl Fs {
    /// Returns the attributes of an inode.
    ///
    /// # Errors
    /// `STALE` if it was freed.
    pub fn stat(&self, ino: Ino) -> Result<Stat, Errno> {
        match self.table.get(ino) {
            Some(node) if node.device == 0 => Ok(node.stat(ino)),
            None if !ino.is_mount_object() => Err(Errno::Stale),
            _ => self.mounted_stat(ino),
        }
    }

    /// Checks whether the caller may read (4), write (2) and execute or search (1) an inode; the values are added, 0 requests
    /// nothing. The first matching class of owner, group and others decides, as POSIX 4.7 specifies.
    ///
    /// # Errors
    /// `ACCES`, `ROFS` (write access in a read-only mount), `STALE`.
    pub fn access(&self, cred: &Cred, ino: Ino, want: u32) -> Result<(), Errno> {
        match self.table.get(ino) {
            Some(node) if node.device == 0 => {
                if node.allows(cred, want & 7) {
                    Ok(())
                } else {
                    Err(Errno::Acces)
                }
            }
            None if !ino.is_mount_object() => Err(Errno::Stale),
            _ => self.mounted_access(cred, ino, want & 7),
        }
    }

    /// Sets the twelve mode bits.
    ///
    /// # Errors
    /// `PERM` unless the caller owns the inode, `STALE`; in a mount `ROFS`, `NOTSUP`, or the error of the mount.
    pub fn chmod(&mut self, cred: &Cred, ino: Ino, mode: u32, now: u64) -> Result<(), Errno> {
        self.check_owner(cred, ino)?;
        let ino = match self.attribute_target(ino)? {
            WriteTarget::Tree(ino) => ino,
            WriteTarget::Mounted(object) => return self.chmod_in_mount(&object, mode),
        };
        let node = self.node_mut(ino)?;
        node.mode = mode & MODE_BITS;
        node.ctime = now;
        Ok(())
    }

    /// Updates the modification time of a device or FIFO after a write.
    pub(crate) fn touch_mtime(&mut self, ino: Ino, now: u64) {
        // An inode that a restored snapshot removed has no times.
        if let Ok(node) = self.node_mut(ino) {
            node.changed(now);
        }
    }

    /// Sets the user and the group of an inode without a permission check; times are unchanged. Only for the host.
    ///
    /// # Errors
    /// `STALE`; `PERM` or `ROFS` for an inode that is stored in a mount.
    pub fn chown(&mut self, ino: Ino, uid: u32, gid: u32) -> Result<(), Errno> {
        let WriteTarget::Tree(ino) = self.attribute_target(ino)? else { return Err(Errno::Perm) };
        let node = self.node_mut(ino)?;
        (node.uid, node.gid) = (uid, gid);
        Ok(())
    }

    /// Sets every settable attribute of [`Stat`], for files that are copied from elsewhere. Only for the host.
    ///
    /// # Errors
    /// `STALE`; the error of the mount, which stores mode and times of its files but not their owner.
    pub fn set_stat(&mut self, ino: Ino, stat: &Stat) -> Result<(), Errno> {
        let ino = match self.attribute_target(ino)? {
            WriteTarget::Tree(ino) => ino,
            WriteTarget::Mounted(object) => {
                self.chmod_in_mount(&object, stat.mode)?;
                return self.set_times_in_mount(&object, Some(stat.atime), Some(stat.mtime));
            }
        };
        let node = self.node_mut(ino)?;
        node.mode = stat.mode & MODE_BITS;
        (node.uid, node.gid) = (stat.uid, stat.gid);
        (node.atime, node.mtime, node.ctime) = (stat.atime, stat.mtime, stat.ctime);
        Ok(())
    }

    /// Returns whether the host installed this inode, as it does with programs and devices. `false` if it does not exist.
    #[must_use]
    pub fn is_installed(&self, ino: Ino) -> bool {
        self.node(self.upper_ino(ino)).is_ok_and(|node| node.installed)
    }

    /// Sets the times that are given, as `utimensat` does. The owner may set any time; a caller that may only write the file may
    /// set both to `now`.
    ///
    /// # Errors
    /// `PERM` (an arbitrary time), `ACCES` (the current time), `STALE`; in a mount `ROFS`, `NOTSUP`, or the error of the mount.
    pub fn set_times(
        &mut self,
        cred: &Cred,
        ino: Ino,
        atime: Option<u64>,
        mtime: Option<u64>,
        now: u64,
    ) -> Result<(), Errno> {
        if self.check_owner(cred, ino).is_err() {
            if (atime, mtime) != (Some(now), Some(now)) {
                return Err(Errno::Perm);
            }
            self.access(cred, ino, 2)?;
        }
        let ino = match self.attribute_target(ino)? {
            WriteTarget::Tree(ino) => ino,
            WriteTarget::Mounted(object) => return self.set_times_in_mount(&object, atime, mtime),
        };
        let node = self.node_mut(ino)?;
        node.atime = atime.unwrap_or(node.atime);
        node.mtime = mtime.unwrap_or(node.mtime);
        node.ctime = now;
        Ok(())
    }

    fn check_owner(&self, cred: &Cred, ino: Ino) -> Result<(), Errno> {
        if cred.uid == 0 || cred.uid == self.stat(ino)?.uid { Ok(()) } else { Err(Errno::Perm) }
    }

    /// Returns the target of an attribute change: the tree or a mount. Without mounts it is always the tree.
    fn attribute_target(&mut self, ino: Ino) -> Result<WriteTarget, Errno> {
        match self.table.get(ino) {
            Some(node) if node.device == 0 => Ok(WriteTarget::Tree(ino)),
            None if !ino.is_mount_object() => Err(Errno::Stale),
            _ => self.write_target(ino, CopyRange::All),
        }
    }
}
