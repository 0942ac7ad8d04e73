//! What a file is, as preview1's `filestat` and as the POSIX form of `tidebox_v1`.

use crate::errno::Errno;
use crate::fs::{Ino, Kind};
use crate::kernel::{Kernel, USER};
use crate::open_file::{OpenFile, What};
use crate::procfs::{Dir, Item};
use crate::resolve::{Found, Place};

/// What a file is, as far as guests can tell.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FileType {
    /// A named pipe, an end of a pipe, and the streams of a session.
    Pipe,
    /// A character device.
    Character,
    /// A directory.
    Directory,
    /// A regular file.
    Regular,
    /// A symbolic link.
    Symlink,
}

impl FileType {
    /// A file of the store.
    pub(crate) fn of(kind: Kind) -> Self {
        match kind {
            Kind::File => Self::Regular,
            Kind::Dir => Self::Directory,
            Kind::Symlink => Self::Symlink,
            Kind::Device(_) => Self::Character,
            Kind::Fifo => Self::Pipe,
        }
    }

    /// A file of `/proc`.
    pub(crate) fn of_item(item: Item) -> Self {
        match item {
            Item::Dir(_) => Self::Directory,
            Item::Text(_) => Self::Regular,
            Item::Link(_) | Item::Descriptor(..) => Self::Symlink,
        }
    }

    /// preview1's number, which has none for pipes.
    pub(crate) fn preview1(self) -> u8 {
        match self {
            Self::Pipe => 0,
            Self::Character => 2,
            Self::Directory => 3,
            Self::Regular => 4,
            Self::Symlink => 7,
        }
    }

    /// POSIX's bits above the mode.
    fn format(self) -> u32 {
        match self {
            Self::Pipe => 0o010_000,
            Self::Character => 0o020_000,
            Self::Directory => 0o040_000,
            Self::Regular => 0o100_000,
            Self::Symlink => 0o120_000,
        }
    }
}

/// What the kernel calls the devices that files lie on; only their difference matters.
const DEV_FILES: u32 = 1;
const DEV_PROC: u32 = 2;
const DEV_STREAMS: u32 = 3;
/// The first mount comes behind it.
const DEV_MOUNTS: u32 = 15;

/// What a file is and what is known about it. Times are nanoseconds since the Unix epoch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Description {
    /// What it lies on; only whether two are equal matters.
    pub dev: u32,
    /// Its number there.
    pub ino: u64,
    /// What it is.
    pub filetype: FileType,
    /// The twelve mode bits.
    pub mode: u32,
    /// Its names.
    pub nlink: u64,
    /// Owner.
    pub uid: u32,
    /// Group.
    pub gid: u32,
    /// Bytes.
    pub size: u64,
    /// Last access.
    pub atime: u64,
    /// Last change of the content.
    pub mtime: u64,
    /// Last change of the content or of an attribute.
    pub ctime: u64,
}

impl Description {
    /// preview1's `filestat`.
    pub(crate) fn filestat(&self) -> [u8; 64] {
        let mut out = [0; 64];
        let kind = u64::from(self.filetype.preview1());
        let fields = [u64::from(self.dev), self.ino, kind, self.nlink, self.size, self.atime, self.mtime, self.ctime];
        for (slot, field) in out.chunks_exact_mut(8).zip(fields) {
            slot.copy_from_slice(&field.to_le_bytes());
        }
        out
    }

    /// The form of `docs/abi.md`.
    pub(crate) fn posix(&self) -> [u8; 64] {
        let mut out = [0; 64];
        let (wide, narrow) = out.split_at_mut(48);
        let fields = [self.ino, self.nlink, self.size, self.atime, self.mtime, self.ctime];
        for (slot, field) in wide.chunks_exact_mut(8).zip(fields) {
            slot.copy_from_slice(&field.to_le_bytes());
        }
        let mode = self.filetype.format() | self.mode;
        for (slot, field) in narrow.chunks_exact_mut(4).zip([mode, self.uid, self.gid, self.dev]) {
            slot.copy_from_slice(&field.to_le_bytes());
        }
        out
    }
}

fn of_node(k: &Kernel, ino: Ino) -> Result<Description, Errno> {
    let stat = k.fs.stat(ino)?;
    Ok(Description {
        dev: if stat.device == 0 { DEV_FILES } else { DEV_MOUNTS.saturating_add(stat.device) },
        ino: stat.ino.0,
        filetype: FileType::of(stat.kind),
        mode: stat.mode,
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
fn passing(k: &Kernel, dev: u32, ino: u64, filetype: FileType, mode: u32) -> Description {
    let now = k.now();
    let (uid, gid) = if dev == DEV_PROC { (0, 0) } else { (USER.uid, USER.gid) };
    Description { dev, ino, filetype, mode, nlink: 1, uid, gid, size: 0, atime: now, mtime: now, ctime: now }
}

fn of_item(k: &Kernel, item: Item) -> Description {
    let mode = match item {
        Item::Dir(_) => 0o555,
        Item::Text(_) => 0o444,
        Item::Link(_) | Item::Descriptor(..) => 0o777,
    };
    passing(k, DEV_PROC, item.ino(), FileType::of_item(item), mode)
}

/// Describes what a path named. With `follow` a descriptor below `/proc` is the open file that it stands for.
pub(crate) fn of_found(k: &Kernel, found: &Found, follow: bool) -> Result<Description, Errno> {
    match *found {
        Found::Node(ino) => of_node(k, ino),
        Found::Proc(Item::Descriptor(pid, fd)) if follow => of_open(k, k.open_file(pid, fd)?),
        Found::Proc(item) => Ok(of_item(k, item)),
    }
}

/// Describes an open file.
pub(crate) fn of_open(k: &Kernel, open: &OpenFile) -> Result<Description, Errno> {
    let stream = |number: u64| passing(k, DEV_STREAMS, number, FileType::Pipe, 0o600);
    if let Some(ino) = k.ino_of(&open.what) {
        return of_node(k, ino);
    }
    Ok(match &open.what {
        What::Dir(Place::Proc(_)) | What::WorkDir(Place::Proc(_)) => of_item(k, Item::Dir(Dir::Root)),
        // Two reserved numbers for the session's own streams, then the pipes.
        What::Stdin(_) => stream(0),
        What::Output(_, which) => stream(1 + *which as u64),
        What::Reader(pipe) | What::Writer(pipe) | What::Both(pipe) => stream(3 + u64::from(*pipe)),
        What::Text(file) => of_item(k, Item::Text(*file)),
        // What has an inode was answered above.
        What::File(_) | What::Device(..) | What::Dir(_) | What::WorkDir(_) => return Err(Errno::Badf),
    })
}
