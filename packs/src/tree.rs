//! The files of a pack, as visible in the sandbox.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use crate::archive;
use crate::error::PackError;

/// List of the files of a tree: length and path, one per line.
const INDEX: &str = "tree.index";
const FILES_DIR: &str = "tree";

/// A file of a pack.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TreeFile {
    /// Its path in the sandbox.
    pub path: String,
    /// Path on the host.
    pub host: PathBuf,
    /// Its length in bytes.
    pub len: usize,
}

/// A tree that is being built.
pub(crate) struct TreeBuilder<'a> {
    dir: &'a Path,
    files: BTreeMap<String, u64>,
}

impl<'a> TreeBuilder<'a> {
    pub(crate) fn new(dir: &'a Path) -> Self {
        Self { dir, files: BTreeMap::new() }
    }

    /// Unpacks an archive into a directory of the sandbox. `inner` is an archive in it, which is unpacked into a directory with
    /// its name without the extension. Omits files for which `wanted` returns false.
    pub(crate) fn unpack(
        &mut self,
        archive: &[u8],
        dir: &str,
        inner: Option<&str>,
        wanted: &dyn Fn(&str) -> bool,
    ) -> Result<(), PackError> {
        archive::for_each_file(archive, &mut |name, content| {
            if !wanted(name) {
                return Ok(());
            }
            if inner != Some(name) {
                return self.put(&format!("{dir}/{name}"), content);
            }
            let mut bytes = Vec::new();
            content.read_to_end(&mut bytes).map_err(|error| PackError::new(format!("{name}: {error}")))?;
            self.unpack(&bytes, &format!("{dir}/{}", name.strip_suffix(".zip").unwrap_or(name)), None, &|_| true)
        })
    }

    /// Writes one file.
    pub(crate) fn put(&mut self, path: &str, from: &mut dyn Read) -> Result<(), PackError> {
        let names = path.split('/').skip(1);
        let safe = |name: &str| !matches!(name, "" | "." | "..") && !name.contains(['\\', '\0', '\n', ':']);
        if !path.starts_with('/') || !names.clone().all(safe) {
            return Err(PackError::new(format!("cannot unpack {path:?} from an archive: unsafe path")));
        }
        let mut host = self.dir.join(FILES_DIR);
        host.extend(names);
        let mut write = || -> io::Result<u64> {
            if let Some(parent) = host.parent() {
                fs::create_dir_all(parent)?;
            }
            io::copy(from, &mut File::create(&host)?)
        };
        let len = write().map_err(|error| PackError::file(&host, &error))?;
        self.files.insert(path.to_owned(), len);
        Ok(())
    }

    /// Writes the list of files.
    pub(crate) fn finish(self) -> Result<(), PackError> {
        let index = self.dir.join(INDEX);
        let lines: String = self.files.iter().map(|(path, len)| format!("{len} {path}\n")).collect();
        fs::write(&index, lines).map_err(|error| PackError::file(&index, &error))
    }
}

/// Reads the files of a tree that was built in this directory.
pub(crate) fn files(dir: &Path) -> Result<Vec<TreeFile>, PackError> {
    let broken = || {
        let index = dir.join(INDEX);
        PackError::new(format!("{}: invalid file list; remove the pack and add it again", index.display()))
    };
    parse(&read_index(dir)?, dir).ok_or_else(broken)
}

/// Reads the list of files of a tree that was built in this directory.
pub(crate) fn read_index(dir: &Path) -> Result<String, PackError> {
    let index = dir.join(INDEX);
    fs::read_to_string(&index).map_err(|error| PackError::file(&index, &error))
}

/// Parses the list of files of a tree that is, or will be, in this directory. `None` if it is invalid.
pub(crate) fn parse(text: &str, dir: &Path) -> Option<Vec<TreeFile>> {
    let root = dir.join(FILES_DIR);
    let file = |line: &str| {
        let (len, path) = line.split_once(' ')?;
        let host = root.join(path.strip_prefix('/')?);
        Some(TreeFile { path: path.to_owned(), host, len: len.parse().ok()? })
    };
    text.lines().map(file).collect()
}
