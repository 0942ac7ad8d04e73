//! Array of consecutive integers from 0, stored in leaves. A second array holds all other keys and numbers too sparse for a
//! leaf.

use std::collections::BTreeMap;

use super::integers::Integers;
use super::strings::Strings;
use super::{Array, Key};
use crate::value::Value;

/// Numbers below two to this power share one group; each further bit has its own group.
const FIRST_GROUP_BITS: u32 = 10;

/// Unused leaf slots at which a number goes to the second array.
const MAX_WASTE: i64 = 1 << (FIRST_GROUP_BITS + 1);

#[derive(Clone, Debug, Default)]
pub(crate) struct Dense {
    /// Leaves of numbers below the size of the first group. Most arrays use only these.
    low: Vec<Option<Leaf>>,
    /// All other leaves, by their first number.
    high: BTreeMap<u32, Leaf>,
    /// Number of elements in the leaves, and their capacity.
    len: usize,
    capacity: i64,
    others: Option<Box<Array>>,
}

#[derive(Clone, Debug)]
struct Leaf {
    len: usize,
    elements: Vec<Option<Value>>,
}

/// Location of a number: the size of its leaf, as a power of two, and the maximum capacity to allocate for it.
struct LeafSize {
    leaf_bits: u32,
    estimate: i64,
}

impl LeafSize {
    fn of(number: u32) -> Self {
        let bits = 32 - number.leading_zeros();
        let group = if bits <= FIRST_GROUP_BITS { FIRST_GROUP_BITS } else { bits - 1 };
        let mut leaf_bits = group.div_ceil(2);
        while leaf_bits > FIRST_GROUP_BITS {
            leaf_bits = leaf_bits.div_ceil(2);
        }
        // The estimate depends on the number's group only from the second group up.
        let mut estimate = group.max(FIRST_GROUP_BITS);
        while estimate >= FIRST_GROUP_BITS {
            estimate = estimate.div_ceil(2);
        }
        Self { leaf_bits, estimate: 1 << estimate }
    }
}

/// Leaves of the first group have this size, as a power of two.
const LOW_BITS: u32 = 5;
const LOW_LEAVES: usize = 1 << (FIRST_GROUP_BITS - LOW_BITS);

impl Dense {
    pub(super) fn len(&self) -> usize {
        self.len + self.others.as_ref().map_or(0, |others| others.len())
    }

    #[inline]
    fn leaf(&self, number: u32) -> Option<(&Leaf, usize)> {
        if number >> FIRST_GROUP_BITS == 0 {
            let leaf = self.low.get((number >> LOW_BITS) as usize)?.as_ref()?;
            return Some((leaf, number as usize & ((1 << LOW_BITS) - 1)));
        }
        let bits = LeafSize::of(number).leaf_bits;
        let leaf = self.high.get(&(number >> bits << bits))?;
        Some((leaf, number as usize & ((1 << bits) - 1)))
    }

    pub(super) fn get(&self, key: &Key) -> Option<&Value> {
        if let Key::Integer(number @ 0..) = key
            && let Some((leaf, at)) = self.leaf(*number as u32)
            && let Some(Some(value)) = leaf.elements.get(at)
        {
            return Some(value);
        }
        self.others.as_ref()?.get(key)
    }

    pub(super) fn entry(&mut self, key: &Key) -> &mut Value {
        let Key::Integer(number @ 0..) = key else {
            return self.other(key);
        };
        let number = *number as u32;
        let known = self.leaf(number).is_some_and(|(leaf, at)| matches!(leaf.elements.get(at), Some(Some(_))));
        if !known {
            if self.others.as_ref().is_some_and(|others| others.get(key).is_some()) {
                return self.other(key);
            }
            let size = LeafSize::of(number);
            if self.capacity + size.estimate - self.len as i64 > MAX_WASTE {
                return self.other(key);
            }
        }
        self.place(number)
    }

    /// Returns the element of a number in its leaf, creating both if necessary.
    fn place(&mut self, number: u32) -> &mut Value {
        let bits = LeafSize::of(number).leaf_bits;
        let size = 1usize << bits;
        let capacity = &mut self.capacity;
        let new = || {
            *capacity += size as i64;
            Leaf { len: 0, elements: vec![None; size] }
        };
        let leaf = if number >> FIRST_GROUP_BITS == 0 {
            if self.low.is_empty() {
                self.low.resize(LOW_LEAVES, None);
            }
            self.low[(number >> LOW_BITS) as usize].get_or_insert_with(new)
        } else {
            self.high.entry(number >> bits << bits).or_insert_with(new)
        };
        let element = &mut leaf.elements[number as usize & (size - 1)];
        if element.is_none() {
            leaf.len += 1;
            self.len += 1;
        }
        element.get_or_insert_default()
    }

    fn other(&mut self, key: &Key) -> &mut Value {
        let others = self.others.get_or_insert_with(|| {
            Box::new(match key {
                Key::Integer(_) => Array::Integers(Box::<Integers>::default()),
                Key::Text(_) => Array::Strings(Strings::default()),
            })
        });
        others.entry(key)
    }

    pub(super) fn remove(&mut self, key: &Key) -> bool {
        if let Key::Integer(number @ 0..) = key
            && self.remove_number(*number as u32)
        {
            return true;
        }
        let Some(others) = &mut self.others else {
            return false;
        };
        let removed = others.remove(key);
        if others.len() == 0 {
            self.others = None;
        }
        removed
    }

    fn remove_number(&mut self, number: u32) -> bool {
        let bits = LeafSize::of(number).leaf_bits;
        let low = number >> FIRST_GROUP_BITS == 0;
        let leaf = match low {
            true => self.low.get_mut((number >> LOW_BITS) as usize).and_then(Option::as_mut),
            false => self.high.get_mut(&(number >> bits << bits)),
        };
        let Some(leaf) = leaf else {
            return false;
        };
        let element = leaf.elements.get_mut(number as usize & ((1 << bits) - 1));
        if element.and_then(Option::take).is_none() {
            return false;
        }
        self.len -= 1;
        leaf.len -= 1;
        if leaf.len == 0 {
            self.capacity -= 1 << bits;
            if low {
                self.low[(number >> LOW_BITS) as usize] = None;
            } else {
                self.high.remove(&(number >> bits << bits));
            }
        }
        true
    }

    /// The representation to switch to when no number is left in a leaf.
    pub(super) fn successor(&mut self) -> Option<Array> {
        if self.len > 0 {
            return None;
        }
        Some(self.others.take().map_or(Array::Empty, |others| *others))
    }

    pub(super) fn each(&self, see: &mut dyn FnMut(Key, &Value)) {
        if let Some(others) = &self.others {
            others.each(see);
        }
        let low = self.low.iter().zip(0u32..).filter_map(|(leaf, at)| Some((at << LOW_BITS, leaf.as_ref()?)));
        for (first, leaf) in low.chain(self.high.iter().map(|(first, leaf)| (*first, leaf))) {
            for (value, at) in leaf.elements.iter().zip(0u32..) {
                if let Some(value) = value {
                    see(Key::Integer((first + at) as i32), value);
                }
            }
        }
    }
}
