//! Variables, elements and fields: reading and assigning.

mod change;
mod quiet;
use std::cell::RefCell;
use std::rc::Rc;

use super::{Machine, Outcome, fatal};
use crate::array::{Array, Handle, Key};
use crate::code::{Arr, Target, Var};
use crate::record::MAX_FIELDS;
use crate::text::Text;
use crate::value::Value;

impl Machine {
    pub(super) fn push(&mut self, value: Value) {
        self.stack.push(value);
    }

    #[inline]
    pub(super) fn pop(&mut self) -> Value {
        self.stack.pop().unwrap_or(Value::Unset)
    }

    pub(super) fn pop_text(&mut self) -> Text {
        let value = self.pop();
        self.text_of(&value)
    }

    #[inline]
    pub(super) fn text_of(&self, value: &Value) -> Text {
        value.to_text(&self.settings.conversion)
    }

    #[inline]
    pub(super) fn pop_number(&mut self) -> f64 {
        self.pop().number()
    }

    /// The name of a variable, for a message.
    fn name_of(&self, variable: Var) -> String {
        let name = match variable {
            Var::Global(slot) | Var::Special(slot) => self.program.globals.get(slot as usize),
            Var::Local(slot) => {
                let function = self.frames.last().and_then(|frame| self.program.functions.get(frame.function as usize));
                function.and_then(|function| function.parameters.get(slot as usize))
            }
        };
        String::from_utf8_lossy(name.map_or(b"", Vec::as_slice)).into_owned()
    }

    fn variable_of(array: Arr) -> Option<Var> {
        match array {
            Arr::Global(slot) => Some(Var::Global(slot)),
            Arr::Local(slot) => Some(Var::Local(slot)),
            Arr::Stack => None,
        }
    }

    #[inline]
    pub(super) fn load(&mut self, variable: Var) -> Outcome<Value> {
        let value = match variable {
            Var::Global(slot) => &mut self.globals[slot as usize],
            Var::Local(slot) => &mut self.stack[self.base + slot as usize],
            Var::Special(slot) => return self.special(slot),
        };
        match value {
            Value::Number(number) => Ok(Value::Number(*number)),
            Value::Untyped => {
                // It is now a scalar without a value.
                *value = Value::Unset;
                Ok(Value::Unset)
            }
            Value::Array(handle) => {
                if handle.borrow().is_no_array() {
                    *handle.borrow_mut() = Array::Scalar;
                    *value = Value::Unset;
                    return Ok(Value::Unset);
                }
                let name = self.name_of(variable);
                fatal(format!("attempt to use array `{name}' in a scalar context"))
            }
            value => Ok(value.clone()),
        }
    }

    #[inline]
    pub(super) fn store(&mut self, variable: Var, value: Value) -> Outcome<()> {
        let place = match variable {
            Var::Global(slot) => &mut self.globals[slot as usize],
            Var::Local(slot) => &mut self.stack[self.base + slot as usize],
            Var::Special(slot) => return self.set_special(slot, value),
        };
        if let Value::Array(handle) = place {
            if !handle.borrow().is_no_array() {
                let name = self.name_of(variable);
                return fatal(format!("attempt to use array `{name}' in a scalar context"));
            }
            *handle.borrow_mut() = Array::Scalar;
        }
        *place = value;
        Ok(())
    }

    /// The array for a name; a variable without a value becomes an array.
    #[inline]
    pub(super) fn array(&mut self, array: Arr) -> Outcome<Handle> {
        let place = match array {
            Arr::Global(slot) => &mut self.globals[slot as usize],
            Arr::Local(slot) => &mut self.stack[self.base + slot as usize],
            Arr::Stack => {
                return match self.pop() {
                    Value::Array(handle) => Ok(handle),
                    _ => fatal("attempt to use scalar value as array"),
                };
            }
        };
        if let Value::Array(handle) = place {
            let handle = Rc::clone(handle);
            let kind = std::mem::discriminant(&*handle.borrow());
            if kind == std::mem::discriminant(&Array::Untyped) {
                *handle.borrow_mut() = Array::Empty;
            }
            if kind != std::mem::discriminant(&Array::Scalar) {
                return Ok(handle);
            }
            *place = Value::Unset;
        }
        let scalar = !matches!(place, Value::Untyped);
        if !scalar && let Some(handle) = Self::new_array_in(place) {
            return Ok(handle);
        }
        let kind = if matches!(array, Arr::Local(_)) { "scalar parameter" } else { "scalar" };
        let name = Self::variable_of(array).map(|variable| self.name_of(variable)).unwrap_or_default();
        fatal(format!("attempt to use {kind} `{name}' as an array"))
    }

