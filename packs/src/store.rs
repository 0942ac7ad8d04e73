//! Directory of installed packs.

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
use crate::pin::{LockFile, PinnedWheel};
use crate::progress::PackProgress;
use crate::tree::{self, TreeBuilder, TreeFile};

/// Marks a pack as complete: it is written last, before the directory gets its final name.
const MANIFEST_FILE: &str = "pack.json";

/// Downloaded wheels. They are kept next to their pack, so that rebuilding it (after an update, or with more packages) needs no
/// network.
const DOWNLOADS: &str = "downloads";

const NATIVE: &str = "native";

/// Name prefix of the directory in which a pack is built.
const STAGING_PREFIX: &str = ".new-";

/// Age at which an unfinished build is considered aborted.
const STALE_STAGING_AGE: Duration = Duration::from_secs(24 * 3600);

/// Locked by the process that prepares a pack on first use.
const LOCK_FILE: &str = "first-use.lock";

/// The module as contained in the wheel.
const RAW_MODULE: &str = "runtime.wasm";

/// Contents and builder of a pack.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PackManifest {
    /// Name of the pack.
    pub name: String,
    /// Its version.
    pub version: String,
    /// Packages added to it, as requested.
    #[serde(rename = "with")]
    pub extra_packages: Vec<String>,
    /// The program that precompiled it: another program may have to rebuild it.
    #[serde(rename = "made_by")]
    pub built_by: String,
    /// SHA-256 of the module that is compiled, in hexadecimal digits.
    pub module: String,
    /// SHA-256 of the initial memory, in hexadecimal digits. Saved processes only continue on an equal one.
    pub image: String,
}

/// An installed pack.
#[derive(Clone, Debug)]
pub struct InstalledPack {
    /// Definition of the pack.
    pub pack: &'static Pack,
    /// Directory of its files.
    pub dir: PathBuf,
    /// Its manifest.
    pub manifest: PackManifest,
}

impl InstalledPack {
    /// Returns its files in the sandbox.
    ///
    /// # Errors
    /// If the list of files is missing or damaged.
    pub fn files(&self) -> Result<Vec<TreeFile>, PackError> {
        tree::files(&self.dir)
    }
}

/// A downloaded and unpacked pack that is not precompiled yet.
#[derive(Debug)]
pub struct StagedPack {
    dir: TempDir,
    pack: &'static Pack,
    extra_packages: Vec<String>,
}

impl StagedPack {
    /// Returns the directory in which it is built. The caller stores the precompiled files there.
    #[must_use]
    pub fn dir(&self) -> &Path {
        self.dir.path()
    }

    /// Returns the path of the downloaded module. The caller removes it after precompiling.
    #[must_use]
    pub fn raw_module(&self) -> PathBuf {
        self.dir.path().join(RAW_MODULE)
    }

    /// Returns its files in the sandbox.
    ///
    /// # Errors
    /// If the list of files is missing or damaged.
    pub fn files(&self) -> Result<Vec<TreeFile>, PackError> {
        tree::files(self.dir.path())
    }
}

/// Packs installed on this host.
#[derive(Clone, Debug)]
pub struct PackStore {
    dir: PathBuf,
    /// Directory with wheels that need no download. Never written to.
    wheels: Option<PathBuf>,
}

impl PackStore {
    /// Creates a store in this directory, which may not exist yet.
    pub fn new(dir: impl Into<PathBuf>) -> Self {
        Self { dir: dir.into(), wheels: None }
    }

    /// Uses the wheels in this directory instead of downloading them, if they have the pinned hashes. A [list of the files of a
    /// pack](Self::list_shipped) may be next to them.
    #[must_use]
    pub fn with_wheels(mut self, wheels: Option<PathBuf>) -> Self {
        self.wheels = wheels;
        self
    }

    /// Returns the files of a pack that can be installed without a download, where they are after its installation. `None` if
    /// the directory of wheels is missing, or is for another program than `built_by`.
    #[must_use]
    pub fn list_shipped(&self, pack: &Pack, built_by: &str) -> Option<Vec<TreeFile>> {
        let text = fs::read_to_string(self.wheels.as_ref()?.join(list_name(pack))).ok()?;
        let (first, lines) = text.split_once('\n')?;
        if first != built_by {
            return None;
        }
        tree::parse(lines, &self.dir.join(pack.name))
    }

