//! Instruction dispatch.

use std::rc::Rc;

use super::{Machine, Outcome, Stop, Walk, fatal};
use crate::array::Key;
use crate::code::{Op, Program};
use crate::value::Value;

fn jump(pc: &mut usize, distance: i32) {
    *pc = pc.wrapping_add_signed(distance as isize);
}

impl Machine {
    /// Runs from a position until the code ends or the call that was active at the start returns.
    pub(super) fn run(&mut self, entry: usize) -> Outcome<()> {
        let program = Rc::clone(&self.program);
        let frames = self.frames.len();
        let mut pc = entry;
        while let Some(op) = program.ops.get(pc) {
            self.at = pc;
            pc += 1;
            match *op {
                Op::Const(at) => self.stack.push(program.constants[at as usize].clone()),
                Op::Load(variable) => self.push_result(|machine| machine.load(variable))?,
                Op::FieldAt(number) => self.push_result(|machine| machine.field(number as usize))?,
                Op::Field => {
                    let number = self.pop_field_number()?;
                    self.push_result(|machine| machine.field(number))?;
                }
                Op::Element(array) => self.push_result(|machine| machine.element(array))?,
                Op::Set(target) => self.set(target)?,
                Op::Augment(operation, target) => self.augment(operation, target)?,
                Op::Step(step, target) => self.step(step, target)?,
                Op::AppendTo(variable) => self.append_to(variable)?,
                Op::SetQuietly(target) => self.set_quietly(target)?,
                Op::AugmentQuietly(operation, target) => self.augment_quietly(operation, target)?,
                Op::StepQuietly(up, target) => self.step_quietly(up, target)?,
                Op::Pop => {
                    self.stack.pop();
                }
                Op::Arithmetic(operation) => self.arithmetic(operation)?,
                Op::Negate => self.push_result(|machine| Ok(Value::Number(-machine.pop_number())))?,
                Op::Plus => self.push_result(|machine| Ok(Value::Number(machine.pop_number())))?,
                Op::Not => self.push_result(|machine| Ok(Value::truth(!machine.pop_truth()?)))?,
                Op::Truth => self.push_result(|machine| Ok(Value::truth(machine.pop_truth()?)))?,
                Op::Compare(comparison) => self.compare(comparison),
                Op::Concat(parts) => self.concat(parts as usize),
                Op::Jump(distance) => jump(&mut pc, distance),
                Op::JumpIf(distance) => {
                    if self.pop_truth()? {
                        jump(&mut pc, distance);
                    }
                }
                Op::JumpUnlessCompares(comparison, distance) => {
                    if !self.holds(comparison) {
                        jump(&mut pc, distance);
                    }
                }
                Op::JumpUnless(distance) => {
                    if !self.pop_truth()? {
                        jump(&mut pc, distance);
                    }
                }
                Op::LoopNext(distance) => match self.walks.last_mut().and_then(|walk| walk.keys.next()) {
                    Some(key) => self.push(Value::Text(key.text())),
                    None => jump(&mut pc, distance),
                },
                Op::RangeActive(range, distance) => {
                    if !self.ranges[range as usize] {
                        jump(&mut pc, distance);
                    }
                }
                Op::Call { function, arguments } => pc = self.call(function, arguments, pc)?,
                Op::CallByName { arguments } => {
                    if let Some(entry) = self.call_by_name(arguments, pc)? {
                        pc = entry;
                    }
                }
                Op::Return | Op::ReturnUnset => {
                    pc = self.give_back(matches!(op, Op::Return));
                    if self.frames.len() < frames {
                        return Ok(());
                    }
                }
                Op::End => return Ok(()),
                _ => self.run_linear(*op, &program)?,
            }
        }
        Ok(())
    }

