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
            return Err(self.cond_error(|token| match token {
                b"EOF" => b"unexpected EOF while looking for `]]'".to_vec(),
                token if is_operator(token) => {
                    [b"syntax error in conditional expression: unexpected token `", token, b"'"].concat()
                }
                _ => b"syntax error in conditional expression".to_vec(),
            }));
        }
        self.pos += 2;
        Ok(condition)
    }

    /// The next token, as messages name it.
    fn cond_token(&self) -> Vec<u8> {
        match self.peek() {
            None => b"EOF".to_vec(),
            Some(b'\n') => b"newline".to_vec(),
            Some(_) => self.operator().map_or_else(|| self.bare_word().to_vec(), <[u8]>::to_vec),
        }
    }

    /// The error for an unexpected token; `message` gets the token.
    fn cond_error(&mut self, message: impl FnOnce(&[u8]) -> Vec<u8>) -> SyntaxError {
        self.skip_blanks();
        let ended = self.peek().is_none();
        let text = message(&self.cond_token());
        SyntaxError::new(SyntaxErrorKind::Condition { text, ended }, self.line)
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
                return Err(p.cond_error(|token| match token {
                    b"]]" | b"newline" => [b"unexpected token `", token, b"', expected `)'"].concat(),
                    token if is_operator(token) => [b"unexpected token `", token, b"', expected `)'"].concat(),
                    _ => b"expected `)'".to_vec(),
                }));
            }
            p.cond_test()
        })
    }

    fn cond_test(&mut self) -> Parse<Cond> {
        self.skip_blanks();
        if self.at_keyword(b"]]") {
            return Err(self.cond_error(|_| b"syntax error in conditional expression: unexpected token `]]'".to_vec()));
        }
        if !self.at_cond_word() {
            return Err(self.cond_error(|token| [b"unexpected token `", token, b"' in conditional command"].concat()));
        }
        let first = self.cond_word(false, "unary")?;
        self.skip_blanks();
        if let Some([b'-', letter]) = first.literal()
            && b"abcdefghknoprstuvwxzGLNORS".contains(letter)
        {
            return Ok(Cond::Unary(*letter, self.cond_word(false, "unary")?));
        }
        let Some((op, len)) = self.cond_binary() else {
            if matches!(self.operator(), Some(b"&&" | b"||" | b")")) || self.at_keyword(b"]]") {
                return Ok(Cond::Word(first));
            }
            return Err(self.cond_error(|token| match token {
                b"newline" => b"unexpected token `newline', conditional binary operator expected".to_vec(),
                token if is_operator(token) => {
                    [b"unexpected token `", token, b"', conditional binary operator expected"].concat()
                }
                _ => b"conditional binary operator expected".to_vec(),
            }));
        };
        self.pos += len;
        self.skip_blanks();
        let right = match op {
            CondOp::Regex if !self.at_keyword(b"]]") && !matches!(self.peek(), None | Some(b'\n')) => {
                self.word_until(Stop::Regex, false)?
            }
            _ => self.cond_word(matches!(op, CondOp::Match | CondOp::Same | CondOp::NoMatch), "binary")?,
        };
        Ok(Cond::Binary(op, first, right))
    }

    /// An operand. After `==` extended patterns are always on; `of` is the kind of operator that it belongs to.
    fn cond_word(&mut self, pattern: bool, of: &str) -> Parse<Word> {
        self.skip_blanks();
        if !self.at_cond_word() {
            return Err(self.cond_error(|token| {
                [b"unexpected argument `", token, b"' to conditional ", of.as_bytes(), b" operator"].concat()
            }));
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

/// Returns whether a token is an operator.
fn is_operator(token: &[u8]) -> bool {
    token.first().is_some_and(|&b| super::token::is_meta(b))
}
