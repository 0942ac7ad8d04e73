//! From text to IR, one complete command at a time, so that what stands before a syntax error still runs.
//!
//! The grammar and the words are read in one pass over the bytes: whether `)` ends a subshell, a substitution or an arm
//! of `case` is known only where it is met. `docs/decisions/brush-parser.md` says why no library does this.

mod alias;
mod arith;
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

use std::rc::Rc;

pub(crate) use alias::Texts;
pub(crate) use arith::{arith_of_source, closing_bracket, number_value, parse_expr, plain_number, text_from};
pub(crate) use error::{Place, Problem, SyntaxError};
pub(crate) use function::{read_for_print, read_function, read_list_for_print, word_for_print};
pub(crate) use quote::{ansi_c, remove_quotes};
pub(crate) use simple::read_assignment;
pub(crate) use subscript::{subscript_from_text, subscript_of_text, word_from_text};

use crate::ir::{HereDoc, List};

/// Nesting of commands, words and expressions that every engine has room for.
const SAFE_DEPTH: u32 = 250;
/// Nesting beyond which parsing gives up. The evaluator recurses along the same tree, and measured frames leave it room
/// within the native stack of an engine on which functions nest as deep as they may.
const MAX_DEPTH: u32 = 450;
/// How deep functions nest there.
const FULL_NESTING: u32 = 1000;

type Parse<T> = Result<T, SyntaxError>;

/// A here-document whose body comes after the next newline.
struct Pending {
    document: Rc<HereDoc>,
    line: u32,
}

