//! Saved sandboxes in a folder.

mod file;
mod offload;

use std::collections::BTreeSet;
use std::fmt;
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use tidebox_core::{BoxFuture, Error, ErrorKind, Result, SandboxId};
use tidebox_vfs_backend::{SavedSandbox, Snapshot, SnapshotStore};

use crate::atomic_file::{self, TEMPORARY};
use file::Damage;
use offload::offload;

/// The newest save of a sandbox.
const CURRENT: &str = "sandbox";

/// The save before that.
const PREVIOUS: &str = "previous";

/// Held by the program that uses the folder.
const LOCK: &str = ".lock";

/// Keeps sandboxes in a folder of the host: for each one file with the newest save, and one with the save before it.
///
/// A save is written beside the old one, reaches the disk, and takes its place: after a crash at any moment there is the
/// old save or the new one. Every file carries a checksum, and one that is damaged is an error that names it. Folder and
/// files are the user's alone (modes 0700 and 0600). One program uses a folder at a time. Reading and writing happen on
/// threads of their own, so that no task of the caller's waits for a disk.
///
/// The files are not encrypted: who may read them reads what the sandboxes hold.
#[derive(Clone)]
pub struct FolderStore {
    folder: Arc<Folder>,
}

struct Folder {
    path: PathBuf,
    /// Locked as long as it is open; the system unlocks it also when the program is killed.
    _lock: File,
}

impl fmt::Debug for FolderStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("FolderStore").field("folder", &self.folder.path).finish_non_exhaustive()
    }
}

impl FolderStore {
    /// Uses a folder, which is made when it is missing.
    ///
    /// # Errors
    /// [`ErrorKind::Storage`] when it cannot be used, or when another program uses it.
    pub fn open(folder: impl Into<PathBuf>) -> Result<Self> {
        let path = folder.into();
        let failed = |error| failed("open", &path, "choose a folder that this program may write to", error);
        make_folder(&path).map_err(failed)?;
        let lock = open_lock(&path.join(LOCK)).map_err(failed)?;
        lock.try_lock().map_err(|error| match error {
            fs::TryLockError::WouldBlock => {
                let message = format!(
                    "{} is used by another program; end it, or give each program a folder of its own",
                    path.display()
                );
                Error::new(ErrorKind::Storage, "open store", message)
            }
            fs::TryLockError::Error(error) => failed(error),
        })?;
        remove_temporary(&path).map_err(failed)?;
        Ok(Self { folder: Arc::new(Folder { path, _lock: lock }) })
    }

    /// Runs `job` on a thread of its own.
    fn run<T: Send + 'static>(
        &self,
        job: impl FnOnce(&Folder) -> Result<T> + Send + 'static,
    ) -> BoxFuture<'static, Result<T>> {
        let folder = Arc::clone(&self.folder);
        Box::pin(offload(move || job(&folder)))
    }
}

impl SnapshotStore for FolderStore {
    fn put<'a>(&'a self, saved: &'a SavedSandbox, snapshot: Snapshot) -> BoxFuture<'a, Result<()>> {
        let saved = saved.clone();
        self.run(move |folder| folder.put(&saved, &snapshot.to_bytes()))
    }

    fn get<'a>(&'a self, id: &'a SandboxId) -> BoxFuture<'a, Result<Option<Vec<u8>>>> {
        let id = id.clone();
        self.run(move |folder| folder.get(&id))
    }

    fn list(&self) -> BoxFuture<'_, Result<Vec<SavedSandbox>>> {
        self.run(Folder::list)
    }

    fn delete<'a>(&'a self, id: &'a SandboxId) -> BoxFuture<'a, Result<()>> {
        let id = id.clone();
        self.run(move |folder| folder.delete(&id))
    }
}

impl Folder {
    fn file(&self, stem: &str, extension: &str) -> PathBuf {
        self.path.join(format!("{stem}.{extension}"))
    }

    fn put(&self, saved: &SavedSandbox, snapshot: &[u8]) -> Result<()> {
        let stem = file::stem(&saved.id);
        let (current, previous) = (self.file(&stem, CURRENT), self.file(&stem, PREVIOUS));
        let head = file::head(saved, snapshot)?;
        let write = || {
            let written = atomic_file::write_beside(&current, &[&head, snapshot, &file::checksum(snapshot)])?;
            // Between the two renames the save before is the newest that there is, and is found as such.
            match fs::rename(&current, &previous) {
                Err(error) if error.kind() == io::ErrorKind::NotFound => {}
                renamed => renamed?,
            }
            written.persist(&current).map_err(|error| error.error)?;
            atomic_file::sync_folder(&self.path)
        };
        write().map_err(|error| failed("save to", &current, "free some space, or make the folder writable", error))
    }

