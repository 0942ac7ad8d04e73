//! Name references: variables whose value names the variable that is meant.

use super::lossy;
use super::param::Content;
use crate::ir::{Bytes, Name};
use crate::parse::token::name_len;
use crate::state::{Run, Shell};
use crate::vars::{self, Key, Meant, Value, Var};

/// Whether text may be what a reference refers to: a name, or an element of an array.
pub(crate) fn may_refer(text: &[u8]) -> bool {
    let len = name_len(text);
    match text.get(len..).unwrap_or_default() {
        _ if len == 0 => false,
        b"" => true,
        [b'[', subscript @ .., b']'] => !subscript.is_empty(),
        _ => false,
    }
}

/// Lists that the shell makes, which nobody can fill and nobody is told so.
const ASSIGNED_BY_NOBODY: [&[u8]; 6] =
    [b"FUNCNAME", b"BASH_SOURCE", b"BASH_LINENO", b"BASH_ARGC", b"BASH_ARGV", b"GROUPS"];

impl Shell {
    /// What a name means; complains when references go round in a circle.
    pub(crate) fn meaning(&mut self, name: &[u8]) -> Meant {
        let meant = self.vars.meant(name);
        if matches!(meant, Meant::Circle | Meant::Global(_)) {
            self.complain(format!("warning: {}: circular name reference", lossy(name)));
        }
        meant
    }

    /// The variable that a name means, where an element of an array will not do.
    pub(crate) fn variable_meant(&self, name: &[u8]) -> Option<Name> {
        match self.vars.meant(name) {
            Meant::Own => Some(name.into()),
            Meant::Variable(name) => Some(name),
            _ => None,
        }
    }

    /// What a reference holds.
    #[inline(never)]
    pub(crate) fn content_of_reference(&mut self, name: &[u8]) -> Run<Content> {
        let one = |text: Option<Bytes>| text.map_or(Content::Unset, Content::One);
        Ok(match self.meaning(name) {
            Meant::Own => one(self.lookup(name)),
            Meant::Variable(name) => one(self.lookup(&name)),
            Meant::Element(array, subscript) => match subscript.as_slice() {
                b"@" | b"*" => Content::Many { values: self.elements(&array), star: subscript == b"*" },
                _ => {
                    let key = self.key_of(&array, &crate::parse::subscript_from_text(&subscript))?;
                    one(self.element(&array, &key))
                }
            },
            Meant::Global(name) => one(self.vars.global(&name).and_then(|var| var.scalar().cloned())),
            Meant::Nothing(_) | Meant::Circle => Content::Unset,
        })
    }

    /// Assigns to what a reference means.
    #[inline(never)]
    pub(crate) fn assign_through(&mut self, name: &Name, key: Key, append: bool, value: Bytes) -> Run<bool> {
        match self.meaning(name) {
            Meant::Own => self.assign_itself(name, key, append, value),
            Meant::Variable(name) => self.assign_itself(&name, key, append, value),
            Meant::Element(array, subscript) => {
                let whole = [&array[..], b"[", &subscript, b"]"].concat();
                let own = self.vars.get(name).and_then(Var::scalar).is_some_and(|target| *target == whole);
                if key != Key::Whole || (own && array == *name) {
                    return Ok(self.refuse_name(&whole));
                }
                if self.vars.get(&array).is_some_and(|var| var.has(vars::NAMEREF)) {
                    self.stop_referring(&array);
                }
                if matches!(subscript.as_slice(), b"@" | b"*") {
                    self.refuse([&whole[..], b": bad array subscript"].concat())?;
                    return Ok(false);
                }
                let key = self.key_of(&array, &crate::parse::subscript_from_text(&subscript))?;
                self.assign_itself(&array, key, append, value)
            }
            Meant::Nothing(name) if key == Key::Whole => self.refer(&name, value),
            Meant::Nothing(_) => Ok(self.refuse_name(b"")),
            Meant::Global(name) => {
                let swapped = self.vars.swap_global(&name);
                let assigned = self.assign_itself(&name, key, append, value);
                if swapped {
                    self.vars.swap_global(&name);
                }
                assigned
            }
            Meant::Circle => Ok(false),
        }
    }

    /// Makes a reference refer to what `target` names; says whether that was allowed.
    pub(crate) fn refer(&mut self, name: &Name, target: Bytes) -> Run<bool> {
        if self.vars.get(name).is_some_and(|var| var.has(vars::READONLY)) {
            return self.may_assign(name);
        }
        if !may_refer(&target) {
            return Ok(self.refuse_name(&target));
        }
        self.vars.entry(name).value = Value::Text(target);
        Ok(true)
    }

    /// Complains that text is no name; answers false.
    pub(crate) fn refuse_name(&mut self, text: &[u8]) -> bool {
        let text = [b"`", text, b"': not a valid identifier"].concat();
        if self.running.is_empty() {
            self.complain(text)
        } else {
            self.complain_builtin(text)
        }
        false
    }

    /// A reference that is assigned to as an array is none any more.
    pub(crate) fn stop_referring(&mut self, name: &Name) {
        self.complain(format!("warning: {}: removing nameref attribute", lossy(name)));
        let var = self.vars.entry(name);
        var.flags &= !vars::NAMEREF;
        var.value = Value::Unset;
    }

    /// The array that a builtin is to fill; `None` after a complaint.
    pub(crate) fn array_to_fill(&mut self, name: &Name) -> Option<Name> {
        if ASSIGNED_BY_NOBODY.contains(&&**name) && !self.plain.contains(&name[..]) {
            return None;
        }
        match self.meaning(name) {
            Meant::Own | Meant::Global(_) | Meant::Circle => Some(Name::clone(name)),
            Meant::Variable(name) => Some(name),
            Meant::Nothing(name) => {
                self.stop_referring(&name);
                Some(name)
            }
            Meant::Element(array, subscript) => {
                self.refuse_name(&[&array[..], b"[", &subscript, b"]"].concat());
                None
            }
        }
    }
}
