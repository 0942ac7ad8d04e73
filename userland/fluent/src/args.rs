//! Values for the variables of a message.

use std::borrow::Cow;

/// Value of a variable.
#[derive(Clone, Debug, PartialEq)]
pub enum FluentValue<'a> {
    /// Text, printed as it is.
    String(Cow<'a, str>),
    /// A number, matched by value in a selector.
    Number(f64),
}

impl FluentValue<'_> {
    pub(crate) fn text(&self) -> Cow<'_, str> {
        match self {
            Self::String(text) => Cow::Borrowed(text),
            Self::Number(number) => Cow::Owned(number.to_string()),
        }
    }
}

impl From<String> for FluentValue<'_> {
    fn from(text: String) -> Self {
        Self::String(Cow::Owned(text))
    }
}

impl<'a> From<&'a str> for FluentValue<'a> {
    fn from(text: &'a str) -> Self {
        Self::String(Cow::Borrowed(text))
    }
}

impl<'a> From<Cow<'a, str>> for FluentValue<'a> {
    fn from(text: Cow<'a, str>) -> Self {
        Self::String(text)
    }
}

macro_rules! numbers {
    ($($kind:ty)*) => { $(
        impl From<$kind> for FluentValue<'_> {
            fn from(number: $kind) -> Self {
                // Fluent numbers are doubles, too.
                Self::Number(number as f64)
            }
        }
    )* };
}

numbers!(i8 i16 i32 i64 isize u8 u16 u32 u64 usize f32 f64);

/// The variables of one message.
#[derive(Clone, Debug, Default)]
pub struct FluentArgs<'a> {
    values: Vec<(Cow<'a, str>, FluentValue<'a>)>,
}

impl<'a> FluentArgs<'a> {
    /// No variables.
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets a variable, replacing an earlier value.
    pub fn set<K: Into<Cow<'a, str>>, V: Into<FluentValue<'a>>>(&mut self, key: K, value: V) {
        let key = key.into();
        let value = value.into();
        match self.values.iter_mut().find(|(known, _)| *known == key) {
            Some((_, old)) => *old = value,
            None => self.values.push((key, value)),
        }
    }

    /// Returns the value of a variable.
    pub fn get(&self, key: &str) -> Option<&FluentValue<'a>> {
        self.values.iter().find(|(known, _)| known == key).map(|(_, value)| value)
    }
}
