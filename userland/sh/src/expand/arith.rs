//! Evaluation of arithmetic.

mod operate;
mod text;
mod variable;

use self::operate::{binary, unary};
use super::lossy;
use super::word::Mode;
use crate::ir::{Arith, Bytes, Expr, Param};
use crate::parse::{ArithError, plain_number};
use crate::state::{EvalResult, Shell, Unwind};
use text::guarded;

/// Maximum nesting of variables whose values are expressions.
/// bash stops after 1024. In circles of up to four variables, this limit stops at the same variable.
const MAX_LEVELS: u32 = 256;

/// The error of an expression.
#[derive(Debug)]
pub(crate) enum Fault {
    /// The error message.
    Message(Bytes),
    /// The error was already reported.
    Reported,
    Stop(Unwind),
}

impl From<Unwind> for Fault {
    fn from(stop: Unwind) -> Self {
        Self::Stop(stop)
    }
}

type Value = Result<i64, Fault>;

impl Shell {
    /// Evaluates an expression. An error discards the command.
    pub(crate) fn evaluate(&mut self, arith: &Arith) -> EvalResult<i64> {
        match self.arith_value(arith) {
            Ok(value) => Ok(value),
            Err(fault) => self.arith_failed(fault),
        }
    }

    /// Like [`Self::evaluate`], but the message starts with the name of the parameter.
    pub(crate) fn evaluate_for(&mut self, param: &Param, arith: &Arith) -> EvalResult<i64> {
        match self.arith_value(arith) {
            Err(Fault::Message(text)) => {
                let name = self.shown_name(param);
                self.discard([&name[..], b": ", &text].concat())
            }
            Err(fault) => self.arith_failed(fault),
            Ok(value) => Ok(value),
        }
    }

    /// Evaluates text as an expression. An error discards the command.
    pub(crate) fn evaluate_text(&mut self, text: &[u8]) -> EvalResult<i64> {
        if let Some(number) = plain_number(text) {
            return Ok(number);
        }
        match self.text_value(text) {
            Ok(value) => Ok(value),
            Err(fault) => self.arith_failed(fault),
        }
    }

    fn arith_failed<T>(&mut self, fault: Fault) -> EvalResult<T> {
        match fault {
            Fault::Stop(stop) => Err(stop),
            Fault::Reported => {
                self.status = 1;
                Err(if self.options.posix && self.builtin.name.is_empty() {
                    self.fatal()
                } else if self.options.errexit {
                    Unwind::Exit
                } else {
                    Unwind::Discard
                })
            }
            Fault::Message(text) if !matches!(self.builtin.name, "" | "((" | "exec") => {
                self.report_builtin_error(text);
                self.status = 1;
                Err(Unwind::Discard)
            }
            Fault::Message(text) => self.discard(text),
        }
    }

    /// The value, with the error left to the caller.
    pub(crate) fn arith_value(&mut self, arith: &Arith) -> Value {
        let Some(tree) = &arith.tree else {
            if arith.text.parts.is_empty() {
                return Ok(0);
            }
            // The values of expansions in a subscript are guarded at any nesting.
            let mut depth = u32::from(arith.guards);
            let text = if arith.guards || arith.text.raw.contains(&b'[') {
                self.guarded_text(&arith.text.parts, &mut depth)?
            } else {
                self.expand_as(&arith.text.parts, Mode::Text)?
            };
            return self.text_value(&text);
        };
        if arith.expansions.is_empty() {
            return self.eval(tree, &[], arith.text.literal().unwrap_or(&arith.text.raw));
        }
        let mut texts = Vec::with_capacity(arith.expansions.len());
        for part in &arith.expansions {
            texts.push(self.expand_as(std::slice::from_ref(part), Mode::Text)?);
        }
        let numbers: Option<Vec<i64>> = texts.iter().map(|text| plain_number(text.trim_ascii())).collect();
        match numbers {
            Some(numbers) => self.eval(tree, &numbers, b""),
            None => {
                if arith.guards {
                    texts.iter_mut().for_each(|text| *text = guarded(text));
                }
                let text = self.arith_text(arith, &arith.text.parts, &texts)?;
                self.text_value(&text)
            }
        }
    }

    /// The value of a tree. `values` are those of its expansions and `text` is its source, for messages.
    fn eval(&mut self, expr: &Expr, values: &[i64], text: &[u8]) -> Value {
        match expr {
            Expr::Number(number) => Ok(*number),
            Expr::Expansion(index) => Ok(values.get(*index).copied().unwrap_or(0)),
            Expr::Var(name) => self.var_value(name),
            Expr::Element(name, subscript) => self.element_value(name, subscript),
            Expr::Unary(op, operand) => Ok(unary(*op, self.eval(operand, values, text)?)),
            Expr::Chain { first, rest } => {
                let mut left = self.eval(first, values, text)?;
                for (op, right, at) in rest {
                    let right = self.eval(right, values, text)?;
                    left = binary(*op, left, right).map_err(|problem| error_at(text, problem, *at))?;
                }
                Ok(left)
            }
            Expr::And(operands) => {
                for operand in operands {
                    if self.eval(operand, values, text)? == 0 {
                        return Ok(0);
                    }
                }
                Ok(1)
            }
            Expr::Or(operands) => {
                for operand in operands {
                    if self.eval(operand, values, text)? != 0 {
                        return Ok(1);
                    }
                }
                Ok(0)
            }
            Expr::Choose(condition, yes, no) => {
                let branch = if self.eval(condition, values, text)? != 0 { yes } else { no };
                self.eval(branch, values, text)
            }
            Expr::Assign { name, subscript, op: None, value, .. } => {
                // The subscript is evaluated after the value.
                let value = self.eval(value, values, text)?;
                let key = self.place(name, subscript.as_ref())?;
                self.change(name, subscript.as_ref(), key, value)?;
                Ok(value)
            }
            Expr::Assign { name, subscript, op: Some(op), value, at } => {
                let (key, old) = self.old_value(name, subscript.as_ref())?;
                let value = self.eval(value, values, text)?;
                let value = binary(*op, old, value).map_err(|problem| error_at(text, problem, *at))?;
                self.change(name, subscript.as_ref(), key, value)?;
                Ok(value)
            }
            Expr::Step { name, subscript, by, prefix } => {
                let (key, old) = self.old_value(name, subscript.as_ref())?;
                let new = old.wrapping_add(*by);
                self.change(name, subscript.as_ref(), key, new)?;
                Ok(if *prefix { new } else { old })
            }
        }
    }
}

fn message(text: &[u8], problem: &str, token: &[u8]) -> Bytes {
    format!("{}: {problem} (error token is \"{}\")", lossy(text), lossy(token)).into_bytes()
}

/// The error with the token at this offset of the text.
fn error_at(text: &[u8], problem: &str, at: usize) -> Fault {
    let blanks = text.iter().take_while(|byte| matches!(byte, b' ' | b'\t')).count();
    let (shown, token) = (text.get(blanks..).unwrap_or_default(), text.get(at..).unwrap_or_default());
    Fault::Message(message(shown, problem, token))
}

/// The error of the parser in this text.
fn syntax_fault(text: &[u8], error: &ArithError) -> Fault {
    error_at(text.get(..error.end).unwrap_or(text), error.problem, error.token)
}
