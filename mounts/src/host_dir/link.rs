//! Which symbolic links a guest may leave behind in a folder of the host.
//!
//! Inside the sandbox no link leads out, because the kernel follows them there. But programs of the host follow them too,
//! so none is made that leads out of the folder: a target is relative, and goes up at its beginning only and no further
//! than to the folder's root. A `..` behind a name is refused, since that name may be a link to somewhere less deep.

use std::path::{Path, PathBuf};

use cap_std::fs::Dir;
use tidebox_kernel::Errno;

use super::OsStrExt as _;
use super::errno;

/// Links that a directory may hold when it is moved to where it is less deep: each has to be looked at.
const LOOKED_AT: usize = 100_000;

/// How many directories lie between a path's directory and the root.
pub(super) fn depth(path: &[u8]) -> usize {
    path.iter().filter(|&&byte| byte == b'/').count()
}

/// Whether a link in a directory this deep may hold the target.
pub(super) fn check(target: &[u8], depth: usize) -> Result<(), Errno> {
    let mut parts = target.split(|&byte| byte == b'/').filter(|part| !part.is_empty() && *part != b".");
    let up = parts.by_ref().take_while(|part| *part == b"..").count();
    let back = target.split(|&byte| byte == b'/').filter(|part| *part == b"..").count() > up;
    if target.first() == Some(&b'/') || up > depth || back { Err(Errno::Perm) } else { Ok(()) }
}

/// Whether what is at `old` may be moved from a directory as deep as `from` to one as deep as `to`.
pub(super) fn check_move(dir: &Dir, old: &Path, from: usize, to: usize) -> Result<(), Errno> {
    if to >= from {
        return Ok(());
    }
    let found = dir.symlink_metadata(old).map_err(|error| errno(&error))?;
    if found.is_symlink() {
        return check_at(dir, old, to);
    }
    if !found.is_dir() {
        return Ok(());
    }
    let mut left = LOOKED_AT;
    let mut pending: Vec<(PathBuf, usize)> = vec![(old.to_owned(), to + 1)];
    while let Some((path, depth)) = pending.pop() {
        for entry in dir.read_dir(&path).map_err(|error| errno(&error))? {
            let entry = entry.map_err(|error| errno(&error))?;
            left = left.checked_sub(1).ok_or(Errno::Xdev)?;
            let file_type = entry.file_type().map_err(|error| errno(&error))?;
            let below = path.join(entry.file_name());
            if file_type.is_symlink() {
                check_at(dir, &below, depth)?;
            } else if file_type.is_dir() {
                pending.push((below, depth + 1));
            }
        }
    }
    Ok(())
}

fn check_at(dir: &Dir, link: &Path, depth: usize) -> Result<(), Errno> {
    let target = dir.read_link_contents(link).map_err(|error| errno(&error))?;
    check(target.as_os_str().as_bytes(), depth)
}
