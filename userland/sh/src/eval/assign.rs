//! Assignments.

use crate::ir::{Assign, AssignValue, Bytes, Element, Part, Subscript, Word};
use crate::state::{EvalResult, Shell};
use crate::vars::{Key, Value};

impl Shell {
    /// Performs one assignment. Returns whether it was allowed.
    pub(crate) fn run_assign(&mut self, assign: &Assign) -> EvalResult<bool> {
        self.run_assign_shown(assign, self.options.xtrace)
    }

    /// Like [`Self::run_assign`], traced if `shown`.
    pub(crate) fn run_assign_shown(&mut self, assign: &Assign, shown: bool) -> EvalResult<bool> {
        match &assign.value {
            AssignValue::Array(elements) => {
                if let Some(subscript) = &assign.subscript {
                    let element = [&assign.name[..], b"[", &subscript.key.raw, b"]"].concat();
                    self.report_error([&element[..], b": cannot assign list to array member"].concat());
                    return Ok(false);
                }
                if shown {
                    self.trace_array(assign, elements);
                }
                let assigned = self.assign_array(&assign.name, elements, assign.append)?;
                if assign.name.starts_with(b"BASH_") {
                    self.variable_changed(&assign.name);
                }
                self.forget_computed(&assign.name);
                Ok(assigned)
            }
            AssignValue::Word(word) => {
                let wrong = |subscript: &Subscript| {
                    [&assign.name[..], b"[", &subscript.key.raw, b"]: bad array subscript"].concat()
                };
                let value = self.expand_text(word)?;
                if shown {
                    self.trace_assign(assign, &value);
                }
                let key = match &assign.subscript {
                    None => Some(Key::Whole),
                    Some(subscript) if subscript.key.raw.is_empty() => None,
                    Some(subscript)
                        if matches!(&subscript.key.raw[..], b"@" | b"*") && !self.is_keyed(&assign.name) =>
                    {
                        None
                    }
                    Some(subscript) => self.key_for(&assign.name, subscript)?,
                };
                let Some(key) = key else {
                    let message = assign.subscript.as_ref().map(wrong).unwrap_or_default();
                    self.report_error(message);
                    return Ok(false);
                };
                let assigned = self.assign(&assign.name, key, assign.append, value)?;
                self.forget_computed(&assign.name);
                Ok(assigned)
            }
        }
    }

    /// The key of an assignment; `None` if it is invalid.
    fn key_for(&mut self, name: &[u8], subscript: &Subscript) -> EvalResult<Option<Key>> {
        let key = self.key_of(name, subscript)?;
        if key == Key::Index(-1) && self.vars.get(name).is_some_and(|var| matches!(var.value, Value::Text(_))) {
            // The text becomes the last element of the new array.
            return Ok(Some(key));
        }
        Ok((!self.is_invalid_key(name, &key)).then_some(key))
    }

    /// Returns whether a value cannot be stored under this key: it is empty, or before the first element.
    pub(crate) fn is_invalid_key(&self, name: &[u8], key: &Key) -> bool {
        match key {
            Key::Index(index) if *index < 0 => match self.vars.get(name).map(|var| &var.value) {
                Some(Value::Indexed(map)) => crate::expand::position(map, *index).is_none(),
                _ => true,
            },
            Key::Word(word) => word.is_empty(),
            _ => false,
        }
    }

    /// Returns whether a name refers to an associative array.
    pub(crate) fn is_keyed(&self, name: &[u8]) -> bool {
        let var = self.target_variable(name).and_then(|name| self.vars.get(&name));
        var.is_some_and(|var| matches!(var.value, Value::Assoc(_)))
    }

    /// Returns whether a name is that of an array.
    pub(crate) fn is_array(&self, name: &[u8]) -> bool {
        self.vars.get(name).is_some_and(|var| matches!(var.value, Value::Indexed(_) | Value::Assoc(_)))
    }

    /// Expands the values in an argument of `declare`. All values are expanded before the first is assigned.
    #[inline(never)]
    pub(crate) fn expand_declared(&mut self, assign: &Assign, keyed: bool) -> EvalResult<Assign> {
        // Words that are keys and values of an associative array are not split.
        let keyed = keyed || self.is_keyed(&assign.name);
        let value = match &assign.value {
            AssignValue::Word(word) => AssignValue::Word(expanded(self.expand_text(word)?)),
            AssignValue::Array(elements) => {
                let mut list = Vec::with_capacity(elements.len());
                for element in elements {
                    if keyed || element.subscript.is_some() {
                        let subscript = match &element.subscript {
                            Some(subscript) => {
                                let key = self.expand_text(&subscript.key)?;
                                Some(crate::parse::subscript_of_text(&key))
                            }
                            None => None,
                        };
                        let value = expanded(self.expand_text(&element.value)?);
                        list.push(Element { subscript, append: element.append, value });
                        continue;
                    }
                    let mut fields = Vec::new();
                    self.expand_fields(&element.value, &mut fields)?;
                    let one = |text| Element { subscript: None, append: false, value: expanded(text) };
                    list.extend(fields.into_iter().map(one));
                }
                AssignValue::Array(list)
            }
        };
        Ok(Assign {
            name: std::rc::Rc::clone(&assign.name),
            subscript: assign.subscript.clone(),
            append: assign.append,
            value,
        })
    }
}

/// A word that means this text literally.
fn expanded(text: Bytes) -> Word {
    Word { raw: text.as_slice().into(), parts: vec![Part::Quoted(text)], braces: false }
}
