//! POSIX and GNU regular expressions, matched in linear time.
//!
//! Patterns are parsed into our own tree and then compiled by `regex-automata`, because both the syntax and the leftmost-longest
//! rule differ from Perl. Patterns with back-references, and Perl patterns, use `fancy-regex`, which may backtrack and fails
//! after a bounded number of steps.

mod bracket;
mod engine;
mod lower;
mod parse;
mod syntax;
#[cfg(test)]
mod tests;

use std::cell::{Cell, OnceCell};
use std::fmt;
use std::ops::Range;

use engine::Engine;

/// Pattern syntax.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Dialect {
    /// POSIX basic: `\(`, `\{`, `\|` are operators.
    Basic,
    /// POSIX extended: `(`, `{`, `|` are operators.
    Extended,
    /// Emacs, the default of `find`: like basic, but `+` and `?` are operators, and counts are not supported.
    Emacs,
    /// Perl.
    Perl,
    /// No operators at all.
    Fixed,
}

/// Subject that a pattern is matched against.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Subject {
    /// Lines of a text. Line terminators never match.
    Lines,
    /// A whole text: every character can match; `^` and `$` are its start and end.
    Text,
    /// Like [`Self::Text`], but `^` and `$` also match at the start and end of its lines.
    TextOfLines,
}

/// Handling of an operator without operand, and of an unbalanced brace or parenthesis.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum StrayOperators {
    /// Literal where possible, as in `grep`.
    #[default]
    Tolerated,
    /// Operators and braces are errors, a closing parenthesis is literal: `posix-extended` of `find`.
    Refused,
    /// Like the previous, and parentheses are errors: `sed`.
    AllRefused,
}

/// Search options.
#[derive(Clone, Copy, Debug)]
pub struct Options {
    /// Pattern syntax.
    pub dialect: Dialect,
    /// Strictness of the parser.
    pub misplaced: StrayOperators,
    /// Case-insensitive matching.
    pub ignore_case: bool,
    /// Only whole lines match.
    pub whole_line: bool,
    /// Only matches between characters other than `\w`, as with `grep -w`.
    pub whole_word: bool,
    /// Subject of the patterns.
    pub subject: Subject,
    /// The byte that ends a line.
    pub terminator: u8,
    /// Set if the caller uses [`Regex::captures`].
    pub captures: bool,
    /// Characters are UTF-8, and classes such as `[:alpha:]` extend beyond ASCII. Otherwise every byte is a character, as in the
    /// C locale.
    pub unicode: bool,
}

impl Options {
    /// Defaults: lines that end in a newline, tolerant parsing, partial matches, case-sensitive, C locale. Override with `Options
    /// { .. , ..Options::of(dialect) }`.
    pub const fn of(dialect: Dialect) -> Self {
        Self {
            dialect,
            misplaced: StrayOperators::Tolerated,
            ignore_case: false,
            whole_line: false,
            whole_word: false,
            subject: Subject::Lines,
            terminator: b'\n',
            captures: false,
            unicode: false,
        }
    }

    /// Defaults for [`Dialect::Basic`].
    pub const fn basic() -> Self {
        Self::of(Dialect::Basic)
    }

    /// Defaults for [`Dialect::Extended`].
    pub const fn extended() -> Self {
        Self::of(Dialect::Extended)
    }

    /// Defaults for [`Dialect::Emacs`].
    pub const fn emacs() -> Self {
        Self::of(Dialect::Emacs)
    }

    /// Defaults for [`Dialect::Perl`].
    pub const fn perl() -> Self {
        Self::of(Dialect::Perl)
    }
}

/// Invalid pattern.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Error {
    message: String,
}

impl Error {
    pub(crate) fn new(message: impl Into<String>) -> Self {
        Self { message: message.into() }
    }

