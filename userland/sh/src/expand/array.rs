//! `name=( .. )`.

use std::collections::BTreeMap;

use crate::ir::{Arith, Bytes, Element, Name, Part, Subscript};
use crate::state::{EvalResult, Shell};
use crate::vars::{self, Assoc, NamerefTarget, Value};

/// One element of an indexed array after expansion: its subscript, and whether it appends to the existing element.
struct Placed<'a> {
    at: Option<(At<'a>, Bytes)>,
    joins: bool,
    value: Bytes,
}

/// The expression that a subscript is.
enum At<'a> {
    Read(&'a Arith),
    Text,
}

impl Shell {
    /// Assigns the elements of an array. Returns whether it was allowed.
    pub(crate) fn assign_array(&mut self, name: &Name, elements: &[Element], append: bool) -> EvalResult<bool> {
        let meant = match self.meaning(name) {
            NamerefTarget::Own | NamerefTarget::Nothing(_) => None,
            NamerefTarget::Variable(name) => Some(name),
            NamerefTarget::Element(array, subscript) => {
                return Ok(self.reject_name(&[&array[..], b"[", &subscript, b"]"].concat()));
            }
            NamerefTarget::Global(_) | NamerefTarget::Circle => return Ok(false),
        };
        let name = meant.as_ref().unwrap_or(name);
        self.assign_elements(name, elements, append)
    }

    /// Assigns the elements of an array that is not a reference.
    pub(crate) fn assign_elements(&mut self, name: &Name, elements: &[Element], append: bool) -> EvalResult<bool> {
        if !self.may_assign(name)? {
            return Ok(false);
        }
        // Values may refer to the array itself, so all of them are known before it changes.
        let (old, flags) = self.vars.get(name).map_or((None, 0), |var| (Some(&var.value), var.flags));
        if let Some(Value::Assoc(map)) = old {
            let mut map = map.clone();
            if !append {
                map.clear();
            }
            let map = self.keyed_values(name, map, elements, flags)?;
            let var = self.vars.entry(name);
            var.flags &= !vars::BARE;
            var.value = Value::Assoc(map);
            return Ok(true);
        }
        let values = match self.indexed_values(elements) {
            Ok(values) => values,
            Err(stop) => {
                // bash creates the array before it expands the words.
                let var = self.vars.entry(name);
                var.flags &= !vars::BARE;
                var.value = match std::mem::take(&mut var.value) {
                    Value::Unset => Value::Indexed(BTreeMap::new()),
                    Value::Text(text) => Value::Indexed(BTreeMap::from([(0, text)])),
                    value => value,
                };
                return Err(stop);
            }
        };
        self.put_values(name, values, append)?;
        self.vars.entry(name).flags &= !vars::BARE;
        Ok(true)
    }

    /// Makes a variable an indexed array and assigns the values one by one. Subscripts and values that are numbers see the
    /// preceding elements, and the elements before an error stay.
    fn put_values(&mut self, name: &Name, values: Vec<Placed<'_>>, append: bool) -> EvalResult {
        // A variable that was declared without a value stays unset until the first element is assigned.
        let bare = self.vars.get(name).is_some_and(|var| matches!(var.value, Value::Unset) || var.has(vars::BARE));
        let var = self.vars.entry(name);
        if bare {
            var.flags |= vars::BARE;
        }
        let flags = var.flags;
        let mut map = match std::mem::take(&mut var.value) {
            Value::Indexed(map) if append => map,
            Value::Text(text) if append => BTreeMap::from([(0, text)]),
            _ => BTreeMap::new(),
        };
        let mut next = map.last_key_value().map_or(0, |(key, _)| key.saturating_add(1));
        // Without evaluation no expression can read the array, so it need not be in its variable during the loop.
        if flags & vars::INTEGER == 0 && values.iter().all(|placed| placed.at.is_none()) {
            for Placed { mut value, .. } in values {
                self.attributed_element(flags, &mut value)?;
                map.insert(next, value);
                next = next.saturating_add(1);
            }
            self.vars.entry(name).value = Value::Indexed(map);
            return Ok(());
        }
        self.vars.entry(name).value = Value::Indexed(map);
        for Placed { at, joins, mut value } in values {
            let Some(place) = self.index_for_element(name, at, joins, &value, next)? else { continue };
            self.attributed_element(flags, &mut value)?;
            next = place.saturating_add(1);
            let var = self.vars.entry(name);
            var.flags &= !vars::BARE;
            let Value::Indexed(map) = &mut var.value else { continue };
            if joins && flags & vars::INTEGER != 0 {
                let number = |text: &[u8]| crate::parse::plain_number(text).unwrap_or(0);
                let slot = map.entry(place).or_default();
                *slot = number(slot).wrapping_add(number(&value)).to_string().into_bytes();
            } else if joins {
                map.entry(place).or_default().append(&mut value);
            } else {
                map.insert(place, value);
            }
        }
        Ok(())
    }

