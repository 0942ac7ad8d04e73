//! `${#name}` and its kind: lengths of texts and numbers of elements.

use super::Content;
use crate::expand::word::{Out, Place};
use crate::ir::{Index, Name, Op, Param, Subscript, Target};
use crate::state::{Run, Shell};
use crate::vars::{self, Value};

impl Shell {
    /// `${#name}` and its kind.
    pub(super) fn expand_length(&mut self, param: &Param, out: &mut Out, place: Place) -> Run {
        if let (Target::Var(name), Index::At | Index::Star | Index::One(_), true) =
            (&param.target, &param.index, self.options.nounset)
            && self.has_no_elements(name)
        {
            // A subscript is not even looked at then.
            return self.unbound(name);
        }
        if let Some(count) = self.count(param) {
            return self.emit(count.to_string().as_bytes(), out, place);
        }
        let Target::Var(name) = &param.target else { return self.expand_content(param, out, place) };
        if self.options.nounset
            && let Some(length) = self.length_where_unset_fails(param, name)?
        {
            return self.emit(length.to_string().as_bytes(), out, place);
        }
        match &param.index {
            Index::One(subscript) => self.expand_element_length(param, name, subscript, out, place),
            _ => self.expand_content(param, out, place),
        }
    }

    /// The length under `set -u` of what is no plain variable; `None` where the option makes no difference.
    fn length_where_unset_fails(&mut self, param: &Param, name: &Name) -> Run<Option<usize>> {
        let value = self.variable_meant(name).and_then(|name| self.vars.get(&name)).map(|var| &var.value);
        match (&param.index, value) {
            (Index::At | Index::Star, None)
                if !self.is_computed(name) || (&**name == b"FUNCNAME" && self.frames.is_empty()) =>
            {
                self.unbound(name)
            }
            // An element of what is no array is not there to bash.
            (Index::One(_), Some(Value::Text(_))) => self.unbound(name),
            (Index::One(_), None | Some(Value::Indexed(_) | Value::Assoc(_))) => {
                Ok(Some(match self.content(&param.target, &param.index)? {
                    Content::One(text) => crate::expand::op::char_count(&text),
                    _ => 0,
                }))
            }
            _ => Ok(None),
        }
    }

    /// `${#name[subscript]}`.
    fn expand_element_length(
        &mut self,
        param: &Param,
        name: &Name,
        subscript: &Subscript,
        out: &mut Out,
        place: Place,
    ) -> Run {
        if !self.options.nounset
            && self.variable_meant(name).and_then(|name| self.vars.get(&name)).is_none()
            && !self.is_computed(name)
        {
            // Where there is nothing, nobody looks at the subscript.
            return self.emit(b"0", out, place);
        }
        // The subscript is evaluated once, whatever it is needed for.
        let key = self.key_of(name, subscript)?;
        if !self.is_no_place(name, &key) {
            let content = self.content_at(name, &key)?;
            return self.apply(param, (&param.target, &param.index), content, out, place);
        }
        let var = self.variable_meant(name).and_then(|name| self.vars.get(&name));
        let var = var.filter(|var| !var.has(vars::BARE));
        if var.is_some_and(|var| matches!(var.value, Value::Indexed(_) | Value::Text(_))) {
            // bash names what follows the first bracket.
            return self.discard_expansion([&subscript.key.raw[..], b"]: bad array subscript"].concat());
        }
        self.emit(b"0", out, place)
    }

    pub(super) fn unbound<T>(&mut self, name: &Name) -> Run<T> {
        self.discard_expansion([&name[..], b": unbound variable"].concat())
    }

    /// `${#array[@]}` and `${#@}`, for which nobody needs the elements.
    pub(super) fn count(&self, param: &Param) -> Option<usize> {
        match (&param.op, &param.target, &param.index) {
            (Op::Length, Target::Special(b'@' | b'*'), Index::None) => Some(self.positional.len()),
            (Op::Length, Target::Var(name), Index::At | Index::Star) => match &self.vars.get(name)?.value {
                Value::Indexed(map) => Some(map.len()),
                Value::Assoc(map) => Some(map.len()),
                Value::Unset | Value::Text(_) => None,
            },
            _ => None,
        }
    }

    /// Whether a name is that of nothing, or of an array that was declared and never assigned.
    fn has_no_elements(&self, name: &Name) -> bool {
        if &**name == b"FUNCNAME" {
            return self.calls(name).is_none();
        }
        match self.variable_meant(name).and_then(|name| self.vars.get(&name)) {
            Some(var) => var.has(vars::BARE) || matches!(var.value, Value::Unset),
            None => !self.is_computed(name),
        }
    }
}
