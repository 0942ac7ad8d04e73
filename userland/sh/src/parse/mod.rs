//! Parser from text to IR. It reads one complete command at a time, so that the commands before a syntax error still run.
//!
//! The grammar and the words are read in one pass through the bytes, because only the context decides whether `)` ends a
//! subshell, a substitution or an arm of `case`. `docs/decisions/brush-parser.md` explains why this is not a library.

mod alias;
mod arith;
mod attempts;
mod compound;
mod cond;
mod error;
mod function;
mod heredoc;
mod joining;
mod list;
mod param;
mod quote;
pub(crate) mod simple;
mod subscript;
mod substitution;
#[cfg(test)]
mod tests;
pub(crate) mod token;
mod word;

use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

pub(crate) use alias::Texts;
pub(crate) use arith::{ArithError, arith_of_source, closing_bracket, parse_expr, plain_number};
pub(crate) use error::{SyntaxError, SyntaxErrorKind};
pub(crate) use function::{read_function, read_list};
pub(crate) use quote::ansi_c;
pub(crate) use simple::read_assignment;
pub(crate) use subscript::{subscript_from_text, subscript_of_text, word_from_text};

use crate::ir::{HereDoc, List, Word};
use attempts::Attempt;

/// Nesting of commands, words and expressions that every engine has room for.
const SAFE_DEPTH: u32 = 250;
/// Maximum nesting. The evaluator recurses along the same tree, and measured frames leave it room
/// within the native stack of an engine on which functions nest as deep as they may.
const MAX_DEPTH: u32 = 450;
/// Nesting limit of functions in an engine with a full-size stack.
const FULL_NESTING: u32 = 1000;

type Parse<T> = Result<T, SyntaxError>;

/// A here-document whose body comes after the next newline.
struct Pending {
    document: Rc<HereDoc>,
    line: u32,
}

/// A position in the text.
#[derive(Clone, Copy)]
struct Mark {
    pos: usize,
    line: u32,
    joined: u32,
}

/// Reads commands from a text.
pub(crate) struct Parser<'a> {
    src: &'a [u8],
    /// The text before any alias was expanded in it.
    original: &'a [u8],
    pos: usize,
    line: u32,
    depth: u32,
    /// Open `$(`, in which the parenthesis that closes may end a here-document.
    substitutions: u32,
    pending: Vec<Pending>,
    /// Name of the source, kept in the functions that it defines.
    source: Rc<[u8]>,
    extglob: bool,
    posix: bool,
    /// The text is the body of a here-document or similar, in which quotes need not be closed.
    in_document: bool,
    /// Storage of texts that replace the current one; `None` if texts are never replaced.
    texts: Option<&'a Texts>,
    /// The text has line continuations.
    joins: bool,
    aliases: alias::Expansion,
    /// Lines joined by continuations within tokens.
    joined: u32,
    /// Functions whose text ends with the here-documents that wait for the next newline.
    unread: Vec<function::LazyFunctionBody>,
    /// Failed attempts, by offset.
    failed: BTreeSet<(usize, Attempt)>,
    /// Expanded bodies of here-documents within substitutions, by offset.
    bodies: BTreeMap<usize, Word>,
    /// The text was read before. Nothing in it is read a third time.
    is_second_reading: bool,
    /// Here-documents that ended with the text: the line they started at and the delimiter that was missing.
    pub(crate) unfinished: Vec<(u32, u32, Vec<u8>)>,
}

impl<'a> Parser<'a> {
    pub(crate) fn new(src: &'a [u8], line: u32, source: Rc<[u8]>) -> Self {
        Self {
            src,
            original: src,
            pos: 0,
            line,
            depth: 0,
            substitutions: 0,
            pending: Vec::new(),
            source,
            extglob: false,
            posix: false,
            in_document: false,
            texts: None,
            joins: joining::has_continuation(src),
            aliases: alias::Expansion::default(),
            joined: 0,
            unread: Vec::new(),
            failed: BTreeSet::new(),
            bodies: BTreeMap::new(),
            is_second_reading: false,
            unfinished: Vec::new(),
        }
    }

