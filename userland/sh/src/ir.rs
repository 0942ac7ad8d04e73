//! Intermediate representation of a script: words as parts, arithmetic as trees, builtins resolved.

mod arith;
mod cond;
mod param;
mod redirect;
mod word;

use std::rc::Rc;

use crate::builtins::Builtin;
use crate::function::Function;

pub(crate) use arith::{Arith, BinaryOp, Expr, UnaryOp};
pub(crate) use cond::{Cond, CondOp};
pub(crate) use param::{Index, Op, Param, Replace, Subscript, Target, Test};
pub(crate) use redirect::{HereDoc, Redirect, RedirectFd, RedirectKind};
pub(crate) use word::{Part, Substitution, Word};

/// Text of the shell: any bytes, usually UTF-8.
pub(crate) type Bytes = Vec<u8>;
/// The name of a variable or function.
pub(crate) type Name = Rc<[u8]>;

/// A list of commands.
#[derive(Debug, Default)]
pub(crate) struct List {
    pub(crate) items: Vec<Item>,
}

/// One entry of a list.
#[derive(Debug)]
pub(crate) struct Item {
    pub(crate) chain: Rc<Chain>,
    /// Ended by `&`.
    pub(crate) background: bool,
}

/// Pipelines joined by `&&` and `||`.
#[derive(Debug)]
pub(crate) struct Chain {
    pub(crate) first: Pipeline,
    pub(crate) rest: Vec<(Join, Pipeline)>,
    /// The text, for `jobs`.
    pub(crate) text: Box<[u8]>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Join {
    And,
    Or,
}

#[derive(Debug)]
pub(crate) struct Pipeline {
    /// An odd number of `!`.
    pub(crate) bang: bool,
    pub(crate) timed: Option<TimeFormat>,
    pub(crate) stages: Vec<Command>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TimeFormat {
    Bash,
    Posix,
}

#[derive(Debug)]
pub(crate) enum Command {
    Simple(Rc<Simple>),
    Compound(Rc<Compound>),
    Function(Rc<Function>),
}

/// Assignments, words, redirections.
#[derive(Debug)]
pub(crate) struct Simple {
    pub(crate) line: u32,
    pub(crate) assigns: Vec<Assign>,
    pub(crate) args: Vec<Arg>,
    pub(crate) redirects: Vec<Redirect>,
    /// The builtin that the first word names, when that word is plain text.
    pub(crate) builtin: Option<&'static Builtin>,
    /// Expanding the words cannot change the shell, so it may happen outside the subshell where bash does it.
    pub(crate) pure_words: bool,
    /// Like `pure_words`, but the words may contain substitutions.
    pub(crate) quiet_words: bool,
    /// Some argument is an assignment of a declaration builtin.
    pub(crate) declares: bool,
}

/// An argument of a simple command.
#[derive(Debug)]
pub(crate) enum Arg {
    Word(Word),
    /// `name=value` after a declaration builtin: not split, may be an array.
    Assign(Assign),
}

#[derive(Debug)]
pub(crate) struct Compound {
    pub(crate) line: u32,
    pub(crate) kind: Kind,
    pub(crate) redirects: Vec<Redirect>,
}

#[derive(Debug)]
pub(crate) enum Kind {
    Group(List),
    Subshell(List),
    If {
        arms: Vec<(List, List)>,
        else_body: Option<List>,
    },
    Loop {
        until: bool,
        condition: List,
        body: List,
    },
    For {
        name: Name,
        words: Option<Vec<Word>>,
        body: List,
    },
    Select {
        name: Name,
        words: Option<Vec<Word>>,
        body: List,
    },
    ForArith {
        init: Arith,
        condition: Arith,
        step: Arith,
        body: List,
    },
    Case {
        word: Word,
        arms: Vec<Arm>,
    },
    Arith(Arith),
    Cond(Cond),
    /// `coproc`
    Coproc {
        name: Name,
        body: Command,
    },
}

/// One arm of `case`.
#[derive(Debug)]
pub(crate) struct Arm {
    pub(crate) patterns: Vec<Word>,
    pub(crate) body: List,
    pub(crate) end: ArmEnd,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ArmEnd {
    /// `;;`
    Leave,
    /// `;&`
    Fall,
    /// `;;&`
    Test,
}

/// `name=value`, `name+=value`, `name[subscript]=value`, `name=(..)`.
#[derive(Debug)]
pub(crate) struct Assign {
    pub(crate) name: Name,
    pub(crate) subscript: Option<Subscript>,
    pub(crate) append: bool,
    pub(crate) value: AssignValue,
}

#[derive(Debug)]
pub(crate) enum AssignValue {
    Word(Word),
    Array(Vec<Element>),
}

#[derive(Debug)]
pub(crate) struct Element {
    pub(crate) subscript: Option<Subscript>,
    pub(crate) append: bool,
    pub(crate) value: Word,
}
