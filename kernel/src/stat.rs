//! File status, in the forms of preview1's `filestat` and of `tidebox_v1`.

use crate::errno::Errno;
use crate::fs::{Ino, Kind};
use crate::kernel::{Kernel, USER};
use crate::open_file::{FileObject, OpenFile};
use crate::procfs::{Dir, ProcEntry};
use crate::resolve::{DirRef, ResolvedPath};

/// File type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FileType {
    /// A FIFO, a pipe end, or a stream of an execution.
    Pipe,
    /// A character device.
    Character,
    /// A directory.
    Directory,
    /// A regular file.
    Regular,
    /// A symbolic link.
    Symlink,
    /// A socket.
    Socket,
}

impl FileType {
    /// Converts the kind of a stored file.
    pub(crate) fn of(kind: Kind) -> Self {
        match kind {
            Kind::File => Self::Regular,
            Kind::Dir => Self::Directory,
            Kind::Symlink => Self::Symlink,
            Kind::Device(_) => Self::Character,
            Kind::Fifo => Self::Pipe,
        }
    }

    /// Converts the kind of a `/proc` entry.
    pub(crate) fn of_item(item: ProcEntry) -> Self {
        match item {
            ProcEntry::Dir(_) => Self::Directory,
            ProcEntry::Text(_) => Self::Regular,
            ProcEntry::Link(_) | ProcEntry::Descriptor(..) => Self::Symlink,
        }
    }

    /// Returns preview1's number, which does not define one for pipes. Sockets are streams.
    pub(crate) fn preview1(self) -> u8 {
        match self {
            Self::Pipe => 0,
            Self::Character => 2,
            Self::Directory => 3,
            Self::Regular => 4,
            Self::Symlink => 7,
            Self::Socket => 6,
        }
    }

    /// Returns the file type bits of POSIX's `st_mode`.
    fn format(self) -> u32 {
        match self {
            Self::Pipe => 0o010_000,
            Self::Character => 0o020_000,
            Self::Directory => 0o040_000,
            Self::Regular => 0o100_000,
            Self::Symlink => 0o120_000,
            Self::Socket => 0o140_000,
        }
    }
}

/// Device numbers of the kernel; only their equality matters.
const DEV_FILES: u32 = 1;
const DEV_PROC: u32 = 2;
const DEV_STREAMS: u32 = 3;
/// Number of the first socket among the streams, above those of all pipes.
const FIRST_SOCKET: u64 = 1 << 32;
/// Number of the first terminal among the streams.
const FIRST_TERMINAL: u64 = 1 << 33;
/// Device number of the first mount, minus one.
const DEV_MOUNTS: u32 = 15;

/// File status. Times are nanoseconds since the Unix epoch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FileStat {
    /// Device number; only equality matters.
    pub dev: u32,
    /// Inode number on the device.
    pub ino: u64,
    /// File type.
    pub filetype: FileType,
    /// The twelve mode bits.
    pub mode: u32,
    /// Number of names.
    pub nlink: u64,
    /// Owner.
    pub uid: u32,
    /// Group.
    pub gid: u32,
    /// Size in bytes.
    pub size: u64,
    /// Last access.
    pub atime: u64,
    /// Last change of the content.
    pub mtime: u64,
    /// Last change of the content or of an attribute.
    pub ctime: u64,
}

impl FileStat {
    /// Encodes preview1's `filestat`.
    pub(crate) fn filestat(&self) -> [u8; 64] {
        let mut out = [0; 64];
        let kind = u64::from(self.filetype.preview1());
        let fields = [u64::from(self.dev), self.ino, kind, self.nlink, self.size, self.atime, self.mtime, self.ctime];
        for (slot, field) in out.chunks_exact_mut(8).zip(fields) {
            slot.copy_from_slice(&field.to_le_bytes());
        }
        out
    }

    /// Encodes the layout of `docs/abi.md`.
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

fn of_node(k: &Kernel, ino: Ino) -> Result<FileStat, Errno> {
    let stat = k.fs.stat(ino)?;
    Ok(FileStat {
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

/// Status of an object that exists only while the kernel runs.
fn ephemeral(k: &Kernel, dev: u32, ino: u64, filetype: FileType, mode: u32) -> FileStat {
    let now = k.now();
    let (uid, gid) = if dev == DEV_PROC { (0, 0) } else { (USER.uid, USER.gid) };
    FileStat { dev, ino, filetype, mode, nlink: 1, uid, gid, size: 0, atime: now, mtime: now, ctime: now }
}

fn of_item(k: &Kernel, item: ProcEntry) -> FileStat {
    let mode = match item {
        ProcEntry::Dir(_) => 0o555,
        ProcEntry::Text(_) => 0o444,
        ProcEntry::Link(_) | ProcEntry::Descriptor(..) => 0o777,
    };
    ephemeral(k, DEV_PROC, item.ino(), FileType::of_item(item), mode)
}

/// Returns the status of a resolved path. With `follow`, a descriptor below `/proc` is its open file.
pub(crate) fn from_path(k: &Kernel, found: &ResolvedPath, follow: bool) -> Result<FileStat, Errno> {
    match *found {
        ResolvedPath::Node(ino) => of_node(k, ino),
        ResolvedPath::Proc(ProcEntry::Descriptor(pid, fd)) if follow => from_open_file(k, k.open_file(pid, fd)?),
        ResolvedPath::Proc(item) => Ok(of_item(k, item)),
    }
}

/// Returns the status of an open file.
pub(crate) fn from_open_file(k: &Kernel, open: &OpenFile) -> Result<FileStat, Errno> {
    let stream = |number: u64| ephemeral(k, DEV_STREAMS, number, FileType::Pipe, 0o600);
    if let Some(ino) = k.ino_of(&open.what) {
        return of_node(k, ino);
    }
    Ok(match &open.what {
        FileObject::Dir(DirRef::Proc(_)) | FileObject::WorkDir(DirRef::Proc(_)) => {
            of_item(k, ProcEntry::Dir(Dir::Root))
        }
        // Two reserved numbers for the execution's own streams, then the pipes.
        FileObject::Stdin(_) => stream(0),
        FileObject::Output(_, which) => stream(1 + *which as u64),
        FileObject::Reader(pipe) | FileObject::Writer(pipe) | FileObject::Both(pipe) => stream(3 + u64::from(*pipe)),
        FileObject::Socket(socket) => {
            ephemeral(k, DEV_STREAMS, FIRST_SOCKET + u64::from(*socket), FileType::Socket, 0o777)
        }
        FileObject::Terminal(terminal) => {
            ephemeral(k, DEV_STREAMS, FIRST_TERMINAL + u64::from(*terminal), FileType::Character, 0o620)
        }
        FileObject::Text(file) => of_item(k, ProcEntry::Text(*file)),
        // Objects with an inode were handled above.
        FileObject::File(_) | FileObject::Device(..) | FileObject::Dir(_) | FileObject::WorkDir(_) => {
            return Err(Errno::Badf);
        }
    })
}
