//! Expansion: from words to the strings that a command gets.

mod arith;
mod array;
mod brace;
mod case;
mod element_name;
mod fields;
mod glob;
mod locale;
mod op;
mod param;
mod prompt;
mod quoting;
mod reference;
mod slice;
mod special;
mod substitution;
mod tilde;
mod transform;
mod variable;
mod word;

pub(crate) use arith::Fault;
pub(crate) use element_name::{ElementName, split_subscript};
pub(crate) use locale::Missing;
pub(crate) use quoting::{
    ansi_quote, declare_quote, message_quote, needs_ansi, shell_quote, single_quote, trace_quote,
};
pub(crate) use reference::may_refer;
pub(crate) use special::{BASH_VERSION, MACHINE};
pub(crate) use variable::position;
pub(crate) use word::{Mode, Out, PartContext};

/// Text of the script for messages and other uses that require UTF-8.
pub(crate) fn lossy(text: &[u8]) -> std::borrow::Cow<'_, str> {
    String::from_utf8_lossy(text)
}
