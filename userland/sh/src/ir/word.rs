//! Words in pieces.

use std::cell::RefCell;
use std::rc::Rc;

use super::arith::Arith;
use super::param::Param;
use super::{Bytes, List};
use crate::parse::SyntaxError;

/// A word in pieces.
#[derive(Clone, Debug, Default)]
pub(crate) struct Word {
    pub(crate) parts: Vec<Part>,
    /// The text as written.
    pub(crate) raw: Box<[u8]>,
    /// An unquoted brace that may expand.
    pub(crate) braces: bool,
}

impl Word {
    /// The text of a word that is nothing but unquoted text.
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
    /// `~` and what follows up to the slash.
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
    /// The line that it ends in.
    pub(crate) line: u32,
    pub(crate) layout: Layout,
    /// The commands as they were read once more, and the line that the first of them was said to be in.
    pub(crate) read_again: RefCell<Option<(u32, Rc<List>)>>,
    /// `$(<file)`.
    pub(crate) file: Option<Word>,
    /// Why the text between backquotes is no program, and its line in question.
    pub(crate) broken: Option<Box<(SyntaxError, Bytes)>>,
}

/// How lines are counted within a substitution. bash reads its text when it runs it, and begins to count where it is then.
#[derive(Debug)]
pub(crate) enum Layout {
    /// All on the line of the substitution.
    OneLine,
    /// On the lines on which bash prints what it read here, because that is the text that it reads then.
    Printed(Box<[u8]>),
    /// On the lines of this text, which stood between backquotes.
    Text(Box<[u8]>),
}
