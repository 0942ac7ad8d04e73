//! A sandbox's files as a file system of the `vfs` crate.

mod handle;
#[cfg(test)]
mod tests;

use std::fmt;
use std::io;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use tidebox_kernel::Errno;
use tidebox_kernel::fs::{Cred, Fs, Ino, Kind, Resolved, Stat};
use tidebox_vfs_backend::VfsBackend;
use vfs::error::VfsErrorKind;
use vfs::{FileSystem, SeekAndRead, SeekAndWrite, VfsError, VfsFileType, VfsMetadata, VfsResult};

use handle::{Reader, Writer};

/// The sandbox's user, whose permissions apply to this file system.
const USER: Cred = Cred { uid: 1000, gid: 1000 };

/// The files of a sandbox, for programs that use `vfs`. It can be used while commands run.
///
/// Calls have the permissions of the sandbox's user. Writes are visible immediately, also to commands, and charged to the
/// sandbox's quota; a write over the quota fails with an `io::Error` of kind `StorageFull`. A reader has the content from the
/// time when the file was opened. Moving and copying are atomic. Symbolic links are followed, names that are not UTF-8 are listed
/// with replacement characters and cannot be opened, and `/proc` is not included.
#[derive(Clone)]
pub struct SandboxFs {
    sandbox: Arc<VfsBackend>,
    /// Path of the root, without a trailing slash.
    root: String,
}

impl fmt::Debug for SandboxFs {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SandboxFs").field("sandbox", &self.sandbox).field("root", &self.root).finish()
    }
}

impl SandboxFs {
    /// Wraps all files of a sandbox.
    pub fn new(sandbox: Arc<VfsBackend>) -> Self {
        Self { sandbox, root: String::new() }
    }

    /// Wraps the files below a directory of a sandbox, given by its absolute path. It is not a security boundary: links lead out
    /// of it.
    pub fn at_dir(sandbox: Arc<VfsBackend>, dir: &str) -> Self {
        Self { sandbox, root: dir.trim_end_matches('/').to_owned() }
    }

    fn with<T>(&self, path: &str, call: impl FnOnce(&mut Fs, u64, &[u8]) -> Result<T, Errno>) -> VfsResult<T> {
        let path = match format!("{}{path}", self.root) {
            root if root.is_empty() => "/".to_owned(),
            path => path,
        };
        let done = self.sandbox.with_fs(|fs, now| call(fs, now, path.as_bytes()));
        done.map_err(|error| VfsErrorKind::IoError(io::Error::other(error)))?.map_err(|errno| vfs_error(errno).into())
    }
}

/// Converts an errno of the kernel to an error of the crate.
fn vfs_error(errno: Errno) -> VfsErrorKind {
    match errno {
        Errno::Noent => VfsErrorKind::FileNotFound,
        Errno::Inval | Errno::Nametoolong => VfsErrorKind::InvalidPath,
        Errno::Notsup => VfsErrorKind::NotSupported,
        other => VfsErrorKind::IoError(io_error(other)),
    }
}

fn io_error(errno: Errno) -> io::Error {
    let kind = match errno {
        Errno::Nospc | Errno::Dquot => io::ErrorKind::StorageFull,
        Errno::Fbig => io::ErrorKind::FileTooLarge,
        Errno::Acces | Errno::Perm => io::ErrorKind::PermissionDenied,
        Errno::Rofs => io::ErrorKind::ReadOnlyFilesystem,
        Errno::Notdir => io::ErrorKind::NotADirectory,
        Errno::Isdir => io::ErrorKind::IsADirectory,
        Errno::Notempty => io::ErrorKind::DirectoryNotEmpty,
        Errno::Exist => io::ErrorKind::AlreadyExists,
        Errno::Noent | Errno::Stale => io::ErrorKind::NotFound,
        _ => io::ErrorKind::Other,
    };
    io::Error::new(kind, errno.text())
}

