//! What a dollar starts: parameters, substitutions, expressions.

use std::rc::Rc;

use super::{Pieces, Stop};
use crate::ir::{Bytes, Index, Layout, Op, Param, Part, Substitution, Target, Word};
use crate::parse::token::name_len;
use crate::parse::{Parse, Parser, Place, Problem, SyntaxError};

impl Parser<'_> {
    /// What a dollar starts, which depends on where it stands if a quote follows.
    pub(super) fn dollar_piece(&mut self, stop: Stop, quoted: bool, pieces: &mut Pieces) -> Parse<()> {
        let arith = matches!(stop, Stop::Arith(_));
        let quote = self.peek_at(1).filter(|byte| matches!(byte, b'\'' | b'"'));
        match quote {
            // Within an operand `$'` quotes even between double quotes, and `$"` is nothing more than the quote.
            Some(b'"') if quoted && !self.in_document && matches!(stop, Stop::Brace) => {
                self.pos += 1;
                Ok(())
            }
            Some(b'\'') if quoted && !self.in_document && !self.posix && matches!(stop, Stop::Brace) => {
                self.ansi_c_in_operand(pieces)
            }
            Some(b'\'') if arith && !self.in_document => self.ansi_c_in_expression(pieces),
            Some(b'"') if pieces.doubled && !pieces.between => {
                // The quote closes, so that the dollar is one.
                pieces.literal.push(b'$');
                self.pos += 1;
                Ok(())
            }
            Some(b'"') if arith && !self.in_document => {
                pieces.doubled ^= !pieces.between;
                self.pos += 2;
                Ok(())
            }
            Some(b'\'')
                if !quoted
                    && self.quoted_substitution
                    && !self.between_quotes
                    && matches!(stop, Stop::Brace | Stop::BraceOrSlash | Stop::Bracket) =>
            {
                // A substitution that stands between double quotes leaves the quotes of its operands out.
                let start = self.pos;
                self.pos += 2;
                let text = self.ansi_c_quoted()?;
                self.reprinted.push((start, self.pos, text.clone()));
                pieces.literal.extend(text);
                Ok(())
            }
            _ => {
                // An expression that stands in another expansion keeps the quotes of `$'..'`, also in such a substitution.
                let nested = !matches!(stop, Stop::Meta) && self.starts_with(b"$((");
                let outer = self.quoted_substitution;
                self.quoted_substitution &= !nested;
                let read = self.dollar(quoted || arith, pieces);
                self.quoted_substitution = outer;
                read
            }
        }
    }

    /// What `$` starts.
    pub(super) fn dollar(&mut self, quoted: bool, pieces: &mut Pieces) -> Parse<()> {
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
            Some(b'(') => self.dollar_parenthesis(pieces)?,
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

    /// `$((..))` or `$(..)`.
    fn dollar_parenthesis(&mut self, pieces: &mut Pieces) -> Parse<()> {
        let doubled = self.peek_at(2) == Some(b'(');
        let mut unclosed = None;
        if doubled {
            match self.dollar_arith()? {
                Ok(arith) => {
                    pieces.push(arith);
                    return Ok(());
                }
                Err(error) => unclosed = error,
            }
        }
        let start = self.pos;
        self.pos += 2;
        let mut body = self.body_or_match(doubled, unclosed)?;
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
        Ok(())
    }

    /// The commands of `$(..)`. Those of a `doubled` parenthesis that cannot be read may still pair up their parentheses;
    /// else it is the error of the expression, if there is one, that counts.
    fn body_or_match(&mut self, doubled: bool, unclosed: Option<SyntaxError>) -> Parse<Rc<Substitution>> {
        let (mark, broken_from) = (self.mark(), self.broken_from);
        let (unfinished, waiting) = (self.unfinished.len(), self.pending.len());
        let error = match self.substitution_body() {
            Ok(body) => return Ok(body),
            Err(error) => error,
        };
        let after = self.mark();
        self.back(mark);
        let fits = doubled && !matches!(error.problem, Problem::TooDeep);
        if let Some(body) = if fits { self.matched_substitution(broken_from) } else { None } {
            self.unfinished.truncate(unfinished);
            self.pending.truncate(waiting);
            return Ok(body);
        }
        self.back(after);
        Err(match unclosed {
            Some(unclosed) if !matches!(error.place, Place::Elements | Place::OpenElement) => unclosed,
            _ => error,
        })
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
}

/// A word with an expression of which bash does not find the end.
pub(super) fn without_end(raw: &[u8]) -> Word {
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
