//! Top level of the grammar: definitions, operators.

mod binding;
mod cursor;
mod definition;
mod operator;
mod program;

use super::Term;
use super::lex::{Token, tokens};
use super::names::Scope;

/// Maximum nesting of parentheses, operators and similar; each level uses stack.
const MAX_NESTING: usize = 300;

/// Maximum length of an operator chain. Its tree is as deep as the chain is long, because each operator has all previous ones on
/// its left.
const MAX_CHAIN: usize = 3000;

/// A syntax error and its position.
#[derive(Clone, Debug)]
pub(crate) struct SyntaxError {
    pub(crate) message: String,
    pub(crate) at: usize,
}

/// A grammar error ends parsing; the parser stores the error.
pub(super) type Outcome<T> = Result<T, ParseFailed>;

/// The error has been recorded.
#[derive(Debug)]
pub(super) struct ParseFailed;

/// Context that selects the additional message of an error.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Within {
    /// Brackets, after which parsing would continue.
    Brackets,
    /// An `if` parsed up to `then`, and its start.
    Then(usize),
}

/// Reads a program.
pub(crate) struct Parser<'a> {
    tokens: Vec<Token>,
    at: usize,
    pub(super) fresh: usize,
    pub(super) within: Vec<Within>,
    nesting: usize,
    /// The longest operator chain in the current term, a lower bound of its depth.
    chain: usize,
    pub(crate) scope: &'a mut Scope,
    /// Errors found.
    pub(crate) errors: Vec<SyntaxError>,
    /// Undefined filters that the program calls.
    pub(crate) calls: Vec<(&'static str, usize, usize)>,
    /// The definitions being parsed, and whether they are recursive.
    pub(super) defining: Vec<(&'static str, usize, bool)>,
}

impl<'a> Parser<'a> {
    pub(crate) fn new(program: &'static str, scope: &'a mut Scope) -> Self {
        Self {
            tokens: tokens(program),
            at: 0,
            fresh: 0,
            within: Vec::new(),
            nesting: 0,
            chain: 0,
            scope,
            errors: Vec::new(),
            calls: Vec::new(),
            defining: Vec::new(),
        }
    }

    /// Enters a nesting level, up to the limit.
    pub(super) fn deeper<T>(&mut self, read: impl FnOnce(&mut Self) -> Outcome<T>) -> Outcome<T> {
        if self.nesting >= MAX_NESTING {
            let at = self.peek().at;
            return Err(self.wrong(format!("program nests deeper than {MAX_NESTING} levels"), at));
        }
        self.nesting += 1;
        let result = read(self);
        self.nesting -= 1;
        result
    }

    /// Records that a term became the left operand of another one.
    pub(super) fn chained(&mut self) -> Outcome<()> {
        self.chain += 1;
        if self.chain > MAX_CHAIN {
            let at = self.peek().at;
            return Err(self.wrong(format!("more than {MAX_CHAIN} operators in a row"), at));
        }
        Ok(())
    }

    /// Parses an independent term, so that its operator chain is counted separately.
    fn beside(&mut self, read: impl FnOnce(&mut Self) -> Outcome<Term>) -> Outcome<Term> {
        let before = std::mem::take(&mut self.chain);
        let result = read(self);
        self.chain = self.chain.max(before);
        result
    }
}
