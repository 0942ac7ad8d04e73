//! Any file system of the `vfs` crate as a mount.

#[cfg(test)]
mod tests;

use std::fmt;
use std::io::{self, SeekFrom};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, SystemTime};

use tidebox_kernel::Errno;
use tidebox_kernel::fs::{Access, Contents, EntryKind, Metadata, Mount, MountFile, Writes};
use vfs::error::VfsErrorKind;
use vfs::{FileSystem, SeekAndRead, VfsError, VfsFileType, VfsMetadata, VfsResult};

/// Where `vfs::OverlayFS` keeps what was removed. Whoever could remove something there would bring it back.
const WHITEOUT: &str = ".whiteout";

/// How much is written at once.
const PIECE_BYTES: usize = 64 * 1024;

/// A file system of the `vfs` crate.
///
/// It gets canonical paths only, is never asked to seek beyond an end, and a panic of it is an `IO` error. What the
/// crate's trait does not have, it cannot do: no modes, no owners, no links, no renaming over what is there (`XDEV`, so
/// `mv` copies), nothing atomic. Mounted to be written, a changed file is kept in the sandbox, charged to its quota, and
/// handed over as a whole when it is closed or `fsync` is called; the last one to close wins. Names that are not UTF-8 or
/// contain a backslash cannot be made, and `.whiteout` in the root does not show.
///
/// `vfs::PhysicalFS` follows links out of its folder. It is not a border; use [`HostDir`](crate::HostDir) for folders of
/// the host.
pub struct VfsMount {
    fs: Arc<dyn FileSystem>,
}

impl fmt::Debug for VfsMount {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("VfsMount").finish_non_exhaustive()
    }
}

impl VfsMount {
    /// A mount of this file system.
    pub fn new(fs: Arc<dyn FileSystem>) -> Self {
        Self { fs }
    }

    /// Calls the file system. Its panics end here.
    fn call<T>(&self, call: impl FnOnce(&dyn FileSystem) -> VfsResult<T>) -> Result<T, Errno> {
        contained(|| call(&*self.fs).map_err(|error| errno(&error)))
    }

    fn look(&self, path: &[u8]) -> Result<VfsMetadata, Errno> {
        let path = canonical(path).map_err(|_| Errno::Noent)?;
        self.call(|fs| fs.metadata(&path))
    }

    /// `NOENT`, `ISDIR` or `NOTDIR` unless there is something of this type: some file systems do not ask.
    fn expect(&self, path: &[u8], file_type: VfsFileType) -> Result<String, Errno> {
        match (self.look(path)?.file_type, file_type) {
            (VfsFileType::Directory, VfsFileType::File) => Err(Errno::Isdir),
            (VfsFileType::File, VfsFileType::Directory) => Err(Errno::Notdir),
            _ => canonical(path),
        }
    }

    /// The path of something that is about to be made in a directory that is there.
    fn expect_nothing(&self, path: &[u8]) -> Result<String, Errno> {
        let name = canonical(path)?;
        match self.look(path) {
            Ok(_) => return Err(Errno::Exist),
            Err(Errno::Noent) => {}
            Err(errno) => return Err(errno),
        }
        let parent = path.iter().rposition(|&byte| byte == b'/').and_then(|slash| path.get(..slash));
        self.expect(parent.unwrap_or_default(), VfsFileType::Directory)?;
        Ok(name)
    }
}

/// The path as the crate wants it: absolute, the root empty. `INVAL` for what it would read as something else.
fn canonical(path: &[u8]) -> Result<String, Errno> {
    if path.is_empty() {
        return Ok(String::new());
    }
    let text = std::str::from_utf8(path).map_err(|_| Errno::Ilseq)?;
    let odd = |name: &str| name.is_empty() || name == "." || name == "..";
    let whiteout = text == WHITEOUT || text.starts_with(".whiteout/");
    if text.contains(['\\', '\0']) || whiteout || text.split('/').any(odd) {
        return Err(Errno::Inval);
    }
    Ok(format!("/{text}"))
}

fn contained<T>(call: impl FnOnce() -> Result<T, Errno>) -> Result<T, Errno> {
    catch_unwind(AssertUnwindSafe(call)).unwrap_or(Err(Errno::Io))
}

fn errno(error: &VfsError) -> Errno {
    match error.kind() {
        VfsErrorKind::FileNotFound => Errno::Noent,
        VfsErrorKind::InvalidPath => Errno::Inval,
        VfsErrorKind::DirectoryExists | VfsErrorKind::FileExists => Errno::Exist,
        VfsErrorKind::NotSupported => Errno::Notsup,
        VfsErrorKind::IoError(error) => io_errno(error),
        _ => Errno::Io,
    }
}

