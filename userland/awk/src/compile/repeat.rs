//! Loops.

use super::{Compiled, Compiler};
use crate::code::{Arr, Op, Target};
use crate::token::{Keyword, Sign, Token};

impl Compiler {
    pub(super) fn while_loop(&mut self) -> Compiled<()> {
        self.advance()?;
        let top = self.at();
        self.barrier = top;
        self.condition_in_parentheses()?;
        let end = self.jump_unless();
        self.body_back_to(top, end)
    }

    /// The body of a loop that starts at `top` and exits through the jump `end`.
    fn body_back_to(&mut self, top: usize, end: usize) -> Compiled<()> {
        let escape = self.escapable(true, Self::body)?;
        escape.continues.into_iter().for_each(|jump| self.aim(jump, top));
        self.jump_back(top);
        self.land(end);
        escape.breaks.into_iter().for_each(|jump| self.land(jump));
        Ok(())
    }

    pub(super) fn do_loop(&mut self) -> Compiled<()> {
        self.advance()?;
        let top = self.at();
        self.barrier = top;
        let escape = self.escapable(true, Self::body)?;
        while self.token == Token::Newline || self.is(Sign::Semicolon) {
            self.advance()?;
        }
        if self.token != Token::Keyword(Keyword::While) {
            return Err(self.unexpected());
        }
        self.advance()?;
        escape.continues.into_iter().for_each(|jump| self.land(jump));
        self.condition_in_parentheses()?;
        let again = self.emit(Op::JumpIf(0));
        self.aim(again, top);
        escape.breaks.into_iter().for_each(|jump| self.land(jump));
        self.barrier = self.at();
        if self.token == Token::Newline || self.is(Sign::Semicolon) {
            self.advance()?;
        }
        Ok(())
    }

    pub(super) fn for_loop(&mut self) -> Compiled<()> {
        self.advance()?;
        self.expect(Sign::Open)?;
        if let Some((name, array)) = self.for_in()? {
            return self.for_each(&name, array);
        }
        if !self.is(Sign::Semicolon) {
            self.simple()?;
        }
        self.expect(Sign::Semicolon)?;
        self.skip_newlines()?;
        let top = self.at();
        self.barrier = top;
        let mut end = None;
        if !self.is(Sign::Semicolon) {
            self.enclosed()?;
            end = Some(self.jump_unless());
        }
        self.expect(Sign::Semicolon)?;
        self.skip_newlines()?;
        let start = self.at();
        if !self.is(Sign::Close) {
            self.simple()?;
        }
        self.expect(Sign::Close)?;
        let step = self.cut(start);
        let escape = self.escapable(true, Self::body)?;
        escape.continues.into_iter().for_each(|jump| self.land(jump));
        self.paste(step);
        self.jump_back(top);
        if let Some(end) = end {
            self.land(end);
        }
        escape.breaks.into_iter().for_each(|jump| self.land(jump));
        self.barrier = self.at();
        Ok(())
    }

    /// Contents of a loop head.
    fn simple(&mut self) -> Compiled<()> {
        match self.token {
            Token::Keyword(Keyword::Delete) => self.delete(),
            Token::Keyword(Keyword::Print) => self.print(false),
            Token::Keyword(Keyword::Printf) => self.print(true),
            _ => self.effect(),
        }
    }

    /// `name in array)`, if it is next.
    fn for_in(&mut self) -> Compiled<Option<(Vec<u8>, Arr)>> {
        let Token::Name(name) = self.token.clone() else {
            return Ok(None);
        };
        let mut ahead = self.lexer.clone();
        let is_in = ahead.next() == Ok(Token::Keyword(Keyword::In));
        if !is_in || !matches!(ahead.next(), Ok(Token::Name(_))) {
            return Ok(None);
        }
        // Either the parenthesis ends here, or a subscript follows and then it ends.
        let mut depth = 0;
        loop {
            match ahead.next() {
                Ok(Token::Sign(Sign::OpenBracket)) => depth += 1,
                Ok(Token::Sign(Sign::CloseBracket)) => depth -= 1,
                Ok(Token::Sign(Sign::Close)) if depth == 0 => break,
                Ok(Token::End | Token::Newline) | Err(_) => return Ok(None),
                Ok(_) if depth > 0 => {}
                Ok(_) => return Ok(None),
            }
        }
        self.advance()?;
        self.advance()?;
        let array = self.array_name()?;
        self.expect(Sign::Close)?;
        Ok(Some((name, array)))
    }

    fn for_each(&mut self, name: &[u8], array: Arr) -> Compiled<()> {
        let variable = self.variable(name)?;
        self.emit(Op::Loop(array));
        let top = self.at();
        self.barrier = top;
        let end = self.emit(Op::LoopNext(0));
        self.emit(Op::Set(Target::Var(variable)));
        self.emit(Op::Pop);
        self.body_back_to(top, end)?;
        self.emit(Op::LoopEnd);
        Ok(())
    }
}
