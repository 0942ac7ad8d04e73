//! Evaluation of arithmetic.

mod interpret;
mod operate;
mod text;
mod variable;

use self::operate::{binary, unary};
use super::lossy;
use super::word::Mode;
use crate::ir::{Arith, Bytes, Expr, Param};
use crate::parse::plain_number;
use crate::state::{Run, Shell, Stop};
use text::{guarded, trim_blanks};

/// Values that are expressions themselves, one within the other, before bash gives up.
/// bash gives up after 1024; where two, three or four refer to each other in a circle this is the same one of them.
const MAX_LEVELS: u32 = 256;

/// Why an expression has no value.
#[derive(Debug)]
pub(crate) enum Fault {
    /// What is wrong with it.
    Message(Bytes),
    /// A divisor was 0; the offset of its text.
    Zero(usize),
    /// An exponent was negative; the offset of what follows it.
    Exponent(usize),
    /// It was complained about already.
    Reported,
    Stop(Stop),
}

impl From<Stop> for Fault {
    fn from(stop: Stop) -> Self {
        Self::Stop(stop)
    }
}

type Value = Result<i64, Fault>;

impl Shell {
    /// The value of an expression; an error gives up the command.
    pub(crate) fn evaluate(&mut self, arith: &Arith) -> Run<i64> {
        match self.arith_value(arith) {
            Ok(value) => Ok(value),
            Err(fault) => self.arith_failed(fault),
        }
    }

    /// The same for a subscript, where a mistake in the expression gives up more than one in what is expanded for it.
    pub(crate) fn evaluate_subscript(&mut self, arith: &Arith) -> Run<i64> {
        match self.arith_value(arith) {
            Ok(value) => Ok(value),
            Err(Fault::Stop(stop)) => Err(stop),
            Err(fault) => {
                let failed = self.arith_failed(fault);
                self.abandon(failed)
            }
        }
    }

    /// As [`Self::evaluate`], with a name before what is wrong.
    pub(crate) fn evaluate_for(&mut self, param: &Param, arith: &Arith) -> Run<i64> {
        match self.arith_value(arith) {
            Err(Fault::Message(text)) => {
                let name = self.shown_name(param);
                self.discard([&name[..], b": ", &text].concat())
            }
            Err(fault) => self.arith_failed(fault),
            Ok(value) => Ok(value),
        }
    }

    /// The value of text as an expression; an error gives up the command.
    pub(crate) fn evaluate_text(&mut self, text: &[u8]) -> Run<i64> {
        if let Some(number) = plain_number(text) {
            return Ok(number);
        }
        match self.text_value(text) {
            Ok(value) => Ok(value),
            Err(fault) => self.arith_failed(fault),
        }
    }

    fn arith_failed<T>(&mut self, fault: Fault) -> Run<T> {
        match fault {
            Fault::Stop(stop) => Err(stop),
            Fault::Reported => {
                self.status = 1;
                Err(if self.options.posix && self.running.is_empty() {
                    self.fatal()
                } else if self.options.errexit {
                    Stop::Exit
                } else {
                    Stop::Discard
                })
            }
            Fault::Message(text) if !matches!(self.running, "" | "((" | "exec") => {
                self.complain_builtin(text);
                self.status = 1;
                Err(Stop::Discard)
            }
            Fault::Message(text) => self.discard(text),
            Fault::Zero(_) => self.discard("division by 0"),
            Fault::Exponent(_) => self.discard("exponent less than 0"),
        }
    }

