//! Reading and assigning variables.

use std::collections::BTreeMap;

use tidebox_rt as rt;

use super::case;
use super::lossy;
use super::param::Content;
use crate::ir::{Bytes, Name, Subscript};
use crate::state::{EvalResult, Shell};
use crate::vars::{self, Key, NamerefTarget, Value, Var};

impl Shell {
    /// The text of a variable, or of element 0 of an array.
    pub(crate) fn lookup(&mut self, name: &[u8]) -> Option<Bytes> {
        if let Some(var) = self.vars.get(name) {
            if !var.has(vars::NAMEREF) {
                return var.scalar().cloned();
            }
            // In a scalar context the elements of an array are joined.
            return match self.content_of_reference(name).ok()? {
                Content::Unset => None,
                Content::One(text) => Some(text),
                Content::Many { values, .. } => Some(values.join(&b' ')),
            };
        }
        self.dynamic(name).and_then(|values| values.into_iter().next())
    }

    /// All elements of an array in order; a plain variable is an array of one.
    pub(crate) fn elements(&mut self, name: &[u8]) -> Vec<Bytes> {
        let Some(meant) = self.target_array(name) else { return Vec::new() };
        let name = meant.as_deref().unwrap_or(name);
        match self.vars.get(name).map(|var| &var.value) {
            Some(Value::Text(text)) => vec![text.clone()],
            Some(Value::Indexed(map)) => map.values().cloned().collect(),
            Some(Value::Assoc(map)) => map.entries().into_iter().map(|(_, value)| value.clone()).collect(),
            Some(Value::Unset) => Vec::new(),
            None => self.dynamic(name).unwrap_or_default(),
        }
    }

    /// All keys of an array, in the order of [`Self::elements`].
    pub(crate) fn keys(&mut self, name: &[u8]) -> Vec<Bytes> {
        let Some(meant) = self.target_array(name) else { return Vec::new() };
        let name = meant.as_deref().unwrap_or(name);
        match self.vars.get(name).map(|var| &var.value) {
            Some(Value::Text(_)) => vec![b"0".to_vec()],
            Some(Value::Indexed(map)) => map.keys().map(|key| key.to_string().into_bytes()).collect(),
            Some(Value::Assoc(map)) => map.entries().into_iter().map(|(key, _)| key.clone()).collect(),
            Some(Value::Unset) => Vec::new(),
            None => (0..self.dynamic(name).unwrap_or_default().len()).map(|n| n.to_string().into_bytes()).collect(),
        }
    }

    /// The value of one element. The error is bash's for a subscript before the first element.
    pub(crate) fn element(&mut self, name: &[u8], key: &Key) -> Option<Bytes> {
        let meant = self.target_array(name)?;
        let name = meant.as_deref().unwrap_or(name);
        match (self.vars.get(name).map(|var| &var.value), key) {
            (Some(Value::Assoc(_)), Key::Word(word)) if word.is_empty() => self.bad_subscript(name),
            (Some(Value::Assoc(map)), Key::Word(word)) => map.get(word).cloned(),
            (Some(Value::Indexed(map)), Key::Index(index)) => match position(map, *index) {
                Some(at) => map.get(&at).cloned(),
                None => self.bad_subscript(name),
            },
            (Some(Value::Text(text)), Key::Index(0)) => Some(text.clone()),
            (Some(Value::Text(_)), Key::Index(index)) if *index < 0 => self.bad_subscript(name),
            (Some(_), Key::Whole) => self.lookup(name),
            (None, Key::Index(index)) => {
                if let Some(values) = self.dynamic(name) {
                    let len = i64::try_from(values.len()).unwrap_or(0);
                    let at = if *index < 0 { index.saturating_add(len) } else { *index };
                    return usize::try_from(at).ok().and_then(|at| values.into_iter().nth(at));
                }
                if *index < 0 { self.bad_subscript(name) } else { None }
            }
            _ => None,
        }
    }

