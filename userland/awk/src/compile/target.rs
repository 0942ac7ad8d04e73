//! Assignment targets: variables, elements and fields.

use super::{Compiled, Compiler};
use crate::code::{Arithmetic, Arr, Op, Step, Target, Var};
use crate::token::{Sign, Token};
use crate::value::Value;

impl Compiler {
    /// A variable or an element of an array.
    pub(super) fn name(&mut self, name: &[u8]) -> Compiled<Target> {
        let variable = self.variable(name)?;
        self.advance()?;
        if !self.is(Sign::OpenBracket) {
            self.emit(Op::Load(variable));
            return Ok(Target::Var(variable));
        }
        let mut array = Self::array_of(variable);
        loop {
            self.subscript()?;
            if !self.is(Sign::OpenBracket) {
                break;
            }
            self.emit(Op::SubArray(array));
            array = Arr::Stack;
        }
        self.emit(Op::Element(array));
        Ok(Target::Element(array))
    }

    /// A subscript in its brackets.
    pub(super) fn subscript(&mut self) -> Compiled<()> {
        let count = self.list_between(Sign::OpenBracket, Sign::CloseBracket)?;
        if count > 1 {
            self.emit(Op::Join(count));
        }
        Ok(())
    }

    /// `$` with its field expression.
    pub(super) fn field(&mut self) -> Compiled<Target> {
        self.advance()?;
        self.deeper()?;
        let start = self.at();
        let inner = self.primary()?;
        if let Some(inner @ (Target::Field | Target::FieldAt(_))) = inner {
            // In `$$a++` the inner field is incremented.
            self.postfix(inner)?;
        }
        self.depth -= 1;
        if self.at() == start + 1
            && let Some(Op::Const(at)) = self.last()
            && let Some(Value::Number(number)) = self.program.constants.get(at as usize)
            && (0.0..1e6).contains(number)
        {
            let number = *number as u32;
            self.pop_op();
            self.emit(Op::FieldAt(number));
            return Ok(Target::FieldAt(number));
        }
        self.emit(Op::Field);
        Ok(Target::Field)
    }

    /// Target of `getline` and similar: an optional variable.
    pub(super) fn place(&mut self) -> Compiled<bool> {
        let target = match &self.token {
            Token::Name(name) => {
                let name = name.clone();
                self.name(&name)?
            }
            Token::Sign(Sign::Dollar) => self.field()?,
            _ => return Ok(false),
        };
        self.pop_op();
        self.emit(Op::Place(target));
        Ok(true)
    }

    /// `++`, `--` or an assignment after a target, whose code starts at `start`. Returns whether there was one.
    pub(super) fn change(&mut self, start: usize, target: Target) -> Compiled<bool> {
        let Token::Sign(sign) = self.token else {
            return Ok(false);
        };
        if self.postfix(target)? {
            return Ok(true);
        }
        let operation = match sign {
            Sign::Set => None,
            Sign::AddSet => Some(Arithmetic::Add),
            Sign::SubtractSet => Some(Arithmetic::Subtract),
            Sign::MultiplySet => Some(Arithmetic::Multiply),
            Sign::DivideSet => Some(Arithmetic::Divide),
            Sign::ModuloSet => Some(Arithmetic::Modulo),
            Sign::PowerSet | Sign::PowerAssign => Some(Arithmetic::Power),
            _ => return Ok(false),
        };
        self.advance()?;
        self.skip_newlines()?;
        self.pop_op();
        // The value is evaluated before the target.
        let address = self.cut(start);
        self.expression(super::expression::LOWEST)?;
        if operation.is_none() && self.append(start, target) {
            return Ok(true);
        }
        if !address.0.is_empty() {
            self.paste(address);
        }
        self.emit(match operation {
            Some(operation) => Op::Augment(operation, target),
            None => Op::Set(target),
        });
        Ok(true)
    }

    /// `++` or `--` after a target. Returns whether there was one.
    fn postfix(&mut self, target: Target) -> Compiled<bool> {
        let up = match self.token {
            Token::Sign(Sign::Increment) => true,
            Token::Sign(Sign::Decrement) => false,
            _ => return Ok(false),
        };
        self.advance()?;
        self.pop_op();
        self.emit(Op::Step(Step { up, after: true }, target));
        Ok(true)
    }

    /// Turns `v = v more` into one instruction that appends to `v` without a copy.
    fn append(&mut self, start: usize, target: Target) -> bool {
        let Target::Var(variable @ (Var::Global(_) | Var::Local(_))) = target else {
            return false;
        };
        let (first, last) = (self.program.ops.get(start).copied(), self.last());
        let (Some(Op::Concat(parts)), true) = (last, first == Some(Op::Load(variable))) else {
            return false;
        };
        let pure = |op: &Op| {
            matches!(op, Op::Const(_) | Op::Load(_) | Op::FieldAt(_) | Op::Field | Op::Element(_) | Op::Arithmetic(_))
        };
        let between = self.program.ops.get(start + 1..self.at() - 1).unwrap_or_default();
        if self.last_concat != (start, self.at() - 1) || !between.iter().all(pure) {
            return false;
        }
        self.pop_op();
        self.program.ops.remove(start);
        self.program.origins.remove(start);
        if parts > 2 {
            self.emit(Op::Concat(parts - 1));
        }
        self.emit(Op::AppendTo(variable));
        true
    }
}
