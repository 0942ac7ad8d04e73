//! Parser of the jq grammar that produces jaq terms.
//!
//! jaq's own parser has other operator precedences (`5 * 4 % 3`, `//`) and other messages. This one follows
//! jq's grammar. Where the same term has different semantics in the two languages, it emits a jaq term with jq's semantics
//! (`lower`).

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

pub(crate) use names::Scope;
pub(crate) use parse::Parser;

/// A term of jaq.
pub(crate) type Term = jaq_core::load::parse::Term<&'static str>;
/// A definition of jaq.
pub(crate) type Def = jaq_core::load::parse::Def<&'static str, Term>;
/// A pattern of jaq.
pub(crate) type Pattern = jaq_core::load::parse::Pattern<&'static str>;

/// Keeps a text until the process exits: programs are parsed once and then run to the end.
pub(crate) fn keep(text: String) -> &'static str {
    text.leak()
}
