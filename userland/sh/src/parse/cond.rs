//! The expression of `[[ ]]`.

use super::word::Stop;
use super::{Parse, Parser, Problem, SyntaxError};
use crate::ir::{Cond, CondOp, Part, Word};

impl Parser<'_> {
    /// What stands between `[[` and `]]`, and the latter.
    pub(super) fn condition(&mut self) -> Parse<Cond> {
        let start = self.line;
        let condition = self.cond_or()?;
        self.skip_lines()?;
        if !self.at_keyword(b"]]") {
            return Err(self.cond_error_at(Some(start), |token| match token {
                b"EOF" => b"unexpected EOF while looking for `]]'".to_vec(),
                token if token.first().is_some_and(|&b| super::token::is_meta(b)) => {
                    [b"syntax error in conditional expression: unexpected token `", token, b"'"].concat()
                }
                _ => b"syntax error in conditional expression".to_vec(),
            }));
        }
        self.pos += 2;
        Ok(condition)
    }

    /// The token that comes next, as messages call it.
    fn cond_token(&self) -> Vec<u8> {
        match self.peek() {
            None => b"EOF".to_vec(),
            Some(b'\n') => b"newline".to_vec(),
            Some(_) => self.operator().map_or_else(|| self.bare_word().to_vec(), <[u8]>::to_vec),
        }
    }

    /// An error of the expression. bash says what it expected and gives up the script.
    fn cond_error(&mut self, message: impl FnOnce(&[u8]) -> Vec<u8>) -> SyntaxError {
        self.cond_error_at(None, message)
    }

    /// The same with the line that the message names, if that is not the one of the token.
    fn cond_error_at(&mut self, line: Option<u32>, message: impl FnOnce(&[u8]) -> Vec<u8>) -> SyntaxError {
        self.skip_blanks();
        if self.at_cond_word() {
            let mark = self.mark();
            if let Err(unclosed) = self.word()
                && let Problem::Unclosed(_) = unclosed.problem
            {
                // The token that was not expected is the end of the text then.
                let line = line.unwrap_or_else(|| self.end_of_text());
                return with_message(&unclosed, line, message(b"EOF"));
            }
            self.back(mark);
        }
        let (line, token) = (line.unwrap_or(self.line), self.cond_token());
        let ended = matches!(self.peek(), None | Some(b'\n')) && self.at_end();
        let wants_more = self.peek().is_none();
        let text = message(&token);
        let messages = if text.is_empty() { Vec::new() } else { vec![(line, text)] };
        SyntaxError::new(Problem::Condition { messages, ended, wants_more }, line)
    }

    /// The error of an expression, after which bash reads the words up to the end of the line before it gives up. One of
    /// them that is not closed is a mistake of its own.
    pub(super) fn rest_of_line(&mut self, mut error: SyntaxError) -> SyntaxError {
        let Problem::Condition { messages, ended: ended @ false, wants_more } = &mut error.problem else {
            return error;
        };
        if self.peek() == Some(b'\n') {
            // That was the token which was not expected.
            self.bump();
        }
        loop {
            self.skip_spaces();
            if matches!(self.peek(), None | Some(b'\n')) {
                return error;
            }
            match self.word() {
                Ok(Some(_)) => {}
                Ok(None) => self.pos += self.operator().map_or(1, <[u8]>::len),
                Err(unclosed) if matches!(unclosed.problem, Problem::Unclosed(_)) => {
                    messages.extend(unclosed.messages().0);
                    (*ended, *wants_more) = (true, true);
                    return error;
                }
                Err(_) => return error,
            }
        }
    }

    /// Whether a word comes next, and not an operator, the end of the line or of the expression.
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
            // With extended patterns on, `!(` begins one.
            if !(p.extglob && p.starts_with(b"!(")) && p.keyword(b"!") {
                return Ok(Cond::Not(Box::new(p.cond_term()?)));
            }
            let line = p.line;
            if p.accept(b"(") {
                let inner = p.cond_or().map_err(|mut error| {
                    // Every parenthesis that was open says that it was not closed, whatever the mistake was.
                    if let Problem::Condition { messages, .. } = &mut error.problem {
                        messages.push((line, b"expected `)'".to_vec()));
                    }
                    error
                })?;
                p.skip_lines()?;
                if p.accept(b")") {
                    return Ok(Cond::Group(Box::new(inner)));
                }
                return Err(p.cond_error_at(Some(line), |token| match token {
                    b"]]" | b"newline" => [b"unexpected token `", token, b"', expected `)'"].concat(),
                    token if token.first().is_some_and(|&b| super::token::is_meta(b)) => {
                        [b"unexpected token `", token, b"', expected `)'"].concat()
                    }
                    _ => b"expected `)'".to_vec(),
                }));
            }
            p.cond_test()
        })
    }

    fn cond_test(&mut self) -> Parse<Cond> {
        self.skip_blanks();
        if self.at_keyword(b"]]") {
            return Err(self.cond_error(|_| Vec::new()));
        }
        if !self.at_cond_word() {
            return Err(self.cond_error(|token| [b"unexpected token `", token, b"' in conditional command"].concat()));
        }
        let first = self.cond_word(false, "")?;
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
                token if token.first().is_some_and(|&b| super::token::is_meta(b)) => {
                    [b"unexpected token `", token, b"', conditional binary operator expected"].concat()
                }
                _ => b"conditional binary operator expected".to_vec(),
            }));
        };
        self.pos += len;
        self.skip_blanks();
        let right = match op {
            CondOp::Regex if !self.at_keyword(b"]]") && !matches!(self.peek(), None | Some(b'\n')) => {
                self.word_until(Stop::Regex, false).map_err(|error| self.unended(error, "binary"))?
            }
            _ => self.cond_word(matches!(op, CondOp::Match | CondOp::Same | CondOp::NoMatch), "binary")?,
        };
        if matches!(op, CondOp::Test([b'e' | b'n' | b'l' | b'g', b'q' | b'e' | b't'])) {
            return Ok(Cond::Binary(op, without_escaped_quotes(first), without_escaped_quotes(right)));
        }
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
        let mut word = word.map_err(|error| self.unended(error, of))?.unwrap_or_default();
        word.braces = false;
        Ok(if self.posix { word } else { super::word::tilde_after_equals(word) })
    }

    /// An operand that the text ended in is one that was not expected, too.
    fn unended(&self, error: SyntaxError, of: &str) -> SyntaxError {
        if !matches!(error.problem, Problem::Unclosed(_)) {
            return error;
        }
        let message = match of {
            // What bash takes for a byte is the end of the text.
            "" => b"unexpected token `\xff' in conditional command".to_vec(),
            _ => format!("unexpected argument to conditional {of} operator").into_bytes(),
        };
        with_message(&error, self.end_of_text(), message)
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

/// An expression that ended with the text in a word, which is the first of two mistakes.
fn with_message(unclosed: &SyntaxError, line: u32, message: Vec<u8>) -> SyntaxError {
    let (mut messages, _) = unclosed.messages();
    messages.push((line, message));
    SyntaxError::new(Problem::Condition { messages, ended: true, wants_more: true }, unclosed.line)
}

/// An operand that is an expression. As in any expression double quotes are left out, also those that are quoted themselves.
fn without_escaped_quotes(mut word: Word) -> Word {
    for part in &mut word.parts {
        if let Part::Double(inner) = part {
            inner.retain(|part| !matches!(part, Part::Quoted(text) if text == b"\""));
        }
    }
    word
}