    fn bad_subscript(&mut self, name: &[u8]) -> Option<Bytes> {
        self.report_error(format!("{}: bad array subscript", lossy(name)));
        None
    }

    /// The key that a subscript denotes for this variable.
    pub(crate) fn key_of(&mut self, name: &[u8], subscript: &Subscript) -> EvalResult<Key> {
        let meant = self.target_array(name).flatten();
        let name = meant.as_deref().unwrap_or(name);
        if matches!(self.vars.get(name).map(|var| &var.value), Some(Value::Assoc(_))) {
            if subscript.dynamic && self.options.assoc_expand_once {
                return Ok(Key::Word(subscript.key.raw.to_vec()));
            }
            let key = self.expand_text(&subscript.key)?;
            return Ok(Key::Word(key));
        }
        // The message does not name the builtin that the subscript was given to.
        let running = match self.builtin.name {
            "((" => "((",
            _ => std::mem::take(&mut self.builtin.name),
        };
        let index = self.evaluate(&subscript.index);
        self.builtin.name = running;
        index.map(Key::Index)
    }

    /// Assigns. Returns whether it was allowed, after an error message if not.
    pub(crate) fn assign(&mut self, name: &Name, key: Key, append: bool, value: Bytes) -> EvalResult<bool> {
        if self.vars.get(name).is_some_and(|var| var.has(vars::NAMEREF)) {
            return self.assign_through(name, key, append, value);
        }
        self.assign_itself(name, key, append, value)
    }

    /// The array that a name means: the inner `None` for itself, the outer one for no array.
    fn target_array(&mut self, name: &[u8]) -> Option<Option<Name>> {
        match self.vars.resolve_nameref(name) {
            NamerefTarget::Own => Some(None),
            NamerefTarget::Variable(name) => Some(Some(name)),
            _ => None,
        }
    }

    /// Assigns to a variable that is not a reference.
    pub(crate) fn assign_itself(&mut self, name: &Name, key: Key, append: bool, value: Bytes) -> EvalResult<bool> {
        if !self.may_assign(name)? {
            return Ok(false);
        }
        let flags = self.vars.get(name).map_or(0, |var| var.flags);
        let mut value = value;
        if flags & vars::INTEGER != 0 {
            let mut number = self.integer(&value)?;
            if append {
                let old = match &key {
                    Key::Whole => self.lookup(name),
                    key => self.element(name, key),
                };
                number = self.integer(&old.unwrap_or_default())?.wrapping_add(number);
            }
            value = number.to_string().into_bytes();
        }
        let mut append = append && flags & vars::INTEGER == 0;
        if append && flags & (vars::LOWER | vars::UPPER | vars::CAPITAL) != 0 {
            // The attribute applies to the whole value, not only to the appended text.
            let old = if key == Key::Whole { self.lookup(name) } else { self.element(name, &key) };
            value = [&old.unwrap_or_default()[..], &value].concat();
            append = false;
        }
        change_case(flags, &mut value);
        let special = is_special(name);
        if special {
            // A temporary or local variable does not change the state that the shell computes from it.
            if !(self.is_computed(name) && self.vars.is_replaced(name)) {
                self.special_assigned(name, &value);
            }
            if let (b"DIRSTACK", Key::Index(at)) = (&name[..], &key) {
                self.change_dir_stack(*at, &value);
            }
        }
        let allexport = self.options.allexport;
        let var = self.vars.entry(name);
        var.flags &= !vars::BARE;
        if allexport && key == Key::Whole {
            var.flags |= vars::EXPORT;
        }
        let shown = match &key {
            Key::Index(index) if *index < 0 => index.to_string(),
            _ => String::new(),
        };
        let (fits, stored) = store(var, key, append, value);
        if !fits {
            return self.out_of_memory(1 << 30);
        }
        if !stored {
            let message = format!("{}[{shown}]: bad array subscript", lossy(name));
            self.report_error(message);
        } else if special {
            self.variable_changed(name);
        }
        Ok(stored)
    }

