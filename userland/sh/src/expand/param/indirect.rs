//! `${!name}`: the value of one parameter names another.

use super::Content;
use super::label::{shown_index, target_name};
use crate::expand::lossy;
use crate::expand::word::{Out, PartContext};
use crate::ir::{Index, Name, Op, Param, Target, Test};
use crate::parse::token::name_len;
use crate::state::{EvalResult, Shell};
use crate::vars::{self, NamerefTarget};

impl Shell {
    /// Expands `${!name}`, whose value is the name of another parameter.
    #[inline(never)]
    pub(super) fn expand_indirect(&mut self, param: &Param, out: &mut Out, context: PartContext) -> EvalResult {
        if let Target::Var(name) = &param.target
            && let Some(var) = self.vars.get(name).filter(|var| var.has(vars::NAMEREF))
            && matches!(param.index, Index::None)
        {
            let target = match self.vars.resolve_nameref(name) {
                NamerefTarget::Variable(target) => Content::One(target.to_vec()),
                _ => match var.scalar() {
                    Some(target) => Content::One(target.clone()),
                    None => return self.discard([&name[..], b": invalid indirect expansion"].concat()),
                },
            };
            return self.apply(param, (&param.target, &param.index), target, out, context);
        }
        let name = match self.content(&param.target, &param.index)? {
            Content::One(name) => name,
            // An unset positional parameter or element names nothing, without an error. The same applies to an empty `$@`.
            Content::Many { values, .. } if values.is_empty() && matches!(param.target, Target::Special(_)) => {
                return self.apply(param, (&param.target, &Index::None), Content::Unset, out, context);
            }
            Content::Many { values, .. } => values.join(&b' '),
            // A variable without a value names no parameter.
            Content::Unset if self.may_be_unset(param) => {
                if matches!(param.op, Op::Test { kind: Test::Assign, .. }) {
                    let message = format!("!{}: invalid indirect expansion", lossy(&target_name(&param.target)));
                    return self.discard(message);
                }
                return self.apply(param, (&param.target, &param.index), Content::Unset, out, context);
            }
            Content::Unset => {
                let index = shown_index(&param.index);
                let message = format!("{}{index}: invalid indirect expansion", lossy(&target_name(&param.target)));
                return self.discard(message);
            }
        };
        let Some((target, index)) = self.reference(&name)? else {
            return self.discard(format!("{}: invalid variable name", lossy(&name)));
        };
        let content = self.content(&target, &index)?;
        self.apply(param, (&target, &index), content, out, context)
    }

    fn may_be_unset(&self, param: &Param) -> bool {
        match (&param.target, &param.index) {
            (Target::Positional(_), _) => true,
            (Target::Var(name), Index::None | Index::One(_)) => match self.vars.resolve_nameref(name) {
                NamerefTarget::Own => self.vars.get(name).is_some() || self.vars.is_local(name),
                NamerefTarget::Variable(meant) => self.vars.get(&meant).is_some(),
                _ => false,
            },
            _ => false,
        }
    }

    /// The parameter that text names: a name, a name with subscript, a number, a special one.
    pub(super) fn reference(&mut self, text: &[u8]) -> EvalResult<Option<(Target, Index)>> {
        if let [byte @ (b'@' | b'*' | b'#' | b'?' | b'-' | b'$' | b'!' | b'0')] = text {
            return Ok(Some((Target::Special(*byte), Index::None)));
        }
        let zeros = text.iter().take_while(|&&byte| byte == b'0').count();
        let digits = text.get(zeros..).unwrap_or_default();
        if let Some(number) = crate::parse::plain_number(digits).and_then(|n| usize::try_from(n).ok()) {
            return Ok(Some((Target::Positional(number), Index::None)));
        }
        if text.first().is_some_and(u8::is_ascii_digit) && text.iter().all(u8::is_ascii_digit) {
            return Ok(Some((Target::Positional(usize::MAX), Index::None)));
        }
        let len = name_len(text);
        let name: Name = text.get(..len).unwrap_or_default().into();
        match text.get(len..).unwrap_or_default() {
            _ if len == 0 => Ok(None),
            b"" => Ok(Some((Target::Var(name), Index::None))),
            b"[@]" => Ok(Some((Target::Var(name), Index::At))),
            b"[*]" => Ok(Some((Target::Var(name), Index::Star))),
            [b'[', key @ .., b']'] => {
                let subscript = crate::parse::subscript_from_text(key);
                Ok(Some((Target::Var(name), Index::One(subscript))))
            }
            _ => Ok(None),
        }
    }
}
