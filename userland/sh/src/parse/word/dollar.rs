//! Expansions that start with a dollar: parameters, substitutions, expressions.

use std::rc::Rc;

use super::{PartBuilder, Stop};
use crate::ir::{Index, Op, Param, Part, Target};
use crate::parse::attempts::Attempt;
use crate::parse::token::name_len;
use crate::parse::{Parse, Parser, SyntaxErrorKind};

impl Parser<'_> {
    /// Reads an expansion; the context decides about a following quote.
    pub(super) fn dollar_at(&mut self, stop: Stop, quoted: bool, builder: &mut PartBuilder) -> Parse<()> {
        let arith = matches!(stop, Stop::Arith(_));
        let quote = self.peek_at(1).filter(|byte| matches!(byte, b'\'' | b'"'));
        match quote {
            // Within an operand `$'` quotes even between double quotes, and `$"` is nothing more than the quote.
            Some(b'"') if quoted && !self.in_document && matches!(stop, Stop::Brace) => {
                self.pos += 1;
                Ok(())
            }
            Some(b'\'') if quoted && !self.in_document && !self.posix && matches!(stop, Stop::Brace) => {
                self.ansi_c_in_operand(builder)
            }
            Some(b'\'') if arith && !self.in_document => self.ansi_c_in_expression(builder),
            Some(b'"') if arith && !self.in_document => {
                self.pos += 2;
                Ok(())
            }
            _ => self.dollar(quoted || arith, builder),
        }
    }

    /// Reads an expansion at `$`.
    pub(super) fn dollar(&mut self, quoted: bool, builder: &mut PartBuilder) -> Parse<()> {
        if self.joins {
            self.join_dollar();
        }
        match self.peek_at(1) {
            Some(b'\'') if !quoted => {
                self.pos += 2;
                let text = self.ansi_c_quoted()?;
                builder.push(Part::Quoted(text));
            }
            Some(b'"') if !quoted => {
                self.pos += 1;
                let inner = self.double_quoted(false)?;
                builder.push(Part::Double(inner));
            }
            Some(b'(') => self.dollar_parenthesis(builder)?,
            Some(b'[') => {
                self.pos += 2;
                let arith = self.arith_until(b"]")?;
                self.pos += 1;
                builder.push(Part::Arith(Rc::new(arith)));
            }
            Some(b'{') => {
                let param = self.braced_param(quoted)?;
                builder.push(Part::Param(Rc::new(param)));
            }
            Some(byte) => self.plain_param(byte, builder),
            None => {
                builder.literal.push(b'$');
                self.pos += 1;
            }
        }
        Ok(())
    }

    /// `$((..))` or `$(..)`.
    fn dollar_parenthesis(&mut self, builder: &mut PartBuilder) -> Parse<()> {
        let doubled = self.peek_at(2) == Some(b'(');
        if doubled && let Some(arith) = self.dollar_arith()? {
            builder.push(arith);
            return Ok(());
        }
        self.pos += 2;
        let body = self.substitution_body()?;
        builder.push(Part::Command(body));
        Ok(())
    }

    /// `$((..))`. `None`, with nothing read, if it is a substitution that starts with a subshell.
    fn dollar_arith(&mut self) -> Parse<Option<Part>> {
        let (start, line, mark) = (self.pos, self.line, self.mark());
        if self.has_failed(start, Attempt::Arith) {
            return Ok(None);
        }
        self.pos += 3;
        let read = self.arith_until(b")");
        self.join_closing();
        match read {
            Ok(arith) if self.starts_with(b"))") => {
                self.pos += 2;
                return Ok(Some(Part::Arith(Rc::new(arith))));
            }
            Err(error) if matches!(error.kind, SyntaxErrorKind::TooDeep) => return Err(error),
            Err(error) if matches!(error.kind, SyntaxErrorKind::Unclosed(b')')) => {
                return Err(self.unclosed(b')', line));
            }
            _ => {}
        }
        self.record_failure(start, Attempt::Arith);
        self.back(mark);
        Ok(None)
    }

    /// `$name`, `$1`, `$?`; or the dollar alone.
    fn plain_param(&mut self, byte: u8, builder: &mut PartBuilder) {
        let rest = self.rest().get(1..).unwrap_or_default();
        let (target, len) = match byte {
            b'@' | b'*' | b'#' | b'?' | b'-' | b'$' | b'!' | b'0' => (Target::Special(byte), 1),
            b'1'..=b'9' => (Target::Positional(usize::from(byte - b'0')), 1),
            _ => match name_len(rest) {
                0 => {
                    builder.literal.push(b'$');
                    self.pos += 1;
                    return;
                }
                len => (Target::Var(rest.get(..len).unwrap_or_default().into()), len),
            },
        };
        let raw: Box<[u8]> = self.slice(self.pos, self.pos + 1 + len).into();
        self.pos += 1 + len;
        builder.push(Part::Param(Rc::new(Param { target, index: Index::None, indirect: false, op: Op::None, raw })));
    }
}
