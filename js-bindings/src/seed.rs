//! A host folder's files as what a sandbox begins with: read as a mounted folder is, so that no link leads out of it.

use std::io::{self, Read};
use std::sync::Arc;

use tidebox_core::{Error, ErrorKind, Result};
use tidebox_kernel::Errno;
use tidebox_kernel::fs::{Access, EntryKind, Metadata, Mount, MountFile};
use tidebox_vfs_backend::{Look, Planter};

use crate::host_mount::HostFolder;

/// Copies the folder's files into the working directory, in the order of their names.
///
/// # Errors
/// [`ErrorKind::InvalidRequest`] for what cannot be read or be in a sandbox, with its path in the folder.
pub(crate) fn seed(planter: &mut Planter<'_>, folder: &HostFolder) -> Result<()> {
    let mut directories = vec![Vec::new()];
    while let Some(above) = directories.pop() {
        let listed = folder.entries(&above).map_err(|errno| failed(&above, "the folder cannot be read", errno))?;
        let mut entries = listed;
        entries.sort_by(|one, other| one.0.cmp(&other.0));
        for (name, kind) in entries {
            let path = if above.is_empty() { name } else { [above.as_slice(), b"/", &name].concat() };
            let Some(kind) = kind else {
                return Err(refused(&path, "it is a FIFO, a socket or a device; leave it out of the folder"));
            };
            if plant(planter, folder, &path, kind)? {
                directories.push(path);
            }
        }
    }
    Ok(())
}

/// Puts one thing in; whether it is a directory to go through.
fn plant(planter: &mut Planter<'_>, folder: &HostFolder, path: &[u8], kind: EntryKind) -> Result<bool> {
    let found = folder.metadata(path).map_err(|errno| failed(path, "its attributes cannot be read", errno))?;
    let look = look(&found);
    match kind {
        EntryKind::Dir => planter.dir(path, look)?,
        EntryKind::Symlink => {
            let target = folder.read_link(path).map_err(|errno| failed(path, "the link cannot be read", errno))?;
            planter.symlink(path, &target, look)?;
        }
        _ => {
            let file =
                folder.open(path, Access::Read).map_err(|errno| failed(path, "the file cannot be read", errno))?;
            planter.file(path, look, &mut Content { file, at: 0 })?;
        }
    }
    Ok(kind == EntryKind::Dir)
}

fn look(found: &Metadata) -> Look {
    // Set-user-ID and the like meant somebody of the host.
    Look { mode: found.mode & 0o777, modified: Some(found.mtime) }
}

/// A file of the folder from its beginning on.
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

fn refused(path: &[u8], message: &str) -> Error {
    let path = String::from_utf8_lossy(path).into_owned();
    Error::new(ErrorKind::InvalidRequest, "seed folder", message.to_owned()).with_context("path", path)
}

fn failed(path: &[u8], message: &str, errno: Errno) -> Error {
    refused(path, &format!("{message}: {errno}"))
}
