//! Any file system of the `vfs` crate as a mount.

#[cfg(test)]
mod tests;

use std::fmt;
use std::io::{self, SeekFrom};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use tidebox_core::lock::Mutex;

use tidebox_kernel::Errno;
use tidebox_kernel::fs::{Access, Contents, EntryKind, Metadata, Mount, MountFile, WriteSupport};
use vfs::error::VfsErrorKind;
use vfs::{FileSystem, SeekAndRead, VfsError, VfsFileType, VfsMetadata, VfsResult};

/// Directory in which `vfs::OverlayFS` keeps removed names. Removing a file in it would restore the removed file.
const WHITEOUT: &str = ".whiteout";

/// Bytes per write.
const CHUNK_BYTES: usize = 64 * 1024;

/// A file system of the `vfs` crate.
///
/// It receives only canonical paths and no seeks beyond the end, and its panics become `IO` errors. Features missing in the
/// crate's trait are not supported: modes, owners, links, renaming over an existing file (`XDEV`, so `mv` copies), atomic
/// operations. On writable mounts a changed file is kept in the sandbox, charged to its quota, and written as a whole when it is
/// closed or synced by `fsync`; the last close wins. Names that are not UTF-8 or contain a backslash cannot be created, and
/// `.whiteout` in the root is hidden.
///
/// `vfs::PhysicalFS` follows links out of its directory. It is not a security boundary; use [`HostDir`](crate::HostDir) for host
/// directories.
pub struct VfsMount {
    fs: Arc<dyn FileSystem>,
}

impl fmt::Debug for VfsMount {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("VfsMount").finish_non_exhaustive()
    }
}

impl VfsMount {
    /// Creates a mount of this file system.
    pub fn new(fs: Arc<dyn FileSystem>) -> Self {
        Self { fs }
    }

    /// Calls the file system and catches its panics.
    fn call<T>(&self, call: impl FnOnce(&dyn FileSystem) -> VfsResult<T>) -> Result<T, Errno> {
        catch_panic(|| call(&*self.fs).map_err(|error| errno(&error)))
    }

    fn stat(&self, path: &[u8]) -> Result<VfsMetadata, Errno> {
        let path = canonical(path).map_err(|_| Errno::Noent)?;
        self.call(|fs| fs.metadata(&path))
    }

    /// Checks that the path has this type, otherwise `NOENT`, `ISDIR` or `NOTDIR`: some file systems do not check.
    fn stat_as(&self, path: &[u8], file_type: VfsFileType) -> Result<String, Errno> {
        match (self.stat(path)?.file_type, file_type) {
            (VfsFileType::Directory, VfsFileType::File) => Err(Errno::Isdir),
            (VfsFileType::File, VfsFileType::Directory) => Err(Errno::Notdir),
            _ => canonical(path),
        }
    }

    /// Returns the path for a new entry of an existing directory.
    fn check_absent(&self, path: &[u8]) -> Result<String, Errno> {
        let name = canonical(path)?;
        match self.stat(path) {
            Ok(_) => return Err(Errno::Exist),
            Err(Errno::Noent) => {}
            Err(errno) => return Err(errno),
        }
        let parent = path.iter().rposition(|&byte| byte == b'/').and_then(|slash| path.get(..slash));
        self.stat_as(parent.unwrap_or_default(), VfsFileType::Directory)?;
        Ok(name)
    }
}

/// Converts to the crate's form of a path: absolute, the root empty. `INVAL` for names that it would interpret differently.
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

