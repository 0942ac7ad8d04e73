//! preview1's functions that take paths.

use super::fd::{known_flags, right, stamps};
use crate::errno::Errno;
use crate::guest_memory::GuestMemory;
use crate::kernel::Kernel;
use crate::path_calls::OpenOptions;
use crate::process::Pid;
use crate::syscall::{SyscallError, SyscallOutcome, blocking_call, call};
use crate::wasi::arg::{self, put_u32};

/// `lookupflags`: follow a link at the end.
const FOLLOW: u32 = 1;

/// `oflags`.
mod oflag {
    pub(super) const CREATE: u32 = 1;
    pub(super) const DIRECTORY: u32 = 2;
    pub(super) const EXCLUSIVE: u32 = 4;
    pub(super) const TRUNCATE: u32 = 8;
}

/// Creates a directory.
pub fn path_create_directory(
    k: &mut Kernel,
    pid: Pid,
    m: &mut dyn GuestMemory,
    fd: u32,
    path: u32,
    len: u32,
) -> SyscallOutcome {
    call(k, pid, |k| {
        let path = arg::path(k, m, path, len)?;
        k.make_dir_at(pid, fd, &path)
    })
}

/// Writes the status of the file at a path.
#[allow(clippy::too_many_arguments, reason = "the arguments are those of the witx")]
pub fn path_filestat_get(
    k: &mut Kernel,
    pid: Pid,
    m: &mut dyn GuestMemory,
    fd: u32,
    flags: u32,
    path: u32,
    len: u32,
    out: u32,
) -> SyscallOutcome {
    call(k, pid, |k| {
        let path = arg::path(k, m, path, len)?;
        let description = k.stat_at(pid, fd, &path, flags & FOLLOW != 0)?;
        Ok(m.write(out, &description.filestat())?)
    })
}

/// Sets access and modification time of the file at a path.
#[allow(clippy::too_many_arguments, reason = "the arguments are those of the witx")]
pub fn path_filestat_set_times(
    k: &mut Kernel,
    pid: Pid,
    m: &mut dyn GuestMemory,
    fd: u32,
    flags: u32,
    path: u32,
    len: u32,
    atime: u64,
    mtime: u64,
    which: u32,
) -> SyscallOutcome {
    call(k, pid, |k| {
        let path = arg::path(k, m, path, len)?;
        let (atime, mtime) = stamps(atime, mtime, which)?;
        k.set_times_at(pid, fd, &path, flags & FOLLOW != 0, atime, mtime)
    })
}

/// Creates another name for a file.
#[allow(clippy::too_many_arguments, reason = "the arguments are those of the witx")]
pub fn path_link(
    k: &mut Kernel,
    pid: Pid,
    m: &mut dyn GuestMemory,
    old_fd: u32,
    old_flags: u32,
    old: u32,
    old_len: u32,
    new_fd: u32,
    new: u32,
    new_len: u32,
) -> SyscallOutcome {
    call(k, pid, |k| {
        let old = arg::path(k, m, old, old_len)?;
        let new = arg::path(k, m, new, new_len)?;
        k.link_at(pid, old_fd, &old, old_flags & FOLLOW != 0, new_fd, &new)
    })
}

