//! `${x:offset:length}`, of a text, of the positional parameters or of an array.

use std::collections::BTreeMap;
use std::ops::Range;

use super::op::{char_count, char_range};
use super::param::Content;
use crate::ir::{Arith, Bytes, Index, Param, Target};
use crate::state::{EvalResult, Shell};
use crate::vars::Value;

/// The requested range.
#[derive(Clone, Copy)]
struct Slice<'a> {
    offset: i64,
    /// The length and its expression.
    length: Option<(i64, &'a Arith)>,
}

impl Shell {
    /// Applies `:offset:length` to `content`, which is the value of `target` and `index`.
    pub(crate) fn substring(
        &mut self,
        param: &Param,
        (target, index): (&Target, &Index),
        content: Content,
        offset: &Arith,
        length: Option<&Arith>,
    ) -> EvalResult<Content> {
        match &content {
            Content::Unset => return Ok(content),
            Content::Many { values, .. } if values.is_empty() && matches!(target, Target::Var(_)) => {
                return Ok(content);
            }
            _ => {}
        }
        let offset = self.evaluate_for(param, offset)?;
        let length = match length {
            Some(length) => Some((self.evaluate_for(param, length)?, length)),
            None => None,
        };
        let slice = Slice { offset, length };
        match content {
            Content::Unset => Ok(Content::Unset),
            Content::One(text) => self.slice_of_text(&text, slice),
            Content::Many { values, star } => self.slice_of_values(values, star, (target, index), slice),
        }
    }

    fn slice_of_text(&mut self, text: &[u8], slice: Slice<'_>) -> EvalResult<Content> {
        let range = self.bounds(char_count(text), slice, true)?;
        Ok(range.map_or(Content::Unset, |range| Content::One(char_range(text, range.start, range.end).to_vec())))
    }

    fn slice_of_values(
        &mut self,
        mut values: Vec<Bytes>,
        star: bool,
        (target, index): (&Target, &Index),
        slice: Slice<'_>,
    ) -> EvalResult<Content> {
        let is_all = matches!(index, Index::At | Index::Star);
        let values = match self.target_value(target) {
            // A scalar variable stays a text, even if all its elements are requested.
            Some(Value::Text(_)) => {
                return self.slice_of_text(&values.concat(), slice);
            }
            Some(Value::Indexed(map)) if is_all => {
                let found = elements_from(map, slice.offset);
                if found.is_empty() { found } else { self.first_of(found, slice)? }
            }
            _ => {
                if matches!(target, Target::Special(_)) {
                    values.insert(0, self.invocation.name.clone());
                }
                let range = self.bounds(values.len(), slice, false)?;
                range.and_then(|range| values.get(range)).unwrap_or_default().to_vec()
            }
        };
        Ok(Content::Many { values, star })
    }

    /// The requested number of values.
    fn first_of(&mut self, mut values: Vec<Bytes>, slice: Slice<'_>) -> EvalResult<Vec<Bytes>> {
        match slice.length {
            Some((length, expression)) if length < 0 => return self.reject_length(expression),
            Some((length, _)) => values.truncate(usize::try_from(length).unwrap_or(usize::MAX)),
            None => {}
        }
        Ok(values)
    }

    fn reject_length<T>(&mut self, expression: &Arith) -> EvalResult<T> {
        self.discard([&expression.text.raw[..], b": substring expression < 0"].concat())
    }

    /// The value of the target variable, if the target is a variable.
    fn target_value(&self, target: &Target) -> Option<&Value> {
        let Target::Var(name) = target else { return None };
        let name = self.target_variable(name)?;
        self.vars.get(&name).map(|var| &var.value)
    }

    /// The range within `count` characters or values; `None` if the start is outside.
    fn bounds(&mut self, count: usize, slice: Slice<'_>, is_text: bool) -> EvalResult<Option<Range<usize>>> {
        let count = i64::try_from(count).unwrap_or(i64::MAX);
        let from = if slice.offset < 0 { slice.offset.saturating_add(count) } else { slice.offset };
        if from < 0 || from > count {
            return Ok(None);
        }
        let to = match slice.length {
            None => count,
            Some((length, expression)) if length < 0 => {
                let to = count.saturating_add(length);
                if !is_text || to < from {
                    return self.reject_length(expression);
                }
                to
            }
            Some((length, _)) => from.saturating_add(length).min(count),
        };
        Ok(Some(usize::try_from(from).unwrap_or(0)..usize::try_from(to).unwrap_or(0)))
    }
}

/// The elements starting at an offset. Offsets into sparse arrays are subscripts.
fn elements_from(map: &BTreeMap<u64, Bytes>, offset: i64) -> Vec<Bytes> {
    super::position(map, offset)
        .map(|from| map.range(from..).map(|(_, value)| value.clone()).collect())
        .unwrap_or_default()
}
