//! The names of a directory: an ordered map in leaves, shared by snapshots and copied on write.

use std::ops::Bound;
use std::slice;
use std::sync::Arc;

use super::Ino;
use super::name::{Name, NameKey};

/// Names per leaf, copied together on the first change after a snapshot. A larger value makes that change more expensive (64 names
/// are 2 KiB), a smaller one makes the list of leaves of a large directory longer.
const LEAF: usize = 64;

type Leaf = Vec<(Name, Ino)>;

/// Receives a name and its inode on both sides.
pub(super) type Visitor<'a> = &'a mut dyn FnMut(&Name, Option<Ino>, Option<Ino>);

/// Names and their inodes, in byte order. No leaf is empty. Cloning and comparing cost one step per leaf.
#[derive(Clone, Debug, Default)]
pub(super) struct Entries {
    leaves: Vec<Arc<Leaf>>,
}

impl Entries {
    pub(super) fn is_empty(&self) -> bool {
        self.leaves.is_empty()
    }

    pub(super) fn get(&self, name: &[u8]) -> Option<Ino> {
        let key = NameKey::new(name);
        let leaf = self.leaves.get(self.leaf_of(&key))?;
        leaf.get(position(leaf, &key).ok()?).map(|&(_, ino)| ino)
    }

    /// Adds a name, or changes its inode.
    pub(super) fn insert(&mut self, name: Name, ino: Ino) {
        let key = NameKey::new(name.as_bytes());
        // A name after all others belongs to the last leaf.
        let index = self.leaf_of(&key).min(self.leaves.len().saturating_sub(1));
        let Some(shared) = self.leaves.get_mut(index) else {
            self.leaves.push(Arc::new(vec![(name, ino)]));
            return;
        };
        let found = position(shared, &key);
        if found == Err(LEAF) {
            // Names that arrive in order fill their leaves.
            self.leaves.push(Arc::new(vec![(name, ino)]));
            return;
        }
        let leaf = Arc::make_mut(shared);
        match found {
            Ok(at) => {
                if let Some(entry) = leaf.get_mut(at) {
                    entry.1 = ino;
                }
            }
            Err(at) if leaf.len() < LEAF => leaf.insert(at, (name, ino)),
            Err(at) => {
                let mut upper = leaf.split_off(LEAF / 2);
                match at.checked_sub(LEAF / 2) {
                    Some(at) => upper.insert(at, (name, ino)),
                    None => leaf.insert(at, (name, ino)),
                }
                self.leaves.insert(index + 1, Arc::new(upper));
            }
        }
    }

    pub(super) fn remove(&mut self, name: &[u8]) {
        let key = NameKey::new(name);
        let index = self.leaf_of(&key);
        let Some(shared) = self.leaves.get_mut(index) else { return };
        let Ok(at) = position(shared, &key) else { return };
        if shared.len() == 1 {
            self.leaves.remove(index);
        } else {
            Arc::make_mut(shared).remove(at);
        }
    }

    pub(super) fn iter(&self) -> Iter<'_> {
        Iter { leaves: self.leaves.iter(), leaf: [].iter() }
    }

    /// Returns the entries that follow this bound.
    pub(super) fn range(&self, start: Bound<&[u8]>) -> Iter<'_> {
        let (Bound::Included(name) | Bound::Excluded(name)) = start else { return self.iter() };
        let key = NameKey::new(name);
        let rest = self.leaves.get(self.leaf_of(&key)..).unwrap_or_default();
        let Some((first, leaves)) = rest.split_first() else { return Iter::default() };
        let at = match position(first, &key) {
            Ok(at) if matches!(start, Bound::Excluded(_)) => at + 1,
            Ok(at) | Err(at) => at,
        };
        Iter { leaves: leaves.iter(), leaf: first.get(at..).unwrap_or_default().iter() }
    }

    /// Calls `visit` for every name whose inode differs, with the inode on both sides. Shared leaves are skipped: a leaf that was
    /// not changed covers the same names on both sides, because leaves are split but never merged.
    pub(super) fn visit_changes(&self, after: &Self, visit: Visitor<'_>) {
        let (mut old, mut new) = (self.iter(), after.iter());
        loop {
            if old.skip_shared_leaf(&mut new) {
                continue;
            }
            match (old.peek(), new.peek()) {
                (None, None) => return,
                (Some((name, ino)), other) if other.is_none_or(|(next, _)| name < next) => {
                    visit(name, Some(ino), None);
                    old.next();
                }
                (Some((name, before)), Some((next, after))) if name == next => {
                    if before != after {
                        visit(name, Some(before), Some(after));
                    }
                    old.next();
                    new.next();
                }
                (_, Some((name, ino))) => {
                    visit(name, None, Some(ino));
                    new.next();
                }
                // The first guard holds for every name without a counterpart.
                (Some(_), None) => return,
            }
        }
    }

    /// Returns the index of the leaf that holds a name, if any does.
    fn leaf_of(&self, name: &NameKey<'_>) -> usize {
        self.leaves.partition_point(|leaf| leaf.last().is_some_and(|(last, _)| last.cmp_key(name).is_lt()))
    }
}

