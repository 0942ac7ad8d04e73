//! preview1's functions on one descriptor, except byte transfers.

use crate::errno::Errno;
use crate::fd::Entry;
use crate::guest_memory::GuestMemory;
use crate::kernel::Kernel;
use crate::open_file::{FileObject, OpenFile, flag};
use crate::path_calls::TimeSpec;
use crate::process::Pid;
use crate::stat::FileType;
use crate::syscall::{SyscallError, SyscallOutcome, call};
use crate::wasi::arg::{address, put_u32};

/// preview1's rights. The kernel checks the open mode and the file mode, and reports rights only because C libraries read them:
/// `isatty` takes a character device that cannot seek for a terminal, and `open` requests the rights that its directory may pass
/// on.
pub(super) mod right {
    pub(crate) const FD_READ: u64 = 1 << 1;
    pub(crate) const FD_SEEK: u64 = 1 << 2;
    pub(crate) const FD_TELL: u64 = 1 << 5;
    pub(crate) const FD_WRITE: u64 = 1 << 6;
    pub(crate) const FD_READDIR: u64 = 1 << 14;
    pub(crate) const SOCK_SHUTDOWN: u64 = 1 << 28;
    pub(crate) const SOCK_ACCEPT: u64 = 1 << 29;
    /// All defined rights.
    pub(crate) const ALL: u64 = (1 << 30) - 1;

    const FD_DATASYNC: u64 = 1;
    const FD_ALLOCATE: u64 = 1 << 8;
    const FD_FILESTAT_SET_SIZE: u64 = 1 << 22;
    /// `fd_fdstat_set_flags`, `fd_sync`, `fd_advise`, `fd_filestat_get`, `fd_filestat_set_times` and `poll_fd_readwrite`.
    pub(crate) const ANY_FILE: u64 = 1 << 3 | 1 << 4 | 1 << 7 | 1 << 21 | 1 << 23 | 1 << 27;
    pub(crate) const WRITING: u64 = FD_DATASYNC | FD_WRITE | FD_ALLOCATE | FD_FILESTAT_SET_SIZE;
    /// All `path_` rights and the rights of any file.
    pub(crate) const DIRECTORY: u64 = ANY_FILE
        | FD_READDIR
        | 1 << 9
        | 1 << 10
        | 1 << 11
        | 1 << 12
        | 1 << 13
        | 1 << 15
        | 1 << 16
        | 1 << 17
        | 1 << 18
        | 1 << 19
        | 1 << 20
        | 1 << 24
        | 1 << 25
        | 1 << 26;
}

fn filetype_and_rights(open: &OpenFile) -> (FileType, u64) {
    let mut rights = right::ANY_FILE;
    if open.read {
        rights |= right::FD_READ;
    }
    if open.write {
        rights |= right::WRITING;
    }
    match open.what {
        FileObject::File(_) | FileObject::Text(_) => (FileType::Regular, rights | right::FD_SEEK | right::FD_TELL),
        FileObject::Dir(_) | FileObject::WorkDir(_) => (FileType::Directory, right::DIRECTORY),
        FileObject::Terminal(_) => (FileType::Character, rights),
        FileObject::Device(..) => (FileType::Character, rights | right::FD_SEEK | right::FD_TELL),
        FileObject::Reader(_)
        | FileObject::Writer(_)
        | FileObject::Both(_)
        | FileObject::Stdin(_)
        | FileObject::Output(..) => (FileType::Pipe, rights),
        FileObject::Socket(_) => (FileType::Socket, rights | right::SOCK_SHUTDOWN | right::SOCK_ACCEPT),
    }
}

/// Accepts an access pattern hint and ignores it: all files are in memory.
pub fn fd_advise(
    k: &mut Kernel,
    pid: Pid,
    m: &mut dyn GuestMemory,
    fd: u32,
    offset: u64,
    len: u64,
    advice: u32,
) -> SyscallOutcome {
    let _ = (m, len);
    call(k, pid, |k| {
        k.file_of(pid, fd)?;
        if advice > 5 {
            return Err(Errno::Inval.into());
        }
        k.advise(pid, fd, offset)
    })
}

