//! Words in pieces.

use std::rc::Rc;

use super::token::{is_meta, is_name_byte, name_len};
use super::{Parse, Parser, Place, Problem, SyntaxError, quote};
use crate::ir::{Bytes, Index, Layout, Op, Param, Part, Substitution, Target, Test, Word};

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
        let parts = self.deeper(|p| p.pieces(stop, quoted))?;
        let raw: Box<[u8]> =
            if self.reprinted.is_empty() { self.slice(start, self.pos).into() } else { self.reprinted(start).into() };
        let braces = stop == Stop::Meta && may_brace(&parts);
        Ok(Word { parts, raw, braces })
    }

    /// The text from `start` on, with what has another form in that form.
    pub(super) fn reprinted(&self, start: usize) -> Bytes {
        // They are noted where they end, so those of this stretch are the newest.
        let newest = self.reprinted.iter().rev().take_while(|(from, ..)| *from >= start);
        let mut forms: Vec<_> = newest.filter(|(_, to, _)| *to <= self.pos).collect();
        forms.sort_by_key(|(from, to, _)| (*from, std::cmp::Reverse(*to)));
        let (mut out, mut at) = (Bytes::new(), start);
        for (from, to, form) in forms {
            if *from >= at {
                out.extend_from_slice(self.slice(at, *from));
                out.extend_from_slice(form);
                at = *to;
            }
        }
        out.extend_from_slice(self.slice(at, self.pos));
        out
    }

    /// Notes the form of the substitution that was just read, from `start` on; `open` are its first two bytes.
    fn note_substitution(&mut self, start: usize, open: &[u8], body: &Substitution) {
        if self.for_print {
            let text = crate::print::substitution(&body.body);
            let blank: &[u8] = if text.first() == Some(&b'(') { b" " } else { b"" };
            self.reprinted.push((start, self.pos, [open, blank, &text, b")"].concat()));
        }
    }

    fn pieces(&mut self, stop: Stop, quoted: bool) -> Parse<Vec<Part>> {
        let start_line = self.line;
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
        let arith = matches!(stop, Stop::Arith(_));
        match byte {
            b'\\' => self.backslash(stop, quoted, pieces),
            b'\'' if !quoted && !arith => pieces.push(Part::Quoted(self.single_quoted()?)),
            // The quotes are text of the expression, and yet a parenthesis between them closes nothing.
            b'\'' if arith && (pieces.between || self.quote_closes()) => {
                pieces.between = !pieces.between;
                pieces.literal.push(byte);
                self.pos += 1;
            }
            b'"' if arith && !pieces.between && !pieces.doubled && self.quoted_parenthesis() > 0 => {
                // What is between the quotes closes nothing.
                let len = self.quoted_parenthesis();
                pieces.literal.extend_from_slice(self.slice(self.pos + 1, self.pos + 1 + len));
                self.pos += len + 2;
            }
            b'"' if arith || pieces.between => {
                pieces.doubled ^= arith && !pieces.between && !self.in_document;
                self.pos += 1;
            }
            b'"' if stop != Stop::End => {
                let inner = self.double_quoted(quoted)?;
                pieces.push(Part::Double(inner));
            }
            b'\'' if quoted && matches!(stop, Stop::Brace | Stop::BraceOrSlash) && !self.posix => {
                // The quotes are text here, and yet a brace between them closes nothing.
                pieces.literal.push(byte);
                self.pos += 1;
                pieces.between = !pieces.between;
                if pieces.between && !self.rest().contains(&b'\'') && !self.in_document {
                    return Err(self.unclosed(b'\'', self.line));
                }
            }
            // Within an operand `$'` quotes even between double quotes, and `$"` is nothing more than the quote.
            b'$' if quoted && !self.in_document && matches!(stop, Stop::Brace) && self.peek_at(1) == Some(b'"') => {
                self.pos += 1;
            }
            b'$' if quoted
                && !self.in_document
                && !self.posix
                && matches!(stop, Stop::Brace)
                && self.peek_at(1) == Some(b'\'') =>
            {
                // Printed it is the bare text, which is between double quotes already, but for what is no expansion.
                let start = self.pos;
                self.pos += 2;
                let text = self.ansi_c_quoted()?;
                let form = if self.bad_name { crate::expand::single_quote(&text) } else { text.clone() };
                self.reprinted.push((start, self.pos, form));
                pieces.push(Part::Quoted(text));
            }
            b'$' if arith && !self.in_document && self.peek_at(1) == Some(b'\'') => {
                // What it means is text of the expression, and so are the quotes; double quotes are none.
                let start = self.pos;
                self.pos += 2;
                let text = self.ansi_c_quoted()?;
                let unquotes = self.quoted_substitution && !self.between_quotes;
                let form = if unquotes { text } else { crate::expand::single_quote(&text) };
                self.reprinted.push((start, self.pos, form.clone()));
                let form: Bytes = form.into_iter().filter(|&byte| byte != b'"').collect();
                match self.inner(&form, self.line).whole_text() {
                    // Quotes keep nothing from being expanded there.
                    Ok(word) if form.iter().any(|byte| matches!(byte, b'$' | b'`')) => {
                        pieces.flush();
                        pieces.parts.extend(word.parts);
                    }
                    _ => pieces.literal.extend(form),
                }
            }
            b'$' if arith && !self.in_document && self.peek_at(1) == Some(b'"') => {
                pieces.doubled ^= !pieces.between;
                self.pos += 2;
            }
            b'$' if !quoted
                && self.quoted_substitution
                && !self.between_quotes
                && matches!(stop, Stop::Brace | Stop::BraceOrSlash | Stop::Bracket)
                && self.peek_at(1) == Some(b'\'') =>
            {
                // A substitution that stands between double quotes leaves the quotes of its operands out.
                let start = self.pos;
                self.pos += 2;
                let text = self.ansi_c_quoted()?;
                self.reprinted.push((start, self.pos, text.clone()));
                pieces.literal.extend(text);
            }
            b'$' => {
                // An expression that stands in another expansion keeps the quotes of `$'..'`, also in such a substitution.
                let nested = !matches!(stop, Stop::Meta) && self.starts_with(b"$((");
                let outer = self.quoted_substitution;
                self.quoted_substitution &= !nested;
                let read = self.dollar(quoted || arith, pieces);
                self.quoted_substitution = outer;
                read?;
            }
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

    /// Whether the single quote at the position has another one within the same parentheses.
    fn quote_closes(&self) -> bool {
        let rest = self.rest().get(1..).unwrap_or_default();
        let inside = rest.iter().position(|&byte| byte == b'\'').and_then(|end| rest.get(..end));
        inside.is_some_and(|inside| {
            !inside.iter().any(|byte| b"\n$`\"\\".contains(byte)) && !inside.windows(2).any(|pair| pair == b"))")
        })
    }

    /// The length of a text between double quotes that is plain but for parentheses; 0 where it has none.
    fn quoted_parenthesis(&self) -> usize {
        let rest = self.rest().get(1..).unwrap_or_default();
        let inside = rest.iter().position(|&byte| byte == b'"').and_then(|end| rest.get(..end)).unwrap_or_default();
        let plain = !inside.iter().any(|byte| b"\n$`\\'".contains(byte));
        let parentheses = inside.iter().any(|byte| matches!(byte, b'(' | b')'));
        if plain && parentheses && !inside.windows(2).any(|pair| pair == b"))") { inside.len() } else { 0 }
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

    fn backslash(&mut self, stop: Stop, quoted: bool, pieces: &mut Pieces) {
        let next = self.peek_at(1);
        let escapes = match next {
            Some(b'\n') | None => true,
            Some(b'$' | b'`' | b'\\') => true,
            Some(b'"') => stop != Stop::End,
            Some(b'}') => matches!(stop, Stop::Brace | Stop::BraceOrSlash) || !quoted,
            Some(_) => !quoted && !matches!(stop, Stop::Arith(_)),
        };
        match next {
            None => {
                pieces.literal.push(b'\\');
                // bash looks for the newline that would follow, and counts it.
                self.cut_off = stop == Stop::Meta && !quoted;
                self.line = self.line.saturating_add(u32::from(self.cut_off));
            }
            Some(b'\n') => self.leave_out_continuation(),
            Some(byte) if escapes => pieces.push(Part::Quoted(vec![byte])),
            Some(byte) => {
                pieces.literal.push(b'\\');
                self.pos += 1;
                if byte == b'\'' {
                    pieces.literal.push(byte);
                    self.pos += 1;
                }
                return;
            }
        }
        self.bump();
        if next.is_some() {
            self.bump();
        }
    }

    /// A backslash and a newline are no part of the text that is shown and kept.
    pub(super) fn leave_out_continuation(&mut self) {
        self.reprinted.push((self.pos, self.pos + 2, Bytes::new()));
    }

    fn single_quoted(&mut self) -> Parse<Bytes> {
        let line = self.line;
        self.pos += 1;
        let rest = self.rest();
        let Some(len) = rest.iter().position(|&b| b == b'\'') else { return Err(self.unclosed(b'\'', line)) };
        let text = rest.get(..len).unwrap_or_default().to_vec();
        self.line += u32::try_from(text.iter().filter(|&&b| b == b'\n').count()).unwrap_or(0);
        self.pos += len + 1;
        Ok(text)
    }

    /// `"..."`, the position at the first quote. In an operand that is `quoted` itself a backslash quotes any byte.
    fn double_quoted(&mut self, quoted: bool) -> Parse<Vec<Part>> {
        let line = self.line;
        self.pos += 1;
        let outer = std::mem::replace(&mut self.between_quotes, true);
        let parts = self.deeper(|p| {
            let mut pieces = Pieces::default();
            loop {
                match p.peek() {
                    None => return Err(p.unclosed(b'"', line)),
                    Some(b'"') => {
                        p.pos += 1;
                        pieces.flush();
                        return Ok(pieces.parts);
                    }
                    Some(b'\\') => p.backslash(Stop::Meta, !quoted, &mut pieces),
                    Some(b'$') => p.dollar(true, &mut pieces)?,
                    Some(b'`') => {
                        let body = p.backquoted(true)?;
                        pieces.push(Part::Command(body));
                    }
                    Some(byte) => {
                        pieces.literal.push(byte);
                        p.bump();
                    }
                }
            }
        });
        self.between_quotes = outer;
        parts
    }

    /// What `$` starts.
    fn dollar(&mut self, quoted: bool, pieces: &mut Pieces) -> Parse<()> {
        if self.joins {
            self.join_dollar();
        }
        match self.peek_at(1) {
            Some(b'\'') if !quoted => {
                let start = self.pos;
                self.pos += 2;
                let text = self.ansi_c_quoted()?;
                self.reprinted.push((start, self.pos, crate::expand::single_quote(&text)));
                pieces.push(Part::Quoted(text));
            }
            Some(b'"') if !quoted => {
                self.reprinted.push((self.pos, self.pos + 1, Bytes::new()));
                self.pos += 1;
                let inner = self.double_quoted(false)?;
                pieces.push(Part::Double(inner));
            }
            Some(b'(') => {
                let mut unclosed = None;
                if self.peek_at(2) == Some(b'(') {
                    match self.dollar_arith()? {
                        Ok(arith) => {
                            pieces.push(arith);
                            return Ok(());
                        }
                        Err(error) => unclosed = error,
                    }
                }
                let start = self.pos;
                let doubled = self.peek_at(2) == Some(b'(');
                self.pos += 2;
                let (mark, broken_from) = (self.mark(), self.broken_from);
                let (unfinished, waiting) = (self.unfinished.len(), self.pending.len());
                let mut body = match self.substitution_body() {
                    Ok(body) => body,
                    Err(error) => {
                        let after = self.mark();
                        self.back(mark);
                        let fits = doubled && !matches!(error.problem, Problem::TooDeep);
                        match if fits { self.matched_substitution(broken_from) } else { None } {
                            Some(body) => {
                                self.unfinished.truncate(unfinished);
                                self.pending.truncate(waiting);
                                body
                            }
                            None => {
                                self.back(after);
                                return Err(match unclosed {
                                    Some(unclosed) if !matches!(error.place, Place::Elements | Place::OpenElement) => {
                                        unclosed
                                    }
                                    _ => error,
                                });
                            }
                        }
                    }
                };
                if doubled {
                    // What could have been an expression is kept, and read again, as it was written.
                    let text = self.slice(start + 2, self.pos - 1);
                    if let Some(body) = Rc::get_mut(&mut body) {
                        body.layout = Layout::Text([text, b"\n"].concat().into());
                    }
                    if self.for_print {
                        self.reprinted.push((start, self.pos, self.slice(start, self.pos).to_vec()));
                    }
                } else {
                    self.note_substitution(start, b"$(", &body);
                }
                pieces.push(Part::Command(body));
            }
            Some(b'[') => {
                self.pos += 2;
                let arith = self.arith_until(b"]")?;
                self.pos += 1;
                pieces.push(Part::Arith(Rc::new(arith)));
            }
            Some(b'{') => {
                let param = self.braced_param(quoted)?;
                pieces.push(Part::Param(Rc::new(param)));
            }
            Some(byte) => self.plain_param(byte, pieces),
            None => {
                pieces.literal.push(b'$');
                self.pos += 1;
            }
        }
        Ok(())
    }

    /// `$((..))`. When it is a substitution that starts with a subshell nothing is read; the inner error is then the one
    /// of a text that ends within the parentheses.
    fn dollar_arith(&mut self) -> Parse<Result<Part, Option<SyntaxError>>> {
        let (start, line, mark) = (self.pos, self.line, self.mark());
        if self.not_arith.contains(&start) {
            return Ok(Err(None));
        }
        self.pos += 3;
        let read = self.arith_until(b")");
        self.join_closing();
        let error = match read {
            Ok(arith) if self.starts_with(b"))") => {
                self.hidden_end |= hides_end(self.slice(start + 3, self.pos));
                self.pos += 2;
                return Ok(Ok(Part::Arith(Rc::new(arith))));
            }
            Ok(_) => {
                self.pos += 1;
                let outer = self.arith_until(b")");
                outer.is_err().then(|| self.unclosed(b')', line))
            }
            Err(error) if matches!(error.problem, Problem::TooDeep) => return Err(error),
            // bash looks for the end of the parentheses first, whatever they hold.
            Err(error) if matches!(error.problem, Problem::Unclosed(b')')) => return Err(self.unclosed(b')', line)),
            Err(_) => None,
        };
        self.not_arith.push(start);
        self.back(mark);
        Ok(Err(error))
    }

    /// `$name`, `$1`, `$?`; or the dollar alone.
    fn plain_param(&mut self, byte: u8, pieces: &mut Pieces) {
        let rest = self.rest().get(1..).unwrap_or_default();
        let (target, len) = match byte {
            b'@' | b'*' | b'#' | b'?' | b'-' | b'$' | b'!' | b'0' => (Target::Special(byte), 1),
            b'1'..=b'9' => (Target::Positional(usize::from(byte - b'0')), 1),
            _ => match name_len(rest) {
                0 => {
                    pieces.literal.push(b'$');
                    self.pos += 1;
                    return;
                }
                len => (Target::Var(rest.get(..len).unwrap_or_default().into()), len),
            },
        };
        let raw: Box<[u8]> = self.slice(self.pos, self.pos + 1 + len).into();
        self.pos += 1 + len;
        pieces.push(Part::Param(Rc::new(Param { target, index: Index::None, indirect: false, op: Op::None, raw })));
    }

    /// `$'..'`, the position after the first quote.
    fn ansi_c_quoted(&mut self) -> Parse<Bytes> {
        let (start, line) = (self.pos, self.line);
        loop {
            match self.peek() {
                None => return Err(self.unclosed(b'\'', line)),
                Some(b'\'') => break,
                Some(b'\\') => {
                    self.bump();
                    self.bump();
                }
                Some(_) => self.bump(),
            }
        }
        let text = quote::ansi_c(self.slice(start, self.pos));
        self.pos += 1;
        Ok(text)
    }

    fn tilde(&mut self, pieces: &mut Pieces) {
        let rest = self.rest().get(1..).unwrap_or_default();
        let len = rest.iter().position(|&b| !is_name_byte(b) && !matches!(b, b'-' | b'+' | b'.')).unwrap_or(rest.len());
        let ends = match rest.get(len) {
            None | Some(b'/' | b':' | b'}') => true,
            Some(&byte) => is_meta(byte),
        };
        self.pos += 1;
        if ends {
            pieces.push(Part::Tilde(rest.get(..len).unwrap_or_default().to_vec()));
            self.pos += len;
        } else {
            pieces.literal.push(b'~');
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

/// A word with an expression of which bash does not find the end.
fn without_end(raw: &[u8]) -> Word {
    let op = Op::Unclosed(b')');
    let param = Param { target: Target::Special(b'?'), index: Index::None, indirect: false, op, raw: raw.into() };
    Word { parts: vec![Part::Param(Rc::new(param))], raw: raw.into(), braces: false }
}

/// Whether the text of an expression ends within what would be a comment in a command.
fn hides_end(text: &[u8]) -> bool {
    let (mut at, mut before) = (0, b'(');
    while let Some(&byte) = text.get(at) {
        let rest = text.get(at + 1..).unwrap_or_default();
        let skipped = match byte {
            b'\\' => Some(0),
            b'\'' | b'"' => rest.iter().position(|&other| other == byte),
            b'#' if matches!(before, b' ' | b'\t' | b'\n') => match rest.iter().position(|&other| other == b'\n') {
                Some(end) => Some(end),
                None => return true,
            },
            _ => None,
        };
        at += skipped.map_or(1, |len| len + 2);
        before = byte;
    }
    false
}

fn takes_tilde(stop: Stop) -> bool {
    matches!(stop, Stop::Meta | Stop::Brace | Stop::BraceOrSlash | Stop::Regex)
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

/// A word that looks like an assignment has its tildes expanded like one, wherever it stands among the arguments.
pub(super) fn tilde_after_equals(mut word: Word) -> Word {
    let Some(Part::Lit(text)) = word.parts.first() else { return word };
    let len = name_len(text);
    if len == 0 || text.get(len) != Some(&b'=') {
        return word;
    }
    let (name, value) = text.split_at_checked(len + 1).unwrap_or((text, b""));
    // What follows the literal text would be part of the user's name.
    let ends = word.parts.len() == 1 || value.iter().any(|byte| matches!(byte, b'/' | b':'));
    if value.first() == Some(&b'~') && ends {
        let mut parts = vec![Part::Lit(name.to_vec())];
        // As if it stood behind a colon, which is left out again.
        split_tildes(&[b":", value].concat(), &mut parts);
        if let Some(Part::Lit(colon)) = parts.get_mut(1) {
            colon.remove(0);
        }
        parts.retain(|part| !matches!(part, Part::Lit(text) if text.is_empty()));
        parts.extend(word.parts.drain(1..));
        word.parts = parts;
        return word;
    }
    tilde_after_own_colons(&mut word);
    word
}

/// In the value of an assignment a tilde also expands after a colon.
pub(super) fn tilde_after_colons(word: &mut Word) {
    for part in &mut word.parts {
        if let Part::Param(param) = part
            && let Some(Param { op: Op::Test { word, kind: Test::Default | Test::Alternative, .. }, .. }) =
                Rc::get_mut(param)
        {
            tilde_after_colons(word);
        }
    }
    tilde_after_own_colons(word);
}

/// The same, but in what takes the place of an expansion.
fn tilde_after_own_colons(word: &mut Word) {
    let needed = |part: &Part| matches!(part, Part::Lit(text) if text.windows(2).any(|pair| pair == b":~"));
    if !word.parts.iter().any(needed) {
        return;
    }
    let mut parts = Vec::new();
    for part in word.parts.drain(..) {
        match part {
            Part::Lit(text) => split_tildes(&text, &mut parts),
            other => parts.push(other),
        }
    }
    word.parts = parts;
}

fn split_tildes(text: &[u8], parts: &mut Vec<Part>) {
    let mut rest = text;
    while let Some(at) = rest.windows(2).position(|pair| pair == b":~") {
        let (before, after) = rest.split_at_checked(at + 1).unwrap_or((rest, b""));
        parts.push(Part::Lit(before.to_vec()));
        let name = after.get(1..).unwrap_or_default();
        let len = name.iter().position(|&b| !is_name_byte(b) && !matches!(b, b'-' | b'+' | b'.')).unwrap_or(name.len());
        let ends = matches!(name.get(len), None | Some(b'/' | b':'));
        if ends {
            parts.push(Part::Tilde(name.get(..len).unwrap_or_default().to_vec()));
            rest = name.get(len..).unwrap_or_default();
        } else {
            parts.push(Part::Lit(b"~".to_vec()));
            rest = name;
        }
    }
    if !rest.is_empty() {
        parts.push(Part::Lit(rest.to_vec()));
    }
}