fn io_errno(error: &io::Error) -> Errno {
    match error.kind() {
        io::ErrorKind::NotFound => Errno::Noent,
        io::ErrorKind::PermissionDenied => Errno::Acces,
        io::ErrorKind::AlreadyExists => Errno::Exist,
        io::ErrorKind::NotADirectory => Errno::Notdir,
        io::ErrorKind::IsADirectory => Errno::Isdir,
        io::ErrorKind::DirectoryNotEmpty => Errno::Notempty,
        io::ErrorKind::ReadOnlyFilesystem => Errno::Rofs,
        io::ErrorKind::StorageFull => Errno::Nospc,
        io::ErrorKind::Unsupported => Errno::Notsup,
        _ => Errno::Io,
    }
}

fn metadata(found: &VfsMetadata) -> Metadata {
    let nanoseconds = |time: SystemTime| {
        let since = time.duration_since(SystemTime::UNIX_EPOCH).ok()?;
        u64::try_from(since.as_nanos()).ok()
    };
    let mtime = found.modified.and_then(nanoseconds).unwrap_or(0);
    let (kind, mode) = match found.file_type {
        VfsFileType::File => (EntryKind::File, 0o644),
        VfsFileType::Directory => (EntryKind::Dir, 0o755),
    };
    let atime = found.accessed.and_then(nanoseconds).unwrap_or(mtime);
    Metadata { kind, mode, nlink: 1, size: found.len, atime, mtime, ctime: mtime }
}

impl Mount for VfsMount {
    fn writes(&self) -> Writes {
        Writes::Whole
    }

    fn metadata(&self, path: &[u8]) -> Result<Metadata, Errno> {
        self.look(path).map(|found| metadata(&found))
    }

    fn read_dir(&self, path: &[u8]) -> Result<Vec<(Vec<u8>, EntryKind)>, Errno> {
        let dir = self.expect(path, VfsFileType::Directory)?;
        let names: Vec<String> = self.call(|fs| Ok(fs.read_dir(&dir)?.collect()))?;
        let mut entries = Vec::with_capacity(names.len());
        for name in names {
            if name.contains('/') {
                continue;
            }
            let below = if path.is_empty() { name.clone().into_bytes() } else { [path, name.as_bytes()].join(&b'/') };
            match self.look(&below) {
                Ok(found) => entries.push((name.into_bytes(), metadata(&found).kind)),
                // What cannot be asked for does not show, nor does what was removed meanwhile.
                Err(Errno::Noent) => {}
                Err(errno) => return Err(errno),
            }
        }
        Ok(entries)
    }

    fn open(&self, path: &[u8], access: Access) -> Result<Arc<dyn MountFile>, Errno> {
        if access == Access::Write {
            return Err(Errno::Notsup);
        }
        let found = self.look(path)?;
        let path = self.expect(path, VfsFileType::File)?;
        let file = self.call(|fs| fs.open_file(&path))?;
        Ok(Arc::new(VfsFile { file: Mutex::new(file), metadata: metadata(&found) }))
    }

    fn create(&self, path: &[u8], mode: u32) -> Result<(), Errno> {
        let _ = mode;
        let path = self.expect_nothing(path)?;
        self.call(|fs| fs.create_file(&path).map(drop))
    }

    fn replace(&self, path: &[u8], content: &Contents) -> Result<(), Errno> {
        let path = self.expect(path, VfsFileType::File)?;
        contained(|| {
            let mut file = self.fs.create_file(&path).map_err(|error| errno(&error))?;
            let (mut offset, mut piece) = (0, vec![0; PIECE_BYTES]);
            loop {
                let count = content.read_at(offset, &mut piece);
                let Some(bytes) = piece.get(..count).filter(|bytes| !bytes.is_empty()) else { break };
                file.write_all(bytes).map_err(|error| io_errno(&error))?;
                offset = offset.saturating_add(count as u64);
            }
            file.flush().map_err(|error| io_errno(&error))
        })
    }

    fn create_dir(&self, path: &[u8], mode: u32) -> Result<(), Errno> {
        let _ = mode;
        let path = self.expect_nothing(path)?;
        self.call(|fs| fs.create_dir(&path))
    }

    fn remove_file(&self, path: &[u8]) -> Result<(), Errno> {
        let path = self.expect(path, VfsFileType::File)?;
        self.call(|fs| fs.remove_file(&path))
    }

