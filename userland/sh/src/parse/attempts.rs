//! Attempts that have failed, and other text that was read before. The grammar is read with backtracking: without this record, nested text would be read twice at each
//! level, which takes hours at 40 levels.

use super::Parser;

/// A way to read the text at an offset.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Attempt {
    /// `$((..))` as an expression.
    Arith,
    /// `((..))` as an expression.
    Parentheses,
    /// `${..}` as a valid parameter.
    Param,
    /// `${..}` in quoted text.
    QuotedParam,
    /// `name[..]` as the start of an assignment.
    Assignment,
    /// An argument of `declare` as an assignment without braces.
    BracelessAssignment,
    /// `[..]` as the subscript of an element of a list.
    Element,
}

impl Parser<'_> {
    pub(super) fn has_failed(&self, at: usize, attempt: Attempt) -> bool {
        self.failed.contains(&(at, attempt))
    }

    pub(super) fn record_failure(&mut self, at: usize, attempt: Attempt) {
        self.failed.insert((at, attempt));
    }

    /// Forgets what was read at and after an offset, whose text changes.
    pub(super) fn forget_text(&mut self, from: usize) {
        self.failed.retain(|(at, _)| *at < from);
        self.bodies.retain(|at, _| *at < from);
    }
}
