//! A table with small integer keys.

/// Slots with reuse: the key of a removed entry is used by the next insert.
#[derive(Debug)]
pub(crate) struct Slab<T> {
    slots: Vec<Option<T>>,
    free: Vec<u32>,
}

impl<T> Default for Slab<T> {
    fn default() -> Self {
        Self { slots: Vec::new(), free: Vec::new() }
    }
}

impl<T> Slab<T> {
    /// Stores `value` and returns its key. Callers bound the number of entries (descriptors times processes), so it stays far
    /// below `u32::MAX`.
    pub(crate) fn insert(&mut self, value: T) -> u32 {
        if let Some(at) = self.free.pop()
            && let Some(slot) = self.slots.get_mut(at as usize)
        {
            *slot = Some(value);
            return at;
        }
        self.slots.push(Some(value));
        u32::try_from(self.slots.len() - 1).unwrap_or(u32::MAX)
    }

    pub(crate) fn get(&self, at: u32) -> Option<&T> {
        self.slots.get(at as usize)?.as_ref()
    }

    pub(crate) fn get_mut(&mut self, at: u32) -> Option<&mut T> {
        self.slots.get_mut(at as usize)?.as_mut()
    }

    pub(crate) fn remove(&mut self, at: u32) -> Option<T> {
        let value = self.slots.get_mut(at as usize)?.take()?;
        self.free.push(at);
        Some(value)
    }

    /// Returns the keys in use, in ascending order.
    pub(crate) fn keys(&self) -> impl Iterator<Item = u32> + '_ {
        (0..).zip(&self.slots).filter_map(|(key, slot)| slot.is_some().then_some(key))
    }

    pub(crate) fn count(&self) -> usize {
        self.slots.len() - self.free.len()
    }
}