    /// Instructions that do not change the control flow.
    fn run_linear(&mut self, op: Op, program: &Program) -> Outcome<()> {
        match op {
            Op::SubArray(array) => self.push_result(|machine| Ok(Value::Array(machine.sub_array(array)?)))?,
            Op::Whole(array) => self.push_result(|machine| Ok(Value::Array(machine.array(array)?)))?,
            Op::ArgVar(variable) => self.push_result(|machine| machine.argument(variable))?,
            Op::ArgElement(array) => self.push_result(|machine| machine.element_argument(array))?,
            Op::Join(count) => self.join(count as usize),
            Op::MatchRecord(at) => {
                let pattern = self.constant_pattern(&program.patterns[at as usize]);
                let line = self.record.line(&self.settings.field_separator, &self.settings.conversion);
                let matches = pattern.is_match(line).or_else(fatal)?;
                self.push(Value::truth(matches));
            }
            Op::Regex(at) => self.push(Value::Regex(Rc::clone(&program.patterns[at as usize]))),
            Op::MatchConst { pattern, negated } => {
                let pattern = self.constant_pattern(&program.patterns[pattern as usize]);
                let text = self.pop_text();
                let matches = pattern.is_match(text.bytes()).or_else(fatal)?;
                self.push(Value::truth(matches != negated));
            }
            Op::Match { negated } => {
                let pattern = self.pop_pattern()?;
                let text = self.pop_text();
                let matches = pattern.is_match(text.bytes()).or_else(fatal)?;
                self.push(Value::truth(matches != negated));
            }
            Op::CaseIs => self.case()?,
            Op::Within(array) => {
                let key_after_array = array == crate::code::Arr::Stack;
                let (handle, key) = if key_after_array {
                    let handle = self.array(array)?;
                    (handle, self.pop_key())
                } else {
                    let key = self.pop_key();
                    (self.array(array)?, key)
                };
                let within = handle.borrow().get(&key).is_some();
                self.push(Value::truth(within));
            }
            Op::Delete(array) => {
                let key = self.pop_key();
                let handle = self.array(array)?;
                handle.borrow_mut().remove(&key);
            }
            Op::DeleteAll(array) => {
                let handle = self.array(array)?;
                handle.borrow_mut().clear();
            }
            Op::Loop(array) => {
                let handle = self.array(array)?;
                let keys: Vec<Key> = self.keys_in_order(&handle)?;
                self.walks.push(Walk { keys: keys.into_iter() });
            }
            Op::LoopEnd => {
                self.walks.pop();
            }
            Op::Place(target) => self.spot(target)?,
            Op::Builtin(builtin, count) => self.builtin(builtin, count as usize)?,
            Op::Print { count, sink } => self.print(count as usize, sink)?,
            Op::Printf { count, sink } => self.printf(count as usize, sink)?,
            Op::Getline { from, placed } => self.getline(from, placed)?,
            Op::Next => return Err(Stop::Next),
            Op::NextFile => return Err(Stop::NextFile),
            Op::Exit => {
                let code = self.pop();
                if !matches!(code, Value::Unset) {
                    self.exit_code = (code.number() as i64 & 255) as i32;
                }
                return Err(Stop::Exit);
            }
            Op::RangeSet(range, active) => self.ranges[range as usize] = active,
            // All others are in `run`.
            _ => {}
        }
        Ok(())
    }

    #[inline(always)]
    fn push_result(&mut self, compute: impl FnOnce(&mut Self) -> Outcome<Value>) -> Outcome<()> {
        let value = compute(self)?;
        self.stack.push(value);
        Ok(())
    }

    #[inline]
    pub(super) fn pop_truth(&mut self) -> Outcome<bool> {
        match self.stack.pop() {
            Some(Value::Number(number)) => Ok(number != 0.0),
            Some(Value::Regex(pattern)) => {
                // A typed regular expression as a condition.
                Ok(!pattern.source().is_empty())
            }
            Some(value) => Ok(value.is_true()),
            None => Ok(false),
        }
    }

    fn concat(&mut self, parts: usize) {
        let from = self.stack.len().saturating_sub(parts);
        let mut out = std::mem::take(&mut self.scratch);
        out.clear();
        for value in self.stack.drain(from..) {
            value.write(&self.settings.conversion, &mut out);
        }
        self.stack.push(Value::text(&out));
        self.scratch = out;
    }

    /// Joins subscripts to one.
    fn join(&mut self, count: usize) {
        let from = self.stack.len().saturating_sub(count);
        let mut out = Vec::new();
        for (at, value) in self.stack.drain(from..).enumerate() {
            if at > 0 {
                out.extend_from_slice(&self.settings.subscript_separator);
            }
            // Integers are formatted as such, independent of `CONVFMT`.
            value.write(&self.settings.conversion, &mut out);
        }
        self.stack.push(Value::text(&out));
    }
}
