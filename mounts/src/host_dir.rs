//! A folder of the host as a mount.

mod error;
mod file;
mod link;

#[cfg(test)]
mod tests;

use std::ffi::OsStr;
use std::fmt;
use std::io;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::Path;
use std::sync::Arc;

use cap_std::ambient_authority;
use cap_std::fs::PermissionsExt;
use cap_std::fs::{Dir, DirBuilder, DirBuilderExt, FileType, MetadataExt, OpenOptions, OpenOptionsExt, Permissions};
use tidebox_kernel::Errno;
use tidebox_kernel::fs::{Access, EntryKind, Metadata, Mount, MountFile, Writes};

pub use error::MountError;
use error::errno;
use file::HostFile;

/// A folder of the host, opened once: it stays the same folder when it is renamed.
///
/// Nothing outside is ever reached. `cap-std` resolves each path below the open folder with the operating system's help
/// (`openat2` on Linux), so that a directory that somebody swaps for a link between a look and an open leads nowhere
/// either. Symbolic links are the kernel's to follow, inside the sandbox; a guest makes none that leads out. Pipes,
/// sockets and devices do not show and are never opened. Calls block as long as the disk does.
pub struct HostDir {
    dir: Arc<Dir>,
    shown: String,
    /// File systems that are windows on the machine and not storage: `/proc`, `/sys`, `/dev`.
    windows: Vec<u64>,
}

impl fmt::Debug for HostDir {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("HostDir").field(&self.shown).finish()
    }
}

impl HostDir {
    /// Opens a folder. Whoever holds the value may do with what is in it whatever this process may.
    ///
    /// # Errors
    /// When there is no such folder, this process may not open it, or it lies in `/proc`, `/sys` or `/dev`.
    pub fn open(path: impl AsRef<Path>) -> Result<Self, MountError> {
        let path = path.as_ref();
        let dir = Dir::open_ambient_dir(path, ambient_authority()).map_err(|error| MountError::new(path, error))?;
        let found = dir.dir_metadata().map_err(|error| MountError::new(path, error))?;
        let windows = windows();
        if windows.contains(&found.dev()) {
            let reason = "it shows this machine's processes and devices, which no sandbox may reach";
            return Err(MountError::new(path, io::Error::new(io::ErrorKind::InvalidInput, reason)));
        }
        Ok(Self { dir: Arc::new(dir), shown: path.display().to_string(), windows })
    }

    /// What is at a path, if it may show.
    fn look(&self, path: &Path) -> Result<cap_std::fs::Metadata, Errno> {
        let found = match path.as_os_str().is_empty() {
            true => self.dir.dir_metadata().map_err(|error| errno(&error))?,
            false => self.dir.symlink_metadata(path).map_err(|error| errno(&error))?,
        };
        match kind(found.file_type()) {
            None => Err(Errno::Noent),
            Some(_) if self.windows.contains(&found.dev()) => Err(Errno::Acces),
            // The folder itself was removed.
            Some(_) if path.as_os_str().is_empty() && found.nlink() == 0 => Err(Errno::Stale),
            Some(_) => Ok(found),
        }
    }
}

/// The file systems behind the folders that show the machine. In a container some are ordinary folders of it.
fn windows() -> Vec<u64> {
    let root = std::fs::metadata("/").map(|root| std::os::unix::fs::MetadataExt::dev(&root)).ok();
    let window = |path: &&str| {
        let found = std::fs::metadata(path).ok()?;
        Some(std::os::unix::fs::MetadataExt::dev(&found)).filter(|dev| Some(*dev) != root)
    };
    ["/proc", "/sys", "/dev", "/dev/pts", "/dev/mqueue"].iter().filter_map(window).collect()
}

fn kind(file_type: FileType) -> Option<EntryKind> {
    if file_type.is_file() {
        Some(EntryKind::File)
    } else if file_type.is_dir() {
        Some(EntryKind::Dir)
    } else if file_type.is_symlink() {
        Some(EntryKind::Symlink)
    } else {
        None
    }
}

/// What the kernel wants to know of what was found.
fn metadata(found: &cap_std::fs::Metadata) -> Result<Metadata, Errno> {
    let time = |seconds: i64, nanoseconds: i64| {
        let seconds = u64::try_from(seconds).unwrap_or(0).saturating_mul(1_000_000_000);
        seconds.saturating_add(u64::try_from(nanoseconds).unwrap_or(0))
    };
    Ok(Metadata {
        kind: kind(found.file_type()).ok_or(Errno::Noent)?,
        mode: found.mode() & 0o777,
        nlink: found.nlink(),
        size: found.len(),
        atime: time(found.atime(), found.atime_nsec()),
        mtime: time(found.mtime(), found.mtime_nsec()),
        ctime: time(found.ctime(), found.ctime_nsec()),
    })
}

fn path_of(bytes: &[u8]) -> &Path {
    Path::new(OsStr::from_bytes(bytes))
}

impl Mount for HostDir {
    fn writes(&self) -> Writes {
        Writes::InPlace
    }

