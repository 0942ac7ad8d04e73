//! preview1's functions that take paths.

use super::arg::{self, put_u32};
use super::p1_fd::{known_flags, right, times};
use super::{GuestMem, Halt, Sys, call, stat};
use crate::errno::Errno;
use crate::fs::{At, Device, Ino, Kind};
use crate::kernel::{Kernel, USER};
use crate::open_file::{OpenFile, What};
use crate::process::Pid;
use crate::procfs::{self, Item};
use crate::resolve::{Found, Place, Walk};

/// `lookupflags`: follow a link at the end.
const FOLLOW: u32 = 1;

/// `oflags`.
mod oflag {
    pub(super) const CREATE: u32 = 1;
    pub(super) const DIRECTORY: u32 = 2;
    pub(super) const EXCLUSIVE: u32 = 4;
    pub(super) const TRUNCATE: u32 = 8;
}

/// Where a path argument starts, and by which rule.
struct Base {
    place: Place,
    walk: Walk,
}

impl Base {
    /// The rule for `path` below descriptor `fd`.
    fn of(k: &Kernel, pid: Pid, fd: u32, path: &[u8], follow: bool) -> Result<Self, Errno> {
        match &k.open_file(pid, fd)?.what {
            What::Dir(place) => Ok(Self { place: place.clone(), walk: Walk { follow, beneath: true } }),
            What::WorkDir(place) => {
                let place = plain_start(k, pid, place, path);
                Ok(Self { place, walk: Walk { follow, beneath: false } })
            }
            _ => Err(Errno::Notdir),
        }
    }

    fn find(&self, k: &Kernel, pid: Pid, path: &[u8]) -> Result<Found, Errno> {
        k.find(pid, &self.place, path, self.walk)
    }

    /// For calls that make or take a name.
    fn start(&self, k: &Kernel) -> Result<At, Errno> {
        k.start(&self.place, self.walk)
    }
}

/// The rule of `docs/abi.md` for plain guests, whose C library has stripped the leading slash: the working directory
/// first, `/` second; what is in neither belongs to the working directory, unless only `/` has a directory of the
/// path's first name.
fn plain_start(k: &Kernel, pid: Pid, cwd: &Place, path: &[u8]) -> Place {
    let root = Place::Node(k.fs.root());
    let here = Walk { follow: false, beneath: false };
    if path.starts_with(b"/") || *cwd == root || !missing(k.find(pid, cwd, path, here)) {
        return cwd.clone();
    }
    if !missing(k.find(pid, &root, path, here)) {
        return root;
    }
    let first = path.split(|b| *b == b'/').next().unwrap_or_default();
    if first != path && missing(k.find(pid, cwd, first, here)) && k.find_dir(pid, &root, first).is_ok() {
        return root;
    }
    cwd.clone()
}

fn missing(found: Result<Found, Errno>) -> bool {
    matches!(found, Err(Errno::Noent | Errno::Notdir))
}

/// Makes a directory.
pub fn path_create_directory(k: &mut Kernel, pid: Pid, m: &mut dyn GuestMem, fd: u32, path: u32, len: u32) -> Sys {
    call(k, pid, |k| {
        let path = arg::path(k, m, path, len)?;
        let at = Base::of(k, pid, fd, &path, false)?.start(k)?;
        let (mode, now) = (0o777 & !k.process(pid)?.umask, k.now());
        k.fs.mkdir(&USER, at, &path, mode, now)?;
        Ok(())
    })
}

/// What a path names.
#[allow(clippy::too_many_arguments, reason = "the arguments are those of the witx")]
pub fn path_filestat_get(
    k: &mut Kernel,
    pid: Pid,
    m: &mut dyn GuestMem,
    fd: u32,
    flags: u32,
    path: u32,
    len: u32,
    out: u32,
) -> Sys {
    call(k, pid, |k| {
        let path = arg::path(k, m, path, len)?;
        let follow = flags & FOLLOW != 0;
        let found = Base::of(k, pid, fd, &path, follow)?.find(k, pid, &path)?;
        let description = stat::of_found(k, &found, follow)?;
        Ok(m.write(out, &description.filestat())?)
    })
}

