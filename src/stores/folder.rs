//! Objects in a host directory.

mod commit;

use std::fmt;
use std::fs::{self, File};
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant, UNIX_EPOCH};

use tidebox_core::lock::Mutex;
use tidebox_core::{BoxFuture, Error, ErrorKind, Result};
use tidebox_vfs_backend::Durability;

use crate::stores::blocking::spawn_blocking;
use crate::stores::log::GenerationLog;
use crate::stores::name;
use crate::stores::objects::{Creation, ObjectInfo, ObjectPage, Objects};
use commit::Committer;

pub(crate) use commit::{TEMP_PREFIX, sync_dir};

/// A log in a host directory, for several programs at a time, also over a network file system with hard links.
pub type FolderLog = GenerationLog<Folder>;

impl GenerationLog<Folder> {
    /// Opens a log in a directory, which is created if it is missing.
    ///
    /// # Errors
    /// [`ErrorKind::Storage`] if it cannot be used.
    pub fn open(dir: impl Into<PathBuf>) -> Result<Self> {
        Folder::open(dir).map(Self::new)
    }
}

/// Sandboxes per page of a list.
const PAGE: usize = 1000;

/// Time for which the next pages of a list use the directories that its first page has read.
const LISTED_TIME: Duration = Duration::from_secs(60);

/// Objects in a host directory: a directory for each sandbox, and a file for each object.
///
/// An object is written to a temporary file, synced, and linked to its name, which fails if the name exists: the file system must
/// have hard links. Objects that are created at the same time are committed together. Only the user can access the directory
/// (mode 0700). Files are read and written on separate threads, so that tasks of the caller do not block.
///
/// The files are not encrypted: anyone who can read them can read the content of the sandboxes.
#[derive(Clone)]
pub struct Folder {
    shared: Arc<Shared>,
}

struct Shared {
    path: PathBuf,
    committer: Committer,
    durability: Durability,
    /// The directories of a list whose next pages are to come.
    listed: Mutex<Option<ListedDirs>>,
    /// Locked while it is open. The system also unlocks it when the program is killed.
    _lock: Option<File>,
}

/// Directories of sandboxes at the time of a list's first page. Without it each page reads the names of all sandboxes: a thousand
/// times a million for a list of a million.
struct ListedDirs {
    prefix: String,
    /// Sorted.
    dirs: Arc<Vec<String>>,
    read: Instant,
}

impl fmt::Debug for Folder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Folder").field("path", &self.shared.path).finish_non_exhaustive()
    }
}

impl Folder {
    /// Opens a directory, which is created if it is missing. Its durability is [`Durability::Local`].
    ///
    /// # Errors
    /// [`ErrorKind::Storage`] if it cannot be used.
    pub fn open(dir: impl Into<PathBuf>) -> Result<Self> {
        Self::open_with(dir.into(), None)
    }

    pub(crate) fn open_with(path: PathBuf, lock: Option<File>) -> Result<Self> {
        create_dir(&path).map_err(|error| failed("open", &path, WRITABLE, error))?;
        Ok(Self::at(path, Durability::Local, lock))
    }

    fn at(path: PathBuf, durability: Durability, lock: Option<File>) -> Self {
        let (committer, listed) = (Committer::new(path.clone()), Mutex::default());
        Self { shared: Arc::new(Shared { path, committer, durability, listed, _lock: lock }) }
    }

    /// Declares that other hosts can read the directory, because it is on a network file system.
    ///
    /// Durability is what [`Objects::durability`] reports. This changes only that.
    #[must_use]
    pub fn shared(self) -> Self {
        Self::at(self.shared.path.clone(), Durability::Shared, None)
    }

    pub(crate) fn path(&self) -> &Path {
        &self.shared.path
    }

