//! Regular expressions as POSIX and GNU write them, found in time that grows only linearly with the text.
//!
//! Patterns are read into a tree of our own and then handed to `regex-automata`, because neither the syntax nor the rule
//! for the longest match is that of Perl. Patterns with back-references, and Perl's own, go to `fancy-regex`, which may
//! backtrack and gives up after a bounded number of steps.

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

/// How patterns are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Dialect {
    /// POSIX basic: `\(`, `\{`, `\|` are operators.
    Basic,
    /// POSIX extended: `(`, `{`, `|` are operators.
    Extended,
    /// Emacs, which `find` reads by default: as basic, but `+` and `?` are operators and there are no counts.
    Emacs,
    /// Perl.
    Perl,
    /// No operators at all.
    Fixed,
}

/// What a pattern is applied to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Subject {
    /// Lines, of which one may follow the other in a text. Nothing matches what ends them.
    Lines,
    /// A text as a whole: every character can match, and `^` and `$` are its beginning and its end.
    Text,
    /// As [`Self::Text`], but `^` and `$` are also the beginnings and ends of its lines.
    TextOfLines,
}

/// What becomes of an operator that has nothing to apply to, and of a brace or a parenthesis without its other half.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Misplaced {
    /// It stands for itself where that is possible, as for `grep`.
    #[default]
    Tolerated,
    /// Operators and braces are mistakes, a closing parenthesis is none: `posix-extended` of `find`.
    Refused,
    /// As before, and so are parentheses: `sed`.
    AllRefused,
}

/// How text is searched.
#[derive(Clone, Copy, Debug)]
pub struct Options {
    /// How patterns are written.
    pub dialect: Dialect,
    /// Whether patterns are read strictly.
    pub misplaced: Misplaced,
    /// Letters match in either case.
    pub ignore_case: bool,
    /// Only whole lines match.
    pub whole_line: bool,
    /// Only whole words match.
    pub whole_word: bool,
    /// What the patterns are applied to.
    pub subject: Subject,
    /// The byte that ends a line.
    pub terminator: u8,
    /// [`Regex::captures`] is going to ask what groups match.
    pub captures: bool,
    /// Characters are those of UTF-8, and classes such as `[:alpha:]` reach beyond ASCII. Without it every byte is a
    /// character, as in the C locale.
    pub unicode: bool,
}

impl Options {
    /// The usual: lines that end in a newline, read tolerantly, of which any part may match, letter by letter, as in the
    /// C locale. What differs is said by `Options { .. , ..Options::of(dialect) }`.
    pub const fn of(dialect: Dialect) -> Self {
        Self {
            dialect,
            misplaced: Misplaced::Tolerated,
            ignore_case: false,
            whole_line: false,
            whole_word: false,
            subject: Subject::Lines,
            terminator: b'\n',
            captures: false,
            unicode: false,
        }
    }

    /// The usual for patterns in [`Dialect::Basic`].
    pub const fn basic() -> Self {
        Self::of(Dialect::Basic)
    }

    /// The usual for patterns in [`Dialect::Extended`].
    pub const fn extended() -> Self {
        Self::of(Dialect::Extended)
    }

    /// The usual for patterns in [`Dialect::Emacs`].
    pub const fn emacs() -> Self {
        Self::of(Dialect::Emacs)
    }

    /// The usual for patterns in [`Dialect::Perl`].
    pub const fn perl() -> Self {
        Self::of(Dialect::Perl)
    }
}

/// A pattern that is none.
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

/// One or more patterns, ready to search.
#[derive(Debug)]
pub struct Regex {
    engine: Engine,
    /// Where classes reach beyond ASCII: what the engine for all of Unicode is made from. It takes a third of a
    /// millisecond to make, so that text which is ASCII only is searched by the other one.
    beyond: Option<Beyond>,
    terminator: u8,
    warnings: Vec<String>,
}

