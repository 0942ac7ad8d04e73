//! The text of an expression, and its conversion to a tree.

use std::rc::Rc;

use super::ExprParser;
use crate::ir::{Arith, BinaryOp, Bytes, Expr, Part, Word};
use crate::parse::word::Stop;
use crate::parse::{Parse, Parser};

/// Stands in the flat text for the expansion whose index follows.
pub(super) const MARK: u8 = 0;

impl Parser<'_> {
    /// An expression up to one of `closers`, which is not read.
    pub(in crate::parse) fn arith_until(&mut self, closers: &'static [u8]) -> Parse<Arith> {
        let word = self.word_until(Stop::Arith(closers), true)?;
        if self.peek().is_none() {
            return Err(self.unclosed(if closers == b"]" { b']' } else { b')' }, self.line));
        }
        Ok(from_word(word))
    }
}

/// An expression whose text is this word.
pub(crate) fn from_word(text: Word) -> Arith {
    let mut flat = Bytes::new();
    let mut parts = Vec::new();
    if !flatten(&text.parts, &mut flat, &mut parts) {
        return Arith { text, ..Arith::default() };
    }
    let mut parser = ExprParser::new(&flat, &parts);
    match parser.whole() {
        // The message about a division names the text with its expansions.
        Ok(Some(expr)) if !parser.used.is_empty() && may_fail(&expr) => Arith { text, ..Arith::default() },
        Ok(expr) => Arith { tree: expr.map(Rc::new), expansions: parser.used, text, guards: false },
        Err(_) => Arith { text, ..Arith::default() },
    }
}

/// The expression in the source text of a word, parsed as arithmetic; `None` if it is not an
/// expression.
pub(crate) fn arith_of_source(raw: &[u8]) -> Option<Arith> {
    let text = [raw, b")"].concat();
    let mut parser = Parser { is_second_reading: true, ..Parser::new(&text, 1, Rc::from(&b""[..])) };
    let arith = parser.arith_until(b")").ok()?;
    (parser.offset() + 1 == text.len()).then_some(arith)
}

/// Returns whether an expression has a division or a power outside subscripts.
fn may_fail(expr: &Expr) -> bool {
    match expr {
        Expr::Number(_) | Expr::Expansion(_) | Expr::Var(_) | Expr::Element(..) | Expr::Step { .. } => false,
        Expr::Unary(_, operand) => may_fail(operand),
        Expr::And(operands) | Expr::Or(operands) => operands.iter().any(may_fail),
        Expr::Choose(condition, yes, no) => [condition, yes, no].into_iter().any(|expr| may_fail(expr)),
        Expr::Assign { op, value, .. } => op.is_some_and(fails) || may_fail(value),
        Expr::Chain { first, rest } => {
            may_fail(first) || rest.iter().any(|(op, right, _)| fails(*op) || may_fail(right))
        }
    }
}

fn fails(op: BinaryOp) -> bool {
    matches!(op, BinaryOp::Divide | BinaryOp::Modulo | BinaryOp::Power)
}

/// The text with marks for its expansions; false when it holds something that cannot be marked.
fn flatten(from: &[Part], flat: &mut Bytes, parts: &mut Vec<Part>) -> bool {
    from.iter().all(|part| match part {
        Part::Lit(text) | Part::Quoted(text) => {
            flat.extend_from_slice(text);
            !text.contains(&MARK)
        }
        Part::Double(inner) => flatten(inner, flat, parts),
        Part::Tilde(name) => {
            flat.push(b'~');
            flat.extend_from_slice(name);
            true
        }
        Part::Process { .. } => false,
        Part::Param(_) | Part::Command(_) | Part::Arith(_) => {
            flat.push(MARK);
            flat.extend_from_slice(parts.len().to_string().as_bytes());
            flat.push(MARK);
            parts.push(part.clone());
            true
        }
    })
}
