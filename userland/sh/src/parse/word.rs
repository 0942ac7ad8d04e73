//! Words as parts: the parts of a run of text, up to its end.

mod dollar;
mod quotes;
mod tilde;

use super::token::is_meta;
use super::{Parse, Parser};
use crate::ir::{Bytes, Part, Word};
use tilde::takes_tilde;

pub(super) use tilde::{tilde_after_colons, tilde_after_equals};

/// The end of a run of parts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Stop {
    /// A byte that ends a word.
    Meta,
    /// The brace that closes `${`.
    Brace,
    /// That brace, or the slash between pattern and replacement.
    BraceOrSlash,
    /// The bracket that closes a subscript.
    Bracket,
    /// The end of a regular expression in `[[ ]]`.
    Regex,
    /// One of these bytes outside parentheses, in arithmetic.
    Arith(&'static [u8]),
    /// The end of the text, as in a here-document.
    End,
    /// The end of a text in which double quotes quote, as in a subscript.
    Whole,
}

/// Parts that are being collected.
#[derive(Default)]
struct PartBuilder {
    parts: Vec<Part>,
    literal: Bytes,
    /// Open parentheses (or brackets) that belong to the text.
    open: u32,
    /// Between single quotes that are text.
    between: bool,
}

impl PartBuilder {
    fn flush(&mut self) {
        if !self.literal.is_empty() {
            self.parts.push(Part::Lit(std::mem::take(&mut self.literal)));
        }
    }

    fn push(&mut self, part: Part) {
        self.flush();
        self.parts.push(part);
    }
}

