//! Saved sandboxes in a directory.

mod blocking;
mod file;

use std::collections::BTreeSet;
use std::fmt;
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use tidebox_core::{BoxFuture, Error, ErrorKind, Result, SandboxId};
use tidebox_vfs_backend::{SavedSandbox, Snapshot, SnapshotStore};

use crate::atomic_file::{self, TEMP_PREFIX};
use blocking::spawn_blocking;
use file::ReadError;

/// Extension of the newest save of a sandbox.
const CURRENT: &str = "sandbox";

/// Extension of the previous save.
const PREVIOUS: &str = "previous";

/// Lock file, locked by the program that uses the directory.
const LOCK: &str = ".lock";

/// Stores sandboxes in a host directory: one file with the newest save of each sandbox, and one with the previous save.
///
/// A save is written to a temporary file, synced, and renamed: after a crash there is the old save or the new one. Every file has
/// a checksum, and a corrupt file is an error that names it. Only the user can access the directory and its files (modes 0700 and
/// 0600). Only one program can use a directory at a time. Files are read and written on separate threads, so that tasks of the
/// caller do not block.
///
/// The files are not encrypted: anyone who can read them can read the content of the sandboxes.
#[derive(Clone)]
pub struct DirStore {
    dir: Arc<StoreDir>,
}

struct StoreDir {
    path: PathBuf,
    /// Locked while it is open. The system also unlocks it when the program is killed.
    _lock: File,
}

impl fmt::Debug for DirStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("DirStore").field("dir", &self.dir.path).finish_non_exhaustive()
    }
}

impl DirStore {
    /// Opens a store in a directory, which is created if it is missing.
    ///
    /// # Errors
    /// [`ErrorKind::Storage`] if it cannot be used, or is used by another program.
    pub fn open(dir: impl Into<PathBuf>) -> Result<Self> {
        let path = dir.into();
        let failed = |error| failed("open", &path, "choose a directory that this program can write to", error);
        create_dir(&path).map_err(failed)?;
        let lock = open_lock(&path.join(LOCK)).map_err(failed)?;
        lock.try_lock().map_err(|error| match error {
            fs::TryLockError::WouldBlock => {
                let message = format!(
                    "cannot open {}: it is used by another program; stop that program, or use a separate directory",
                    path.display()
                );
                Error::new(ErrorKind::Storage, "open store", message)
            }
            fs::TryLockError::Error(error) => failed(error),
        })?;
        remove_temporary(&path).map_err(failed)?;
        Ok(Self { dir: Arc::new(StoreDir { path, _lock: lock }) })
    }

    /// Runs `job` on a separate thread.
    fn run<T: Send + 'static>(
        &self,
        job: impl FnOnce(&StoreDir) -> Result<T> + Send + 'static,
    ) -> BoxFuture<'static, Result<T>> {
        let dir = Arc::clone(&self.dir);
        Box::pin(spawn_blocking(move || job(&dir)))
    }
}

impl SnapshotStore for DirStore {
    fn put<'a>(&'a self, saved: &'a SavedSandbox, snapshot: Snapshot) -> BoxFuture<'a, Result<()>> {
        let saved = saved.clone();
        self.run(move |dir| dir.put(&saved, &snapshot.to_bytes()))
    }

    fn get<'a>(&'a self, id: &'a SandboxId) -> BoxFuture<'a, Result<Option<Vec<u8>>>> {
        let id = id.clone();
        self.run(move |dir| dir.get(&id))
    }

    fn list(&self) -> BoxFuture<'_, Result<Vec<SavedSandbox>>> {
        self.run(StoreDir::list)
    }

    fn delete<'a>(&'a self, id: &'a SandboxId) -> BoxFuture<'a, Result<()>> {
        let id = id.clone();
        self.run(move |dir| dir.delete(&id))
    }
}

impl StoreDir {
    fn file(&self, stem: &str, extension: &str) -> PathBuf {
        self.path.join(format!("{stem}.{extension}"))
    }

    fn put(&self, saved: &SavedSandbox, snapshot: &[u8]) -> Result<()> {
        let stem = file::file_stem(&saved.id);
        let (current, previous) = (self.file(&stem, CURRENT), self.file(&stem, PREVIOUS));
        let head = file::head(saved, snapshot)?;
        let write = || {
            let written = atomic_file::write_temp_sibling(&current, &[&head, snapshot, &file::checksum(snapshot)])?;
            // Between the two renames the previous save is the newest one, and is found as such.
            match fs::rename(&current, &previous) {
                Err(error) if error.kind() == io::ErrorKind::NotFound => {}
                renamed => renamed?,
            }
            written.persist(&current).map_err(|error| error.error)?;
            atomic_file::sync_dir(&self.path)
        };
        write().map_err(|error| failed("save to", &current, "free some space, or make the directory writable", error))
    }

