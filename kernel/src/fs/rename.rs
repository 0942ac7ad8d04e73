//! `rename`, which removes and creates a name in one step.

use super::directory::EntryStore;
use super::mount::CopyRange;
use super::walk::{EntryLocation, FollowMode};
use super::{Cred, Fs, Ino, PathStart};
use crate::errno::Errno;

impl Fs {
    /// Renames as POSIX specifies: the target of the new name is replaced atomically, a file by a file, an empty directory by a
    /// directory. Two names of one inode are left unchanged. Symbolic links are renamed, never followed.
    ///
    /// # Errors
    /// Those of [`Self::walk`]; `NOENT`, `ISDIR`, `NOTDIR`, `NOTEMPTY`, `INVAL` (into its own subtree), `BUSY` (`/`, `/proc`, a
    /// mount point, and as on Linux a path that ends in `.` or `..`), `ACCES`, `PERM` (as for [`Self::unlink`]), `ROFS`, `XDEV`
    /// (into or out of a mounted file system), `MLINK`. Nothing has changed then.
    pub fn rename(
        &mut self,
        cred: &Cred,
        at_old: impl Into<PathStart>,
        old: &[u8],
        at_new: impl Into<PathStart>,
        new: &[u8],
        now: u64,
    ) -> Result<(), Errno> {
        let old = self.walk_to_parent(cred, at_old.into(), old, FollowMode::Entry)?;
        let new = self.walk_to_parent(cred, at_new.into(), new, FollowMode::Entry)?;
        let (mut old, mut new) = (old.into_entry(|_| Errno::Busy)?, new.into_entry(|_| Errno::Busy)?);
        let ino = old.node.ok_or(Errno::Noent)?;
        let moves_dir = self.is_dir(ino)?;
        if !moves_dir && (old.trailing_slash || new.trailing_slash) {
            return Err(Errno::Notdir);
        }
        if self.proc.is_some() && (self.proc == Some(ino) || self.proc == new.node) {
            return Err(Errno::Busy);
        }
        self.check_same_mount(ino, &old, &new)?;
        if new.node == Some(ino) {
            return Ok(());
        }
        self.check_dir_writable(cred, old.dir)?;
        self.check_dir_writable(cred, new.dir)?;
        if moves_dir {
            self.check_dir_move(cred, ino, &old, &new)?;
        } else if let Some(target) = new.node
            && self.is_dir(target)?
        {
            // Linux returns ENOTEMPTY before EISDIR for a directory that contains the file.
            return Err(if self.is_descendant(old.dir, target) { Errno::Notempty } else { Errno::Isdir });
        }
        let names = self.prepare_dir_change(cred, &mut old)?;
        self.prepare_dir_change(cred, &mut new)?;
        if names == EntryStore::Mount {
            return self.rename_in_mount(ino, &old, &new);
        }
        let ino = if moves_dir { self.copy_up_dir(ino)? } else { self.copy_up(ino, CopyRange::All)? };
        self.add_whiteout(old.dir, &old.name)?;
        self.apply_rename(ino, moves_dir, old, new, now)
    }

    /// Checks that a mount point is not moved, and that nothing moves into or out of a mounted file system.
    fn check_same_mount(&self, ino: Ino, old: &EntryLocation, new: &EntryLocation) -> Result<(), Errno> {
        if self.is_mount_root(ino) || new.node.is_some_and(|target| self.is_mount_root(target)) {
            return Err(Errno::Busy);
        }
        self.check_same_device(old.dir, new.dir)
    }

    fn check_dir_move(&self, cred: &Cred, ino: Ino, old: &EntryLocation, new: &EntryLocation) -> Result<(), Errno> {
        if self.is_descendant(new.dir, ino) {
            return Err(Errno::Inval);
        }
        if let Some(target) = new.node
            && !self.is_dir(target)?
        {
            return Err(Errno::Notdir);
        }
        if let Some(target) = new.node
            && !self.is_empty_dir(target)?
        {
            return Err(Errno::Notempty);
        }
        if old.dir != new.dir {
            // Its `..` changes, so it has to be writable itself, as on Linux.
            self.access(cred, ino, 2)?;
            if self.table.get(new.dir).is_some_and(|dir| dir.nlink == u32::MAX) {
                return Err(Errno::Mlink);
            }
        }
        Ok(())
    }

    fn apply_rename(
        &mut self,
        ino: Ino,
        moves_dir: bool,
        old: EntryLocation,
        new: EntryLocation,
        now: u64,
    ) -> Result<(), Errno> {
        self.remove_entry(old.dir, &old.name, now)?;
        self.insert_entry(new.dir, new.name, ino, now)?;
        if let Some(replaced) = new.node {
            if moves_dir {
                self.detach_dir(new.dir, replaced, now)?;
            } else {
                self.decrement_nlink(replaced, now)?;
            }
        }
        if moves_dir && old.dir != new.dir {
            let left = self.node_mut(old.dir)?;
            left.nlink = left.nlink.saturating_sub(1);
            self.node_mut(new.dir)?.nlink += 1;
        }
        self.node_mut(ino)?.ctime = now;
        Ok(())
    }

    /// Returns whether `dir` is `above` or a descendant of it.
    fn is_descendant(&self, mut dir: Ino, above: Ino) -> bool {
        while dir != above {
            let parent = self.parent(dir);
            if parent == dir {
                return false;
            }
            dir = parent;
        }
        true
    }
}
