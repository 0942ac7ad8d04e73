//! Operators, lowest precedence first.

use jaq_core::load::parse::BinaryOp;
use jaq_core::ops::{Cmp, Math};

use super::super::Term;
use super::super::lex::Token;
use super::{Outcome, Parser};

impl<'a> Parser<'a> {
    /// `a | b`, and terms that extend as far: definitions, `as` and `label`.
    pub(in crate::syntax) fn pipe(&mut self) -> Outcome<Term> {
        self.deeper(Self::pipe_inner)
    }

    pub(super) fn pipe_inner(&mut self) -> Outcome<Term> {
        if self.peek().is("def") {
            let mark = self.scope.mark();
            let def = self.def()?;
            let rest = self.pipe();
            self.scope.leave(mark);
            return Ok(Term::Def(vec![def], Box::new(rest?)));
        }
        let mut stages = vec![self.beside(Self::comma)?];
        while self.eat("|") {
            // A definition applies to everything after it.
            if self.peek().is("def") {
                stages.push(self.pipe()?);
                break;
            }
            stages.push(self.beside(Self::comma)?);
        }
        Ok(balanced(stages, &|| BinaryOp::Pipe(None)))
    }

    pub(super) fn comma(&mut self) -> Outcome<Term> {
        let mut terms = vec![self.beside(Self::alternatives)?];
        while self.eat(",") {
            terms.push(self.beside(Self::alternatives)?);
        }
        Ok(balanced(terms, &|| BinaryOp::Comma))
    }

    pub(super) fn alternatives(&mut self) -> Outcome<Term> {
        let left = self.assignment()?;
        if self.eat("//") {
            let right = self.deeper(Self::alternatives)?;
            return Ok(self.alternative(left, right));
        }
        Ok(left)
    }

    pub(super) fn assignment(&mut self) -> Outcome<Term> {
        let left = self.or()?;
        let Some(sign) = assignment_sign(self.peek()) else {
            return Ok(left);
        };
        self.next();
        let right = self.deeper(Self::alternatives_of_value)?;
        if assignment_sign(self.peek()).is_some() {
            return Err(self.unexpected(&[]));
        }
        let math = |op| Some(BinaryOp::Math(op));
        Ok(match sign {
            "=" => self.assign(left, right),
            "|=" => self.modify(left, right),
            "+=" => self.modify_by(left, math(Math::Add), right),
            "-=" => self.modify_by(left, math(Math::Sub), right),
            "*=" => self.modify_by(left, math(Math::Mul), right),
            "/=" => self.modify_by(left, math(Math::Div), right),
            "%=" => self.modify_by(left, math(Math::Rem), right),
            _ => self.modify_by(left, None, right),
        })
    }

    /// The right side of an assignment: `//` binds less tightly.
    pub(super) fn alternatives_of_value(&mut self) -> Outcome<Term> {
        self.or()
    }

    pub(super) fn or(&mut self) -> Outcome<Term> {
        let mut left = self.and()?;
        while self.eat("or") {
            self.chained()?;
            let right = self.and()?;
            left = Term::BinOp(Box::new(left), BinaryOp::Or, Box::new(right));
        }
        Ok(left)
    }

    pub(super) fn and(&mut self) -> Outcome<Term> {
        let mut left = self.comparison()?;
        while self.eat("and") {
            self.chained()?;
            let right = self.comparison()?;
            left = Term::BinOp(Box::new(left), BinaryOp::And, Box::new(right));
        }
        Ok(left)
    }

    pub(super) fn comparison(&mut self) -> Outcome<Term> {
        let left = self.sum()?;
        let Some(op) = comparison_sign(self.peek()) else {
            return Ok(left);
        };
        self.next();
        let right = self.sum()?;
        if comparison_sign(self.peek()).is_some() {
            return Err(self.unexpected(&[]));
        }
        Ok(self.binary(left, BinaryOp::Cmp(op), right))
    }

    pub(super) fn sum(&mut self) -> Outcome<Term> {
        let mut left = self.product()?;
        loop {
            let op = match self.peek() {
                token if token.is("+") => Math::Add,
                token if token.is("-") => Math::Sub,
                _ => return Ok(left),
            };
            self.next();
            self.chained()?;
            let right = self.product()?;
            left = self.binary(left, BinaryOp::Math(op), right);
        }
    }

    pub(in crate::syntax) fn product(&mut self) -> Outcome<Term> {
        let start = self.peek().at;
        let mut left = self.unary()?;
        loop {
            let op = match self.peek() {
                token if token.is("*") => Math::Mul,
                token if token.is("/") => Math::Div,
                token if token.is("%") => Math::Rem,
                _ => return Ok(left),
            };
            self.next();
            self.chained()?;
            let right = self.unary()?;
            if let (Term::Num(dividend), Term::Num(divisor)) = (&left, &right)
                && divides_by_zero(dividend, divisor)
                && matches!(op, Math::Div)
            {
                return Err(self.wrong("Division by zero?", start));
            }
            left = self.binary(left, BinaryOp::Math(op), right);
        }
    }

    /// `-a`, `try a catch b`, and `a as $x | b`, which extends to the end.
    pub(in crate::syntax) fn unary(&mut self) -> Outcome<Term> {
        if self.peek().is("-") {
            self.next();
            let operand = self.deeper(Self::product)?;
            return Ok(Term::Neg(Box::new(operand)));
        }
        if self.peek().is("def") || self.peek().is("label") {
            return if self.peek().is("def") { self.pipe() } else { self.label() };
        }
        let term = self.deeper(Self::postfix)?;
        if self.eat("as") {
            return self.binding(term);
        }
        Ok(term)
    }
}

/// Combines terms by an associative operator into a balanced tree, so that many terms make no deep tree.
pub(super) fn balanced(mut terms: Vec<Term>, operator: &dyn Fn() -> BinaryOp<&'static str>) -> Term {
    if terms.len() <= 1 {
        return terms.pop().unwrap_or_default();
    }
    let right = terms.split_off(terms.len() / 2);
    Term::BinOp(Box::new(balanced(terms, operator)), operator(), Box::new(balanced(right, operator)))
}

pub(super) fn divides_by_zero(dividend: &str, divisor: &str) -> bool {
    let number = |text: &str| text.parse::<f64>().unwrap_or(1.0);
    number(divisor) == 0.0 && number(dividend) != 0.0
}

pub(super) fn assignment_sign(token: Token) -> Option<&'static str> {
    const SIGNS: [&str; 8] = ["=", "|=", "+=", "-=", "*=", "/=", "%=", "//="];
    SIGNS.into_iter().find(|sign| token.is(sign))
}

pub(super) fn comparison_sign(token: Token) -> Option<Cmp> {
    let signs = [("==", Cmp::Eq), ("!=", Cmp::Ne), ("<=", Cmp::Le), (">=", Cmp::Ge), ("<", Cmp::Lt), (">", Cmp::Gt)];
    signs.into_iter().find(|(sign, _)| token.is(sign)).map(|(_, op)| op)
}
