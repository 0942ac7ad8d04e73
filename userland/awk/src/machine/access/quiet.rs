//! Assignments with an unused result, and targets that are read and written in one step.

use std::rc::Rc;

use super::super::{Location, Machine, Outcome, fatal};
use crate::code::{Arithmetic, Arr, Step, Target, Var};
use crate::value::Value;

impl Machine {
    /// Like [`Self::set`], but without a result.
    pub(in crate::machine) fn set_quietly(&mut self, target: Target) -> Outcome<()> {
        if let Target::Var(variable) = target {
            let value = match self.pop() {
                Value::Untyped => Value::Unset,
                value => value,
            };
            return self.store(variable, value);
        }
        self.set(target)?;
        self.pop();
        Ok(())
    }

    /// Like [`Self::augment`], but without a result.
    pub(in crate::machine) fn augment_quietly(&mut self, operation: Arithmetic, target: Target) -> Outcome<()> {
        if let Target::Var(variable) = target
            && let Some(Value::Number(right)) = self.stack.last()
        {
            let right = *right;
            if let Some(Value::Number(old)) = self.variable_mut(variable) {
                *old = super::super::numeric::checked(operation, *old, right)?;
                self.stack.truncate(self.stack.len() - 1);
                return Ok(());
            }
        }
        self.augment(operation, target)?;
        self.pop();
        Ok(())
    }

    /// Like [`Self::step`], but without a result.
    pub(in crate::machine) fn step_quietly(&mut self, up: bool, target: Target) -> Outcome<()> {
        if let Target::Var(variable) = target
            && let Some(Value::Number(old)) = self.variable_mut(variable)
        {
            *old += if up { 1.0 } else { -1.0 };
            return Ok(());
        }
        self.step(Step { up, after: false }, target)?;
        self.pop();
        Ok(())
    }

    /// Resolves the target of a later assignment.
    pub(in crate::machine) fn spot(&mut self, target: Target) -> Outcome<()> {
        let spot = match target {
            Target::Var(Var::Global(slot)) => Location::Global(slot),
            Target::Var(Var::Special(slot)) => Location::Special(slot),
            Target::Var(Var::Local(slot)) => Location::Local(self.base + slot as usize),
            Target::FieldAt(number) => Location::Field(number as usize),
            Target::Field => Location::Field(self.pop_field_number()?),
            Target::Element(array) => {
                let key = self.pop_key();
                Location::Element(self.array(array)?, key)
            }
        };
        self.spots.push(spot);
        Ok(())
    }

    pub(in crate::machine) fn read_spot(&mut self, spot: &Location) -> Outcome<Value> {
        match spot {
            Location::Global(slot) => self.load(Var::Global(*slot)),
            Location::Special(slot) => self.special(*slot),
            Location::Local(at) => match self.stack.get(*at) {
                Some(Value::Array(handle)) if handle.borrow().is_no_array() => Ok(Value::Unset),
                Some(Value::Array(_)) => fatal("attempt to use array in a scalar context"),
                Some(value) => Ok(value.clone()),
                None => Ok(Value::Unset),
            },
            Location::Field(number) => self.field(*number),
            Location::Element(handle, key) => Ok(handle.borrow_mut().entry(key).clone()),
        }
    }

    pub(in crate::machine) fn write_spot(&mut self, spot: &Location, value: Value) -> Outcome<()> {
        match spot {
            Location::Global(slot) => self.store(Var::Global(*slot), value),
            Location::Special(slot) => self.set_special(*slot, value),
            Location::Local(at) => {
                if let Some(place) = self.stack.get_mut(*at) {
                    *place = value;
                }
                Ok(())
            }
            Location::Field(number) => self.set_field(*number, value),
            Location::Element(handle, key) => {
                handle.borrow_mut().set(key, value);
                Ok(())
            }
        }
    }

    /// An argument that may be an array, or become one in the called function.
    pub(in crate::machine) fn argument(&mut self, variable: Var) -> Outcome<Value> {
        let place = match variable {
            Var::Global(slot) => &mut self.globals[slot as usize],
            Var::Local(slot) => &mut self.stack[self.base + slot as usize],
            Var::Special(slot) => return self.special(slot),
        };
        if let Value::Untyped = place {
            *place = Value::Array(Rc::default());
        }
        Ok(place.clone())
    }

    pub(in crate::machine) fn element_argument(&mut self, array: Arr) -> Outcome<Value> {
        let key = self.pop_key();
        let handle = self.array(array)?;
        let mut borrowed = handle.borrow_mut();
        let place = borrowed.entry(&key);
        if let Value::Untyped = place {
            *place = Value::Array(Rc::default());
        }
        Ok(place.clone())
    }
}
