//! Statements.

use super::{Around, Compiled, Compiler, Escape, Failure};
use crate::code::{Arr, Op};
use crate::token::{Keyword, Sign, Token};
use crate::value::Value;

/// Statements within statements.
const MAX_BLOCKS: u32 = 1_000;

impl Compiler {
    /// Statements in braces.
    pub(super) fn block(&mut self) -> Compiled<()> {
        self.expect(Sign::OpenBrace)?;
        while !self.is(Sign::CloseBrace) {
            if self.token == Token::End {
                return Err(self.unexpected());
            }
            self.statement()?;
        }
        self.advance()?;
        Ok(())
    }

    pub(super) fn statement(&mut self) -> Compiled<()> {
        self.blocks += 1;
        if self.blocks > MAX_BLOCKS {
            return Err(self.here("memory exhausted"));
        }
        self.one_statement()?;
        self.blocks -= 1;
        Ok(())
    }

    fn one_statement(&mut self) -> Compiled<()> {
        match self.token {
            Token::Newline | Token::Sign(Sign::Semicolon) => {
                self.advance()?;
                return Ok(());
            }
            Token::Sign(Sign::OpenBrace) => return self.block(),
            Token::Keyword(keyword) => match keyword {
                Keyword::If => return self.conditional(),
                Keyword::While => return self.while_loop(),
                Keyword::Do => return self.do_loop(),
                Keyword::For => return self.for_loop(),
                Keyword::Switch => return self.switch(),
                Keyword::Delete => self.delete()?,
                Keyword::Print => self.print(false)?,
                Keyword::Printf => self.print(true)?,
                Keyword::Break | Keyword::Continue => self.escape(keyword == Keyword::Continue)?,
                Keyword::Next | Keyword::NextFile => self.next(keyword == Keyword::NextFile)?,
                Keyword::Exit => {
                    self.advance()?;
                    self.optional_value()?;
                    self.emit(Op::Exit);
                }
                Keyword::Return => self.give_back()?,
                Keyword::Getline => self.effect()?,
                _ => return Err(self.unexpected()),
            },
            _ => self.effect()?,
        }
        self.end_of_statement()
    }

    fn end_of_statement(&mut self) -> Compiled<()> {
        match self.token {
            Token::Newline | Token::Sign(Sign::Semicolon) => {
                self.advance()?;
                Ok(())
            }
            Token::Sign(Sign::CloseBrace) => Ok(()),
            _ => Err(self.unexpected()),
        }
    }

    /// An expression statement.
    pub(super) fn effect(&mut self) -> Compiled<()> {
        self.expression(super::expression::LOWEST)?;
        let quiet = match self.last() {
            Some(Op::Step(step, target)) => Op::StepQuietly(step.up, target),
            Some(Op::Set(target)) => Op::SetQuietly(target),
            Some(Op::Augment(operation, target)) => Op::AugmentQuietly(operation, target),
            _ => {
                self.emit(Op::Pop);
                return Ok(());
            }
        };
        self.pop_op();
        self.emit(quiet);
        Ok(())
    }

    fn optional_value(&mut self) -> Compiled<()> {
        match self.token {
            Token::Newline | Token::End | Token::Sign(Sign::Semicolon | Sign::CloseBrace) => {
                self.unset();
                Ok(())
            }
            _ => self.expression(super::expression::LOWEST),
        }
    }

    fn unset(&mut self) {
        let constants = &mut self.program.constants;
        constants.push(Value::Unset);
        let at = (constants.len() - 1) as u32;
        self.emit(Op::Const(at));
    }

    fn next(&mut self, file: bool) -> Compiled<()> {
        let name = if file { "nextfile" } else { "next" };
        let around = match self.around {
            Around::Begin => Some("BEGIN"),
            Around::End => Some("END"),
            Around::BeginFile if !file => Some("BEGINFILE"),
            Around::EndFile => Some("ENDFILE"),
            _ => None,
        };
        if let Some(around) = around {
            return Err(self.meaning(format!("`{name}' used in {around} action")));
        }
        self.advance()?;
        self.emit(if file { Op::NextFile } else { Op::Next });
        Ok(())
    }

    fn give_back(&mut self) -> Compiled<()> {
        if self.around != Around::Function {
            return Err(self.here("`return' used outside function context"));
        }
        self.advance()?;
        self.optional_value()?;
        self.emit(Op::Return);
        Ok(())
    }

    fn escape(&mut self, continues: bool) -> Compiled<()> {
        let found = self.escapes.iter().rposition(|escape| !continues || escape.is_loop);
        let Some(at) = found else {
            let what = match continues {
                true => "`continue' is not allowed outside a loop",
                false => "`break' is not allowed outside a loop or switch",
            };
            return Err(Failure::Twice {
                source: self.source_name(),
                line: self.lexer.start().1,
                what: what.to_owned(),
            });
        };
        self.advance()?;
        // Drop the value of a `switch` left by a jump to an enclosing loop.
        let switches = self.escapes.get(at + 1..).unwrap_or_default().len();
        for _ in 0..switches {
            self.emit(Op::Pop);
        }
        let jump = self.emit(Op::Jump(0));
        if let Some(escape) = self.escapes.get_mut(at) {
            if continues { escape.continues.push(jump) } else { escape.breaks.push(jump) }
        }
        Ok(())
    }

    /// Body of a loop or `switch`, with its `break` and `continue` jumps.
    pub(super) fn escapable(
        &mut self,
        is_loop: bool,
        body: impl FnOnce(&mut Self) -> Compiled<()>,
    ) -> Compiled<Escape> {
        self.escapes.push(Escape { is_loop, ..Escape::default() });
        body(self)?;
        Ok(self.escapes.pop().unwrap_or_default())
    }

    pub(super) fn body(&mut self) -> Compiled<()> {
        self.skip_newlines()?;
        if self.accept(Sign::Semicolon)? {
            return Ok(());
        }
        self.statement()
    }

    pub(super) fn condition_in_parentheses(&mut self) -> Compiled<()> {
        self.expect(Sign::Open)?;
        self.enclosed()?;
        self.expect(Sign::Close)
    }

    fn conditional(&mut self) -> Compiled<()> {
        self.advance()?;
        self.condition_in_parentheses()?;
        let otherwise = self.jump_unless();
        self.body()?;
        // Line ends and one semicolon may precede `else`.
        let (lexer, token) = (self.lexer.clone(), self.token.clone());
        while self.token == Token::Newline || self.is(Sign::Semicolon) {
            self.advance()?;
        }
        if self.token != Token::Keyword(Keyword::Else) {
            (self.lexer, self.token) = (lexer, token);
            self.land(otherwise);
            return Ok(());
        }
        self.advance()?;
        let end = self.emit(Op::Jump(0));
        self.land(otherwise);
        self.body()?;
        self.land(end);
        Ok(())
    }

    pub(super) fn delete(&mut self) -> Compiled<()> {
        self.advance()?;
        let in_parentheses = self.accept(Sign::Open)?;
        let Token::Name(name) = self.token.clone() else {
            return Err(self.unexpected());
        };
        let variable = self.variable(&name)?;
        self.advance()?;
        let mut array = Self::array_of(variable);
        if !self.is(Sign::OpenBracket) {
            self.emit(Op::DeleteAll(array));
        } else {
            loop {
                self.subscript()?;
                if !self.is(Sign::OpenBracket) {
                    break;
                }
                self.emit(Op::SubArray(array));
                array = Arr::Stack;
            }
            self.emit(Op::Delete(array));
        }
        if in_parentheses {
            self.expect(Sign::Close)?;
        }
        Ok(())
    }
}
