//! Decoder: from records to a tree, on top of a base image.

use tidebox_core::{Error, Result};
use tidebox_kernel::Errno;
use tidebox_kernel::fs::{Block, Contents, Fs, Ino, Kind, Resolved};

use super::corrupt_snapshot;
use super::record::{Attributes, FileContent, Record, RecordKind};
use crate::{ROOT, file_error, remove};

/// A name that is otherwise unused.
const STAGING_DIR: &[u8] = b"\x01removed by a snapshot\x01";

pub(super) struct SnapshotDecoder<'a> {
    fs: &'a mut Fs,
    blocks: &'a [Block],
    /// Inode that each record created or found; the root first.
    inodes: Vec<Option<Ino>>,
    /// Attributes to set at the end, because creating entries changes times.
    attributes: Vec<(Ino, Attributes)>,
    /// Paths of the base image's files before the first of them was removed.
    base: Option<Vec<(Vec<u8>, Ino)>>,
    /// Directory for removed files until the end, because a later record may link one of them.
    staging: Option<Ino>,
    removed: u64,
}

impl<'a> SnapshotDecoder<'a> {
    pub(super) fn new(fs: &'a mut Fs, blocks: &'a [Block]) -> Self {
        let root = fs.root();
        Self { fs, blocks, inodes: vec![Some(root)], attributes: Vec::new(), base: None, staging: None, removed: 0 }
    }

    pub(super) fn apply(&mut self, record: Record) -> Result<()> {
        let Record { parent, name, record_kind } = record;
        if name.is_empty() && self.inodes.len() == 1 {
            // The root itself, which has no name.
            let RecordKind::AttributesChanged(attrs) = record_kind else {
                return Err(corrupt_snapshot("a name is empty"));
            };
            let root = self.fs.root();
            self.attributes.push((root, attrs));
            self.inodes.push(Some(root));
            return Ok(());
        }
        if name.is_empty() || name == b"." || name == b".." || name.contains(&b'/') {
            return Err(corrupt_snapshot("something has an impossible name"));
        }
        let parent =
            self.of(parent)?.ok_or_else(|| corrupt_snapshot("a directory was removed before something in it"))?;
        let to_error = |errno| operation_error(errno, &name);
        let existing = self.child(parent, &name).map_err(to_error)?;
        let inode = match record_kind {
            RecordKind::Unchanged => Some(self.dir(parent, &name, existing).map_err(to_error)?),
            RecordKind::Removed => {
                self.remove(parent, &name, existing).map_err(to_error)?;
                None
            }
            RecordKind::AttributesChanged(attrs) => self.set_attributes(existing, attrs),
            RecordKind::ContentChanged(attrs, content) => {
                if let Some(ino) = existing.filter(|&ino| self.is(ino, Kind::File)) {
                    self.fill(ino, &content, &name)?;
                }
                self.set_attributes(existing, attrs)
            }
            RecordKind::Dir(attrs) => {
                let ino = self.dir(parent, &name, existing).map_err(to_error)?;
                self.set_attributes(Some(ino), attrs)
            }
            RecordKind::File(attrs, content) => {
                self.unlink_existing(parent, &name, existing).map_err(to_error)?;
                let (ino, _) = self.fs.create(&ROOT, parent, &name, 0o644, true, 0).map_err(to_error)?;
                self.fill(ino, &content, &name)?;
                self.set_attributes(Some(ino), attrs)
            }
            RecordKind::Symlink(attrs, target) => {
                self.unlink_existing(parent, &name, existing).map_err(to_error)?;
                let ino = self.fs.symlink(&ROOT, &target, parent, &name, 0).map_err(to_error)?;
                self.set_attributes(Some(ino), attrs)
            }
            RecordKind::Fifo(attrs) => {
                self.unlink_existing(parent, &name, existing).map_err(to_error)?;
                let ino = self.fs.mkfifo(&ROOT, parent, &name, attrs.mode, 0).map_err(to_error)?;
                self.set_attributes(Some(ino), attrs)
            }
            RecordKind::HardLink(first) => {
                let ino = self.of(first)?.ok_or_else(|| corrupt_snapshot("a link refers to a removed file"))?;
                self.link(ino, parent, &name, existing).map_err(to_error)?
            }
            RecordKind::BaseLink(path) => {
                let ino = self.in_base(&path)?;
                self.link(ino, parent, &name, existing).map_err(to_error)?
            }
        };
        self.inodes.push(inode);
        Ok(())
    }

    /// Sets the attributes.
    pub(super) fn finish(self) -> Result<()> {
        if let Some(staging) = self.staging {
            let root = self.fs.root();
            remove::remove_tree(self.fs, &ROOT, root, STAGING_DIR, staging, 0)
                .map_err(|errno| operation_error(errno, b"/"))?;
        }
        for (ino, attrs) in self.attributes {
            // An inode removed by a later record has no attributes.
            if let Ok(stat) = self.fs.stat(ino) {
                self.fs.set_stat(ino, &attrs.apply_to(stat)).map_err(|errno| operation_error(errno, b"/"))?;
            }
        }
        Ok(())
    }