    /// The array in an element, created if necessary.
    pub(super) fn sub_array(&mut self, array: Arr) -> Outcome<Handle> {
        let key = self.pop_key();
        let outer = self.array(array)?;
        let mut outer_array = outer.borrow_mut();
        let element = outer_array.entry(&key);
        match Self::new_array_in(element) {
            Some(handle) => Ok(handle),
            None => {
                let name = Self::variable_of(array).map(|variable| self.name_of(variable)).unwrap_or_default();
                let key = key.text();
                let key = String::from_utf8_lossy(key.bytes());
                fatal(format!("attempt to use scalar `{name}[\"{key}\"]' as an array"))
            }
        }
    }

    #[inline]
    pub(super) fn pop_key(&mut self) -> Key {
        let value = self.pop();
        Key::of_value(&value, &self.settings.conversion)
    }

    #[inline]
    pub(super) fn element(&mut self, array: Arr) -> Outcome<Value> {
        let key = self.pop_key();
        let handle = self.array(array)?;
        let mut borrowed = handle.borrow_mut();
        match borrowed.entry(&key) {
            Value::Untyped => Ok(Value::Unset),
            Value::Array(inner) => {
                if inner.borrow().is_no_array() {
                    return Ok(Value::Unset);
                }
                self.array_as_scalar(array, &key)
            }
            value => Ok(value.clone()),
        }
    }

    fn array_as_scalar<T>(&self, array: Arr, key: &Key) -> Outcome<T> {
        let name = Self::variable_of(array).map(|variable| self.name_of(variable)).unwrap_or_default();
        let key = key.text();
        let key = String::from_utf8_lossy(key.bytes());
        fatal(format!("attempt to use array `{name}[\"{key}\"]' in a scalar context"))
    }

    pub(super) fn set_element(&mut self, array: Arr, handle: &RefCell<Array>, key: &Key, value: Value) -> Outcome<()> {
        let mut borrowed = handle.borrow_mut();
        let place = borrowed.entry(key);
        if let Value::Array(inner) = place
            && !inner.borrow().is_no_array()
        {
            return self.array_as_scalar(array, key);
        }
        *place = value;
        Ok(())
    }

    /// The number of a field, from the stack.
    pub(super) fn pop_field_number(&mut self) -> Outcome<usize> {
        let number = self.pop_number();
        if number < 0.0 || number.is_nan() {
            return fatal(format!("attempt to access field {}", number.trunc()));
        }
        if number > MAX_FIELDS as f64 {
            return fatal(format!("attempt to access field {}, which is too large", number.trunc()));
        }
        Ok(number as usize)
    }

    #[inline]
    pub(super) fn field(&mut self, number: usize) -> Outcome<Value> {
        if number == 0 {
            return Ok(self.record.whole(&self.settings.field_separator, &self.settings.conversion));
        }
        let value = self.record.field(number);
        self.record_error()?;
        Ok(value)
    }

    pub(super) fn set_field(&mut self, number: usize, value: Value) -> Outcome<()> {
        if number == 0 {
            self.record.set(value, &self.settings.conversion);
        } else {
            let value = match value {
                Value::Untyped => Value::Unset,
                value => value,
            };
            self.record.set_field(number, value);
            self.record_error()?;
        }
        Ok(())
    }

    /// Assigns the value below what the target needs; it stays as the result.
    pub(super) fn set(&mut self, target: Target) -> Outcome<()> {
        match target {
            Target::Var(variable) => {
                let value = match self.stack.last() {
                    Some(Value::Untyped) | None => Value::Unset,
                    Some(value) => value.clone(),
                };
                self.store(variable, value)
            }
            Target::FieldAt(number) => {
                let value = self.stack.last().cloned().unwrap_or(Value::Unset);
                self.set_field(number as usize, value)
            }
            Target::Field => {
                let number = self.pop_field_number()?;
                let value = self.stack.last().cloned().unwrap_or(Value::Unset);
                self.set_field(number, value)
            }
            Target::Element(array) => {
                let key = self.pop_key();
                let handle = self.array(array)?;
                let value = self.stack.last().cloned().unwrap_or(Value::Unset);
                self.set_element(array, &handle, &key, value)
            }
        }
    }

    /// Reference to the value of a variable, unless it is special.
    #[inline]
    fn variable_mut(&mut self, variable: Var) -> Option<&mut Value> {
        match variable {
            Var::Global(slot) => self.globals.get_mut(slot as usize),
            Var::Local(slot) => self.stack.get_mut(self.base + slot as usize),
            Var::Special(_) => None,
        }
    }
}
