//! Copies the files of a host directory into a new sandbox. They are read like those of a mount, so that links cannot lead out of
//! it.

use std::io::{self, Read};
use std::sync::Arc;

use tidebox_core::{Error, ErrorKind, Result};
use tidebox_kernel::Errno;
use tidebox_kernel::fs::{Access, EntryKind, Metadata, Mount, MountFile};
use tidebox_vfs_backend::{FileAttributes, SeedWriter};

use crate::host_mount::HostDir;

/// Copies the files into the working directory, in the order of their names.
///
/// # Errors
/// [`ErrorKind::InvalidRequest`] for a file that cannot be read or created in the sandbox, with its path in the directory.
pub(crate) fn seed(planter: &mut SeedWriter<'_>, dir: &HostDir) -> Result<()> {
    let mut directories = vec![Vec::new()];
    while let Some(parent) = directories.pop() {
        let listed = dir.entries(&parent).map_err(|errno| failed(&parent, "cannot read the directory", errno))?;
        let mut entries = listed;
        entries.sort_by(|one, other| one.0.cmp(&other.0));
        for (name, kind) in entries {
            let path = if parent.is_empty() { name } else { [parent.as_slice(), b"/", &name].concat() };
            let Some(kind) = kind else {
                return Err(invalid(&path, "cannot copy a FIFO, socket or device; remove it from the directory"));
            };
            if seed_entry(planter, dir, &path, kind)? {
                directories.push(path);
            }
        }
    }
    Ok(())
}

/// Copies one entry. Returns whether it is a directory to descend into.
fn seed_entry(planter: &mut SeedWriter<'_>, dir: &HostDir, path: &[u8], kind: EntryKind) -> Result<bool> {
    let metadata = dir.metadata(path).map_err(|errno| failed(path, "cannot read the attributes", errno))?;
    let attributes = attributes(&metadata);
    match kind {
        EntryKind::Dir => planter.dir(path, attributes)?,
        EntryKind::Symlink => {
            let target = dir.read_link(path).map_err(|errno| failed(path, "cannot read the link", errno))?;
            planter.symlink(path, &target, attributes)?;
        }
        _ => {
            let file = dir.open(path, Access::Read).map_err(|errno| failed(path, "cannot read the file", errno))?;
            planter.file(path, attributes, &mut Content { file, at: 0 })?;
        }
    }
    Ok(kind == EntryKind::Dir)
}

fn attributes(metadata: &Metadata) -> FileAttributes {
    // Set-user-ID and similar bits refer to users of the host.
    FileAttributes { mode: metadata.mode & 0o777, modified: Some(metadata.mtime) }
}

/// Reads a file from its start.
struct Content {
    file: Arc<dyn MountFile>,
    at: u64,
}

impl Read for Content {
    fn read(&mut self, to: &mut [u8]) -> io::Result<usize> {
        let read = self.file.read_at(self.at, to).map_err(|errno| io::Error::other(errno.to_string()))?;
        self.at = self.at.saturating_add(read as u64);
        Ok(read)
    }
}

fn invalid(path: &[u8], message: &str) -> Error {
    let path = String::from_utf8_lossy(path).into_owned();
    Error::new(ErrorKind::InvalidRequest, "seed directory", message.to_owned()).with_context("path", path)
}

fn failed(path: &[u8], message: &str, errno: Errno) -> Error {
    invalid(path, &format!("{message}: {errno}"))
}