/// Extends a file to at least `offset + len` bytes.
pub fn fd_allocate(
    k: &mut Kernel,
    pid: Pid,
    m: &mut dyn GuestMemory,
    fd: u32,
    offset: u64,
    len: u64,
) -> SyscallOutcome {
    let _ = m;
    call(k, pid, |k| {
        let ino = k.writable_file(pid, fd)?;
        let end = offset.checked_add(len).ok_or(Errno::Fbig)?;
        if len == 0 {
            return Err(Errno::Inval.into());
        }
        if end > k.fs.len(ino)? {
            let now = k.now();
            k.fs.truncate(ino, end, now)?;
        }
        Ok(())
    })
}

/// Closes a descriptor.
pub fn fd_close(k: &mut Kernel, pid: Pid, m: &mut dyn GuestMemory, fd: u32) -> SyscallOutcome {
    let _ = m;
    call(k, pid, |k| Ok(k.close_fd(pid, fd)?))
}

/// Flushes a file of a mount to stable storage. No effect on other files: they are in memory, and every write is visible
/// immediately. `INVAL` on streams, as on Linux.
pub fn fd_sync(k: &mut Kernel, pid: Pid, m: &mut dyn GuestMemory, fd: u32) -> SyscallOutcome {
    let _ = m;
    call(k, pid, |k| k.sync(pid, fd))
}

/// As [`fd_sync`].
pub fn fd_datasync(k: &mut Kernel, pid: Pid, m: &mut dyn GuestMemory, fd: u32) -> SyscallOutcome {
    fd_sync(k, pid, m, fd)
}

/// Writes file type, flags and rights.
pub fn fd_fdstat_get(k: &mut Kernel, pid: Pid, m: &mut dyn GuestMemory, fd: u32, out: u32) -> SyscallOutcome {
    call(k, pid, |k| {
        let open = k.open_file(pid, fd)?;
        let (filetype, rights) = filetype_and_rights(open);
        let inheriting = if filetype == FileType::Directory { right::ALL } else { 0 };
        let mut bytes = [0; 24];
        let (head, wide) = bytes.split_at_mut(8);
        let [low, high] = open.flags.to_le_bytes();
        head.copy_from_slice(&[filetype.preview1(), 0, low, high, 0, 0, 0, 0]);
        for (slot, value) in wide.chunks_exact_mut(8).zip([rights, inheriting]) {
            slot.copy_from_slice(&value.to_le_bytes());
        }
        Ok(m.write(out, &bytes)?)
    })
}

/// Sets `append`, `nonblock` and the sync flags. The sync flags are stored and have no effect.
pub fn fd_fdstat_set_flags(k: &mut Kernel, pid: Pid, m: &mut dyn GuestMemory, fd: u32, flags: u32) -> SyscallOutcome {
    let _ = m;
    call(k, pid, |k| {
        let open = k.open_file_mut(pid, fd)?;
        open.flags = known_flags(flags)?;
        Ok(())
    })
}

/// Returns `INVAL` for a bit that preview1 does not define.
pub(super) fn known_flags(flags: u32) -> Result<u16, Errno> {
    u16::try_from(flags).ok().filter(|flags| flags & !flag::ALL == 0).ok_or(Errno::Inval)
}

/// Always `NOTSUP`: rights are reported but not enforced, see `right`.
pub fn fd_fdstat_set_rights(
    k: &mut Kernel,
    pid: Pid,
    m: &mut dyn GuestMemory,
    fd: u32,
    base: u64,
    inheriting: u64,
) -> SyscallOutcome {
    let _ = (m, base, inheriting);
    call(k, pid, |k| {
        k.file_of(pid, fd)?;
        Err(Errno::Notsup.into())
    })
}

/// Writes the status of the file.
pub fn fd_filestat_get(k: &mut Kernel, pid: Pid, m: &mut dyn GuestMemory, fd: u32, out: u32) -> SyscallOutcome {
    call(k, pid, |k| {
        let description = k.stat(pid, fd)?;
        Ok(m.write(out, &description.filestat())?)
    })
}

