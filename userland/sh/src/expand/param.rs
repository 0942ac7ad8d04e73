//! Parameter expansion: `$name` and everything that can stand between the braces of `${..}`.

mod emit;
mod fallback;
mod indirect;
mod label;
mod length;
mod operator;

use super::word::{Out, Place};
use crate::ir::{Bytes, Index, Name, Op, Param, Target};
use crate::state::{Run, Shell, Stop};
use crate::vars::{self, Key, Value};
use label::target_name;

/// What a parameter holds.
#[derive(Debug)]
pub(crate) enum Content {
    Unset,
    One(Bytes),
    /// Several values; `star` joins them between double quotes.
    Many {
        values: Vec<Bytes>,
        star: bool,
    },
}

impl Content {
    /// The same with each value changed.
    pub(super) fn each(self, mut change: impl FnMut(&[u8]) -> Bytes) -> Self {
        match self {
            Self::Unset => Self::Unset,
            Self::One(text) => Self::One(change(&text)),
            Self::Many { values, star } => {
                Self::Many { values: values.iter().map(|value| change(value)).collect(), star }
            }
        }
    }
}

impl Shell {
    #[inline(never)]
    pub(crate) fn expand_param(&mut self, param: &Param, out: &mut Out, place: Place) -> Run {
        if let (Target::Var(name), Index::None, false, Op::None) =
            (&param.target, &param.index, param.indirect, &param.op)
            && let Some(var) = self.vars.get(name)
            && !var.has(vars::NAMEREF)
            && let Some(text) = var.scalar()
        {
            let done = if place.quoted { out.quoted(text) } else { out.expanded(self, text) };
            return self.fits(done);
        }
        match &param.op {
            Op::Unclosed(_) | Op::Broken(_) | Op::Bad => self.refuse_param(param),
            Op::Names { star } => self.expand_names(param, *star, out, place),
            Op::Keys { star } => self.expand_keys(param, *star, out, place),
            _ if param.indirect => self.expand_indirect(param, out, place),
            Op::Length => self.expand_length(param, out, place),
            _ => self.expand_content(param, out, place),
        }
    }

    /// What the parameter holds, with the operator applied to it.
    fn expand_content(&mut self, param: &Param, out: &mut Out, place: Place) -> Run {
        let content = self.content(&param.target, &param.index)?;
        self.apply(param, (&param.target, &param.index), content, out, place)
    }

    /// What is no parameter at all, which only shows when its turn comes.
    #[inline(never)]
    fn refuse_param(&mut self, param: &Param) -> Run {
        match &param.op {
            Op::Unclosed(byte) => {
                let close = if *byte == b'`' { b"\"`\"".to_vec() } else { vec![b'`', *byte, b'\''] };
                let message = [&b"bad substitution: no closing "[..], &close, b" in ", &param.raw].concat();
                self.discard(message)
            }
            Op::Broken(broken) => {
                self.warn_of_unfinished(&broken.unfinished, broken.start, self.line.saturating_add(1));
                let error = broken.error.moved(broken.start, self.line.saturating_add(1));
                self.syntax_error(&error, &broken.shown, b"command substitution");
                self.status = 1;
                Err(Stop::Discard)
            }
            // POSIX calls that a mistake of the language, which ends a script.
            _ if self.options.posix => self.abort_unset([&param.raw[..], b": bad substitution"].concat()),
            _ => self.discard_expansion([&param.raw[..], b": bad substitution"].concat()),
        }
    }

    /// `${!prefix*}` and `${!prefix@}`: the names of variables.
    fn expand_names(&mut self, param: &Param, star: bool, out: &mut Out, place: Place) -> Run {
        let prefix = target_name(&param.target);
        let names = self.variable_names().into_iter().filter(|name| name.starts_with(&prefix));
        let names: Vec<_> = names.filter(|name| self.has_value(name)).collect();
        let values: Vec<Bytes> = names.iter().map(|name| name.to_vec()).collect();
        if star && !place.quoted && out.mode == super::Mode::Fields && self.ifs().is_empty() {
            return self.emit(&values.concat(), out, place);
        }
        self.emit_edited(&param.op, Content::Many { values, star }, out, place)
    }

    /// `${!name[*]}` and `${!name[@]}`: the keys of an array.
    fn expand_keys(&mut self, param: &Param, star: bool, out: &mut Out, place: Place) -> Run {
        let values = match &param.target {
            Target::Var(name) => self.keys(name),
            _ => Vec::new(),
        };
        if self.joins_unsplit(&param.op, &param.target, out, place) {
            return self.emit(&values.join(&b' '), out, place);
        }
        self.emit_edited(&param.op, Content::Many { values, star }, out, place)
    }

    /// Whether a variable was given a value, be it an empty list, or one that it hides was.
    pub(crate) fn has_value(&self, name: &[u8]) -> bool {
        let given = |var: &vars::Var| !matches!(var.value, Value::Unset) && !var.has(vars::BARE);
        self.vars.get(name).is_none_or(given) || self.vars.replaced(name).any(given)
    }

    /// What the parameter holds now.
    pub(crate) fn content(&mut self, target: &Target, index: &Index) -> Run<Content> {
        let one = |text: Option<Bytes>| text.map_or(Content::Unset, Content::One);
        Ok(match (target, index) {
            (Target::Var(name), Index::None) => {
                if self.vars.get(name).is_some_and(|var| var.has(vars::NAMEREF)) {
                    return self.content_of_reference(name);
                }
                one(self.lookup(name))
            }
            (Target::Var(name), Index::At | Index::Star) => {
                Content::Many { values: self.elements(name), star: matches!(index, Index::Star) }
            }
            (Target::Var(name), Index::One(subscript)) => {
                let key = self.key_of(name, subscript)?;
                return self.content_at(name, &key);
            }
            (Target::Positional(number), _) => one(self.positional.get(number.wrapping_sub(1)).cloned()),
            (Target::Special(byte), _) => self.special(*byte),
        })
    }

    fn content_at(&mut self, name: &Name, key: &Key) -> Run<Content> {
        let found = self.element(name, key);
        if found.is_none() && self.options.errexit && self.is_no_place(name, key) {
            return Err(self.end_of_refusal());
        }
        Ok(found.map_or(Content::Unset, Content::One))
    }

    fn special(&mut self, byte: u8) -> Content {
        let text = match byte {
            b'@' | b'*' => {
                return Content::Many { values: self.positional.to_vec(), star: byte == b'*' };
            }
            b'#' => self.positional.len().to_string(),
            b'?' => self.status.to_string(),
            b'$' => self.own_pid().to_string(),
            b'!' => match self.jobs.last_pid {
                Some(pid) => pid.to_string(),
                None => return Content::Unset,
            },
            b'-' => return Content::One(self.options.letters()),
            _ => return Content::One(self.name.clone()),
        };
        Content::One(text.into_bytes())
    }
}
