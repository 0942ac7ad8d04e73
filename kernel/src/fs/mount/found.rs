//! The objects of mounts that the kernel has numbers for.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::Arc;

use super::buffer::Buffer;
use super::port::{Access, EntryKind, Metadata, MountFile};
use crate::fs::Ino;
use crate::fs::name::Name;
use crate::fs::table::Table;

/// Objects that are remembered at most, apart from those in use: a program that walks a large tree, or makes and
/// removes files for ever, must not fill the host's memory with numbers. About 13 MiB.
const REMEMBERED: usize = 65_536;

/// Directories whose listing is kept, and names in all of them together. A listing serves the calls that page through
/// one directory; it is made anew when a program begins to read the directory.
const LISTINGS: usize = 64;
const LISTED_NAMES: usize = 131_072;

/// Open files that are kept for reading and writing again. Further ones are opened for each call.
const KEPT_OPEN: usize = 128;

/// Names in a directory of a mount.
pub(super) type Listing = BTreeMap<Name, EntryKind>;

/// One object of a mount, found by its name in a directory.
#[derive(Debug)]
pub(super) struct Entry {
    pub(super) device: u32,
    /// The directory that it was found in.
    pub(super) parent: Ino,
    pub(super) name: Name,
    pub(super) kind: EntryKind,
    /// What was known when it was last looked up.
    pub(super) metadata: Option<Metadata>,
    /// Its name was taken; it lives while it is held.
    pub(super) gone: bool,
    pub(super) reader: Option<Arc<dyn MountFile>>,
    pub(super) writer: Option<Arc<dyn MountFile>>,
    pub(super) buffer: Option<Box<Buffer>>,
    touched: u64,
}

#[derive(Debug, Default)]
pub(super) struct Found {
    pub(super) entries: BTreeMap<Ino, Entry>,
    names: BTreeMap<Ino, BTreeMap<Name, Ino>>,
    /// Which inode of the tree has taken the place of an object.
    raised: BTreeMap<Ino, Ino>,
    /// The other way round: by which number such an inode goes on being known.
    shown: BTreeMap<Ino, Ino>,
    /// The directory whose listing was made last, if nobody has used it yet.
    pub(super) checked: Option<Ino>,
    listings: VecDeque<(Ino, Arc<Listing>)>,
    /// Open files that are kept.
    open: usize,
    made: u64,
    clock: u64,
}

impl Found {
    /// The inode that has taken the place of `ino`, as long as it lives; else `ino`.
    pub(super) fn own(&self, ino: Ino, table: &Table) -> Ino {
        self.raised.get(&ino).copied().filter(|&raised| table.get(raised).is_some()).unwrap_or(ino)
    }

    /// The number by which programs know an inode.
    pub(super) fn shown(&self, ino: Ino) -> Ino {
        self.shown.get(&ino).copied().unwrap_or(ino)
    }

