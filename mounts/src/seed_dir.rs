//! Initial files of a sandbox from a host directory.

use std::collections::BTreeMap;
use std::fmt;
use std::io;
use std::path::PathBuf;

use cap_std::ambient_authority;
use cap_std::fs::{Dir, DirEntry, File, Metadata, OpenOptions};
use tidebox_core::{Error, ErrorKind, Result, SandboxPath};
use tidebox_vfs_backend::{FileAttributes, SandboxBuilder, SeedWriter};

/// Copies a host directory into a new sandbox.
pub trait SeedDir: Sized {
    /// Copies the directory's files to the working directory. The directory is read once, when the sandbox is built; later
    /// changes on either side are not shared.
    ///
    /// Permissions, modification times, symbolic and hard links are kept; all files belong to the sandbox's user. Links are not
    /// followed while reading, so no file outside the directory is copied; a link to the outside becomes a link to the same path
    /// inside the sandbox. A FIFO, a socket or a device is an error that names it. Every file is charged to the sandbox's limits
    /// before it is stored.
    ///
    /// [`build`](SandboxBuilder::build) returns the errors: [`ErrorKind::InvalidRequest`] for files that cannot be read or cannot
    /// exist in a sandbox, [`ErrorKind::FileOperationFailed`] if a limit is reached.
    #[must_use]
    fn seed_dir(self, source: impl Into<PathBuf>) -> Self;

    /// Like [`seed_dir`](Self::seed_dir), but copies to the given directory of the sandbox, which is created if missing.
    #[must_use]
    fn seed_dir_into(self, directory: SandboxPath, source: impl Into<PathBuf>) -> Self;
}

impl SeedDir for SandboxBuilder {
    fn seed_dir(self, source: impl Into<PathBuf>) -> Self {
        let source = source.into();
        self.seed_with(move |writer| seed(writer, b".", source))
    }

    fn seed_dir_into(self, directory: SandboxPath, source: impl Into<PathBuf>) -> Self {
        let source = source.into();
        self.seed_with(move |writer| seed(writer, directory.as_bytes(), source))
    }
}

fn seed(writer: &mut SeedWriter<'_>, prefix: &[u8], source: PathBuf) -> Result<()> {
    let opened = Dir::open_ambient_dir(&source, ambient_authority());
    let opened = opened.and_then(|dir| DirFrame::open(dir, prefix.to_vec()));
    let frame = opened.map_err(|error| failed(&source.display(), "cannot read the directory", error))?;
    let mut seeder = DirSeeder { writer, source, prefix: prefix.len(), linked: BTreeMap::new() };
    let mut frames = vec![frame];
    while let Some(frame) = frames.last_mut() {
        match frame.entries.next() {
            Some(entry) => {
                let below = seeder.entry(&frame.dir, &frame.path, &entry)?;
                frames.extend(below);
            }
            None => {
                frames.pop();
            }
        }
    }
    Ok(())
}

/// A directory being copied, in name order so that equal directories create equal sandboxes.
struct DirFrame {
    dir: Dir,
    path: Vec<u8>,
    entries: std::vec::IntoIter<DirEntry>,
}

impl DirFrame {
    fn open(dir: Dir, path: Vec<u8>) -> io::Result<Self> {
        let mut entries = dir.entries()?.collect::<io::Result<Vec<_>>>()?;
        entries.sort_by_key(DirEntry::file_name);
        Ok(Self { dir, path, entries: entries.into_iter() })
    }
}

struct DirSeeder<'a, 'b> {
    writer: &'a mut SeedWriter<'b>,
    source: PathBuf,
    prefix: usize,
    /// Paths of files with several hard links, by device and inode.
    linked: BTreeMap<(u64, u64), Vec<u8>>,
}

