//! Sandboxes of a provider, by id and by labels.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Bound;
use std::sync::Arc;

use tidebox_core::SandboxId;

use super::live::LiveSandbox;

#[derive(Debug)]
pub(super) struct Entry {
    pub(super) labels: BTreeMap<String, String>,
    pub(super) created: u64,
    pub(super) location: Location,
}

/// Location of a sandbox.
#[derive(Debug)]
pub(super) enum Location {
    Memory(Arc<LiveSandbox>),
    /// In the store only.
    Store {
        last_use: u64,
    },
}

impl Entry {
    fn has_labels(&self, labels: &BTreeMap<String, String>) -> bool {
        labels.iter().all(|(name, value)| self.labels.get(name) == Some(value))
    }

    /// Returns the time of the last use, and whether it is in use.
    pub(super) fn last_use(&self) -> (u64, bool) {
        match &self.location {
            Location::Memory(live) => live.last_use(),
            Location::Store { last_use: used } => (*used, false),
        }
    }

    /// Returns whether the sandbox was closed by its own handle, so that it is not in memory any more.
    fn is_closed(&self) -> bool {
        matches!(&self.location, Location::Memory(live) if live.sandbox.is_closed())
    }
}

/// All sandboxes. A lookup costs the same for ten as for a million: a sandbox that was closed is noticed when it is looked up.
#[derive(Debug)]
pub(super) struct Entries {
    by_id: BTreeMap<SandboxId, Entry>,
    /// Sandboxes with each label.
    by_label: BTreeMap<(String, String), BTreeSet<SandboxId>>,
    /// True if a closed sandbox is in the store. Otherwise it does not exist any more.
    is_saved: bool,
    /// Time before which no sandbox expires.
    next_expiry: u64,
}

impl Entries {
    pub(super) fn new(is_saved: bool) -> Self {
        Self { by_id: BTreeMap::new(), by_label: BTreeMap::new(), is_saved, next_expiry: u64::MAX }
    }

    pub(super) fn len(&self) -> usize {
        self.by_id.len()
    }

    /// Returns the time before which no sandbox expires.
    pub(super) fn next_expiry(&self) -> u64 {
        self.next_expiry
    }

    /// Adds or replaces a sandbox, which does not expire before `expiry`.
    pub(super) fn insert(&mut self, id: SandboxId, entry: Entry, expiry: u64) {
        self.remove(&id);
        for (name, value) in &entry.labels {
            self.by_label.entry((name.clone(), value.clone())).or_default().insert(id.clone());
        }
        self.by_id.insert(id, entry);
        self.next_expiry = self.next_expiry.min(expiry);
    }

    pub(super) fn remove(&mut self, id: &SandboxId) {
        let Some(entry) = self.by_id.remove(id) else { return };
        for label in entry.labels {
            if let Some(ids) = self.by_label.get_mut(&label) {
                ids.remove(id);
                if ids.is_empty() {
                    self.by_label.remove(&label);
                }
            }
        }
    }

    /// Returns a sandbox. Its location is up to date.
    pub(super) fn get(&mut self, id: &SandboxId) -> Option<&mut Entry> {
        if self.by_id.get(id)?.is_closed() {
            self.note_closed(id);
        }
        self.by_id.get_mut(id)
    }

    /// Moves a closed sandbox to the store, or removes it.
    fn note_closed(&mut self, id: &SandboxId) {
        if !self.is_saved {
            self.remove(id);
        } else if let Some(entry) = self.by_id.get_mut(id) {
            entry.location = Location::Store { last_use: entry.last_use().0 };
        }
    }

    /// Returns the first sandbox with all of these labels.
    pub(super) fn first_with(&mut self, labels: &BTreeMap<String, String>) -> Option<SandboxId> {
        let id = self.with_labels(labels, Bound::Unbounded).next()?.0.clone();
        self.get(&id);
        Some(id)
    }

    /// Returns the sandboxes with all of these labels after an id, in the order of their ids.
    pub(super) fn with_labels<'a>(
        &'a self,
        labels: &'a BTreeMap<String, String>,
        start: Bound<SandboxId>,
    ) -> Box<dyn Iterator<Item = (&'a SandboxId, &'a Entry)> + 'a> {
        let range = (start, Bound::Unbounded);
        let existing = move |entry: &Entry| self.is_saved || !entry.is_closed();
        // Only the sandboxes with the rarest of the labels can have all of them.
        let sets = labels.iter().map(|(name, value)| self.by_label.get(&(name.clone(), value.clone())));
        match sets.min_by_key(|set| set.map_or(0, BTreeSet::len)) {
            None => Box::new(self.by_id.range(range).filter(move |(_, entry)| existing(entry))),
            Some(None) => Box::new(std::iter::empty()),
            Some(Some(rarest)) => {
                let entries = rarest.range(range).filter_map(|id| Some((id, self.by_id.get(id)?)));
                Box::new(entries.filter(move |(_, entry)| entry.has_labels(labels) && existing(entry)))
            }
        }
    }

    /// Returns all sandboxes, after those that were closed are moved to the store or removed.
    pub(super) fn all(&mut self) -> impl Iterator<Item = (&SandboxId, &Entry)> {
        let closed: Vec<SandboxId> =
            self.by_id.iter().filter(|(_, entry)| entry.is_closed()).map(|(id, _)| id.clone()).collect();
        for id in &closed {
            self.note_closed(id);
        }
        self.by_id.iter()
    }

    /// Sets the time before which no sandbox expires.
    pub(super) fn set_next_expiry(&mut self, time: u64) {
        self.next_expiry = time;
    }
}