    /// The number of what is called `name` in `dir`, which is a shown number.
    pub(super) fn number(
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
                // Somebody else has put another thing there.
                _ => self.detach(ino),
            }
        }
        self.made += 1;
        let ino = Ino::foreign(self.made);
        let name = Name::new(name);
        self.names.entry(dir).or_default().insert(name.clone(), ino);
        let touched = self.clock;
        let entry = Entry {
            device,
            parent: dir,
            name,
            kind,
            metadata,
            gone: false,
            reader: None,
            writer: None,
            buffer: None,
            touched,
        };
        self.entries.insert(ino, entry);
        ino
    }

    /// Takes an object's name from it.
    pub(super) fn detach(&mut self, ino: Ino) {
        let Some(entry) = self.entries.get_mut(&ino).filter(|entry| !entry.gone) else { return };
        entry.gone = true;
        let (parent, name) = (entry.parent, entry.name.clone());
        self.unname(parent, &name);
    }

    fn unname(&mut self, parent: Ino, name: &Name) {
        if let Some(names) = self.names.get_mut(&parent) {
            names.remove(name);
            if names.is_empty() {
                self.names.remove(&parent);
            }
        }
    }

    /// Gives an object another name.
    pub(super) fn rename(&mut self, ino: Ino, parent: Ino, name: &Name) {
        let Some(entry) = self.entries.get_mut(&ino).filter(|entry| !entry.gone) else { return };
        let old_parent = core::mem::replace(&mut entry.parent, parent);
        let old_name = core::mem::replace(&mut entry.name, name.clone());
        self.unname(old_parent, &old_name);
        self.names.entry(parent).or_default().insert(name.clone(), ino);
    }

    /// The number of a name that was looked up before.
    pub(super) fn known(&self, dir: Ino, name: &[u8]) -> Option<Ino> {
        self.names.get(&dir)?.get(name).copied()
    }

    /// Forgets an object.
    pub(super) fn remove(&mut self, ino: Ino) {
        self.detach(ino);
        self.close(ino);
    }

    /// From now on `raised`, an inode of the tree, stands for the object.
    pub(super) fn raise(&mut self, ino: Ino, raised: Ino) {
        self.remove(ino);
        self.raised.insert(ino, raised);
        self.shown.insert(raised, ino);
    }

    /// An inode of the tree was freed.
    pub(super) fn freed(&mut self, raised: Ino) {
        if let Some(ino) = self.shown.remove(&raised) {
            self.raised.remove(&ino);
        }
    }

    /// The table went back to an older one: what it has lost stands for nothing any more.
    pub(super) fn rolled_back(&mut self, table: &Table) {
        self.raised.retain(|_, raised| table.get(*raised).is_some());
        self.shown.retain(|raised, _| table.get(*raised).is_some());
        self.listings.clear();
    }

    pub(super) fn touch(&mut self, ino: Ino) {
        self.clock += 1;
        if let Some(entry) = self.entries.get_mut(&ino) {
            entry.touched = self.clock;
        }
    }

    /// An open file that was kept for an object.
    pub(super) fn kept_open(&self, ino: Ino, access: Access) -> Option<Arc<dyn MountFile>> {
        let entry = self.entries.get(&ino)?;
        match access {
            Access::Read => entry.reader.clone(),
            Access::Write => entry.writer.clone(),
        }
    }

    /// Keeps an open file until [`Self::close`], unless there are too many already; `must` says that it is the last way
    /// to the file.
    pub(super) fn keep_open(&mut self, ino: Ino, access: Access, file: &Arc<dyn MountFile>, must: bool) {
        if self.open >= KEPT_OPEN && !must {
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

    /// Lets go of the open files of an object, and forgets one that has no name.
    pub(super) fn close(&mut self, ino: Ino) {
        let Some(entry) = self.entries.get_mut(&ino) else { return };
        let closed = usize::from(entry.reader.take().is_some()) + usize::from(entry.writer.take().is_some());
        self.open = self.open.saturating_sub(closed);
        if entry.gone {
            self.entries.remove(&ino);
        }
    }

    /// The mounted file system has got what an object's buffer holds; what was open shows the old bytes.
    pub(super) fn stored(&mut self, ino: Ino) {
        let Some(entry) = self.entries.get_mut(&ino) else { return };
        if let Some(buffer) = &mut entry.buffer {
            buffer.dirty = false;
        }
        entry.metadata = None;
        self.open = self.open.saturating_sub(usize::from(entry.reader.take().is_some()));
    }

    /// Forgets what was not used for long when there is much of it.
    pub(super) fn trim(&mut self, held: impl Fn(Ino) -> bool) {
        if self.entries.len() < REMEMBERED {
            return;
        }
        let recent = self.clock.saturating_sub(REMEMBERED as u64 / 2);
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
        self.listings.truncate(LISTINGS);
        let mut names = 0;
        let fitting = self.listings.iter().take_while(|(_, listing)| {
            names += listing.len();
            names <= LISTED_NAMES
        });
        let fitting = fitting.count();
        self.listings.truncate(fitting.max(1));
    }

    /// A name of a directory was given or taken by the sandbox itself.
    pub(super) fn relist(&mut self, dir: Ino, name: &[u8], kind: Option<EntryKind>) {
        let Some((_, listing)) = self.listings.iter_mut().find(|(of, _)| *of == dir) else { return };
        let listing = Arc::make_mut(listing);
        match kind {
            Some(kind) => listing.insert(Name::new(name), kind),
            None => listing.remove(name),
        };
    }
}
