//! Values of the stack and the registers.

use std::collections::BTreeMap;
use std::rc::Rc;

use crate::number::Number;

/// A number or a string.
#[derive(Clone, Debug)]
pub(super) enum Value {
    Number(Number),
    String(Rc<[u8]>),
}

impl Value {
    pub(super) fn number(&self) -> Option<&Number> {
        match self {
            Self::Number(number) => Some(number),
            Self::String(_) => None,
        }
    }
}

impl From<i64> for Value {
    fn from(value: i64) -> Self {
        Self::Number(Number::from(value))
    }
}

/// One level of a register: its value and its array.
#[derive(Clone, Debug, Default)]
pub(super) struct Level {
    pub(super) value: Option<Value>,
    pub(super) array: BTreeMap<usize, Value>,
}