    /// The index of an element; `None`, after an error message, if it is invalid.
    fn index_for_element(
        &mut self,
        name: &Name,
        at: Option<(At<'_>, Bytes)>,
        joins: bool,
        value: &[u8],
        next: u64,
    ) -> EvalResult<Option<u64>> {
        let Some((at, text)) = at else { return Ok(Some(next)) };
        let place = match (&text[..], at) {
            (b"", _) => None,
            (b"@" | b"*", _) => {
                self.wrong_element(&text, joins, value, "cannot assign to non-numeric index");
                return Ok(None);
            }
            (_, at) => {
                let index = match at {
                    At::Read(arith) => self.evaluate(arith),
                    At::Text => self.evaluate_text(&text),
                }?;
                match self.vars.get(name).map(|var| &var.value) {
                    Some(Value::Indexed(map)) => super::position(map, index),
                    _ => u64::try_from(index).ok(),
                }
            }
        };
        if place.is_none() {
            self.wrong_element(&text, joins, value, "bad array subscript");
        }
        Ok(place)
    }

    fn wrong_element(&mut self, subscript: &[u8], joins: bool, value: &[u8], problem: &str) {
        let operator: &[u8] = if joins { b"]+=" } else { b"]=" };
        self.report_error([b"[", subscript, operator, value, b": ", problem.as_bytes()].concat());
    }

    fn bad_element(&mut self, subscript: &[u8], value: &[u8]) {
        self.report_error([b"[", subscript, b"]=", value, b": bad array subscript"].concat());
    }

    /// The expression that a subscript in a list of elements is, and its text.
    fn index_of_element<'a>(&mut self, subscript: &'a Subscript) -> EvalResult<(At<'a>, Bytes)> {
        // Quotes are removed here, unlike in the subscript of a single assignment.
        let expands =
            |part: &Part| matches!(part, Part::Param(_) | Part::Command(_) | Part::Double(_) | Part::Quoted(_));
        if !subscript.key.parts.iter().any(expands) {
            return Ok((At::Read(&subscript.index), subscript.key.raw.to_vec()));
        }
        let text = self.expand_text(&subscript.key)?;
        Ok((At::Text, text))
    }

    fn indexed_values<'a>(&mut self, elements: &'a [Element]) -> EvalResult<Vec<Placed<'a>>> {
        let mut values = Vec::with_capacity(elements.len());
        let mut fields = Vec::new();
        for element in elements {
            if let Some(subscript) = &element.subscript {
                let at = Some(self.index_of_element(subscript)?);
                let value = self.expand_text(&element.value)?;
                values.push(Placed { at, joins: element.append, value });
            } else {
                self.expand_fields(&element.value, &mut fields)?;
                values.extend(fields.drain(..).map(|value| Placed { at: None, joins: false, value }));
            }
        }
        Ok(values)
    }

    /// Like [`Self::attributed`], but errors do not name the builtin.
    fn attributed_element(&mut self, flags: u16, value: &mut Bytes) -> EvalResult {
        let running = std::mem::take(&mut self.builtin.name);
        self.attributed(flags, value)?;
        self.builtin.name = running;
        Ok(())
    }

    /// The elements of an associative array. Where the first has no subscript, keys and values alternate.
    fn keyed_values(&mut self, name: &Name, map: Assoc, elements: &[Element], flags: u16) -> EvalResult<Assoc> {
        let mut map = map;
        if elements.first().is_some_and(|element| element.subscript.is_none()) {
            return self.alternating_values(map, elements, flags);
        }
        for element in elements {
            let Some(Subscript { key, .. }) = &element.subscript else {
                let mut words = Vec::new();
                self.expand_fields(&element.value, &mut words)?;
                for word in words {
                    let problem = b": must use subscript when assigning associative array";
                    self.report_error([&name[..], b": ", &word, problem].concat());
                }
                continue;
            };
            let key = self.expand_text(key)?;
            let mut value = self.expand_text(&element.value)?;
            if key.is_empty() {
                let written = element.subscript.as_ref().map_or(&b""[..], |subscript| &subscript.key.raw);
                self.bad_element(written, &element.value.raw);
                continue;
            }
            if element.append {
                let mut joined = map.get(&key).cloned().unwrap_or_default();
                joined.append(&mut value);
                value = joined;
            }
            self.attributed_element(flags, &mut value)?;
            map.insert(key, value);
        }
        Ok(map)
    }

    fn alternating_values(&mut self, map: Assoc, elements: &[Element], flags: u16) -> EvalResult<Assoc> {
        let mut map = map;
        let mut words = Vec::new();
        for element in elements {
            match &element.subscript {
                None => words.push((self.expand_text(&element.value)?, element)),
                Some(subscript) => {
                    let value = self.expand_text(&element.value)?;
                    words.push(([b"[", &self.expand_text(&subscript.key)?[..], b"]=", &value].concat(), element));
                }
            }
        }
        let mut words = words.into_iter();
        while let Some((key, element)) = words.next() {
            let mut value = words.next().map(|(value, _)| value).unwrap_or_default();
            self.attributed_element(flags, &mut value)?;
            if key.is_empty() {
                self.report_error([&element.value.raw[..], b": bad array subscript"].concat());
            } else {
                map.insert(key, value);
            }
        }
        Ok(map)
    }
}