    /// Returns whether a variable is constant: by its attribute, or because the shell computes it.
    pub(crate) fn is_constant(&self, name: &[u8]) -> bool {
        self.vars.get(name).is_some_and(|var| var.has(vars::READONLY))
            || matches!(name, b"PPID" | b"UID" | b"EUID" | b"BASH_VERSINFO" | b"SHELLOPTS" | b"BASHOPTS")
    }

    /// Returns whether a variable may change, after an error message if not.
    pub(crate) fn may_assign(&mut self, name: &[u8]) -> EvalResult<bool> {
        let readonly = self.is_constant(name);
        if readonly {
            let text = format!("{}: readonly variable", lossy(name));
            if matches!(self.builtin.name, "declare" | "typeset" | "local") {
                self.report_builtin_error(text);
            } else {
                self.report_error(text);
            }
        }
        Ok(!readonly)
    }

    /// Applies an assignment of a variable that the shell uses.
    fn special_assigned(&mut self, name: &[u8], value: &[u8]) {
        match name {
            b"RANDOM" => {
                self.computed.random = crate::parse::plain_number(value).map_or(0, |n| (n & 0x7fff_ffff) as u32)
            }
            b"SECONDS" => {
                self.computed.started_ns = rt::monotonic_ns();
                self.computed.seconds_offset = crate::parse::plain_number(value).unwrap_or(0);
            }
            b"LINENO" => self.line = crate::parse::plain_number(value).and_then(|n| u32::try_from(n).ok()).unwrap_or(0),
            b"BASH_ARGV0" => self.invocation.name = value.to_vec(),
            b"_" => self.computed.last_arg = value.to_vec(),
            b"PATH" => self.forget_programs(),
            b"OPTIND" => self.builtin.getopts_position = (0, 0),
            b"BASH_XTRACEFD" => self.set_trace_fd(value),
            b"BASH_SUBSHELL" => {
                self.process.subshell =
                    crate::parse::plain_number(value).and_then(|n| u32::try_from(n).ok()).unwrap_or(0);
            }
            b"BASH_COMPAT" if !is_compatibility(value) => {
                self.report_error([b"BASH_COMPAT: ", value, b": compatibility value out of range"].concat());
            }
            b"POSIXLY_CORRECT" => self.options.posix = true,
            b"IGNOREEOF" => self.options.ignoreeof = true,
            b"HISTSIZE" => self.history_size_changed(Some(value)),
            b"GLOBIGNORE" if !value.is_empty() => self.options.dotglob = true,
            _ => {}
        }
    }

    /// Applies a change of a variable that the shell uses, other than by one assignment.
    pub(crate) fn variable_changed(&mut self, name: &[u8]) {
        match name {
            b"PATH" => self.forget_programs(),
            b"BASH_ALIASES" => self.apply_alias_changes(),
            b"BASH_CMDS" => self.apply_hash_changes(),
            b"HISTSIZE" => {
                let value = self.vars.get(name).and_then(Var::scalar).cloned();
                self.history_size_changed(value.as_deref());
            }
            b"GLOBIGNORE" if self.vars.get(name).is_none() => self.options.dotglob = false,
            b"LC_ALL" | b"LC_CTYPE" | b"LANG" | b"LC_COLLATE" | b"LC_MESSAGES" | b"LC_NUMERIC" | b"LC_TIME" => {
                self.locale_changed(name);
            }
            _ => {}
        }
    }

    /// Removes the stored value of a computed variable, so that it stays computed.
    pub(crate) fn forget_computed(&mut self, name: &[u8]) {
        // A local or temporary variable of that name is an ordinary variable.
        if self.is_computed(name) && !self.vars.is_replaced(name) {
            self.vars.remove(name);
        }
    }

    /// The value of an expression that is assigned to an integer.
    fn integer(&mut self, text: &[u8]) -> EvalResult<i64> {
        self.evaluate_text(text)
    }

