//! Programs as text: the grammar of jq, read into the terms of jaq.
//!
//! jaq's own parser binds operators otherwise (`5 * 4 % 3`, `//`), knows no `?//`, and has other words for what is wrong.
//! This one follows jq's grammar, and where the two languages mean different things by the same term it writes the term
//! that makes jaq do what jq does (`lower`).

mod constants;
mod control;
mod lex;
mod lower;
mod names;
mod objects;
mod parse;
mod patterns;
mod terms;
#[cfg(test)]
mod tests;

pub(crate) use constants::constant;
pub(crate) use names::{Definitions, Scope};
pub(crate) use parse::{Dependency, Parsed, Parser};

/// A term of jaq.
pub(crate) type Term = jaq_core::load::parse::Term<&'static str>;
/// A definition of jaq.
pub(crate) type Def = jaq_core::load::parse::Def<&'static str, Term>;
/// A pattern of jaq.
pub(crate) type Pattern = jaq_core::load::parse::Pattern<&'static str>;

/// Keeps a text for as long as the process runs: programs are read once and then run to the end.
pub(crate) fn keep(text: String) -> &'static str {
    text.leak()
}
