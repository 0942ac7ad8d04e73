//! The inode table: chunks of inodes that snapshots share and writers copy.

use std::sync::Arc;

use super::Ino;
use super::node::Node;

/// Inodes that are copied together when the first of them changes after a snapshot. Larger makes that first change
/// dearer (32 inodes are 4 KiB), smaller makes the table of a large tree longer.
const CHUNK: usize = 32;

/// Generations of a slot. Numbers with bit 62 or 63 are not the table's (objects of mounts, `/proc`), so a slot that was
/// used this often is used no more.
const GENERATIONS: u32 = 1 << 30;

/// End of the list of vacant slots.
const NONE: u32 = u32::MAX;

type Chunk = [Slot; CHUNK];

#[derive(Clone, Debug)]
enum Slot {
    Vacant { generation: u32, next: u32 },
    Live { generation: u32, node: Node },
}

/// Inode numbers are a slot plus one in the low half and the slot's generation in the high half, so that the number of
/// a freed inode never leads to another file.
///
/// Cloning costs one reference count, whatever the number of inodes.
#[derive(Clone, Debug)]
pub(super) struct Table {
    chunks: Arc<Vec<Arc<Chunk>>>,
    vacant: u32,
    /// No new inode gets a lower generation. Restoring an old table raises it above all that were ever handed out.
    floor: u32,
    highest: u32,
}

impl Table {
    pub(super) fn new() -> Self {
        Self { chunks: Arc::default(), vacant: NONE, floor: 0, highest: 0 }
    }

    pub(super) fn get(&self, ino: Ino) -> Option<&Node> {
        let (wanted, index) = split(ino)?;
        match self.chunks.get(index / CHUNK)?.get(index % CHUNK)? {
            Slot::Live { generation, node } if *generation == wanted => Some(node),
            _ => None,
        }
    }

    /// Whether nothing was changed since one was cloned from the other.
    pub(super) fn is_same(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.chunks, &other.chunks)
    }

    /// Whether both have an inode, and the chunk that it lies in was not copied since one was cloned from the other.
    pub(super) fn shares(&self, other: &Self, ino: Ino) -> bool {
        let chunk = |table: &Self| {
            let (_, index) = split(ino)?;
            table.chunks.get(index / CHUNK).map(Arc::as_ptr)
        };
        chunk(self).is_some() && chunk(self) == chunk(other)
    }

    pub(super) fn get_mut(&mut self, ino: Ino) -> Option<&mut Node> {
        // Asked first, so that a stale number copies nothing.
        self.get(ino)?;
        let (_, index) = split(ino)?;
        match self.slot_mut(index)? {
            Slot::Live { node, .. } => Some(node),
            Slot::Vacant { .. } => None,
        }
    }

    /// Stores a node, or gives `None` when four thousand million slots are in use.
    pub(super) fn insert(&mut self, node: Node) -> Option<Ino> {
        if self.vacant == NONE {
            self.add_chunk()?;
        }
        let (index, floor) = (self.vacant, self.floor);
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

    /// Takes the contents of an older table without ever reusing a number that this one handed out since.
    pub(super) fn roll_back_to(&mut self, older: &Self) {
        let floor = self.highest.max(older.highest).wrapping_add(1);
        *self = Self { floor, highest: floor, ..older.clone() };
    }

    /// Numbers of all inodes there are.
    #[cfg(test)]
    pub(super) fn live(&self) -> Vec<Ino> {
        let slots = (0..).zip(self.chunks.iter().flat_map(|chunk| chunk.iter()));
        slots
            .filter_map(|(index, slot)| match slot {
                Slot::Live { generation, .. } => Some(join(*generation, index)),
                Slot::Vacant { .. } => None,
            })
            .collect()
    }

    fn slot_mut(&mut self, index: usize) -> Option<&mut Slot> {
        let chunk = Arc::make_mut(&mut self.chunks).get_mut(index / CHUNK)?;
        Arc::make_mut(chunk).get_mut(index % CHUNK)
    }

    fn add_chunk(&mut self) -> Option<()> {
        let first = u32::try_from(self.chunks.len().checked_mul(CHUNK)?).ok()?;
        // One less than the largest number stays free for the end of the list and for the `+ 1` of inode numbers.
        let end = first.checked_add(CHUNK as u32)?.checked_add(1)? - 1;
        let slot = |at: usize| {
            let after = first + at as u32 + 1;
            Slot::Vacant { generation: 0, next: if after == end { NONE } else { after } }
        };
        Arc::make_mut(&mut self.chunks).push(Arc::new(core::array::from_fn(slot)));
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
