//! Name references: variables whose value is the name of another variable.

use super::lossy;
use super::param::Content;
use crate::ir::{Bytes, Name};
use crate::parse::token::name_len;
use crate::state::{EvalResult, Shell};
use crate::vars::{self, Key, NamerefTarget, Value, Var};

/// Returns whether text is a valid target of a reference: a name, or an element of an array.
pub(crate) fn may_refer(text: &[u8]) -> bool {
    let len = name_len(text);
    match text.get(len..).unwrap_or_default() {
        _ if len == 0 => false,
        b"" => true,
        [b'[', subscript @ .., b']'] => !subscript.is_empty(),
        _ => false,
    }
}

/// Arrays that the shell computes. Assignments to them are silently ignored.
const IGNORED_ASSIGNMENTS: [&[u8]; 6] =
    [b"FUNCNAME", b"BASH_SOURCE", b"BASH_LINENO", b"BASH_ARGC", b"BASH_ARGV", b"GROUPS"];

impl Shell {
    /// The target of a name. Reports circular references.
    pub(crate) fn meaning(&mut self, name: &[u8]) -> NamerefTarget {
        let meant = self.vars.resolve_nameref(name);
        if matches!(meant, NamerefTarget::Circle | NamerefTarget::Global(_)) {
            self.report_error(format!("warning: {}: circular name reference", lossy(name)));
        }
        meant
    }

    /// The variable that a name means, where an element of an array will not do.
    pub(crate) fn target_variable(&self, name: &[u8]) -> Option<Name> {
        match self.vars.resolve_nameref(name) {
            NamerefTarget::Own => Some(name.into()),
            NamerefTarget::Variable(name) => Some(name),
            _ => None,
        }
    }

    /// The value of a reference.
    #[inline(never)]
    pub(crate) fn content_of_reference(&mut self, name: &[u8]) -> EvalResult<Content> {
        let one = |text: Option<Bytes>| text.map_or(Content::Unset, Content::One);
        Ok(match self.meaning(name) {
            NamerefTarget::Own => one(self.lookup(name)),
            NamerefTarget::Variable(name) => one(self.lookup(&name)),
            NamerefTarget::Element(array, subscript) => match subscript.as_slice() {
                b"@" | b"*" => Content::Many { values: self.elements(&array), star: subscript == b"*" },
                _ => {
                    let key = self.key_of(&array, &crate::parse::subscript_from_text(&subscript))?;
                    one(self.element(&array, &key))
                }
            },
            NamerefTarget::Global(name) => one(self.vars.global(&name).and_then(|var| var.scalar().cloned())),
            NamerefTarget::Nothing(_) | NamerefTarget::Circle => Content::Unset,
        })
    }

    /// Assigns to the target of a reference.
    #[inline(never)]
    pub(crate) fn assign_through(&mut self, name: &Name, key: Key, append: bool, value: Bytes) -> EvalResult<bool> {
        match self.meaning(name) {
            NamerefTarget::Own => self.assign_itself(name, key, append, value),
            NamerefTarget::Variable(name) => self.assign_itself(&name, key, append, value),
            NamerefTarget::Element(array, subscript) => {
                let whole = [&array[..], b"[", &subscript, b"]"].concat();
                let own = self.vars.get(name).and_then(Var::scalar).is_some_and(|target| *target == whole);
                if key != Key::Whole || (own && array == *name) {
                    return Ok(self.reject_name(&whole));
                }
                if self.vars.get(&array).is_some_and(|var| var.has(vars::NAMEREF)) {
                    self.stop_referring(&array);
                }
                if matches!(subscript.as_slice(), b"@" | b"*") {
                    self.report_error([&whole[..], b": bad array subscript"].concat());
                    return Ok(false);
                }
                let key = self.key_of(&array, &crate::parse::subscript_from_text(&subscript))?;
                self.assign_itself(&array, key, append, value)
            }
            NamerefTarget::Nothing(name) if key == Key::Whole => self.refer(&name, value),
            NamerefTarget::Nothing(_) => Ok(self.reject_name(b"")),
            NamerefTarget::Global(name) => {
                let swapped = self.vars.swap_global(&name);
                let assigned = self.assign_itself(&name, key, append, value);
                if swapped {
                    self.vars.swap_global(&name);
                }
                assigned
            }
            NamerefTarget::Circle => Ok(false),
        }
    }

    /// Sets the target of a reference. Returns whether it was allowed.
    pub(crate) fn refer(&mut self, name: &Name, target: Bytes) -> EvalResult<bool> {
        if self.vars.get(name).is_some_and(|var| var.has(vars::READONLY)) {
            return self.may_assign(name);
        }
        if !may_refer(&target) {
            return Ok(self.reject_name(&target));
        }
        self.vars.entry(name).value = Value::Text(target);
        Ok(true)
    }

    /// Reports that text is not a valid name. Returns false.
    pub(crate) fn reject_name(&mut self, text: &[u8]) -> bool {
        let text = [b"`", text, b"': not a valid identifier"].concat();
        if self.builtin.name.is_empty() {
            self.report_error(text)
        } else {
            self.report_builtin_error(text)
        }
        false
    }

    /// Removes the reference attribute of a variable that is assigned to as an array.
    pub(crate) fn stop_referring(&mut self, name: &Name) {
        self.report_error(format!("warning: {}: removing nameref attribute", lossy(name)));
        let var = self.vars.entry(name);
        var.flags &= !vars::NAMEREF;
        var.value = Value::Unset;
    }

    /// The array that a builtin fills; `None` after an error message.
    pub(crate) fn array_to_fill(&mut self, name: &Name) -> Option<Name> {
        if IGNORED_ASSIGNMENTS.contains(&&**name) && !self.computed.unset.contains(&name[..]) {
            return None;
        }
        match self.meaning(name) {
            NamerefTarget::Own | NamerefTarget::Global(_) | NamerefTarget::Circle => Some(Name::clone(name)),
            NamerefTarget::Variable(name) => Some(name),
            NamerefTarget::Nothing(name) => {
                self.stop_referring(&name);
                Some(name)
            }
            NamerefTarget::Element(array, subscript) => {
                self.reject_name(&[&array[..], b"[", &subscript, b"]"].concat());
                None
            }
        }
    }
}
