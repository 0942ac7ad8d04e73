//! Path resolution across stored files, `/proc`, and the links between them.

use crate::errno::Errno;
use crate::fs::{Ino, PathStart, Resolved};
use crate::kernel::{Kernel, USER};
use crate::process::Pid;
use crate::procfs::{self, ProcEntry, WalkStep};

/// A directory in which a walk can start.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum DirRef {
    Node(Ino),
    /// A directory of `/proc`, by its path below it. Empty is `/proc` itself.
    Proc(Vec<u8>),
}

/// A resolved path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum ResolvedPath {
    Node(Ino),
    Proc(ProcEntry),
}

/// Options of a walk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Walk {
    /// True if a link at the end is followed.
    pub(crate) follow: bool,
    /// preview1's rule: the walk may not leave its start directory.
    pub(crate) beneath: bool,
}

impl Walk {
    fn from(self, dir: Ino) -> PathStart {
        if self.beneath { PathStart::beneath(dir) } else { dir.into() }
    }
}

impl Kernel {
    /// Resolves `path` for process `pid`.
    pub(crate) fn find(&self, pid: Pid, at: &DirRef, path: &[u8], walk: Walk) -> Result<ResolvedPath, Errno> {
        let mut target = self.first_step(at, path, walk)?;
        for _ in 0..=self.limits.symlink_depth {
            let mut below = match target {
                Resolved::Node(ino) => return Ok(ResolvedPath::Node(ino)),
                Resolved::Proc(below) => below,
            };
            // The file system has dropped the trailing slash, which requires a directory.
            if path.ends_with(b"/") {
                below.push(b'/');
            }
            match procfs::walk(self, pid, &below, walk.follow)? {
                WalkStep::At(item) => return Ok(ResolvedPath::Proc(item)),
                WalkStep::Leave(dir, rest) => {
                    target = self.first_step(&dir, &rest, Walk { beneath: false, ..walk })?;
                }
            }
        }
        Err(Errno::Loop)
    }

    fn first_step(&self, at: &DirRef, path: &[u8], walk: Walk) -> Result<Resolved, Errno> {
        match at {
            DirRef::Node(ino) => self.fs.walk(&USER, walk.from(*ino), path, walk.follow),
            DirRef::Proc(_) if path.is_empty() => Err(Errno::Noent),
            DirRef::Proc(_) if path.starts_with(b"/") && walk.beneath => Err(Errno::Notcapable),
            DirRef::Proc(_) if path.starts_with(b"/") => self.fs.walk(&USER, self.fs.root(), path, walk.follow),
            DirRef::Proc(below) => {
                let full = [b"/proc/", below.as_slice(), b"/", path].concat();
                self.fs.walk(&USER, self.fs.root(), &full, walk.follow)
            }
        }
    }

    /// Returns the start directory of a call that creates or removes names. `/proc` does not allow such calls.
    pub(crate) fn parent_start(&self, at: &DirRef, walk: Walk) -> Result<PathStart, Errno> {
        match at {
            DirRef::Node(ino) => Ok(walk.from(*ino)),
            DirRef::Proc(_) => Err(Errno::Rofs),
        }
    }

    /// Keeps a directory alive while it is a working directory.
    pub(crate) fn hold_dir(&mut self, dir: &DirRef) {
        if let DirRef::Node(ino) = dir {
            self.fs.hold(*ino);
        }
    }

    pub(crate) fn release_dir(&mut self, dir: DirRef) {
        if let DirRef::Node(ino) = dir {
            self.fs.release(ino);
        }
    }

    /// Returns the absolute path of a directory; `None` if it was removed.
    pub(crate) fn path_of(&self, dir: &DirRef) -> Option<Vec<u8>> {
        match dir {
            DirRef::Node(ino) => self.fs.path_of(*ino),
            DirRef::Proc(below) if below.is_empty() => Some(b"/proc".to_vec()),
            DirRef::Proc(below) => Some([b"/proc/", below.as_slice()].concat()),
        }
    }
}
