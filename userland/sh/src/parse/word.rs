//! Words in pieces: what a run of text is made of, up to what ends it.

mod dollar;
mod quotes;
mod refused;
mod reprint;
mod tilde;

use super::token::is_meta;
use super::{Parse, Parser};
use crate::ir::{Bytes, Part, Word};
use dollar::without_end;
use tilde::takes_tilde;

pub(super) use refused::name_text;
pub(super) use tilde::{tilde_after_colons, tilde_after_equals};

/// What ends a run of pieces.
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

/// Pieces that are being collected.
#[derive(Default)]
struct Pieces {
    parts: Vec<Part>,
    literal: Bytes,
    /// Open parentheses (or brackets) that belong to the text.
    open: u32,
    /// Between single quotes that are text.
    between: bool,
    /// Between double quotes of an expression, whose end is no beginning.
    doubled: bool,
    /// Escaped double quotes between those, by the parts that they became, with what each stands for where something is expanded.
    escaped: Vec<(usize, &'static [u8])>,
    /// After an odd number of them.
    within_escaped: bool,
    /// How many parts and escaped quotes there were where the double quotes began.
    doubled_from: (usize, usize),
}

impl Pieces {
    fn flush(&mut self) {
        if !self.literal.is_empty() {
            self.parts.push(Part::Lit(std::mem::take(&mut self.literal)));
        }
    }

    fn push(&mut self, part: Part) {
        self.flush();
        self.parts.push(part);
    }

    /// Whether a bracket of the text is open.
    fn in_brackets(&self) -> bool {
        let literals = self.parts.iter().filter_map(|part| if let Part::Lit(text) = part { Some(text) } else { None });
        let bytes = || literals.clone().chain([&self.literal]).flatten();
        bytes().filter(|byte| **byte == b'[').count() > bytes().filter(|byte| **byte == b']').count()
    }

    /// At the end of double quotes of an expression: beside a list of words nothing shows that another text is empty.
    fn end_doubled(&mut self) {
        let (parts, escaped) = self.doubled_from;
        if self.parts.iter().skip(parts).any(quotes::may_be_list) {
            self.escaped.iter_mut().skip(escaped).for_each(|(_, text)| *text = b"");
        }
    }

    /// Where something is expanded in an expression, what stands between double quotes is read once more, so that escaped ones
    /// quote in their turn.
    fn expand_escaped(&mut self) {
        for (at, text) in std::mem::take(&mut self.escaped) {
            if let Some(part) = self.parts.get_mut(at) {
                *part = Part::Quoted(text.to_vec());
            }
        }
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
        let outer = std::mem::take(&mut self.hidden_end);
        let word = self.word_until(Stop::Meta, false)?;
        Ok(Some(if std::mem::replace(&mut self.hidden_end, outer) { without_end(&word.raw) } else { word }))
    }

    /// Pieces up to `stop`, which is not read. In `quoted` text, as between double quotes, `'` means itself.
    pub(super) fn word_until(&mut self, stop: Stop, quoted: bool) -> Parse<Word> {
        let start = self.pos;
        let mut parts = self.deeper(|p| p.pieces(stop, quoted))?;
        let raw: Box<[u8]> =
            if self.reprinted.is_empty() { self.slice(start, self.pos).into() } else { self.reprinted(start).into() };
        name_text(&mut parts, || raw.clone());
        let braces = stop == Stop::Meta && may_brace(&parts);
        Ok(Word { parts, raw, braces })
    }

    fn pieces(&mut self, stop: Stop, quoted: bool) -> Parse<Vec<Part>> {
        let (start, start_line) = (self.pos, self.line);
        let mut pieces = Pieces::default();
        loop {
            let Some(byte) = self.peek() else {
                return match stop {
                    Stop::Meta | Stop::End | Stop::Whole | Stop::Regex if pieces.open == 0 => {
                        pieces.flush();
                        Ok(pieces.parts)
                    }
                    Stop::Brace | Stop::BraceOrSlash => Err(self.unclosed(b'}', start_line)),
                    Stop::Arith(b")") if pieces.doubled => Err(self.unclosed(b'"', start_line)),
                    Stop::Bracket | Stop::Arith(b"]") => Err(self.unclosed(b']', start_line)),
                    _ => Err(self.unclosed(b')', start_line)),
                };
            };
            if self.stops(stop, byte, &pieces) {
                pieces.flush();
                if !pieces.escaped.is_empty()
                    && self.slice(start, self.pos).iter().any(|byte| matches!(byte, b'$' | b'`'))
                {
                    pieces.expand_escaped();
                }
                return Ok(pieces.parts);
            }
            self.piece(stop, quoted, byte, &mut pieces)?;
        }
    }

