//! The inode table: chunks of inodes, shared by snapshots and copied on write.

use std::sync::Arc;

use super::Ino;
use super::node::Node;

/// Inodes per chunk, copied together on the first change after a snapshot. A larger value makes that first change more expensive:
/// 16 inodes are 2.5 KiB.
const CHUNK: usize = 16;

/// Chunks per page. The list of a page is copied on its first change after a snapshot, so that this change and a comparison cost
/// the same for a large tree as for a small one.
const PAGE: usize = 64;

/// Generations of a slot. Numbers with bit 62 or 63 are reserved (mount objects, `/proc`), so a slot is retired after this many
/// uses.
const GENERATIONS: u32 = 1 << 30;

/// End of the list of vacant slots.
const NONE: u32 = u32::MAX;

type Chunk = [Slot; CHUNK];

type Page = Vec<Arc<Chunk>>;

/// An inode that exists in a table.
pub(super) type Live<'a> = (Ino, &'a Node);

#[derive(Clone, Debug)]
enum Slot {
    Vacant { generation: u32, next: u32 },
    Live { generation: u32, node: Node },
}

/// The inode table. An inode number is the slot plus one in the low half and the slot's generation in the high half, so that the
/// number of a freed inode never leads to another file.
///
/// Cloning costs one reference count, independent of the number of inodes.
#[derive(Clone, Debug)]
pub(super) struct Table {
    pages: Arc<Vec<Arc<Page>>>,
    vacant: u32,
    /// No new inode gets a lower generation. Restoring an old table sets it above all generations that were ever assigned.
    min_generation: u32,
    highest: u32,
}

impl Table {
    pub(super) fn new() -> Self {
        Self { pages: Arc::default(), vacant: NONE, min_generation: 0, highest: 0 }
    }

    pub(super) fn get(&self, ino: Ino) -> Option<&Node> {
        let (requested, index) = split(ino)?;
        match self.chunk(index)?.get(index % CHUNK)? {
            Slot::Live { generation, node } if *generation == requested => Some(node),
            _ => None,
        }
    }