/// Sets access and modification time of what a path names.
#[allow(clippy::too_many_arguments, reason = "the arguments are those of the witx")]
pub fn path_filestat_set_times(
    k: &mut Kernel,
    pid: Pid,
    m: &mut dyn GuestMem,
    fd: u32,
    flags: u32,
    path: u32,
    len: u32,
    atime: u64,
    mtime: u64,
    which: u32,
) -> Sys {
    call(k, pid, |k| {
        let path = arg::path(k, m, path, len)?;
        let base = Base::of(k, pid, fd, &path, flags & FOLLOW != 0)?;
        let (atime, mtime) = times(k, atime, mtime, which)?;
        let Found::Node(ino) = base.find(k, pid, &path)? else { return Err(Errno::Perm.into()) };
        let now = k.now();
        Ok(k.fs.set_times(&USER, ino, atime, mtime, now)?)
    })
}

/// Gives a file one more name.
#[allow(clippy::too_many_arguments, reason = "the arguments are those of the witx")]
pub fn path_link(
    k: &mut Kernel,
    pid: Pid,
    m: &mut dyn GuestMem,
    old_fd: u32,
    old_flags: u32,
    old: u32,
    old_len: u32,
    new_fd: u32,
    new: u32,
    new_len: u32,
) -> Sys {
    call(k, pid, |k| {
        let old = arg::path(k, m, old, old_len)?;
        let new = arg::path(k, m, new, new_len)?;
        let found = Base::of(k, pid, old_fd, &old, old_flags & FOLLOW != 0)?.find(k, pid, &old)?;
        let Found::Node(ino) = found else { return Err(Errno::Xdev.into()) };
        let at = Base::of(k, pid, new_fd, &new, false)?.start(k)?;
        let now = k.now();
        Ok(k.fs.link(&USER, ino, at, &new, now)?)
    })
}

/// What `path_open` was asked for.
#[derive(Clone, Copy, Debug)]
struct Request {
    oflags: u32,
    fdflags: u16,
    read: bool,
    /// To list, which is how a directory is read. It opens no file for reading.
    list: bool,
    write: bool,
    follow: bool,
}

impl Request {
    fn wants(self, flag: u32) -> bool {
        self.oflags & flag != 0
    }

    /// The same for what turned out to be a directory.
    fn on_directory(self) -> Self {
        Self { read: self.read || self.list, ..self }
    }

    /// As `access` takes it.
    fn access(self) -> u32 {
        let write = self.write || self.wants(oflag::TRUNCATE);
        (if self.read { 4 } else { 0 }) | (if write { 2 } else { 0 })
    }
}

/// What is to get a descriptor.
enum Opened {
    New(OpenFile),
    /// An open file that is there already, and is shared.
    Shared(u32),
}

/// Opens a file. The rights asked for say whether for reading, writing or both, as C libraries use them.
#[allow(clippy::too_many_arguments, reason = "the arguments are those of the witx")]
pub fn path_open(
    k: &mut Kernel,
    pid: Pid,
    m: &mut dyn GuestMem,
    fd: u32,
    dirflags: u32,
    path: u32,
    len: u32,
    oflags: u32,
    base: u64,
    inheriting: u64,
    fdflags: u32,
    out: u32,
) -> Sys {
    let _ = inheriting;
    call(k, pid, |k| {
        let path = arg::path(k, m, path, len)?;
        let request = Request {
            oflags,
            fdflags: known_flags(fdflags)?,
            read: base & right::FD_READ != 0,
            list: base & right::FD_READDIR != 0,
            write: base & right::FD_WRITE != 0,
            follow: dirflags & FOLLOW != 0,
        };
        if oflags > 15 || (request.wants(oflag::CREATE) && request.wants(oflag::DIRECTORY)) {
            return Err(Errno::Inval.into());
        }
        // Before anything is made or cut: without a free descriptor nothing may change.
        k.process(pid)?.fds.lowest_free(0, k.limits.descriptors)?;
        let opened = open(k, pid, fd, &path, request)?;
        let new = match opened {
            Opened::New(file) => k.open_fd(pid, file)?,
            Opened::Shared(file) => k.give_fd(pid, file, 0)?,
        };
        put_u32(m, out, new).map_err(|fault| {
            // The guest cannot learn the number, so it is not left open. It was open a moment ago.
            let _ = k.close_fd(pid, new);
            Halt::from(fault)
        })
    })
}