    /// Runs `job` on a separate thread.
    pub(crate) fn run<T: Send + 'static>(
        &self,
        job: impl FnOnce(&Self) -> Result<T> + Send + 'static,
    ) -> BoxFuture<'static, Result<T>> {
        let this = self.clone();
        Box::pin(spawn_blocking(move || job(&this)))
    }

    fn file(&self, name: &str) -> PathBuf {
        self.shared.path.join(name)
    }

    fn read_start(&self, name: &str, max_bytes: u64) -> Result<Option<Vec<u8>>> {
        let path = self.file(name);
        let read = || {
            let mut bytes = Vec::new();
            File::open(&path)?.take(max_bytes).read_to_end(&mut bytes)?;
            Ok(bytes)
        };
        match read() {
            Ok(bytes) => Ok(Some(bytes)),
            Err(error) if is_missing(&error) => Ok(None),
            Err(error) => Err(failed("read", &path, "make it readable", error)),
        }
    }

    /// Lists whole directories until the page is full.
    fn list_page(&self, prefix: &str, after: &str) -> Result<ObjectPage> {
        let unreadable = |error| failed("list", &self.shared.path, "make the directory readable", error);
        let dirs = match name::split(prefix) {
            Some((stem, _)) => Arc::new(vec![name::dir(stem)]),
            None => self.listed_dirs(prefix, after).map_err(unreadable)?,
        };
        let mut page = ObjectPage::default();
        let first = dirs.partition_point(|dir| name::after_all(dir.trim_end_matches('/')).as_str() <= after);
        let mut remaining = dirs.iter().skip(first);
        for dir in remaining.by_ref() {
            let objects = self.objects_of(dir).map_err(unreadable)?;
            let wanted = |object: &ObjectInfo| object.name.starts_with(prefix) && object.name.as_str() > after;
            page.objects.extend(objects.into_iter().filter(wanted));
            if page.objects.len() >= PAGE {
                break;
            }
        }
        page.has_more = remaining.next().is_some();
        if !page.has_more && name::split(prefix).is_none() {
            *self.shared.listed.lock() = None;
        }
        Ok(page)
    }

    /// Returns the sandboxes' directories, sorted. They end in a slash, so that their order is that of the objects' names. The next
    /// pages of a list use those that its first page has read.
    fn listed_dirs(&self, prefix: &str, after: &str) -> io::Result<Arc<Vec<String>>> {
        if !after.is_empty() {
            let listed = self.shared.listed.lock();
            let known = listed.as_ref().filter(|known| known.prefix == prefix && known.read.elapsed() < LISTED_TIME);
            if let Some(known) = known {
                return Ok(Arc::clone(&known.dirs));
            }
        }
        let mut dirs = Vec::new();
        for entry in fs::read_dir(&self.shared.path)? {
            let entry = entry?;
            let Ok(stem) = entry.file_name().into_string() else { continue };
            if stem.starts_with(prefix) && entry.file_type()?.is_dir() {
                dirs.push(name::dir(&stem));
            }
        }
        dirs.sort_unstable();
        let dirs = Arc::new(dirs);
        if dirs.len() > PAGE {
            let listed = ListedDirs { prefix: prefix.to_owned(), dirs: Arc::clone(&dirs), read: Instant::now() };
            *self.shared.listed.lock() = Some(listed);
        }
        Ok(dirs)
    }

    fn objects_of(&self, dir: &str) -> io::Result<Vec<ObjectInfo>> {
        let entries = match fs::read_dir(self.file(dir)) {
            Err(error) if is_missing(&error) => return Ok(Vec::new()),
            entries => entries?,
        };
        let mut objects = Vec::new();
        for entry in entries {
            let entry = entry?;
            let (Ok(file), Ok(metadata)) = (entry.file_name().into_string(), entry.metadata()) else { continue };
            let modified = modified(&metadata);
            objects.push(ObjectInfo { name: format!("{dir}{file}"), len: metadata.len(), modified });
        }
        objects.sort_by(|one, two| one.name.cmp(&two.name));
        Ok(objects)
    }

    fn remove_now(&self, name: &str) -> Result<()> {
        let path = self.file(name);
        match fs::remove_file(&path) {
            Err(error) if !is_missing(&error) => Err(failed("delete", &path, WRITABLE, error)),
            _ => {
                // Succeeds for the last object only.
                if let Some(dir) = path.parent() {
                    let _ = fs::remove_dir(dir);
                }
                Ok(())
            }
        }
    }

    fn clear_now(&self, name: &str) -> Result<()> {
        let path = self.file(name);
        let cleared = fs::OpenOptions::new().write(true).truncate(true).open(&path);
        cleared.map(drop).map_err(|error| failed("empty", &path, WRITABLE, error))
    }
}

