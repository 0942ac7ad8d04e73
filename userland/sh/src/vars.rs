//! Variables: values, attributes, scopes.

mod assoc;
mod lines;
mod map;
mod scope;

use std::collections::BTreeMap;

use crate::ir::{Bytes, Name};

pub(crate) use assoc::{Assoc, bash_hash};
pub(crate) use lines::Lines;
pub(crate) use map::Map;
pub(crate) use scope::Vars;

/// Exported to programs.
pub(crate) const EXPORT: u16 = 1;
/// Assignments fail.
pub(crate) const READONLY: u16 = 2;
/// Assigned text is evaluated.
pub(crate) const INTEGER: u16 = 4;
/// Assigned text becomes lower case.
pub(crate) const LOWER: u16 = 8;
/// Assigned text becomes upper case.
pub(crate) const UPPER: u16 = 16;
/// The value names another variable.
pub(crate) const NAMEREF: u16 = 32;
/// Set by `declare -t`; it means nothing for variables.
pub(crate) const TRACE: u16 = 64;
/// An array that was declared without a value.
pub(crate) const BARE: u16 = 128;
/// Assigned text is capitalized: the first letter in upper case, the others in lower case.
pub(crate) const CAPITAL: u16 = 256;

#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) enum Value {
    /// Declared without a value.
    #[default]
    Unset,
    Text(Bytes),
    Indexed(BTreeMap<u64, Bytes>),
    Assoc(Assoc),
}

#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Var {
    pub(crate) value: Value,
    pub(crate) flags: u16,
}

impl Var {
    pub(crate) fn has(&self, flag: u16) -> bool {
        self.flags & flag != 0
    }

    /// The value of the name alone: the text, or element 0 of an array.
    pub(crate) fn scalar(&self) -> Option<&Bytes> {
        match &self.value {
            Value::Unset => None,
            Value::Text(text) => Some(text),
            Value::Indexed(map) => map.get(&0),
            Value::Assoc(map) => map.get(b"0"),
        }
    }
}

/// The part of a variable that an access refers to.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Key {
    /// The variable itself.
    Whole,
    /// An element; negative counts from the end.
    Index(i64),
    Word(Bytes),
}

/// The target of a name after resolving references.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum NamerefTarget {
    /// The name is not a reference.
    Own,
    Variable(Name),
    /// The text in the brackets is not expanded yet.
    Element(Name, Bytes),
    /// A local reference to its own name means the variable outside all functions.
    Global(Name),
    /// The reference with this name refers to nothing yet.
    Nothing(Name),
    /// The references refer to one another.
    Circle,
}
