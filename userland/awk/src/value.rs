//! Values of variables, elements and fields.

use std::rc::Rc;

use crate::array::Handle;
use crate::format;
use crate::number;
use crate::pattern::Pattern;
use crate::text::Text;

/// A value.
#[derive(Clone, Debug, Default)]
pub(crate) enum Value {
    /// Value of a variable that was never used.
    #[default]
    Untyped,
    /// Value of a variable or field without a value.
    Unset,
    Number(f64),
    Text(Text),
    /// Text from outside, which is a number when it looks like one.
    Input(Text),
    /// A regular expression, as a constant or in a variable.
    Regex(Rc<Pattern>),
    Array(Handle),
}

/// Type of a value in a comparison.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Kind {
    Unset,
    Number(f64),
    Text,
}

impl Value {
    pub(crate) fn text(bytes: &[u8]) -> Self {
        Self::Text(Text::new(bytes))
    }

    pub(crate) fn input(bytes: &[u8]) -> Self {
        Self::Input(Text::new(bytes))
    }

    pub(crate) fn truth(value: bool) -> Self {
        Self::Number(if value { 1.0 } else { 0.0 })
    }

    #[inline]
    pub(crate) fn number(&self) -> f64 {
        match self {
            Self::Number(number) => *number,
            Self::Text(text) | Self::Input(text) => number::value_of(text.bytes()),
            Self::Untyped | Self::Unset | Self::Array(_) => 0.0,
            Self::Regex(pattern) => number::value_of(pattern.source()),
        }
    }

    pub(crate) fn kind(&self) -> Kind {
        match self {
            Self::Untyped | Self::Unset => Kind::Unset,
            Self::Number(number) => Kind::Number(*number),
            Self::Input(text) => number::looks_numeric(text.bytes()).map_or(Kind::Text, Kind::Number),
            Self::Text(_) | Self::Regex(_) | Self::Array(_) => Kind::Text,
        }
    }

    #[inline]
    pub(crate) fn is_true(&self) -> bool {
        match self {
            Self::Untyped | Self::Unset => false,
            Self::Number(number) => *number != 0.0,
            Self::Text(text) => !text.is_empty(),
            Self::Input(text) => match number::looks_numeric(text.bytes()) {
                Some(number) => number != 0.0,
                None => !text.is_empty(),
            },
            Self::Regex(_) | Self::Array(_) => true,
        }
    }

    /// The value as text; fractional numbers are formatted with `format`.
    #[inline]
    pub(crate) fn to_text(&self, format: &[u8]) -> Text {
        match self {
            Self::Text(text) | Self::Input(text) => text.clone(),
            Self::Number(number) => text_of(*number, format),
            Self::Untyped | Self::Unset | Self::Array(_) => Text::default(),
            Self::Regex(pattern) => Text::new(pattern.source()),
        }
    }

    /// Adds the value as text to the end of `out`.
    #[inline]
    pub(crate) fn write(&self, format: &[u8], out: &mut Vec<u8>) {
        match self {
            Self::Text(text) | Self::Input(text) => out.extend_from_slice(text.bytes()),
            Self::Number(number) => write_number(*number, format, out),
            Self::Untyped | Self::Unset | Self::Array(_) => {}
            Self::Regex(pattern) => out.extend_from_slice(pattern.source()),
        }
    }
}

fn text_of(number: f64, format: &[u8]) -> Text {
    let mut out = Vec::with_capacity(24);
    write_number(number, format, &mut out);
    Text::from_vec(out)
}

/// Appends a number to `out`: integers as they are, others with `format`.
#[inline]
pub(crate) fn write_number(number: f64, format: &[u8], out: &mut Vec<u8>) {
    if let Some(whole) = number::as_integer(number) {
        number::write_integer(whole, out);
    } else if let Some(word) = number::special(number) {
        out.extend_from_slice(word.as_bytes());
    } else if number.fract() == 0.0 {
        number::write_fixed(number, 0, out);
    } else if format == b"%.6g" {
        number::write_general(number, 6, false, out);
    } else {
        format::number(format, number, out);
    }
}