    fn of(&self, record: u64) -> Result<Option<Ino>> {
        let found = usize::try_from(record).ok().and_then(|record| self.inodes.get(record));
        found.copied().ok_or_else(|| corrupt_snapshot("a record refers to a record that does not precede it"))
    }

    fn is(&self, ino: Ino, kind: Kind) -> bool {
        self.fs.stat(ino).is_ok_and(|stat| stat.kind == kind)
    }

    fn child(&self, parent: Ino, name: &[u8]) -> Result<Option<Ino>, Errno> {
        match self.fs.walk(&ROOT, parent, name, false) {
            Ok(Resolved::Node(ino)) => Ok(Some(ino)),
            Ok(Resolved::Proc(_)) => Err(Errno::Rofs),
            Err(Errno::Noent) => Ok(None),
            Err(errno) => Err(errno),
        }
    }

    fn set_attributes(&mut self, ino: Option<Ino>, attrs: Attributes) -> Option<Ino> {
        self.attributes.extend(ino.map(|ino| (ino, attrs)));
        ino
    }

    /// Returns the directory of this name. Another base image may lack it or have something else there.
    fn dir(&mut self, parent: Ino, name: &[u8], existing: Option<Ino>) -> Result<Ino, Errno> {
        match existing {
            Some(ino) if self.is(ino, Kind::Dir) => Ok(ino),
            _ => {
                self.unlink_existing(parent, name, existing)?;
                self.fs.mkdir(&ROOT, parent, name, 0o755, 0)
            }
        }
    }

    fn unlink_existing(&mut self, parent: Ino, name: &[u8], existing: Option<Ino>) -> Result<(), Errno> {
        if existing.is_some() { self.fs.unlink(&ROOT, parent, name, 0) } else { Ok(()) }
    }

    fn remove(&mut self, parent: Ino, name: &[u8], existing: Option<Ino>) -> Result<(), Errno> {
        if existing.is_none() {
            return Ok(());
        }
        self.base_files();
        let staging_dir = match self.staging {
            Some(staging_dir) => staging_dir,
            None => self.fs.install_dir(&[b"/", STAGING_DIR].concat(), 0o700, 0)?,
        };
        self.staging = Some(staging_dir);
        self.removed += 1;
        self.fs.rename(&ROOT, parent, name, staging_dir, self.removed.to_string().as_bytes(), 0)
    }

    fn link(&mut self, ino: Ino, parent: Ino, name: &[u8], existing: Option<Ino>) -> Result<Option<Ino>, Errno> {
        if existing != Some(ino) {
            self.unlink_existing(parent, name, existing)?;
            self.fs.link(&ROOT, ino, parent, name, 0)?;
        }
        Ok(Some(ino))
    }

    fn fill(&mut self, ino: Ino, content: &FileContent, name: &[u8]) -> Result<()> {
        let mut blocks = Vec::new();
        for &(index, number) in &content.blocks {
            let block = usize::try_from(number).ok().and_then(|number| self.blocks.get(number));
            blocks.push((index, block.ok_or_else(|| corrupt_snapshot("a file refers to a missing block"))?.clone()));
        }
        let contents = Contents::from_blocks(content.len, blocks);
        let contents = contents.ok_or_else(|| corrupt_snapshot("a file has a block beyond its end"))?;
        self.fs.set_contents(ino, contents, 0).map_err(|errno| operation_error(errno, name))
    }

    /// Returns the base image's files with their paths before the first of them is removed.
    fn base_files(&mut self) -> &[(Vec<u8>, Ino)] {
        let fs = &*self.fs;
        self.base.get_or_insert_with(|| installed(fs))
    }

    fn in_base(&mut self, path: &[u8]) -> Result<Ino> {
        let found = self.base_files().iter().find(|(known, _)| known == path).map(|&(_, ino)| ino);
        found.ok_or_else(|| {
            let path = String::from_utf8_lossy(path);
            corrupt_snapshot(&format!("the snapshot has a link to '{path}', which this base image lacks"))
        })
    }
}

/// Returns the paths of everything that the host installed, without directories.
fn installed(fs: &Fs) -> Vec<(Vec<u8>, Ino)> {
    let (mut found, mut pending) = (Vec::new(), vec![(fs.root(), Vec::new())]);
    while let Some((dir, path)) = pending.pop() {
        for (name, ino, kind) in fs.read_dir(dir, None) {
            if !fs.is_installed(ino) {
                continue;
            }
            let path = [path.as_slice(), b"/", &name].concat();
            if kind == Kind::Dir { pending.push((ino, path)) } else { found.push((path, ino)) }
        }
    }
    found
}

pub(super) fn operation_error(errno: Errno, name: &[u8]) -> Error {
    Error::from(file_error::file_error(errno, name))
}
