//! Evaluation of arithmetic.

mod interpret;
mod operate;

use std::rc::Rc;

use self::operate::binary;
use super::lossy;
use super::word::Mode;
use crate::ir::{Arith, Bytes, Expr, Name, Param, Part, Subscript, UnaryOp};
use crate::parse::{parse_expr, plain_number};
use crate::state::{Run, Shell, Stop};
use crate::vars::{self, Key};

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

    /// A fault whose place is known in the text without its expansions.
    fn located_in(&mut self, arith: &Arith, texts: &[Bytes], at: usize, fault: fn(usize) -> Fault) -> Run<Fault> {
        let mut lengths = Vec::new();
        let text = self.arith_text(arith, &arith.text.parts, texts, &mut lengths)?;
        let rest = crate::parse::text_from(arith, &lengths, at);
        Ok(located(fault(text.len().saturating_sub(rest)), &text))
    }

    /// The text of an expression with its expansions in place, of which those that `texts` has are not made again. `lengths`
    /// gets how long each of them is, also within subscripts.
    fn arith_text(&mut self, arith: &Arith, parts: &[Part], texts: &[Bytes], lengths: &mut Vec<usize>) -> Run<Bytes> {
        let mut out = Bytes::new();
        for part in parts {
            let found = arith.expansions.iter().position(|known| same_part(known, part)).and_then(|at| texts.get(at));
            match (found, part) {
                (Some(text), _) => {
                    lengths.push(text.len());
                    out.extend_from_slice(text);
                }
                (None, Part::Double(inner)) => out.extend(self.arith_text(arith, inner, texts, lengths)?),
                (None, part) => {
                    let text = self.expand_as(std::slice::from_ref(part), Mode::Text)?;
                    if matches!(part, Part::Param(_) | Part::Command(_) | Part::Arith(_)) {
                        lengths.push(text.len());
                    }
                    out.extend(text);
                }
            }
        }
        Ok(out)
    }

    /// The text of an expression with its expansions in place. Those between brackets, of which `depth` are open, get
    /// backslashes before what would have a meaning when the subscript is read.
    fn guarded_text(&mut self, parts: &[Part], depth: &mut u32) -> Run<Bytes> {
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
                    for byte in self.expand_as(std::slice::from_ref(part), Mode::Text)? {
                        if *depth > 0 && b"[]$`'\"\\~".contains(&byte) {
                            out.push(b'\\');
                        }
                        out.push(byte);
                    }
                }
            }
        }
        Ok(out)
    }

    /// The value of text as an expression, with the error left to the caller.
    pub(crate) fn text_value(&mut self, text: &[u8]) -> Value {
        if self.arith_levels >= MAX_LEVELS {
            return Err(Fault::Message(message(text, "expression recursion level exceeded", text)));
        }
        let trimmed = trim_blanks(text);
        let tree = match parse_expr(trimmed) {
            Ok(Some(tree)) if self.arith_levels + 1 < MAX_LEVELS => tree,
            Ok(None) => return Ok(0),
            // There is something wrong with it, which shows only when all before that has been done; or the next level is one
            // too many, and the message names the place.
            Ok(Some(_)) | Err(()) => {
                self.arith_levels += 1;
                let value = interpret::interpret(self, trimmed);
                self.arith_levels -= 1;
                return value;
            }
        };
        self.arith_levels += 1;
        let value = self.eval(&tree, &[]);
        self.arith_levels -= 1;
        match value {
            Err(fault) => Err(located(fault, trimmed)),
            other => other,
        }
    }

    fn eval(&mut self, expr: &Expr, values: &[i64]) -> Value {
        match expr {
            Expr::Number(number) => Ok(*number),
            Expr::Expansion(index) => Ok(values.get(*index).copied().unwrap_or(0)),
            Expr::Var(name) => self.var_value(name),
            Expr::Element(name, subscript) => self.element_value(name, subscript),
            Expr::Unary(op, operand) => {
                let value = self.eval(operand, values)?;
                Ok(match op {
                    UnaryOp::Plus => value,
                    UnaryOp::Minus => value.wrapping_neg(),
                    UnaryOp::Not => i64::from(value == 0),
                    UnaryOp::Complement => !value,
                })
            }
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
            Expr::Assign { name, subscript, op, value, at } => {
                let Some(op) = op else {
                    // Where nothing is read before, the subscript comes after the value.
                    let value = self.eval(value, values)?;
                    let Some(key) = self.place(name, subscript.as_ref())? else {
                        self.refuse_place(name);
                        return Ok(value);
                    };
                    self.set_number(name, subscript.as_ref(), key, value)?;
                    return Ok(value);
                };
                if let Some(subscript) = subscript {
                    self.check_set(name, subscript)?;
                    if self.is_no_subscript(subscript)? {
                        let old = self.element_value(name, subscript)?;
                        let value = self.eval(value, values)?;
                        let value = binary(*op, old, value, *at)?;
                        self.refuse_place(name);
                        return Ok(value);
                    }
                }
                let key = self.place(name, subscript.as_ref())?.unwrap_or(Key::Whole);
                if subscript.is_some() {
                    self.check_there(name)?;
                }
                let old = self.value_at(name, &key)?;
                let value = self.eval(value, values)?;
                let value = binary(*op, old, value, *at)?;
                self.set_number(name, subscript.as_ref(), key, value)?;
                Ok(value)
            }
            Expr::Step { name, subscript, by, prefix } => {
                if let Some(subscript) = subscript {
                    self.check_set(name, subscript)?;
                    if self.is_no_subscript(subscript)? {
                        let old = self.element_value(name, subscript)?;
                        self.refuse_place(name);
                        return Ok(if *prefix { old.wrapping_add(*by) } else { old });
                    }
                }
                let key = self.place(name, subscript.as_ref())?.unwrap_or(Key::Whole);
                if subscript.is_some() {
                    self.check_there(name)?;
                }
                let old = self.value_at(name, &key)?;
                let new = old.wrapping_add(*by);
                self.set_number(name, subscript.as_ref(), key, new)?;
                Ok(if *prefix { new } else { old })
            }
        }
    }

    /// Where an assignment goes, its subscript being evaluated once; `None` when there is nothing in the brackets.
    fn place(&mut self, name: &Name, subscript: Option<&Rc<Subscript>>) -> Result<Option<Key>, Fault> {
        Ok(match subscript {
            Some(subscript) if self.is_no_subscript(subscript)? => None,
            Some(subscript) => Some(self.key_of(name, subscript)?),
            None => Some(Key::Whole),
        })
    }

    /// Complains of an assignment to brackets with nothing in them. The expression goes on with the value.
    fn refuse_place(&mut self, name: &Name) {
        let message = [b"`", &name[..], b"[]': not a valid identifier"].concat();
        if self.running.is_empty() { self.complain(message) } else { self.complain_builtin(message) }
    }

    /// Whether nothing stands in the brackets, or what comes out as nothing.
    fn is_no_subscript(&mut self, subscript: &Subscript) -> Result<bool, Fault> {
        let expands = |part: &Part| matches!(part, Part::Param(_) | Part::Double(_));
        let parts = &subscript.key.parts;
        Ok(subscript.key.raw.is_empty()
            // In a text that is evaluated, as by `let`, it is 0.
            || (self.arith_levels == 0
                && parts.iter().all(expands)
                && crate::parse::simple::is_pure(parts, false)
                && self.expand_text(&subscript.key)?.is_empty()))
    }

    /// With `set -u`, an array that is not there ends the script before its subscript is looked at. What a subscript holds has been
    /// expanded by then, with the expression that it stands in.
    fn check_set(&mut self, name: &Name, subscript: &Subscript) -> Result<(), Fault> {
        let plain = |part: &Part| matches!(part, Part::Lit(_) | Part::Quoted(_));
        if self.options.nounset && (self.arith_levels > 0 || subscript.key.parts.iter().all(plain)) {
            return self.check_there(name);
        }
        Ok(())
    }

    fn check_there(&mut self, name: &Name) -> Result<(), Fault> {
        if !self.options.nounset || self.vars.get(name).is_some() || self.is_computed(name) {
            return Ok(());
        }
        let stop = self.abort_unset(format!("{}: unbound variable", lossy(name)));
        stop.map_err(Fault::Stop)
    }

    fn value_at(&mut self, name: &Name, key: &Key) -> Value {
        if *key == Key::Whole {
            return self.var_value(name);
        }
        match self.element(name, key) {
            Some(text) => self.nested_value(&text),
            None => Ok(0),
        }
    }

    fn var_value(&mut self, name: &Name) -> Value {
        if let Some(var) = self.vars.get(name)
            && !var.has(vars::NAMEREF)
            && let Some(text) = var.scalar()
            && let Some(number) = plain_number(text)
        {
            return Ok(number);
        }
        match self.lookup(name) {
            Some(text) => self.nested_value(&text),
            None if self.options.nounset => {
                let stop = self.abort_unset::<i64>(format!("{}: unbound variable", lossy(name)));
                stop.map_err(Fault::Stop)
            }
            None => Ok(0),
        }
    }

    fn element_value(&mut self, name: &Name, subscript: &Subscript) -> Value {
        self.check_set(name, subscript)?;
        if self.is_no_subscript(subscript)? {
            self.complain([&name[..], b"[]: bad array subscript"].concat());
            if self.options.errexit {
                self.status = 1;
                return Err(Fault::Stop(Stop::Exit));
            }
            // bash looks twice.
            self.complain([&name[..], b"[]: bad array subscript"].concat());
            return Ok(0);
        }
        let key = self.key_of(name, subscript)?;
        match self.element(name, &key) {
            Some(text) => self.nested_value(&text),
            None if self.options.nounset && self.vars.get(name).is_none() => {
                let stop = self.abort_unset::<i64>(format!("{}: unbound variable", lossy(name)));
                stop.map_err(Fault::Stop)
            }
            None => Ok(0),
        }
    }

    /// The value of a variable's text, which may be an expression too.
    fn nested_value(&mut self, text: &[u8]) -> Value {
        let trimmed = text.trim_ascii();
        match plain_number(trimmed) {
            Some(number) if self.arith_levels < MAX_LEVELS => Ok(number),
            None if trimmed.is_empty() => Ok(0),
            // On the last level a number is one level too many, too.
            _ => {
                // What was compiled is a level as well.
                let compiled = u32::from(self.arith_levels == 0);
                self.arith_levels += compiled;
                let value = self.text_value(text);
                self.arith_levels -= compiled;
                value
            }
        }
    }

    fn set_number(
        &mut self,
        name: &Name,
        subscript: Option<&Rc<Subscript>>,
        key: Key,
        value: i64,
    ) -> Result<(), Fault> {
        if let Some(subscript) = subscript
            && self.is_no_place(name, &key)
            && !self.is_constant(name)
        {
            // It is shown as it is written, and the expression goes on with the value.
            self.complain([&name[..], b"[", &subscript.key.raw, b"]: bad array subscript"].concat());
            return Ok(());
        }
        if self.lends && key == Key::Whole {
            self.assign_below(name, value.to_string().into_bytes())?;
        }
        if self.assign(name, key, false, value.to_string().into_bytes())? {
            self.forget_computed(name);
            return Ok(());
        }
        // Only a constant ends the expression; with a subscript that is none it goes on with the value.
        if self.is_constant(name) { Err(Fault::Reported) } else { Ok(()) }
    }
}

fn same_part(a: &Part, b: &Part) -> bool {
    match (a, b) {
        (Part::Param(a), Part::Param(b)) => Rc::ptr_eq(a, b),
        (Part::Command(a), Part::Command(b)) => Rc::ptr_eq(a, b),
        (Part::Arith(a), Part::Arith(b)) => Rc::ptr_eq(a, b),
        _ => false,
    }
}

/// The text from its first character on that is no blank; messages show newlines.
fn trim_blanks(text: &[u8]) -> &[u8] {
    let blanks = text.iter().take_while(|byte| matches!(byte, b' ' | b'\t')).count();
    text.get(blanks..).unwrap_or_default()
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

/// An expanded subscript with backslashes that keep brackets and quotes from their meaning.
fn guarded(text: &[u8]) -> Bytes {
    let mut out = Bytes::with_capacity(text.len());
    for (at, &byte) in text.iter().enumerate() {
        if matches!(byte, b'[' | b']' | b'\'' | b'~') || (byte == b'#' && at == 0) {
            out.push(b'\\');
        }
        out.push(byte);
    }
    out
}
