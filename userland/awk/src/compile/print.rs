//! `print` and `printf`.

use super::expression::{CONCAT, LOWEST};
use super::{Compiled, Compiler};
use crate::code::{Op, Sink};
use crate::token::{Keyword, Sign, Token};

impl Compiler {
    pub(super) fn print(&mut self, formatted: bool) -> Compiled<()> {
        self.advance()?;
        self.no_greater = true;
        let count = if self.ends_list() { 0 } else { self.print_list()? };
        if formatted && count == 0 {
            return Err(self.fatal("printf: no arguments"));
        }
        let sink = match self.token {
            Token::Sign(Sign::Greater) => Sink::File,
            Token::Sign(Sign::Append) => Sink::Append,
            Token::Sign(Sign::Pipe) => Sink::Pipe,
            Token::Sign(Sign::TwoWay) => Sink::TwoWay,
            _ => Sink::Standard,
        };
        if sink != Sink::Standard {
            self.advance()?;
            self.expression(CONCAT)?;
        }
        self.no_greater = false;
        self.emit(if formatted { Op::Printf { count, sink } } else { Op::Print { count, sink } });
        Ok(())
    }

    /// Returns whether the print list ends here.
    fn ends_list(&self) -> bool {
        match self.token {
            Token::Newline | Token::End => true,
            Token::Sign(sign) => matches!(
                sign,
                Sign::Semicolon | Sign::CloseBrace | Sign::Greater | Sign::Append | Sign::Pipe | Sign::TwoWay
            ),
            _ => false,
        }
    }

    fn print_list(&mut self) -> Compiled<u32> {
        if self.is(Sign::Open) {
            let start = self.at();
            let count = self.parenthesized()?;
            if self.ends_list() {
                return Ok(count);
            }
            if count > 1 {
                if self.token != Token::Keyword(Keyword::In) {
                    return Err(self.unexpected());
                }
                self.within_list(count)?;
            }
            self.barrier = self.at();
            self.follow(start, None, LOWEST)?;
        } else {
            self.expression(LOWEST)?;
        }
        let mut count = 1;
        while self.accept(Sign::Comma)? {
            self.skip_newlines()?;
            self.expression(LOWEST)?;
            count += 1;
        }
        Ok(count)
    }
}
