//! Operators on the values of a parameter.

use super::Content;
use super::label::{shown_index, target_name};
use crate::expand::word::{Out, PartContext};
use crate::ir::{Index, Op, Param, Target};
use crate::state::{EvalResult, Shell};
use crate::vars::Value;

impl Shell {
    /// Applies the operator and adds the result. `content` is the value of the parameter `meant`, which an indirect
    /// expansion does not name itself.
    #[inline(never)]
    pub(super) fn apply(
        &mut self,
        param: &Param,
        meant: (&Target, &Index),
        content: Content,
        out: &mut Out,
        context: PartContext,
    ) -> EvalResult {
        if let Op::Test { .. } = &param.op {
            return self.apply_test(param, meant, content, out, context);
        }
        if let Content::Unset = content
            && self.options.nounset
            && !self.requests_attributes(param, meant.0)
            && !matches!(param.op, Op::Length if matches!(param.index, Index::At | Index::Star))
        {
            return self.report_unset(param);
        }
        let content = match &param.op {
            Op::Length => {
                let length = match &content {
                    Content::Unset => 0,
                    Content::One(text) => crate::expand::op::char_count(text),
                    Content::Many { values, .. } => values.len(),
                };
                return self.emit(length.to_string().as_bytes(), out, context);
            }
            Op::Substring { offset, length } => self.substring(param, meant, content, offset, length.as_ref())?,
            Op::Transform(letter) => self.transform(param, meant, content, *letter)?,
            op => self.edit(content, op)?,
        };
        self.emit_content(content, out, context)
    }

    /// Reports an unset parameter under `set -u`.
    fn report_unset(&mut self, param: &Param) -> EvalResult {
        let name = String::from_utf8_lossy(&target_name(&param.target)).into_owned();
        let index = match &param.index {
            index @ Index::One(_) if !matches!(param.op, Op::Length) => shown_index(index),
            _ => String::new(),
        };
        let plain = !matches!(param.target, Target::Var(_)) && !param.raw.starts_with(b"${");
        let dollar = match param.indirect {
            true => "!",
            false if plain => "$",
            false => "",
        };
        self.abort_unset(format!("{dollar}{name}{index}: unbound variable"))
    }

    /// Returns whether the operator requests the attributes of an array, which exist without an element 0.
    fn requests_attributes(&self, param: &Param, target: &Target) -> bool {
        let (Op::Transform(b'a' | b'A'), Target::Var(name)) = (&param.op, target) else { return false };
        if matches!(param.index, Index::One(_)) {
            return false;
        }
        match self.vars.get(name).map(|var| &var.value) {
            Some(Value::Indexed(map)) => !map.is_empty(),
            Some(Value::Assoc(map)) => map.len() > 0,
            _ => false,
        }
    }
}
