//! A host folder's files as what a sandbox begins with.

use std::collections::BTreeMap;
use std::fmt;
use std::io;
use std::path::PathBuf;

use cap_std::ambient_authority;
use cap_std::fs::{Dir, DirEntry, File, Metadata, OpenOptions};
use tidebox_core::{Error, ErrorKind, Result, SandboxPath};
use tidebox_vfs_backend::{Look, Planter, SandboxBuilder};

/// Lets a sandbox begin with a copy of a host folder.
pub trait SeedFolder: Sized {
    /// Begins with a copy of the folder's files in the working directory. The folder is read when the sandbox is built,
    /// and never again: what either side changes later stays there.
    ///
    /// Permissions, times of change, symbolic and hard links are kept; everything belongs to the sandbox's user. No link
    /// is followed while reading, so nothing outside the folder gets in; a link that leads outside is a link to the same
    /// path inside the sandbox. A FIFO, a socket and a device are refused by name. Every file is charged to the sandbox's
    /// limits before it is held.
    ///
    /// [`build`](SandboxBuilder::build) answers the errors: [`ErrorKind::InvalidRequest`] for what cannot be read or be in
    /// a sandbox, [`ErrorKind::FileOperationFailed`] when the limits are reached.
    #[must_use]
    fn seed_folder(self, folder: impl Into<PathBuf>) -> Self;

    /// As [`seed_folder`](Self::seed_folder), into a directory of the sandbox, which is made if need be.
    #[must_use]
    fn seed_folder_into(self, directory: SandboxPath, folder: impl Into<PathBuf>) -> Self;
}

impl SeedFolder for SandboxBuilder {
    fn seed_folder(self, folder: impl Into<PathBuf>) -> Self {
        let folder = folder.into();
        self.plant(move |planter| seed(planter, b".", folder))
    }

    fn seed_folder_into(self, directory: SandboxPath, folder: impl Into<PathBuf>) -> Self {
        let folder = folder.into();
        self.plant(move |planter| seed(planter, directory.as_bytes(), folder))
    }
}

fn seed(planter: &mut Planter<'_>, prefix: &[u8], folder: PathBuf) -> Result<()> {
    let opened = Dir::open_ambient_dir(&folder, ambient_authority());
    let opened = opened.and_then(|dir| Level::open(dir, prefix.to_vec()));
    let level = opened.map_err(|error| failed(&folder.display(), "the folder cannot be read", error))?;
    let mut seeding = Seeding { planter, folder, prefix: prefix.len(), linked: BTreeMap::new() };
    let mut levels = vec![level];
    while let Some(level) = levels.last_mut() {
        match level.entries.next() {
            Some(entry) => {
                let below = seeding.entry(&level.dir, &level.path, &entry)?;
                levels.extend(below);
            }
            None => {
                levels.pop();
            }
        }
    }
    Ok(())
}

/// A directory that is being gone through, in the order of the names so that equal folders make equal sandboxes.
struct Level {
    dir: Dir,
    path: Vec<u8>,
    entries: std::vec::IntoIter<DirEntry>,
}

impl Level {
    fn open(dir: Dir, path: Vec<u8>) -> io::Result<Self> {
        let mut entries = dir.entries()?.collect::<io::Result<Vec<_>>>()?;
        entries.sort_by_key(DirEntry::file_name);
        Ok(Self { dir, path, entries: entries.into_iter() })
    }
}

struct Seeding<'a, 'b> {
    planter: &'a mut Planter<'b>,
    folder: PathBuf,
    prefix: usize,
    /// Where files of several names were put, by device and inode.
    linked: BTreeMap<(u64, u64), Vec<u8>>,
}

