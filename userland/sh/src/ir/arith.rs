//! Expressions of arithmetic.

use std::rc::Rc;

use super::Name;
use super::param::Subscript;
use super::word::{Part, Word};

/// An expression of arithmetic.
#[derive(Clone, Debug, Default)]
pub(crate) struct Arith {
    /// Its text as parts, because expansions precede the evaluation.
    pub(crate) text: Word,
    /// The tree, if it is the same for all expansions that yield numbers.
    pub(crate) tree: Option<Rc<Expr>>,
    /// The parts that `Expr::Expansion` refers to.
    pub(crate) expansions: Vec<Part>,
    /// It is a subscript within an expression. Its expansions must not be parsed as subscripts or quotes again, which could
    /// run commands in their values.
    pub(crate) guards: bool,
}

#[derive(Debug)]
pub(crate) enum Expr {
    Number(i64),
    /// The value of the expansion with this index.
    Expansion(usize),
    Var(Name),
    Element(Name, Rc<Subscript>),
    Unary(UnaryOp, Box<Self>),
    /// Operators of one precedence, evaluated from the left. The offset is that of the error token of the operand.
    Chain {
        first: Box<Self>,
        rest: Vec<(BinaryOp, Self, usize)>,
    },
    And(Vec<Self>),
    Or(Vec<Self>),
    Choose(Box<Self>, Box<Self>, Box<Self>),
    /// Plain or compound assignment to a variable or an element.
    Assign {
        name: Name,
        subscript: Option<Rc<Subscript>>,
        op: Option<BinaryOp>,
        value: Box<Self>,
        /// Offset of the error token.
        at: usize,
    },
    /// `++x`, `x++` and so on.
    Step {
        name: Name,
        subscript: Option<Rc<Subscript>>,
        by: i64,
        prefix: bool,
    },
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum UnaryOp {
    Plus,
    Minus,
    Not,
    Complement,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum BinaryOp {
    Power,
    Multiply,
    Divide,
    Modulo,
    Add,
    Subtract,
    ShiftLeft,
    ShiftRight,
    Less,
    LessEqual,
    Greater,
    GreaterEqual,
    Equal,
    NotEqual,
    BitAnd,
    BitXor,
    BitOr,
    Comma,
}
