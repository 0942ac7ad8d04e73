//! The folder that packs are kept in.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde::{Deserialize, Serialize};
use tempfile::TempDir;

use crate::archive;
use crate::error::PackError;
use crate::fetch::{self, WheelSource};
use crate::pack::{PACKS, Pack};
use crate::pin::{Lock, Pin};
use crate::tree::{self, Tree, TreeFile};

/// What tells that a pack is whole: it is written last, before the folder gets its name.
const RECORD: &str = "pack.json";

/// Wheels that were fetched. They are kept beside their pack, so that making it anew (after an update, or with more packages) needs no
/// network.
const DOWNLOADS: &str = "downloads";

const NATIVE: &str = "native";

/// How the folder is called that a pack is made in.
const BEING_MADE: &str = ".new-";

/// After so long whoever was making a pack there has been stopped.
const ABANDONED: Duration = Duration::from_secs(24 * 3600);

/// The module as the wheel has it.
const RAW_MODULE: &str = "runtime.wasm";

/// What a pack was made of and by whom.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Record {
    /// The pack's name.
    pub name: String,
    /// Its version.
    pub version: String,
    /// What was put into it beside its own, as it was asked for.
    pub with: Vec<String>,
    /// Tells which program made it ready: another may need it made anew.
    pub made_by: String,
    /// SHA-256 of the module that is compiled, in hexadecimal digits.
    pub module: String,
}

/// A pack that is there.
#[derive(Clone, Debug)]
pub struct Installed {
    /// Which one.
    pub pack: &'static Pack,
    /// Where its files are.
    pub folder: PathBuf,
    /// What it was made of.
    pub record: Record,
}

impl Installed {
    /// Its files in the sandbox.
    ///
    /// # Errors
    /// When the list of them is gone or broken.
    pub fn files(&self) -> Result<Vec<TreeFile>, PackError> {
        tree::files(&self.folder)
    }
}

/// A pack that is fetched and unpacked, and not yet made ready.
#[derive(Debug)]
pub struct Staged {
    folder: TempDir,
    pack: &'static Pack,
    with: Vec<String>,
}

impl Staged {
    /// Where it is being made. Whoever makes it ready puts there what it needs.
    #[must_use]
    pub fn folder(&self) -> &Path {
        self.folder.path()
    }

    /// The module as it was fetched. Whoever makes the pack ready removes it when it is no longer needed.
    #[must_use]
    pub fn raw_module(&self) -> PathBuf {
        self.folder.path().join(RAW_MODULE)
    }

    /// Its files in the sandbox.
    ///
    /// # Errors
    /// When the list of them is gone or broken.
    pub fn files(&self) -> Result<Vec<TreeFile>, PackError> {
        tree::files(self.folder.path())
    }
}

/// Packs on this machine.
#[derive(Clone, Debug)]
pub struct Store {
    folder: PathBuf,
}

impl Store {
    /// The packs in this folder, which need not be there yet.
    pub fn new(folder: impl Into<PathBuf>) -> Self {
        Self { folder: folder.into() }
    }

    /// The packs that are there, whoever made them ready.
    #[must_use]
    pub fn list(&self) -> Vec<Installed> {
        PACKS.iter().filter_map(|pack| self.installed(pack)).collect()
    }

    /// A pack, when it is there.
    #[must_use]
    pub fn installed(&self, pack: &'static Pack) -> Option<Installed> {
        let folder = self.folder.join(pack.name);
        let record: Record = serde_json::from_slice(&fs::read(folder.join(RECORD)).ok()?).ok()?;
        (record.name == pack.name && record.version == pack.version).then_some(Installed { pack, folder, record })
    }

    /// Where the native code of packs is kept: it stays when making one ready fails after it was compiled.
    #[must_use]
    pub fn native(&self) -> PathBuf {
        self.folder.join(NATIVE)
    }

