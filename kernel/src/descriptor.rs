//! Calls on a descriptor, apart from moving bytes (`transfer`) and paths (`at`), and what a process was started with.

#[cfg(test)]
mod tests;

use crate::at::Stamp;
use crate::errno::Errno;
use crate::fd::FIRST_FREE;
use crate::fs::Ino;
use crate::kernel::{Kernel, USER};
use crate::open_file::What;
use crate::process::{Pid, Strings};
use crate::procfs::{self, Item, Step};
use crate::resolve::Place;
use crate::stat::{self, Description, FileType};
use crate::wasi::{Halt, attempt};

/// How a descriptor is open.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Mode {
    /// For reading.
    pub read: bool,
    /// For writing.
    pub write: bool,
    /// `fdflags` of preview1.
    pub flags: u16,
}

/// A name in a directory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Listed {
    /// The bytes of the name, not necessarily UTF-8.
    pub name: Vec<u8>,
    /// What it is.
    pub filetype: FileType,
}

/// Calls on descriptors, for engines whose guests pass values.
///
/// # Errors
/// Of all of them, a [`Halt`]: that the process must end, or the errno that preview1's function of this meaning answers,
/// `BADF` for a descriptor that is not open above all.
impl Kernel {
    /// What the file is.
    pub fn stat(&mut self, pid: Pid, fd: u32) -> Result<Description, Halt> {
        attempt(self, pid, |k| Ok(stat::of_open(k, k.open_file(pid, fd)?)?))
    }

    /// How it was opened.
    pub fn mode(&mut self, pid: Pid, fd: u32) -> Result<Mode, Halt> {
        attempt(self, pid, |k| {
            let open = k.open_file(pid, fd)?;
            Ok(Mode { read: open.read, write: open.write, flags: open.flags })
        })
    }

    /// Sets access and modification time. `PERM` on streams that have no name and in `/proc`, which have no times to keep.
    pub fn set_times(&mut self, pid: Pid, fd: u32, atime: Stamp, mtime: Stamp) -> Result<(), Halt> {
        attempt(self, pid, |k| {
            let ino = k.ino_of(&k.open_file(pid, fd)?.what).ok_or(Errno::Perm)?;
            let now = k.now();
            Ok(k.fs.set_times(&USER, ino, atime.resolve(now), mtime.resolve(now), now)?)
        })
    }

    /// Cuts a file or lengthens it with zeros.
    pub fn resize(&mut self, pid: Pid, fd: u32, size: u64) -> Result<(), Halt> {
        attempt(self, pid, |k| {
            let ino = k.writable_file(pid, fd)?;
            let now = k.now();
            Ok(k.fs.truncate(ino, size, now)?)
        })
    }

    /// The regular file behind a descriptor that is open for writing.
    pub(crate) fn writable_file(&self, pid: Pid, fd: u32) -> Result<Ino, Errno> {
        let open = self.open_file(pid, fd)?;
        match open.what {
            What::File(ino) if open.write => Ok(ino),
            What::File(_) | What::Text(_) => Err(Errno::Badf),
            What::Dir(_) | What::WorkDir(_) => Err(Errno::Badf),
            What::Reader(_) | What::Writer(_) | What::Both(_) | What::Stdin(_) | What::Output(..) => Err(Errno::Inval),
            What::Device(..) => Err(Errno::Inval),
        }
    }

    /// Waits until a file of a mount is safe. For the others there is nothing to do: they are in memory, and every write is
    /// visible at once. `INVAL` on streams, as on Linux.
    pub fn sync(&mut self, pid: Pid, fd: u32) -> Result<(), Halt> {
        attempt(self, pid, |k| match k.open_file(pid, fd)?.what {
            What::File(ino) => Ok(k.fs.sync(ino)?),
            What::Text(_) | What::Dir(_) | What::WorkDir(_) => Ok(()),
            _ => Err(Errno::Inval.into()),
        })
    }

