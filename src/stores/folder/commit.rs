//! Durable creation of files, several at a time.

use std::collections::BTreeSet;
use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use tempfile::NamedTempFile;
use tidebox_core::lock::Mutex;

use crate::stores::objects::Creation;

/// Prefix of temporary files, which may remain after a crash.
pub(crate) const TEMP_PREFIX: &str = ".tidebox-";

/// Creates files in groups: the first caller commits the files of all who wait. A file system writes its journal once for all files
/// of a group, so a hundred saves at a time cost little more than one.
#[derive(Debug)]
pub(super) struct Committer {
    /// Directory for temporary files, on the same file system as all files.
    root: PathBuf,
    waiting: Mutex<Vec<Job>>,
    /// Held by the caller that commits.
    leader: Mutex<()>,
}

#[derive(Debug)]
struct Job {
    path: PathBuf,
    bytes: Vec<u8>,
    result: Arc<Mutex<Option<io::Result<Creation>>>>,
}

impl Committer {
    pub(super) fn new(root: PathBuf) -> Self {
        Self { root, waiting: Mutex::default(), leader: Mutex::default() }
    }

    /// Creates a file unless it exists. Blocks until it is durable.
    pub(super) fn create(&self, path: PathBuf, bytes: Vec<u8>) -> io::Result<Creation> {
        let result = Arc::new(Mutex::default());
        self.waiting.lock().push(Job { path, bytes, result: Arc::clone(&result) });
        let leader = self.leader.lock();
        let is_done = result.lock().is_some();
        if !is_done {
            let jobs = std::mem::take(&mut *self.waiting.lock());
            self.commit(jobs);
        }
        drop(leader);
        let result = result.lock().take();
        result.unwrap_or_else(|| Err(io::Error::other("the thread that saved for others has panicked")))
    }

    /// Each step is done for all files before the next one.
    fn commit(&self, jobs: Vec<Job>) {
        let written: Vec<_> = jobs.into_iter().map(|job| (self.write(&job), job)).collect();
        let synced: Vec<_> = written
            .into_iter()
            .map(|(file, job)| (file.and_then(|file| file.as_file().sync_all().map(|()| file)), job))
            .collect();
        let linked: Vec<_> =
            synced.into_iter().map(|(file, job)| (file.and_then(|f| self.link(&f, &job)), job)).collect();
        let dirs: BTreeSet<PathBuf> =
            linked.iter().filter_map(|(_, job)| Some(job.path.parent()?.to_owned())).collect();
        let mut unsynced = BTreeSet::new();
        for dir in dirs {
            if sync_dir(&dir).is_err() {
                unsynced.insert(dir);
            }
        }
        for (created, job) in linked {
            let is_synced = job.path.parent().is_some_and(|dir| !unsynced.contains(dir));
            let lost = || Err(io::Error::other("cannot sync the directory"));
            *job.result.lock() = Some(created.and_then(|created| if is_synced { Ok(created) } else { lost() }));
        }
    }

    /// Writes a temporary file that only its owner may read. Dropping it removes it.
    fn write(&self, job: &Job) -> io::Result<NamedTempFile> {
        let mut temporary = tempfile::Builder::new().prefix(TEMP_PREFIX).tempfile_in(&self.root)?;
        temporary.write_all(&job.bytes)?;
        Ok(temporary)
    }

    fn link(&self, file: &NamedTempFile, job: &Job) -> io::Result<Creation> {
        let linked = match fs::hard_link(file.path(), &job.path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                self.create_parent(&job.path)?;
                fs::hard_link(file.path(), &job.path)
            }
            linked => linked,
        };
        match linked {
            Ok(()) => Ok(Creation::Created),
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(Creation::Exists),
            Err(error) => Err(error),
        }
    }

    fn create_parent(&self, path: &Path) -> io::Result<()> {
        let Some(dir) = path.parent() else { return Ok(()) };
        let mut builder = fs::DirBuilder::new();
        #[cfg(unix)]
        std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
        match builder.create(dir) {
            Err(error) if error.kind() != io::ErrorKind::AlreadyExists => Err(error),
            _ => sync_dir(&self.root),
        }
    }
}

/// Syncs added and removed names of a directory.
#[cfg(unix)]
pub(crate) fn sync_dir(dir: &Path) -> io::Result<()> {
    fs::File::open(dir)?.sync_all()
}

/// Other systems cannot sync directories; the journal of the file system keeps names.
#[cfg(not(unix))]
pub(crate) fn sync_dir(_: &Path) -> io::Result<()> {
    Ok(())
}
