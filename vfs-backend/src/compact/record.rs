//! What a compact file says of the tree, one thing after the other.

use tidebox_core::{FileError, FileErrorCode, Limits, Result};
use tidebox_kernel::fs::{BLOCK_BYTES, Stat};

use super::damaged;
use super::wire::{Reader, Writer};

/// Longest name, target of a link and path of the base image. Everything that exists is shorter.
const LONGEST: usize = 1 << 20;

/// A name in a directory, and what to make there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Record {
    /// The number of the record of the directory; the root is 0, and other records count from 1.
    pub(super) parent: u64,
    pub(super) name: Vec<u8>,
    pub(super) what: What,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum What {
    /// The base image's directory, named because something below it is.
    Anchor,
    /// The base image has something here that was removed.
    Removed,
    /// What the base image has here looks otherwise now.
    Restyled(Look),
    /// A file of the base image that holds something else now.
    Rewritten(Look, Held),
    Dir(Look),
    File(Look, Held),
    Symlink(Look, Vec<u8>),
    /// One more name for what the record of this number made.
    HardLink(u64),
    /// One more name for what the base image has at this path.
    BaseLink(Vec<u8>),
    /// A named pipe, which holds nothing.
    Fifo(Look),
}

/// Attributes that are kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Look {
    pub(super) mode: u32,
    pub(super) uid: u32,
    pub(super) gid: u32,
    pub(super) atime: u64,
    pub(super) mtime: u64,
    pub(super) ctime: u64,
}

impl Look {
    pub(super) fn of(stat: &Stat) -> Self {
        let Stat { mode, uid, gid, atime, mtime, ctime, .. } = *stat;
        Self { mode, uid, gid, atime, mtime, ctime }
    }

    pub(super) fn on(&self, stat: Stat) -> Stat {
        let Self { mode, uid, gid, atime, mtime, ctime } = *self;
        Stat { mode, uid, gid, atime, mtime, ctime, ..stat }
    }

    fn write(&self, to: &mut Writer) {
        let (mode, uid, gid) = (u64::from(self.mode), u64::from(self.uid), u64::from(self.gid));
        // Times differ little from each other, so the differences are short; wrapping keeps them exact.
        let times = [self.mtime, self.ctime.wrapping_sub(self.mtime), self.atime.wrapping_sub(self.mtime)];
        [mode, uid, gid].into_iter().chain(times).for_each(|number| to.number(number));
    }

    fn read(from: &mut Reader<'_>) -> Result<Self> {
        let (mode, uid, gid) = (from.small()?, from.small()?, from.small()?);
        let mtime = from.number()?;
        let (ctime, atime) = (from.number()?.wrapping_add(mtime), from.number()?.wrapping_add(mtime));
        Ok(Self { mode, uid, gid, atime, mtime, ctime })
    }
}

/// What a file holds: its length, and the numbers of its blocks and what each is in the list of all blocks.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Held {
    pub(super) len: u64,
    pub(super) blocks: Vec<(u64, u64)>,
}

impl Held {
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
            // In order and within the file, so that a few bytes cannot claim a list without end.
            let good = blocks.last().is_none_or(|&(last, _)| last < index) && index <= len / BLOCK_BYTES as u64;
            if !good {
                return Err(damaged("the blocks of a file are in disorder"));
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
        match &self.what {
            What::Anchor => to.number(0),
            What::Removed => to.number(1),
            What::Restyled(look) => {
                to.number(2);
                look.write(to);
            }
            What::Rewritten(look, held) => {
                to.number(3);
                look.write(to);
                held.write(to);
            }
            What::Dir(look) => {
                to.number(4);
                look.write(to);
            }
            What::File(look, held) => {
                to.number(5);
                look.write(to);
                held.write(to);
            }
            What::Symlink(look, target) => {
                to.number(6);
                look.write(to);
                to.bytes(target);
            }
            What::HardLink(first) => {
                to.number(7);
                to.number(*first);
            }
            What::BaseLink(path) => {
                to.number(8);
                to.bytes(path);
            }
            What::Fifo(look) => {
                to.number(9);
                look.write(to);
            }
        }
    }

    pub(super) fn read(from: &mut Reader<'_>, limits: &Limits) -> Result<Self> {
        let (parent, name) = (from.number()?, from.bytes(LONGEST)?.to_vec());
        let what = match from.number()? {
            0 => What::Anchor,
            1 => What::Removed,
            2 => What::Restyled(Look::read(from)?),
            3 => What::Rewritten(Look::read(from)?, Held::read(from, limits)?),
            4 => What::Dir(Look::read(from)?),
            5 => What::File(Look::read(from)?, Held::read(from, limits)?),
            6 => What::Symlink(Look::read(from)?, from.bytes(LONGEST)?.to_vec()),
            7 => What::HardLink(from.number()?),
            8 => What::BaseLink(from.bytes(LONGEST)?.to_vec()),
            9 => What::Fifo(Look::read(from)?),
            _ => return Err(damaged("there is a record of a kind that is not known")),
        };
        Ok(Self { parent, name, what })
    }
}