    /// Accepts a plan for reading and does nothing with it: all files are in memory.
    pub fn advise(&mut self, pid: Pid, fd: u32, offset: u64) -> Result<(), Halt> {
        attempt(self, pid, |k| match k.open_file(pid, fd)?.what {
            _ if i64::try_from(offset).is_err() => Err(Errno::Inval.into()),
            What::File(_) | What::Text(_) | What::Device(..) => Ok(()),
            What::Dir(_) | What::WorkDir(_) => Err(Errno::Badf.into()),
            What::Reader(_) | What::Writer(_) | What::Both(_) | What::Stdin(_) | What::Output(..) => {
                Err(Errno::Spipe.into())
            }
        })
    }

    /// Closes a descriptor.
    pub fn close(&mut self, pid: Pid, fd: u32) -> Result<(), Halt> {
        attempt(self, pid, |k| Ok(k.close_fd(pid, fd)?))
    }

    /// A second descriptor of the same open file, the lowest that is free and no standard stream.
    pub fn duplicate(&mut self, pid: Pid, fd: u32) -> Result<u32, Halt> {
        attempt(self, pid, |k| {
            let file = k.file_of(pid, fd)?;
            Ok(k.give_fd(pid, file, FIRST_FREE)?)
        })
    }

    /// The names in a directory in the order of their bytes, at most `most` of them, from behind the name `after`, which
    /// need not exist any more. Without `.` and `..`.
    pub fn list(&mut self, pid: Pid, fd: u32, after: Option<&[u8]>, most: usize) -> Result<Vec<Listed>, Halt> {
        attempt(self, pid, |k| {
            let open = k.open_file(pid, fd)?;
            let (What::Dir(place) | What::WorkDir(place)) = &open.what else { return Err(Errno::Notdir.into()) };
            if !open.read {
                return Err(Errno::Badf.into());
            }
            match place {
                Place::Node(ino) => {
                    k.fs.check_dir(*ino, after)?;
                    let entries = k.fs.read_dir(*ino, after).take(most);
                    Ok(entries
                        .map(|(name, _, kind)| Listed { name: name.into_owned(), filetype: FileType::of(kind) })
                        .collect())
                }
                Place::Proc(below) => list_proc(k, pid, below, after, most),
            }
        })
    }

    /// The preopened directories and their names.
    pub fn preopens(&mut self, pid: Pid) -> Result<Vec<(u32, &'static str)>, Halt> {
        attempt(self, pid, |k| {
            let preopened = k.process(pid)?.fds.iter().filter(|(_, entry)| entry.preopen);
            let named = preopened.map(|(fd, entry)| match k.files.get(entry.file).map(|open| &open.what) {
                Some(What::WorkDir(_)) => (fd, "."),
                _ => (fd, "/"),
            });
            Ok(named.collect())
        })
    }

    /// The arguments, the program's name first.
    pub fn arguments(&mut self, pid: Pid) -> Result<Vec<Vec<u8>>, Halt> {
        attempt(self, pid, |k| Ok(owned(&k.process(pid)?.program.argv)))
    }

    /// The environment, each `NAME=value`.
    pub fn environment(&mut self, pid: Pid) -> Result<Vec<Vec<u8>>, Halt> {
        attempt(self, pid, |k| Ok(owned(&k.process(pid)?.program.env)))
    }

    /// The working directory; `NOENT` when it was removed.
    pub fn working_directory(&mut self, pid: Pid) -> Result<Vec<u8>, Halt> {
        attempt(self, pid, |k| Ok(k.path_of(&k.process(pid)?.cwd).ok_or(Errno::Noent)?))
    }

    /// Fills `dst` with random bytes.
    pub fn random(&mut self, pid: Pid, dst: &mut [u8]) -> Result<(), Halt> {
        attempt(self, pid, |k| {
            k.entropy.fill(dst);
            Ok(())
        })
    }
}

fn owned(strings: &Strings) -> Vec<Vec<u8>> {
    strings.iter().map(<[u8]>::to_vec).collect()
}

fn list_proc(k: &Kernel, pid: Pid, below: &[u8], after: Option<&[u8]>, most: usize) -> Result<Vec<Listed>, Halt> {
    let Step::At(Item::Dir(dir)) = procfs::walk(k, pid, below, true)? else { return Err(Errno::Notdir.into()) };
    let names = procfs::list(k, dir).into_iter();
    let rest = names.filter(|(name, _)| after.is_none_or(|after| name.as_slice() > after)).take(most);
    Ok(rest.map(|(name, item)| Listed { filetype: FileType::of_item(item), name }).collect())
}
