//! From a path to what it names: files of the store, files of `/proc`, and the links between the two.

use crate::errno::Errno;
use crate::fs::{At, Ino, Target};
use crate::kernel::{Kernel, USER};
use crate::process::Pid;
use crate::procfs::{self, Item, Step};

/// A directory in which a walk can begin.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Place {
    Node(Ino),
    /// A directory of `/proc`, by its path below it. Empty is `/proc` itself.
    Proc(Vec<u8>),
}

/// What a path names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Found {
    Node(Ino),
    Proc(Item),
}

/// How to walk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Walk {
    /// Whether a link at the end is followed.
    pub(crate) follow: bool,
    /// preview1's rule: the walk may not leave the directory it starts in.
    pub(crate) beneath: bool,
}

impl Walk {
    fn from(self, dir: Ino) -> At {
        if self.beneath { At::beneath(dir) } else { dir.into() }
    }
}

impl Kernel {
    /// Finds what `path` names for process `pid`.
    pub(crate) fn find(&self, pid: Pid, at: &Place, path: &[u8], walk: Walk) -> Result<Found, Errno> {
        let mut target = self.first_step(at, path, walk)?;
        for _ in 0..=self.limits.symlink_depth {
            let mut below = match target {
                Target::Node(ino) => return Ok(Found::Node(ino)),
                Target::Proc(below) => below,
            };
            // The file system has dropped the slash that says that it must be a directory.
            if path.ends_with(b"/") {
                below.push(b'/');
            }
            match procfs::walk(self, pid, &below, walk.follow)? {
                Step::At(item) => return Ok(Found::Proc(item)),
                Step::Leave(place, rest) => {
                    target = self.first_step(&place, &rest, Walk { beneath: false, ..walk })?;
                }
            }
        }
        Err(Errno::Loop)
    }

    fn first_step(&self, at: &Place, path: &[u8], walk: Walk) -> Result<Target, Errno> {
        match at {
            Place::Node(ino) => self.fs.walk(&USER, walk.from(*ino), path, walk.follow),
            Place::Proc(_) if path.is_empty() => Err(Errno::Noent),
            Place::Proc(_) if path.starts_with(b"/") && walk.beneath => Err(Errno::Notcapable),
            Place::Proc(_) if path.starts_with(b"/") => self.fs.walk(&USER, self.fs.root(), path, walk.follow),
            Place::Proc(below) => {
                let full = [b"/proc/", below.as_slice(), b"/", path].concat();
                self.fs.walk(&USER, self.fs.root(), &full, walk.follow)
            }
        }
    }

    /// Where a call that makes or takes names starts. There are none to make in `/proc`.
    pub(crate) fn start(&self, at: &Place, walk: Walk) -> Result<At, Errno> {
        match at {
            Place::Node(ino) => Ok(walk.from(*ino)),
            Place::Proc(_) => Err(Errno::Rofs),
        }
    }

    /// Keeps a directory alive while it is someone's working directory.
    pub(crate) fn enter_place(&mut self, place: &Place) {
        if let Place::Node(ino) = place {
            self.fs.hold(*ino);
        }
    }

    pub(crate) fn leave_place(&mut self, place: Place) {
        if let Place::Node(ino) = place {
            self.fs.release(ino);
        }
    }

    /// The absolute path of a directory; `None` when it was removed.
    pub(crate) fn path_of(&self, place: &Place) -> Option<Vec<u8>> {
        match place {
            Place::Node(ino) => self.fs.path_of(*ino),
            Place::Proc(below) if below.is_empty() => Some(b"/proc".to_vec()),
            Place::Proc(below) => Some([b"/proc/", below.as_slice()].concat()),
        }
    }
}
