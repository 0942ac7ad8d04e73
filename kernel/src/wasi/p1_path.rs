//! preview1's functions that take paths.

use super::arg::{self, put_u32};
use super::p1_fd::{known_flags, right, stamps};
use super::{GuestMem, Halt, Sys, blocking_call, call};
use crate::at::Opening;
use crate::errno::Errno;
use crate::kernel::Kernel;
use crate::process::Pid;

/// `lookupflags`: follow a link at the end.
const FOLLOW: u32 = 1;

/// `oflags`.
mod oflag {
    pub(super) const CREATE: u32 = 1;
    pub(super) const DIRECTORY: u32 = 2;
    pub(super) const EXCLUSIVE: u32 = 4;
    pub(super) const TRUNCATE: u32 = 8;
}

/// Makes a directory.
pub fn path_create_directory(k: &mut Kernel, pid: Pid, m: &mut dyn GuestMem, fd: u32, path: u32, len: u32) -> Sys {
    call(k, pid, |k| {
        let path = arg::path(k, m, path, len)?;
        k.make_dir_at(pid, fd, &path)
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
        let description = k.stat_at(pid, fd, &path, flags & FOLLOW != 0)?;
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
        let (atime, mtime) = stamps(atime, mtime, which)?;
        k.set_times_at(pid, fd, &path, flags & FOLLOW != 0, atime, mtime)
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
        k.link_at(pid, old_fd, &old, old_flags & FOLLOW != 0, new_fd, &new)
    })
}

/// Opens a file; one end of a named pipe waits for the other. The rights asked for say whether for reading, writing or both, as C libraries use them.
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
    let sys = blocking_call(k, pid, |k| {
        let path = arg::path(k, m, path, len)?;
        if oflags > 15 {
            return Err(Errno::Inval.into());
        }
        let how = Opening {
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
            // The guest cannot learn the number, so it is not left open. It was open a moment ago.
            let _ = k.close_fd(pid, new);
            Halt::from(fault)
        })
    });
    if !matches!(sys, Sys::Block(_)) {
        // A signal ended the wait for the other end of a named pipe.
        k.forget_openings(pid);
    }
    sys
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
        let target = k.read_link_at(pid, fd, &path)?;
        let fits = target.get(..buffer_len as usize).unwrap_or(&target);
        m.write(buffer, fits)?;
        Ok(put_u32(m, out, u32::try_from(fits.len()).unwrap_or(buffer_len))?)
    })
}

/// Removes an empty directory.
pub fn path_remove_directory(k: &mut Kernel, pid: Pid, m: &mut dyn GuestMem, fd: u32, path: u32, len: u32) -> Sys {
    call(k, pid, |k| {
        let path = arg::path(k, m, path, len)?;
        k.remove_dir_at(pid, fd, &path)
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
        k.rename_at(pid, fd, &old, new_fd, &new)
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
        k.symlink_at(pid, &target, fd, &path)
    })
}

/// Removes a name of what is no directory.
pub fn path_unlink_file(k: &mut Kernel, pid: Pid, m: &mut dyn GuestMem, fd: u32, path: u32, len: u32) -> Sys {
    call(k, pid, |k| {
        let path = arg::path(k, m, path, len)?;
        k.unlink_at(pid, fd, &path)
    })
}
