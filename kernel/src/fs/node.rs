//! An inode: its attributes and its body.

use std::sync::Arc;

use super::blocks::Content;
use super::entries::Entries;
use super::mount::Lower;
use super::name::Name;
use super::{Cred, Device, Ino, Kind, Stat};
use crate::errno::Errno;

/// The twelve bits of `st_mode` that `chmod` may set.
pub(super) const MODE_BITS: u32 = 0o7777;

/// `st_size` of a directory. POSIX leaves it open; tools expect the usual block.
const DIR_SIZE: u64 = 4096;

#[derive(Clone, Debug)]
pub(super) struct Node {
    pub(super) mode: u32,
    pub(super) uid: u32,
    pub(super) gid: u32,
    /// Number of names; a directory counts its own `.` and the `..` of each subdirectory too.
    pub(super) nlink: u32,
    /// Installed by the host: neither this inode nor its first name was charged to the quota.
    pub(super) installed: bool,
    /// As in [`Stat::device`].
    pub(super) device: u32,
    pub(super) atime: u64,
    pub(super) mtime: u64,
    pub(super) ctime: u64,
    pub(super) version: u64,
    /// Directory and name of its latest name, so that its path is found without a search. Always valid for a directory, which
    /// has one name. For a file with several names it may have been removed.
    pub(super) parent: Ino,
    pub(super) name: Name,
    pub(super) body: Body,
}

#[derive(Clone, Debug)]
pub(super) enum Body {
    File(Content),
    Dir(Arc<Dir>),
    Symlink(Arc<[u8]>),
    Device(Device),
    Fifo,
}

/// A directory.
#[derive(Clone, Debug, Default)]
pub(super) struct Dir {
    pub(super) entries: Entries,
    /// The lower directory in a mount, whose names are visible unless they are in `entries` or whiteouts.
    pub(super) lower: Option<Box<Lower>>,
}

impl Node {
    pub(super) fn new(body: Body, cred: &Cred, mode: u32, now: u64, version: u64) -> Self {
        let nlink = if matches!(body, Body::Dir(_)) { 2 } else { 1 };
        Self {
            mode: mode & MODE_BITS,
            uid: cred.uid,
            gid: cred.gid,
            nlink,
            installed: false,
            device: 0,
            atime: now,
            mtime: now,
            ctime: now,
            version,
            parent: Ino(0),
            name: Name::new(b""),
            body,
        }
    }

    pub(super) fn kind(&self) -> Kind {
        match &self.body {
            Body::File(_) => Kind::File,
            Body::Dir(_) => Kind::Dir,
            Body::Symlink(_) => Kind::Symlink,
            Body::Device(device) => Kind::Device(*device),
            Body::Fifo => Kind::Fifo,
        }
    }

    pub(super) fn is_dir(&self) -> bool {
        matches!(self.body, Body::Dir(_))
    }

    pub(super) fn size(&self) -> u64 {
        match &self.body {
            Body::File(content) => content.len(),
            Body::Dir(_) => DIR_SIZE,
            Body::Symlink(target) => target.len() as u64,
            Body::Device(_) | Body::Fifo => 0,
        }
    }

    /// Returns the bytes of the quota to refund when this inode is freed.
    pub(super) fn charged_bytes(&self) -> u64 {
        match &self.body {
            Body::File(content) => content.charged(),
            Body::Symlink(target) if !self.installed => target.len() as u64,
            _ => 0,
        }
    }

    /// Returns the number of whiteouts, each charged as an inode.
    pub(super) fn hidden(&self) -> u64 {
        match &self.body {
            Body::Dir(dir) => dir.lower.as_ref().map_or(0, |lower| lower.whiteouts.len() as u64),
            _ => 0,
        }
    }

    pub(super) fn stat(&self, ino: Ino) -> Stat {
        Stat {
            ino,
            device: self.device,
            kind: self.kind(),
            mode: self.mode,
            uid: self.uid,
            gid: self.gid,
            nlink: u64::from(self.nlink),
            size: self.size(),
            atime: self.atime,
            mtime: self.mtime,
            ctime: self.ctime,
        }
    }

    /// As [`allowed`].
    pub(super) fn allows(&self, cred: &Cred, want: u32) -> bool {
        allowed(self.mode, self.uid, self.gid, cred, want)
    }

    pub(super) fn dir(&self) -> Result<&Dir, Errno> {
        match &self.body {
            Body::Dir(dir) => Ok(dir),
            _ => Err(Errno::Notdir),
        }
    }

    pub(super) fn dir_mut(&mut self) -> Result<&mut Dir, Errno> {
        match &mut self.body {
            Body::Dir(dir) => Ok(Arc::make_mut(dir)),
            _ => Err(Errno::Notdir),
        }
    }

    pub(super) fn file(&self) -> Result<&Content, Errno> {
        match &self.body {
            Body::File(content) => Ok(content),
            Body::Dir(_) => Err(Errno::Isdir),
            Body::Symlink(_) | Body::Device(_) | Body::Fifo => Err(Errno::Inval),
        }
    }

    pub(super) fn file_mut(&mut self) -> Result<&mut Content, Errno> {
        match &mut self.body {
            Body::File(content) => Ok(content),
            Body::Dir(_) => Err(Errno::Isdir),
            Body::Symlink(_) | Body::Device(_) | Body::Fifo => Err(Errno::Inval),
        }
    }

    pub(super) fn changed(&mut self, now: u64) {
        self.mtime = now;
        self.ctime = now;
    }
}

/// POSIX 4.7: the first class that matches the caller decides, even if a later one grants more.
pub(super) fn allowed(mode: u32, uid: u32, gid: u32, cred: &Cred, want: u32) -> bool {
    let class = if cred.uid == uid {
        6
    } else if cred.gid == gid {
        3
    } else {
        0
    };
    cred.uid == 0 || (mode >> class) & want == want
}
