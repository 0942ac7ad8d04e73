//! Expressions of arithmetic.

use std::rc::Rc;

use super::Name;
use super::param::Subscript;
use super::word::{Part, Word};

/// An expression of arithmetic.
#[derive(Clone, Debug, Default)]
pub(crate) struct Arith {
    /// Its text in pieces, because expansions in it come before its evaluation.
    pub(crate) text: Word,
    /// The tree, when the text has one whatever the expansions yield, as long as they yield numbers.
    pub(crate) tree: Option<Rc<Expr>>,
    /// The pieces that `Expr::Expansion` refers to.
    pub(crate) expansions: Vec<Part>,
    /// It is a subscript with expansions within an expression. Brackets and quotes mean nothing in it once it is expanded.
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
    Binary(BinaryOp, Box<Self>, Box<Self>),
    /// Division, remainder and power, with the offset that the message names when the right side will not do.
    Divide {
        op: BinaryOp,
        left: Box<Self>,
        right: Box<Self>,
        at: usize,
    },
    And(Box<Self>, Box<Self>),
    Or(Box<Self>, Box<Self>),
    Choose(Box<Self>, Box<Self>, Box<Self>),
    /// Plain or compound assignment to a variable or an element.
    Assign {
        name: Name,
        subscript: Option<Rc<Subscript>>,
        op: Option<BinaryOp>,
        value: Box<Self>,
        /// Offset of the newest operand, which the message names when it is a divisor of 0.
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