/// Opens a file; an end of a FIFO waits for the other end. The requested rights select reading, writing or both, as C libraries
/// use them.
#[allow(clippy::too_many_arguments, reason = "the arguments are those of the witx")]
pub fn path_open(
    k: &mut Kernel,
    pid: Pid,
    m: &mut dyn GuestMemory,
    fd: u32,
    dirflags: u32,
    path: u32,
    len: u32,
    oflags: u32,
    base: u64,
    inheriting: u64,
    fdflags: u32,
    out: u32,
) -> SyscallOutcome {
    let _ = inheriting;
    let sys = blocking_call(k, pid, |k| {
        let path = arg::path(k, m, path, len)?;
        if oflags > 15 {
            return Err(Errno::Inval.into());
        }
        let how = OpenOptions {
            create: oflags & oflag::CREATE != 0,
            directory: oflags & oflag::DIRECTORY != 0,
            exclusive: oflags & oflag::EXCLUSIVE != 0,
            truncate: oflags & oflag::TRUNCATE != 0,
            read: base & right::FD_READ != 0,
            list: base & right::FD_READDIR != 0,
            write: base & right::FD_WRITE != 0,
            follow: dirflags & FOLLOW != 0,
            flags: known_flags(fdflags)?,
        };
        let new = k.open_at(pid, fd, &path, how)?;
        put_u32(m, out, new).map_err(|fault| {
            // The guest did not get the number, so it is closed. It is known to be open.
            let _ = k.close_fd(pid, new);
            SyscallError::from(fault)
        })
    });
    if !matches!(sys, SyscallOutcome::Block(_)) {
        // A signal ended the wait for the other end of a FIFO.
        k.cancel_pending_opens(pid);
    }
    sys
}

/// Writes the target of a symbolic link, truncated to the buffer.
#[allow(clippy::too_many_arguments, reason = "the arguments are those of the witx")]
pub fn path_readlink(
    k: &mut Kernel,
    pid: Pid,
    m: &mut dyn GuestMemory,
    fd: u32,
    path: u32,
    len: u32,
    buffer: u32,
    buffer_len: u32,
    out: u32,
) -> SyscallOutcome {
    call(k, pid, |k| {
        let path = arg::path(k, m, path, len)?;
        let target = k.read_link_at(pid, fd, &path)?;
        let fits = target.get(..buffer_len as usize).unwrap_or(&target);
        m.write(buffer, fits)?;
        Ok(put_u32(m, out, u32::try_from(fits.len()).unwrap_or(buffer_len))?)
    })
}

/// Removes an empty directory.
pub fn path_remove_directory(
    k: &mut Kernel,
    pid: Pid,
    m: &mut dyn GuestMemory,
    fd: u32,
    path: u32,
    len: u32,
) -> SyscallOutcome {
    call(k, pid, |k| {
        let path = arg::path(k, m, path, len)?;
        k.remove_dir_at(pid, fd, &path)
    })
}

/// Renames a file, replacing an existing one.
#[allow(clippy::too_many_arguments, reason = "the arguments are those of the witx")]
pub fn path_rename(
    k: &mut Kernel,
    pid: Pid,
    m: &mut dyn GuestMemory,
    fd: u32,
    old: u32,
    old_len: u32,
    new_fd: u32,
    new: u32,
    new_len: u32,
) -> SyscallOutcome {
    call(k, pid, |k| {
        let old = arg::path(k, m, old, old_len)?;
        let new = arg::path(k, m, new, new_len)?;
        k.rename_at(pid, fd, &old, new_fd, &new)
    })
}

/// Creates a symbolic link. The target is not checked; it is resolved when the link is followed.
#[allow(clippy::too_many_arguments, reason = "the arguments are those of the witx")]
pub fn path_symlink(
    k: &mut Kernel,
    pid: Pid,
    m: &mut dyn GuestMemory,
    target: u32,
    target_len: u32,
    fd: u32,
    path: u32,
    len: u32,
) -> SyscallOutcome {
    call(k, pid, |k| {
        let target = arg::path(k, m, target, target_len)?;
        let path = arg::path(k, m, path, len)?;
        k.symlink_at(pid, &target, fd, &path)
    })
}

/// Removes a name of a non-directory.
pub fn path_unlink_file(
    k: &mut Kernel,
    pid: Pid,
    m: &mut dyn GuestMemory,
    fd: u32,
    path: u32,
    len: u32,
) -> SyscallOutcome {
    call(k, pid, |k| {
        let path = arg::path(k, m, path, len)?;
        k.unlink_at(pid, fd, &path)
    })
}