impl Seeding<'_, '_> {
    /// Puts one thing in; a directory is what to go through next.
    fn entry(&mut self, dir: &Dir, above: &[u8], entry: &DirEntry) -> Result<Option<Level>> {
        let name = entry.file_name();
        let path = [above, b"/", name.as_encoded_bytes()].concat();
        let place = self.place(&path);
        let fail = |what: &str, error: io::Error| failed(&place, what, error);
        // Of the link itself, where it is one.
        let metadata = entry.metadata().map_err(|error| fail("its attributes cannot be read", error))?;
        let kind = metadata.file_type();
        let look = look(&metadata);
        if kind.is_dir() {
            self.planter.dir(&path, look)?;
            let opened = dir.open_dir(&name).and_then(|dir| Level::open(dir, path));
            return opened.map(Some).map_err(|error| fail("the folder cannot be read", error));
        }
        if kind.is_symlink() {
            let target = dir.read_link_contents(&name).map_err(|error| fail("the link cannot be read", error))?;
            self.planter.symlink(&path, target.as_os_str().as_encoded_bytes(), look)?;
            return Ok(None);
        }
        if !kind.is_file() {
            return Err(refused(&place, "it is a FIFO, a socket or a device; leave it out of the folder"));
        }
        if let Some(inode) = inode_of_several_names(&metadata) {
            if let Some(first) = self.linked.get(&inode) {
                self.planter.hard_link(&path, first)?;
                return Ok(None);
            }
            self.linked.insert(inode, path.clone());
        }
        let mut file = open(dir, &name).map_err(|error| fail("the file cannot be read", error))?;
        self.planter.file(&path, look, &mut file)?;
        Ok(None)
    }

    /// Where something is on the host, for messages.
    fn place(&self, path: &[u8]) -> String {
        let below = String::from_utf8_lossy(path.get(self.prefix..).unwrap_or_default()).into_owned();
        format!("{}{below}", self.folder.display())
    }
}

/// Opens what was a regular file a moment ago. Should it be something else by now, opening does not wait for it.
fn open(dir: &Dir, name: &std::ffi::OsStr) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.read(true);
    #[cfg(unix)]
    cap_std::fs::OpenOptionsExt::custom_flags(&mut options, NONBLOCK);
    let file = dir.open_with(name, &options)?;
    if file.metadata()?.is_file() { Ok(file) } else { Err(io::Error::other("it is no longer a regular file")) }
}

/// `O_NONBLOCK`, which regular files ignore.
#[cfg(all(unix, any(target_os = "linux", target_os = "android")))]
const NONBLOCK: i32 = 0o4000;
#[cfg(all(unix, not(any(target_os = "linux", target_os = "android"))))]
const NONBLOCK: i32 = 0x4;

fn look(metadata: &Metadata) -> Look {
    let modified = metadata.modified().ok().map(cap_std::time::SystemTime::into_std);
    let modified = modified.and_then(|time| time.duration_since(std::time::UNIX_EPOCH).ok());
    let modified = modified.and_then(|since| u64::try_from(since.as_nanos()).ok());
    Look { mode: mode(metadata), modified }
}

#[cfg(unix)]
fn mode(metadata: &Metadata) -> u32 {
    // Set-user-ID and the like meant somebody of the host.
    cap_std::fs::MetadataExt::mode(metadata) & 0o777
}

#[cfg(not(unix))]
fn mode(metadata: &Metadata) -> u32 {
    if metadata.is_dir() { 0o755 } else { 0o644 }
}

#[cfg(unix)]
fn inode_of_several_names(metadata: &Metadata) -> Option<(u64, u64)> {
    use cap_std::fs::MetadataExt;
    (metadata.nlink() > 1).then(|| (metadata.dev(), metadata.ino()))
}

#[cfg(not(unix))]
fn inode_of_several_names(_: &Metadata) -> Option<(u64, u64)> {
    None
}

fn refused(place: &dyn fmt::Display, message: &str) -> Error {
    Error::new(ErrorKind::InvalidRequest, "seed folder", message.to_owned()).with_context("path", place.to_string())
}

fn failed(place: &dyn fmt::Display, message: &str, error: io::Error) -> Error {
    refused(place, &format!("{message}: {error}"))
}

#[cfg(all(test, unix))]
mod tests;
