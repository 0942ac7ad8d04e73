//! Calls on a path that starts at a directory's descriptor, whoever makes them: a guest with its memory, or an engine
//! whose guests pass values.

mod opening;

pub use opening::Opening;

use crate::errno::Errno;
use crate::fs::At;
use crate::kernel::{Kernel, USER};
use crate::open_file::What;
use crate::process::Pid;
use crate::procfs;
use crate::resolve::{Found, Place, Walk};
use crate::stat::{self, Description};
use crate::wasi::{Halt, attempt};

/// What becomes of a time of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stamp {
    /// It stays.
    Keep,
    /// It becomes the kernel's time.
    Now,
    /// It becomes this one, in nanoseconds since the Unix epoch.
    At(u64),
}

impl Stamp {
    pub(crate) fn resolve(self, now: u64) -> Option<u64> {
        match self {
            Self::Keep => None,
            Self::Now => Some(now),
            Self::At(time) => Some(time),
        }
    }
}

/// Where a path argument starts, and by which rule.
struct Base {
    place: Place,
    walk: Walk,
}

impl Base {
    /// The rule for `path` below descriptor `fd`.
    fn of(k: &Kernel, pid: Pid, fd: u32, path: &[u8], follow: bool) -> Result<Self, Errno> {
        if path.len() > k.limits.path_bytes as usize {
            return Err(Errno::Nametoolong);
        }
        if path.contains(&0) {
            return Err(Errno::Inval);
        }
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

/// Calls on paths. `dir` is the descriptor of a directory: what lies above it cannot be reached, except from the working
/// directory of a plain guest (`docs/decisions/plain-guest-paths.md`).
///
/// # Errors
/// Of all of them, a [`Halt`]: that the process must end, or the errno that preview1's function of this meaning answers.
/// Common to all are `BADF` and `NOTDIR` for `dir`; `NOENT`, `NOTDIR`, `ACCES`, `LOOP`, `NAMETOOLONG`, `INVAL` (a NUL)
/// and `NOTCAPABLE` (a way out of `dir`) for the path; and `ROFS` for changes in `/proc`.
impl Kernel {
    /// Makes a directory.
    pub fn make_dir_at(&mut self, pid: Pid, dir: u32, path: &[u8]) -> Result<(), Halt> {
        attempt(self, pid, |k| {
            let at = Base::of(k, pid, dir, path, false)?.start(k)?;
            let (mode, now) = (0o777 & !k.process(pid)?.umask, k.now());
            k.fs.mkdir(&USER, at, path, mode, now)?;
            Ok(())
        })
    }

    /// What a path names.
    pub fn stat_at(&mut self, pid: Pid, dir: u32, path: &[u8], follow: bool) -> Result<Description, Halt> {
        attempt(self, pid, |k| {
            let found = Base::of(k, pid, dir, path, follow)?.find(k, pid, path)?;
            Ok(stat::of_found(k, &found, follow)?)
        })
    }

    /// Sets access and modification time of what a path names.
    pub fn set_times_at(
        &mut self,
        pid: Pid,
        dir: u32,
        path: &[u8],
        follow: bool,
        atime: Stamp,
        mtime: Stamp,
    ) -> Result<(), Halt> {
        attempt(self, pid, |k| {
            let base = Base::of(k, pid, dir, path, follow)?;
            let Found::Node(ino) = base.find(k, pid, path)? else { return Err(Errno::Perm.into()) };
            let now = k.now();
            Ok(k.fs.set_times(&USER, ino, atime.resolve(now), mtime.resolve(now), now)?)
        })
    }

    /// Gives a file one more name.
    pub fn link_at(
        &mut self,
        pid: Pid,
        old_dir: u32,
        old: &[u8],
        follow: bool,
        new_dir: u32,
        new: &[u8],
    ) -> Result<(), Halt> {
        attempt(self, pid, |k| {
            let found = Base::of(k, pid, old_dir, old, follow)?.find(k, pid, old)?;
            let Found::Node(ino) = found else { return Err(Errno::Xdev.into()) };
            let at = Base::of(k, pid, new_dir, new, false)?.start(k)?;
            let now = k.now();
            Ok(k.fs.link(&USER, ino, at, new, now)?)
        })
    }

    /// What a symbolic link holds.
    pub fn read_link_at(&mut self, pid: Pid, dir: u32, path: &[u8]) -> Result<Vec<u8>, Halt> {
        attempt(self, pid, |k| match Base::of(k, pid, dir, path, false)?.find(k, pid, path)? {
            Found::Node(ino) => Ok(k.fs.readlink(ino)?),
            Found::Proc(item) => Ok(procfs::target(k, item)?),
        })
    }

    /// Removes an empty directory.
    pub fn remove_dir_at(&mut self, pid: Pid, dir: u32, path: &[u8]) -> Result<(), Halt> {
        attempt(self, pid, |k| {
            let at = Base::of(k, pid, dir, path, false)?.start(k)?;
            let now = k.now();
            Ok(k.fs.rmdir(&USER, at, path, now)?)
        })
    }

    /// Renames, over what was there.
    pub fn rename_at(&mut self, pid: Pid, old_dir: u32, old: &[u8], new_dir: u32, new: &[u8]) -> Result<(), Halt> {
        attempt(self, pid, |k| {
            let from = Base::of(k, pid, old_dir, old, false)?.start(k)?;
            let to = Base::of(k, pid, new_dir, new, false)?.start(k)?;
            let now = k.now();
            Ok(k.fs.rename(&USER, from, old, to, new, now)?)
        })
    }

    /// Makes a symbolic link that holds any text; it is looked at only when someone follows the link.
    pub fn symlink_at(&mut self, pid: Pid, target: &[u8], dir: u32, path: &[u8]) -> Result<(), Halt> {
        attempt(self, pid, |k| {
            let at = Base::of(k, pid, dir, path, false)?.start(k)?;
            let now = k.now();
            k.fs.symlink(&USER, target, at, path, now)?;
            Ok(())
        })
    }

    /// Removes a name of what is no directory.
    pub fn unlink_at(&mut self, pid: Pid, dir: u32, path: &[u8]) -> Result<(), Halt> {
        attempt(self, pid, |k| {
            let at = Base::of(k, pid, dir, path, false)?.start(k)?;
            let now = k.now();
            Ok(k.fs.unlink(&USER, at, path, now)?)
        })
    }
}
