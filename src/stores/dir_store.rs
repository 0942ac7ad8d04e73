//! Store of one program in one directory.

use std::collections::BTreeSet;
use std::fmt;
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use tidebox_core::{BoxFuture, Error, ErrorKind, Result, SandboxId};
use tidebox_vfs_backend::{Durability, SaveRequest, SavedFiles, SavedSandbox, SnapshotStore};

use crate::stores::chain::{ChainStore, Writers};
use crate::stores::folder::{Folder, failed, is_missing, remove_temporary, sync_dir};
use crate::stores::legacy::{self, ReadError};
use crate::stores::log::GenerationLog;
use crate::stores::name;

/// Extension of a file of an earlier version with the newest save of a sandbox.
const CURRENT: &str = "sandbox";

/// Extension of the save before.
const PREVIOUS: &str = "previous";

/// Lock file, locked by the program that uses the directory.
const LOCK: &str = ".lock";

/// Keeps sandboxes in a host directory that one program uses at a time.
///
/// A [`ChainStore`] over a [`FolderLog`](crate::stores::FolderLog): each sandbox has a directory with its newest whole
/// snapshot, the changes since, and the snapshot before as a backup. Every file has a checksum, and a corrupt file is an
/// error that names it. Sandboxes that an earlier version has saved, in one file each, are converted when they are used.
///
/// The files are not encrypted: anyone who can read them can read the content of the sandboxes.
#[derive(Clone)]
pub struct DirStore {
    folder: Folder,
    chains: ChainStore,
}

impl fmt::Debug for DirStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("DirStore").field("dir", &self.folder.path()).finish_non_exhaustive()
    }
}

impl DirStore {
    /// Opens a store in a directory, which is created if it is missing.
    ///
    /// # Errors
    /// [`ErrorKind::Storage`] if it cannot be used, or is used by another program.
    pub fn open(dir: impl Into<PathBuf>) -> Result<Self> {
        let path = dir.into();
        drop(Folder::open(&path)?);
        let failed = |error| failed("open", &path, "choose a directory that this program can write to", error);
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
        // The directory is locked, so no other program is writing a file.
        remove_temporary(&path, u64::MAX).map_err(failed)?;
        let folder = Folder::open_with(path, Some(lock))?;
        let chains = ChainStore::with_writers(Arc::new(GenerationLog::new(folder.clone())), Writers::One)?;
        Ok(Self { folder, chains })
    }

    /// Converts a sandbox that an earlier version has saved. Succeeds without one.
    async fn convert(&self, id: &SandboxId) -> Result<()> {
        let (stem, wanted) = (name::stem(id), id.clone());
        let read = {
            let stem = stem.clone();
            self.folder.run(move |folder| LegacyFiles(folder.path()).read(&stem, &wanted))
        };
        let Some((sandbox, snapshot)) = read.await? else { return Ok(()) };
        // After a crash the sandbox may have been converted already: then nothing is written.
        self.chains.adopt(sandbox, snapshot).await?;
        self.folder.run(move |folder| LegacyFiles(folder.path()).remove(&stem)).await
    }

    async fn list_all(&self) -> Result<Vec<SavedSandbox>> {
        let mut found = self.chains.list().await?;
        let earlier = self.folder.run(|folder| LegacyFiles(folder.path()).list()).await?;
        let known: BTreeSet<SandboxId> = found.iter().map(|sandbox| sandbox.id.clone()).collect();
        found.extend(earlier.into_iter().filter(|sandbox| !known.contains(&sandbox.id)));
        Ok(found)
    }
}

impl SnapshotStore for DirStore {
    fn durability(&self) -> Durability {
        self.chains.durability()
    }

    fn has_other_writers(&self) -> bool {
        self.chains.has_other_writers()
    }

    fn put(&self, save: SaveRequest) -> BoxFuture<'_, Result<()>> {
        self.chains.put(save)
    }

    fn get<'a>(&'a self, id: &'a SandboxId, max_bytes: u64) -> BoxFuture<'a, Result<Option<SavedFiles>>> {
        Box::pin(async move {
            self.convert(id).await?;
            self.chains.get(id, max_bytes).await
        })
    }

    fn find<'a>(&'a self, id: &'a SandboxId) -> BoxFuture<'a, Result<Option<SavedSandbox>>> {
        Box::pin(async move {
            self.convert(id).await?;
            self.chains.find(id).await
        })
    }

    fn list(&self) -> BoxFuture<'_, Result<Vec<SavedSandbox>>> {
        Box::pin(self.list_all())
    }

    fn delete<'a>(&'a self, id: &'a SandboxId) -> BoxFuture<'a, Result<()>> {
        Box::pin(async move {
            let stem = name::stem(id);
            self.folder.run(move |folder| LegacyFiles(folder.path()).remove(&stem)).await?;
            self.chains.delete(id).await
        })
    }

    fn delete_own<'a>(&'a self, sandbox: &'a SavedSandbox) -> BoxFuture<'a, Result<()>> {
        // No other program has the directory.
        self.delete(&sandbox.id)
    }

    fn release(&self, id: &SandboxId) {
        self.chains.release(id);
    }

    /// Old generations are removed by saves, because no other program needs them.
    fn collect_garbage(&self) -> BoxFuture<'_, Result<()>> {
        Box::pin(std::future::ready(Ok(())))
    }
}

/// Files of an earlier version in a directory.
struct LegacyFiles<'a>(&'a Path);

impl LegacyFiles<'_> {
    fn file(&self, stem: &str, extension: &str) -> PathBuf {
        self.0.join(format!("{stem}.{extension}"))
    }

    fn read(&self, stem: &str, id: &SandboxId) -> Result<Option<(SavedSandbox, Vec<u8>)>> {
        for extension in [CURRENT, PREVIOUS] {
            let path = self.file(stem, extension);
            match legacy::read(&path, id) {
                Ok(saved) => return Ok(Some(saved)),
                Err(ReadError::Io(error)) if is_missing(&error) => {}
                Err(error) => return Err(self.corrupt_file(stem, extension, error)),
            }
        }
        Ok(None)
    }

    fn list(&self) -> Result<Vec<SavedSandbox>> {
        let mut stems = BTreeSet::new();
        let unreadable = |error| failed("list", self.0, "make the directory readable", error);
        for entry in fs::read_dir(self.0).map_err(unreadable)? {
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
        legacy::read_head(&self.file(stem, CURRENT)).or_else(|error| {
            legacy::read_head(&self.file(stem, PREVIOUS)).map_err(|_| self.corrupt_file(stem, CURRENT, error))
        })
    }

    fn remove(&self, stem: &str) -> Result<()> {
        // Remove the older save first: a crash in between must not leave an older state than the last save.
        let mut removed = false;
        for extension in [PREVIOUS, CURRENT] {
            let path = self.file(stem, extension);
            match fs::remove_file(&path) {
                Ok(()) => removed = true,
                Err(error) if is_missing(&error) => {}
                Err(error) => return Err(failed("delete", &path, "make the directory writable", error)),
            }
        }
        if !removed {
            return Ok(());
        }
        sync_dir(self.0).map_err(|error| failed("delete from", self.0, "try again", error))
    }

    fn corrupt_file(&self, stem: &str, extension: &str, error: ReadError) -> Error {
        let (path, previous) = (self.file(stem, extension), self.file(stem, PREVIOUS));
        let hint = if extension == CURRENT && legacy::read_head(&previous).is_ok() {
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

fn open_lock(path: &Path) -> io::Result<File> {
    let mut options = fs::OpenOptions::new();
    options.read(true).write(true).create(true).truncate(false);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(path)
}

#[cfg(test)]
mod tests;
