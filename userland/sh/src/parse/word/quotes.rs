//! Quotation within words.

use super::{Pieces, Stop, refused};
use crate::ir::{Bytes, Index, Op, Part, Target};
use crate::parse::{Parse, Parser, quote};

/// Whether an expansion becomes one word for each of several values between double quotes.
pub(super) fn may_be_list(part: &Part) -> bool {
    let Part::Param(param) = part else { return false };
    match &param.op {
        Op::Length | Op::Names { star: true } | Op::Keys { star: true } => false,
        Op::Names { .. } | Op::Keys { .. } => true,
        Op::Test { word, .. } if word.parts.iter().any(may_be_list) => true,
        _ => matches!(param.target, Target::Special(b'@')) || matches!(param.index, Index::At),
    }
}

impl Parser<'_> {
    /// A quote: the start of what it quotes, or text where it quotes nothing.
    pub(super) fn quote_piece(&mut self, stop: Stop, quoted: bool, byte: u8, pieces: &mut Pieces) -> Parse<()> {
        let arith = matches!(stop, Stop::Arith(_));
        match byte {
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
                pieces.within_escaped = false;
                if pieces.doubled {
                    pieces.doubled_from = (pieces.parts.len(), pieces.escaped.len());
                } else {
                    pieces.end_doubled();
                }
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
            _ => self.plain_byte(stop, byte, pieces),
        }
        Ok(())
    }

    /// `$'..'` in an operand between double quotes.
    pub(super) fn ansi_c_in_operand(&mut self, pieces: &mut Pieces) -> Parse<()> {
        // Printed it is the bare text, which is between double quotes already, but for what is no expansion.
        let start = self.pos;
        self.pos += 2;
        let text = self.ansi_c_quoted()?;
        let form = if self.bad_name { crate::expand::single_quote(&text) } else { text.clone() };
        self.reprinted.push((start, self.pos, form));
        pieces.push(Part::Quoted(text));
        Ok(())
    }

    /// `$'..'` in an expression.
    pub(super) fn ansi_c_in_expression(&mut self, pieces: &mut Pieces) -> Parse<()> {
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

    /// What the escaped quote at the position stands for where it quotes: nothing, or the sign of a text that is empty, beside
    /// which there is something else.
    fn escaped_quote(&self, closes: bool) -> &'static [u8] {
        let rest = self.rest();
        let rest = rest.get(2..).unwrap_or_default();
        let after = rest.chunks(2).take_while(|pair| *pair == b"\\\"").count();
        let ends = rest.get(2 * after..).is_some_and(|rest| rest.starts_with(b"\""));
        let before = self.slice(self.pos.saturating_sub(2), self.pos);
        let alone = ends && after < 2 && before.ends_with(b"\"") && before != b"\\\"";
        if closes || alone || (after == 0 && !ends) { b"" } else { b"\x7f" }
    }

    pub(super) fn backslash(&mut self, stop: Stop, quoted: bool, pieces: &mut Pieces) {
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
            Some(byte) if escapes => {
                pieces.push(Part::Quoted(vec![byte]));
                if byte == b'"' && pieces.doubled && matches!(stop, Stop::Arith(_)) && !pieces.in_brackets() {
                    let text = self.escaped_quote(pieces.within_escaped);
                    pieces.escaped.push((pieces.parts.len().saturating_sub(1), text));
                    pieces.within_escaped ^= true;
                }
            }
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
    pub(super) fn double_quoted(&mut self, quoted: bool) -> Parse<Vec<Part>> {
        let line = self.line;
        self.pos += 1;
        let start = self.pos;
        let outer = std::mem::replace(&mut self.between_quotes, true);
        let parts = self.deeper(|p| {
            let mut pieces = Pieces::default();
            loop {
                match p.peek() {
                    None => return Err(p.unclosed(b'"', line)),
                    Some(b'"') => {
                        pieces.flush();
                        refused::name_text(&mut pieces.parts, || p.reprinted(start).into());
                        p.pos += 1;
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

    /// `$'..'`, the position after the first quote.
    pub(super) fn ansi_c_quoted(&mut self) -> Parse<Bytes> {
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
}
