//! `name=( .. )`.

use std::collections::BTreeMap;

use crate::ir::{Bytes, Element, Name, Part, Subscript};
use crate::state::{Run, Shell};
use crate::vars::{self, Assoc, Meant, Value};

/// One value of an indexed array: where it goes and how that is written, and whether it joins what is there.
struct Placed {
    at: Option<(i64, Bytes)>,
    joins: bool,
    value: Bytes,
}

impl Shell {
    /// Assigns the elements of an array; says whether that was allowed.
    pub(crate) fn assign_array(&mut self, name: &Name, elements: &[Element], append: bool) -> Run<bool> {
        let meant = match self.meaning(name) {
            Meant::Own | Meant::Nothing(_) => None,
            Meant::Variable(name) => Some(name),
            Meant::Element(array, subscript) => {
                return Ok(self.refuse_name(&[&array[..], b"[", &subscript, b"]"].concat()));
            }
            Meant::Global(_) | Meant::Circle => return Ok(false),
        };
        let name = meant.as_ref().unwrap_or(name);
        self.assign_elements(name, elements, append, false)
    }

    /// Assigns the elements of an array that is no reference; `again` when `declare` has expanded them already.
    pub(crate) fn assign_elements(
        &mut self,
        name: &Name,
        elements: &[Element],
        append: bool,
        again: bool,
    ) -> Run<bool> {
        if !self.may_assign(name) {
            return Ok(false);
        }
        // Values may refer to the array itself, so all of them are known before it changes.
        let (old, flags) = self.vars.get(name).map_or((None, 0), |var| (Some(&var.value), var.flags));
        if let Some(Value::Assoc(map)) = old {
            let mut map = map.clone();
            if !append {
                map.clear();
            }
            let map = self.keyed_values(name, map, elements, flags, again)?;
            let var = self.vars.entry(name);
            var.flags &= !vars::BARE;
            var.value = Value::Assoc(map);
            return Ok(true);
        }
        let values = match self.indexed_values(elements, flags) {
            Ok(values) => values,
            Err(stop) => {
                // It was made an array before the values were looked at.
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
        let map = match std::mem::take(&mut self.vars.entry(name).value) {
            Value::Indexed(map) if append => map,
            Value::Text(text) if append => BTreeMap::from([(0, text)]),
            _ => BTreeMap::new(),
        };
        let map = self.put_values(map, values, flags & vars::INTEGER != 0);
        let var = self.vars.entry(name);
        var.flags &= !vars::BARE;
        var.value = Value::Indexed(map);
        Ok(true)
    }

    /// Puts values into an indexed array; complains about places before its start.
    fn put_values(
        &mut self,
        mut map: BTreeMap<u64, Bytes>,
        values: Vec<Placed>,
        integer: bool,
    ) -> BTreeMap<u64, Bytes> {
        let mut next = map.last_key_value().map_or(0, |(key, _)| key.saturating_add(1));
        for Placed { at, joins, value } in values {
            if let Some((index, subscript)) = at {
                match super::position(&map, index) {
                    Some(at) => next = at,
                    None => {
                        self.bad_element(&subscript, &value);
                        continue;
                    }
                }
            }
            if joins && integer {
                let number = |text: &[u8]| crate::parse::plain_number(text).unwrap_or(0);
                let slot = map.entry(next).or_default();
                *slot = number(slot).wrapping_add(number(&value)).to_string().into_bytes();
            } else if joins {
                map.entry(next).or_default().extend_from_slice(&value);
            } else {
                map.insert(next, value);
            }
            next = next.saturating_add(1);
        }
        map
    }

    fn bad_element(&mut self, subscript: &[u8], value: &[u8]) {
        self.complain([b"[", subscript, b"]=", value, b": bad array subscript"].concat());
    }

    /// The number that a subscript in a list of elements is, and its text; `None` when there is nothing in it.
    fn index_of_element(&mut self, subscript: &Subscript) -> Run<Option<(i64, Bytes)>> {
        // Quotes are taken out here, unlike those in the subscript of one element that is assigned to.
        let expands =
            |part: &Part| matches!(part, Part::Param(_) | Part::Command(_) | Part::Double(_) | Part::Quoted(_));
        let (index, text) = if subscript.key.parts.iter().any(expands) {
            let text = self.expand_text(&subscript.key)?;
            // bash takes quotes out twice, the second time with the byte that it marks quotes by.
            let twice = subscript.key.parts.iter().any(|part| matches!(part, Part::Quoted(_) | Part::Double(_)));
            let mut text = if twice { crate::parse::remove_quotes(&text) } else { text };
            text.retain(|&byte| !twice || byte != 1);
            (self.evaluate_text(&text), text)
        } else {
            (self.evaluate(&subscript.index), subscript.key.raw.to_vec())
        };
        let index = self.abandon(index)?;
        Ok((!text.is_empty()).then_some((index, text)))
    }

    fn indexed_values(&mut self, elements: &[Element], flags: u16) -> Run<Vec<Placed>> {
        let mut values = Vec::with_capacity(elements.len());
        let mut fields = Vec::new();
        for element in elements {
            let braced = self.braced_element(element);
            match &element.subscript {
                Some(subscript) if braced.is_none() => {
                    let at = self.index_of_element(subscript)?;
                    let value = self.expand_text(&element.value)?;
                    match at {
                        at @ Some(_) => values.push(Placed { at, joins: element.append, value }),
                        None => self.bad_element(b"", &value),
                    }
                }
                _ => {
                    self.expand_fields(braced.unwrap_or(&element.value), &mut fields)?;
                    values.extend(fields.drain(..).map(|value| Placed { at: None, joins: false, value }));
                }
            }
        }
        for placed in &mut values {
            self.attributed_element(flags, &mut placed.value)?;
        }
        Ok(values)
    }

    /// As [`Self::attributed`], by the shell itself and not by the builtin that the list is an argument of.
    fn attributed_element(&mut self, flags: u16, value: &mut Bytes) -> Run {
        let running = std::mem::take(&mut self.running);
        self.attributed(flags, value)?;
        self.running = running;
        Ok(())
    }

    /// The elements of an associative array. Where the first has no subscript, keys and values alternate.
    fn keyed_values(&mut self, name: &Name, map: Assoc, elements: &[Element], flags: u16, again: bool) -> Run<Assoc> {
        let mut map = map;
        if elements.first().is_some_and(|element| element.subscript.is_none()) {
            return self.alternating_values(map, elements, flags, again);
        }
        for element in elements {
            let Some(Subscript { key, .. }) = &element.subscript else {
                let mut words = Vec::new();
                self.expand_fields(&element.value, &mut words)?;
                for word in words {
                    // `declare` shows the word as it reads it a second time.
                    let word = if again { super::single_quote(&word) } else { word };
                    let problem = b": must use subscript when assigning associative array";
                    self.complain([&name[..], b": ", &word, problem].concat());
                }
                continue;
            };
            let key = self.expand_text(key)?;
            let mut value = self.expand_text(&element.value)?;
            if key.is_empty() && again {
                let (key, value) = (super::single_quote(&key), super::single_quote(&value));
                self.complain([b"[", &key[..], b"]=", &value, b": bad array subscript"].concat());
                continue;
            }
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

    fn alternating_values(&mut self, map: Assoc, elements: &[Element], flags: u16, again: bool) -> Run<Assoc> {
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
                let word = if again { super::single_quote(&key) } else { element.value.raw.to_vec() };
                self.complain([&word[..], b": bad array subscript"].concat());
            } else {
                map.insert(key, value);
            }
        }
        Ok(map)
    }
}
