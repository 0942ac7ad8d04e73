//! Selection of input files, and their names in the archive.

use std::collections::HashSet;

use tidebox_rt::{Errno, FileKind, Stat};

use super::{Ended, Zip};
use crate::entry::{dos_of, seconds_of};

/// Maximum depth of nested directories.
const MAX_DEPTH: usize = 4096;

/// An input file.
#[derive(Clone, Debug)]
pub(crate) struct InputFile {
    pub(crate) path: Vec<u8>,
    pub(crate) name: Vec<u8>,
    pub(crate) stat: Stat,
}

impl InputFile {
    pub(crate) fn is_dir(&self) -> bool {
        self.stat.kind() == FileKind::Dir
    }

    pub(crate) fn is_stdin(&self) -> bool {
        self.path == b"-"
    }

    /// Modification time in whole seconds.
    pub(crate) fn seconds(&self) -> i64 {
        i64::try_from(self.stat.mtime_ns / 1_000_000_000).unwrap_or(0)
    }

    /// Modification time in DOS format.
    pub(crate) fn dos_seconds(&self) -> i64 {
        seconds_of(dos_of(self.seconds()))
    }
}

impl Zip {
    /// Finds the files of the arguments.
    pub(super) fn collect(&mut self) -> Result<Vec<InputFile>, Ended> {
        let mut found = Vec::new();
        let archive = tidebox_rt::stat(&self.options.archive, true).ok().map(|stat| (stat.dev, stat.ino));
        let files = self.options.files.clone();
        for file in &files {
            if file == b"-" {
                let stat = Stat {
                    mode: 0o010_600,
                    mtime_ns: tidebox_rt::realtime_ns(),
                    atime_ns: tidebox_rt::realtime_ns(),
                    ..Stat::default()
                };
                found.push(InputFile { path: b"-".to_vec(), name: b"-".to_vec(), stat });
                continue;
            }
            let before = found.len();
            self.file(file, archive, 0, &mut found);
            if found.len() == before && !self.options.recursive && self.stat(file).is_err() {
                self.warn(&[b"name not matched: ", file]);
            }
        }
        let mut names = HashSet::new();
        let mut twice = None;
        found.retain(|file: &InputFile| {
            let new = names.insert(file.name.clone());
            if !new && self.options.junk && twice.is_none() {
                twice = Some((file.path.clone(), file.name.clone()));
            }
            new
        });
        if let Some((path, name)) = twice {
            let first = found.iter().find(|file| file.name == name).map(|file| file.path.clone()).unwrap_or_default();
            self.warn(&[
                b"  first full name: ",
                &first,
                b"\n                    second full name: ",
                &path,
                b"\n                   name in zip file repeated: ",
                &name,
            ]);
            return Err(self.error(16, "Invalid command arguments", &[b"cannot repeat names in zip file"]));
        }
        Ok(found)
    }

    fn stat(&self, path: &[u8]) -> Result<Stat, Errno> {
        tidebox_rt::stat(path, !self.options.links)
    }

    fn file(&self, path: &[u8], archive: Option<(u32, u64)>, depth: usize, found: &mut Vec<InputFile>) {
        let Ok(stat) = self.stat(path) else {
            return;
        };
        if archive == Some((stat.dev, stat.ino)) || depth > MAX_DEPTH {
            return;
        }
        let is_dir = stat.kind() == FileKind::Dir;
        let name = self.name(path, is_dir);
        let skipped = is_dir && (self.options.no_folders || self.options.junk);
        if !name.is_empty()
            && !skipped
            && self.options.keeps(&name)
            && matches!(stat.kind(), FileKind::File | FileKind::Dir | FileKind::Symlink)
        {
            found.push(InputFile { path: path.to_vec(), name, stat });
        }
        if !is_dir || !self.options.recursive {
            return;
        }
        let mut entries = tidebox_rt::read_dir(path).unwrap_or_default();
        let slash: &[u8] = if path.ends_with(b"/") { b"" } else { b"/" };
        for entry in entries.drain(..) {
            let inner = if path == b"." { entry.name } else { [path, slash, &entry.name].concat() };
            self.file(&inner, archive, depth + 1, found);
        }
    }

    /// Returns the name in the archive: relative, with a trailing slash for directories.
    fn name(&self, path: &[u8], is_dir: bool) -> Vec<u8> {
        let mut name = path;
        if self.options.junk {
            name = name.rsplit(|byte| *byte == b'/').next().unwrap_or_default();
        }
        loop {
            name = match name {
                [b'/', rest @ ..] | [b'.', b'/', rest @ ..] => rest,
                _ => break,
            };
        }
        if name == b"." {
            return Vec::new();
        }
        let mut name = name.to_vec();
        if is_dir && !name.is_empty() && !name.ends_with(b"/") {
            name.push(b'/');
        }
        name
    }
}
