//! Writing a tar.

use std::collections::BTreeMap;
use std::io::{self, Read, Write};

use tar::{Builder, EntryType};
use tidebox_kernel::Errno;
use tidebox_kernel::fs::{Contents, Fs, Ino, Kind, PATH_OF_MAX};

use super::header;

/// Maximum bytes of paths stored for hard links.
const LINKED_PATH_BYTES: usize = 64 << 20;

pub(super) fn write_tar(fs: &Fs, out: impl Write) -> io::Result<()> {
    let mut writer = TarWriter { fs, tar: Builder::new(out), link_targets: BTreeMap::new(), linked_bytes: 0 };
    writer.tree()?;
    writer.tar.into_inner()?.flush()
}

struct TarWriter<'a, W: Write> {
    fs: &'a Fs,
    tar: Builder<W>,
    /// Paths of written files that have several names.
    link_targets: BTreeMap<Ino, Vec<u8>>,
    linked_bytes: usize,
}

/// A directory in the traversal.
struct Level {
    dir: Ino,
    path_len: usize,
    after: Option<Vec<u8>>,
}

impl<W: Write> TarWriter<'_, W> {
    fn tree(&mut self) -> io::Result<()> {
        let mut path = Vec::new();
        let mut levels = vec![Level { dir: self.fs.root(), path_len: 0, after: None }];
        while let Some(level) = levels.last_mut() {
            let next = self.fs.read_dir(level.dir, level.after.as_deref()).next();
            let next = next.map(|(name, ino, kind)| (name.to_vec(), ino, kind));
            let Some((name, ino, kind)) = next else {
                levels.pop();
                continue;
            };
            path.truncate(level.path_len);
            path.extend_from_slice(&name);
            level.after = Some(name);
            if path.len() > PATH_OF_MAX {
                return Err(too_deep());
            }
            if kind == Kind::Dir {
                path.push(b'/');
            }
            if kind == Kind::Dir && !self.fs.is_in_mount(ino) {
                self.fs.check_dir(ino, None).map_err(read_error).map_err(|error| at(&path, error))?;
                levels.push(Level { dir: ino, path_len: path.len(), after: None });
            }
            if !self.fs.is_installed(ino) {
                self.entry(&path, ino).map_err(|error| at(&path, error))?;
            }
        }
        Ok(())
    }

    fn entry(&mut self, path: &[u8], ino: Ino) -> io::Result<()> {
        let stat = self.fs.stat(ino).map_err(read_error)?;
        let Some(mut letter) = header::letter(stat.kind) else { return Ok(()) };
        let mut link = match stat.kind {
            Kind::Symlink => self.fs.readlink(ino).map_err(read_error)?,
            _ => Vec::new(),
        };
        if stat.kind != Kind::Dir && stat.nlink > 1 {
            match self.link_targets.get(&ino) {
                Some(first) => (letter, link) = (EntryType::Link, first.clone()),
                None => {
                    self.linked_bytes = self.linked_bytes.saturating_add(path.len());
                    if self.linked_bytes > LINKED_PATH_BYTES {
                        return Err(io::Error::new(io::ErrorKind::InvalidData, "too many long names of hard links"));
                    }
                    self.link_targets.insert(ino, path.to_vec());
                }
            }
        }
        let (header, records) = header::header(path, &stat, letter, &link);
        let records = records.into_bytes();
        if !records.is_empty() {
            self.tar.append(&header::of_records(records.len()), records.as_slice())?;
        }
        match letter {
            EntryType::Regular => {
                let contents = self.fs.contents(ino).map_err(read_error)?;
                self.tar.append(&header, ContentReader { contents: &contents, offset: 0 })
            }
            _ => self.tar.append(&header, io::empty()),
        }
    }
}

/// Reads a file's content as a stream.
struct ContentReader<'a> {
    contents: &'a Contents,
    offset: u64,
}

impl Read for ContentReader<'_> {
    fn read(&mut self, dst: &mut [u8]) -> io::Result<usize> {
        let count = self.contents.read_at(self.offset, dst);
        self.offset += count as u64;
        Ok(count)
    }
}

fn too_deep() -> io::Error {
    let message = format!("a path is longer than {PATH_OF_MAX} bytes; export a snapshot file instead");
    io::Error::new(io::ErrorKind::InvalidData, message)
}

fn read_error(errno: Errno) -> io::Error {
    io::Error::other(format!("cannot read the snapshot: {errno}"))
}

fn at(path: &[u8], error: io::Error) -> io::Error {
    io::Error::new(error.kind(), format!("cannot write '{}': {error}", path.escape_ascii()))
}