    pub(crate) fn too_big() -> Self {
        Self::new("Regular expression too big")
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for Error {}

/// One or more compiled patterns.
#[derive(Debug)]
pub struct Regex {
    engine: Engine,
    /// Source of the Unicode engine, if classes extend beyond ASCII. Compiling it takes a third of a millisecond, so text that is
    /// ASCII only uses the other engine.
    beyond: Option<UnicodeFallback>,
    terminator: u8,
    warnings: Vec<String>,
}

#[derive(Debug)]
struct UnicodeFallback {
    patterns: Vec<Vec<u8>>,
    options: Options,
    engine: OnceCell<Result<Engine, Error>>,
    /// True if the current line is ASCII only.
    is_ascii: Cell<bool>,
}

impl UnicodeFallback {
    fn engine(&self) -> Result<&Engine, Error> {
        let made = self.engine.get_or_init(|| {
            // The other engine has already returned the warnings.
            Engine::new(&self.patterns, &self.options, false, &mut Vec::new()).map(|(engine, _)| engine)
        });
        made.as_ref().map_err(Clone::clone)
    }
}

impl Regex {
    /// Compiles patterns; a match of any of them counts. Without patterns nothing matches.
    pub fn new(patterns: &[Vec<u8>], options: &Options) -> Result<Self, Error> {
        let mut warnings = Vec::new();
        let ascii = Options { unicode: false, ..*options };
        let (engine, depends_on_locale) = Engine::new(patterns, &ascii, !options.unicode, &mut warnings)?;
        let beyond = (options.unicode && depends_on_locale).then(|| UnicodeFallback {
            patterns: patterns.to_vec(),
            options: *options,
            engine: OnceCell::new(),
            is_ascii: Cell::new(false),
        });
        Ok(Self { engine, beyond, terminator: options.terminator, warnings })
    }

    /// GNU's warnings about the patterns.
    pub fn warnings(&self) -> &[String] {
        &self.warnings
    }

    /// Selects the engine for a text. The first search, at the start of the line, decides; searches that continue in the line do
    /// not scan all of it again.
    fn engine(&self, text: &[u8], from: usize) -> Result<&Engine, Error> {
        match &self.beyond {
            None => Ok(&self.engine),
            Some(beyond) => {
                if from == 0 {
                    beyond.is_ascii.set(text.is_ascii());
                }
                if beyond.is_ascii.get() { Ok(&self.engine) } else { beyond.engine() }
            }
        }
    }

    /// Returns the first matching line of `text` at or after `from`, without its terminator. `from` must be the start of a line.
    ///
    /// Fails when a backtracking pattern takes too many steps.
    pub fn find_line(&self, text: &[u8], from: usize) -> Result<Option<Range<usize>>, Error> {
        let found = self.find_line_by(&self.engine, text, from)?;
        if let Some(beyond) = &self.beyond {
            let seen = from..found.as_ref().map_or(text.len(), |line| line.end);
            if !text.get(seen).unwrap_or_default().is_ascii() {
                return self.find_line_by(beyond.engine()?, text, from);
            }
        }
        Ok(found)
    }

    fn find_line_by(&self, engine: &Engine, text: &[u8], from: usize) -> Result<Option<Range<usize>>, Error> {
        let mut from = from;
        loop {
            let Some(within) = engine.find_candidate(text, from, self.terminator)? else {
                return Ok(None);
            };
            // A match after the last line terminator is not on a line.
            if within >= text.len() && text.last().is_none_or(|last| *last == self.terminator) {
                return Ok(None);
            }
            let before = text.get(from..within).unwrap_or_default();
            let start = memchr::memrchr(self.terminator, before).map_or(from, |at| from + at + 1);
            let after = text.get(within..).unwrap_or_default();
            let end = memchr::memchr(self.terminator, after).map_or(text.len(), |at| within + at);
            let line = text.get(start..end).unwrap_or_default();
            if engine.candidate_is_match() || engine.find_in_line(line, 0)?.is_some() {
                return Ok(Some(start..end));
            }
            from = end + 1;
            if from >= text.len() {
                return Ok(None);
            }
        }
    }

    /// Returns the leftmost-longest match in a line, at or after `from`.
    ///
    /// The first search of a line must start at 0; a search with a larger `from` continues in the line of the previous search.
    pub fn find_in_line(&self, line: &[u8], from: usize) -> Result<Option<Range<usize>>, Error> {
        self.engine(line, from)?.find_in_line(line, from)
    }
}

impl Regex {
    /// Returns whether anything in a text matches; cheaper than finding the position.
    pub fn is_match(&self, text: &[u8]) -> Result<bool, Error> {
        let engine = self.engine(text, 0)?;
        if !engine.candidate_is_match() {
            return Ok(engine.find_in_line(text, 0)?.is_some());
        }
        Ok(engine.find_candidate(text, 0, self.terminator)?.is_some())
    }
}

/// Validates a pattern without compiling an engine.
pub fn check(pattern: &[u8], dialect: Dialect) -> Result<(), Error> {
    parse::parse(pattern, dialect, StrayOperators::Tolerated, true).map(drop)
}

/// The ranges of a match and its groups, the match first. A group that does not participate has no range.
pub type Groups = Vec<Option<Range<usize>>>;

impl Regex {
    /// Like [`Self::find_in_line`], with the groups; the same rule for `from` applies.
    pub fn captures(&self, text: &[u8], from: usize) -> Result<Option<Groups>, Error> {
        self.engine(text, from)?.captures(text, from)
    }

    /// Returns the number of groups of the pattern.
    pub fn groups(&self) -> usize {
        self.engine.groups()
    }
}
