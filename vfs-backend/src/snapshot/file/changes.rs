//! Changes between two snapshots of one sandbox, as bytes: what differs, whatever the number of files.
//!
//! ```text
//! shell     0, or 1 and the state of the shell session
//! locations of inodes of the earlier snapshot: number of the directory, name
//! removed   names: number of the directory, name
//! new       inodes: kind, attributes, content of a file or target of a link
//! added     names: number of the directory, name, number of the inode
//! changed   inodes: number, attributes, 0 or 1 and the content of a file
//! ```
//!
//! Each list starts with its length. Inodes are numbered: the root is 0, then follow the located ones, then the new ones. Locations are
//! looked up and removed names are taken away before anything is added, so no order of moves matters.

use std::collections::HashMap;

use tidebox_core::{FileError, FileErrorCode, Limits, Result};
use tidebox_kernel::fs::{BLOCK_BYTES, Contents, EntryChange, Ino, InodeChange, InodeLocation, Kind, TreeChanges};

use super::container::{self, ContainerKind, Packing};
use super::corrupt_snapshot;
use super::record::Attributes;
use super::wire::{Reader, Writer};

/// Kinds of new inodes.
pub(super) const DIR: u64 = 0;
pub(super) const FILE: u64 = 1;
pub(super) const SYMLINK: u64 = 2;
pub(super) const FIFO: u64 = 3;

/// Encodes changes. `None` if they contain something that only the host can create.
pub(super) fn encode(tree: &TreeChanges, root: Ino, shell_state: Option<&[u8]>, packing: Packing) -> Option<Vec<u8>> {
    let mut encoder = ChangeEncoder { to: Writer::default(), numbers: HashMap::from([(root, 0)]), blocks: Vec::new() };
    encoder.to.number(u64::from(shell_state.is_some()));
    if let Some(state) = shell_state {
        encoder.to.bytes(state);
    }
    encoder.locations(&tree.locations)?;
    encoder.entries(&tree.removed, false)?;
    encoder.new_inodes(tree.inodes.iter().filter(|inode| inode.is_new).collect())?;
    encoder.entries(&tree.added, true)?;
    encoder.changed_inodes(tree.inodes.iter().filter(|inode| !inode.is_new).collect())?;
    let blocks: Vec<&[u8]> = encoder
        .blocks
        .iter()
        .map(|&(contents, index, kept)| contents.block(index).get(kept..).unwrap_or_default())
        .collect();
    Some(container::write(ContainerKind::Changes, packing, &encoder.to.into_bytes(), &blocks))
}

struct ChangeEncoder<'a> {
    to: Writer,
    numbers: HashMap<Ino, u64>,
    /// Content, index in it, and length of the start that the earlier block has, too.
    blocks: Vec<(&'a Contents, u64, usize)>,
}

impl<'a> ChangeEncoder<'a> {
    fn number_of(&self, ino: Ino) -> Option<u64> {
        self.numbers.get(&ino).copied()
    }

    fn assign_number(&mut self, ino: Ino) {
        self.numbers.insert(ino, self.numbers.len() as u64);
    }

    fn locations(&mut self, locations: &[InodeLocation]) -> Option<()> {
        self.to.number(locations.len() as u64);
        for location in locations {
            self.to.number(self.number_of(location.dir)?);
            self.to.bytes(&location.name);
            self.assign_number(location.ino);
        }
        Some(())
    }

    fn entries(&mut self, entries: &[EntryChange], with_inode: bool) -> Option<()> {
        self.to.number(entries.len() as u64);
        for entry in entries {
            self.to.number(self.number_of(entry.dir)?);
            self.to.bytes(&entry.name);
            if with_inode {
                self.to.number(self.number_of(entry.ino)?);
            }
        }
        Some(())
    }

    fn new_inodes(&mut self, inodes: Vec<&'a InodeChange>) -> Option<()> {
        self.to.number(inodes.len() as u64);
        for inode in inodes {
            let kind = match inode.stat.kind {
                Kind::Dir => DIR,
                Kind::File => FILE,
                Kind::Symlink => SYMLINK,
                Kind::Fifo => FIFO,
                Kind::Device(_) => return None,
            };
            self.to.number(kind);
            Attributes::of(&inode.stat).write(&mut self.to);
            match (&inode.contents, &inode.target) {
                (Some((contents, blocks)), _) if kind == FILE => self.content(contents, blocks),
                (_, Some(target)) if kind == SYMLINK => self.to.bytes(target),
                _ if kind == FILE || kind == SYMLINK => return None,
                _ => {}
            }
            self.assign_number(inode.ino);
        }
        Some(())
    }

    fn changed_inodes(&mut self, inodes: Vec<&'a InodeChange>) -> Option<()> {
        self.to.number(inodes.len() as u64);
        for inode in inodes {
            self.to.number(self.number_of(inode.ino)?);
            Attributes::of(&inode.stat).write(&mut self.to);
            self.to.number(u64::from(inode.contents.is_some()));
            if let Some((contents, blocks)) = &inode.contents {
                self.content(contents, blocks);
            }
        }
        Some(())
    }

    /// Writes the length, and for each changed block its index, the length of its common start and the number of the block with
    /// the rest, counted from 1; 0 without a rest.
    fn content(&mut self, contents: &'a Contents, blocks: &[(u64, usize)]) {
        self.to.number(contents.len());
        self.to.number(blocks.len() as u64);
        for &(index, kept) in blocks {
            let has_rest = contents.block(index).len() > kept;
            if has_rest {
                self.blocks.push((contents, index, kept));
            }
            self.to.number(index);
            self.to.number(kept as u64);
            self.to.number(if has_rest { self.blocks.len() as u64 } else { 0 });
        }
    }
}

/// Changed content of a file, as read.
pub(super) struct ContentChange {
    pub(super) len: u64,
    /// Index, length of the common start, and number of the block with the rest.
    pub(super) blocks: Vec<(u64, usize, u64)>,
}

impl ContentChange {
    pub(super) fn read(from: &mut Reader<'_>, limits: &Limits) -> Result<Self> {
        let (len, count) = (from.number()?, from.number()?);
        if len > limits.single_file_bytes {
            let message = "a file of the changes is larger than one may be";
            return Err(FileError::new(FileErrorCode::TooLarge, message).into());
        }
        let mut blocks: Vec<(u64, usize, u64)> = Vec::new();
        for _ in 0..count {
            let (index, kept, number) = (from.number()?, from.number()?, from.number()?);
            let kept = usize::try_from(kept).ok().filter(|&kept| kept <= BLOCK_BYTES);
            // In order, so that a few bytes cannot declare an endless list.
            let kept = kept.filter(|_| blocks.last().is_none_or(|&(last, ..)| last < index));
            blocks.push((index, kept.ok_or_else(|| corrupt_snapshot("the blocks of a file are in disorder"))?, number));
        }
        Ok(Self { len, blocks })
    }
}
