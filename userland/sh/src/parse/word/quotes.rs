//! Quotation within words.

use super::{PartBuilder, Stop};
use crate::ir::{Bytes, Part};
use crate::parse::{Parse, Parser, quote};

impl Parser<'_> {
    /// Parses a quote: the start of a quotation, or literal text in contexts without quotation.
    pub(super) fn quote_at(&mut self, stop: Stop, quoted: bool, byte: u8, builder: &mut PartBuilder) -> Parse<()> {
        let arith = matches!(stop, Stop::Arith(_));
        match byte {
            b'\'' if !quoted && !arith => builder.push(Part::Quoted(self.single_quoted()?)),
            // Double quotes are removed from expressions.
            b'"' if arith || builder.between => self.pos += 1,
            b'"' if stop != Stop::End => {
                let inner = self.double_quoted(quoted)?;
                builder.push(Part::Double(inner));
            }
            b'\'' if quoted && matches!(stop, Stop::Brace | Stop::BraceOrSlash) && !self.posix => {
                // The quotes are text here, and yet a brace between them closes nothing.
                builder.literal.push(byte);
                self.pos += 1;
                builder.between = !builder.between;
                if builder.between && !self.rest().contains(&b'\'') && !self.in_document {
                    return Err(self.unclosed(b'\'', self.line));
                }
            }
            _ => self.plain_byte(stop, byte, builder),
        }
        Ok(())
    }

    /// `$'..'` in an operand between double quotes.
    pub(super) fn ansi_c_in_operand(&mut self, builder: &mut PartBuilder) -> Parse<()> {
        self.pos += 2;
        let text = self.ansi_c_quoted()?;
        builder.push(Part::Quoted(text));
        Ok(())
    }

    /// `$'..'` in an expression, which becomes its text.
    pub(super) fn ansi_c_in_expression(&mut self, builder: &mut PartBuilder) -> Parse<()> {
        self.pos += 2;
        let text = self.ansi_c_quoted()?;
        builder.literal.extend(text);
        Ok(())
    }

    pub(super) fn backslash(&mut self, stop: Stop, quoted: bool, builder: &mut PartBuilder) {
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
                builder.literal.push(b'\\');
            }
            Some(b'\n') => {}
            Some(byte) if escapes => {
                builder.push(Part::Quoted(vec![byte]));
            }
            Some(byte) => {
                builder.literal.push(b'\\');
                self.pos += 1;
                if byte == b'\'' {
                    builder.literal.push(byte);
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
        self.deeper(|p| {
            let mut builder = PartBuilder::default();
            loop {
                match p.peek() {
                    None => return Err(p.unclosed(b'"', line)),
                    Some(b'"') => {
                        builder.flush();
                        p.pos += 1;
                        return Ok(builder.parts);
                    }
                    Some(b'\\') => p.backslash(Stop::Meta, !quoted, &mut builder),
                    Some(b'$') => p.dollar(true, &mut builder)?,
                    Some(b'`') => {
                        let body = p.backquoted(true)?;
                        builder.push(Part::Command(body));
                    }
                    Some(byte) => {
                        builder.literal.push(byte);
                        p.bump();
                    }
                }
            }
        })
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