    /// Returns whether nothing was changed since one was cloned from the other.
    pub(super) fn is_same(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.pages, &other.pages)
    }

    /// Returns whether both have an inode, and its chunk was not copied since one was cloned from the other.
    pub(super) fn shares(&self, other: &Self, ino: Ino) -> bool {
        let chunk = |table: &Self| {
            let (_, index) = split(ino)?;
            table.chunk(index).map(Arc::as_ptr)
        };
        chunk(self).is_some() && chunk(self) == chunk(other)
    }

    /// Returns the slots of all chunks that are not shared with `after`, as the inodes on both sides.
    pub(super) fn unshared_slots<'a>(
        &'a self,
        after: &'a Self,
    ) -> impl Iterator<Item = (Option<Live<'a>>, Option<Live<'a>>)> {
        let (old, new) = (&self.pages, &after.pages);
        let pages = (0..old.len().max(new.len())).map(|at| (at, old.get(at), new.get(at)));
        let pages = pages.filter(|&(_, old, new)| old.map(Arc::as_ptr) != new.map(Arc::as_ptr));
        let chunks = pages.flat_map(|(page, old, new)| {
            let chunk = |page: Option<&'a Arc<Page>>, at: usize| page.and_then(|page| page.get(at));
            (0..PAGE).map(move |at| (page * PAGE + at, chunk(old, at), chunk(new, at)))
        });
        let chunks = chunks.filter(|&(_, old, new)| old.map(Arc::as_ptr) != new.map(Arc::as_ptr));
        chunks.flat_map(|(number, old, new)| {
            let live = move |chunk: Option<&'a Arc<Chunk>>, at: usize| match chunk?.get(at)? {
                Slot::Live { generation, node } => {
                    Some((join(*generation, u32::try_from(number * CHUNK + at).ok()?), node))
                }
                Slot::Vacant { .. } => None,
            };
            (0..CHUNK).map(move |at| (live(old, at), live(new, at)))
        })
    }

    pub(super) fn get_mut(&mut self, ino: Ino) -> Option<&mut Node> {
        // Check first, so that a stale number copies nothing.
        self.get(ino)?;
        let (_, index) = split(ino)?;
        match self.slot_mut(index)? {
            Slot::Live { node, .. } => Some(node),
            Slot::Vacant { .. } => None,
        }
    }

    /// Stores a node; `None` if 2^32 slots are in use.
    pub(super) fn insert(&mut self, node: Node) -> Option<Ino> {
        if self.vacant == NONE {
            self.add_chunk()?;
        }
        let (index, floor) = (self.vacant, self.min_generation);
        let slot = self.slot_mut(index as usize)?;
        let Slot::Vacant { generation, next } = *slot else { return None };
        let generation = generation.max(floor);
        if generation >= GENERATIONS {
            return None;
        }
        *slot = Slot::Live { generation, node };
        self.vacant = next;
        self.highest = self.highest.max(generation);
        Some(join(generation, index))
    }

    pub(super) fn remove(&mut self, ino: Ino) -> Option<Node> {
        self.get(ino)?;
        let (generation, index) = split(ino)?;
        let next = self.vacant;
        let slot = self.slot_mut(index)?;
        let left = core::mem::replace(slot, Slot::Vacant { generation: generation.wrapping_add(1), next });
        if generation < GENERATIONS - 1 {
            self.vacant = u32::try_from(index).ok()?;
        }
        match left {
            Slot::Live { node, .. } => Some(node),
            Slot::Vacant { .. } => None,
        }
    }

    /// Takes the contents of an older table without ever reusing a number that this one has assigned since.
    pub(super) fn restore_from(&mut self, older: &Self) {
        let floor = self.highest.max(older.highest).wrapping_add(1);
        *self = Self { min_generation: floor, highest: floor, ..older.clone() };
    }

    /// Returns all existing inodes.
    pub(super) fn live_inodes(&self) -> impl Iterator<Item = Live<'_>> {
        let slots = (0..).zip(self.pages.iter().flat_map(|page| page.iter()).flat_map(|chunk| chunk.iter()));
        slots.filter_map(|(index, slot)| match slot {
            Slot::Live { generation, node } => Some((join(*generation, index), node)),
            Slot::Vacant { .. } => None,
        })
    }

    fn chunk(&self, index: usize) -> Option<&Arc<Chunk>> {
        self.pages.get(index / CHUNK / PAGE)?.get(index / CHUNK % PAGE)
    }

    fn slot_mut(&mut self, index: usize) -> Option<&mut Slot> {
        let page = Arc::make_mut(&mut self.pages).get_mut(index / CHUNK / PAGE)?;
        let chunk = Arc::make_mut(page).get_mut(index / CHUNK % PAGE)?;
        Arc::make_mut(chunk).get_mut(index % CHUNK)
    }

    fn add_chunk(&mut self) -> Option<()> {
        let full = self.pages.len().saturating_sub(1) * PAGE;
        let chunks = full + self.pages.last().map_or(0, |page| page.len());
        let first = u32::try_from(chunks.checked_mul(CHUNK)?).ok()?;
        // The largest number is reserved for the end of the list and for the `+ 1` of inode numbers.
        let end = first.checked_add(CHUNK as u32)?.checked_add(1)? - 1;
        let slot = |at: usize| {
            let after = first + at as u32 + 1;
            Slot::Vacant { generation: 0, next: if after == end { NONE } else { after } }
        };
        let chunk = Arc::new(core::array::from_fn(slot));
        let pages = Arc::make_mut(&mut self.pages);
        match pages.last_mut().filter(|page| page.len() < PAGE) {
            Some(page) => Arc::make_mut(page).push(chunk),
            None => pages.push(Arc::new(vec![chunk])),
        }
        self.vacant = first;
        Some(())
    }
}

fn split(ino: Ino) -> Option<(u32, usize)> {
    let index = (ino.0 as u32).checked_sub(1)?;
    Some(((ino.0 >> 32) as u32, index as usize))
}

fn join(generation: u32, index: u32) -> Ino {
    Ino(u64::from(generation) << 32 | (u64::from(index) + 1))
}