/// A place in the text.
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
    /// The line that the word of the `case` that was read last ended in.
    case_line: u32,
    /// The line of the last `for ((` that was read.
    for_line: u32,
    /// Where the body of the newest function begins, which bash takes for that of the function around it, too.
    function_line: u32,
    /// Where messages say that a line starts which began with the end of a here-document.
    cut_line: Option<(u32, usize)>,
    /// How far the numbers of lines are below those of the text, since commands were given up.
    recounted: u32,
    /// Where the commands of the outermost substitution with a mistake start.
    broken_from: Option<usize>,
    pending: Vec<Pending>,
    /// The token that does not belong where it stands is behind whole commands.
    behind_commands: bool,
    /// Name of the source, kept in the functions that it defines.
    source: Rc<[u8]>,
    extglob: bool,
    posix: bool,
    /// The text is a here-document or the like, in which quotes need not close.
    in_document: bool,
    /// A condition of an earlier text had a mistake, so that the next one is not known for what it is.
    condition_open: bool,
    /// The next word is no reserved word, because a text that was read before ended within quotes.
    blind: bool,
    /// The text ended with a backslash that quoted nothing.
    pub(crate) cut_off: bool,
    /// A comment within `$(( ))` hides its end, which bash finds out when it expands the word.
    hidden_end: bool,
    /// What is read stands directly between double quotes, or in an expansion there.
    between_quotes: bool,
    /// What is read belongs to a substitution that stands between double quotes.
    quoted_substitution: bool,
    /// What is read is the pattern of an expansion between double quotes or in a here-document.
    quoted_operand: bool,
    /// Words are kept as bash prints them: with the commands of substitutions in the form it gives them.
    for_print: bool,
    /// Stretches of the text that words have in another form, as `$'..'` in plain quotes: from, to, the form.
    reprinted: Vec<(usize, usize, Vec<u8>)>,
    /// What is read stands in an expansion of what is no name.
    bad_name: bool,
    /// Substitutions that were read whose commands bash prints on several lines.
    printed: u32,
    /// Where texts go that take the place of the one that is read; `None` where none does.
    texts: Option<&'a Texts>,
    /// The text has line continuations.
    joins: bool,
    aliases: alias::Expansion,
    /// Lines that line continuations inside tokens took, so far.
    joined: u32,
    /// Functions whose text ends with the here-documents that wait for the next newline.
    unread: Vec<function::Unread>,
    /// Offsets of `((` that turned out to be no arithmetic, so that nesting does not try them again and again.
    not_arith: Vec<usize>,
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
            case_line: line,
            for_line: line,
            function_line: line,
            cut_line: None,
            recounted: 0,
            broken_from: None,
            pending: Vec::new(),
            behind_commands: false,
            source,
            extglob: false,
            posix: false,
            in_document: false,
            condition_open: false,
            blind: false,
            cut_off: false,
            hidden_end: false,
            between_quotes: false,
            quoted_substitution: false,
            quoted_operand: false,
            for_print: false,
            reprinted: Vec::new(),
            bad_name: false,
            printed: 0,
            texts: None,
            joins: joining::has_continuation(src),
            aliases: alias::Expansion::default(),
            joined: 0,
            unread: Vec::new(),
            not_arith: Vec::new(),
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
        inner.aliases = self.aliases.for_inner();
        inner
    }

    /// Whether `!(` starts a pattern where a command may start.
    pub(crate) fn set_extglob(&mut self, on: bool) {
        self.extglob = on;
    }

    /// Whether the rules of POSIX come before bash's own.
    pub(crate) fn set_posix(&mut self, on: bool) {
        self.posix = on;
    }

    /// Whether a condition of an earlier text was left with a mistake.
    pub(crate) fn set_condition_open(&mut self, open: bool) {
        self.condition_open = open;
    }

    /// Whether the next command begins with no reserved word.
    pub(crate) fn set_blind(&mut self, blind: bool) {
        self.blind = blind;
    }

    /// Begins as if this many levels were open already.
    pub(crate) fn start_at_depth(&mut self, depth: u32) {
        self.depth = depth;
    }

    /// The next line's commands, or `None` at the end of the text.
    pub(crate) fn next_list(&mut self) -> Parse<Option<List>> {
        self.reprinted.clear();
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
            Some(_) => {
                self.behind_commands = true;
                return Err(self.unexpected());
            }
        }
        Ok(Some(list))
    }

    /// Whether the text ends with a line continuation, so that the next line belongs to the last one.
    pub(crate) fn ends_joined(&self) -> bool {
        let Some(line) = self.src.strip_suffix(b"\n") else { return false };
        line.iter().rev().take_while(|&&b| b == b'\\').count() % 2 == 1
    }

    /// Whether nothing but blanks and newlines is left.
    fn at_end(&self) -> bool {
        self.rest().iter().all(u8::is_ascii_whitespace)
    }

    /// Gives up what was read of a line with an error, and goes on after its end.
    pub(crate) fn skip_line(&mut self) {
        self.pending.clear();
        self.unread.clear();
        while let Some(byte) = self.peek() {
            self.bump();
            if byte == b'\n' {
                break;
            }
        }
    }

    /// Offset of the next unread byte.
    pub(crate) fn offset(&self) -> usize {
        self.pos
    }

    /// The line that was read last, where commands without a line of their own are said to be.
    pub(crate) fn last_line(&self) -> u32 {
        let ended = self.pos > 0 && self.src.get(self.pos.saturating_sub(1)) == Some(&b'\n');
        self.line.saturating_sub(u32::from(ended)).max(1)
    }

    /// Counts the lines to come from another number on, as bash does after an error that gave a command up.
    pub(crate) fn recount(&mut self, from: u32, to: u32) {
        self.line = self.line.saturating_sub(from).saturating_add(to);
        self.recounted = self.recounted.saturating_add(from.saturating_sub(to));
    }

    /// The whole of the source line with this number, for messages.
    pub(crate) fn text_of_line(&self, first: u32, line: u32) -> &'a [u8] {
        let line = line.saturating_add(self.recounted);
        if let Some((_, start)) = self.cut_line.filter(|(cut, _)| *cut == line) {
            return self.src.get(start..).and_then(|rest| rest.split(|&b| b == b'\n').next()).unwrap_or_default();
        }
        let skip = line.saturating_sub(first) as usize;
        self.original.split(|&b| b == b'\n').nth(skip).unwrap_or_default()
    }

    /// What is left to be read, and the line that it starts in.
    pub(crate) fn unread(&self) -> (&'a [u8], u32) {
        (self.rest(), self.line)
    }

    /// The place where the next line is read, for [`Self::text_since`].
    pub(crate) fn place(&self) -> (usize, u32) {
        (self.pos, self.line)
    }

    /// What was read since a place, as it was written; `first` is the number of the text's first line.
    pub(crate) fn text_since(&self, (offset, line): (usize, u32), first: u32) -> &'a [u8] {
        if std::ptr::eq(self.src, self.original) {
            return self.slice(offset, self.pos);
        }
        // Continuations and aliases have moved what is behind them, but lines are still the same.
        let start = |line: u32| {
            let before = line.saturating_add(self.recounted).saturating_sub(first) as usize;
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

    /// The place to which reading may come back.
    fn mark(&self) -> Mark {
        Mark { pos: self.pos, line: self.line, joined: self.joined }
    }

    /// Comes back to a place. What was joined meanwhile stays joined.
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

    /// Goes past a newline between tokens and reads the here-documents that wait for it.
    fn newline(&mut self) -> Parse<()> {
        self.bump();
        self.read_pending()
    }

    /// Runs `inner` one level deeper, or refuses when it is too deep.
    fn deeper<T>(&mut self, inner: impl FnOnce(&mut Self) -> Parse<T>) -> Parse<T> {
        if self.depth >= SAFE_DEPTH && self.depth >= most_depth() {
            return Err(SyntaxError::new(Problem::TooDeep, self.line));
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
