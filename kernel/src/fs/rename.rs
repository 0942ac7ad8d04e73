//! `rename`, the one call that gives and takes a name at once.

use super::mount::Copy;
use super::tree::Names;
use super::walk::{Final, Spot};
use super::{At, Cred, Fs, Ino};
use crate::errno::Errno;

impl Fs {
    /// Renames as POSIX says: what the new name led to is replaced in one step, a file by a file, an empty directory by
    /// a directory. Two names of one inode stay as they are. Symbolic links are renamed, never followed.
    ///
    /// # Errors
    /// Those of [`Self::walk`]; `NOENT`, `ISDIR`, `NOTDIR`, `NOTEMPTY`, `INVAL` (into its own subtree), `BUSY` (`/`,
    /// `/proc`, where something is mounted, and as on Linux a path that ends in `.` or `..`), `ACCES`, `PERM` (as for [`Self::unlink`]), `ROFS`, `XDEV` (into or out of a
    /// mounted file system), `MLINK`. Nothing has changed then.
    pub fn rename(
        &mut self,
        cred: &Cred,
        at_old: impl Into<At>,
        old: &[u8],
        at_new: impl Into<At>,
        new: &[u8],
        now: u64,
    ) -> Result<(), Errno> {
        let old = self.place(cred, at_old.into(), old, Final::Entry)?;
        let new = self.place(cred, at_new.into(), new, Final::Entry)?;
        let (mut old, mut new) = (old.named(|_| Errno::Busy)?, new.named(|_| Errno::Busy)?);
        let ino = old.node.ok_or(Errno::Noent)?;
        let moves_dir = self.is_dir(ino)?;
        if !moves_dir && (old.slash || new.slash) {
            return Err(Errno::Notdir);
        }
        if self.proc.is_some() && (self.proc == Some(ino) || self.proc == new.node) {
            return Err(Errno::Busy);
        }
        self.check_mounts(ino, &old, &new)?;
        if new.node == Some(ino) {
            return Ok(());
        }
        self.may_change(cred, old.dir)?;
        self.may_change(cred, new.dir)?;
        if moves_dir {
            self.check_dir_move(cred, ino, &old, &new)?;
        } else if let Some(there) = new.node
            && self.is_dir(there)?
        {
            // Linux calls a directory that holds the file full before it calls it a directory.
            return Err(if self.lies_in(old.dir, there) { Errno::Notempty } else { Errno::Isdir });
        }
        let names = self.prepare(cred, &mut old)?;
        self.prepare(cred, &mut new)?;
        if names == Names::Outside {
            return self.rename_outside(ino, &old, &new);
        }
        let ino = if moves_dir { self.raise(ino)? } else { self.copy_up(ino, Copy::All)? };
        self.hide(old.dir, &old.name)?;
        self.apply_rename(ino, moves_dir, old, new, now)
    }

    /// What is mounted stays where it is, and nothing moves into or out of what a mounted file system keeps.
    fn check_mounts(&self, ino: Ino, old: &Spot, new: &Spot) -> Result<(), Errno> {
        if self.is_mount_root(ino) || new.node.is_some_and(|there| self.is_mount_root(there)) {
            return Err(Errno::Busy);
        }
        self.check_border(old.dir, new.dir)
    }

    fn check_dir_move(&self, cred: &Cred, ino: Ino, old: &Spot, new: &Spot) -> Result<(), Errno> {
        if self.lies_in(new.dir, ino) {
            return Err(Errno::Inval);
        }
        if let Some(there) = new.node
            && !self.is_dir(there)?
        {
            return Err(Errno::Notdir);
        }
        if let Some(there) = new.node
            && !self.is_empty_dir(there)?
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

    fn apply_rename(&mut self, ino: Ino, moves_dir: bool, old: Spot, new: Spot, now: u64) -> Result<(), Errno> {
        self.strike(old.dir, &old.name, now)?;
        self.enlist(new.dir, new.name.clone(), ino, now)?;
        if let Some(replaced) = new.node {
            if moves_dir {
                self.drop_dir(new.dir, replaced, now)?;
            } else {
                self.drop_name(replaced, now)?;
            }
        }
        if moves_dir && old.dir != new.dir {
            let left = self.node_mut(old.dir)?;
            left.nlink = left.nlink.saturating_sub(1);
            self.node_mut(new.dir)?.nlink += 1;
        }
        let node = self.node_mut(ino)?;
        node.ctime = now;
        if moves_dir {
            let dir = node.dir_mut()?;
            (dir.parent, dir.name) = (new.dir, new.name);
        }
        Ok(())
    }

    /// Whether `dir` is `above` or below it.
    fn lies_in(&self, mut dir: Ino, above: Ino) -> bool {
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