    /// Applies the attributes of a variable to a value.
    pub(crate) fn attributed(&mut self, flags: u16, value: &mut Bytes) -> EvalResult {
        if flags & vars::INTEGER != 0 {
            *value = self.integer(value)?.to_string().into_bytes();
        }
        change_case(flags, value);
        Ok(())
    }
}

/// Names that the shell itself looks at or computes, among them all that [`Shell::special_assigned`] knows.
fn is_special(name: &[u8]) -> bool {
    let initial = [b'_'] == name
        || matches!(
            name,
            [b'R' | b'S' | b'P' | b'O' | b'L' | b'B' | b'I' | b'G' | b'H' | b'D', ..] | [b'h', b'i', b's', ..]
        );
    initial && name.len() <= 16
}

/// Returns whether `BASH_COMPAT` may have this value: a version starting at 3.1, with or without the dot.
fn is_compatibility(value: &[u8]) -> bool {
    let digits: Bytes = match value {
        [major, b'.', minor] => vec![*major, *minor],
        _ => value.to_vec(),
    };
    digits.is_empty()
        || crate::parse::plain_number(&digits).is_some_and(|n| (31..=52).contains(&n) && digits.len() == 2)
}

/// The index that a number means; `None` before the first element.
pub(crate) fn position(map: &BTreeMap<u64, Bytes>, index: i64) -> Option<u64> {
    if index >= 0 {
        return u64::try_from(index).ok();
    }
    let len = map.last_key_value().map_or(0, |(key, _)| key.saturating_add(1));
    len.checked_sub(index.unsigned_abs())
}

fn change_case(flags: u16, value: &mut Bytes) {
    if flags & vars::LOWER != 0 {
        *value = case::lower(value);
    } else if flags & vars::UPPER != 0 {
        *value = case::upper(value);
    } else if flags & vars::CAPITAL != 0 {
        *value = case::capital(value);
    }
}

/// Sets a slot, or appends to it if `append`. Returns false if out of memory.
fn put(slot: &mut Bytes, append: bool, value: Bytes) -> bool {
    if !append {
        *slot = value;
        return true;
    }
    if slot.try_reserve(value.len()).is_err() {
        return false;
    }
    slot.extend_from_slice(&value);
    true
}

/// Stores a value. Returns whether there was memory, and whether the subscript was valid.
fn store(var: &mut Var, key: Key, append: bool, value: Bytes) -> (bool, bool) {
    match (key, &mut var.value) {
        (Key::Whole, Value::Text(text)) => (put(text, append, value), true),
        (Key::Whole, Value::Indexed(map)) => (put(map.entry(0).or_default(), append, value), true),
        (Key::Whole, Value::Assoc(map)) => {
            let mut text = if append { map.get(b"0").cloned().unwrap_or_default() } else { Bytes::new() };
            text.extend_from_slice(&value);
            map.insert(b"0".to_vec(), text);
            (true, true)
        }
        (Key::Whole, slot @ Value::Unset) => {
            *slot = Value::Text(value);
            (true, true)
        }
        (Key::Word(key), Value::Assoc(_)) if key.is_empty() => (true, false),
        (Key::Word(key), Value::Assoc(map)) => {
            let mut text = if append { map.get(&key).cloned().unwrap_or_default() } else { Bytes::new() };
            text.extend_from_slice(&value);
            map.insert(key, text);
            (true, true)
        }
        (Key::Word(_), _) => (true, false),
        (Key::Index(index), slot) => {
            let mut map = match std::mem::take(slot) {
                Value::Indexed(map) => map,
                Value::Text(text) => BTreeMap::from([(0, text)]),
                Value::Unset | Value::Assoc(_) => BTreeMap::new(),
            };
            let at = position(&map, index);
            let fits = at.is_none_or(|at| put(map.entry(at).or_default(), append, value));
            *slot = Value::Indexed(map);
            (fits, at.is_some())
        }
    }
}
