//! Assignments.

use crate::ir::{Assign, AssignValue, Bytes, Element, Part, Subscript, Word};
use crate::state::{Run, Shell};
use crate::vars::{Key, Value};

impl Shell {
    /// Carries out one assignment; says whether it was allowed.
    pub(crate) fn run_assign(&mut self, assign: &Assign) -> Run<bool> {
        self.run_assign_shown(assign, self.options.xtrace)
    }

    /// The same, where `shown` says whether it is traced.
    pub(crate) fn run_assign_shown(&mut self, assign: &Assign, shown: bool) -> Run<bool> {
        match &assign.value {
            AssignValue::Array(elements) => {
                if let Some(subscript) = &assign.subscript {
                    let place = [&assign.name[..], b"[", &subscript.key.raw, b"]"].concat();
                    self.refuse([&place[..], b": cannot assign list to array member"].concat())?;
                    return Ok(false);
                }
                if shown {
                    self.trace_array(assign, elements);
                }
                let assigned = self.assign_array(&assign.name, elements, assign.append)?;
                if assign.name.starts_with(b"BASH_") {
                    self.note_changed(&assign.name);
                }
                self.forget_computed(&assign.name);
                Ok(assigned)
            }
            AssignValue::Word(word) => {
                let wrong = |subscript: &Subscript| {
                    [&assign.name[..], b"[", &subscript.key.raw, b"]: bad array subscript"].concat()
                };
                let value = self.expand_value(word)?;
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
                    self.refuse(message)?;
                    return Ok(false);
                };
                let assigned = self.assign(&assign.name, key, assign.append, value)?;
                self.forget_computed(&assign.name);
                Ok(assigned)
            }
        }
    }

    /// What a subscript means that something is assigned to; `None` where nothing can be.
    fn key_for(&mut self, name: &[u8], subscript: &Subscript) -> Run<Option<Key>> {
        let key = self.key_of(name, subscript)?;
        if key == Key::Index(-1) && self.vars.get(name).is_some_and(|var| matches!(var.value, Value::Text(_))) {
            // What becomes an array has the text as its last element.
            return Ok(Some(key));
        }
        Ok((!self.is_no_place(name, &key)).then_some(key))
    }

    /// Whether nothing can be stored under this key: it is empty, or before the first element.
    pub(crate) fn is_no_place(&self, name: &[u8], key: &Key) -> bool {
        match key {
            Key::Index(index) if *index < 0 => match self.vars.get(name).map(|var| &var.value) {
                Some(Value::Indexed(map)) => crate::expand::position(map, *index).is_none(),
                _ => true,
            },
            Key::Word(word) => word.is_empty(),
            _ => false,
        }
    }

    /// Whether a name means an associative array.
    pub(crate) fn is_keyed(&self, name: &[u8]) -> bool {
        let var = self.variable_meant(name).and_then(|name| self.vars.get(&name));
        var.is_some_and(|var| matches!(var.value, Value::Assoc(_)))
    }

    /// Whether a name is that of an array.
    pub(crate) fn is_array(&self, name: &[u8]) -> bool {
        self.vars.get(name).is_some_and(|var| matches!(var.value, Value::Indexed(_) | Value::Assoc(_)))
    }

    /// An argument of `declare` with its values expanded. All of them are, before the first is assigned.
    #[inline(never)]
    pub(crate) fn expand_declared(&mut self, assign: &Assign, keyed: bool) -> Run<Assign> {
        // Words that are keys and values of an associative array are not split.
        let keyed = keyed || self.is_keyed(&assign.name);
        let value = match &assign.value {
            AssignValue::Word(word) => AssignValue::Word(expanded(self.expand_declared_value(word)?)),
            AssignValue::Array(elements) => {
                let mut list = Vec::with_capacity(elements.len());
                for element in elements {
                    let braced = if keyed { None } else { self.braced_element(element) };
                    if keyed || element.subscript.is_some() && braced.is_none() {
                        let subscript = match &element.subscript {
                            Some(subscript) => {
                                let key = self.expand_text(&subscript.key)?;
                                Some(crate::parse::subscript_of_text(&key))
                            }
                            None => None,
                        };
                        let value = if keyed {
                            self.expand_without_tildes(&element.value)?
                        } else {
                            self.expand_text(&element.value)?
                        };
                        let value = expanded(value);
                        list.push(Element { subscript, append: element.append, value, braced: None });
                        continue;
                    }
                    let mut fields = Vec::new();
                    self.expand_fields(braced.unwrap_or(&element.value), &mut fields)?;
                    let one = |text| Element { subscript: None, append: false, value: expanded(text), braced: None };
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

/// A word that stands for this text whatever is in it.
fn expanded(text: Bytes) -> Word {
    Word { raw: text.as_slice().into(), parts: vec![Part::Quoted(text)], braces: false }
}