    fn get(&self, id: &SandboxId) -> Result<Option<Vec<u8>>> {
        let stem = file::stem(id);
        for extension in [CURRENT, PREVIOUS] {
            let path = self.file(&stem, extension);
            match file::read(&path, id) {
                Ok(snapshot) => return Ok(Some(snapshot)),
                Err(Damage::Io(error)) if error.kind() == io::ErrorKind::NotFound => {}
                Err(damage) => return Err(self.damaged(&stem, extension, damage)),
            }
        }
        Ok(None)
    }

    fn list(&self) -> Result<Vec<SavedSandbox>> {
        let mut stems = BTreeSet::new();
        let unreadable = |error| failed("list", &self.path, "make the folder readable", error);
        for entry in fs::read_dir(&self.path).map_err(unreadable)? {
            let path = entry.map_err(unreadable)?.path();
            let ours = path.extension().is_some_and(|extension| extension == CURRENT || extension == PREVIOUS);
            if let Some(stem) = path.file_stem().and_then(|stem| stem.to_str())
                && ours
            {
                stems.insert(stem.to_owned());
            }
        }
        stems.iter().map(|stem| self.about(stem)).collect()
    }

    /// What is known of a sandbox. Labels never change, so a damaged file's are those of the save before it; the damage is
    /// told when the sandbox itself is asked for.
    fn about(&self, stem: &str) -> Result<SavedSandbox> {
        file::read_head(&self.file(stem, CURRENT)).or_else(|damage| {
            file::read_head(&self.file(stem, PREVIOUS)).map_err(|_| self.damaged(stem, CURRENT, damage))
        })
    }

    fn delete(&self, id: &SandboxId) -> Result<()> {
        let stem = file::stem(id);
        // The older first: a crash in between must not leave an older sandbox than was saved.
        for extension in [PREVIOUS, CURRENT] {
            let path = self.file(&stem, extension);
            match fs::remove_file(&path) {
                Err(error) if error.kind() != io::ErrorKind::NotFound => {
                    return Err(failed("delete", &path, "make the folder writable", error));
                }
                _ => {}
            }
        }
        atomic_file::sync_folder(&self.path).map_err(|error| failed("delete from", &self.path, "try again", error))
    }

    fn damaged(&self, stem: &str, extension: &str, damage: Damage) -> Error {
        let (path, previous) = (self.file(stem, extension), self.file(stem, PREVIOUS));
        let advice = if extension == CURRENT && file::read_head(&previous).is_ok() {
            format!(
                "put a copy in its place; or rename {} to {CURRENT} instead of {PREVIOUS}, which goes back to the save \
                 before; or delete both, which gives the sandbox up",
                previous.display()
            )
        } else {
            "put a copy in its place, or delete it, which gives the sandbox up".to_owned()
        };
        match damage {
            Damage::Io(error) => failed("read", &path, &advice, error),
            Damage::Content(what) => {
                let message = format!("{} {what}; {advice}", path.display());
                Error::new(ErrorKind::Storage, "read saved sandbox", message)
            }
        }
    }
}

fn make_folder(path: &Path) -> io::Result<()> {
    let mut builder = fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(path)?;
    // The folder's own name shall last, too. A folder above that may not be opened is synced when the system likes.
    if let Some(above) = path.parent().filter(|above| !above.as_os_str().is_empty()) {
        let _ = atomic_file::sync_folder(above);
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

/// Removes what saves left behind that a crash ended. The folder is locked, so that nobody is writing one.
fn remove_temporary(folder: &Path) -> io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        if entry.file_name().to_string_lossy().starts_with(TEMPORARY) {
            fs::remove_file(entry.path())?;
        }
    }
    Ok(())
}

fn failed(verb: &str, path: &Path, advice: &str, error: io::Error) -> Error {
    let message = format!("cannot {verb} {}: {error}; {advice}", path.display());
    Error::new(ErrorKind::Storage, "keep sandboxes", message).with_source(error)
}

#[cfg(test)]
mod tests;