    fn get(&self, id: &SandboxId) -> Result<Option<Vec<u8>>> {
        let stem = file::file_stem(id);
        for extension in [CURRENT, PREVIOUS] {
            let path = self.file(&stem, extension);
            match file::read(&path, id) {
                Ok(snapshot) => return Ok(Some(snapshot)),
                Err(ReadError::Io(error)) if error.kind() == io::ErrorKind::NotFound => {}
                Err(error) => return Err(self.corrupt_file(&stem, extension, error)),
            }
        }
        Ok(None)
    }

    fn list(&self) -> Result<Vec<SavedSandbox>> {
        let mut stems = BTreeSet::new();
        let unreadable = |error| failed("list", &self.path, "make the directory readable", error);
        for entry in fs::read_dir(&self.path).map_err(unreadable)? {
            let path = entry.map_err(unreadable)?.path();
            let is_save = path.extension().is_some_and(|extension| extension == CURRENT || extension == PREVIOUS);
            if let Some(stem) = path.file_stem().and_then(|stem| stem.to_str())
                && is_save
            {
                stems.insert(stem.to_owned());
            }
        }
        stems.iter().map(|stem| self.read_head(stem)).collect()
    }

    /// Reads the head of a save. Labels never change, so those of the previous save replace the ones of a corrupt file; the error
    /// is reported when the sandbox is opened.
    fn read_head(&self, stem: &str) -> Result<SavedSandbox> {
        file::read_head(&self.file(stem, CURRENT)).or_else(|error| {
            file::read_head(&self.file(stem, PREVIOUS)).map_err(|_| self.corrupt_file(stem, CURRENT, error))
        })
    }

    fn delete(&self, id: &SandboxId) -> Result<()> {
        let stem = file::file_stem(id);
        // Delete the older save first: a crash in between must not leave an older state than the last save.
        for extension in [PREVIOUS, CURRENT] {
            let path = self.file(&stem, extension);
            match fs::remove_file(&path) {
                Err(error) if error.kind() != io::ErrorKind::NotFound => {
                    return Err(failed("delete", &path, "make the directory writable", error));
                }
                _ => {}
            }
        }
        atomic_file::sync_dir(&self.path).map_err(|error| failed("delete from", &self.path, "try again", error))
    }

    fn corrupt_file(&self, stem: &str, extension: &str, error: ReadError) -> Error {
        let (path, previous) = (self.file(stem, extension), self.file(stem, PREVIOUS));
        let hint = if extension == CURRENT && file::read_head(&previous).is_ok() {
            format!(
                "restore it from a backup; or rename {} to {CURRENT} instead of {PREVIOUS} to use the previous save; \
                 or delete both to discard the sandbox",
                previous.display()
            )
        } else {
            "restore it from a backup, or delete it to discard the sandbox".to_owned()
        };
        match error {
            ReadError::Io(source) => failed("read", &path, &hint, source),
            ReadError::Content(description) => {
                let message = format!("{} {description}; {hint}", path.display());
                Error::new(ErrorKind::Storage, "read saved sandbox", message)
            }
        }
    }
}

fn create_dir(path: &Path) -> io::Result<()> {
    let mut builder = fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(path)?;
    // Sync the directory entry too. The sync of a parent that cannot be opened is left to the system.
    if let Some(parent) = path.parent().filter(|parent| !parent.as_os_str().is_empty()) {
        let _ = atomic_file::sync_dir(parent);
    }
    Ok(())
}

fn open_lock(path: &Path) -> io::Result<File> {
    let mut options = fs::OpenOptions::new();
    options.read(true).write(true).create(true).truncate(false);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(path)
}

/// Removes temporary files of interrupted saves. The directory is locked, so no other program is writing one.
fn remove_temporary(dir: &Path) -> io::Result<()> {
    for entry in fs::read_dir(dir)? {
        let entry = entry?;
        if entry.file_name().to_string_lossy().starts_with(TEMP_PREFIX) {
            fs::remove_file(entry.path())?;
        }
    }
    Ok(())
}

fn failed(verb: &str, path: &Path, hint: &str, error: io::Error) -> Error {
    let message = format!("cannot {verb} {}: {error}; {hint}", path.display());
    Error::new(ErrorKind::Storage, "keep sandboxes", message).with_source(error)
}

#[cfg(test)]
mod tests;
