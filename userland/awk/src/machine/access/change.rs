//! Assignments that use the old value: `+=`, `++` and appending to a text.

use super::super::{Machine, Outcome};
use crate::code::{Arithmetic, Step, Target, Var};
use crate::value::Value;

impl Machine {
    /// `target operation= value`, with the value below what the target needs.
    pub(in crate::machine) fn augment(&mut self, operation: Arithmetic, target: Target) -> Outcome<()> {
        let change = |this: &mut Self, old: f64| {
            let right = this.pop_number();
            super::super::numeric::checked(operation, old, right)
        };
        let new = match target {
            Target::Var(variable) => {
                let old = self.load(variable)?.number();
                let new = change(self, old)?;
                self.store(variable, Value::Number(new))?;
                new
            }
            Target::FieldAt(_) | Target::Field => {
                let number = match target {
                    Target::FieldAt(number) => number as usize,
                    _ => self.pop_field_number()?,
                };
                let old = self.field(number)?.number();
                let new = change(self, old)?;
                self.set_field(number, Value::Number(new))?;
                new
            }
            Target::Element(array) => {
                let key = self.pop_key();
                let handle = self.array(array)?;
                let right = self.pop_number();
                let mut borrowed = handle.borrow_mut();
                let place = borrowed.entry(&key);
                if let Value::Array(_) = place {
                    return self.array_as_scalar(array, &key);
                }
                let new = super::super::numeric::checked(operation, place.number(), right)?;
                *place = Value::Number(new);
                new
            }
        };
        self.push(Value::Number(new));
        Ok(())
    }

    /// `++` and `--`.
    pub(in crate::machine) fn step(&mut self, step: Step, target: Target) -> Outcome<()> {
        let by = if step.up { 1.0 } else { -1.0 };
        let old = match target {
            Target::Var(variable) => {
                let old = self.load(variable)?.number();
                self.store(variable, Value::Number(old + by))?;
                old
            }
            Target::FieldAt(_) | Target::Field => {
                let number = match target {
                    Target::FieldAt(number) => number as usize,
                    _ => self.pop_field_number()?,
                };
                let old = self.field(number)?.number();
                self.set_field(number, Value::Number(old + by))?;
                old
            }
            Target::Element(array) => {
                let key = self.pop_key();
                let handle = self.array(array)?;
                let mut borrowed = handle.borrow_mut();
                let place = borrowed.entry(&key);
                if let Value::Array(_) = place {
                    return self.array_as_scalar(array, &key);
                }
                let old = place.number();
                *place = Value::Number(old + by);
                old
            }
        };
        self.push(Value::Number(if step.after { old } else { old + by }));
        Ok(())
    }

    /// `variable = variable text`.
    pub(in crate::machine) fn append_to(&mut self, variable: Var) -> Outcome<()> {
        let more = self.pop_text();
        if let Some(Value::Text(text)) = self.variable_mut(variable) {
            // A text that is not shared is extended without a copy.
            text.push(more.bytes());
            let text = Value::Text(text.clone());
            self.push(text);
            return Ok(());
        }
        let old = self.load(variable)?;
        let mut text = self.text_of(&old);
        text.push(more.bytes());
        self.store(variable, Value::Text(text.clone()))?;
        self.push(Value::Text(text));
        Ok(())
    }
}
