//! Table of the mount objects that have inode numbers.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::Arc;

use super::api::{Access, EntryKind, Metadata, MountFile};
use super::buffer::Buffer;
use crate::fs::Ino;
use crate::fs::name::Name;
use crate::fs::table::Table;

/// Maximum number of cached objects, excluding those in use. Bounds host memory if a program walks a large tree, or creates and
/// removes files forever. About 13 MiB.
const MAX_CACHED_OBJECTS: usize = 65_536;

/// Maximum number of cached listings, and of names in all of them. A listing serves the calls that page through one directory; it
/// is recreated when a program starts to read the directory.
const MAX_CACHED_LISTINGS: usize = 64;
const LISTED_NAMES: usize = 131_072;

/// Maximum number of cached open files. Further files are opened for each call.
const MAX_CACHED_FILES: usize = 128;

/// Names in a directory of a mount.
pub(super) type Listing = BTreeMap<Name, EntryKind>;

/// One object of a mount, identified by its parent and name.
#[derive(Debug)]
pub(super) struct ObjectEntry {
    pub(super) device: u32,
    /// The parent directory.
    pub(super) parent: Ino,
    pub(super) name: Name,
    pub(super) kind: EntryKind,
    /// Metadata of the last lookup.
    pub(super) metadata: Option<Metadata>,
    /// The object was unlinked; it exists while it is held.
    pub(super) unlinked: bool,
    pub(super) reader: Option<Arc<dyn MountFile>>,
    pub(super) writer: Option<Arc<dyn MountFile>>,
    pub(super) buffer: Option<Box<Buffer>>,
    touched: u64,
}

#[derive(Debug, Default)]
pub(super) struct ObjectTable {
    pub(super) entries: BTreeMap<Ino, ObjectEntry>,
    names: BTreeMap<Ino, BTreeMap<Name, Ino>>,
    /// Object number to the inode of the tree that replaced it (upper).
    upper_of: BTreeMap<Ino, Ino>,
    /// The reverse: upper inode to the number that guests continue to see.
    lower_of: BTreeMap<Ino, Ino>,
    /// The directory of the most recent listing, if it is unused.
    pub(super) checked: Option<Ino>,
    listings: VecDeque<(Ino, Arc<Listing>)>,
    /// Number of cached open files.
    open: usize,
    next_id: u64,
    clock: u64,
}

impl ObjectTable {
    /// Returns the upper inode of `ino` while it exists; else `ino`.
    pub(super) fn upper_or_self(&self, ino: Ino, table: &Table) -> Ino {
        self.upper_of.get(&ino).copied().filter(|&upper| table.get(upper).is_some()).unwrap_or(ino)
    }

    /// Returns the number that guests see for an inode.
    pub(super) fn lower_of(&self, ino: Ino) -> Ino {
        self.lower_of.get(&ino).copied().unwrap_or(ino)
    }

    /// Returns the number of the entry `name` in `dir`; `dir` is a guest-visible number.
    pub(super) fn get_or_insert(
        &mut self,
        device: u32,
        dir: Ino,
        name: &[u8],
        kind: EntryKind,
        metadata: Option<Metadata>,
    ) -> Ino {
        self.clock += 1;
        let known = self.names.get(&dir).and_then(|names| names.get(name)).copied();
        if let Some(ino) = known {
            match self.entries.get_mut(&ino) {
                Some(entry) if entry.kind == kind && entry.device == device => {
                    entry.touched = self.clock;
                    entry.metadata = metadata.or(entry.metadata);
                    return ino;
                }
                // The mounted file system has replaced the object with one of another kind.
                _ => self.unlink(ino),
            }
        }
        self.next_id += 1;
        let ino = Ino::mount_object(self.next_id);
        let name = Name::new(name);
        self.names.entry(dir).or_default().insert(name.clone(), ino);
        let touched = self.clock;
        let entry = ObjectEntry {
            device,
            parent: dir,
            name,
            kind,
            metadata,
            unlinked: false,
            reader: None,
            writer: None,
            buffer: None,
            touched,
        };
        self.entries.insert(ino, entry);
        ino
    }

    /// Removes the name of an object.
    pub(super) fn unlink(&mut self, ino: Ino) {
        let Some(entry) = self.entries.get_mut(&ino).filter(|entry| !entry.unlinked) else { return };
        entry.unlinked = true;
        let (parent, name) = (entry.parent, entry.name.clone());
        self.remove_name(parent, &name);
    }

    fn remove_name(&mut self, parent: Ino, name: &Name) {
        if let Some(names) = self.names.get_mut(&parent) {
            names.remove(name);
            if names.is_empty() {
                self.names.remove(&parent);
            }
        }
    }

    /// Renames an object.
    pub(super) fn rename(&mut self, ino: Ino, parent: Ino, name: &Name) {
        let Some(entry) = self.entries.get_mut(&ino).filter(|entry| !entry.unlinked) else { return };
        let old_parent = core::mem::replace(&mut entry.parent, parent);
        let old_name = core::mem::replace(&mut entry.name, name.clone());
        self.remove_name(old_parent, &old_name);
        self.names.entry(parent).or_default().insert(name.clone(), ino);
    }

