//! A host directory as a mount.

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
use tidebox_kernel::fs::{Access, EntryKind, Metadata, Mount, MountFile, WriteSupport};

pub use error::MountError;
use error::errno;
use file::HostFile;

/// A host directory, opened once: renaming it does not change which directory is mounted.
///
/// The guest never reaches anything outside it. `cap-std` resolves each path below the open directory with the operating system's
/// help (`openat2` on Linux), so that a directory that is replaced by a link between lookup and open cannot lead out. The kernel
/// follows symbolic links inside the sandbox; a guest cannot create one that leads out of the directory. Pipes, sockets and
/// devices are hidden and never opened. Calls block on disk I/O.
pub struct HostDir {
    dir: Arc<Dir>,
    display_path: String,
    /// Device numbers of file systems that expose the host and are not storage: `/proc`, `/sys`, `/dev`.
    pseudo_file_systems: Vec<u64>,
}

impl fmt::Debug for HostDir {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("HostDir").field(&self.display_path).finish()
    }
}

impl HostDir {
    /// Opens a directory. The owner of the value has this process's permissions on its contents.
    ///
    /// # Errors
    /// If the directory does not exist, this process cannot open it, or it is in `/proc`, `/sys` or `/dev`.
    pub fn open(path: impl AsRef<Path>) -> Result<Self, MountError> {
        let path = path.as_ref();
        let dir = Dir::open_ambient_dir(path, ambient_authority()).map_err(|error| MountError::new(path, error))?;
        let found = dir.dir_metadata().map_err(|error| MountError::new(path, error))?;
        let pseudo_devices = pseudo_file_systems();
        if pseudo_devices.contains(&found.dev()) {
            let reason = "it exposes the host's processes and devices, which no sandbox may access";
            return Err(MountError::new(path, io::Error::new(io::ErrorKind::InvalidInput, reason)));
        }
        Ok(Self { dir: Arc::new(dir), display_path: path.display().to_string(), pseudo_file_systems: pseudo_devices })
    }

    /// Returns the metadata of a path if it is visible.
    fn stat(&self, path: &Path) -> Result<cap_std::fs::Metadata, Errno> {
        let found = match path.as_os_str().is_empty() {
            true => self.dir.dir_metadata().map_err(|error| errno(&error))?,
            false => self.dir.symlink_metadata(path).map_err(|error| errno(&error))?,
        };
        match kind(found.file_type()) {
            None => Err(Errno::Noent),
            Some(_) if self.pseudo_file_systems.contains(&found.dev()) => Err(Errno::Acces),
            // The directory itself was removed.
            Some(_) if path.as_os_str().is_empty() && found.nlink() == 0 => Err(Errno::Stale),
            Some(_) => Ok(found),
        }
    }
}

/// Returns the device numbers of the pseudo file systems. In a container some of them are ordinary directories.
fn pseudo_file_systems() -> Vec<u64> {
    let root = std::fs::metadata("/").map(|root| std::os::unix::fs::MetadataExt::dev(&root)).ok();
    let device = |path: &&str| {
        let found = std::fs::metadata(path).ok()?;
        Some(std::os::unix::fs::MetadataExt::dev(&found)).filter(|dev| Some(*dev) != root)
    };
    ["/proc", "/sys", "/dev", "/dev/pts", "/dev/mqueue"].iter().filter_map(device).collect()
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

/// Converts metadata to the kernel's form.
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
    fn writes(&self) -> WriteSupport {
        WriteSupport::InPlace
    }

    fn metadata(&self, path: &[u8]) -> Result<Metadata, Errno> {
        metadata(&self.stat(path_of(path))?)
    }

    fn read_dir(&self, path: &[u8]) -> Result<Vec<(Vec<u8>, EntryKind)>, Errno> {
        let path = path_of(path);
        // A removed directory lists as empty, and a pseudo file system lists names.
        self.stat(path)?;
        let listed = if path.as_os_str().is_empty() { self.dir.entries() } else { self.dir.read_dir(path) };
        let mut entries = Vec::new();
        for entry in listed.map_err(|error| errno(&error))? {
            let entry = entry.map_err(|error| errno(&error))?;
            // An entry that was removed concurrently is omitted.
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
        // Checked before opening, because opening a device can have side effects, and the other end of a pipe would notice.
        if !self.stat(path)?.is_file() {
            return Err(Errno::Inval);
        }
        let mut options = OpenOptions::new();
        match access {
            Access::Read => options.read(true),
            Access::Write => options.write(true),
        };
        // Checked again after opening, which did not wait for the other end of a pipe that replaced the file.
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
        link::check_target(target, link::depth(path))?;
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
        // A hidden file is not replaced either.
        if let Ok(existing) = self.dir.symlink_metadata(new)
            && kind(existing.file_type()).is_none()
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
        let found = self.stat(path)?;
        if found.is_symlink() {
            return Err(Errno::Notsup);
        }
        let mut options = OpenOptions::new();
        options.read(true).custom_flags(libc::O_NONBLOCK | libc::O_NOFOLLOW | libc::O_NOCTTY);
        let opened = if path.as_os_str().is_empty() { Path::new(".") } else { path };
        let file = self.dir.open_with(opened, &options).or_else(|error| {
            // A file that is writable but not readable.
            if error.kind() != io::ErrorKind::PermissionDenied || found.is_dir() {
                return Err(error);
            }
            options.read(false).write(true);
            self.dir.open_with(opened, &options)
        });
        file::set_times(file.map_err(|error| errno(&error))?, atime, mtime)
    }
}