impl Parser<'_> {
    /// The word that comes next, or `None` at something else.
    pub(super) fn word(&mut self) -> Parse<Option<Word>> {
        let at_process = self.starts_with(b"<(") || self.starts_with(b">(");
        match self.peek() {
            None => return Ok(None),
            Some(byte) if is_meta(byte) && !at_process => return Ok(None),
            Some(_) => {}
        }
        self.word_until(Stop::Meta, false).map(Some)
    }

    /// Parses parts up to `stop`, which is not read. In `quoted` text, as between double quotes, `'` means itself.
    pub(super) fn word_until(&mut self, stop: Stop, quoted: bool) -> Parse<Word> {
        let start = self.pos;
        let parts = self.deeper(|p| p.builder(stop, quoted))?;
        let raw = self.slice(start, self.pos).into();
        let braces = stop == Stop::Meta && may_brace(&parts);
        Ok(Word { parts, raw, braces })
    }

    fn builder(&mut self, stop: Stop, quoted: bool) -> Parse<Vec<Part>> {
        let start_line = self.line;
        let mut builder = PartBuilder::default();
        loop {
            let Some(byte) = self.peek() else {
                return match stop {
                    Stop::Meta | Stop::End | Stop::Whole | Stop::Regex if builder.open == 0 => {
                        builder.flush();
                        Ok(builder.parts)
                    }
                    Stop::Brace | Stop::BraceOrSlash => Err(self.unclosed(b'}', start_line)),
                    Stop::Bracket | Stop::Arith(b"]") => Err(self.unclosed(b']', start_line)),
                    _ => Err(self.unclosed(b')', start_line)),
                };
            };
            if self.stops(stop, byte, &builder) {
                builder.flush();
                return Ok(builder.parts);
            }
            self.part_at(stop, quoted, byte, &mut builder)?;
        }
    }

    /// Returns whether the byte at the position ends the parts.
    fn stops(&self, stop: Stop, byte: u8, builder: &PartBuilder) -> bool {
        if builder.open > 0 {
            return false;
        }
        match stop {
            Stop::Meta => {
                let process = matches!(byte, b'<' | b'>') && self.peek_at(1) == Some(b'(');
                is_meta(byte) && !process
            }
            Stop::Brace | Stop::BraceOrSlash if builder.between => false,
            Stop::Brace => byte == b'}',
            Stop::BraceOrSlash => {
                let first = builder.parts.is_empty() && builder.literal.is_empty();
                byte == b'}' || (byte == b'/' && !first)
            }
            Stop::Bracket => byte == b']',
            Stop::Regex => matches!(byte, b' ' | b'\t' | b'\n' | b')' | b';' | b'&'),
            Stop::Arith(closers) => closers.contains(&byte),
            Stop::End | Stop::Whole => false,
        }
    }

    /// Reads one part, or one byte of literal text.
    fn part_at(&mut self, stop: Stop, quoted: bool, byte: u8, builder: &mut PartBuilder) -> Parse<()> {
        match byte {
            b'\\' => self.backslash(stop, quoted, builder),
            b'\'' | b'"' => self.quote_at(stop, quoted, byte, builder)?,
            b'$' => self.dollar_at(stop, quoted, builder)?,
            b'`' => {
                let body = self.backquoted(quoted)?;
                builder.push(Part::Command(body));
            }
            b'~' if !quoted && builder.parts.is_empty() && builder.literal.is_empty() && takes_tilde(stop) => {
                self.tilde(builder);
            }
            b'<' | b'>'
                if builder.open == 0
                    && (stop == Stop::Meta
                        || (matches!(stop, Stop::Brace) && !quoted && self.peek_at(1) == Some(b'('))) =>
            {
                self.pos += 2;
                let body = self.substitution_body()?;
                builder.push(Part::Process { output: byte == b'>', body });
            }
            _ => self.plain_byte(stop, byte, builder),
        }
        Ok(())
    }

    /// A byte that means itself; parentheses and brackets that belong to the text are counted.
    fn plain_byte(&mut self, stop: Stop, byte: u8, builder: &mut PartBuilder) {
        let extended = matches!(byte, b'?' | b'*' | b'+' | b'@' | b'!')
            && self.peek_at(1) == Some(b'(')
            && (matches!(stop, Stop::Brace | Stop::BraceOrSlash) || (stop == Stop::Meta && self.extglob));
        if extended {
            builder.literal.push(byte);
            self.pos += 1;
            builder.open += 1;
        } else {
            match (stop, byte) {
                (Stop::Arith(b"]"), b'[') => builder.open += 1,
                (Stop::Arith(b"]"), b']') => builder.open = builder.open.saturating_sub(1),
                (Stop::Arith(b"]"), _) => {}
                (Stop::Bracket, b'[') => builder.open += 1,
                (Stop::Meta | Stop::Brace | Stop::BraceOrSlash, b'(') if builder.open > 0 => builder.open += 1,
                (Stop::Bracket, b']') => builder.open = builder.open.saturating_sub(1),
                (Stop::Bracket, _) => {}
                (Stop::Regex | Stop::Arith(_), b'(') => builder.open += 1,
                (_, b')') => builder.open = builder.open.saturating_sub(1),
                _ => {}
            }
        }
        if let Some(byte) = self.peek() {
            builder.literal.push(byte);
            self.bump();
        }
    }

    /// Parses the whole text as a word: a here-document, or an argument.
    pub(crate) fn whole_text(&mut self) -> Parse<Word> {
        self.in_document = true;
        self.word_until(Stop::End, true)
    }

    /// All of the text as the operand of an unquoted expansion, for subscripts that are built at run time.
    pub(crate) fn whole_unquoted(&mut self) -> Parse<Word> {
        self.word_until(Stop::Whole, false)
    }
}

/// Returns whether unquoted text of the word could be a brace expansion.
pub(super) fn may_brace(parts: &[Part]) -> bool {
    let unquoted = || parts.iter().filter_map(|part| if let Part::Lit(text) = part { Some(text) } else { None });
    let has = |expected: u8| unquoted().any(|text| text.contains(&expected));
    has(b'{') && has(b'}') && (has(b',') || unquoted().any(|text| text.windows(2).any(|pair| pair == b"..")))
}
