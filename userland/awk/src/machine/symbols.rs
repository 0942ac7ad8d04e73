//! `SYMTAB` and `FUNCTAB`: the program's variables and functions by name.

use std::rc::Rc;

use super::{Machine, Outcome, Spot, fatal};
use crate::array::{Array, Handle, Key};
use crate::builtin::Builtin;
use crate::code::{Arr, Var};
use crate::compile::{SPECIAL, WATCHED};
use crate::value::Value;

impl Machine {
    /// The variable that an element of `SYMTAB` refers to.
    fn symbol(&self, key: &Key) -> Option<Var> {
        let name = key.text();
        let slot = self.program.globals.iter().position(|known| known == name.bytes())? as u32;
        if matches!(name.bytes(), b"SYMTAB" | b"FUNCTAB") {
            return None;
        }
        Some(if slot < WATCHED { Var::Special(slot) } else { Var::Global(slot) })
    }

    /// The variable that is read as an element.
    pub(super) fn known_symbol(&self, array: Arr, key: &Key) -> Outcome<Var> {
        match self.symbol(key) {
            Some(variable) if array == Arr::Symbols => Ok(variable),
            _ => unknown(array, key),
        }
    }

    /// Assigns a variable through `SYMTAB`. The effect of a special variable does not change: gawk also keeps `OFS` and similar
    /// variables elsewhere.
    pub(super) fn changed_symbol(&self, array: Arr, key: &Key) -> Outcome<Var> {
        match self.symbol(key) {
            _ if array == Arr::Functions => fatal("cannot assign to elements of FUNCTAB"),
            Some(Var::Special(slot)) => Ok(Var::Global(slot)),
            Some(variable) => Ok(variable),
            None => fatal("cannot assign to arbitrary elements of SYMTAB"),
        }
    }

    /// The value of an element that is read as a scalar.
    pub(super) fn symbol_value(&mut self, array: Arr, key: &Key) -> Outcome<Value> {
        if array == Arr::Functions {
            return match self.function_table().borrow().get(key) {
                Some(name) => Ok(name.clone()),
                None => unknown(array, key),
            };
        }
        let variable = self.known_symbol(array, key)?;
        if let Var::Global(slot) = variable
            && let Some(Value::Array(inner)) = self.globals.get(slot as usize)
            && !inner.borrow().is_no_array()
        {
            let shown = String::from_utf8_lossy(key.text().bytes()).into_owned();
            return fatal(format!("attempt to use array `SYMTAB[\"{shown}\"]' in a scalar context"));
        }
        self.load(variable)
    }

    /// The array in an element.
    pub(super) fn symbol_array(&mut self, array: Arr, key: &Key) -> Outcome<Handle> {
        let variable = self.known_symbol(array, key)?;
        if let Var::Global(slot) = variable
            && let Some(handle) = self.globals.get_mut(slot as usize).and_then(Self::new_array_in)
        {
            return Ok(handle);
        }
        let shown = String::from_utf8_lossy(key.text().bytes()).into_owned();
        fatal(format!("attempt to use scalar `SYMTAB[\"{shown}\"]' as an array"))
    }

    pub(super) fn symbol_spot(&self, array: Arr, key: &Key) -> Outcome<Spot> {
        Ok(match self.changed_symbol(array, key)? {
            Var::Special(slot) => Spot::Special(slot),
            Var::Global(slot) | Var::Local(slot) => Spot::Global(slot),
        })
    }

    /// All variables with their current values.
    pub(super) fn symbol_table(&mut self) -> Outcome<Handle> {
        let program = Rc::clone(&self.program);
        let handle = Array::handle();
        for (slot, name) in program.globals.iter().enumerate() {
            if matches!(name.as_slice(), b"SYMTAB" | b"FUNCTAB") {
                continue;
            }
            let value = match slot < WATCHED as usize {
                true => self.special(slot as u32)?,
                false => self.globals.get(slot).cloned().unwrap_or_default(),
            };
            let value = if matches!(value, Value::Untyped) { Value::Unset } else { value };
            handle.borrow_mut().set(&Key::of_bytes(name), value);
        }
        Ok(handle)
    }

    /// The names of all functions.
    pub(super) fn function_table(&self) -> Handle {
        let handle = Array::handle();
        let add = |name: &[u8]| handle.borrow_mut().set(&Key::of_bytes(name), Value::text(name));
        Builtin::names().for_each(|name| add(name.as_bytes()));
        let own = self.program.functions.iter().filter(|function| function.entry.is_some());
        own.for_each(|function| add(&function.name));
        handle
    }

    /// `PROCINFO["identifiers"]`: the kind of each name of the program.
    pub(super) fn identifiers(&self) -> Handle {
        let handle = Array::handle();
        let add = |name: &[u8], kind: &str| {
            handle.borrow_mut().set(&Key::of_bytes(name), Value::text(kind.as_bytes()));
        };
        for (slot, name) in self.program.globals.iter().enumerate() {
            let kind = match name.as_slice() {
                b"ARGV" | b"ENVIRON" | b"PROCINFO" | b"SYMTAB" | b"FUNCTAB" => "array",
                _ if slot < SPECIAL.len() => "scalar",
                _ => "untyped",
            };
            add(name, kind);
        }
        Builtin::names().for_each(|name| add(name.as_bytes(), "builtin"));
        let own = self.program.functions.iter().filter(|function| function.entry.is_some());
        own.for_each(|function| add(&function.name, "user"));
        handle
    }
}

fn unknown<T>(array: Arr, key: &Key) -> Outcome<T> {
    let table = if array == Arr::Functions { "FUNCTAB" } else { "SYMTAB" };
    let shown = String::from_utf8_lossy(key.text().bytes()).into_owned();
    fatal(format!("reference to uninitialized element `{table}[\"{shown}\"] is not allowed'"))
}
