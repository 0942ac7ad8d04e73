//! Expressions of `[[ ]]`.

use super::word::Word;

/// The expression of `[[ ]]`.
#[derive(Debug)]
pub(crate) enum Cond {
    Not(Box<Self>),
    /// In parentheses.
    Group(Box<Self>),
    And(Box<Self>, Box<Self>),
    Or(Box<Self>, Box<Self>),
    Unary(u8, Word),
    Binary(CondOp, Word, Word),
    Word(Word),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum CondOp {
    Match,
    /// `=`, which is equivalent to `==`.
    Same,
    NoMatch,
    Regex,
    Before,
    After,
    /// One of the two-letter tests, such as `-eq` or `-nt`.
    Test([u8; 2]),
}