fn position(leaf: &Leaf, name: &NameKey<'_>) -> Result<usize, usize> {
    leaf.binary_search_by(|(entry, _)| entry.cmp_key(name))
}

/// Entries in byte order.
#[derive(Clone, Debug, Default)]
pub(super) struct Iter<'a> {
    /// Leaves that have not been started.
    leaves: slice::Iter<'a, Arc<Leaf>>,
    leaf: slice::Iter<'a, (Name, Ino)>,
}

impl<'a> Iter<'a> {
    fn peek(&mut self) -> Option<(&'a Name, Ino)> {
        if self.leaf.as_slice().is_empty() {
            self.leaf = self.leaves.next()?.iter();
        }
        self.leaf.as_slice().first().map(|(name, ino)| (name, *ino))
    }

    /// Skips the next leaf of both if they are before the same one.
    fn skip_shared_leaf(&mut self, other: &mut Self) -> bool {
        let idle = self.leaf.as_slice().is_empty() && other.leaf.as_slice().is_empty();
        let next = (self.leaves.as_slice().first(), other.leaves.as_slice().first());
        let shared = idle && matches!(next, (Some(one), Some(two)) if Arc::ptr_eq(one, two));
        if shared {
            self.leaves.next();
            other.leaves.next();
        }
        shared
    }
}

impl<'a> Iterator for Iter<'a> {
    type Item = (&'a Name, Ino);

    fn next(&mut self) -> Option<Self::Item> {
        self.peek()?;
        self.leaf.next().map(|(name, ino)| (name, *ino))
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;

    fn random(state: &mut u64) -> u64 {
        *state ^= *state << 13;
        *state ^= *state >> 7;
        *state ^= *state << 17;
        *state >> 11
    }

    fn list(entries: &Entries) -> Vec<(Vec<u8>, Ino)> {
        entries.iter().map(|(name, ino)| (name.as_bytes().to_vec(), ino)).collect()
    }

    #[test]
    fn entries_are_an_ordered_map_and_their_changes_are_exact() {
        let mut state = 88_172_645_463_325_252;
        let (mut entries, mut model) = (Entries::default(), BTreeMap::new());
        for round in 0..300 {
            let (kept, known) = (entries.clone(), model.clone());
            for _ in 0..random(&mut state) % 60 {
                let name = format!("{:04}", random(&mut state) % 1500).into_bytes();
                // Grows at first, shrinks to nothing in the end.
                if random(&mut state) % 300 >= round {
                    let ino = Ino(random(&mut state) % 4);
                    entries.insert(Name::new(&name), ino);
                    model.insert(name, ino);
                } else {
                    entries.remove(&name);
                    model.remove(&name);
                }
            }
            assert_eq!(list(&entries), model.clone().into_iter().collect::<Vec<_>>());
            assert!(entries.leaves.iter().all(|leaf| (1..=LEAF).contains(&leaf.len())));
            let from = format!("{:04}", random(&mut state) % 1500).into_bytes();
            assert_eq!(entries.get(&from), model.get(&from).copied());
            for bound in [Bound::Excluded(from.as_slice()), Bound::Included(from.as_slice()), Bound::Unbounded] {
                let expected = model.range::<[u8], _>((bound, Bound::Unbounded)).next().map(|(_, &ino)| ino);
                assert_eq!(entries.range(bound).next().map(|(_, ino)| ino), expected);
            }
            let mut changes = Vec::new();
            kept.visit_changes(&entries, &mut |name, old, new| changes.push((name.as_bytes().to_vec(), old, new)));
            let names: std::collections::BTreeSet<_> = known.keys().chain(model.keys()).cloned().collect();
            let expected: Vec<_> = names
                .into_iter()
                .map(|name| (known.get(&name).copied(), model.get(&name).copied(), name))
                .filter(|(old, new, _)| old != new)
                .map(|(old, new, name)| (name, old, new))
                .collect();
            assert_eq!(changes, expected, "round {round}");
        }
    }

    #[test]
    fn names_in_order_fill_their_leaves() {
        let mut entries = Entries::default();
        for number in 0..10 * LEAF {
            entries.insert(Name::new(format!("{number:05}").as_bytes()), Ino(1));
        }
        assert_eq!(entries.leaves.len(), 10);
    }
}
