//! `${..}`.

use super::attempts::Attempt;
use super::token::name_len;
use super::word::Stop;
use super::{Parse, Parser, SyntaxErrorKind, arith};
use crate::ir::{Index, Op, Param, Part, Replace, Target, Test, Word};

impl Parser<'_> {
    /// `${..}`, the position at the dollar.
    pub(super) fn braced_param(&mut self, quoted: bool) -> Parse<Param> {
        let (start, line) = (self.pos, self.line);
        self.pos += 2;
        let mark = self.mark();
        let attempt = if quoted { Attempt::QuotedParam } else { Attempt::Param };
        let parsed = if self.has_failed(start, attempt) { None } else { self.deeper(|p| p.param_body(quoted))? };
        if let Some((target, index, indirect, op)) = parsed
            && self.peek() == Some(b'}')
        {
            self.pos += 1;
            return Ok(Param { target, index, indirect, op, raw: self.slice(start, self.pos).into() });
        }
        // It is an error when it is expanded, not when it is read.
        self.record_failure(start, attempt);
        self.back(mark);
        self.word_until(Stop::Brace, quoted)?;
        if self.peek() != Some(b'}') {
            return Err(self.unclosed(b'}', line));
        }
        self.pos += 1;
        let raw = self.slice(start, self.pos).into();
        Ok(Param { target: Target::Special(b'?'), index: Index::None, indirect: false, op: Op::Bad, raw })
    }

    fn param_body(&mut self, quoted: bool) -> Parse<Option<(Target, Index, bool, Op)>> {
        if self.starts_with(b"#=}") {
            return Ok(None);
        }
        if self.peek() == Some(b'#') && self.counts_length() {
            self.pos += 1;
            let Some((target, index)) = self.target()? else { return Ok(None) };
            return Ok(Some((target, index, false, Op::Length)));
        }
        if self.peek() == Some(b'#')
            && matches!(self.peek_at(1), Some(b':' | b'%' | b'=' | b'+' | b'/' | b'^' | b','))
            && self.peek_at(2) == Some(b'}')
        {
            // An operator of `$#` needs an operand.
            return Ok(None);
        }
        let indirect = self.peek() == Some(b'!')
            && match self.peek_at(1) {
                // In posix mode they are operators of `$!`.
                Some(b'#' | b'?') => !self.posix,
                Some(b'@' | b'*' | b'_') => true,
                next => next.is_some_and(|byte| byte.is_ascii_alphanumeric()),
            };
        if indirect {
            self.pos += 1;
            let len = name_len(self.rest());
            if len > 0
                && let Some(star @ (b'*' | b'@')) = self.peek_at(len)
                && self.peek_at(len + 1) == Some(b'}')
            {
                let name = self.slice(self.pos, self.pos + len).into();
                self.pos += len + 1;
                return Ok(Some((Target::Var(name), Index::None, true, Op::Names { star: star == b'*' })));
            }
        }
        let Some((target, index)) = self.target()? else { return Ok(None) };
        if indirect && self.peek() == Some(b'}') {
            match index {
                Index::At => return Ok(Some((target, Index::None, true, Op::Keys { star: false }))),
                Index::Star => return Ok(Some((target, Index::None, true, Op::Keys { star: true }))),
                _ => {}
            }
        }
        let Some(op) = self.param_op(quoted)? else { return Ok(None) };
        Ok(Some((target, index, indirect, op)))
    }

    /// Returns whether `#` is the length operator, not the parameter `$#`.
    fn counts_length(&self) -> bool {
        match self.peek_at(1) {
            None | Some(b'}' | b':' | b'%' | b'=' | b'+' | b'/' | b'^' | b',') => false,
            Some(b'#' | b'-' | b'?' | b'@') => self.peek_at(2) == Some(b'}'),
            Some(_) => true,
        }
    }

    /// The parameter and its subscript.
    fn target(&mut self) -> Parse<Option<(Target, Index)>> {
        let rest = self.rest();
        let target = match rest.first() {
            Some(b'0'..=b'9') => {
                let len = rest.iter().position(|b| !b.is_ascii_digit()).unwrap_or(rest.len());
                let digits = rest.get(..len).unwrap_or_default();
                self.pos += len;
                let number =
                    digits.iter().fold(0_usize, |n, b| n.saturating_mul(10).saturating_add(usize::from(b - b'0')));
                if number == 0 { Target::Special(b'0') } else { Target::Positional(number) }
            }
            Some(&byte @ (b'@' | b'*' | b'#' | b'?' | b'-' | b'$' | b'!')) => {
                self.pos += 1;
                Target::Special(byte)
            }
            _ => match name_len(rest) {
                0 => return Ok(None),
                len => {
                    self.pos += len;
                    Target::Var(rest.get(..len).unwrap_or_default().into())
                }
            },
        };
        let index = if self.peek() == Some(b'[') && matches!(target, Target::Var(_)) {
            self.pos += 1;
            let key = match self.word_until(Stop::Bracket, false) {
                Ok(key) => key,
                Err(error) if matches!(error.kind, SyntaxErrorKind::Unclosed(_)) => return Ok(None),
                Err(error) => return Err(error),
            };
            self.pos += 1;
            match &*key.raw {
                b"" => return Ok(None),
                b"@" => Index::At,
                b"*" => Index::Star,
                _ => Index::One(self.subscript_of(key)),
            }
        } else {
            Index::None
        };
        Ok(Some((target, index)))
    }

    /// The operator after the parameter, up to the closing brace.
    fn param_op(&mut self, quoted: bool) -> Parse<Option<Op>> {
        let Some(byte) = self.peek() else { return Ok(None) };
        let double = self.peek_at(1) == Some(byte);
        let op = match byte {
            b'}' => Op::None,
            b':' => match self.peek_at(1) {
                Some(test @ (b'-' | b'=' | b'?' | b'+')) => {
                    self.pos += 2;
                    self.test_op(test, true, quoted)?
                }
                Some(b'}') => return Ok(None),
                _ => self.substring()?,
            },
            b'-' | b'=' | b'?' | b'+' => {
                self.pos += 1;
                self.test_op(byte, false, quoted)?
            }
            b'#' | b'%' => {
                self.pos += if double { 2 } else { 1 };
                let pattern = self.word_until(Stop::Brace, false)?;
                Op::Strip { suffix: byte == b'%', longest: double, pattern }
            }
            b'/' => self.replace()?,
            b'^' | b',' | b'~' => {
                self.pos += if double { 2 } else { 1 };
                let pattern = self.word_until(Stop::Brace, false)?;
                let pattern = (!pattern.parts.is_empty()).then_some(pattern);
                Op::Case { how: byte, all: double, pattern }
            }
            b'@' => match self.peek_at(1) {
                Some(letter) if b"QEPAKakUuL".contains(&letter) && self.peek_at(2) == Some(b'}') => {
                    self.pos += 2;
                    Op::Transform(letter)
                }
                _ => {
                    // An unknown letter is an error only if the parameter has a value.
                    self.word_until(Stop::Brace, quoted)?;
                    Op::Transform(0)
                }
            },
            _ => return Ok(None),
        };
        Ok(Some(op))
    }

    fn test_op(&mut self, test: u8, colon: bool, quoted: bool) -> Parse<Op> {
        let kind = match test {
            b'-' => Test::Default,
            b'=' => Test::Assign,
            b'?' => Test::Error,
            _ => Test::Alternative,
        };
        Ok(Op::Test { kind, colon, word: self.word_until(Stop::Brace, quoted)? })
    }

    fn substring(&mut self) -> Parse<Op> {
        self.pos += 1;
        let offset = self.substring_part()?;
        let length = if self.peek() == Some(b':') {
            self.pos += 1;
            // Text after a further colon is an error of the expression, reported if there is a value.
            Some(arith::from_word(self.word_until(Stop::Arith(b"}"), true)?))
        } else {
            None
        };
        Ok(Op::Substring { offset, length })
    }

    /// An expression up to a colon or the closing brace. A colon of `? :` or in parentheses does not end it.
    fn substring_part(&mut self) -> Parse<crate::ir::Arith> {
        let start = self.pos;
        let mut word = self.word_until(Stop::Arith(b":}"), true)?;
        while self.peek() == Some(b':') && colon_belongs(self.slice(start, self.pos)) {
            self.pos += 1;
            word.parts.push(Part::Lit(b":".to_vec()));
            word.parts.extend(self.word_until(Stop::Arith(b":}"), true)?.parts);
        }
        word.raw = self.slice(start, self.pos).into();
        Ok(arith::from_word(word))
    }

    fn replace(&mut self) -> Parse<Op> {
        self.pos += 1;
        let how = match self.peek() {
            Some(b'/') => Replace::All,
            Some(b'#') => Replace::Prefix,
            Some(b'%') => Replace::Suffix,
            _ => Replace::First,
        };
        if how != Replace::First {
            self.pos += 1;
        }
        let anchored = matches!(how, Replace::Prefix | Replace::Suffix);
        let mut pattern = if anchored && self.peek() == Some(b'/') {
            Word::default()
        } else {
            self.word_until(Stop::BraceOrSlash, false)?
        };
        if anchored && let Some(Part::Tilde(name)) = pattern.parts.first() {
            // After the anchor it does not start a word.
            let literal = Part::Lit([b"~", &name[..]].concat());
            pattern.parts.splice(..1, [literal]);
        }
        let with = if self.peek() == Some(b'/') {
            self.pos += 1;
            self.word_until(Stop::Brace, false)?
        } else {
            Word::default()
        };
        Ok(Op::Replace { how, pattern, with })
    }
}

/// Returns whether a colon after this text belongs to its expression.
fn colon_belongs(text: &[u8]) -> bool {
    let (mut parentheses, mut conditions) = (0_u32, 0_u32);
    for byte in text {
        match byte {
            b'(' => parentheses += 1,
            b')' => parentheses = parentheses.saturating_sub(1),
            b'?' => conditions += 1,
            b':' => conditions = conditions.saturating_sub(1),
            _ => {}
        }
    }
    parentheses > 0 || conditions > 0
}