    fn metadata(&self, path: &[u8]) -> Result<Metadata, Errno> {
        metadata(&self.look(path_of(path))?)
    }

    fn read_dir(&self, path: &[u8]) -> Result<Vec<(Vec<u8>, EntryKind)>, Errno> {
        let path = path_of(path);
        // A folder that was removed lists as empty, and a window shows names.
        self.look(path)?;
        let listed = if path.as_os_str().is_empty() { self.dir.entries() } else { self.dir.read_dir(path) };
        let mut entries = Vec::new();
        for entry in listed.map_err(|error| errno(&error))? {
            let entry = entry.map_err(|error| errno(&error))?;
            // One that was removed meanwhile is not listed.
            let Ok(file_type) = entry.file_type() else { continue };
            entries.extend(kind(file_type).map(|kind| (entry.file_name().into_vec(), kind)));
        }
        Ok(entries)
    }

    fn read_link(&self, path: &[u8]) -> Result<Vec<u8>, Errno> {
        let target = self.dir.read_link_contents(path_of(path)).map_err(|error| errno(&error))?;
        Ok(target.into_os_string().into_vec())
    }

    fn open(&self, path: &[u8], access: Access) -> Result<Arc<dyn MountFile>, Errno> {
        let path = path_of(path);
        // Looked at first, because opening a device can do something, and a pipe's other end would notice.
        if !self.look(path)?.is_file() {
            return Err(Errno::Inval);
        }
        let mut options = OpenOptions::new();
        match access {
            Access::Read => options.read(true),
            Access::Write => options.write(true),
        };
        // And looked at again when it is open, without having waited for the other end of a pipe that took its place.
        options.custom_flags(libc::O_NONBLOCK | libc::O_NOFOLLOW | libc::O_NOCTTY);
        let file = self.dir.open_with(path, &options).map_err(|error| errno(&error))?;
        HostFile::new(file).map(|file| Arc::new(file) as Arc<dyn MountFile>)
    }

    fn create(&self, path: &[u8], mode: u32) -> Result<(), Errno> {
        let mut options = OpenOptions::new();
        options.write(true).create_new(true).mode(mode);
        self.dir.open_with(path_of(path), &options).map(drop).map_err(|error| errno(&error))
    }

    fn create_dir(&self, path: &[u8], mode: u32) -> Result<(), Errno> {
        let mut builder = DirBuilder::new();
        builder.mode(mode);
        self.dir.create_dir_with(path_of(path), &builder).map_err(|error| errno(&error))
    }

    fn symlink(&self, target: &[u8], path: &[u8]) -> Result<(), Errno> {
        link::check(target, link::depth(path))?;
        self.dir.symlink(path_of(target), path_of(path)).map_err(|error| errno(&error))
    }

    fn hard_link(&self, existing: &[u8], path: &[u8]) -> Result<(), Errno> {
        self.dir.hard_link(path_of(existing), &self.dir, path_of(path)).map_err(|error| errno(&error))
    }

    fn remove_file(&self, path: &[u8]) -> Result<(), Errno> {
        self.dir.remove_file(path_of(path)).map_err(|error| errno(&error))
    }

    fn remove_dir(&self, path: &[u8]) -> Result<(), Errno> {
        self.dir.remove_dir(path_of(path)).map_err(|error| errno(&error))
    }

    fn rename(&self, from: &[u8], to: &[u8]) -> Result<(), Errno> {
        let (old, new) = (path_of(from), path_of(to));
        link::check_move(&self.dir, old, link::depth(from), link::depth(to))?;
        // What does not show is not replaced either.
        if let Ok(there) = self.dir.symlink_metadata(new)
            && kind(there.file_type()).is_none()
        {
            return Err(Errno::Busy);
        }
        self.dir.rename(old, &self.dir, new).map_err(|error| errno(&error))
    }

    fn set_mode(&self, path: &[u8], mode: u32) -> Result<(), Errno> {
        let path = if path.is_empty() { Path::new(".") } else { path_of(path) };
        let permissions = Permissions::from_mode(mode & 0o777);
        self.dir.set_permissions(path, permissions).map_err(|error| errno(&error))
    }

    fn set_times(&self, path: &[u8], atime: Option<u64>, mtime: Option<u64>) -> Result<(), Errno> {
        let path = path_of(path);
        let found = self.look(path)?;
        if found.is_symlink() {
            return Err(Errno::Notsup);
        }
        let mut options = OpenOptions::new();
        options.read(true).custom_flags(libc::O_NONBLOCK | libc::O_NOFOLLOW | libc::O_NOCTTY);
        let opened = if path.as_os_str().is_empty() { Path::new(".") } else { path };
        let file = self.dir.open_with(opened, &options).or_else(|error| {
            // A file that may be written but not read.
            if error.kind() != io::ErrorKind::PermissionDenied || found.is_dir() {
                return Err(error);
            }
            options.read(false).write(true);
            self.dir.open_with(opened, &options)
        });
        file::set_times(file.map_err(|error| errno(&error))?, atime, mtime)
    }
}
