//! Associative arrays, which list their keys in bash's order.

use std::collections::HashMap;
use std::hash::BuildHasherDefault;

use super::map::FnvHasher;
use crate::ir::Bytes;

/// An associative array. Its order is that of bash's hash table, because scripts print it.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Assoc {
    map: HashMap<Bytes, (u64, Bytes), BuildHasherDefault<FnvHasher>>,
    inserted: u64,
    /// Buckets of bash's table for it when it is new.
    buckets: u32,
}

impl Default for Assoc {
    fn default() -> Self {
        Self::with_buckets(1024)
    }
}

impl Assoc {
    /// An array whose table has another size in bash; a power of 2.
    pub(crate) fn with_buckets(buckets: u32) -> Self {
        Self { map: HashMap::default(), inserted: 0, buckets }
    }

    pub(crate) fn get(&self, key: &[u8]) -> Option<&Bytes> {
        self.map.get(key).map(|(_, value)| value)
    }

    pub(crate) fn insert(&mut self, key: Bytes, value: Bytes) {
        let seq = self.inserted;
        self.inserted += 1;
        self.map.entry(key).and_modify(|slot| slot.1.clone_from(&value)).or_insert((seq, value));
    }

    pub(crate) fn len(&self) -> usize {
        self.map.len()
    }

    pub(crate) fn remove(&mut self, key: &[u8]) {
        self.map.remove(key);
    }

    pub(crate) fn clear(&mut self) {
        self.map.clear();
    }

    /// Keys and values, the oldest first: inserted again in this order they make the same array.
    pub(crate) fn in_order_of_insertion(&self) -> Vec<(&Bytes, &Bytes)> {
        let mut all: Vec<_> = self.map.iter().map(|(key, (seq, value))| (*seq, key, value)).collect();
        all.sort_by_key(|entry| entry.0);
        all.into_iter().map(|(_, key, value)| (key, value)).collect()
    }

    /// Keys and values in bash's order: by bucket of its FNV-1 hash, the newest of a bucket first.
    pub(crate) fn entries(&self) -> Vec<(&Bytes, &Bytes)> {
        let mut buckets = self.buckets;
        while self.map.len() as u64 > u64::from(buckets) * 2 && buckets < 1 << 28 {
            buckets *= 4;
        }
        let mut all: Vec<_> = self
            .map
            .iter()
            .map(|(key, (seq, value))| ((bash_hash(key) & (buckets - 1), u64::MAX - seq), key, value))
            .collect();
        all.sort_by_key(|entry| entry.0);
        all.into_iter().map(|(_, key, value)| (key, value)).collect()
    }
}

pub(crate) fn bash_hash(key: &[u8]) -> u32 {
    // Bytes are signed there, as C's `char` is on most platforms.
    key.iter().fold(2_166_136_261, |hash: u32, &byte| hash.wrapping_mul(16_777_619) ^ i32::from(byte as i8) as u32)
}
