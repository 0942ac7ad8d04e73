//! The expression of `[[ ]]`.

use super::word::Stop;
use super::{Parse, Parser, Problem, SyntaxError};
use crate::ir::{Cond, CondOp, Word};

impl Parser<'_> {
    /// What stands between `[[` and `]]`, and the latter.
    pub(super) fn condition(&mut self) -> Parse<Cond> {
        let condition = self.cond_or()?;
        self.skip_lines()?;
        if !self.at_keyword(b"]]") {
            return Err(self.cond_error());
        }
        self.pos += 2;
        Ok(condition)
    }

    fn cond_error(&mut self) -> SyntaxError {
        self.skip_blanks();
        match self.peek() {
            None => SyntaxError { problem: Problem::End, line: self.end_line() },
            Some(b'\n') => SyntaxError { problem: Problem::Condition(b"newline".to_vec()), line: self.line },
            Some(_) => {
                let token = self.operator().map_or_else(|| self.bare_word().to_vec(), <[u8]>::to_vec);
                SyntaxError { problem: Problem::Condition(token), line: self.line }
            }
        }
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
            if p.keyword(b"!") {
                return Ok(Cond::Not(Box::new(p.cond_term()?)));
            }
            if p.accept(b"(") {
                let inner = p.cond_or()?;
                p.skip_lines()?;
                return if p.accept(b")") { Ok(inner) } else { Err(p.cond_error()) };
            }
            p.cond_test()
        })
    }

    fn cond_test(&mut self) -> Parse<Cond> {
        if self.at_keyword(b"]]") {
            return Err(self.cond_error());
        }
        let first = self.cond_word()?;
        self.skip_blanks();
        if let Some([b'-', letter]) = first.literal()
            && b"abcdefghknoprstuvwxzGLNORS".contains(letter)
            && !self.at_cond_end()
            && self.cond_binary().is_none()
        {
            return Ok(Cond::Unary(*letter, self.cond_word()?));
        }
        let Some((op, len)) = self.cond_binary() else { return Ok(Cond::Word(first)) };
        self.pos += len;
        self.skip_blanks();
        let right = if op == CondOp::Regex { self.word_until(Stop::Regex, false)? } else { self.cond_word()? };
        Ok(Cond::Binary(op, first, right))
    }

    fn cond_word(&mut self) -> Parse<Word> {
        self.skip_blanks();
        match self.word()? {
            Some(mut word) => {
                word.braces = false;
                Ok(word)
            }
            None => Err(self.cond_error()),
        }
    }

    fn at_cond_end(&self) -> bool {
        matches!(self.operator(), Some(b"&&" | b"||" | b")")) || self.at_keyword(b"]]") || self.peek() == Some(b'\n')
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
            b"=" => Some((CondOp::Match, 1)),
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