fn open(k: &mut Kernel, pid: Pid, fd: u32, path: &[u8], request: Request) -> Result<Opened, Halt> {
    let exclusive = request.wants(oflag::CREATE) && request.wants(oflag::EXCLUSIVE);
    let base = Base::of(k, pid, fd, path, request.follow && !exclusive)?;
    // What is to be made under a name with a slash behind it is refused in one place, whatever is there.
    let slash = request.wants(oflag::CREATE) && path.ends_with(b"/");
    let found = if slash { Err(Errno::Noent) } else { base.find(k, pid, path) };
    let (ino, made) = match found {
        Ok(_) if exclusive => return Err(Errno::Exist.into()),
        Ok(Found::Node(ino)) => (ino, false),
        Ok(Found::Proc(item)) => return open_item(k, item, request),
        Err(Errno::Noent) if request.wants(oflag::CREATE) => {
            let at = base.start(k)?;
            let (mode, now) = (0o666 & !k.process(pid)?.umask, k.now());
            k.fs.create(&USER, at, path, mode, exclusive, now)?
        }
        Err(errno) => return Err(errno.into()),
    };
    let request = if k.fs.stat(ino)?.kind == Kind::Dir { request.on_directory() } else { request };
    let what = open_node(k, ino, made, request)?;
    Ok(Opened::New(OpenFile::new(what, request.read, request.write, request.fdflags)))
}

/// `made` files were just created and open for whatever was asked, whatever their mode says.
fn open_node(k: &mut Kernel, ino: Ino, made: bool, request: Request) -> Result<What, Errno> {
    let kind = k.fs.stat(ino)?.kind;
    match kind {
        Kind::Symlink if request.wants(oflag::DIRECTORY) => return Err(Errno::Notdir),
        Kind::Symlink => return Err(Errno::Loop),
        Kind::Dir if request.access() & 2 != 0 || request.wants(oflag::CREATE) => return Err(Errno::Isdir),
        Kind::File | Kind::Device(_) if request.wants(oflag::DIRECTORY) => return Err(Errno::Notdir),
        Kind::Device(Device::Tty) => return Err(Errno::Nxio),
        Kind::Dir | Kind::File | Kind::Device(_) => {}
    }
    if !made {
        k.fs.access(&USER, ino, request.access())?;
    }
    match kind {
        Kind::Dir => Ok(What::Dir(Place::Node(ino))),
        Kind::Device(device) => Ok(What::Device(device, ino)),
        Kind::File | Kind::Symlink => {
            if request.wants(oflag::TRUNCATE) && !made {
                let now = k.now();
                k.fs.truncate(ino, 0, now)?;
            }
            Ok(What::File(ino))
        }
    }
}

fn open_item(k: &Kernel, item: Item, request: Request) -> Result<Opened, Halt> {
    let request = if matches!(item, Item::Dir(_)) { request.on_directory() } else { request };
    let writes = request.access() & 2 != 0;
    let what = match item {
        Item::Dir(_) if writes || request.wants(oflag::CREATE) => return Err(Errno::Isdir.into()),
        Item::Dir(dir) => What::Dir(Place::Proc(dir.path())),
        _ if request.wants(oflag::DIRECTORY) => return Err(Errno::Notdir.into()),
        Item::Text(_) if writes => return Err(Errno::Acces.into()),
        Item::Text(file) => What::Text(file),
        Item::Link(_) => return Err(Errno::Loop.into()),
        Item::Descriptor(..) if !request.follow => return Err(Errno::Loop.into()),
        Item::Descriptor(pid, fd) => {
            let file = k.file_of(pid, fd)?;
            let open = k.files.get(file).ok_or(Errno::Badf)?;
            if (request.read && !open.read) || (request.write && !open.write) {
                return Err(Errno::Acces.into());
            }
            return Ok(Opened::Shared(file));
        }
    };
    Ok(Opened::New(OpenFile::new(what, request.read, false, request.fdflags)))
}