    /// Copies the wheels of a staged pack and the list of its files into a directory, for [`with_wheels`](Self::with_wheels).
    ///
    /// # Errors
    /// If the directory is not writable.
    pub fn ship(&self, staged: &StagedPack, built_by: &str, dir: &Path) -> Result<(), PackError> {
        fs::create_dir_all(dir).map_err(|error| PackError::file(dir, &error))?;
        for wheel in [&staged.pack.runtime].into_iter().chain(staged.pack.wheels).map(PinnedWheel::from) {
            let to = dir.join(&wheel.file);
            fs::copy(self.find_wheel(&wheel), &to).map_err(|error| PackError::file(&to, &error))?;
        }
        let list = format!("{built_by}\n{}", tree::read_index(staged.dir())?);
        let path = dir.join(list_name(staged.pack));
        fs::write(&path, list).map_err(|error| PackError::file(&path, &error))
    }

    /// Waits until no other process prepares a pack here on first use. Dropping the file ends the exclusion.
    ///
    /// # Errors
    /// If the directory is not writable.
    pub fn lock(&self) -> Result<fs::File, PackError> {
        fs::create_dir_all(&self.dir).map_err(|error| PackError::file(&self.dir, &error))?;
        let path = self.dir.join(LOCK_FILE);
        let locked = fs::File::create(&path).and_then(|file| file.lock().map(|()| file));
        locked.map_err(|error| PackError::file(&path, &error))
    }

    /// Returns the path of a wheel: the one in the directory of wheels if it has the pinned hash, else that of the download.
    pub(crate) fn find_wheel(&self, wheel: &PinnedWheel) -> PathBuf {
        match &self.wheels {
            Some(dir) if fetch::is_verified(dir, wheel) => dir.join(&wheel.file),
            _ => self.dir.join(DOWNLOADS).join(&wheel.file),
        }
    }

    /// Returns the installed packs, whichever program precompiled them.
    #[must_use]
    pub fn list(&self) -> Vec<InstalledPack> {
        PACKS.iter().filter_map(|pack| self.installed(pack)).collect()
    }

    /// Returns a pack if it is installed.
    #[must_use]
    pub fn installed(&self, pack: &'static Pack) -> Option<InstalledPack> {
        let dir = self.dir.join(pack.name);
        let record: PackManifest = serde_json::from_slice(&fs::read(dir.join(MANIFEST_FILE)).ok()?).ok()?;
        (record.name == pack.name && record.version == pack.version).then_some(InstalledPack {
            pack,
            dir,
            manifest: record,
        })
    }

    /// Returns the directory for native code of packs: it is kept if installing fails after compilation.
    #[must_use]
    pub fn native(&self) -> PathBuf {
        self.dir.join(NATIVE)
    }

