//! Statements.

use super::{Loop, Mistake, Parsed, Parser};
use crate::code::Op;
use crate::token::{Token, Word};

impl<'a> Parser<'a> {
    pub(super) fn statements(&mut self) -> Parsed<()> {
        loop {
            while self.token == Token::Newline || self.is(";") {
                self.advance();
            }
            if self.is("}") || self.token == Token::End {
                return Ok(());
            }
            self.statement()?;
            if !self.is(";") && !self.is("}") && self.token != Token::Newline {
                return self.mistake("syntax error");
            }
        }
    }

    pub(super) fn statement(&mut self) -> Parsed<()> {
        self.deeper()?;
        match self.token.clone() {
            Token::Text(text) => {
                self.advance();
                self.code.push(Op::Text(text));
            }
            Token::Sign("{") => {
                self.advance();
                self.statements()?;
                self.expect("}")?;
            }
            Token::Word(word) => self.reserved(word)?,
            _ => self.expression_statement()?,
        }
        self.depth -= 1;
        Ok(())
    }

    pub(super) fn expression_statement(&mut self) -> Parsed<()> {
        let kind = self.expression(0)?;
        self.code.push(if kind.assignment || kind.void { Op::Pop } else { Op::Write(true) });
        Ok(())
    }

    pub(super) fn reserved(&mut self, word: Word) -> Parsed<()> {
        match word {
            Word::Quit => return Err(Mistake::Quit),
            Word::Halt => {
                self.advance();
                self.code.push(Op::Halt);
            }
            Word::Limits | Word::Warranty => {
                self.advance();
                self.code.push(Op::Text(if word == Word::Limits { LIMITS } else { WARRANTY }.as_bytes().to_vec()));
            }
            Word::Break | Word::Continue => {
                let jump = self.code.push(Op::Jump(0));
                match (self.loops.last_mut(), word) {
                    (Some(innermost), Word::Break) => innermost.breaks.push(jump),
                    (Some(innermost), _) => innermost.continues.push(jump),
                    (None, Word::Break) => return self.mistake("Break outside a for/while"),
                    (None, _) => return self.mistake("Continue outside a for"),
                }
                self.advance();
            }
            Word::Return => self.give_back()?,
            Word::If => self.conditional()?,
            Word::While => self.while_loop()?,
            Word::For => self.for_loop()?,
            Word::Print => self.print()?,
            _ => self.expression_statement()?,
        }
        Ok(())
    }

    pub(super) fn give_back(&mut self) -> Parsed<()> {
        self.advance();
        let empty = matches!(self.token, Token::Newline | Token::End) || self.is(";") || self.is("}");
        if empty {
            self.code.push(Op::Zero);
        } else {
            self.expression(0)?;
        }
        match self.in_function {
            None => return self.mistake("Return outside of a function."),
            Some(true) if !empty => return self.mistake("Return expression in a void function."),
            _ => {}
        }
        self.code.push(Op::Return);
        Ok(())
    }

    pub(super) fn value(&mut self) -> Parsed<()> {
        if self.expression(0)?.void { self.mistake("void expression") } else { Ok(()) }
    }

    /// A newline is allowed before the statement of a condition.
    pub(super) fn body(&mut self) -> Parsed<()> {
        while self.token == Token::Newline {
            self.advance();
        }
        if self.is(";") {
            return Ok(());
        }
        self.statement()
    }

    pub(super) fn conditional(&mut self) -> Parsed<()> {
        self.advance();
        self.expect("(")?;
        self.value()?;
        self.expect(")")?;
        let otherwise = self.code.push(Op::JumpUnless(0));
        self.body()?;
        if self.token == Token::Word(Word::Else) {
            self.advance();
            let end = self.code.push(Op::Jump(0));
            self.code.aim(otherwise, self.code.ops.len());
            self.body()?;
            self.code.aim(end, self.code.ops.len());
        } else {
            self.code.aim(otherwise, self.code.ops.len());
        }
        Ok(())
    }

    pub(super) fn while_loop(&mut self) -> Parsed<()> {
        self.advance();
        let top = self.code.ops.len();
        self.expect("(")?;
        self.value()?;
        self.expect(")")?;
        let end = self.code.push(Op::JumpUnless(0));
        self.loops.push(Loop::default());
        self.body()?;
        self.code.push(Op::Jump(top));
        self.end_loop(top, end);
        Ok(())
    }

    pub(super) fn end_loop(&mut self, again: usize, end: usize) {
        let after = self.code.ops.len();
        self.code.aim(end, after);
        let Loop { breaks, continues } = self.loops.pop().unwrap_or_default();
        breaks.into_iter().for_each(|jump| self.code.aim(jump, after));
        continues.into_iter().for_each(|jump| self.code.aim(jump, again));
    }

    pub(super) fn for_loop(&mut self) -> Parsed<()> {
        self.advance();
        self.expect("(")?;
        if !self.is(";") {
            self.value()?;
            self.code.push(Op::Pop);
        }
        self.expect(";")?;
        let top = self.code.ops.len();
        if self.is(";") {
            self.code.push(Op::One);
        } else {
            self.value()?;
        }
        self.expect(";")?;
        let body = self.code.push(Op::JumpIf(0));
        let end = self.code.push(Op::Jump(0));
        let step = self.code.ops.len();
        if !self.is(")") {
            self.value()?;
            self.code.push(Op::Pop);
        }
        self.expect(")")?;
        self.code.push(Op::Jump(top));
        self.code.aim(body, self.code.ops.len());
        self.loops.push(Loop::default());
        self.body()?;
        self.code.push(Op::Jump(step));
        self.end_loop(step, end);
        Ok(())
    }

    pub(super) fn print(&mut self) -> Parsed<()> {
        self.advance();
        loop {
            if let Token::Text(text) = self.token.clone() {
                self.advance();
                self.code.push(Op::PrintText(text));
            } else {
                if self.expression(0)?.void {
                    return self.mistake("void expression in print");
                }
                self.code.push(Op::Write(false));
            }
            if !self.accept(",") {
                return Ok(());
            }
        }
    }
}

pub(super) const LIMITS: &str = "BC_BASE_MAX     = 2147483647\nBC_DIM_MAX      = 16777215\nBC_SCALE_MAX    = 2147483647\n\
                      BC_STRING_MAX   = 2147483647\nMAX Exponent    = 9223372036854775807\nNumber of vars  = 32767\n";
const WARRANTY: &str = "\nThis bc is part of Tidebox and comes without any warranty.\n";
