//! Assignments.

use crate::ir::{Assign, AssignValue};
use crate::state::{Run, Shell};
use crate::vars::Key;

impl Shell {
    /// Carries out one assignment; says whether it was allowed.
    pub(crate) fn run_assign(&mut self, assign: &Assign) -> Run<bool> {
        match &assign.value {
            AssignValue::Array(elements) => self.assign_array(&assign.name, elements, assign.append),
            AssignValue::Word(word) => {
                let key = match &assign.subscript {
                    None => Key::Whole,
                    Some(subscript) => self.key_of(&assign.name, subscript)?,
                };
                let value = self.expand_text(word)?;
                let assigned = self.assign(&assign.name, key, assign.append, value)?;
                self.forget_computed(&assign.name);
                Ok(assigned)
            }
        }
    }
}
