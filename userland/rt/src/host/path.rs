//! File operations by path.

use std::ffi::CString;

use super::FD_SHIFT;
use super::descriptor::raw;
use super::errno::{check, errno_of};
use crate::{Entry, Errno, Fd, FileKind, Result, Stat, Time};

/// Names of descriptors are the scripts' numbers, which are `FD_SHIFT` lower than those of the system.
pub(super) fn system_path(path: &[u8]) -> Result<CString> {
    let shifted = path
        .strip_prefix(b"/dev/fd/")
        .and_then(|n| std::str::from_utf8(n).ok()?.parse::<u32>().ok())
        .filter(|&n| n >= 3)
        .map(|n| format!("/dev/fd/{}", n + FD_SHIFT).into_bytes());
    CString::new(shifted.unwrap_or_else(|| path.to_vec())).map_err(|_| Errno::INVAL)
}

fn stat_of(system: &libc::stat) -> Stat {
    let ns = |seconds: i64, nanoseconds: i64| {
        u64::try_from(seconds.saturating_mul(1_000_000_000).saturating_add(nanoseconds)).unwrap_or(0)
    };
    Stat {
        ino: system.st_ino,
        nlink: system.st_nlink,
        size: u64::try_from(system.st_size).unwrap_or(0),
        atime_ns: ns(system.st_atime, system.st_atime_nsec),
        mtime_ns: ns(system.st_mtime, system.st_mtime_nsec),
        ctime_ns: ns(system.st_ctime, system.st_ctime_nsec),
        mode: system.st_mode,
        uid: system.st_uid,
        gid: system.st_gid,
        dev: system.st_dev as u32,
    }
}

pub(crate) fn stat(path: &[u8], follow: bool) -> Result<Stat> {
    let path = system_path(path)?;
    let mut out = std::mem::MaybeUninit::<libc::stat>::zeroed();
    let call = if follow { libc::stat } else { libc::lstat };
    // SAFETY: the path is NUL-terminated and live, `out` a live local.
    check(unsafe { call(path.as_ptr(), out.as_mut_ptr()) })?;
    // SAFETY: zeroed at first and written by the call.
    Ok(stat_of(&unsafe { out.assume_init() }))
}

pub(crate) fn fstat(fd: Fd) -> Result<Stat> {
    let mut out = std::mem::MaybeUninit::<libc::stat>::zeroed();
    // SAFETY: `out` is a live local.
    check(unsafe { libc::fstat(raw(fd), out.as_mut_ptr()) })?;
    // SAFETY: zeroed at first and written by the call.
    Ok(stat_of(&unsafe { out.assume_init() }))
}

pub(crate) fn access(path: &[u8], mode: u32) -> Result<()> {
    let path = system_path(path)?;
    // SAFETY: the path is NUL-terminated and live.
    check(unsafe { libc::access(path.as_ptr(), mode as i32) }).map(drop)
}

pub(crate) fn chmod(path: &[u8], mode: u32) -> Result<()> {
    let path = system_path(path)?;
    // SAFETY: the path is NUL-terminated and live.
    check(unsafe { libc::chmod(path.as_ptr(), mode) }).map(drop)
}

pub(crate) fn umask(mask: u32) -> Result<u32> {
    // SAFETY: no memory is passed.
    let old = unsafe { libc::umask(mask & 0o777) };
    if mask == u32::MAX {
        // SAFETY: no memory is passed. The system cannot read the mask without setting it, so the old one is restored.
        unsafe { libc::umask(old) };
    }
    Ok(old)
}

pub(crate) fn chdir(path: &[u8]) -> Result<()> {
    let path = system_path(path)?;
    // SAFETY: the path is NUL-terminated and live.
    check(unsafe { libc::chdir(path.as_ptr()) }).map(drop)
}

pub(crate) fn getcwd(into: &mut [u8]) -> core::result::Result<usize, (Errno, usize)> {
    use std::os::unix::ffi::OsStrExt;
    let path = std::env::current_dir().map_err(|_| (Errno::NOENT, 0))?;
    let bytes = path.as_os_str().as_bytes();
    let room = into.get_mut(..bytes.len()).ok_or((Errno::RANGE, bytes.len()))?;
    room.copy_from_slice(bytes);
    Ok(bytes.len())
}