fn find(fs: &Fs, path: &[u8]) -> Result<Ino, Errno> {
    match fs.walk(&USER, fs.root(), path, true)? {
        Resolved::Node(ino) => Ok(ino),
        Resolved::Proc(_) => Err(Errno::Noent),
    }
}

/// Opens a regular file that the user may access in this way.
fn file(fs: &Fs, path: &[u8], want: u32) -> Result<Ino, Errno> {
    let ino = find(fs, path)?;
    match fs.stat(ino)?.kind {
        Kind::File => fs.access(&USER, ino, want).map(|()| ino),
        Kind::Dir => Err(Errno::Isdir),
        Kind::Symlink | Kind::Device(_) | Kind::Fifo => Err(Errno::Notsup),
    }
}

fn metadata(stat: &Stat) -> VfsMetadata {
    let time = |nanoseconds| SystemTime::UNIX_EPOCH.checked_add(Duration::from_nanos(nanoseconds));
    let is_dir = stat.kind == Kind::Dir;
    VfsMetadata {
        file_type: if is_dir { VfsFileType::Directory } else { VfsFileType::File },
        len: if is_dir { 0 } else { stat.size },
        // The kernel has no creation time; the modification time is the usual substitute.
        created: None,
        modified: time(stat.mtime),
        accessed: time(stat.atime),
    }
}

/// Creates or truncates a file, and opens it.
fn create(fs: &mut Fs, path: &[u8], now: u64) -> Result<Ino, Errno> {
    let (ino, made) = fs.create(&USER, fs.root(), path, 0o644, false, now)?;
    if fs.stat(ino)?.kind != Kind::File {
        return Err(Errno::Notsup);
    }
    if !made {
        fs.access(&USER, ino, 2)?;
        fs.truncate(ino, 0, now)?;
    }
    Ok(ino)
}

fn nanoseconds(time: SystemTime) -> Result<u64, Errno> {
    let since = time.duration_since(SystemTime::UNIX_EPOCH).map_err(|_| Errno::Inval)?;
    u64::try_from(since.as_nanos()).map_err(|_| Errno::Inval)
}

impl FileSystem for SandboxFs {
    fn read_dir(&self, path: &str) -> VfsResult<Box<dyn Iterator<Item = String> + Send>> {
        let names = self.with(path, |fs, _, path| {
            let dir = find(fs, path)?;
            if fs.stat(dir)?.kind != Kind::Dir {
                return Err(Errno::Notdir);
            }
            fs.access(&USER, dir, 4)?;
            fs.check_dir(dir, None)?;
            let names = fs.read_dir(dir, None).map(|(name, ..)| String::from_utf8_lossy(&name).into_owned());
            Ok(names.collect::<Vec<_>>())
        })?;
        Ok(Box::new(names.into_iter()))
    }

    fn create_dir(&self, path: &str) -> VfsResult<()> {
        let existing = self.with(path, |fs, now, path| match fs.mkdir(&USER, fs.root(), path, 0o755, now) {
            Err(Errno::Exist) => Ok(Some(fs.stat(find(fs, path)?)?.kind)),
            made => made.map(|_| None),
        })?;
        match existing {
            None => Ok(()),
            Some(Kind::Dir) => Err(VfsErrorKind::DirectoryExists.into()),
            Some(_) => Err(VfsErrorKind::FileExists.into()),
        }
    }

    fn open_file(&self, path: &str) -> VfsResult<Box<dyn SeekAndRead + Send>> {
        let contents = self.with(path, |fs, _, path| fs.contents(file(fs, path, 4)?))?;
        Ok(Box::new(Reader::new(contents)))
    }

    fn create_file(&self, path: &str) -> VfsResult<Box<dyn SeekAndWrite + Send>> {
        let ino = self.with(path, |fs, now, path| {
            let ino = create(fs, path, now)?;
            fs.hold(ino);
            Ok(ino)
        })?;
        Ok(Box::new(Writer::new(Arc::clone(&self.sandbox), ino, 0)))
    }

