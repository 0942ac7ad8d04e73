//! Name references: variables whose value names the variable that is meant.

use super::lossy;
use super::param::Content;
use crate::ir::{Bytes, Name};
use crate::parse::token::name_len;
use crate::state::{Run, Shell};
use crate::vars::{self, Key, Meant, Value};

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

impl Shell {
    /// What a name means; complains when references go round in a circle.
    pub(crate) fn meaning(&mut self, name: &[u8]) -> Meant {
        let meant = self.vars.meant(name);
        let times = match meant {
            Meant::Circle => 1,
            // bash follows it twice.
            Meant::Global(_) => 2,
            _ => 0,
        };
        for _ in 0..times {
            self.complain(format!("warning: {}: circular name reference", lossy(name)));
        }
        meant
    }

    /// The variable that a name means, where an element of an array will not do.
    pub(crate) fn variable_meant(&mut self, name: &[u8]) -> Option<Name> {
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
                if key != Key::Whole {
                    return Ok(self.refuse_name(&whole));
                }
                if matches!(subscript.as_slice(), b"@" | b"*") {
                    self.complain([&whole[..], b": bad array subscript"].concat());
                    return Ok(false);
                }
                let key = self.key_of(&array, &crate::parse::subscript_from_text(&subscript))?;
                self.assign_itself(&array, key, append, value)
            }
            Meant::Nothing(name) if key == Key::Whole => Ok(self.refer(&name, value)),
            Meant::Nothing(_) => Ok(self.refuse_name(b"")),
            Meant::Global(name) => {
                let swapped = self.vars.swap_global(&name);
                self.vars.entry(&name).value = Value::Text(value);
                if swapped {
                    self.vars.swap_global(&name);
                }
                Ok(true)
            }
            Meant::Circle => Ok(false),
        }
    }

    /// Makes a reference refer to what `target` names; says whether that was allowed.
    pub(crate) fn refer(&mut self, name: &Name, target: Bytes) -> bool {
        if self.vars.get(name).is_some_and(|var| var.has(vars::READONLY)) {
            return self.may_assign(name);
        }
        if !may_refer(&target) {
            return self.refuse_name(&target);
        }
        self.vars.entry(name).value = Value::Text(target);
        true
    }

    /// Complains that text is no name; answers false.
    pub(crate) fn refuse_name(&mut self, text: &[u8]) -> bool {
        self.complain([b"`", text, b"': not a valid identifier"].concat());
        false
    }
}
