//! Token cursor and unexpected-token errors.

use super::super::lex::{Kind, Token};
use super::{Outcome, ParseFailed, Parser, SyntaxError, Within};

impl Parser<'_> {
    pub(in crate::syntax) fn peek(&self) -> Token {
        self.look(0)
    }

    /// The token after `count` others.
    pub(in crate::syntax) fn look(&self, count: usize) -> Token {
        let end = Token { kind: Kind::End, text: "", at: 0 };
        self.tokens.get(self.at + count).or(self.tokens.last()).copied().unwrap_or(end)
    }

    pub(in crate::syntax) fn next(&mut self) -> Token {
        let token = self.peek();
        self.at += 1;
        token
    }

    pub(in crate::syntax) fn eat(&mut self, text: &str) -> bool {
        let found = self.peek().is(text);
        if found {
            self.at += 1;
        }
        found
    }

    pub(in crate::syntax) fn expect(&mut self, text: &str, expected: &[&str]) -> Outcome<()> {
        if self.eat(text) { Ok(()) } else { Err(self.unexpected(expected)) }
    }

    pub(in crate::syntax) fn name(&mut self, expected: &[&str]) -> Outcome<&'static str> {
        if self.peek().is_name() { Ok(self.next().text) } else { Err(self.unexpected(expected)) }
    }

    /// Reports that the next token is unexpected.
    pub(in crate::syntax) fn unexpected(&mut self, expected: &[&str]) -> ParseFailed {
        let token = self.peek();
        let mut message = format!("syntax error, unexpected {}", token.message_name());
        // An error at the start of a program is reported as if after an empty program.
        let expected = if expected.is_empty() && self.at == 0 { &["$end"] } else { expected };
        for (count, name) in expected.iter().enumerate() {
            message.push_str(if count == 0 { ", expecting " } else { " or " });
            message.push_str(name);
        }
        message.push_str(" (Unix shell quoting issues?)");
        self.errors.push(SyntaxError { message, at: token.at });
        if let Some(Within::Then(at)) = self.within.last() {
            let message = "Possibly unterminated 'if' statement".to_owned();
            self.errors.push(SyntaxError { message, at: *at });
        }
        ParseFailed
    }

    pub(in crate::syntax) fn wrong(&mut self, message: impl Into<String>, at: usize) -> ParseFailed {
        self.errors.push(SyntaxError { message: message.into(), at });
        ParseFailed
    }
}
