//! Tables whose keys are unique in this instance of the module, for the objects of all of its sandboxes.

use std::collections::VecDeque;

/// Bits of a number that are its position in the table.
const POSITION_BITS: u32 = 20;
const MAX_POSITIONS: usize = 1 << POSITION_BITS;
/// Generations are counted from 1 to this number, so that a number is never 0 and fits a positive `i32`.
const LAST_GENERATION: u32 = (1 << (31 - POSITION_BITS)) - 1;
/// Free positions that are kept before the oldest is used again. Thus a number returns only after 131,008 others, and a late
/// message about an old object does not reach a new one.
const KEPT_FREE: usize = 64;

/// Values by numbers: the position of a value and its generation.
#[derive(Debug)]
pub(crate) struct Slots<T> {
    entries: Vec<Entry<T>>,
    /// Free positions, the oldest first.
    free: VecDeque<u32>,
}

#[derive(Debug)]
struct Entry<T> {
    generation: u32,
    value: Option<T>,
}

impl<T> Slots<T> {
    pub(crate) const fn new() -> Self {
        Self { entries: Vec::new(), free: VecDeque::new() }
    }

    /// Adds a value and returns its number, or `None` if the table is full.
    pub(crate) fn insert(&mut self, value: T) -> Option<u32> {
        let is_full = self.entries.len() >= MAX_POSITIONS;
        if self.free.len() > KEPT_FREE || is_full {
            let position = self.free.pop_front()?;
            let entry = self.entries.get_mut(position as usize)?;
            entry.generation = if entry.generation < LAST_GENERATION { entry.generation + 1 } else { 1 };
            entry.value = Some(value);
            return Some(number(position, entry.generation));
        }
        let position = u32::try_from(self.entries.len()).ok()?;
        self.entries.push(Entry { generation: 1, value: Some(value) });
        Some(number(position, 1))
    }

    pub(crate) fn get_mut(&mut self, number: u32) -> Option<&mut T> {
        self.entry(number)?.value.as_mut()
    }

    pub(crate) fn remove(&mut self, number: u32) -> Option<T> {
        let value = self.entry(number)?.value.take()?;
        self.free.push_back(position(number));
        Some(value)
    }

    /// Removes the values that `choose` returns true for, and returns them.
    pub(crate) fn extract(&mut self, mut choose: impl FnMut(&T) -> bool) -> Vec<T> {
        let chosen: Vec<u32> = self.iter().filter(|(_, value)| choose(value)).map(|(number, _)| number).collect();
        chosen.into_iter().filter_map(|number| self.remove(number)).collect()
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = (u32, &T)> {
        let all = (0..).zip(&self.entries);
        all.filter_map(|(position, entry)| Some((number(position, entry.generation), entry.value.as_ref()?)))
    }

    fn entry(&mut self, number: u32) -> Option<&mut Entry<T>> {
        let entry = self.entries.get_mut(position(number) as usize)?;
        (entry.generation == number >> POSITION_BITS).then_some(entry)
    }
}

fn number(position: u32, generation: u32) -> u32 {
    generation << POSITION_BITS | position
}

fn position(number: u32) -> u32 {
    number & (MAX_POSITIONS as u32 - 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_old_number_does_not_lead_to_a_new_value() {
        let mut slots = Slots::new();
        let old: Vec<u32> = (0..KEPT_FREE + 1).filter_map(|n| slots.insert(n)).collect();
        for number in &old {
            assert!(slots.remove(*number).is_some() && slots.remove(*number).is_none());
        }
        let new = slots.insert(7).unwrap();
        assert_eq!((position(new), position(old[0])), (0, 0), "the oldest position is used again");
        assert_eq!(slots.get_mut(old[0]), None);
        assert_eq!(slots.get_mut(new), Some(&mut 7));
    }

    #[test]
    fn numbers_are_positive_and_return_late() {
        let mut slots = Slots::new();
        let mut seen = std::collections::BTreeSet::new();
        for n in 0..KEPT_FREE as u32 * LAST_GENERATION {
            let number = slots.insert(n).unwrap();
            assert!(number.cast_signed() > 0 && seen.insert(number), "{number} was given before");
            assert_eq!(slots.remove(number), Some(n));
        }
    }

    #[test]
    fn values_can_be_chosen() {
        let mut slots = Slots::new();
        for n in 0..10 {
            slots.insert(n);
        }
        assert_eq!(slots.extract(|n| n % 2 == 0), [0, 2, 4, 6, 8]);
        assert_eq!(slots.iter().map(|(_, n)| *n).collect::<Vec<_>>(), [1, 3, 5, 7, 9]);
    }
}
