//! Associative arrays with the iteration order of GNU awk: integers ascending from 0, all other keys in hash table order.
//! Scripts that do not sort print in this order.

mod dense;
mod integers;
mod strings;
#[cfg(test)]
mod tests;

use std::cell::RefCell;
use std::rc::Rc;

use crate::number;
use crate::text::Text;
use crate::value::Value;

use dense::Dense;
use integers::Integers;
use strings::Strings;

/// A shared array: variables, elements and parameters may refer to the same one.
pub(crate) type Handle = Rc<RefCell<Array>>;

/// A subscript.
#[derive(Clone, Debug)]
pub(crate) enum Key {
    /// Text in the exact form of an integer becomes an integer if it fits.
    Integer(i32),
    Text(Text),
}

impl Key {
    #[inline]
    pub(crate) fn of_number(number: f64, format: &[u8]) -> Self {
        let whole = number as i32;
        if f64::from(whole) == number {
            return Self::Integer(whole);
        }
        Self::Text(Value::Number(number).to_text(format))
    }

    #[inline]
    pub(crate) fn of_bytes(bytes: &[u8]) -> Self {
        match integer(bytes) {
            Some(whole) => Self::Integer(whole),
            None => Self::Text(Text::new(bytes)),
        }
    }

    pub(crate) fn of_text(text: Text) -> Self {
        match integer(text.bytes()) {
            Some(whole) => Self::Integer(whole),
            None => Self::Text(text),
        }
    }

    #[inline]
    pub(crate) fn of_value(value: &Value, format: &[u8]) -> Self {
        match value {
            Value::Number(number) => Self::of_number(*number, format),
            Value::Text(text) | Value::Input(text) => Self::of_text(text.clone()),
            other => Self::of_text(other.to_text(format)),
        }
    }

    pub(crate) fn text(&self) -> Text {
        match self {
            Self::Integer(whole) => {
                let mut out = Vec::with_capacity(12);
                number::write_integer(i64::from(*whole), &mut out);
                Text::from_vec(out)
            }
            Self::Text(text) => text.clone(),
        }
    }
}

/// The integer that the text represents exactly.
#[inline]
fn integer(bytes: &[u8]) -> Option<i32> {
    let digits = match bytes {
        [b'0'] => return Some(0),
        [b'-', digits @ ..] => digits,
        digits => digits,
    };
    if !matches!(digits.first(), Some(b'1'..=b'9')) || digits.len() > 10 {
        return None;
    }
    let mut value = 0i64;
    for digit in digits {
        if !digit.is_ascii_digit() {
            return None;
        }
        value = value * 10 + i64::from(digit - b'0');
    }
    i32::try_from(if digits.len() < bytes.len() { -value } else { value }).ok()
}

/// An associative array.
#[derive(Clone, Debug, Default)]
pub(crate) enum Array {
    /// Not yet used as an array: an argument that may still become one.
    #[default]
    Untyped,
    /// Was [`Self::Untyped`] and then read as a scalar. It is now a scalar for every alias.
    Scalar,
    Empty,
    Strings(Strings),
    Integers(Box<Integers>),
    Dense(Box<Dense>),
}

impl Array {
    /// A new array.
    pub(crate) fn handle() -> Handle {
        Rc::new(RefCell::new(Self::Empty))
    }

    /// Returns whether this is an untyped argument that could have become an array.
    pub(crate) fn is_no_array(&self) -> bool {
        matches!(self, Self::Untyped | Self::Scalar)
    }

    pub(crate) fn len(&self) -> usize {
        match self {
            Self::Untyped | Self::Scalar | Self::Empty => 0,
            Self::Strings(strings) => strings.len(),
            Self::Integers(integers) => integers.len(),
            Self::Dense(dense) => dense.len(),
        }
    }

    pub(crate) fn get(&self, key: &Key) -> Option<&Value> {
        match (self, key) {
            (Self::Untyped | Self::Scalar | Self::Empty, _) => None,
            (Self::Strings(strings), Key::Text(text)) => strings.get(text.bytes()),
            (Self::Strings(strings), key) => strings.get(key.text().bytes()),
            (Self::Integers(integers), key) => integers.get(key),
            (Self::Dense(dense), key) => dense.get(key),
        }
    }

    /// Returns the element, creating it if necessary.
    pub(crate) fn entry(&mut self, key: &Key) -> &mut Value {
        if let Self::Untyped | Self::Scalar | Self::Empty = self {
            *self = match key {
                Key::Integer(0..) => Self::Dense(Box::default()),
                Key::Integer(_) => Self::Integers(Box::default()),
                Key::Text(_) => Self::Strings(Strings::default()),
            };
        }
        match self {
            Self::Dense(dense) => dense.entry(key),
            Self::Integers(integers) => integers.entry(key),
            Self::Strings(strings) => strings.entry(&key.text()),
            // Has become one of the others above.
            Self::Untyped | Self::Scalar | Self::Empty => unreachable!("an array that is written to has a kind"),
        }
    }

    pub(crate) fn set(&mut self, key: &Key, value: Value) {
        *self.entry(key) = value;
    }

    /// Removes an element. Returns whether it existed.
    pub(crate) fn remove(&mut self, key: &Key) -> bool {
        match self {
            Self::Untyped | Self::Scalar | Self::Empty => false,
            Self::Strings(strings) => {
                let removed = strings.remove(key.text().bytes());
                if strings.len() == 0 {
                    *self = Self::Empty;
                }
                removed
            }
            Self::Integers(integers) => {
                let removed = integers.remove(key);
                if let Some(rest) = integers.successor() {
                    *self = rest;
                }
                removed
            }
            Self::Dense(dense) => {
                let removed = dense.remove(key);
                if let Some(rest) = dense.successor() {
                    *self = rest;
                }
                removed
            }
        }
    }

    pub(crate) fn clear(&mut self) {
        *self = Self::Empty;
    }

    /// All subscripts, in the order of `for (key in array)`.
    pub(crate) fn keys(&self) -> Vec<Key> {
        let mut keys = Vec::with_capacity(self.len());
        self.each(&mut |key, _| keys.push(key));
        keys
    }

    /// Calls a function for each element in order.
    pub(crate) fn each(&self, see: &mut dyn FnMut(Key, &Value)) {
        match self {
            Self::Untyped | Self::Scalar | Self::Empty => {}
            Self::Strings(strings) => strings.each(see),
            Self::Integers(integers) => integers.each(see),
            Self::Dense(dense) => dense.each(see),
        }
    }

    /// A copy that shares no sub-array with this one.
    pub(crate) fn deep_copy(&self) -> Self {
        let mut copy = self.clone();
        for key in self.keys() {
            if let Some(Value::Array(inner)) = self.get(&key) {
                let inner = inner.borrow().deep_copy();
                copy.set(&key, Value::Array(Rc::new(RefCell::new(inner))));
            }
        }
        copy
    }
}
