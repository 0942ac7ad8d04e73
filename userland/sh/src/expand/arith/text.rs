//! Expressions whose text must be expanded before parsing.

use std::rc::Rc;

use super::{Fault, MAX_LEVELS, Value, message, syntax_fault};
use crate::expand::word::Mode;
use crate::ir::{Arith, Bytes, Part};
use crate::parse::{parse_expr, plain_number};
use crate::state::{EvalResult, Shell};

impl Shell {
    /// The text of an expression with its expansions. Expansions in `texts` are not repeated.
    pub(super) fn arith_text(&mut self, arith: &Arith, parts: &[Part], texts: &[Bytes]) -> EvalResult<Bytes> {
        let mut out = Bytes::new();
        for part in parts {
            let found = arith.expansions.iter().position(|known| same_part(known, part)).and_then(|at| texts.get(at));
            match (found, part) {
                (Some(text), _) => out.extend_from_slice(text),
                (None, Part::Double(inner)) => out.extend(self.arith_text(arith, inner, texts)?),
                (None, part) => out.extend(self.expand_as(std::slice::from_ref(part), Mode::Text)?),
            }
        }
        Ok(out)
    }

    /// The text of an expression with its expansions. Expansions between brackets (`depth` are open) get backslashes before
    /// characters that would be special when the subscript is parsed.
    pub(super) fn guarded_text(&mut self, parts: &[Part], depth: &mut u32) -> EvalResult<Bytes> {
        let mut out = Bytes::new();
        for part in parts {
            match part {
                Part::Lit(text) | Part::Quoted(text) => {
                    for byte in text {
                        match byte {
                            b'[' => *depth = depth.saturating_add(1),
                            b']' => *depth = depth.saturating_sub(1),
                            _ => {}
                        }
                    }
                    out.extend_from_slice(text);
                }
                Part::Double(inner) => out.extend(self.guarded_text(inner, depth)?),
                part => {
                    let text = self.expand_as(std::slice::from_ref(part), Mode::Text)?;
                    out.extend(if *depth > 0 { guarded(&text) } else { text });
                }
            }
        }
        Ok(out)
    }

    /// The value of text as an expression, with the error left to the caller.
    pub(crate) fn text_value(&mut self, text: &[u8]) -> Value {
        if self.expansion.arith_depth >= MAX_LEVELS {
            return Err(Fault::Message(message(text, "expression recursion level exceeded", text)));
        }
        let tree = match parse_expr(text) {
            Ok(Some(tree)) => tree,
            Ok(None) => return Ok(0),
            Err(error) => return Err(syntax_fault(text, &error)),
        };
        self.expansion.arith_depth += 1;
        let value = self.eval(&tree, &[], text);
        self.expansion.arith_depth -= 1;
        value
    }

    /// Evaluates the text of a variable, which may be an expression.
    pub(super) fn nested_value(&mut self, text: &[u8]) -> Value {
        match plain_number(text.trim_ascii()) {
            Some(number) => Ok(number),
            None => self.text_value(text),
        }
    }
}

/// Text with backslashes before characters that are special in a subscript.
pub(super) fn guarded(text: &[u8]) -> Bytes {
    let mut out = Bytes::with_capacity(text.len());
    for &byte in text {
        if b"[]$`'\"\\~".contains(&byte) {
            out.push(b'\\');
        }
        out.push(byte);
    }
    out
}

fn same_part(a: &Part, b: &Part) -> bool {
    match (a, b) {
        (Part::Param(a), Part::Param(b)) => Rc::ptr_eq(a, b),
        (Part::Command(a), Part::Command(b)) => Rc::ptr_eq(a, b),
        (Part::Arith(a), Part::Arith(b)) => Rc::ptr_eq(a, b),
        _ => false,
    }
}