const WRITABLE: &str = "choose a directory that this program can write to";

impl Objects for Folder {
    fn durability(&self) -> Durability {
        self.shared.durability
    }

    fn create<'a>(&'a self, name: &'a str, bytes: Vec<u8>) -> BoxFuture<'a, Result<Creation>> {
        let path = self.file(name);
        self.run(move |folder| {
            let created = folder.shared.committer.create(path.clone(), bytes);
            created.map_err(|error| {
                failed("save to", &path, "free some space, or use a writable directory that supports hard links", error)
            })
        })
    }

    fn read<'a>(&'a self, name: &'a str, max_bytes: u64) -> BoxFuture<'a, Result<Option<Vec<u8>>>> {
        let name = name.to_owned();
        self.run(move |folder| folder.read_start(&name, max_bytes))
    }

    fn list<'a>(&'a self, prefix: &'a str, after: &'a str) -> BoxFuture<'a, Result<ObjectPage>> {
        let (prefix, after) = (prefix.to_owned(), after.to_owned());
        self.run(move |folder| folder.list_page(&prefix, &after))
    }

    fn clear<'a>(&'a self, name: &'a str) -> BoxFuture<'a, Result<()>> {
        let name = name.to_owned();
        self.run(move |folder| folder.clear_now(&name))
    }

    fn remove<'a>(&'a self, name: &'a str) -> BoxFuture<'a, Result<()>> {
        let name = name.to_owned();
        self.run(move |folder| folder.remove_now(&name))
    }

    fn remove_interrupted(&self, before: u64) -> BoxFuture<'_, Result<()>> {
        self.run(move |folder| {
            let unusable = |error| failed("clean", folder.path(), WRITABLE, error);
            remove_temporary(folder.path(), before).map_err(unusable)
        })
    }
}

pub(crate) fn is_missing(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::NotFound)
}

/// Nanoseconds since the Unix epoch.
fn modified(metadata: &fs::Metadata) -> u64 {
    let since = metadata.modified().ok().and_then(|time| time.duration_since(UNIX_EPOCH).ok());
    since.and_then(|since| u64::try_from(since.as_nanos()).ok()).unwrap_or_default()
}

/// Removes temporary files of interrupted creations that are older than `before`. A later one may belong to another program that
/// is writing it.
pub(crate) fn remove_temporary(dir: &Path, before: u64) -> io::Result<()> {
    for entry in fs::read_dir(dir)? {
        let entry = entry?;
        if !entry.file_name().to_string_lossy().starts_with(TEMP_PREFIX) {
            continue;
        }
        // Another program may have removed it.
        if entry.metadata().is_ok_and(|metadata| modified(&metadata) < before) {
            match fs::remove_file(entry.path()) {
                Err(error) if !is_missing(&error) => return Err(error),
                _ => {}
            }
        }
    }
    Ok(())
}

fn create_dir(path: &Path) -> io::Result<()> {
    let mut builder = fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(path)?;
    // Sync the directory entry too. The sync of a parent that cannot be opened is left to the system.
    if let Some(parent) = path.parent().filter(|parent| !parent.as_os_str().is_empty()) {
        let _ = sync_dir(parent);
    }
    Ok(())
}

pub(crate) fn failed(verb: &str, path: &Path, hint: &str, error: io::Error) -> Error {
    let message = format!("cannot {verb} {}: {error}; {hint}", path.display());
    Error::new(ErrorKind::Storage, "keep sandboxes", message).with_source(error)
}
