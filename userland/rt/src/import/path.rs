//! File operations by path.

use super::raw::{tidebox, wasi};
use crate::errno::check;
use crate::{Errno, Fd, Result, Stat, Time};

/// The preopened directory `/`.
pub(super) const ROOT: u32 = 3;

/// Returns the path relative to `/` that preview1 requires.
pub(super) fn below_root(path: &[u8]) -> Result<Vec<u8>> {
    if path.is_empty() {
        return Err(Errno::NOENT);
    }
    let mut full = Vec::new();
    if path.first() != Some(&b'/') {
        full = crate::getcwd()?;
        full.push(b'/');
    }
    full.extend_from_slice(path);
    let below = full.iter().position(|&b| b != b'/').map_or(&b"."[..], |at| full.get(at..).unwrap_or_default());
    Ok(below.to_vec())
}

pub(crate) fn stat(path: &[u8], follow: bool) -> Result<Stat> {
    let mut raw = [0; 64];
    // SAFETY: the path is a live slice, `raw` a live local of the size the kernel writes.
    check(unsafe { tidebox::stat(path.as_ptr(), path.len(), u32::from(follow), &mut raw) })?;
    Ok(Stat::decode(&raw))
}

pub(crate) fn fstat(fd: Fd) -> Result<Stat> {
    let mut raw = [0; 64];
    // SAFETY: `raw` is a live local of the size the kernel writes.
    check(unsafe { tidebox::fstat(fd, &mut raw) })?;
    Ok(Stat::decode(&raw))
}

pub(crate) fn access(path: &[u8], mode: u32) -> Result<()> {
    // SAFETY: the path is a live slice.
    check(unsafe { tidebox::access(path.as_ptr(), path.len(), mode) })
}

pub(crate) fn chmod(path: &[u8], mode: u32) -> Result<()> {
    // SAFETY: the path is a live slice.
    check(unsafe { tidebox::chmod(path.as_ptr(), path.len(), mode) })
}

pub(crate) fn umask(mask: u32) -> Result<u32> {
    let mut old = 0;
    // SAFETY: `old` is a live local.
    check(unsafe { tidebox::umask(mask, &mut old) })?;
    Ok(old)
}

pub(crate) fn chdir(path: &[u8]) -> Result<()> {
    // SAFETY: the path is a live slice.
    check(unsafe { tidebox::chdir(path.as_ptr(), path.len()) })
}

/// Returns the length written, or the error together with the length needed.
pub(crate) fn getcwd(into: &mut [u8]) -> core::result::Result<usize, (Errno, usize)> {
    let mut len = 0;
    // SAFETY: the buffer is a live slice, `len` a live local.
    let code = unsafe { tidebox::getcwd(into.as_mut_ptr(), into.len(), &mut len) };
    check(code).map(|()| len.min(into.len())).map_err(|errno| (errno, len))
}

pub(crate) fn read_link(path: &[u8]) -> Result<Vec<u8>> {
    let below = below_root(path)?;
    let mut text = vec![0; 4096];
    let mut used = 0;
    // SAFETY: path and buffer are live slices, `used` a live local.
    check(unsafe { wasi::path_readlink(ROOT, below.as_ptr(), below.len(), text.as_mut_ptr(), text.len(), &mut used) })?;
    text.truncate(used);
    Ok(text)
}

pub(crate) fn unlink(path: &[u8]) -> Result<()> {
    let below = below_root(path)?;
    // SAFETY: the path is a live slice.
    check(unsafe { wasi::path_unlink_file(ROOT, below.as_ptr(), below.len()) })
}

pub(crate) fn make_dir(path: &[u8]) -> Result<()> {
    let below = below_root(path)?;
    // SAFETY: the path is a live slice.
    check(unsafe { wasi::path_create_directory(ROOT, below.as_ptr(), below.len()) })
}

pub(crate) fn remove_dir(path: &[u8]) -> Result<()> {
    let below = below_root(path)?;
    // SAFETY: the path is a live slice.
    check(unsafe { wasi::path_remove_directory(ROOT, below.as_ptr(), below.len()) })
}

pub(crate) fn symlink(text: &[u8], path: &[u8]) -> Result<()> {
    let below = below_root(path)?;
    // SAFETY: text and path are live slices.
    check(unsafe { wasi::path_symlink(text.as_ptr(), text.len(), ROOT, below.as_ptr(), below.len()) })
}

pub(crate) fn make_fifo(path: &[u8], mode: u32) -> Result<()> {
    // SAFETY: the path is a live slice.
    check(unsafe { tidebox::mkfifo(path.as_ptr(), path.len(), mode) })
}

pub(crate) fn link(existing: &[u8], path: &[u8]) -> Result<()> {
    let (old, new) = (below_root(existing)?, below_root(path)?);
    // SAFETY: both paths are live slices.
    check(unsafe { wasi::path_link(ROOT, 0, old.as_ptr(), old.len(), ROOT, new.as_ptr(), new.len()) })
}

pub(crate) fn rename(from: &[u8], to: &[u8]) -> Result<()> {
    let (old, new) = (below_root(from)?, below_root(to)?);
    // SAFETY: both paths are live slices.
    check(unsafe { wasi::path_rename(ROOT, old.as_ptr(), old.len(), ROOT, new.as_ptr(), new.len()) })
}

pub(crate) fn set_times(path: &[u8], follow: bool, accessed: Time, changed: Time) -> Result<()> {
    let below = below_root(path)?;
    let (accessed, sets_accessed) = match accessed {
        Time::Omit => (0, 0),
        Time::At(ns) => (ns, 1),
    };
    let (changed, sets_changed) = match changed {
        Time::Omit => (0, 0),
        Time::At(ns) => (ns, 1 << 2),
    };
    // SAFETY: the path is a live slice.
    check(unsafe {
        wasi::path_filestat_set_times(
            ROOT,
            u32::from(follow),
            below.as_ptr(),
            below.len(),
            accessed,
            changed,
            sets_accessed | sets_changed,
        )
    })
}
