//! Deleting files and whole directories.

use tidebox_core::{DeleteResponse, FileResult, SandboxPath};
use tidebox_kernel::fs::{Cred, Fs, Ino, Kind, Resolved};
use tidebox_kernel::{Errno, Kernel};

use crate::USER;
use crate::file_error::{file_error, not_regular};

/// Deletes the entry at `path`: a link itself, a directory with everything in it. As with `rm -r`, entries deleted
/// before an error stay deleted.
pub(crate) fn delete(kernel: &mut Kernel, path: &SandboxPath) -> FileResult<DeleteResponse> {
    let now = kernel.now();
    let fs = kernel.fs_mut();
    let bytes = path.as_bytes();
    let to_error = |errno| file_error(errno, bytes);
    let Some(parent) = path.parent() else { return Err(to_error(Errno::Perm)) };
    let name = path.name();
    if name == b".." {
        return Err(to_error(Errno::Inval));
    }
    let Resolved::Node(dir) = fs.walk(&USER, fs.root(), parent.as_bytes(), true).map_err(to_error)? else {
        return Err(to_error(Errno::Perm));
    };
    let Resolved::Node(ino) = fs.walk(&USER, dir, name, false).map_err(to_error)? else {
        return Err(not_regular(bytes));
    };
    match fs.stat(ino).map_err(to_error)?.kind {
        Kind::Dir => remove_tree(fs, &USER, dir, name, ino, now).map_err(to_error)?,
        _ => fs.unlink(&USER, dir, name, now).map_err(to_error)?,
    }
    Ok(DeleteResponse { path: path.clone() })
}

/// Deletes a directory bottom up. Uses an explicit stack, because the guest controls the nesting depth.
pub(crate) fn remove_tree(fs: &mut Fs, cred: &Cred, parent: Ino, name: &[u8], dir: Ino, now: u64) -> Result<(), Errno> {
    // With the name of the last removed entry: a listing of a mounted directory that restarts is read again.
    let mut stack = vec![(parent, name.to_vec(), dir, None::<Vec<u8>>)];
    fs.check_dir(dir, None)?;
    while let Some((parent, name, dir, after)) = stack.last_mut() {
        let first = fs.read_dir(*dir, after.as_deref()).next().map(|(name, ino, kind)| (name.into_owned(), ino, kind));
        match first {
            None => {
                fs.rmdir(cred, *parent, name, now)?;
                stack.pop();
            }
            Some((child, ino, Kind::Dir)) => {
                let above = *dir;
                fs.access(cred, ino, crate::file::READ | crate::file::SEARCH)?;
                fs.check_dir(ino, None)?;
                *after = Some(child.clone());
                stack.push((above, child, ino, None));
            }
            Some((child, ..)) => {
                fs.unlink(cred, *dir, &child, now)?;
                *after = Some(child);
            }
        }
    }
    Ok(())
}
