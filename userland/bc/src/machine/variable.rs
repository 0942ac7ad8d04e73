//! Variables, array elements, and parameter passing.

use std::cell::RefCell;
use std::rc::Rc;

use super::{Array, MAX_BASE, MAX_ELEMENTS, MAX_SCALE, Machine};
use crate::code::{Function, HISTORY, IBASE, OBASE, Own, SCALE};
use crate::number::Number;
use crate::parse::Names;

impl Machine {
    pub(super) fn element(&mut self, name: usize, names: &Names) -> Result<(Array, i64), String> {
        let at = self.pop().to_i64().filter(|at| (0..=MAX_ELEMENTS).contains(at));
        let array = self.arrays.get(name).and_then(|versions| versions.last()).cloned();
        match (array, at) {
            (Some(array), Some(at)) => Ok((array, at)),
            _ => Err(format!("Array {} subscript out of bounds.", names.array_name(name))),
        }
    }

    pub(super) fn load(&self, name: usize) -> Number {
        match name {
            IBASE => Number::from(i64::from(self.ibase)),
            OBASE => Number::from(i64::from(self.obase)),
            SCALE => Number::from(self.scale as i64),
            HISTORY => Number::from(-1),
            _ => self.variables.get(name).and_then(|versions| versions.last()).cloned().unwrap_or_default(),
        }
    }

    pub(super) fn set(&mut self, name: usize, value: Number) {
        if let Some(place) = self.variables.get_mut(name).and_then(|versions| versions.last_mut()) {
            *place = value;
        }
    }

    pub(super) fn store(&mut self, name: usize, value: Number, functions: &[Function], address: usize) {
        if name > HISTORY {
            return self.set(name, value);
        }
        let negative = value.is_negative();
        let whole = value.to_i64().unwrap_or(i64::MAX);
        match name {
            IBASE => {
                self.ibase = match whole {
                    _ if negative => self.corrected(functions, address, "negative ibase, set to 2", 2),
                    ..2 => self.corrected(functions, address, "ibase too small, set to 2", 2),
                    37.. => self.corrected(functions, address, "ibase too large, set to 36", 36),
                    base => base as u32,
                }
            }
            OBASE => {
                self.obase = match whole {
                    _ if negative => self.corrected(functions, address, "negative obase, set to 2", 2),
                    ..2 => self.corrected(functions, address, "obase too small, set to 2", 2),
                    base if base > MAX_BASE => {
                        let message = format!("obase too large, set to {MAX_BASE}");
                        self.corrected(functions, address, &message, MAX_BASE as u32)
                    }
                    base => base as u32,
                }
            }
            SCALE => {
                self.scale = match whole {
                    _ if negative => self.corrected(functions, address, "negative scale, set to 0", 0) as usize,
                    scale if scale > MAX_SCALE => {
                        let message = format!("scale too large, set to {MAX_SCALE}");
                        self.corrected(functions, address, &message, MAX_SCALE as u32) as usize
                    }
                    scale => scale as usize,
                }
            }
            // History is not supported.
            _ => {}
        }
    }

    pub(super) fn corrected(&mut self, functions: &[Function], address: usize, message: &str, value: u32) -> u32 {
        self.warn(functions, address, message);
        value
    }

    pub(super) fn count(&mut self, name: usize, up: bool, functions: &[Function], address: usize) {
        let old = self.load(name);
        let message = match (name, up) {
            (IBASE, false) if self.ibase <= 2 => "ibase too small in --",
            (OBASE, false) if self.obase <= 2 => "obase too small in --",
            (SCALE, false) if self.scale == 0 => "scale can not be negative in -- ",
            (IBASE, true) if self.ibase >= 16 => "ibase too big in ++",
            (OBASE, true) if i64::from(self.obase) >= MAX_BASE => "obase too big in ++",
            (SCALE, true) if self.scale as i64 >= MAX_SCALE => "Scale too big in ++",
            _ => {
                let new = old.add(&Number::from(if up { 1 } else { -1 }));
                return self.store(name, new, functions, address);
            }
        };
        self.warn(functions, address, message);
    }

    /// Binds arguments to parameters. The error has the number of call bytes read and the message.
    pub(super) fn pass(
        &mut self,
        function: &Function,
        arguments: &[bool],
        names: &Names,
    ) -> Result<(), (usize, String)> {
        let mismatch = || "Parameter number mismatch".to_owned();
        for (at, is_array) in arguments.iter().enumerate() {
            let Some(parameter) = function.parameters.get(at) else {
                return Err((at + 1, mismatch()));
            };
            if parameter.is_array != *is_array {
                let message = match parameter.is_array {
                    true => format!("Parameter type mismatch, parameter {}.", names.array_name(parameter.name)),
                    false => format!("Parameter type mismatch, parameter {}.", names.variable_name(parameter.name)),
                };
                return Err((at + 1, message));
            }
        }
        if arguments.len() < function.parameters.len() {
            return Err((arguments.len() + 1, mismatch()));
        }
        for parameter in function.parameters.iter().rev() {
            if parameter.is_array {
                let array = self.passed.pop().flatten().unwrap_or_default();
                let own = if parameter.shared { array } else { Rc::new(RefCell::new(array.borrow().clone())) };
                if let Some(versions) = self.arrays.get_mut(parameter.name) {
                    versions.push(own);
                }
            } else {
                let value = self.pop();
                self.push_variable(parameter, value);
            }
        }
        for auto in &function.autos {
            if auto.is_array {
                if let Some(versions) = self.arrays.get_mut(auto.name) {
                    versions.push(Array::default());
                }
            } else {
                self.push_variable(auto, Number::default());
            }
        }
        Ok(())
    }

    pub(super) fn push_variable(&mut self, own: &Own, value: Number) {
        if let Some(versions) = self.variables.get_mut(own.name) {
            versions.push(value);
        }
    }

    pub(super) fn leave(&mut self, function: &Function) {
        for own in function.autos.iter().chain(&function.parameters) {
            if own.is_array {
                self.arrays.get_mut(own.name).map(Vec::pop);
            } else {
                self.variables.get_mut(own.name).map(Vec::pop);
            }
        }
    }
}
