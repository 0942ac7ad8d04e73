//! Values that belong to no language: `response` writes them, and each binding converts them to its own.

/// A value in the shape that a caller expects.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Value {
    /// A missing value. An object omits it.
    Undefined,
    /// The value that Deep Agents requires for a missing exit code or error.
    Null,
    /// True or false.
    Bool(bool),
    /// A number. Counts are exact up to 2^53.
    Number(f64),
    /// Text.
    Text(String),
    /// Bytes.
    Bytes(Vec<u8>),
    /// Values in order.
    List(Vec<Self>),
    /// Properties in order.
    Object(Vec<(&'static str, Self)>),
}

impl Value {
    /// Creates an object with these properties, omitting those that are undefined.
    pub fn object(properties: impl IntoIterator<Item = (&'static str, Self)>) -> Self {
        Self::Object(properties.into_iter().filter(|(_, value)| *value != Self::Undefined).collect())
    }

    /// Creates a list.
    pub fn list(items: impl IntoIterator<Item = Self>) -> Self {
        Self::List(items.into_iter().collect())
    }

    /// Decodes bytes; U+FFFD replaces invalid UTF-8.
    pub fn lossy(bytes: &[u8]) -> Self {
        Self::Text(String::from_utf8_lossy(bytes).into_owned())
    }

    /// Converts a count.
    pub fn count(n: u64) -> Self {
        Self::Number(n as f64)
    }

    /// Converts an optional value; a missing one is undefined.
    pub fn optional<T>(value: Option<T>, show: impl FnOnce(T) -> Self) -> Self {
        value.map_or(Self::Undefined, show)
    }
}

impl From<bool> for Value {
    fn from(value: bool) -> Self {
        Self::Bool(value)
    }
}

impl From<f64> for Value {
    fn from(value: f64) -> Self {
        Self::Number(value)
    }
}

impl From<&str> for Value {
    fn from(value: &str) -> Self {
        Self::Text(value.to_owned())
    }
}