    /// Removes a pack with its lock file, and with the native code and the wheels that no other installed pack uses. Returns
    /// whether it existed.
    ///
    /// # Errors
    /// If its directory cannot be removed.
    pub fn remove(&self, pack: &Pack) -> Result<bool, PackError> {
        self.remove_unfinished(Duration::ZERO);
        match fs::remove_file(self.lock_path(pack)) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => {
                return Err(PackError::file(&self.lock_path(pack), &error));
            }
            _ => {}
        }
        let existed = remove_dir(&self.dir.join(pack.name))?;
        let others = self.list();
        if others.is_empty() {
            remove_dir(&self.native())?;
            remove_dir(&self.dir.join(DOWNLOADS))?;
        } else {
            self.remove_stale_wheels(&others);
        }
        Ok(existed)
    }

    /// Downloads, verifies and unpacks a pack and the packages in `extra_packages`. `own` are files of the caller that are added
    /// to its library, by their paths in it. `progress` is called at each step and during downloads. Complete wheels are not
    /// downloaded again.
    ///
    /// # Errors
    /// If pip is missing or fails, a file does not have the pinned hash, or the directory is not writable.
    pub fn stage(
        &self,
        pack: &'static Pack,
        extra_packages: &[String],
        own: &[(&str, &str)],
        progress: &mut dyn FnMut(PackProgress<'_>),
    ) -> Result<StagedPack, PackError> {
        self.remove_unfinished(STALE_STAGING_AGE);
        let downloads = self.dir.join(DOWNLOADS);
        fs::create_dir_all(&downloads).map_err(|error| PackError::file(&downloads, &error))?;
        progress(PackProgress::step("verifying"));
        let wheels: Vec<PinnedWheel> = [&pack.runtime].into_iter().chain(pack.wheels).map(PinnedWheel::from).collect();
        let paths: Vec<PathBuf> = wheels.iter().map(|wheel| self.find_wheel(wheel)).collect();
        let missing = wheels.into_iter().zip(&paths).filter(|(_, path)| path.starts_with(&downloads));
        let missing: Vec<PinnedWheel> = missing.map(|(wheel, _)| wheel).collect();
        fetch::fetch(&downloads, &missing, pack, &WheelSource::Index, progress)?;
        let more = self.fetch_extra_packages(&downloads, pack, extra_packages, progress)?;
        let dir = self.create_staging_dir()?;
        progress(PackProgress::step("unpacking"));
        let mut tree = TreeBuilder::new(dir.path());
        let (runtime, pinned) = paths.split_first().ok_or_else(|| PackError::new("the pack has no runtime"))?;
        let runtime = read(runtime)?;
        let raw = dir.path().join(RAW_MODULE);
        let mut found = 0;
        archive::for_each_file(&runtime, &mut |name, content| {
            if name == pack.module {
                found += 1;
                let mut out = fs::File::create(&raw).map_err(|error| PackError::file(&raw, &error))?;
                io::copy(content, &mut out).map_err(|error| PackError::file(&raw, &error))?;
            } else if name == pack.library {
                found += 1;
                let mut library = Vec::new();
                content.read_to_end(&mut library).map_err(|error| PackError::new(format!("{name}: {error}")))?;
                tree.unpack(&library, pack.library_dir, pack.inner, &|name| pack.contains(name))?;
            }
            Ok(())
        })?;
        if found != 2 {
            return Err(PackError::new(format!("{} does not contain the files of the pack", pack.runtime.file)));
        }
        drop(runtime);
        for wheel in pinned.iter().chain(&more) {
            tree.unpack(&read(wheel)?, pack.site_dir, None, &|_| true)?;
        }
        for (path, mut content) in own.iter().map(|(path, content)| (path, content.as_bytes())) {
            tree.put(&format!("{}/{path}", pack.library_dir), &mut content)?;
        }
        tree.finish()?;
        Ok(StagedPack { dir, pack, extra_packages: extra_packages.to_vec() })
    }

    /// Downloads the added packages, in the locked versions or else the current ones. Returns the directory of the wheels.
    fn fetch_extra_packages(
        &self,
        downloads: &Path,
        pack: &Pack,
        extra_packages: &[String],
        progress: &mut dyn FnMut(PackProgress<'_>),
    ) -> Result<Vec<PathBuf>, PackError> {
        if extra_packages.is_empty() {
            return Ok(Vec::new());
        }
        let path = self.lock_path(pack);
        let lock = match LockFile::read(&path, extra_packages) {
            Some(lock) => lock,
            None => {
                let named = self.create_staging_dir()?;
                let wheels = fetch::fetch_interactive(named.path(), extra_packages, pack)?;
                for wheel in &wheels {
                    let (from, to) = (named.path().join(&wheel.file), downloads.join(&wheel.file));
                    fs::rename(&from, &to).map_err(|error| PackError::file(&to, &error))?;
                }
                let lock = LockFile { extra_packages: extra_packages.to_vec(), wheels };
                lock.write(&path)?;
                lock
            }
        };
        fetch::fetch(downloads, &lock.wheels, pack, &WheelSource::Index, progress)?;
        Ok(lock.wheels.iter().map(|wheel| downloads.join(&wheel.file)).collect())
    }

    fn create_staging_dir(&self) -> Result<TempDir, PackError> {
        let created = tempfile::Builder::new().prefix(STAGING_PREFIX).tempdir_in(&self.dir);
        created.map_err(|error| PackError::file(&self.dir, &error))
    }

    /// Creates the directory in which a pack is built, and removes those of aborted builds.
    pub(crate) fn new_staging_dir(&self) -> Result<TempDir, PackError> {
        self.remove_unfinished(STALE_STAGING_AGE);
        fs::create_dir_all(&self.dir).map_err(|error| PackError::file(&self.dir, &error))?;
        self.create_staging_dir()
    }

    /// Gives a finished directory its final name, replacing an older one.
    pub(crate) fn replace(&self, staged: TempDir, name: &str) -> Result<PathBuf, PackError> {
        let path = self.pack_dir(name);
        remove_dir(&path)?;
        let created = staged.keep();
        fs::rename(&created, &path).map_err(|error| PackError::file(&path, &error))?;
        Ok(path)
    }

    pub(crate) fn pack_dir(&self, name: &str) -> PathBuf {
        self.dir.join(name)
    }

    /// Removes the directory of a pack. Returns whether it existed.
    pub(crate) fn remove_pack_dir(&self, name: &str) -> Result<bool, PackError> {
        remove_dir(&self.pack_dir(name))
    }

    /// Removes unfinished packs that are older than this, which aborted builds have left. Failures are ignored.
    fn remove_unfinished(&self, age: Duration) {
        for entry in fs::read_dir(&self.dir).into_iter().flatten().flatten() {
            let created = entry.metadata().and_then(|about| about.modified()).ok();
            let old = created.is_some_and(|created| created.elapsed().is_ok_and(|elapsed| elapsed >= age));
            if old && entry.file_name().to_string_lossy().starts_with(STAGING_PREFIX) {
                let _ = fs::remove_dir_all(entry.path());
            }
        }
    }

    /// Removes wheels that none of these packs use. Failures are ignored; they only cost space.
    fn remove_stale_wheels(&self, installed: &[InstalledPack]) {
        let mut files: Vec<String> = Vec::new();
        for InstalledPack { pack, manifest, .. } in installed {
            let lock = LockFile::read(&self.lock_path(pack), &manifest.extra_packages);
            let pinned = [&pack.runtime].into_iter().chain(pack.wheels).map(PinnedWheel::from);
            files.extend(pinned.chain(lock.map(|lock| lock.wheels).unwrap_or_default()).map(|wheel| wheel.file));
        }
        for entry in fs::read_dir(self.dir.join(DOWNLOADS)).into_iter().flatten().flatten() {
            if !files.iter().any(|file| entry.file_name() == file.as_str()) {
                let _ = fs::remove_file(entry.path());
            }
        }
    }

    /// Returns the path of the lock file of added packages.
    fn lock_path(&self, pack: &Pack) -> PathBuf {
        self.dir.join(format!("{}.lock", pack.name))
    }

    /// Installs a precompiled pack, replacing an older one, and removes unused wheels.
    ///
    /// # Errors
    /// If the directory is not writable.
    pub fn finish(
        &self,
        staged: StagedPack,
        built_by: String,
        module: String,
        image: String,
    ) -> Result<InstalledPack, PackError> {
        let StagedPack { dir, pack, extra_packages } = staged;
        let record = PackManifest {
            name: pack.name.to_owned(),
            version: pack.version.to_owned(),
            extra_packages,
            built_by,
            module,
            image,
        };
        let text = serde_json::to_vec_pretty(&record).map_err(|error| PackError::new(error.to_string()))?;
        let path = dir.path().join(MANIFEST_FILE);
        fs::write(&path, text).map_err(|error| PackError::file(&path, &error))?;
        let path = self.replace(dir, pack.name)?;
        self.remove_stale_wheels(&self.list());
        Ok(InstalledPack { pack, dir: path, manifest: record })
    }
}

/// Returns the name of the list of the files of a pack, in a directory with its wheels.
fn list_name(pack: &Pack) -> String {
    format!("{}.files", pack.name)
}

fn remove_dir(dir: &Path) -> Result<bool, PackError> {
    match fs::remove_dir_all(dir) {
        Ok(()) => Ok(true),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
        Err(error) => Err(PackError::file(dir, &error)),
    }
}

fn read(path: &Path) -> Result<Vec<u8>, PackError> {
    fs::read(path).map_err(|error| PackError::file(path, &error))
}
