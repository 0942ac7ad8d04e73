//! The grammar's outer part: modules, definitions, operators.

mod binding;
mod cursor;
mod definition;
mod module;
mod operator;

use super::lex::{Token, tokens};
use super::names::Scope;
use super::{Def, Term};

/// Parentheses, operators and the like that may stand within one another, as each takes some of the stack.
const MOST_NESTING: usize = 300;

/// Operators that may follow one another. What they make is as deep as it is long, because each has all before it on its left.
const LONGEST_CHAIN: usize = 3000;

/// `import` or `include`.
#[derive(Clone, Debug)]
pub(crate) struct Dependency {
    pub(crate) path: String,
    /// The name that it gets here; none for `include`, with a dollar for data.
    pub(crate) name: Option<String>,
    pub(crate) meta: Option<Term>,
}

/// What a program or module consists of.
#[derive(Debug, Default)]
pub(crate) struct Parsed {
    pub(crate) meta: Option<Term>,
    pub(crate) dependencies: Vec<Dependency>,
    pub(crate) definitions: Vec<Def>,
    /// What a program does; a module has no such term.
    pub(crate) main: Option<Term>,
}

/// Something wrong with a program, and where.
#[derive(Clone, Debug)]
pub(crate) struct Wrong {
    pub(crate) message: String,
    pub(crate) at: usize,
}

/// Grammar errors end the reading; the parser keeps what is wrong.
pub(super) type Outcome<T> = Result<T, Broken>;

/// What is wrong has been noted.
#[derive(Debug)]
pub(super) struct Broken;

/// What decides which further message an error gives.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Within {
    /// Brackets, behind which reading would go on.
    Brackets,
    /// An `if` that has got as far as `then`, and where it begins.
    Then(usize),
}

/// Reads a program.
pub(crate) struct Parser<'a> {
    tokens: Vec<Token>,
    at: usize,
    pub(super) fresh: usize,
    pub(super) within: Vec<Within>,
    nesting: usize,
    /// The longest chain of operators in the term that is being read, which no less than this is deep.
    chain: usize,
    pub(crate) scope: &'a mut Scope,
    /// What is wrong with the program.
    pub(crate) wrongs: Vec<Wrong>,
    /// Filters that the program calls and does not define.
    pub(crate) calls: Vec<(&'static str, usize, usize)>,
    /// The definitions that are being read, and whether they were called from inside.
    pub(super) defining: Vec<(&'static str, usize, bool)>,
    pub(super) program: &'static str,
    /// What stands before the names of a module's definitions.
    prefix: String,
    /// The file that the program is in, as `$__loc__` tells it.
    pub(super) file: &'static str,
}

impl<'a> Parser<'a> {
    pub(crate) fn new(program: &'static str, prefix: &str, file: &'static str, scope: &'a mut Scope) -> Self {
        Self {
            tokens: tokens(program),
            at: 0,
            fresh: 0,
            within: Vec::new(),
            nesting: 0,
            chain: 0,
            scope,
            wrongs: Vec::new(),
            calls: Vec::new(),
            defining: Vec::new(),
            program,
            prefix: prefix.to_owned(),
            file,
        }
    }

    /// Goes one level deeper, which has an end.
    pub(super) fn deeper<T>(&mut self, read: impl FnOnce(&mut Self) -> Outcome<T>) -> Outcome<T> {
        if self.nesting >= MOST_NESTING {
            let at = self.peek().at;
            return Err(self.wrong(format!("program nests deeper than {MOST_NESTING} levels"), at));
        }
        self.nesting += 1;
        let result = read(self);
        self.nesting -= 1;
        result
    }

    /// Notes that a term has become the left side of another one.
    pub(super) fn chained(&mut self) -> Outcome<()> {
        self.chain += 1;
        if self.chain > LONGEST_CHAIN {
            let at = self.peek().at;
            return Err(self.wrong(format!("more than {LONGEST_CHAIN} operators in a row"), at));
        }
        Ok(())
    }

    /// Reads a term that stands beside others, so that its chain does not go on from theirs.
    fn beside(&mut self, read: impl FnOnce(&mut Self) -> Outcome<Term>) -> Outcome<Term> {
        let before = std::mem::take(&mut self.chain);
        let result = read(self);
        self.chain = self.chain.max(before);
        result
    }
}