    /// Returns the number of a name that was looked up before.
    pub(super) fn get(&self, dir: Ino, name: &[u8]) -> Option<Ino> {
        self.names.get(&dir)?.get(name).copied()
    }

    /// Removes an object from the table.
    pub(super) fn remove(&mut self, ino: Ino) {
        self.unlink(ino);
        self.close(ino);
    }

    /// Sets `upper_of`, an inode of the tree, as the upper inode of the object.
    pub(super) fn set_upper(&mut self, ino: Ino, upper: Ino) {
        self.remove(ino);
        self.upper_of.insert(ino, upper);
        self.lower_of.insert(upper, ino);
    }

    /// Handles a freed inode of the tree.
    pub(super) fn on_upper_freed(&mut self, upper: Ino) {
        if let Some(ino) = self.lower_of.remove(&upper) {
            self.upper_of.remove(&ino);
        }
    }

    /// Drops the upper inodes that an older, restored table does not have.
    pub(super) fn on_restore(&mut self, table: &Table) {
        self.upper_of.retain(|_, upper| table.get(*upper).is_some());
        self.lower_of.retain(|upper, _| table.get(*upper).is_some());
        self.listings.clear();
    }

    pub(super) fn touch(&mut self, ino: Ino) {
        self.clock += 1;
        if let Some(entry) = self.entries.get_mut(&ino) {
            entry.touched = self.clock;
        }
    }

    /// Returns the cached open file of an object.
    pub(super) fn cached_file(&self, ino: Ino, access: Access) -> Option<Arc<dyn MountFile>> {
        let entry = self.entries.get(&ino)?;
        match access {
            Access::Read => entry.reader.clone(),
            Access::Write => entry.writer.clone(),
        }
    }

    /// Caches an open file until [`Self::close`], unless the cache is full; `must` forces it, for a file that cannot be opened
    /// again.
    pub(super) fn cache_file(&mut self, ino: Ino, access: Access, file: &Arc<dyn MountFile>, must: bool) {
        if self.open >= MAX_CACHED_FILES && !must {
            return;
        }
        let Some(entry) = self.entries.get_mut(&ino) else { return };
        let slot = match access {
            Access::Read => &mut entry.reader,
            Access::Write => &mut entry.writer,
        };
        if slot.replace(Arc::clone(file)).is_none() {
            self.open += 1;
        }
    }

    /// Closes the cached open files of an object, and removes an unlinked one.
    pub(super) fn close(&mut self, ino: Ino) {
        let Some(entry) = self.entries.get_mut(&ino) else { return };
        let closed = usize::from(entry.reader.take().is_some()) + usize::from(entry.writer.take().is_some());
        self.open = self.open.saturating_sub(closed);
        if entry.unlinked {
            self.entries.remove(&ino);
        }
    }

    /// Handles a flushed buffer; the cached open files show the old bytes.
    pub(super) fn on_flushed(&mut self, ino: Ino) {
        let Some(entry) = self.entries.get_mut(&ino) else { return };
        if let Some(buffer) = &mut entry.buffer {
            buffer.dirty = false;
        }
        entry.metadata = None;
        self.open = self.open.saturating_sub(usize::from(entry.reader.take().is_some()));
    }

    /// Evicts unused objects if the table is too large.
    pub(super) fn evict(&mut self, held: impl Fn(Ino) -> bool) {
        if self.entries.len() < MAX_CACHED_OBJECTS {
            return;
        }
        let recent = self.clock.saturating_sub(MAX_CACHED_OBJECTS as u64 / 2);
        let mut kept = BTreeSet::new();
        for (&ino, entry) in &self.entries {
            if !(entry.touched > recent || entry.buffer.is_some() || held(ino)) {
                continue;
            }
            let mut at = Some(ino);
            while let Some(ino) = at.filter(|ino| self.entries.contains_key(ino)) {
                if !kept.insert(ino) {
                    break;
                }
                at = self.entries.get(&ino).map(|entry| entry.parent);
            }
        }
        let dropped: Vec<Ino> = self.entries.keys().copied().filter(|ino| !kept.contains(ino)).collect();
        for ino in dropped {
            self.remove(ino);
        }
    }

    pub(super) fn listing(&self, dir: Ino) -> Option<Arc<Listing>> {
        self.listings.iter().find(|(of, _)| *of == dir).map(|(_, listing)| Arc::clone(listing))
    }

    pub(super) fn keep_listing(&mut self, dir: Ino, listing: Arc<Listing>) {
        self.listings.retain(|(of, _)| *of != dir);
        self.listings.push_front((dir, listing));
        self.listings.truncate(MAX_CACHED_LISTINGS);
        let mut names = 0;
        let fitting = self.listings.iter().take_while(|(_, listing)| {
            names += listing.len();
            names <= LISTED_NAMES
        });
        let fitting = fitting.count();
        self.listings.truncate(fitting.max(1));
    }

    /// Updates a cached listing after the sandbox has created or removed a name.
    pub(super) fn update_listing(&mut self, dir: Ino, name: &[u8], kind: Option<EntryKind>) {
        let Some((_, listing)) = self.listings.iter_mut().find(|(of, _)| *of == dir) else { return };
        let listing = Arc::make_mut(listing);
        match kind {
            Some(kind) => listing.insert(Name::new(name), kind),
            None => listing.remove(name),
        };
    }
}