/// What a symbolic link holds, cut to the buffer.
#[allow(clippy::too_many_arguments, reason = "the arguments are those of the witx")]
pub fn path_readlink(
    k: &mut Kernel,
    pid: Pid,
    m: &mut dyn GuestMem,
    fd: u32,
    path: u32,
    len: u32,
    buffer: u32,
    buffer_len: u32,
    out: u32,
) -> Sys {
    call(k, pid, |k| {
        let path = arg::path(k, m, path, len)?;
        let target = match Base::of(k, pid, fd, &path, false)?.find(k, pid, &path)? {
            Found::Node(ino) => k.fs.readlink(ino)?,
            Found::Proc(item) => procfs::target(k, item)?,
        };
        let fits = target.get(..buffer_len as usize).unwrap_or(&target);
        m.write(buffer, fits)?;
        Ok(put_u32(m, out, u32::try_from(fits.len()).unwrap_or(buffer_len))?)
    })
}

/// Removes an empty directory.
pub fn path_remove_directory(k: &mut Kernel, pid: Pid, m: &mut dyn GuestMem, fd: u32, path: u32, len: u32) -> Sys {
    call(k, pid, |k| {
        let path = arg::path(k, m, path, len)?;
        let at = Base::of(k, pid, fd, &path, false)?.start(k)?;
        let now = k.now();
        Ok(k.fs.rmdir(&USER, at, &path, now)?)
    })
}

/// Renames, over what was there.
#[allow(clippy::too_many_arguments, reason = "the arguments are those of the witx")]
pub fn path_rename(
    k: &mut Kernel,
    pid: Pid,
    m: &mut dyn GuestMem,
    fd: u32,
    old: u32,
    old_len: u32,
    new_fd: u32,
    new: u32,
    new_len: u32,
) -> Sys {
    call(k, pid, |k| {
        let old = arg::path(k, m, old, old_len)?;
        let new = arg::path(k, m, new, new_len)?;
        let from = Base::of(k, pid, fd, &old, false)?.start(k)?;
        let to = Base::of(k, pid, new_fd, &new, false)?.start(k)?;
        let now = k.now();
        Ok(k.fs.rename(&USER, from, &old, to, &new, now)?)
    })
}

/// Makes a symbolic link that holds any text; it is looked at only when someone follows the link.
#[allow(clippy::too_many_arguments, reason = "the arguments are those of the witx")]
pub fn path_symlink(
    k: &mut Kernel,
    pid: Pid,
    m: &mut dyn GuestMem,
    target: u32,
    target_len: u32,
    fd: u32,
    path: u32,
    len: u32,
) -> Sys {
    call(k, pid, |k| {
        let target = arg::path(k, m, target, target_len)?;
        let path = arg::path(k, m, path, len)?;
        let at = Base::of(k, pid, fd, &path, false)?.start(k)?;
        let now = k.now();
        k.fs.symlink(&USER, &target, at, &path, now)?;
        Ok(())
    })
}

/// Removes a name of what is no directory.
pub fn path_unlink_file(k: &mut Kernel, pid: Pid, m: &mut dyn GuestMem, fd: u32, path: u32, len: u32) -> Sys {
    call(k, pid, |k| {
        let path = arg::path(k, m, path, len)?;
        let at = Base::of(k, pid, fd, &path, false)?.start(k)?;
        let now = k.now();
        Ok(k.fs.unlink(&USER, at, &path, now)?)
    })
}
