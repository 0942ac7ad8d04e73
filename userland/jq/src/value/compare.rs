//! The order of all values: null, false, true, numbers, strings, arrays, objects.

use std::cmp::Ordering;

use super::Val;

impl Val {
    fn rank(&self) -> u8 {
        match self {
            Self::Null => 0,
            Self::Bool(false) => 1,
            Self::Bool(true) => 2,
            Self::Number(_) => 3,
            Self::String(_) => 4,
            Self::Array(_) => 5,
            Self::Object(_) => 6,
        }
    }

    /// The place of a value before, at or after another. NaN is less than every number, itself among them.
    pub(crate) fn order(&self, other: &Self) -> Ordering {
        match (self, other) {
            (Self::Number(left), Self::Number(right)) => {
                let (left, right) = (left.value(), right.value());
                if left == right {
                    Ordering::Equal
                } else if left > right || (right.is_nan() && !left.is_nan()) {
                    Ordering::Greater
                } else {
                    Ordering::Less
                }
            }
            (Self::String(left), Self::String(right)) => left.as_bytes().cmp(right.as_bytes()),
            (Self::Array(left), Self::Array(right)) => {
                let pairs = left.0.iter().zip(&right.0);
                let first = pairs.map(|(left, right)| left.order(right)).find(|order| order.is_ne());
                first.unwrap_or_else(|| left.0.len().cmp(&right.0.len()))
            }
            (Self::Object(left), Self::Object(right)) => {
                let mut left: Vec<_> = left.0.iter().collect();
                let mut right: Vec<_> = right.0.iter().collect();
                left.sort_by(|a, b| a.0.cmp(b.0));
                right.sort_by(|a, b| a.0.cmp(b.0));
                let keys = left.iter().map(|entry| entry.0).cmp(right.iter().map(|entry| entry.0));
                keys.then_with(|| {
                    let pairs = left.iter().zip(&right);
                    let first = pairs.map(|(left, right)| left.1.order(right.1)).find(|order| order.is_ne());
                    first.unwrap_or(Ordering::Equal)
                })
            }
            _ => self.rank().cmp(&other.rank()),
        }
    }
}

impl PartialEq for Val {
    fn eq(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Object(left), Self::Object(right)) => {
                left.0.len() == right.0.len() && left.0.iter().all(|(key, value)| right.0.get(key) == Some(value))
            }
            (Self::Array(left), Self::Array(right)) => left.0 == right.0,
            _ => self.order(other).is_eq(),
        }
    }
}

impl PartialOrd for Val {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.order(other))
    }
}
