//! Opening a file.

use super::Base;
use crate::errno::Errno;
use crate::fifo::Request;
use crate::fs::{Device, Ino, Kind};
use crate::kernel::{Kernel, USER};
use crate::open_file::{OpenFile, What};
use crate::process::Pid;
use crate::procfs::Item;
use crate::resolve::{Found, Place};
use crate::wasi::{Halt, attempt};

/// How a file is to be opened.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Opening {
    /// Make it when it is not there.
    pub create: bool,
    /// Fail unless it is a directory.
    pub directory: bool,
    /// With `create`, fail when it is there.
    pub exclusive: bool,
    /// Cut it to nothing.
    pub truncate: bool,
    /// For reading.
    pub read: bool,
    /// To list, which is how a directory is read. It opens no file for reading.
    pub list: bool,
    /// For writing.
    pub write: bool,
    /// Follow a symbolic link at the end.
    pub follow: bool,
    /// `fdflags` of preview1.
    pub flags: u16,
}

impl Opening {
    /// The same for what turned out to be a directory.
    fn on_directory(self) -> Self {
        Self { read: self.read || self.list, ..self }
    }

    /// As `access` takes it.
    fn access(self) -> u32 {
        let write = self.write || self.truncate;
        (if self.read { 4 } else { 0 }) | (if write { 2 } else { 0 })
    }
}

/// What is to get a descriptor.
enum Opened {
    New(OpenFile),
    /// An open file that is there already, and is shared.
    Shared(u32),
}

impl Kernel {
    /// Opens what a path names and answers the descriptor, the lowest that is free.
    ///
    /// # Errors
    /// As all calls on paths; `INVAL` for `create` with `directory`, `EXIST`, `ISDIR`, `LOOP` (a link that is not
    /// followed), `MFILE`, `NOSPC`, `NXIO` (the terminal; a named pipe without a reader, for
    /// who does not wait). [`Halt::Block`] when the other end of a named pipe is to come: the same call is made again.
    pub fn open_at(&mut self, pid: Pid, dir: u32, path: &[u8], how: Opening) -> Result<u32, Halt> {
        attempt(self, pid, |k| {
            if how.create && how.directory {
                return Err(Errno::Inval.into());
            }
            let request = Request { dir, path, how };
            if let Some(waited) = k.waited_for(pid, request) {
                let file = waited?;
                let given = k.give_fd(pid, file, 0);
                k.drop_file(file);
                return Ok(given?);
            }
            // Before anything is made or cut: without a free descriptor nothing may change.
            k.process(pid)?.fds.lowest_free(0, k.limits.descriptors)?;
            match open(k, pid, request)? {
                Opened::New(file) => Ok(k.open_fd(pid, file)?),
                Opened::Shared(file) => Ok(k.give_fd(pid, file, 0)?),
            }
        })
    }
}

fn open(k: &mut Kernel, pid: Pid, request: Request<'_>) -> Result<Opened, Halt> {
    let Request { dir, path, how } = request;
    let exclusive = how.create && how.exclusive;
    let base = Base::of(k, pid, dir, path, how.follow && !exclusive)?;
    // What is to be made under a name with a slash behind it is refused in one place, whatever is there.
    let slash = how.create && path.ends_with(b"/");
    let found = if slash { Err(Errno::Noent) } else { base.find(k, pid, path) };
    let (ino, made) = match found {
        Ok(_) if exclusive => return Err(Errno::Exist.into()),
        Ok(Found::Node(ino)) => (ino, false),
        Ok(Found::Proc(item)) => return open_item(k, item, how),
        Err(Errno::Noent) if how.create => {
            let at = base.start(k)?;
            let (mode, now) = (0o666 & !k.process(pid)?.umask, k.now());
            k.fs.create(&USER, at, path, mode, exclusive, now)?
        }
        Err(errno) => return Err(errno.into()),
    };
    let how = match k.fs.stat(ino)?.kind {
        Kind::Fifo if how.directory => return Err(Errno::Notdir.into()),
        Kind::Fifo => {
            k.fs.access(&USER, ino, how.access())?;
            return Ok(Opened::New(k.open_fifo(pid, ino, request)?));
        }
        Kind::Dir => how.on_directory(),
        Kind::File | Kind::Symlink | Kind::Device(_) => how,
    };
    let what = open_node(k, ino, made, how)?;
    Ok(Opened::New(OpenFile::new(what, how.read, how.write, how.flags)))
}

/// `made` files were just created and open for whatever was asked, whatever their mode says.
fn open_node(k: &mut Kernel, ino: Ino, made: bool, how: Opening) -> Result<What, Errno> {
    let kind = k.fs.stat(ino)?.kind;
    match kind {
        Kind::Symlink if how.directory => return Err(Errno::Notdir),
        Kind::Symlink => return Err(Errno::Loop),
        Kind::Dir if how.access() & 2 != 0 || how.create => return Err(Errno::Isdir),
        Kind::File | Kind::Device(_) | Kind::Fifo if how.directory => return Err(Errno::Notdir),
        Kind::Device(Device::Tty) => return Err(Errno::Nxio),
        // A named pipe was opened by the caller.
        Kind::Fifo => return Err(Errno::Inval),
        Kind::Dir | Kind::File | Kind::Device(_) => {}
    }
    if !made {
        k.fs.access(&USER, ino, how.access())?;
    }
    match kind {
        Kind::Dir => Ok(What::Dir(Place::Node(ino))),
        Kind::Device(device) => Ok(What::Device(device, ino)),
        Kind::File | Kind::Symlink | Kind::Fifo => {
            if how.truncate && !made {
                let now = k.now();
                k.fs.truncate(ino, 0, now)?;
            }
            Ok(What::File(ino))
        }
    }
}

fn open_item(k: &Kernel, item: Item, how: Opening) -> Result<Opened, Halt> {
    let how = if matches!(item, Item::Dir(_)) { how.on_directory() } else { how };
    let writes = how.access() & 2 != 0;
    let what = match item {
        Item::Dir(_) if writes || how.create => return Err(Errno::Isdir.into()),
        Item::Dir(dir) => What::Dir(Place::Proc(dir.path())),
        _ if how.directory => return Err(Errno::Notdir.into()),
        Item::Text(_) if writes => return Err(Errno::Acces.into()),
        Item::Text(file) => What::Text(file),
        Item::Link(_) => return Err(Errno::Loop.into()),
        Item::Descriptor(..) if !how.follow => return Err(Errno::Loop.into()),
        Item::Descriptor(pid, fd) => {
            let file = k.file_of(pid, fd)?;
            let open = k.files.get(file).ok_or(Errno::Badf)?;
            if (how.read && !open.read) || (how.write && !open.write) {
                return Err(Errno::Acces.into());
            }
            return Ok(Opened::Shared(file));
        }
    };
    Ok(Opened::New(OpenFile::new(what, how.read, false, how.flags)))
}
