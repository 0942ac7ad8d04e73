//! Calls of functions.

use super::expression::LOWEST;
use super::{Compiled, Compiler};
use crate::builtin::{Argument, Builtin};
use crate::code::{Arr, Op, Origin, Target, Var};
use crate::token::{Sign, Token};

impl Compiler {
    /// A call of a user-defined function.
    pub(super) fn call(&mut self, name: &[u8]) -> Compiled<()> {
        if self.locals.iter().any(|local| local == name) {
            let what = format!("attempt to use non-function `{}' in function call", String::from_utf8_lossy(name));
            return Err(self.meaning(what));
        }
        let function = self.function(name);
        let line = self.lexer.start().1;
        self.advance()?;
        let arguments = self.arguments()?;
        self.calls.push((function, Origin { source: self.source, line }, arguments));
        self.emit(Op::Call { function, arguments });
        Ok(())
    }

    /// An indirect call of the function named by a variable.
    pub(super) fn call_by_name(&mut self, name: &[u8]) -> Compiled<()> {
        let variable = self.variable(name)?;
        self.advance()?;
        self.emit(Op::Load(variable));
        let arguments = self.arguments()?;
        self.emit(Op::CallByName { arguments });
        Ok(())
    }

    /// Parses arguments in parentheses. Returns their number.
    fn arguments(&mut self) -> Compiled<u32> {
        self.expect(Sign::Open)?;
        self.skip_newlines()?;
        let mut count = 0;
        while !self.is(Sign::Close) {
            if count > 0 {
                self.expect(Sign::Comma)?;
                self.skip_newlines()?;
            }
            self.any_argument()?;
            count += 1;
            self.skip_newlines()?;
        }
        self.advance()?;
        Ok(count)
    }

    /// An argument that may be an array, or become one.
    fn any_argument(&mut self) -> Compiled<()> {
        let start = self.at();
        if !matches!(self.token, Token::Name(_)) {
            return self.enclosed();
        }
        let outer = std::mem::replace(&mut self.no_greater, false);
        self.deeper()?;
        let target = self.primary()?;
        let ends = self.is(Sign::Comma) || self.is(Sign::Close) || self.token == Token::Newline;
        let op = match target {
            Some(Target::Var(variable)) if ends => Some(Op::ArgVar(variable)),
            Some(Target::Element(array)) if ends => Some(Op::ArgElement(array)),
            _ => None,
        };
        match op {
            Some(op) => {
                self.pop_op();
                self.emit(op);
            }
            None => self.follow(start, target, LOWEST)?,
        }
        self.depth -= 1;
        self.no_greater = outer;
        Ok(())
    }

    /// A call of a builtin function.
    pub(super) fn builtin(&mut self, builtin: Builtin) -> Compiled<()> {
        let line_of_name = self.lexer.start().1;
        self.advance()?;
        let mut count = 0;
        let mut target = None;
        if self.is(Sign::Open) {
            self.advance()?;
            self.skip_newlines()?;
            while !self.is(Sign::Close) {
                if count > 0 {
                    self.expect(Sign::Comma)?;
                    self.skip_newlines()?;
                }
                target = self.argument(builtin, count)?.or(target);
                count += 1;
                self.skip_newlines()?;
            }
            if !builtin.takes(count) {
                return Err(self.wrong_count(builtin, count));
            }
            self.advance()?;
        } else if builtin != Builtin::Length {
            return Err(self.unexpected());
        }
        if matches!(builtin, Builtin::Sub | Builtin::Gsub) {
            match target {
                Some(true) => count = 2,
                // The third argument is a value, and its change is discarded.
                Some(false) => {}
                None => {
                    self.emit(Op::Place(Target::FieldAt(0)));
                }
            }
        }
        let at = self.emit(Op::Builtin(builtin, count as u32));
        self.program.origins[at].line = line_of_name.max(1);
        Ok(())
    }

    fn wrong_count(&self, builtin: Builtin, count: usize) -> super::Failure {
        if builtin == Builtin::Sprintf {
            return self.fatal("sprintf: no arguments");
        }
        self.here(format!("{count} is invalid as number of arguments for {}", builtin.name()))
    }

    /// Parses one argument. Returns whether it is a target that is changed, one that cannot be changed, or not a target.
    fn argument(&mut self, builtin: Builtin, at: usize) -> Compiled<Option<bool>> {
        let start = self.at();
        match builtin.argument(at) {
            Argument::Value => self.enclosed()?,
            Argument::Pattern => {
                self.enclosed()?;
                self.as_pattern(start);
            }
            Argument::Any => {
                self.any_argument()?;
            }
            Argument::Array => self.array_argument(builtin, at)?,
            Argument::Target => return self.target_argument(builtin).map(Some),
        }
        Ok(None)
    }

    fn array_argument(&mut self, builtin: Builtin, at: usize) -> Compiled<()> {
        if matches!(self.token, Token::Name(_)) {
            let array = self.array_name()?;
            if self.is(Sign::Comma) || self.is(Sign::Close) || self.token == Token::Newline {
                if array != Arr::Stack {
                    self.emit(Op::Whole(array));
                }
                return Ok(());
            }
        }
        let which = ["first", "second", "third", "fourth"].get(at).copied().unwrap_or("last");
        Err(self.fatal(format!("{}: {which} argument is not an array", builtin.name())))
    }

    /// Parses the third argument of `sub` and `gsub`. Returns whether it can be changed.
    fn target_argument(&mut self, builtin: Builtin) -> Compiled<bool> {
        let start = self.at();
        let outer = std::mem::replace(&mut self.no_greater, false);
        let target = self.primary()?;
        let ends = self.is(Sign::Comma) || self.is(Sign::Close) || self.token == Token::Newline;
        let changed = match target {
            Some(target) if ends => {
                self.pop_op();
                self.emit(Op::Place(target));
                true
            }
            target => {
                self.follow(start, target, LOWEST)?;
                self.warning(&format!("{}: third argument is not a changeable object", builtin.name()));
                false
            }
        };
        self.no_greater = outer;
        Ok(changed)
    }

    /// The array of a variable.
    pub(super) fn array_of(variable: Var) -> Arr {
        match variable {
            Var::Global(slot) | Var::Special(slot) => Arr::Global(slot),
            Var::Local(slot) => Arr::Local(slot),
        }
    }
}
