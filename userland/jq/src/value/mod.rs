//! JSON values of programs.

mod access;
mod arithmetic;
mod compare;
mod glue;
mod number;

use std::rc::Rc;

use indexmap::IndexMap;

pub(crate) use access::{change_path, delete_paths, key_text, set_path};
pub(crate) use arithmetic::split;
pub(crate) use glue::with_jq_message;
pub(crate) use number::Number;

/// A value or an error, which is a value itself.
pub(crate) type Result<T = Val> = std::result::Result<T, jaq_core::Error<Val>>;

/// An error with a text value.
pub(crate) fn fault(message: impl Into<String>) -> jaq_core::Error<Val> {
    jaq_core::Error::new(Val::from(message.into()))
}

/// Entries of an object, in insertion order.
pub(crate) type Map = IndexMap<Rc<str>, Val>;

/// A value of JSON.
#[derive(Clone, Debug)]
pub(crate) enum Val {
    /// `null`
    Null,
    /// `false` and `true`
    Bool(bool),
    /// A number, NaN among them.
    Number(Number),
    /// A text.
    String(Rc<str>),
    /// An array.
    Array(Rc<Array>),
    /// An object.
    Object(Rc<Object>),
}

/// Array contents. A separate type, so that nested arrays are dropped without recursion.
#[derive(Clone, Debug, Default)]
pub(crate) struct Array(pub(crate) Vec<Val>);

/// Object contents. A separate type, so that nested objects are dropped without recursion.
#[derive(Clone, Debug, Default)]
pub(crate) struct Object(pub(crate) Map);

impl Drop for Array {
    fn drop(&mut self) {
        drop_flat(std::mem::take(&mut self.0));
    }
}

impl Drop for Object {
    fn drop(&mut self) {
        if self.0.values().any(|value| matches!(value, Val::Array(_) | Val::Object(_))) {
            drop_flat(self.0.drain(..).map(|(_, value)| value).collect());
        }
    }
}

/// Drops values iteratively. Drop glue would take a stack frame for each nesting level.
fn drop_flat(mut waiting: Vec<Val>) {
    while let Some(value) = waiting.pop() {
        match value {
            Val::Array(array) => {
                if let Some(mut array) = Rc::into_inner(array) {
                    waiting.append(&mut array.0);
                }
            }
            Val::Object(object) => {
                if let Some(mut object) = Rc::into_inner(object) {
                    waiting.extend(object.0.drain(..).map(|(_, value)| value));
                }
            }
            Val::Null | Val::Bool(_) | Val::Number(_) | Val::String(_) => {}
        }
    }
}

impl Val {
    /// The name of the value's type.
    pub(crate) fn kind(&self) -> &'static str {
        match self {
            Self::Null => "null",
            Self::Bool(_) => "boolean",
            Self::Number(_) => "number",
            Self::String(_) => "string",
            Self::Array(_) => "array",
            Self::Object(_) => "object",
        }
    }

    /// Returns whether the value is truthy: all except `false` and `null`.
    pub(crate) fn truth(&self) -> bool {
        !matches!(self, Self::Null | Self::Bool(false))
    }

    /// A number.
    pub(crate) fn number(number: f64) -> Self {
        Self::Number(Number::new(number))
    }

    /// A count. Counts that fit into memory are exact.
    pub(crate) fn count(count: usize) -> Self {
        #[expect(clippy::cast_precision_loss, reason = "nothing here has more than 2^53 parts")]
        Self::number(count as f64)
    }

    pub(crate) fn text(text: &str) -> Self {
        Self::String(Rc::from(text))
    }

    pub(crate) fn array(items: Vec<Self>) -> Self {
        Self::Array(Rc::new(Array(items)))
    }

    pub(crate) fn object(map: Map) -> Self {
        Self::Object(Rc::new(Object(map)))
    }

    /// An object of a few keys.
    pub(crate) fn record<const N: usize>(fields: [(&str, Self); N]) -> Self {
        Self::object(fields.into_iter().map(|(key, value)| (Rc::from(key), value)).collect())
    }

    pub(crate) fn as_str(&self) -> Option<&str> {
        match self {
            Self::String(text) => Some(text),
            _ => None,
        }
    }

    pub(crate) fn as_f64(&self) -> Option<f64> {
        match self {
            Self::Number(number) => Some(number.value()),
            _ => None,
        }
    }

    pub(crate) fn as_array(&self) -> Option<&[Self]> {
        match self {
            Self::Array(array) => Some(&array.0),
            _ => None,
        }
    }

    /// The items of an array, without a copy if it is not shared. Empty for other types.
    pub(crate) fn into_items(self) -> Vec<Self> {
        match self {
            Self::Array(array) => std::mem::take(&mut Rc::unwrap_or_clone(array).0),
            _ => Vec::new(),
        }
    }

    /// The entries of an object, without a copy if it is not shared. Empty for other types.
    pub(crate) fn into_map(self) -> Map {
        match self {
            Self::Object(object) => std::mem::take(&mut Rc::unwrap_or_clone(object).0),
            _ => Map::new(),
        }
    }

    /// As JSON, on one line.
    pub(crate) fn json(&self) -> String {
        crate::json::compact(self)
    }

    /// JSON for a message, truncated.
    pub(crate) fn short(&self) -> String {
        /// Maximum bytes of a value in a message.
        const MAX_COUNT: usize = 14;
        let text = self.json();
        if text.len() <= MAX_COUNT {
            return text;
        }
        let mut end = MAX_COUNT - 3;
        while !text.is_char_boundary(end) {
            end -= 1;
        }
        format!("{}...", text.get(..end).unwrap_or_default())
    }

    /// Type and start of the value, for messages.
    pub(crate) fn described(&self) -> String {
        format!("{} ({})", self.kind(), self.short())
    }
}

impl From<String> for Val {
    fn from(text: String) -> Self {
        Self::String(Rc::from(text))
    }
}
