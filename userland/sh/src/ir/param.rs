//! Parameters and operators on their values.

use super::Name;
use super::arith::Arith;
use super::word::Word;
use crate::parse::SyntaxError;

/// The text in brackets: a key of an associative array or an expression.
#[derive(Clone, Debug)]
pub(crate) struct Subscript {
    pub(crate) key: Word,
    pub(crate) index: Arith,
    /// It was created from text at run time, which `assoc_expand_once` does not expand again.
    pub(crate) dynamic: bool,
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

/// The operator of an expansion.
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
    /// `@Q` and the other transformations.
    Transform(u8),
    /// `${!name*}` and `${!name@}`
    Names {
        star: bool,
    },
    /// `${!name[@]}`
    Keys {
        star: bool,
    },
    /// Invalid; the error is reported when it is expanded, as in bash.
    Bad,
    /// The text of a here-document with a syntax error.
    Invalid(Box<SyntaxError>),
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