fn catch_panic<T>(call: impl FnOnce() -> Result<T, Errno>) -> Result<T, Errno> {
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
    fn writes(&self) -> WriteSupport {
        WriteSupport::ReplaceOnly
    }

    fn metadata(&self, path: &[u8]) -> Result<Metadata, Errno> {
        self.stat(path).map(|found| metadata(&found))
    }

    fn read_dir(&self, path: &[u8]) -> Result<Vec<(Vec<u8>, EntryKind)>, Errno> {
        let dir = self.stat_as(path, VfsFileType::Directory)?;
        let names: Vec<String> = self.call(|fs| Ok(fs.read_dir(&dir)?.collect()))?;
        let mut entries = Vec::with_capacity(names.len());
        for name in names {
            if name.contains('/') {
                continue;
            }
            let below = if path.is_empty() { name.clone().into_bytes() } else { [path, name.as_bytes()].join(&b'/') };
            match self.stat(&below) {
                Ok(found) => entries.push((name.into_bytes(), metadata(&found).kind)),
                // Entries with unsupported names and entries that were removed concurrently are omitted.
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
        let found = self.stat(path)?;
        let path = self.stat_as(path, VfsFileType::File)?;
        let file = self.call(|fs| fs.open_file(&path))?;
        Ok(Arc::new(VfsFile { file: Mutex::new(file), metadata: metadata(&found) }))
    }

    fn create(&self, path: &[u8], mode: u32) -> Result<(), Errno> {
        let _ = mode;
        let path = self.check_absent(path)?;
        self.call(|fs| fs.create_file(&path).map(drop))
    }

    fn replace(&self, path: &[u8], content: &Contents) -> Result<(), Errno> {
        let path = self.stat_as(path, VfsFileType::File)?;
        catch_panic(|| {
            let mut file = self.fs.create_file(&path).map_err(|error| errno(&error))?;
            let (mut offset, mut chunk) = (0, vec![0; CHUNK_BYTES]);
            loop {
                let count = content.read_at(offset, &mut chunk);
                let Some(bytes) = chunk.get(..count).filter(|bytes| !bytes.is_empty()) else { break };
                file.write_all(bytes).map_err(|error| io_errno(&error))?;
                offset = offset.saturating_add(count as u64);
            }
            file.flush().map_err(|error| io_errno(&error))
        })
    }

    fn create_dir(&self, path: &[u8], mode: u32) -> Result<(), Errno> {
        let _ = mode;
        let path = self.check_absent(path)?;
        self.call(|fs| fs.create_dir(&path))
    }

    fn remove_file(&self, path: &[u8]) -> Result<(), Errno> {
        let path = self.stat_as(path, VfsFileType::File)?;
        self.call(|fs| fs.remove_file(&path))
    }

    fn remove_dir(&self, path: &[u8]) -> Result<(), Errno> {
        if !self.read_dir(path)?.is_empty() {
            return Err(Errno::Notempty);
        }
        let path = self.stat_as(path, VfsFileType::Directory)?;
        self.call(|fs| fs.remove_dir(&path))
    }

    fn rename(&self, from: &[u8], to: &[u8]) -> Result<(), Errno> {
        let is_dir = matches!(self.stat(from)?.file_type, VfsFileType::Directory);
        if !is_dir {
            return self.rename_file(&canonical(from)?, to);
        }
        let (Ok(old), Ok(new)) = (canonical(from), self.check_absent(to)) else { return Err(Errno::Xdev) };
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
    /// Programs that replace a file write a temporary file and rename it, so this must work where the crate's own moving does
    /// not: over an existing file, and in file systems without moves.
    fn rename_file(&self, old: &str, to: &[u8]) -> Result<(), Errno> {
        let new = canonical(to)?;
        if old == new {
            return Ok(());
        }
        if let Ok(there) = self.stat_as(to, VfsFileType::File) {
            self.call(|fs| fs.remove_file(&there))?;
        } else {
            self.check_absent(to)?;
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
        catch_panic(|| {
            let mut source = self.fs.open_file(from).map_err(|error| errno(&error))?;
            let mut target = self.fs.create_file(to).map_err(|error| errno(&error))?;
            let mut chunk = vec![0; CHUNK_BYTES];
            loop {
                let count = source.read(&mut chunk).map_err(|error| io_errno(&error))?;
                let Some(bytes) = chunk.get(..count).filter(|bytes| !bytes.is_empty()) else { break };
                target.write_all(bytes).map_err(|error| io_errno(&error))?;
            }
            target.flush().map_err(|error| io_errno(&error))
        })
    }
}

/// A file open for reading. The crate's handles have one reader each, so calls are serialized.
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
        let mut file = self.file.lock();
        catch_panic(|| call(&mut **file).map_err(|error| io_errno(&error)))
    }
}

impl MountFile for VfsFile {
    fn metadata(&self) -> Result<Metadata, Errno> {
        let size = self.with(|file| file.seek(SeekFrom::End(0)))?;
        Ok(Metadata { size, ..self.metadata })
    }

    fn read_at(&self, offset: u64, dst: &mut [u8]) -> Result<usize, Errno> {
        self.with(|file| {
            // Some file systems panic on seeking or reading after the end.
            let end = file.seek(SeekFrom::End(0))?;
            let left = usize::try_from(end.saturating_sub(offset)).unwrap_or(usize::MAX);
            let available = dst.len().min(left);
            let Some(dst) = dst.get_mut(..available).filter(|dst| !dst.is_empty()) else { return Ok(0) };
            file.seek(SeekFrom::Start(offset))?;
            file.read(dst).map(|count| count.min(available))
        })
    }
}
