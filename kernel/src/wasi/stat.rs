//! What a file is, as preview1's `filestat` and as the POSIX form of `tidebox_v1`.

use crate::errno::Errno;
use crate::fs::{Ino, Kind};
use crate::kernel::{Kernel, USER};
use crate::open_file::{OpenFile, What};
use crate::procfs::{Dir, Item};
use crate::resolve::{Found, Place};

/// preview1's file types.
pub(super) mod filetype {
    pub(crate) const UNKNOWN: u8 = 0;
    pub(crate) const CHARACTER: u8 = 2;
    pub(crate) const DIRECTORY: u8 = 3;
    pub(crate) const REGULAR: u8 = 4;
    pub(crate) const SYMLINK: u8 = 7;
}

/// What the kernel calls the devices that files lie on; only their difference matters.
const DEV_FILES: u32 = 1;
const DEV_PROC: u32 = 2;
const DEV_STREAMS: u32 = 3;
/// The first mount comes behind it.
const DEV_MOUNTS: u32 = 15;

/// One file's description, of whatever kind the file is.
#[derive(Clone, Copy, Debug)]
pub(super) struct Description {
    pub(super) dev: u32,
    pub(super) ino: u64,
    pub(super) filetype: u8,
    pub(super) mode: u32,
    pub(super) nlink: u64,
    pub(super) uid: u32,
    pub(super) gid: u32,
    pub(super) size: u64,
    pub(super) atime: u64,
    pub(super) mtime: u64,
    pub(super) ctime: u64,
}

const S_IFIFO: u32 = 0o010_000;
const S_IFCHR: u32 = 0o020_000;
const S_IFDIR: u32 = 0o040_000;
const S_IFREG: u32 = 0o100_000;
const S_IFLNK: u32 = 0o120_000;

impl Description {
    /// preview1's `filestat`.
    pub(super) fn filestat(&self) -> [u8; 64] {
        let mut out = [0; 64];
        let kind = u64::from(self.filetype);
        let fields = [u64::from(self.dev), self.ino, kind, self.nlink, self.size, self.atime, self.mtime, self.ctime];
        for (slot, field) in out.chunks_exact_mut(8).zip(fields) {
            slot.copy_from_slice(&field.to_le_bytes());
        }
        out
    }

    /// The form of `docs/abi.md`.
    pub(super) fn posix(&self) -> [u8; 64] {
        let mut out = [0; 64];
        let (wide, narrow) = out.split_at_mut(48);
        let fields = [self.ino, self.nlink, self.size, self.atime, self.mtime, self.ctime];
        for (slot, field) in wide.chunks_exact_mut(8).zip(fields) {
            slot.copy_from_slice(&field.to_le_bytes());
        }
        for (slot, field) in narrow.chunks_exact_mut(4).zip([self.mode, self.uid, self.gid, self.dev]) {
            slot.copy_from_slice(&field.to_le_bytes());
        }
        out
    }
}

/// preview1's file type of a file of the store.
pub(super) fn filetype_of(kind: Kind) -> u8 {
    match kind {
        Kind::File => filetype::REGULAR,
        Kind::Dir => filetype::DIRECTORY,
        Kind::Symlink => filetype::SYMLINK,
        Kind::Device(_) => filetype::CHARACTER,
    }
}

/// preview1's file type of a file of `/proc`.
pub(super) fn filetype_of_item(item: Item) -> u8 {
    match item {
        Item::Dir(_) => filetype::DIRECTORY,
        Item::Text(_) => filetype::REGULAR,
        Item::Link(_) | Item::Descriptor(..) => filetype::SYMLINK,
    }
}

fn of_node(k: &Kernel, ino: Ino) -> Result<Description, Errno> {
    let stat = k.fs.stat(ino)?;
    let format = match stat.kind {
        Kind::File => S_IFREG,
        Kind::Dir => S_IFDIR,
        Kind::Symlink => S_IFLNK,
        Kind::Device(_) => S_IFCHR,
    };
    Ok(Description {
        dev: if stat.device == 0 { DEV_FILES } else { DEV_MOUNTS.saturating_add(stat.device) },
        ino: stat.ino.0,
        filetype: filetype_of(stat.kind),
        mode: format | stat.mode,
        nlink: stat.nlink,
        uid: stat.uid,
        gid: stat.gid,
        size: stat.size,
        atime: stat.atime,
        mtime: stat.mtime,
        ctime: stat.ctime,
    })
}

/// A thing that exists only while the kernel runs.
fn passing(k: &Kernel, dev: u32, ino: u64, filetype: u8, mode: u32) -> Description {
    let now = k.now();
    let (uid, gid) = if dev == DEV_PROC { (0, 0) } else { (USER.uid, USER.gid) };
    Description { dev, ino, filetype, mode, nlink: 1, uid, gid, size: 0, atime: now, mtime: now, ctime: now }
}

fn of_item(k: &Kernel, item: Item) -> Description {
    let mode = match item {
        Item::Dir(_) => S_IFDIR | 0o555,
        Item::Text(_) => S_IFREG | 0o444,
        Item::Link(_) | Item::Descriptor(..) => S_IFLNK | 0o777,
    };
    passing(k, DEV_PROC, item.ino(), filetype_of_item(item), mode)
}

/// Describes what a path named. With `follow` a descriptor below `/proc` is the open file that it stands for.
pub(super) fn of_found(k: &Kernel, found: &Found, follow: bool) -> Result<Description, Errno> {
    match *found {
        Found::Node(ino) => of_node(k, ino),
        Found::Proc(Item::Descriptor(pid, fd)) if follow => of_open(k, k.open_file(pid, fd)?),
        Found::Proc(item) => Ok(of_item(k, item)),
    }
}

/// Describes an open file.
pub(super) fn of_open(k: &Kernel, open: &OpenFile) -> Result<Description, Errno> {
    let stream = |number: u64, mode: u32| passing(k, DEV_STREAMS, number, filetype::UNKNOWN, mode);
    if let Some(ino) = open.what.ino() {
        return of_node(k, ino);
    }
    Ok(match &open.what {
        What::Dir(Place::Proc(_)) | What::WorkDir(Place::Proc(_)) => of_item(k, Item::Dir(Dir::Root)),
        // Two reserved numbers for the session's own streams, then the pipes.
        What::Stdin(_) => stream(0, S_IFIFO | 0o600),
        What::Output(_, which) => stream(1 + *which as u64, S_IFIFO | 0o600),
        What::Reader(pipe) | What::Writer(pipe) => stream(3 + u64::from(*pipe), S_IFIFO | 0o600),
        What::Text(file) => of_item(k, Item::Text(*file)),
        // What has an inode was answered above.
        What::File(_) | What::Device(..) | What::Dir(_) | What::WorkDir(_) => return Err(Errno::Badf),
    })
}
