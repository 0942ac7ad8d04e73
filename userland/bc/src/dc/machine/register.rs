//! Registers: stacks whose levels have arrays.

use super::Machine;
use crate::dc::value::{Level, Value};
use crate::number::Number;

impl Machine {
    pub(super) fn register(&mut self, command: u8) {
        let Some(name) = self.next() else {
            return self.unexpected_end();
        };
        match command {
            b'l' => {
                let value = self.levels(name).last().and_then(|level| level.value.clone());
                self.stack.push(value.unwrap_or(Value::from(0)));
            }
            b'L' => match self.levels(name).pop() {
                Some(level) => self.stack.push(level.value.unwrap_or(Value::from(0))),
                None => {
                    let shown = char::from(name);
                    self.report(&format!("stack register '{shown}' (0{name:o}) is empty"));
                }
            },
            b's' => {
                if let Some(value) = self.pop() {
                    self.level(name).value = Some(value);
                }
            }
            b'S' => {
                if let Some(value) = self.pop() {
                    self.levels(name).push(Level { value: Some(value), ..Level::default() });
                }
            }
            b':' => {
                let Some(index) = self.pop() else { return };
                let Some(index) = self.index(&index) else { return };
                if let Some(value) = self.pop() {
                    self.level(name).array.insert(index, value);
                }
            }
            _ => {
                let Some(index) = self.pop() else { return };
                let Some(index) = self.index(&index) else { return };
                let value = self.levels(name).last().and_then(|level| level.array.get(&index).cloned());
                self.stack.push(value.unwrap_or(Value::from(0)));
            }
        }
    }

    fn levels(&mut self, name: u8) -> &mut Vec<Level> {
        let at = usize::from(name);
        if at >= self.registers.len() {
            self.registers.resize(at + 1, Vec::new());
        }
        &mut self.registers[at]
    }

    /// The current level of a register, created if necessary.
    fn level(&mut self, name: u8) -> &mut Level {
        let levels = self.levels(name);
        if levels.is_empty() {
            levels.push(Level::default());
        }
        let last = levels.len() - 1;
        &mut levels[last]
    }

    fn index(&mut self, value: &Value) -> Option<usize> {
        let index = value.number().and_then(Number::to_i64).and_then(|index| usize::try_from(index).ok());
        if index.is_none() {
            self.report("array index must be a nonnegative integer");
        }
        index
    }
}
