//! Opening a file.

use super::PathBase;
use crate::errno::Errno;
use crate::fifo::OpenRequest;
use crate::fs::{Device, Ino, Kind};
use crate::kernel::{Kernel, USER};
use crate::open_file::{FileObject, OpenFile};
use crate::process::Pid;
use crate::procfs::ProcEntry;
use crate::resolve::{DirRef, ResolvedPath};
use crate::syscall::{SyscallError, run_syscall};

/// Options for opening a file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct OpenOptions {
    /// Create the file if it does not exist.
    pub create: bool,
    /// Fail unless it is a directory.
    pub directory: bool,
    /// With `create`, fail if it exists.
    pub exclusive: bool,
    /// Truncate to length 0.
    pub truncate: bool,
    /// Open for reading.
    pub read: bool,
    /// Open for listing, the read access of a directory. It does not open a file for reading.
    pub list: bool,
    /// Open for writing.
    pub write: bool,
    /// Follow a symbolic link at the end of the path.
    pub follow: bool,
    /// `fdflags` of preview1.
    pub flags: u16,
}

impl OpenOptions {
    /// Adapts the options to a directory.
    fn on_directory(self) -> Self {
        Self { read: self.read || self.list, ..self }
    }

    /// Returns the requested access in the form of [`crate::fs::Fs::access`].
    fn access(self) -> u32 {
        let write = self.write || self.truncate;
        (if self.read { 4 } else { 0 }) | (if write { 2 } else { 0 })
    }
}

/// The result of an open, before a descriptor is assigned.
enum OpenResult {
    New(OpenFile),
    /// An existing open file, which is shared.
    Shared(u32),
}

impl Kernel {
    /// Opens the file at a path and returns the lowest free descriptor.
    ///
    /// # Errors
    /// As all calls on paths; `INVAL` for `create` with `directory`, `EXIST`, `ISDIR`, `LOOP` (a link that is not followed),
    /// `MFILE`, `NOSPC`, `NXIO` (`/dev/tty` without a terminal; a FIFO without a reader, for a non-blocking writer). [`SyscallError::Block`] while
    /// the other end of a FIFO is not open: the engine repeats the same call.
    pub fn open_at(&mut self, pid: Pid, dir: u32, path: &[u8], options: OpenOptions) -> Result<u32, SyscallError> {
        run_syscall(self, pid, |k| {
            if options.create && options.directory {
                return Err(Errno::Inval.into());
            }
            let request = OpenRequest { dir, path, options };
            if let Some(waited) = k.poll_pending_open(pid, request) {
                let file = waited?;
                let installed = k.install_fd(pid, file, 0);
                k.unref_file(file);
                return Ok(installed?);
            }
            // Before anything is created or truncated: without a free descriptor nothing may change.
            k.process(pid)?.fds.lowest_free(0, k.limits.descriptors)?;
            match open(k, pid, request)? {
                OpenResult::New(file) => Ok(k.open_fd(pid, file)?),
                OpenResult::Shared(file) => Ok(k.install_fd(pid, file, 0)?),
            }
        })
    }
}

fn open(k: &mut Kernel, pid: Pid, request: OpenRequest<'_>) -> Result<OpenResult, SyscallError> {
    let OpenRequest { dir, path, options } = request;
    let exclusive = options.create && options.exclusive;
    let base = PathBase::of(k, pid, dir, path, options.follow && !exclusive)?;
    // A name to create with a trailing slash is rejected below, whether or not it exists.
    let slash = options.create && path.ends_with(b"/");
    let found = if slash { Err(Errno::Noent) } else { base.find(k, pid, path) };
    let (ino, created) = match found {
        Ok(_) if exclusive => return Err(Errno::Exist.into()),
        Ok(ResolvedPath::Node(ino)) => (ino, false),
        Ok(ResolvedPath::Proc(item)) => return open_item(k, item, options),
        Err(Errno::Noent) if options.create => {
            let at = base.start(k)?;
            let (mode, now) = (0o666 & !k.process(pid)?.umask, k.now());
            k.fs.create(&USER, at, path, mode, exclusive, now)?
        }
        Err(errno) => return Err(errno.into()),
    };
    let options = match k.fs.stat(ino)?.kind {
        Kind::Fifo if options.directory => return Err(Errno::Notdir.into()),
        Kind::Fifo => {
            k.fs.access(&USER, ino, options.access())?;
            return Ok(OpenResult::New(k.open_fifo(pid, ino, request)?));
        }
        Kind::Dir => options.on_directory(),
        Kind::File | Kind::Symlink | Kind::Device(_) => options,
    };
    let what = open_node(k, pid, ino, created, options)?;
    Ok(OpenResult::New(OpenFile::new(what, options.read, options.write, options.flags)))
}

/// Opens an inode. If `created`, the requested access is granted without a check of the mode.
fn open_node(k: &mut Kernel, pid: Pid, ino: Ino, created: bool, options: OpenOptions) -> Result<FileObject, Errno> {
    let kind = k.fs.stat(ino)?.kind;
    match kind {
        Kind::Symlink if options.directory => return Err(Errno::Notdir),
        Kind::Symlink => return Err(Errno::Loop),
        Kind::Dir if options.access() & 2 != 0 || options.create => return Err(Errno::Isdir),
        Kind::File | Kind::Device(_) | Kind::Fifo if options.directory => return Err(Errno::Notdir),
        // The caller has already handled FIFOs.
        Kind::Fifo => return Err(Errno::Inval),
        Kind::Dir | Kind::File | Kind::Device(_) => {}
    }
    if !created {
        k.fs.access(&USER, ino, options.access())?;
    }
    match kind {
        Kind::Dir => Ok(FileObject::Dir(DirRef::Node(ino))),
        Kind::Device(Device::Tty) => Ok(FileObject::Terminal(k.controlling_terminal(pid)?)),
        Kind::Device(device) => Ok(FileObject::Device(device, ino)),
        Kind::File | Kind::Symlink | Kind::Fifo => {
            if options.truncate && !created {
                let now = k.now();
                k.fs.truncate(ino, 0, now)?;
            }
            Ok(FileObject::File(ino))
        }
    }
}

fn open_item(k: &Kernel, item: ProcEntry, options: OpenOptions) -> Result<OpenResult, SyscallError> {
    let options = if matches!(item, ProcEntry::Dir(_)) { options.on_directory() } else { options };
    let writes = options.access() & 2 != 0;
    let what = match item {
        ProcEntry::Dir(_) if writes || options.create => return Err(Errno::Isdir.into()),
        ProcEntry::Dir(dir) => FileObject::Dir(DirRef::Proc(dir.path())),
        _ if options.directory => return Err(Errno::Notdir.into()),
        ProcEntry::Text(_) if writes => return Err(Errno::Acces.into()),
        ProcEntry::Text(file) => FileObject::Text(file),
        ProcEntry::Link(_) => return Err(Errno::Loop.into()),
        ProcEntry::Descriptor(..) if !options.follow => return Err(Errno::Loop.into()),
        ProcEntry::Descriptor(pid, fd) => {
            let file = k.file_of(pid, fd)?;
            let open = k.files.get(file).ok_or(Errno::Badf)?;
            if (options.read && !open.read) || (options.write && !open.write) {
                return Err(Errno::Acces.into());
            }
            return Ok(OpenResult::Shared(file));
        }
    };
    Ok(OpenResult::New(OpenFile::new(what, options.read, false, options.flags)))
}
