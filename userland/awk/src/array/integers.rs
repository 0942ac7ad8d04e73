//! Hash table with integer keys, and a second table for all other keys.

use super::strings::{MAX_PER_PLACE, SIZES, Strings};
use super::{Array, Key};
use crate::value::Value;

/// Up to two elements, in insertion order.
type Pair = Vec<(i32, Value)>;

#[derive(Clone, Debug, Default)]
pub(crate) struct Integers {
    /// The newest pair of a bucket is last, and only this pair may be half full.
    places: Vec<Vec<Pair>>,
    len: usize,
    others: Strings,
}

impl Integers {
    pub(super) fn len(&self) -> usize {
        self.len + self.others.len()
    }

    /// Location of a number: bucket, pair, position.
    fn find(&self, number: i32) -> Option<(usize, usize, usize)> {
        if self.places.is_empty() {
            return None;
        }
        let place = hash(number, self.places.len());
        self.places.get(place)?.iter().enumerate().find_map(|(pair, elements)| {
            let position = elements.iter().position(|(known, _)| *known == number)?;
            Some((place, pair, position))
        })
    }

    pub(super) fn get(&self, key: &Key) -> Option<&Value> {
        match key {
            Key::Integer(number) => {
                let (place, pair, position) = self.find(*number)?;
                Some(&self.places.get(place)?.get(pair)?.get(position)?.1)
            }
            Key::Text(text) => self.others.get(text.bytes()),
        }
    }

    pub(super) fn entry(&mut self, key: &Key) -> &mut Value {
        let number = match key {
            Key::Integer(number) => *number,
            Key::Text(text) => return self.others.entry(text),
        };
        let (place, pair, position) = match self.find(number) {
            Some(found) => found,
            None => {
                self.len += 1;
                if self.places.is_empty() || self.len / self.places.len() > MAX_PER_PLACE {
                    self.grow();
                }
                self.insert(number, Value::Untyped)
            }
        };
        &mut self.places[place][pair][position].1
    }

    fn insert(&mut self, number: i32, value: Value) -> (usize, usize, usize) {
        let place = hash(number, self.places.len());
        let pairs = &mut self.places[place];
        if pairs.last().is_none_or(|last| last.len() == 2) {
            pairs.push(Vec::with_capacity(2));
        }
        let pair = pairs.len() - 1;
        pairs[pair].push((number, value));
        (place, pair, pairs[pair].len() - 1)
    }

    fn grow(&mut self) {
        let Some(size) = SIZES.iter().find(|size| **size as usize > self.places.len()) else {
            return;
        };
        let old = std::mem::replace(&mut self.places, vec![Vec::new(); *size as usize]);
        for (number, value) in old.into_iter().flat_map(|pairs| pairs.into_iter().rev().flatten()) {
            self.insert(number, value);
        }
    }

    pub(super) fn remove(&mut self, key: &Key) -> bool {
        let number = match key {
            Key::Integer(number) => *number,
            Key::Text(text) => return self.others.remove(text.bytes()),
        };
        let Some((place, pair, position)) = self.find(number) else {
            return false;
        };
        let pairs = &mut self.places[place];
        pairs[pair].remove(position);
        let last = pairs.len() - 1;
        if pairs[pair].is_empty() {
            pairs.remove(pair);
        } else if pair != last {
            // Fill a pair in the middle from the newest one.
            if let Some(moved) = pairs[last].pop() {
                pairs[pair].push(moved);
            }
            if pairs[last].is_empty() {
                pairs.pop();
            }
        }
        self.len -= 1;
        true
    }

    /// The representation to switch to when no integer key is left.
    pub(super) fn successor(&mut self) -> Option<Array> {
        if self.len > 0 {
            return None;
        }
        Some(match self.others.len() {
            0 => Array::Empty,
            _ => Array::Strings(std::mem::take(&mut self.others)),
        })
    }

    pub(super) fn each(&self, see: &mut dyn FnMut(Key, &Value)) {
        self.others.each(see);
        for (number, value) in self.places.iter().flat_map(|pairs| pairs.iter().rev().flatten()) {
            see(Key::Integer(*number), value);
        }
    }
}

/// The final mixing step of Paul Hsieh's hash.
fn hash(number: i32, size: usize) -> usize {
    let mut hash = number as u32;
    hash ^= hash << 3;
    hash = hash.wrapping_add(hash >> 5);
    hash ^= hash << 4;
    hash = hash.wrapping_add(hash >> 17);
    hash ^= hash << 25;
    hash = hash.wrapping_add(hash >> 6);
    hash as usize % size
}