    /// Whether the byte at the position ends the pieces.
    fn stops(&self, stop: Stop, byte: u8, pieces: &Pieces) -> bool {
        if pieces.open > 0 {
            return false;
        }
        match stop {
            Stop::Meta => {
                let process = matches!(byte, b'<' | b'>') && self.peek_at(1) == Some(b'(');
                is_meta(byte) && !process
            }
            Stop::Brace | Stop::BraceOrSlash if pieces.between => false,
            Stop::Brace => byte == b'}',
            Stop::BraceOrSlash => {
                let first = pieces.parts.is_empty() && pieces.literal.is_empty();
                byte == b'}' || (byte == b'/' && !first)
            }
            Stop::Bracket => byte == b']',
            Stop::Regex => matches!(byte, b' ' | b'\t' | b'\n' | b')' | b';' | b'&'),
            Stop::Arith(b")") if pieces.between || pieces.doubled => false,
            Stop::Arith(b";)") if pieces.doubled => false,
            Stop::Arith(closers) => closers.contains(&byte),
            Stop::End | Stop::Whole => false,
        }
    }

    /// Reads one piece, or one byte of literal text.
    fn piece(&mut self, stop: Stop, quoted: bool, byte: u8, pieces: &mut Pieces) -> Parse<()> {
        match byte {
            b'\\' => self.backslash(stop, quoted, pieces),
            b'\'' | b'"' => self.quote_piece(stop, quoted, byte, pieces)?,
            b'$' if self.for_print && matches!(stop, Stop::Meta | Stop::Regex) && pieces.open > 0 => {
                // Within a group of a pattern or a regular expression substitutions are printed as they were written.
                self.for_print = false;
                let read = self.dollar_piece(stop, quoted, pieces);
                self.for_print = true;
                read?;
            }
            b'$' => self.dollar_piece(stop, quoted, pieces)?,
            b'`' => {
                let body = self.backquoted(quoted)?;
                pieces.push(Part::Command(body));
            }
            b'~' if !quoted && pieces.parts.is_empty() && pieces.literal.is_empty() && takes_tilde(stop) => {
                self.tilde(pieces);
            }
            b'<' | b'>'
                if pieces.open == 0
                    && (stop == Stop::Meta
                        || (matches!(stop, Stop::Brace) && !quoted && self.peek_at(1) == Some(b'('))) =>
            {
                let start = self.pos;
                self.pos += 2;
                let body = self.substitution_body()?;
                self.note_substitution(start, &[byte, b'('], &body);
                pieces.push(Part::Process { output: byte == b'>', body });
            }
            _ => self.plain_byte(stop, byte, pieces),
        }
        Ok(())
    }

    /// A byte that means itself; parentheses and brackets that belong to the text are counted.
    fn plain_byte(&mut self, stop: Stop, byte: u8, pieces: &mut Pieces) {
        let extended = matches!(byte, b'?' | b'*' | b'+' | b'@' | b'!')
            && self.peek_at(1) == Some(b'(')
            && (matches!(stop, Stop::Brace | Stop::BraceOrSlash) || (stop == Stop::Meta && self.extglob));
        if extended {
            pieces.literal.push(byte);
            self.pos += 1;
            pieces.open += 1;
        } else {
            match (stop, byte) {
                (Stop::Arith(b"]"), b'[') => pieces.open += 1,
                (Stop::Arith(b"]"), b']') => pieces.open = pieces.open.saturating_sub(1),
                (Stop::Arith(b"]"), _) => {}
                (Stop::Bracket, b'[') => pieces.open += 1,
                (Stop::Meta | Stop::Brace | Stop::BraceOrSlash, b'(') if pieces.open > 0 => pieces.open += 1,
                (Stop::Bracket, b']') => pieces.open = pieces.open.saturating_sub(1),
                (Stop::Bracket, _) => {}
                (Stop::Arith(b")"), b'(' | b')') if pieces.between || pieces.doubled => {}
                (Stop::Regex | Stop::Arith(_), b'(') => pieces.open += 1,
                (_, b')') => pieces.open = pieces.open.saturating_sub(1),
                _ => {}
            }
        }
        if let Some(byte) = self.peek() {
            pieces.literal.push(byte);
            self.bump();
        }
    }

    /// A word whose text ends where the parser's does: a here-document, or an argument that is read as a word.
    pub(crate) fn whole_text(&mut self) -> Parse<Word> {
        self.in_document = true;
        let word = self.word_until(Stop::End, true)?;
        Ok(if self.hidden_end { without_end(&word.raw) } else { word })
    }

    /// All of the text as the operand of an unquoted expansion, for subscripts that are built at run time.
    pub(crate) fn whole_unquoted(&mut self) -> Parse<Word> {
        self.word_until(Stop::Whole, false)
    }
}

/// Whether unquoted text of the word could be a brace expansion.
pub(super) fn may_brace(parts: &[Part]) -> bool {
    let unquoted = || parts.iter().filter_map(|part| if let Part::Lit(text) = part { Some(text) } else { None });
    let has = |wanted: u8| unquoted().any(|text| text.contains(&wanted));
    has(b'{') && has(b'}') && (has(b',') || unquoted().any(|text| text.windows(2).any(|pair| pair == b"..")))
}

/// Whether any of these pieces holds a brace that opens.
pub(super) fn has_braces(parts: &[Part]) -> bool {
    parts.iter().any(|part| matches!(part, Part::Lit(text) if text.contains(&b'{')))
}
