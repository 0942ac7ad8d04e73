//! Calls on paths relative to a directory descriptor, for the WASI decoder and for engines whose guests pass values.

mod open;

pub use open::OpenOptions;

use crate::errno::Errno;
use crate::fs::PathStart;
use crate::kernel::{Kernel, USER};
use crate::open_file::FileObject;
use crate::process::Pid;
use crate::procfs;
use crate::resolve::{DirRef, ResolvedPath, Walk};
use crate::stat::{self, FileStat};
use crate::syscall::{SyscallError, run_syscall};

/// A new value of a file time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TimeSpec {
    /// Keep the current value.
    Omit,
    /// Set to the kernel's time.
    Now,
    /// Set to this time, in nanoseconds since the Unix epoch.
    At(u64),
}

impl TimeSpec {
    pub(crate) fn resolve(self, now: u64) -> Option<u64> {
        match self {
            Self::Omit => None,
            Self::Now => Some(now),
            Self::At(time) => Some(time),
        }
    }
}

/// Start directory of a path argument, and the resolution rule.
struct PathBase {
    dir: DirRef,
    walk: Walk,
}

impl PathBase {
    /// Returns the base for `path` below descriptor `fd`.
    fn of(k: &Kernel, pid: Pid, fd: u32, path: &[u8], follow: bool) -> Result<Self, Errno> {
        if path.len() > k.limits.path_bytes as usize {
            return Err(Errno::Nametoolong);
        }
        if path.contains(&0) {
            return Err(Errno::Inval);
        }
        match &k.open_file(pid, fd)?.what {
            FileObject::Dir(dir) => Ok(Self { dir: dir.clone(), walk: Walk { follow, beneath: true } }),
            FileObject::WorkDir(dir) => {
                let dir = plain_guest_base(k, pid, dir, path);
                Ok(Self { dir, walk: Walk { follow, beneath: false } })
            }
            _ => Err(Errno::Notdir),
        }
    }

    fn find(&self, k: &Kernel, pid: Pid, path: &[u8]) -> Result<ResolvedPath, Errno> {
        k.find(pid, &self.dir, path, self.walk)
    }

    /// Returns the start directory for calls that create or remove a name.
    fn start(&self, k: &Kernel) -> Result<PathStart, Errno> {
        k.parent_start(&self.dir, self.walk)
    }
}

/// Implements the rule of `docs/abi.md` for plain guests, whose C library has stripped the leading slash: the working directory
/// first, `/` second. A path that exists in neither belongs to the working directory, unless only `/` has a directory with the
/// path's first component.
fn plain_guest_base(k: &Kernel, pid: Pid, cwd: &DirRef, path: &[u8]) -> DirRef {
    let root = DirRef::Node(k.fs.root());
    let here = Walk { follow: false, beneath: false };
    if path.starts_with(b"/") || *cwd == root || !is_not_found(k.find(pid, cwd, path, here)) {
        return cwd.clone();
    }
    if !is_not_found(k.find(pid, &root, path, here)) {
        return root;
    }
    let first = path.split(|b| *b == b'/').next().unwrap_or_default();
    if first != path && is_not_found(k.find(pid, cwd, first, here)) && k.find_dir(pid, &root, first).is_ok() {
        return root;
    }
    cwd.clone()
}

fn is_not_found(found: Result<ResolvedPath, Errno>) -> bool {
    matches!(found, Err(Errno::Noent | Errno::Notdir))
}

/// Calls on paths. `dir` is the descriptor of a directory; paths above it cannot be reached, except from the working directory of
/// a plain guest (`docs/decisions/plain-guest-paths.md`).
///
/// # Errors
/// All return a [`SyscallError`]: the process must end, or the errno of the preview1 function with this meaning. Common errors
/// are `BADF` and `NOTDIR` for `dir`; `NOENT`, `NOTDIR`, `ACCES`, `LOOP`, `NAMETOOLONG`, `INVAL` (a NUL) and `NOTCAPABLE` (a path
/// that leaves `dir`) for the path; and `ROFS` for changes in `/proc`.
impl Kernel {
    /// Creates a directory.
    pub fn make_dir_at(&mut self, pid: Pid, dir: u32, path: &[u8]) -> Result<(), SyscallError> {
        run_syscall(self, pid, |k| {
            let at = PathBase::of(k, pid, dir, path, false)?.start(k)?;
            let (mode, now) = (0o777 & !k.process(pid)?.umask, k.now());
            k.fs.mkdir(&USER, at, path, mode, now)?;
            Ok(())
        })
    }

