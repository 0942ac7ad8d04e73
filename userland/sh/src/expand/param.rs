//! Parameter expansion: `$name` and all forms of `${..}`.

mod emit;
mod fallback;
mod indirect;
mod label;
mod length;
mod operator;

use super::word::{Out, PartContext};
use crate::ir::{Bytes, Index, Name, Op, Param, Target};
use crate::parse::SyntaxErrorKind;
use crate::state::{EvalResult, Shell};
use crate::vars::{self, Key, Value};
use label::target_name;

/// The value of a parameter.
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
    /// Returns the content with each value changed.
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
    pub(crate) fn expand_param(&mut self, param: &Param, out: &mut Out, context: PartContext) -> EvalResult {
        if let (Target::Var(name), Index::None, false, Op::None) =
            (&param.target, &param.index, param.indirect, &param.op)
            && let Some(var) = self.vars.get(name)
            && !var.has(vars::NAMEREF)
            && let Some(text) = var.scalar()
        {
            let done = if context.quoted { out.quoted(text) } else { out.expanded(self, text) };
            return self.fits(done);
        }
        match &param.op {
            Op::Invalid(_) | Op::Bad => self.report_invalid_expansion(param),
            Op::Names { star } => self.expand_names(param, *star, out, context),
            Op::Keys { star } => self.expand_keys(param, *star, out, context),
            _ if param.indirect => self.expand_indirect(param, out, context),
            Op::Length => self.expand_length(param, out, context),
            _ => self.expand_content(param, out, context),
        }
    }

    /// Expands the value of the parameter with the operator applied.
    fn expand_content(&mut self, param: &Param, out: &mut Out, context: PartContext) -> EvalResult {
        let content = self.content(&param.target, &param.index)?;
        self.apply(param, (&param.target, &param.index), content, out, context)
    }

    /// Reports an invalid expansion, which is an error only when it is expanded.
    #[inline(never)]
    fn report_invalid_expansion(&mut self, param: &Param) -> EvalResult {
        match &param.op {
            Op::Invalid(error) => {
                let message = match error.kind {
                    SyntaxErrorKind::Unclosed(close) => {
                        [b"bad substitution: no closing `", &[close][..], b"' in ", &param.raw].concat()
                    }
                    _ => error.message(),
                };
                self.discard(message)
            }
            // In posix mode this ends a script.
            _ if self.options.posix => self.abort_unset([&param.raw[..], b": bad substitution"].concat()),
            _ => self.discard([&param.raw[..], b": bad substitution"].concat()),
        }
    }

    /// `${!prefix*}` and `${!prefix@}`: the names of variables.
    fn expand_names(&mut self, param: &Param, star: bool, out: &mut Out, context: PartContext) -> EvalResult {
        let prefix = target_name(&param.target);
        let names = self.variable_names().into_iter().filter(|name| name.starts_with(&prefix));
        let names: Vec<_> = names.filter(|name| self.has_value(name)).collect();
        let values: Vec<Bytes> = names.iter().map(|name| name.to_vec()).collect();
        self.emit_content(Content::Many { values, star }, out, context)
    }

    /// `${!name[*]}` and `${!name[@]}`: the keys of an array.
    fn expand_keys(&mut self, param: &Param, star: bool, out: &mut Out, context: PartContext) -> EvalResult {
        let values = match &param.target {
            Target::Var(name) => self.keys(name),
            _ => Vec::new(),
        };
        self.emit_content(Content::Many { values, star }, out, context)
    }

    /// Returns whether a variable, or one that it hides, was given a value. An empty list counts.
    pub(crate) fn has_value(&self, name: &[u8]) -> bool {
        let given = |var: &vars::Var| !matches!(var.value, Value::Unset) && !var.has(vars::BARE);
        self.vars.get(name).is_none_or(given) || self.vars.replaced(name).any(given)
    }

    /// The current value of the parameter.
    pub(crate) fn content(&mut self, target: &Target, index: &Index) -> EvalResult<Content> {
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

    fn content_at(&mut self, name: &Name, key: &Key) -> EvalResult<Content> {
        let found = self.element(name, key);
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
            _ => return Content::One(self.invocation.name.clone()),
        };
        Content::One(text.into_bytes())
    }
}
