//! `${#name}` and `${#name[@]}`: lengths of texts and numbers of elements.

use crate::expand::word::{Out, PartContext};
use crate::ir::{Index, Name, Op, Param, Target};
use crate::state::{EvalResult, Shell};
use crate::vars::{self, Value};

impl Shell {
    /// Expands `${#name}` or `${#name[@]}`.
    pub(super) fn expand_length(&mut self, param: &Param, out: &mut Out, context: PartContext) -> EvalResult {
        if let (Target::Var(name), Index::At | Index::Star, true) = (&param.target, &param.index, self.options.nounset)
            && self.has_no_elements(name)
        {
            return self.unbound(name);
        }
        match self.count(param) {
            Some(count) => self.emit(count.to_string().as_bytes(), out, context),
            None => self.expand_content(param, out, context),
        }
    }

    pub(super) fn unbound<T>(&mut self, name: &Name) -> EvalResult<T> {
        self.discard([&name[..], b": unbound variable"].concat())
    }

    /// `${#array[@]}` and `${#@}`, without copying the elements.
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

    /// Returns whether a name is unset, or is an array that was declared and never assigned.
    fn has_no_elements(&self, name: &Name) -> bool {
        if &**name == b"FUNCNAME" {
            return self.calls(name).is_none();
        }
        match self.target_variable(name).and_then(|name| self.vars.get(&name)) {
            Some(var) => var.has(vars::BARE) || matches!(var.value, Value::Unset),
            None => !self.is_computed(name),
        }
    }
}