/// Truncates a file or extends it with zeros.
pub fn fd_filestat_set_size(k: &mut Kernel, pid: Pid, m: &mut dyn GuestMemory, fd: u32, size: u64) -> SyscallOutcome {
    let _ = m;
    call(k, pid, |k| k.resize(pid, fd, size))
}

/// Sets access and modification time.
#[allow(clippy::too_many_arguments, reason = "the arguments are those of the witx")]
pub fn fd_filestat_set_times(
    k: &mut Kernel,
    pid: Pid,
    m: &mut dyn GuestMemory,
    fd: u32,
    atime: u64,
    mtime: u64,
    flags: u32,
) -> SyscallOutcome {
    let _ = m;
    call(k, pid, |k| {
        k.file_of(pid, fd)?;
        let (atime, mtime) = stamps(atime, mtime, flags)?;
        k.set_times(pid, fd, atime, mtime)
    })
}

/// Decodes two times by `fstflags`.
pub(super) fn stamps(atime: u64, mtime: u64, flags: u32) -> Result<(TimeSpec, TimeSpec), Errno> {
    let one = |time: u64, flags: u32| match flags & 3 {
        0 => Ok(TimeSpec::Omit),
        1 => Ok(TimeSpec::At(time)),
        2 => Ok(TimeSpec::Now),
        _ => Err(Errno::Inval),
    };
    if flags > 15 {
        return Err(Errno::Inval);
    }
    Ok((one(atime, flags)?, one(mtime, flags >> 2)?))
}

fn preopen_name(k: &Kernel, pid: Pid, fd: u32) -> Result<&'static [u8], Errno> {
    let entry = k.process(pid)?.fds.get(fd).filter(|entry| entry.preopen).ok_or(Errno::Badf)?;
    match k.files.get(entry.file).ok_or(Errno::Badf)?.what {
        FileObject::WorkDir(_) => Ok(b"."),
        _ => Ok(b"/"),
    }
}

/// Writes the length of a preopened directory's name; `BADF` for all other descriptors.
pub fn fd_prestat_get(k: &mut Kernel, pid: Pid, m: &mut dyn GuestMemory, fd: u32, out: u32) -> SyscallOutcome {
    call(k, pid, |k| {
        let name = preopen_name(k, pid, fd)?;
        // The tag of a directory, the only defined kind, is 0.
        m.write(out, &[0; 4])?;
        put_u32(m, address(out, 4)?, u32::try_from(name.len()).map_err(|_| Errno::Overflow)?)?;
        Ok(())
    })
}

/// Writes the name of a preopened directory: `/`, or `.` for the working directory of a plain guest.
pub fn fd_prestat_dir_name(
    k: &mut Kernel,
    pid: Pid,
    m: &mut dyn GuestMemory,
    fd: u32,
    path: u32,
    len: u32,
) -> SyscallOutcome {
    call(k, pid, |k| {
        let name = preopen_name(k, pid, fd)?;
        if name.len() > len as usize {
            return Err(Errno::Nametoolong.into());
        }
        Ok(m.write(path, name)?)
    })
}

/// Moves a descriptor to the number of another open one, which is closed.
pub fn fd_renumber(k: &mut Kernel, pid: Pid, m: &mut dyn GuestMemory, fd: u32, to: u32) -> SyscallOutcome {
    let _ = m;
    call(k, pid, |k| {
        let limit = k.limits.descriptors;
        let fds = &mut k.process_mut(pid)?.fds;
        let entry: Entry = fds.get(fd).ok_or(Errno::Badf)?;
        fds.get(to).ok_or(Errno::Badf)?;
        if fd == to {
            return Ok(());
        }
        fds.remove(fd);
        if let Some(old) = fds.put(to, entry, limit).map_err(SyscallError::from)? {
            k.unref_file(old.file);
        }
        Ok(())
    })
}