pub(crate) fn read_dir(path: &[u8]) -> Result<Vec<Entry>> {
    use std::os::unix::ffi::OsStrExt;
    use std::os::unix::fs::FileTypeExt;
    let failed = |error: std::io::Error| errno_of(error.raw_os_error().unwrap_or(0));
    let mut entries = Vec::new();
    for entry in std::fs::read_dir(crate::path_of_bytes(path)).map_err(failed)? {
        let entry = entry.map_err(failed)?;
        let kind = match entry.file_type() {
            Ok(kind) if kind.is_dir() => FileKind::Dir,
            Ok(kind) if kind.is_file() => FileKind::File,
            Ok(kind) if kind.is_symlink() => FileKind::Symlink,
            Ok(kind) if kind.is_fifo() => FileKind::Pipe,
            _ => FileKind::Unknown,
        };
        entries.push(Entry { name: entry.file_name().as_bytes().to_vec(), kind });
    }
    Ok(entries)
}

pub(crate) fn read_link(path: &[u8]) -> Result<Vec<u8>> {
    use std::os::unix::ffi::OsStringExt;
    let target = std::fs::read_link(crate::path_of_bytes(path));
    target.map(|t| t.into_os_string().into_vec()).map_err(|e| errno_of(e.raw_os_error().unwrap_or(0)))
}

pub(crate) fn unlink(path: &[u8]) -> Result<()> {
    let path = system_path(path)?;
    // SAFETY: the path is NUL-terminated and live.
    check(unsafe { libc::unlink(path.as_ptr()) }).map(drop)
}

pub(crate) fn make_dir(path: &[u8]) -> Result<()> {
    let path = system_path(path)?;
    // SAFETY: the path is NUL-terminated and live.
    check(unsafe { libc::mkdir(path.as_ptr(), 0o777) }).map(drop)
}

pub(crate) fn remove_dir(path: &[u8]) -> Result<()> {
    let path = system_path(path)?;
    // SAFETY: the path is NUL-terminated and live.
    check(unsafe { libc::rmdir(path.as_ptr()) }).map(drop)
}

pub(crate) fn symlink(text: &[u8], path: &[u8]) -> Result<()> {
    let text = CString::new(text).map_err(|_| Errno::INVAL)?;
    let path = system_path(path)?;
    // SAFETY: both strings are NUL-terminated and live.
    check(unsafe { libc::symlink(text.as_ptr(), path.as_ptr()) }).map(drop)
}

pub(crate) fn make_fifo(path: &[u8], mode: u32) -> Result<()> {
    let path = system_path(path)?;
    // SAFETY: the path is NUL-terminated and live.
    check(unsafe { libc::mkfifo(path.as_ptr(), mode) }).map(drop)
}

pub(crate) fn link(existing: &[u8], path: &[u8]) -> Result<()> {
    let (existing, path) = (system_path(existing)?, system_path(path)?);
    // SAFETY: both paths are NUL-terminated and live.
    check(unsafe { libc::link(existing.as_ptr(), path.as_ptr()) }).map(drop)
}

pub(crate) fn rename(from: &[u8], to: &[u8]) -> Result<()> {
    let (from, to) = (system_path(from)?, system_path(to)?);
    // SAFETY: both paths are NUL-terminated and live.
    check(unsafe { libc::rename(from.as_ptr(), to.as_ptr()) }).map(drop)
}

pub(crate) fn set_times(path: &[u8], follow: bool, accessed: Time, changed: Time) -> Result<()> {
    let path = system_path(path)?;
    let system = |time| match time {
        Time::Omit => libc::timespec { tv_sec: 0, tv_nsec: libc::UTIME_OMIT },
        Time::At(ns) => libc::timespec {
            tv_sec: i64::try_from(ns / 1_000_000_000).unwrap_or(i64::MAX),
            tv_nsec: i64::try_from(ns % 1_000_000_000).unwrap_or(0),
        },
    };
    let times = [system(accessed), system(changed)];
    let flags = if follow { 0 } else { libc::AT_SYMLINK_NOFOLLOW };
    // SAFETY: the path is NUL-terminated and live, `times` holds the two entries that the call reads.
    check(unsafe { libc::utimensat(libc::AT_FDCWD, path.as_ptr(), times.as_ptr(), flags) }).map(drop)
}
