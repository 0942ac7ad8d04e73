//! What an operator makes of the values of a parameter.

use super::Content;
use super::label::{shown_index, target_name};
use crate::expand::word::{Out, Place};
use crate::ir::{Bytes, Index, Op, Param, Target};
use crate::state::{Run, Shell};
use crate::vars::{Meant, Value};

impl Shell {
    /// Applies the operator and adds the result. `meant` is the parameter that `content` is of, which an indirect one
    /// does not name itself.
    #[inline(never)]
    pub(super) fn apply(
        &mut self,
        param: &Param,
        meant: (&Target, &Index),
        content: Content,
        out: &mut Out,
        place: Place,
    ) -> Run {
        if let Op::Test { .. } = &param.op {
            return self.apply_test(param, meant, content, out, place);
        }
        if let Content::Unset = content
            && self.options.nounset
            && !self.is_element_reference(param)
            && !self.tells_attributes(param, meant.0)
            && !matches!(param.op, Op::Length if matches!(param.index, Index::At | Index::Star))
        {
            return self.refuse_unset(param);
        }
        out.nothing = out.among_elements && leaves_nothing(&param.op, &content);
        match &param.op {
            Op::None => self.emit_own(param, content, out, place),
            // Beside elements an operator on nothing makes no word.
            Op::Substring { .. } | Op::Replace { .. } | Op::Case { .. }
                if out.among_elements && place.quoted && matches!(content, Content::Unset) =>
            {
                Ok(())
            }
            Op::Length => {
                let length = self.length_of(param, &content);
                self.emit(length.to_string().as_bytes(), out, place)
            }
            Op::Substring { offset, length } => {
                let content = self.substring(param, meant, content, offset, length.as_ref())?;
                let content = if out.loses_marks && !place.quoted { without_marks(content) } else { content };
                out.nothing |= matches!(content, Content::Unset);
                self.emit_edited(&param.op, content, out, place)
            }
            Op::Transform(letter) => {
                let content = match content {
                    // In a value that is assigned they are joined in any case.
                    Content::Many { values, star } => {
                        Content::Many { values, star: star || self.joins_edited(&param.op, out, place) }
                    }
                    other => other,
                };
                let content = self.transform(param, meant, content, *letter)?;
                self.emit_edited(&param.op, content, out, place)
            }
            _ => self.apply_edit(param, meant.0, content, out, place),
        }
    }

    /// `${#name}`.
    fn length_of(&self, param: &Param, content: &Content) -> usize {
        match content {
            // bash looks for a variable that is called like the element.
            _ if self.is_element_reference(param) => 0,
            Content::Unset => 0,
            Content::One(text) => crate::expand::op::char_count(text),
            Content::Many { values, .. } => values.len(),
        }
    }

    /// Applies an operator that edits every value by a pattern.
    fn apply_edit(&mut self, param: &Param, meant: &Target, content: Content, out: &mut Out, place: Place) -> Run {
        let op = &param.op;
        let unedited = matches!((op, meant), (Op::Strip { pattern, .. }, Target::Var(_)) if pattern.raw.is_empty());
        let content = match self.edit(content, op, place.quoted || out.document)? {
            Content::Many { values, .. } if self.joins_unsplit(op, meant, out, place) => {
                Content::One(values.join(&b' '))
            }
            other => other,
        };
        match (op, &param.target) {
            _ if unedited => self.emit_content(content, out, place),
            (Op::Case { .. }, _) | (Op::Replace { .. }, Target::Var(_))
                if !out.among_elements && !self.joins_edited(op, out, place) =>
            {
                self.emit_content(content, out, place)
            }
            _ => self.emit_edited(op, content, out, place),
        }
    }

    /// The end of an expansion of what is not set, under `set -u`.
    fn refuse_unset(&mut self, param: &Param) -> Run {
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

    /// Whether the operator asks for the attributes of an array, which are there without an element 0.
    fn tells_attributes(&self, param: &Param, target: &Target) -> bool {
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

    /// Whether the parameter is a reference to an element of an array.
    fn is_element_reference(&self, param: &Param) -> bool {
        match (&param.target, &param.index) {
            (Target::Var(name), Index::None) => matches!(self.vars.meant(name), Meant::Element(..)),
            _ => false,
        }
    }
}

/// Whether an operator that finds this makes no word of it beside elements that are not there.
fn leaves_nothing(op: &Op, content: &Content) -> bool {
    match (op, content) {
        (_, Content::Unset) | (Op::Transform(b'a'), Content::One(_)) => true,
        (Op::Strip { .. } | Op::Transform(b'P'), Content::One(text)) => text.is_empty(),
        (Op::Strip { .. } | Op::Transform(_), Content::Many { .. }) => true,
        _ => false,
    }
}

/// A list for `*` without the two bytes that bash marks quotes with, which it takes for such marks where the list is cut
/// for a value.
fn without_marks(content: Content) -> Content {
    match content {
        Content::Many { values, star: true } => {
            Content::Many { values: values.iter().map(|value| without_marks_in(value)).collect(), star: true }
        }
        other => other,
    }
}

/// One mark goes, and the other before what it protects.
fn without_marks_in(value: &[u8]) -> Bytes {
    let mut out = Bytes::with_capacity(value.len());
    let mut bytes = value.iter().copied();
    while let Some(byte) = bytes.next() {
        match byte {
            // At the end there is nothing that it could protect.
            1 => out.push(bytes.next().unwrap_or(byte)),
            127 => {}
            _ => out.push(byte),
        }
    }
    out
}
