//! Parameters and what is done with their values.

use super::arith::Arith;
use super::word::Word;
use super::{Bytes, Name};
use crate::parse::SyntaxError;

/// What stands in brackets: a key of an associative array or an expression.
#[derive(Clone, Debug)]
pub(crate) struct Subscript {
    pub(crate) key: Word,
    pub(crate) index: Arith,
    /// It was made from text at run time, which `assoc_expand_once` keeps from being expanded again.
    pub(crate) made: bool,
}

/// `$name` or `${..}`.
#[derive(Debug)]
pub(crate) struct Param {
    pub(crate) target: Target,
    pub(crate) index: Index,
    /// `${!name}`
    pub(crate) indirect: bool,
    pub(crate) op: Op,
    /// The text as written, for messages.
    pub(crate) raw: Box<[u8]>,
}

#[derive(Debug, Clone)]
pub(crate) enum Target {
    Var(Name),
    Positional(usize),
    /// One of `@ * # ? - $ ! 0`
    Special(u8),
}

#[derive(Debug)]
pub(crate) enum Index {
    None,
    /// `[@]`
    At,
    /// `[*]`
    Star,
    One(Subscript),
}

/// What is done with a parameter's value.
#[derive(Debug)]
pub(crate) enum Op {
    None,
    /// `${#x}`
    Length,
    /// `-`, `=`, `?`, `+`; `colon` also tests for empty.
    Test {
        kind: Test,
        colon: bool,
        word: Word,
    },
    /// `#`, `##`, `%`, `%%`
    Strip {
        suffix: bool,
        longest: bool,
        pattern: Word,
    },
    Replace {
        how: Replace,
        pattern: Word,
        with: Word,
    },
    Substring {
        offset: Arith,
        length: Option<Arith>,
    },
    /// `^`, `^^`, `,`, `,,`, `~`, `~~`
    Case {
        how: u8,
        all: bool,
        pattern: Option<Word>,
    },
    /// `@Q` and its kind.
    Transform(u8),
    /// `${!name*}` and `${!name@}`
    Names {
        star: bool,
    },
    /// `${!name[@]}`
    Keys {
        star: bool,
    },
    /// Not understood; the message comes when it is expanded, as in bash.
    Bad,
    /// Text of a here-document in which this byte does not close something.
    Unclosed(u8),
    /// The text of a here-document with a substitution that is none.
    Broken(Box<Broken>),
}

/// A substitution in a here-document that is none, which is told when the document is expanded.
#[derive(Debug)]
pub(crate) struct Broken {
    pub(crate) error: SyntaxError,
    /// The line of the text that shows the mistake.
    pub(crate) shown: Bytes,
    /// The line at which the substitution starts.
    pub(crate) start: u32,
    /// Here-documents in it that ended with the text, as in [`crate::parse::Parser`].
    pub(crate) unfinished: Vec<(u32, u32, Bytes)>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Test {
    Default,
    Assign,
    Error,
    Alternative,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Replace {
    First,
    All,
    Prefix,
    Suffix,
}
