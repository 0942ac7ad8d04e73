//! Calls on a descriptor, except byte transfers (`transfer`) and paths (`path_calls`), and the startup data of a process.

#[cfg(test)]
mod tests;

use crate::errno::Errno;
use crate::fd::FIRST_FREE;
use crate::fs::Ino;
use crate::kernel::{Kernel, USER};
use crate::open_file::FileObject;
use crate::path_calls::TimeSpec;
use crate::process::{CStringList, Pid};
use crate::procfs::{self, ProcEntry, WalkStep};
use crate::resolve::DirRef;
use crate::stat::{self, FileStat, FileType};
use crate::syscall::{SyscallError, run_syscall};

/// Open mode of a descriptor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OpenMode {
    /// For reading.
    pub read: bool,
    /// For writing.
    pub write: bool,
    /// `fdflags` of preview1.
    pub flags: u16,
}

/// An entry of a directory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DirEntry {
    /// The bytes of the name, not necessarily UTF-8.
    pub name: Vec<u8>,
    /// The file type.
    pub filetype: FileType,
}

/// Calls on descriptors, for engines whose guests pass values.
///
/// # Errors
/// All return a [`SyscallError`]: the process must end, or the errno of the preview1 function with this meaning, most often
/// `BADF` for a descriptor that is not open.
impl Kernel {
    /// Returns the status of the file.
    pub fn stat(&mut self, pid: Pid, fd: u32) -> Result<FileStat, SyscallError> {
        run_syscall(self, pid, |k| Ok(stat::from_open_file(k, k.open_file(pid, fd)?)?))
    }

    /// Returns how the descriptor was opened.
    pub fn mode(&mut self, pid: Pid, fd: u32) -> Result<OpenMode, SyscallError> {
        run_syscall(self, pid, |k| {
            let open = k.open_file(pid, fd)?;
            Ok(OpenMode { read: open.read, write: open.write, flags: open.flags })
        })
    }

    /// Sets access and modification time. `PERM` on unnamed streams and in `/proc`, which store no times.
    pub fn set_times(&mut self, pid: Pid, fd: u32, atime: TimeSpec, mtime: TimeSpec) -> Result<(), SyscallError> {
        run_syscall(self, pid, |k| {
            let ino = k.ino_of(&k.open_file(pid, fd)?.what).ok_or(Errno::Perm)?;
            let now = k.now();
            Ok(k.fs.set_times(&USER, ino, atime.resolve(now), mtime.resolve(now), now)?)
        })
    }

    /// Truncates a file or extends it with zeros.
    pub fn resize(&mut self, pid: Pid, fd: u32, size: u64) -> Result<(), SyscallError> {
        run_syscall(self, pid, |k| {
            let ino = k.writable_file(pid, fd)?;
            let now = k.now();
            Ok(k.fs.truncate(ino, size, now)?)
        })
    }

    /// Returns the regular file of a descriptor that is open for writing.
    pub(crate) fn writable_file(&self, pid: Pid, fd: u32) -> Result<Ino, Errno> {
        let open = self.open_file(pid, fd)?;
        match open.what {
            FileObject::File(ino) if open.write => Ok(ino),
            FileObject::File(_) | FileObject::Text(_) => Err(Errno::Badf),
            FileObject::Dir(_) | FileObject::WorkDir(_) => Err(Errno::Badf),
            FileObject::Reader(_)
            | FileObject::Writer(_)
            | FileObject::Both(_)
            | FileObject::Socket(_)
            | FileObject::Terminal(_)
            | FileObject::Stdin(_)
            | FileObject::Output(..) => Err(Errno::Inval),
            FileObject::Device(..) => Err(Errno::Inval),
        }
    }

    /// Flushes a file of a mount to stable storage. No effect on other files: they are in memory, and every write is visible
    /// immediately. `INVAL` on streams, as on Linux.
    pub fn sync(&mut self, pid: Pid, fd: u32) -> Result<(), SyscallError> {
        run_syscall(self, pid, |k| match k.open_file(pid, fd)?.what {
            FileObject::File(ino) => Ok(k.fs.sync(ino)?),
            FileObject::Text(_) | FileObject::Dir(_) | FileObject::WorkDir(_) => Ok(()),
            _ => Err(Errno::Inval.into()),
        })
    }

