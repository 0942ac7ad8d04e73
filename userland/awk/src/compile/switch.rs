//! `switch`.

use super::{Compiled, Compiler};
use crate::code::Op;
use crate::token::{Keyword, Sign, Token};

impl Compiler {
    pub(super) fn switch(&mut self) -> Compiled<()> {
        self.advance()?;
        self.condition_in_parentheses()?;
        self.skip_newlines()?;
        self.expect(Sign::OpenBrace)?;
        self.skip_newlines()?;
        // The value stays on the stack until the end.
        let mut default = None;
        let mut pending: Option<usize> = None;
        let escape = self.escapable(false, |this| {
            while !this.is(Sign::CloseBrace) {
                this.case(&mut pending, &mut default)?;
            }
            this.advance()?;
            let end = this.emit(Op::Jump(0));
            if let Some(jump) = pending {
                this.land(jump);
            }
            if let Some(default) = default {
                this.jump_back(default);
            }
            this.land(end);
            Ok(())
        })?;
        escape.breaks.into_iter().for_each(|jump| self.land(jump));
        self.barrier = self.at();
        self.emit(Op::Pop);
        Ok(())
    }

    /// One label with its statements. `pending` is the jump of the previous label if it did not match.
    fn case(&mut self, pending: &mut Option<usize>, default: &mut Option<usize>) -> Compiled<()> {
        // Control falls through from the statements before.
        let first = pending.is_none() && default.is_none();
        let fall = if first { None } else { Some(self.emit(Op::Jump(0))) };
        let is_default = match self.token {
            Token::Keyword(Keyword::Default) => true,
            Token::Keyword(Keyword::Case) => false,
            _ => return Err(self.unexpected()),
        };
        self.advance()?;
        if is_default {
            if default.is_some() {
                return Err(self.here("duplicate `default' detected in switch body"));
            }
            // A label that did not match continues at the next one, after these statements.
            if let Some(jump) = pending.take() {
                self.land(jump);
            }
            *pending = Some(self.emit(Op::Jump(0)));
        } else {
            if let Some(jump) = pending.take() {
                self.land(jump);
            }
            let start = self.at();
            self.expression(super::expression::CONCAT)?;
            self.as_pattern(start);
            self.emit(Op::CaseIs);
            *pending = Some(self.jump_unless());
        }
        self.expect(Sign::Colon)?;
        if let Some(fall) = fall {
            self.land(fall);
        }
        if is_default {
            *default = Some(self.at());
        }
        while !matches!(
            self.token,
            Token::Keyword(Keyword::Case | Keyword::Default) | Token::Sign(Sign::CloseBrace) | Token::End
        ) {
            self.statement()?;
        }
        Ok(())
    }
}