    /// Returns the status of the file at a path.
    pub fn stat_at(&mut self, pid: Pid, dir: u32, path: &[u8], follow: bool) -> Result<FileStat, SyscallError> {
        run_syscall(self, pid, |k| {
            let found = PathBase::of(k, pid, dir, path, follow)?.find(k, pid, path)?;
            Ok(stat::from_path(k, &found, follow)?)
        })
    }

    /// Sets access and modification time of the file at a path.
    pub fn set_times_at(
        &mut self,
        pid: Pid,
        dir: u32,
        path: &[u8],
        follow: bool,
        atime: TimeSpec,
        mtime: TimeSpec,
    ) -> Result<(), SyscallError> {
        run_syscall(self, pid, |k| {
            let base = PathBase::of(k, pid, dir, path, follow)?;
            let ResolvedPath::Node(ino) = base.find(k, pid, path)? else { return Err(Errno::Perm.into()) };
            let now = k.now();
            Ok(k.fs.set_times(&USER, ino, atime.resolve(now), mtime.resolve(now), now)?)
        })
    }

    /// Creates another name for a file.
    pub fn link_at(
        &mut self,
        pid: Pid,
        old_dir: u32,
        old: &[u8],
        follow: bool,
        new_dir: u32,
        new: &[u8],
    ) -> Result<(), SyscallError> {
        run_syscall(self, pid, |k| {
            let found = PathBase::of(k, pid, old_dir, old, follow)?.find(k, pid, old)?;
            let ResolvedPath::Node(ino) = found else { return Err(Errno::Xdev.into()) };
            let at = PathBase::of(k, pid, new_dir, new, false)?.start(k)?;
            let now = k.now();
            Ok(k.fs.link(&USER, ino, at, new, now)?)
        })
    }

    /// Returns the target of a symbolic link.
    pub fn read_link_at(&mut self, pid: Pid, dir: u32, path: &[u8]) -> Result<Vec<u8>, SyscallError> {
        run_syscall(self, pid, |k| match PathBase::of(k, pid, dir, path, false)?.find(k, pid, path)? {
            ResolvedPath::Node(ino) => Ok(k.fs.readlink(ino)?),
            ResolvedPath::Proc(item) => Ok(procfs::target(k, item)?),
        })
    }

    /// Removes an empty directory.
    pub fn remove_dir_at(&mut self, pid: Pid, dir: u32, path: &[u8]) -> Result<(), SyscallError> {
        run_syscall(self, pid, |k| {
            let at = PathBase::of(k, pid, dir, path, false)?.start(k)?;
            let now = k.now();
            Ok(k.fs.rmdir(&USER, at, path, now)?)
        })
    }

    /// Renames a file, replacing an existing one.
    pub fn rename_at(
        &mut self,
        pid: Pid,
        old_dir: u32,
        old: &[u8],
        new_dir: u32,
        new: &[u8],
    ) -> Result<(), SyscallError> {
        run_syscall(self, pid, |k| {
            let from = PathBase::of(k, pid, old_dir, old, false)?.start(k)?;
            let to = PathBase::of(k, pid, new_dir, new, false)?.start(k)?;
            let now = k.now();
            Ok(k.fs.rename(&USER, from, old, to, new, now)?)
        })
    }

    /// Creates a symbolic link. The target is not checked; it is resolved when the link is followed.
    pub fn symlink_at(&mut self, pid: Pid, target: &[u8], dir: u32, path: &[u8]) -> Result<(), SyscallError> {
        run_syscall(self, pid, |k| {
            let at = PathBase::of(k, pid, dir, path, false)?.start(k)?;
            let now = k.now();
            k.fs.symlink(&USER, target, at, path, now)?;
            Ok(())
        })
    }

    /// Removes a name of a non-directory.
    pub fn unlink_at(&mut self, pid: Pid, dir: u32, path: &[u8]) -> Result<(), SyscallError> {
        run_syscall(self, pid, |k| {
            let at = PathBase::of(k, pid, dir, path, false)?.start(k)?;
            let now = k.now();
            Ok(k.fs.unlink(&USER, at, path, now)?)
        })
    }
}
