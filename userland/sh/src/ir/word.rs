//! Words as parts.

use std::rc::Rc;

use super::arith::Arith;
use super::param::Param;
use super::{Bytes, List};
use crate::parse::SyntaxError;

/// A word as parts.
#[derive(Clone, Debug, Default)]
pub(crate) struct Word {
    pub(crate) parts: Vec<Part>,
    /// The text as written.
    pub(crate) raw: Box<[u8]>,
    /// An unquoted brace that may expand.
    pub(crate) braces: bool,
}

impl Word {
    /// The text of a word that is only unquoted text.
    pub(crate) fn literal(&self) -> Option<&[u8]> {
        match self.parts.as_slice() {
            [Part::Lit(text)] => Some(text),
            _ => None,
        }
    }
}

#[derive(Clone, Debug)]
pub(crate) enum Part {
    /// Unquoted text.
    Lit(Bytes),
    /// Text that was quoted in any way.
    Quoted(Bytes),
    /// Between double quotes.
    Double(Vec<Self>),
    /// `~` and the text up to the slash.
    Tilde(Bytes),
    Param(Rc<Param>),
    Command(Rc<Substitution>),
    Arith(Rc<Arith>),
    Process {
        output: bool,
        body: Rc<Substitution>,
    },
}

/// `$( )`.
#[derive(Debug)]
pub(crate) struct Substitution {
    pub(crate) body: Rc<List>,
    /// `$(<file)`.
    pub(crate) file: Option<Word>,
    /// The syntax error of a text between backquotes, and the source line of the error.
    pub(crate) invalid: Option<Box<(SyntaxError, Bytes)>>,
}
