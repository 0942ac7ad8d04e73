//! Regular expressions of `[[ =~ ]]`: POSIX extended ones with the additions of the GNU C library.
//!
//! The leftmost match counts, and of those the longest. No regex crate that is small enough for a shell does that:
//! `regex-lite` and `regex` take the first alternative that matches, and have no back-references.

mod backtrack;
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

/// The error of a match.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum RegexError {
    /// The text is not a valid expression.
    Pattern,
    /// A search with back-references exceeded the maximum number of steps.
    Effort,
}

/// Start and end of the match and of each group; `None` for a group that took no part.
pub(crate) type Groups = Vec<Option<(usize, usize)>>;

impl Regex {
    pub(crate) fn new(pattern: &[u8], fold: bool) -> Result<Self, RegexError> {
        let parsed = parse::parse(pattern)?;
        Ok(Self { program: Program::new(&parsed)?, fold })
    }

    /// The leftmost and then longest match.
    pub(crate) fn find(&self, text: &[u8]) -> Result<Option<Groups>, RegexError> {
        if self.program.recalls {
            return backtrack::find(&self.program, text, self.fold);
        }
        let Some((start, end)) = search::bounds(&self.program, text, self.fold) else { return Ok(None) };
        Ok(Some(search::groups(&self.program, text, self.fold, start, end)))
    }
}