    fn append_file(&self, path: &str) -> VfsResult<Box<dyn SeekAndWrite + Send>> {
        let (ino, end) = self.with(path, |fs, _, path| {
            let ino = file(fs, path, 2)?;
            fs.hold(ino);
            Ok((ino, fs.len(ino)?))
        })?;
        Ok(Box::new(Writer::new(Arc::clone(&self.sandbox), ino, end)))
    }

    fn metadata(&self, path: &str) -> VfsResult<VfsMetadata> {
        self.with(path, |fs, _, path| Ok(metadata(&fs.stat(find(fs, path)?)?)))
    }

    fn set_modification_time(&self, path: &str, time: SystemTime) -> VfsResult<()> {
        self.with(path, |fs, now, path| fs.set_times(&USER, find(fs, path)?, None, Some(nanoseconds(time)?), now))
    }

    fn set_access_time(&self, path: &str, time: SystemTime) -> VfsResult<()> {
        self.with(path, |fs, now, path| fs.set_times(&USER, find(fs, path)?, Some(nanoseconds(time)?), None, now))
    }

    fn exists(&self, path: &str) -> VfsResult<bool> {
        self.with(path, |fs, _, path| match find(fs, path) {
            Ok(_) => Ok(true),
            Err(Errno::Noent | Errno::Notdir) => Ok(false),
            Err(errno) => Err(errno),
        })
    }

    fn remove_file(&self, path: &str) -> VfsResult<()> {
        self.with(path, |fs, now, path| fs.unlink(&USER, fs.root(), path, now))
    }

    fn remove_dir(&self, path: &str) -> VfsResult<()> {
        self.with(path, |fs, now, path| fs.rmdir(&USER, fs.root(), path, now))
    }

    fn copy_file(&self, src: &str, dest: &str) -> VfsResult<()> {
        let to = format!("{}{dest}", self.root);
        self.with(src, |fs, now, src| {
            let from = file(fs, src, 4)?;
            let contents = fs.contents(from)?;
            let (ino, made) = fs.create(&USER, fs.root(), to.as_bytes(), 0o644, false, now)?;
            if ino == from {
                return Ok(());
            }
            fs.access(&USER, ino, 2)?;
            fs.set_contents(ino, contents, now).inspect_err(|_| {
                if made {
                    // The file was just created by this user. If removing it fails, an empty file remains.
                    let _ = fs.unlink(&USER, fs.root(), to.as_bytes(), now);
                }
            })
        })
    }

    fn move_file(&self, src: &str, dest: &str) -> VfsResult<()> {
        self.rename(src, dest, false)
    }

    fn move_dir(&self, src: &str, dest: &str) -> VfsResult<()> {
        self.rename(src, dest, true)
    }
}

impl SandboxFs {
    fn rename(&self, src: &str, dest: &str, dir: bool) -> VfsResult<()> {
        let to = format!("{}{dest}", self.root);
        let moved = self.with(src, |fs, now, src| {
            let is_dir = match fs.walk(&USER, fs.root(), src, false)? {
                Resolved::Node(ino) => fs.stat(ino)?.kind == Kind::Dir,
                Resolved::Proc(_) => return Err(Errno::Noent),
            };
            match (is_dir, dir) {
                (true, false) => return Err(Errno::Isdir),
                (false, true) => return Err(Errno::Notdir),
                _ => {}
            }
            fs.rename(&USER, fs.root(), src, fs.root(), to.as_bytes(), now)
        });
        moved.map_err(|error| match error.kind() {
            // The crate then copies, as `mv` does between file systems.
            VfsErrorKind::IoError(cause) if cause.to_string() == Errno::Xdev.text() => {
                VfsError::from(VfsErrorKind::NotSupported)
            }
            _ => error,
        })
    }
}
