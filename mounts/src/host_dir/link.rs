//! Symbolic links that a guest may create in a host directory.
//!
//! Inside the sandbox no link leads out, because the kernel resolves them. Host programs follow them too, so links that lead out
//! of the directory are rejected: a target must be relative, and may have `..` only at its start and at most up to the
//! directory's root. A `..` after a name is rejected, since that name may be a link to a less deep directory.

use std::path::{Path, PathBuf};

use cap_std::fs::Dir;
use tidebox_kernel::Errno;

use super::OsStrExt as _;
use super::errno;

/// Maximum number of links in a directory that is moved to a less deep one: each must be checked.
const MAX_CHECKED_LINKS: usize = 100_000;

/// Returns the number of directories between a path's parent and the root.
pub(super) fn depth(path: &[u8]) -> usize {
    path.iter().filter(|&&byte| byte == b'/').count()
}

/// Checks that a link at this directory depth may have the target.
pub(super) fn check_target(target: &[u8], depth: usize) -> Result<(), Errno> {
    let mut parts = target.split(|&byte| byte == b'/').filter(|part| !part.is_empty() && *part != b".");
    let up = parts.by_ref().take_while(|part| *part == b"..").count();
    let back = target.split(|&byte| byte == b'/').filter(|part| *part == b"..").count() > up;
    if target.first() == Some(&b'/') || up > depth || back { Err(Errno::Perm) } else { Ok(()) }
}

/// Checks that `old` may be moved from directory depth `from` to depth `to`.
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
    let mut left = MAX_CHECKED_LINKS;
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
    check_target(target.as_os_str().as_bytes(), depth)
}
