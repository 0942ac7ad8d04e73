//! The order of all values: null, false, true, numbers, strings, arrays, objects.

use std::cmp::Ordering;
use std::rc::Rc;

use super::{Map, Val};

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

    /// Compares two numbers. NaN is less than every number, including itself.
    pub(crate) fn order(&self, other: &Self) -> Ordering {
        if self.nests_with(other) { self.order_of_nested(other) } else { self.order_of_plain(other) }
    }

    fn nests_with(&self, other: &Self) -> bool {
        matches!((self, other), (Self::Array(_), Self::Array(_)) | (Self::Object(_), Self::Object(_)))
    }

    /// Compares arrays and objects. Nesting uses the heap, not the stack.
    fn order_of_nested(&self, other: &Self) -> Ordering {
        let mut open = vec![Level::Pair(self, other)];
        while let Some(level) = open.last_mut() {
            let next = match level {
                Level::Pair(left, right) => {
                    let pair = (*left, *right);
                    open.pop();
                    Some(pair)
                }
                Level::Items(left, right) => match (left.next(), right.next()) {
                    (Some(left), Some(right)) => Some((left, right)),
                    (None, None) => None,
                    (left, _) => return if left.is_some() { Ordering::Greater } else { Ordering::Less },
                },
                Level::Values(pairs) => pairs.next(),
            };
            match next {
                None => {
                    open.pop();
                }
                Some((Self::Array(left), Self::Array(right))) => {
                    open.push(Level::Items(left.0.iter(), right.0.iter()));
                }
                Some((Self::Object(left), Self::Object(right))) => {
                    let (left, right) = (sorted(&left.0), sorted(&right.0));
                    let keys = left.iter().map(|entry| entry.0).cmp(right.iter().map(|entry| entry.0));
                    if keys.is_ne() {
                        return keys;
                    }
                    let values = left.into_iter().zip(right).map(|(left, right)| (left.1, right.1));
                    open.push(Level::Values(values.collect::<Vec<_>>().into_iter()));
                }
                Some((left, right)) => {
                    let order = left.order_of_plain(right);
                    if order.is_ne() {
                        return order;
                    }
                }
            }
        }
        Ordering::Equal
    }

    /// Compares values that are not both arrays or both objects.
    fn order_of_plain(&self, other: &Self) -> Ordering {
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
            _ => self.rank().cmp(&other.rank()),
        }
    }
}

/// Remaining parts of two values to compare.
enum Level<'a> {
    Pair(&'a Val, &'a Val),
    Items(std::slice::Iter<'a, Val>, std::slice::Iter<'a, Val>),
    Values(std::vec::IntoIter<(&'a Val, &'a Val)>),
}

fn sorted(map: &Map) -> Vec<(&Rc<str>, &Val)> {
    let mut entries: Vec<_> = map.iter().collect();
    entries.sort_by(|a, b| a.0.cmp(b.0));
    entries
}

impl PartialEq for Val {
    fn eq(&self, other: &Self) -> bool {
        if !self.nests_with(other) {
            return self.order_of_plain(other).is_eq();
        }
        let mut pairs = vec![(self, other)];
        while let Some(pair) = pairs.pop() {
            let same = match pair {
                (Self::Object(left), Self::Object(right)) => {
                    left.0.len() == right.0.len()
                        && left
                            .0
                            .iter()
                            .all(|(key, value)| right.0.get(key).map(|other| pairs.push((value, other))).is_some())
                }
                (Self::Array(left), Self::Array(right)) => {
                    pairs.extend(left.0.iter().zip(&right.0));
                    left.0.len() == right.0.len()
                }
                (left, right) => left.order_of_plain(right).is_eq(),
            };
            if !same {
                return false;
            }
        }
        true
    }
}

impl PartialOrd for Val {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.order(other))
    }
}