#[derive(Debug)]
struct Beyond {
    patterns: Vec<Vec<u8>>,
    options: Options,
    engine: OnceCell<Result<Engine, Error>>,
    /// The line that is being searched is ASCII only.
    is_ascii: Cell<bool>,
}

impl Beyond {
    fn engine(&self) -> Result<&Engine, Error> {
        let made = self.engine.get_or_init(|| {
            // The other engine has given the warnings.
            Engine::new(&self.patterns, &self.options, false, &mut Vec::new()).map(|(engine, _)| engine)
        });
        made.as_ref().map_err(Clone::clone)
    }
}

impl Regex {
    /// Reads patterns, of which any may match. Without patterns nothing matches.
    pub fn new(patterns: &[Vec<u8>], options: &Options) -> Result<Self, Error> {
        let mut warnings = Vec::new();
        let ascii = Options { unicode: false, ..*options };
        let (engine, depends_on_locale) = Engine::new(patterns, &ascii, !options.unicode, &mut warnings)?;
        let beyond = (options.unicode && depends_on_locale).then(|| Beyond {
            patterns: patterns.to_vec(),
            options: *options,
            engine: OnceCell::new(),
            is_ascii: Cell::new(false),
        });
        Ok(Self { engine, beyond, terminator: options.terminator, warnings })
    }

    /// What GNU warns of when it reads the patterns.
    pub fn warnings(&self) -> &[String] {
        &self.warnings
    }

    /// The engine for a text. Its first search, which begins at its beginning, decides; those that go on in it do not look
    /// at all of it again.
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

    /// The first line of `text` at or after `from` that matches, without its end. `from` is the beginning of a line.
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
            let Some(within) = engine.find_somewhere(text, from, self.terminator)? else {
                return Ok(None);
            };
            // A match behind the last line end is on no line.
            if within >= text.len() && text.last().is_none_or(|last| *last == self.terminator) {
                return Ok(None);
            }
            let before = text.get(from..within).unwrap_or_default();
            let start = memchr::memrchr(self.terminator, before).map_or(from, |at| from + at + 1);
            let after = text.get(within..).unwrap_or_default();
            let end = memchr::memchr(self.terminator, after).map_or(text.len(), |at| within + at);
            let line = text.get(start..end).unwrap_or_default();
            if engine.is_certain() || engine.find_in_line(line, 0)?.is_some() {
                return Ok(Some(start..end));
            }
            from = end + 1;
            if from >= text.len() {
                return Ok(None);
            }
        }
    }

    /// The leftmost and there the longest match in a line, at or after `from`.
    ///
    /// Searches of a line begin at 0; one with a larger `from` goes on in the line of the search before it.
    pub fn find_in_line(&self, line: &[u8], from: usize) -> Result<Option<Range<usize>>, Error> {
        self.engine(line, from)?.find_in_line(line, from)
    }
}

impl Regex {
    /// Whether anything in a text matches, which is cheaper to say than where.
    pub fn is_match(&self, text: &[u8]) -> Result<bool, Error> {
        let engine = self.engine(text, 0)?;
        if !engine.is_certain() {
            return Ok(engine.find_in_line(text, 0)?.is_some());
        }
        Ok(engine.find_somewhere(text, 0, self.terminator)?.is_some())
    }
}

/// Says what is wrong with a pattern, without making an engine of it.
pub fn check(pattern: &[u8], dialect: Dialect) -> Result<(), Error> {
    parse::parse(pattern, dialect, Misplaced::Tolerated, true).map(drop)
}

/// What a match and its groups match, the match itself first. A group that takes no part matches nothing.
pub type Groups = Vec<Option<Range<usize>>>;

impl Regex {
    /// As [`Self::find_in_line`], with what the groups match; what holds for `from` there holds here, too.
    pub fn captures(&self, text: &[u8], from: usize) -> Result<Option<Groups>, Error> {
        self.engine(text, from)?.captures(text, from)
    }

    /// How many groups the pattern has.
    pub fn groups(&self) -> usize {
        self.engine.groups()
    }
}
