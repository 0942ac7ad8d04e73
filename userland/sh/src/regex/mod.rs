//! Regular expressions of `[[ =~ ]]`: POSIX extended ones with the additions of the GNU C library except back-references.
//!
//! The leftmost match counts, and of those the longest. No regex crate that is small enough for a shell does that:
//! `regex-lite` and `regex` take the first alternative that matches.

mod parse;
mod program;
mod search;
#[cfg(test)]
mod tests;

use program::Program;

/// A compiled expression.
#[derive(Debug)]
pub(crate) struct Regex {
    program: Program,
    fold: bool,
}

/// The error of an expression.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum RegexError {
    /// The text is not a valid expression.
    Pattern,
    /// It has a back-reference.
    BackReference,
}

/// Start and end of the match and of each group; `None` for a group that took no part.
pub(crate) type Groups = Vec<Option<(usize, usize)>>;

impl Regex {
    pub(crate) fn new(pattern: &[u8], fold: bool) -> Result<Self, RegexError> {
        let parsed = parse::parse(pattern)?;
        Ok(Self { program: Program::new(&parsed)?, fold })
    }

    /// The leftmost and then longest match.
    pub(crate) fn find(&self, text: &[u8]) -> Option<Groups> {
        let (start, end) = search::bounds(&self.program, text, self.fold)?;
        Some(search::groups(&self.program, text, self.fold, start, end))
    }
}