    /// Removes a pack with the native code, the wheels that it came from and what was decided about packages added to it, and tells
    /// whether there was one.
    ///
    /// # Errors
    /// When its folder cannot be removed.
    pub fn remove(&self, pack: &Pack) -> Result<bool, PackError> {
        self.remove_unfinished(Duration::ZERO);
        remove_folder(&self.native())?;
        remove_folder(&self.folder.join(DOWNLOADS))?;
        match fs::remove_file(self.lock_of(pack)) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => {
                return Err(PackError::file(&self.lock_of(pack), &error));
            }
            _ => {}
        }
        remove_folder(&self.folder.join(pack.name))
    }

    /// Fetches, verifies and unpacks a pack, and what `with` names beside it. `own` are files of the caller that belong to its
    /// library, by their paths in there. `progress` is told what is being done. Wheels
    /// that are there whole are not fetched again.
    ///
    /// # Errors
    /// When pip is absent or fails, a file is not the pinned one, or the folder cannot be written.
    pub fn stage(
        &self,
        pack: &'static Pack,
        with: &[String],
        own: &[(&str, &str)],
        progress: &mut dyn FnMut(&str),
    ) -> Result<Staged, PackError> {
        self.remove_unfinished(ABANDONED);
        let downloads = self.folder.join(DOWNLOADS);
        fs::create_dir_all(&downloads).map_err(|error| PackError::file(&downloads, &error))?;
        let wheels: Vec<Pin> = [&pack.runtime].into_iter().chain(pack.wheels).map(Pin::from).collect();
        progress("fetching");
        fetch::fetch(&downloads, &wheels, pack, &WheelSource::Index)?;
        let more = self.fetch_more(&downloads, pack, with)?;
        let folder = self.new_folder()?;
        progress("unpacking");
        let mut tree = Tree::new(folder.path());
        let runtime = read(&downloads.join(pack.runtime.file))?;
        let raw = folder.path().join(RAW_MODULE);
        let mut found = 0;
        archive::each(&runtime, &mut |name, content| {
            if name == pack.module {
                found += 1;
                let mut out = fs::File::create(&raw).map_err(|error| PackError::file(&raw, &error))?;
                io::copy(content, &mut out).map_err(|error| PackError::file(&raw, &error))?;
            } else if name == pack.library {
                found += 1;
                let mut library = Vec::new();
                content.read_to_end(&mut library).map_err(|error| PackError::new(format!("{name}: {error}")))?;
                tree.unpack(&library, pack.library_dir, pack.inner)?;
            }
            Ok(())
        })?;
        if found != 2 {
            return Err(PackError::new(format!("{} does not hold what the pack is made of", pack.runtime.file)));
        }
        drop(runtime);
        let pinned = pack.wheels.iter().map(|wheel| downloads.join(wheel.file));
        for wheel in pinned.chain(more) {
            tree.unpack(&read(&wheel)?, pack.site_dir, None)?;
        }
        for (path, mut content) in own.iter().map(|(path, content)| (path, content.as_bytes())) {
            tree.put(&format!("{}/{path}", pack.library_dir), &mut content)?;
        }
        tree.finish()?;
        Ok(Staged { folder, pack, with: with.to_vec() })
    }

    /// Fetches what is wanted beside a pack: what it came to when it was first wanted, or now. Answers where the wheels are.
    fn fetch_more(&self, downloads: &Path, pack: &Pack, with: &[String]) -> Result<Vec<PathBuf>, PackError> {
        if with.is_empty() {
            return Ok(Vec::new());
        }
        let place = self.lock_of(pack);
        let lock = match Lock::read(&place, with) {
            Some(lock) => lock,
            None => {
                let named = self.new_folder()?;
                let wheels = fetch::fetch_new(named.path(), with, pack)?;
                for wheel in &wheels {
                    let (from, to) = (named.path().join(&wheel.file), downloads.join(&wheel.file));
                    fs::rename(&from, &to).map_err(|error| PackError::file(&to, &error))?;
                }
                let lock = Lock { with: with.to_vec(), wheels };
                lock.write(&place)?;
                lock
            }
        };
        fetch::fetch(downloads, &lock.wheels, pack, &WheelSource::Index)?;
        Ok(lock.wheels.iter().map(|wheel| downloads.join(&wheel.file)).collect())
    }

    fn new_folder(&self) -> Result<TempDir, PackError> {
        let made = tempfile::Builder::new().prefix(BEING_MADE).tempdir_in(&self.folder);
        made.map_err(|error| PackError::file(&self.folder, &error))
    }

    /// Removes what a stop has left of packs that were being made, when it was begun longer ago than this. What cannot be removed stays.
    fn remove_unfinished(&self, age: Duration) {
        for entry in fs::read_dir(&self.folder).into_iter().flatten().flatten() {
            let begun = entry.metadata().and_then(|about| about.modified()).ok();
            let old = begun.is_some_and(|begun| begun.elapsed().is_ok_and(|passed| passed >= age));
            if old && entry.file_name().to_string_lossy().starts_with(BEING_MADE) {
                let _ = fs::remove_dir_all(entry.path());
            }
        }
    }

    /// Removes wheels of older versions and wishes. What cannot be removed stays, which costs room and nothing else.
    fn forget_others(&self, pack: &Pack, with: &[String]) {
        let more = Lock::read(&self.lock_of(pack), with).map(|lock| lock.wheels).unwrap_or_default();
        let pinned = [&pack.runtime].into_iter().chain(pack.wheels).map(Pin::from);
        let kept: Vec<String> = pinned.chain(more).map(|wheel| wheel.file).collect();
        for entry in fs::read_dir(self.folder.join(DOWNLOADS)).into_iter().flatten().flatten() {
            if !kept.iter().any(|file| entry.file_name() == file.as_str()) {
                let _ = fs::remove_file(entry.path());
            }
        }
    }

    /// Where it is noted what packages came to that were added to a pack.
    fn lock_of(&self, pack: &Pack) -> PathBuf {
        self.folder.join(format!("{}.lock", pack.name))
    }

    /// Gives a pack that is ready its place, in that of an older one, and removes wheels that it did not come from.
    ///
    /// # Errors
    /// When the folder cannot be written.
    pub fn finish(&self, staged: Staged, made_by: String, module: String) -> Result<Installed, PackError> {
        let Staged { folder, pack, with } = staged;
        let record = Record { name: pack.name.to_owned(), version: pack.version.to_owned(), with, made_by, module };
        let text = serde_json::to_vec_pretty(&record).map_err(|error| PackError::new(error.to_string()))?;
        let path = folder.path().join(RECORD);
        fs::write(&path, text).map_err(|error| PackError::file(&path, &error))?;
        remove_folder(&self.folder.join(pack.name))?;
        let place = self.folder.join(pack.name);
        let made = folder.keep();
        fs::rename(&made, &place).map_err(|error| PackError::file(&place, &error))?;
        self.forget_others(pack, &record.with);
        Ok(Installed { pack, folder: place, record })
    }
}

fn remove_folder(folder: &Path) -> Result<bool, PackError> {
    match fs::remove_dir_all(folder) {
        Ok(()) => Ok(true),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
        Err(error) => Err(PackError::file(folder, &error)),
    }
}

fn read(path: &Path) -> Result<Vec<u8>, PackError> {
    fs::read(path).map_err(|error| PackError::file(path, &error))
}