impl DirSeeder<'_, '_> {
    /// Copies one entry; returns a directory that must be copied next.
    fn entry(&mut self, dir: &Dir, parent: &[u8], entry: &DirEntry) -> Result<Option<DirFrame>> {
        let name = entry.file_name();
        let path = [parent, b"/", name.as_encoded_bytes()].concat();
        let path_on_host = self.path_on_host(&path);
        let fail = |what: &str, error: io::Error| failed(&path_on_host, what, error);
        // Of the link itself if it is a link.
        let metadata = entry.metadata().map_err(|error| fail("cannot read its metadata", error))?;
        let kind = metadata.file_type();
        let attributes_of_entry = attributes(&metadata);
        if kind.is_dir() {
            self.writer.dir(&path, attributes_of_entry)?;
            let opened = dir.open_dir(&name).and_then(|dir| DirFrame::open(dir, path));
            return opened.map(Some).map_err(|error| fail("cannot read the directory", error));
        }
        if kind.is_symlink() {
            let target = dir.read_link_contents(&name).map_err(|error| fail("cannot read the link", error))?;
            self.writer.symlink(&path, target.as_os_str().as_encoded_bytes(), attributes_of_entry)?;
            return Ok(None);
        }
        if !kind.is_file() {
            return Err(invalid_entry(
                &path_on_host,
                "it is a FIFO, a socket or a device; remove it from the directory",
            ));
        }
        if let Some(inode) = hard_link_id(&metadata) {
            if let Some(first) = self.linked.get(&inode) {
                self.writer.hard_link(&path, first)?;
                return Ok(None);
            }
            self.linked.insert(inode, path.clone());
        }
        let mut file = open(dir, &name).map_err(|error| fail("cannot read the file", error))?;
        self.writer.file(&path, attributes_of_entry, &mut file)?;
        Ok(None)
    }

    /// Returns the path on the host, for messages.
    fn path_on_host(&self, path: &[u8]) -> String {
        let below = String::from_utf8_lossy(path.get(self.prefix..).unwrap_or_default()).into_owned();
        format!("{}{below}", self.source.display())
    }
}

/// Opens a file that was regular when it was listed. If it was replaced, opening does not block.
fn open(dir: &Dir, name: &std::ffi::OsStr) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.read(true);
    #[cfg(unix)]
    cap_std::fs::OpenOptionsExt::custom_flags(&mut options, NONBLOCK);
    let file = dir.open_with(name, &options)?;
    if file.metadata()?.is_file() { Ok(file) } else { Err(io::Error::other("it is not a regular file any more")) }
}

/// `O_NONBLOCK`, which regular files ignore.
#[cfg(all(unix, any(target_os = "linux", target_os = "android")))]
const NONBLOCK: i32 = 0o4000;
#[cfg(all(unix, not(any(target_os = "linux", target_os = "android"))))]
const NONBLOCK: i32 = 0x4;

fn attributes(metadata: &Metadata) -> FileAttributes {
    let modified = metadata.modified().ok().map(cap_std::time::SystemTime::into_std);
    let modified = modified.and_then(|time| time.duration_since(std::time::UNIX_EPOCH).ok());
    let modified = modified.and_then(|since| u64::try_from(since.as_nanos()).ok());
    FileAttributes { mode: mode(metadata), modified }
}

#[cfg(unix)]
fn mode(metadata: &Metadata) -> u32 {
    // Set-user-ID and similar bits refer to users of the host.
    cap_std::fs::MetadataExt::mode(metadata) & 0o777
}

#[cfg(not(unix))]
fn mode(metadata: &Metadata) -> u32 {
    if metadata.is_dir() { 0o755 } else { 0o644 }
}

#[cfg(unix)]
fn hard_link_id(metadata: &Metadata) -> Option<(u64, u64)> {
    use cap_std::fs::MetadataExt;
    (metadata.nlink() > 1).then(|| (metadata.dev(), metadata.ino()))
}

#[cfg(not(unix))]
fn hard_link_id(_: &Metadata) -> Option<(u64, u64)> {
    None
}

fn invalid_entry(path_on_host: &dyn fmt::Display, message: &str) -> Error {
    Error::new(ErrorKind::InvalidRequest, "seed directory", message.to_owned())
        .with_context("path", path_on_host.to_string())
}

fn failed(path_on_host: &dyn fmt::Display, message: &str, error: io::Error) -> Error {
    invalid_entry(path_on_host, &format!("{message}: {error}"))
}

#[cfg(all(test, unix))]
mod tests;
