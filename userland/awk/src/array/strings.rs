//! Hash table with string keys.

use super::Key;
use crate::text::Text;
use crate::value::Value;

/// Sizes of tables.
pub(super) const SIZES: [u32; 21] = [
    13,
    127,
    1021,
    8191,
    16_381,
    32_749,
    65_497,
    131_101,
    262_147,
    524_309,
    1_048_583,
    2_097_169,
    4_194_319,
    8_388_617,
    16_777_259,
    33_554_467,
    67_108_879,
    134_217_757,
    268_435_459,
    536_870_923,
    1_073_741_827,
];

/// Load factor (entries per bucket) at which a table grows.
pub(super) const MAX_PER_PLACE: usize = 2;

/// No entry.
const NONE: u32 = u32::MAX;

#[derive(Clone, Debug)]
struct Entry {
    key: Text,
    hash: u32,
    next: u32,
    value: Value,
}

#[derive(Clone, Debug, Default)]
pub(crate) struct Strings {
    /// The first entry of each bucket.
    places: Vec<u32>,
    entries: Vec<Entry>,
    /// The first free entry. Free entries are chained.
    free: Option<u32>,
    len: usize,
}

impl Strings {
    pub(super) fn len(&self) -> usize {
        self.len
    }

    #[inline]
    fn find(&self, key: &[u8], hash: u32) -> Option<u32> {
        if self.places.is_empty() {
            return None;
        }
        let mut at = *self.places.get(hash as usize % self.places.len())?;
        while let Some(entry) = self.entries.get(at as usize) {
            if entry.hash == hash && entry.key.bytes() == key {
                return Some(at);
            }
            at = entry.next;
        }
        None
    }

    pub(super) fn get(&self, key: &[u8]) -> Option<&Value> {
        let at = self.find(key, hash(key))?;
        self.entries.get(at as usize).map(|entry| &entry.value)
    }

    pub(super) fn entry(&mut self, key: &Text) -> &mut Value {
        let hash = hash(key.bytes());
        let at = match self.find(key.bytes(), hash) {
            Some(at) => at,
            None => self.insert(key.clone(), hash),
        };
        &mut self.entries[at as usize].value
    }

    fn insert(&mut self, key: Text, hash: u32) -> u32 {
        self.len += 1;
        if self.places.is_empty() || self.len / self.places.len() > MAX_PER_PLACE {
            self.grow();
        }
        let place = hash as usize % self.places.len();
        let next = self.places[place];
        let entry = Entry { key, hash, next, value: Value::Untyped };
        let at = match self.free {
            Some(at) => {
                let free = &mut self.entries[at as usize];
                self.free = Some(free.next).filter(|next| *next != NONE);
                *free = entry;
                at
            }
            None => {
                self.entries.push(entry);
                // 2^32 entries do not fit into memory.
                (self.entries.len() - 1) as u32
            }
        };
        self.places[place] = at;
        at
    }

    fn grow(&mut self) {
        let Some(size) = SIZES.iter().find(|size| **size as usize > self.places.len()) else {
            return;
        };
        let old = std::mem::replace(&mut self.places, vec![NONE; *size as usize]);
        for mut at in old {
            while at != NONE {
                let entry = &mut self.entries[at as usize];
                let next = entry.next;
                let place = &mut self.places[entry.hash as usize % *size as usize];
                entry.next = *place;
                *place = at;
                at = next;
            }
        }
    }

    pub(super) fn remove(&mut self, key: &[u8]) -> bool {
        let hash = hash(key);
        let Some(at) = self.find(key, hash) else {
            return false;
        };
        let after = self.entries[at as usize].next;
        let place = hash as usize % self.places.len();
        if self.places[place] == at {
            self.places[place] = after;
        } else {
            let mut before = self.places[place];
            while self.entries[before as usize].next != at {
                before = self.entries[before as usize].next;
            }
            self.entries[before as usize].next = after;
        }
        let next = self.free.unwrap_or(NONE);
        self.entries[at as usize] = Entry { key: Text::default(), hash: 0, next, value: Value::Untyped };
        self.free = Some(at);
        self.len -= 1;
        true
    }

    pub(super) fn each(&self, see: &mut dyn FnMut(Key, &Value)) {
        for first in &self.places {
            let mut at = *first;
            while let Some(entry) = self.entries.get(at as usize) {
                see(Key::of_bytes(entry.key.bytes()), &entry.value);
                at = entry.next;
            }
        }
    }
}

/// The hash of the `sdbm` library, with signed characters.
#[inline]
fn hash(key: &[u8]) -> u32 {
    key.iter().fold(0, |hash: u32, byte| hash.wrapping_mul(65_599).wrapping_add(*byte as i8 as u32))
}
