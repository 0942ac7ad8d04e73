//! Records of a snapshot file: the tree, one entry after the other.

use tidebox_core::{FileError, FileErrorCode, Limits, Result};
use tidebox_kernel::fs::{BLOCK_BYTES, Stat};

use super::corrupt_snapshot;
use super::wire::{Reader, Writer};

/// Maximum length of a name, link target or base image path in bytes. Existing ones are shorter.
pub(super) const MAX_LENGTH: usize = 1 << 20;

/// A name in a directory, and the entry to create there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Record {
    /// Number of the directory's record; the root is 0, and other records count from 1.
    pub(super) parent: u64,
    pub(super) name: Vec<u8>,
    pub(super) record_kind: RecordKind,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum RecordKind {
    /// An unchanged directory of the base image, recorded because an entry below it changed.
    Unchanged,
    /// An entry of the base image that was removed.
    Removed,
    /// An entry of the base image with changed attributes.
    AttributesChanged(Attributes),
    /// A file of the base image with changed content.
    ContentChanged(Attributes, FileContent),
    Dir(Attributes),
    File(Attributes, FileContent),
    Symlink(Attributes, Vec<u8>),
    /// Another name of the inode created by the record of this number.
    HardLink(u64),
    /// Another name of the base image's inode at this path.
    BaseLink(Vec<u8>),
    /// An empty FIFO.
    Fifo(Attributes),
}

/// Stored attributes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Attributes {
    pub(super) mode: u32,
    pub(super) uid: u32,
    pub(super) gid: u32,
    pub(super) atime: u64,
    pub(super) mtime: u64,
    pub(super) ctime: u64,
}

impl Attributes {
    pub(super) fn of(stat: &Stat) -> Self {
        let Stat { mode, uid, gid, atime, mtime, ctime, .. } = *stat;
        Self { mode, uid, gid, atime, mtime, ctime }
    }

    pub(super) fn apply_to(&self, stat: Stat) -> Stat {
        let Self { mode, uid, gid, atime, mtime, ctime } = *self;
        Stat { mode, uid, gid, atime, mtime, ctime, ..stat }
    }

    pub(super) fn write(&self, to: &mut Writer) {
        let (mode, uid, gid) = (u64::from(self.mode), u64::from(self.uid), u64::from(self.gid));
        // Times are close to each other, so the differences are short; wrapping keeps them exact.
        let times = [self.mtime, self.ctime.wrapping_sub(self.mtime), self.atime.wrapping_sub(self.mtime)];
        [mode, uid, gid].into_iter().chain(times).for_each(|number| to.number(number));
    }

    pub(super) fn read(from: &mut Reader<'_>) -> Result<Self> {
        let (mode, uid, gid) = (from.small()?, from.small()?, from.small()?);
        let mtime = from.number()?;
        let (ctime, atime) = (from.number()?.wrapping_add(mtime), from.number()?.wrapping_add(mtime));
        Ok(Self { mode, uid, gid, atime, mtime, ctime })
    }
}

/// Content of a file: its length, and pairs of block index in the file and number in the list of all blocks.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct FileContent {
    pub(super) len: u64,
    pub(super) blocks: Vec<(u64, u64)>,
}

impl FileContent {
    fn write(&self, to: &mut Writer) {
        to.number(self.len);
        to.number(self.blocks.len() as u64);
        for &(index, block) in &self.blocks {
            to.number(index);
            to.number(block);
        }
    }

    fn read(from: &mut Reader<'_>, limits: &Limits) -> Result<Self> {
        let (len, count) = (from.number()?, from.number()?);
        if len > limits.single_file_bytes {
            return Err(
                FileError::new(FileErrorCode::TooLarge, "a file of the snapshot is larger than one may be").into()
            );
        }
        let mut blocks: Vec<(u64, u64)> = Vec::new();
        for _ in 0..count {
            let index = from.number()?;
            // In order and within the file, so that a few bytes cannot declare an endless list.
            let good = blocks.last().is_none_or(|&(last, _)| last < index) && index <= len / BLOCK_BYTES as u64;
            if !good {
                return Err(corrupt_snapshot("the blocks of a file are in disorder"));
            }
            blocks.push((index, from.number()?));
        }
        Ok(Self { len, blocks })
    }
}

impl Record {
    pub(super) fn write(&self, to: &mut Writer) {
        to.number(self.parent);
        to.bytes(&self.name);
        match &self.record_kind {
            RecordKind::Unchanged => to.number(0),
            RecordKind::Removed => to.number(1),
            RecordKind::AttributesChanged(attributes) => {
                to.number(2);
                attributes.write(to);
            }
            RecordKind::ContentChanged(attributes, content) => {
                to.number(3);
                attributes.write(to);
                content.write(to);
            }
            RecordKind::Dir(attributes) => {
                to.number(4);
                attributes.write(to);
            }
            RecordKind::File(attributes, content) => {
                to.number(5);
                attributes.write(to);
                content.write(to);
            }
            RecordKind::Symlink(attributes, target) => {
                to.number(6);
                attributes.write(to);
                to.bytes(target);
            }
            RecordKind::HardLink(first) => {
                to.number(7);
                to.number(*first);
            }
            RecordKind::BaseLink(path) => {
                to.number(8);
                to.bytes(path);
            }
            RecordKind::Fifo(attributes) => {
                to.number(9);
                attributes.write(to);
            }
        }
    }

    pub(super) fn read(from: &mut Reader<'_>, limits: &Limits) -> Result<Self> {
        let (parent, name) = (from.number()?, from.bytes(MAX_LENGTH)?.to_vec());
        let record_kind = match from.number()? {
            0 => RecordKind::Unchanged,
            1 => RecordKind::Removed,
            2 => RecordKind::AttributesChanged(Attributes::read(from)?),
            3 => RecordKind::ContentChanged(Attributes::read(from)?, FileContent::read(from, limits)?),
            4 => RecordKind::Dir(Attributes::read(from)?),
            5 => RecordKind::File(Attributes::read(from)?, FileContent::read(from, limits)?),
            6 => RecordKind::Symlink(Attributes::read(from)?, from.bytes(MAX_LENGTH)?.to_vec()),
            7 => RecordKind::HardLink(from.number()?),
            8 => RecordKind::BaseLink(from.bytes(MAX_LENGTH)?.to_vec()),
            9 => RecordKind::Fifo(Attributes::read(from)?),
            _ => return Err(corrupt_snapshot("a record has an unknown kind")),
        };
        Ok(Self { parent, name, record_kind })
    }
}