    fn remove_dir(&self, path: &[u8]) -> Result<(), Errno> {
        if !self.read_dir(path)?.is_empty() {
            return Err(Errno::Notempty);
        }
        let path = self.expect(path, VfsFileType::Directory)?;
        self.call(|fs| fs.remove_dir(&path))
    }

    fn rename(&self, from: &[u8], to: &[u8]) -> Result<(), Errno> {
        let is_dir = matches!(self.look(from)?.file_type, VfsFileType::Directory);
        if !is_dir {
            return self.rename_file(&canonical(from)?, to);
        }
        let (Ok(old), Ok(new)) = (canonical(from), self.expect_nothing(to)) else { return Err(Errno::Xdev) };
        let moved = self.call(|fs| fs.move_dir(&old, &new));
        moved.map_err(|errno| if errno == Errno::Notsup { Errno::Xdev } else { errno })
    }

    fn set_times(&self, path: &[u8], atime: Option<u64>, mtime: Option<u64>) -> Result<(), Errno> {
        let name = canonical(path)?;
        let time =
            |nanoseconds| SystemTime::UNIX_EPOCH.checked_add(Duration::from_nanos(nanoseconds)).ok_or(Errno::Inval);
        if let Some(mtime) = mtime {
            let mtime = time(mtime)?;
            self.call(|fs| fs.set_modification_time(&name, mtime))?;
        }
        match atime.map(time).transpose()? {
            Some(atime) => self.call(|fs| fs.set_access_time(&name, atime)),
            None => Ok(()),
        }
    }
}

impl VfsMount {
    /// Every program that replaces a file writes beside it and renames, so that this has to work where the crate's own moving
    /// does not: over a file that is there, and in file systems that move nothing.
    fn rename_file(&self, old: &str, to: &[u8]) -> Result<(), Errno> {
        let new = canonical(to)?;
        if old == new {
            return Ok(());
        }
        if let Ok(there) = self.expect(to, VfsFileType::File) {
            self.call(|fs| fs.remove_file(&there))?;
        } else {
            self.expect_nothing(to)?;
        }
        match self.call(|fs| fs.move_file(old, &new)) {
            Err(Errno::Notsup) => {
                self.copy_file(old, &new)?;
                self.call(|fs| fs.remove_file(old))
            }
            moved => moved,
        }
    }

    fn copy_file(&self, from: &str, to: &str) -> Result<(), Errno> {
        contained(|| {
            let mut source = self.fs.open_file(from).map_err(|error| errno(&error))?;
            let mut target = self.fs.create_file(to).map_err(|error| errno(&error))?;
            let mut piece = vec![0; PIECE_BYTES];
            loop {
                let count = source.read(&mut piece).map_err(|error| io_errno(&error))?;
                let Some(bytes) = piece.get(..count).filter(|bytes| !bytes.is_empty()) else { break };
                target.write_all(bytes).map_err(|error| io_errno(&error))?;
            }
            target.flush().map_err(|error| io_errno(&error))
        })
    }
}

/// A file that is open for reading. The crate's handles are one reader each, so calls take turns.
struct VfsFile {
    file: Mutex<Box<dyn SeekAndRead + Send>>,
    metadata: Metadata,
}

impl fmt::Debug for VfsFile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("VfsFile").field("metadata", &self.metadata).finish_non_exhaustive()
    }
}

impl VfsFile {
    fn with<T>(&self, call: impl FnOnce(&mut (dyn SeekAndRead + Send)) -> io::Result<T>) -> Result<T, Errno> {
        let mut file = self.file.lock().unwrap_or_else(PoisonError::into_inner);
        contained(|| call(&mut **file).map_err(|error| io_errno(&error)))
    }
}

impl MountFile for VfsFile {
    fn metadata(&self) -> Result<Metadata, Errno> {
        let size = self.with(|file| file.seek(SeekFrom::End(0)))?;
        Ok(Metadata { size, ..self.metadata })
    }

    fn read_at(&self, offset: u64, dst: &mut [u8]) -> Result<usize, Errno> {
        self.with(|file| {
            // Seeking beyond the end panics in some file systems, and so may reading there.
            let end = file.seek(SeekFrom::End(0))?;
            let left = usize::try_from(end.saturating_sub(offset)).unwrap_or(usize::MAX);
            let room = dst.len().min(left);
            let Some(dst) = dst.get_mut(..room).filter(|dst| !dst.is_empty()) else { return Ok(0) };
            file.seek(SeekFrom::Start(offset))?;
            file.read(dst).map(|count| count.min(room))
        })
    }
}
