//! The expression of `[[ ]]`.

use super::word::Stop;
use super::{Parse, Parser, SyntaxError, SyntaxErrorKind};
use crate::ir::{Cond, CondOp, Word};

impl Parser<'_> {
    /// Reads the text between `[[` and `]]`, and the latter.
    pub(super) fn condition(&mut self) -> Parse<Cond> {
        let condition = self.cond_or()?;
        self.skip_lines()?;
        if !self.at_keyword(b"]]") {
            return Err(self.cond_error());
        }
        self.pos += 2;
        Ok(condition)
    }

    /// The error for the next token.
    fn cond_error(&mut self) -> SyntaxError {
        self.skip_blanks();
        let ended = self.peek().is_none();
        let token = match self.peek() {
            None => b"EOF".to_vec(),
            Some(b'\n') => b"newline".to_vec(),
            Some(_) => self.operator().unwrap_or(self.bare_word()).to_vec(),
        };
        SyntaxError::new(SyntaxErrorKind::Condition { token, ended }, self.line)
    }

    /// Returns whether a word comes next, not an operator or the end of the line or of the expression.
    fn at_cond_word(&self) -> bool {
        let process = self.starts_with(b"<(") || self.starts_with(b">(");
        process || !(matches!(self.peek(), None | Some(b'\n')) || self.operator().is_some() || self.at_keyword(b"]]"))
    }

    fn cond_or(&mut self) -> Parse<Cond> {
        let mut left = self.cond_and()?;
        loop {
            self.skip_lines()?;
            if !self.accept(b"||") {
                return Ok(left);
            }
            left = Cond::Or(Box::new(left), Box::new(self.cond_and()?));
        }
    }

    fn cond_and(&mut self) -> Parse<Cond> {
        let mut left = self.cond_term()?;
        loop {
            self.skip_lines()?;
            if !self.accept(b"&&") {
                return Ok(left);
            }
            left = Cond::And(Box::new(left), Box::new(self.cond_term()?));
        }
    }

    fn cond_term(&mut self) -> Parse<Cond> {
        self.deeper(|p| {
            p.skip_lines()?;
            // With extended patterns enabled, `!(` starts a pattern.
            if !(p.extglob && p.starts_with(b"!(")) && p.keyword(b"!") {
                return Ok(Cond::Not(Box::new(p.cond_term()?)));
            }
            if p.accept(b"(") {
                let inner = p.cond_or()?;
                p.skip_lines()?;
                if p.accept(b")") {
                    return Ok(Cond::Group(Box::new(inner)));
                }
                return Err(p.cond_error());
            }
            p.cond_test()
        })
    }

    fn cond_test(&mut self) -> Parse<Cond> {
        let first = self.cond_word(false)?;
        self.skip_blanks();
        if let Some([b'-', letter]) = first.literal()
            && b"abcdefghknoprstuvwxzGLNORS".contains(letter)
        {
            return Ok(Cond::Unary(*letter, self.cond_word(false)?));
        }
        let Some((op, len)) = self.cond_binary() else {
            if matches!(self.operator(), Some(b"&&" | b"||" | b")")) || self.at_keyword(b"]]") {
                return Ok(Cond::Word(first));
            }
            return Err(self.cond_error());
        };
        self.pos += len;
        self.skip_blanks();
        let right = match op {
            CondOp::Regex if !self.at_keyword(b"]]") && !matches!(self.peek(), None | Some(b'\n')) => {
                self.word_until(Stop::Regex, false)?
            }
            _ => self.cond_word(matches!(op, CondOp::Match | CondOp::Same | CondOp::NoMatch))?,
        };
        Ok(Cond::Binary(op, first, right))
    }

    /// An operand. In a `pattern`, as after `==`, extended patterns are always on.
    fn cond_word(&mut self, pattern: bool) -> Parse<Word> {
        self.skip_blanks();
        if !self.at_cond_word() {
            return Err(self.cond_error());
        }
        let extglob = self.extglob;
        self.extglob |= pattern;
        let word = self.word();
        self.extglob = extglob;
        let mut word = word?.unwrap_or_default();
        word.braces = false;
        Ok(if self.posix { word } else { super::word::tilde_after_equals(word) })
    }

    /// The binary operator that comes next and its length.
    fn cond_binary(&self) -> Option<(CondOp, usize)> {
        match self.operator() {
            Some(b"<") => return Some((CondOp::Before, 1)),
            Some(b">") => return Some((CondOp::After, 1)),
            _ => {}
        }
        match self.bare_word() {
            b"==" => Some((CondOp::Match, 2)),
            b"=" => Some((CondOp::Same, 1)),
            b"!=" => Some((CondOp::NoMatch, 2)),
            b"=~" => Some((CondOp::Regex, 2)),
            [b'-', a, b]
                if matches!(&[*a, *b], b"eq" | b"ne" | b"lt" | b"le" | b"gt" | b"ge" | b"nt" | b"ot" | b"ef") =>
            {
                Some((CondOp::Test([*a, *b]), 3))
            }
            _ => None,
        }
    }
}
