//! The map for variables, functions and other values with a name of the script.

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};

/// A hash without secrets: keys come from the script, which can only slow itself down, and a random seed would cost a
/// call at every start.
#[derive(Default)]
pub(crate) struct FnvHasher(u64);

impl Hasher for FnvHasher {
    fn finish(&self) -> u64 {
        self.0 ^ (self.0 >> 29)
    }

    fn write(&mut self, bytes: &[u8]) {
        for &byte in bytes {
            self.0 = (self.0 ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3);
        }
    }

    fn write_usize(&mut self, value: usize) {
        self.0 = (self.0 ^ value as u64).wrapping_mul(0x100_0000_01b3) ^ 0xcbf2_9ce4_8422_2325;
    }
}

/// A map keyed by text of the script.
pub(crate) type Map<K, V> = HashMap<K, V, BuildHasherDefault<FnvHasher>>;