    /// The value, with the error left to the caller.
    pub(crate) fn arith_value(&mut self, arith: &Arith) -> Value {
        if arith.guards && arith.text.raw.contains(&b'[') {
            let text = self.expand_as(&arith.text.parts, Mode::Text)?;
            return self.text_value(&guarded(&text));
        }
        let Some(tree) = &arith.tree else {
            if arith.text.parts.is_empty() {
                return Ok(0);
            }
            let text = match arith.guards {
                true => guarded(&self.expand_as(&arith.text.parts, Mode::Text)?),
                false if arith.text.raw.contains(&b'[') => self.guarded_text(&arith.text.parts, &mut 0)?,
                false => self.expand_as(&arith.text.parts, Mode::Text)?,
            };
            return self.text_value(&text);
        };
        if arith.expansions.is_empty() {
            return match self.eval(tree, &[]) {
                Err(Fault::Zero(at)) => Err(self.located_in(arith, &[], at, Fault::Zero)?),
                Err(Fault::Exponent(at)) => Err(self.located_in(arith, &[], at, Fault::Exponent)?),
                other => other,
            };
        }
        let mut texts = Vec::with_capacity(arith.expansions.len());
        for part in &arith.expansions {
            texts.push(self.expand_as(std::slice::from_ref(part), Mode::Text)?);
        }
        let numbers: Option<Vec<i64>> = texts.iter().map(|text| plain_number(text.trim_ascii())).collect();
        if let Some(numbers) = numbers {
            // What the expression has done already must not happen again for the sake of a message.
            return match self.eval(tree, &numbers) {
                Err(Fault::Zero(at)) => Err(self.located_in(arith, &texts, at, Fault::Zero)?),
                Err(Fault::Exponent(at)) => Err(self.located_in(arith, &texts, at, Fault::Exponent)?),
                other => other,
            };
        }
        let text = self.arith_text(arith, &arith.text.parts, &texts, &mut Vec::new())?;
        let text = if arith.guards { guarded(&text) } else { text };
        self.text_value(&text)
    }

    fn eval(&mut self, expr: &Expr, values: &[i64]) -> Value {
        match expr {
            Expr::Number(number) => Ok(*number),
            Expr::Expansion(index) => Ok(values.get(*index).copied().unwrap_or(0)),
            Expr::Var(name) => self.var_value(name),
            Expr::Element(name, subscript) => self.element_value(name, subscript),
            Expr::Unary(op, operand) => Ok(unary(*op, self.eval(operand, values)?)),
            Expr::Binary(op, left, right) => {
                let left = self.eval(left, values)?;
                let right = self.eval(right, values)?;
                binary(*op, left, right, usize::MAX)
            }
            Expr::Divide { op, left, right, at } => {
                let left = self.eval(left, values)?;
                let right = self.eval(right, values)?;
                binary(*op, left, right, *at)
            }
            Expr::And(left, right) => Ok(i64::from(self.eval(left, values)? != 0 && self.eval(right, values)? != 0)),
            Expr::Or(left, right) => Ok(i64::from(self.eval(left, values)? != 0 || self.eval(right, values)? != 0)),
            Expr::Choose(condition, yes, no) => {
                let branch = if self.eval(condition, values)? != 0 { yes } else { no };
                self.eval(branch, values)
            }
            Expr::Assign { name, subscript, op: None, value, .. } => {
                // Where nothing is read before, the subscript comes after the value.
                let value = self.eval(value, values)?;
                let key = self.place(name, subscript.as_ref())?;
                self.change(name, subscript.as_ref(), key, value)?;
                Ok(value)
            }
            Expr::Assign { name, subscript, op: Some(op), value, at } => {
                let (key, old) = self.old_value(name, subscript.as_ref())?;
                let value = self.eval(value, values)?;
                let value = binary(*op, old, value, *at)?;
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

/// What is wrong with this text, where a fault knows only the place.
fn located(fault: Fault, text: &[u8]) -> Fault {
    let (problem, at) = match fault {
        Fault::Zero(at) => ("division by 0", at),
        Fault::Exponent(at) => ("exponent less than 0", at),
        other => return other,
    };
    let skipped = text.len() - trim_blanks(text).len();
    let token = text.get(at..).filter(|token| !token.is_empty()).unwrap_or(b"0");
    Fault::Message(message(text.get(skipped..).unwrap_or_default(), problem, token))
}