    /// A parser for a text within this one, which is read by the same rules.
    fn inner<'b>(&self, text: &'b [u8], line: u32) -> Parser<'b>
    where
        'a: 'b,
    {
        let mut inner = Parser::new(text, line, Rc::clone(&self.source));
        inner.depth = self.depth;
        inner.extglob = self.extglob;
        inner.posix = self.posix;
        inner.texts = self.texts;
        inner.is_second_reading = self.is_second_reading;
        inner.aliases = self.aliases.for_inner();
        inner
    }

    /// Sets whether `!(` starts a pattern at the start of a command.
    pub(crate) fn set_extglob(&mut self, on: bool) {
        self.extglob = on;
    }

    /// Sets whether POSIX rules take precedence.
    pub(crate) fn set_posix(&mut self, on: bool) {
        self.posix = on;
    }

    /// Begins as if this many levels were open already.
    pub(crate) fn start_at_depth(&mut self, depth: u32) {
        self.depth = depth;
    }

    /// The next line's commands, or `None` at the end of the text.
    pub(crate) fn next_list(&mut self) -> Parse<Option<List>> {
        self.failed.clear();
        self.bodies.clear();
        loop {
            self.expand_alias();
            match self.peek() {
                None => return Ok(None),
                Some(b'\n') => self.newline()?,
                Some(_) => break,
            }
        }
        let list = self.line_of_items()?;
        self.skip_blanks();
        match self.peek() {
            Some(b'\n') => self.newline()?,
            None => self.read_pending()?,
            Some(_) => return Err(self.unexpected()),
        }
        Ok(Some(list))
    }

    /// Returns whether the text ends with a line continuation, so that the next line belongs to the last one.
    pub(crate) fn ends_joined(&self) -> bool {
        let Some(line) = self.src.strip_suffix(b"\n") else { return false };
        line.iter().rev().take_while(|&&b| b == b'\\').count() % 2 == 1
    }

    /// Returns whether only blanks and newlines are left.
    fn at_end(&self) -> bool {
        self.rest().iter().all(u8::is_ascii_whitespace)
    }

    /// Offset of the next unread byte.
    pub(crate) fn offset(&self) -> usize {
        self.pos
    }

    /// The last line that was read, which is the line of commands without their own.
    pub(crate) fn last_line(&self) -> u32 {
        let ended = self.pos > 0 && self.src.get(self.pos.saturating_sub(1)) == Some(&b'\n');
        self.line.saturating_sub(u32::from(ended)).max(1)
    }

    /// The source line with this number, for messages.
    pub(crate) fn text_of_line(&self, first: u32, line: u32) -> &'a [u8] {
        let skip = line.saturating_sub(first) as usize;
        self.original.split(|&b| b == b'\n').nth(skip).unwrap_or_default()
    }

    /// The unread text and the line in which it starts.
    pub(crate) fn unread(&self) -> (&'a [u8], u32) {
        (self.rest(), self.line)
    }

    /// The current position, for [`Self::text_since`].
    pub(crate) fn place(&self) -> (usize, u32) {
        (self.pos, self.line)
    }

    /// The source text since a position; `first` is the number of the text's first line.
    pub(crate) fn text_since(&self, (offset, line): (usize, u32), first: u32) -> &'a [u8] {
        if std::ptr::eq(self.src, self.original) {
            return self.slice(offset, self.pos);
        }
        // Continuations and aliases have moved the offsets of later text, but not its lines.
        let start = |line: u32| {
            let before = line.saturating_sub(first) as usize;
            self.original.split_inclusive(|&b| b == b'\n').take(before).map(<[u8]>::len).sum::<usize>()
        };
        let end = if self.at_end() { self.original.len() } else { start(self.line) };
        self.original.get(start(line)..end).unwrap_or_default()
    }

    fn peek(&self) -> Option<u8> {
        self.src.get(self.pos).copied()
    }

    fn peek_at(&self, ahead: usize) -> Option<u8> {
        self.src.get(self.pos.saturating_add(ahead)).copied()
    }

    fn rest(&self) -> &'a [u8] {
        self.src.get(self.pos..).unwrap_or_default()
    }

    fn starts_with(&self, text: &[u8]) -> bool {
        self.rest().starts_with(text)
    }

    fn slice(&self, from: usize, to: usize) -> &'a [u8] {
        self.src.get(from..to).unwrap_or_default()
    }

    /// A position to which the parser may return.
    fn mark(&self) -> Mark {
        Mark { pos: self.pos, line: self.line, joined: self.joined }
    }

    /// Returns to a position. Joined lines stay joined.
    fn back(&mut self, mark: Mark) {
        self.pos = mark.pos;
        self.line = mark.line.saturating_add(self.joined.saturating_sub(mark.joined));
    }

    /// Goes one byte on and counts lines. Only for text inside words; between tokens [`Self::newline`] is right.
    fn bump(&mut self) {
        if self.peek() == Some(b'\n') && !self.in_alias() {
            self.line = self.line.saturating_add(1);
        }
        self.pos = self.pos.saturating_add(1);
    }

    /// Skips a newline between tokens and reads the pending here-documents.
    fn newline(&mut self) -> Parse<()> {
        self.bump();
        self.read_pending()
    }

    /// Runs `inner` one level deeper, or refuses when it is too deep.
    fn deeper<T>(&mut self, inner: impl FnOnce(&mut Self) -> Parse<T>) -> Parse<T> {
        if self.depth >= SAFE_DEPTH && self.depth >= most_depth() {
            return Err(SyntaxError::new(SyntaxErrorKind::TooDeep, self.line));
        }
        self.depth += 1;
        let result = inner(self);
        self.depth -= 1;
        result
    }
}

/// The deepest nesting that the engine has room for.
fn most_depth() -> u32 {
    let roomy = tidebox_rt::limits().is_ok_and(|limits| limits.nesting >= FULL_NESTING);
    if roomy { MAX_DEPTH } else { SAFE_DEPTH }
}