    /// Accepts an access pattern hint and ignores it: all files are in memory.
    pub fn advise(&mut self, pid: Pid, fd: u32, offset: u64) -> Result<(), SyscallError> {
        run_syscall(self, pid, |k| match k.open_file(pid, fd)?.what {
            _ if i64::try_from(offset).is_err() => Err(Errno::Inval.into()),
            FileObject::File(_) | FileObject::Text(_) | FileObject::Device(..) => Ok(()),
            FileObject::Dir(_) | FileObject::WorkDir(_) => Err(Errno::Badf.into()),
            FileObject::Reader(_)
            | FileObject::Writer(_)
            | FileObject::Both(_)
            | FileObject::Socket(_)
            | FileObject::Terminal(_)
            | FileObject::Stdin(_)
            | FileObject::Output(..) => Err(Errno::Spipe.into()),
        })
    }

    /// Closes a descriptor.
    pub fn close(&mut self, pid: Pid, fd: u32) -> Result<(), SyscallError> {
        run_syscall(self, pid, |k| Ok(k.close_fd(pid, fd)?))
    }

    /// Returns a second descriptor of the same open file, the lowest free one except the standard streams.
    pub fn duplicate(&mut self, pid: Pid, fd: u32) -> Result<u32, SyscallError> {
        run_syscall(self, pid, |k| {
            let file = k.file_of(pid, fd)?;
            Ok(k.install_fd(pid, file, FIRST_FREE)?)
        })
    }

    /// Returns at most `limit` names in a directory in byte order, starting after the name `after`, which need not exist any
    /// more. Without `.` and `..`.
    pub fn read_dir(
        &mut self,
        pid: Pid,
        fd: u32,
        after: Option<&[u8]>,
        limit: usize,
    ) -> Result<Vec<DirEntry>, SyscallError> {
        run_syscall(self, pid, |k| {
            let open = k.open_file(pid, fd)?;
            let (FileObject::Dir(dir) | FileObject::WorkDir(dir)) = &open.what else {
                return Err(Errno::Notdir.into());
            };
            if !open.read {
                return Err(Errno::Badf.into());
            }
            match dir {
                DirRef::Node(ino) => {
                    k.fs.check_dir(*ino, after)?;
                    let entries = k.fs.read_dir(*ino, after).take(limit);
                    Ok(entries
                        .map(|(name, _, kind)| DirEntry { name: name.into_owned(), filetype: FileType::of(kind) })
                        .collect())
                }
                DirRef::Proc(below) => list_proc(k, pid, below, after, limit),
            }
        })
    }

    /// Returns the preopened directories and their names.
    pub fn preopens(&mut self, pid: Pid) -> Result<Vec<(u32, &'static str)>, SyscallError> {
        run_syscall(self, pid, |k| {
            let preopened = k.process(pid)?.fds.iter().filter(|(_, entry)| entry.preopen);
            let named = preopened.map(|(fd, entry)| match k.files.get(entry.file).map(|open| &open.what) {
                Some(FileObject::WorkDir(_)) => (fd, "."),
                _ => (fd, "/"),
            });
            Ok(named.collect())
        })
    }

    /// Returns the arguments, starting with the program's name.
    pub fn arguments(&mut self, pid: Pid) -> Result<Vec<Vec<u8>>, SyscallError> {
        run_syscall(self, pid, |k| Ok(to_vecs(&k.process(pid)?.program.argv)))
    }

    /// Returns the environment, each entry as `NAME=value`.
    pub fn environment(&mut self, pid: Pid) -> Result<Vec<Vec<u8>>, SyscallError> {
        run_syscall(self, pid, |k| Ok(to_vecs(&k.process(pid)?.program.env)))
    }

    /// Returns the working directory; `NOENT` if it was removed.
    pub fn working_directory(&mut self, pid: Pid) -> Result<Vec<u8>, SyscallError> {
        run_syscall(self, pid, |k| Ok(k.path_of(&k.process(pid)?.cwd).ok_or(Errno::Noent)?))
    }

    /// Fills `dst` with random bytes.
    pub fn random(&mut self, pid: Pid, dst: &mut [u8]) -> Result<(), SyscallError> {
        run_syscall(self, pid, |k| {
            k.entropy.fill(dst);
            Ok(())
        })
    }
}

fn to_vecs(strings: &CStringList) -> Vec<Vec<u8>> {
    strings.iter().map(<[u8]>::to_vec).collect()
}

fn list_proc(
    k: &Kernel,
    pid: Pid,
    below: &[u8],
    after: Option<&[u8]>,
    limit: usize,
) -> Result<Vec<DirEntry>, SyscallError> {
    let WalkStep::At(ProcEntry::Dir(dir)) = procfs::walk(k, pid, below, true)? else {
        return Err(Errno::Notdir.into());
    };
    let names = procfs::list(k, dir).into_iter();
    let rest = names.filter(|(name, _)| after.is_none_or(|after| name.as_slice() > after)).take(limit);
    Ok(rest.map(|(name, item)| DirEntry { filetype: FileType::of_item(item), name }).collect())
}
