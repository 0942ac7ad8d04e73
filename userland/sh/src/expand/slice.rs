//! `${x:offset:length}`, of a text, of the positional parameters or of an array.

use std::collections::BTreeMap;
use std::ops::Range;

use super::op::{char_count, char_range};
use super::param::Content;
use crate::ir::{Arith, Bytes, Index, Param, Target};
use crate::state::{Run, Shell};
use crate::vars::Value;

/// The stretch that is asked for.
#[derive(Clone, Copy)]
struct Slice<'a> {
    offset: i64,
    /// How long it is, and the expression that says so.
    length: Option<(i64, &'a Arith)>,
}

impl Shell {
    /// `target` and `index` are what `content` is of.
    pub(crate) fn substring(
        &mut self,
        param: &Param,
        (target, index): (&Target, &Index),
        content: Content,
        offset: &Arith,
        length: Option<&Arith>,
    ) -> Run<Content> {
        match &content {
            Content::Unset => return Ok(content),
            Content::Many { values, .. } if values.is_empty() && matches!(target, Target::Var(_)) => {
                return Ok(content);
            }
            _ => {}
        }
        let offset = self.evaluate_for(param, offset)?;
        // Nobody looks at the length of what begins beyond the end.
        let length = match length {
            Some(length) if !self.is_beyond(offset, &content, target) => {
                Some((self.evaluate_for(param, length)?, length))
            }
            _ => None,
        };
        let slice = Slice { offset, length };
        match content {
            Content::Unset => Ok(Content::Unset),
            Content::One(text) => self.slice_of_text(&text, slice),
            Content::Many { values, star } => self.slice_of_values(values, star, (target, index), slice),
        }
    }

    fn slice_of_text(&mut self, text: &[u8], slice: Slice<'_>) -> Run<Content> {
        let range = self.bounds(char_count(text), slice, true)?;
        Ok(range.map_or(Content::Unset, |range| Content::One(char_range(text, range.start, range.end).to_vec())))
    }

    fn slice_of_values(
        &mut self,
        mut values: Vec<Bytes>,
        star: bool,
        (target, index): (&Target, &Index),
        slice: Slice<'_>,
    ) -> Run<Content> {
        let is_all = matches!(index, Index::At | Index::Star);
        let values = match self.value_meant(target) {
            // A plain variable stays a text, also where all its elements are asked for.
            Some(Value::Text(_)) => {
                let text = values.concat();
                // Beyond its ends there is no element, not even an empty one.
                if star || slice.offset.unsigned_abs() <= char_count(&text) as u64 {
                    return self.slice_of_text(&text, slice);
                }
                Vec::new()
            }
            Some(Value::Indexed(map)) if is_all => {
                let found = elements_from(map, slice.offset);
                if found.is_empty() { found } else { self.first_of(found, slice)? }
            }
            Some(Value::Assoc(_)) if is_all => self.slice_of_entries(values, slice)?,
            _ => {
                if matches!(target, Target::Special(_)) {
                    values.insert(0, self.name.clone());
                }
                let range = self.bounds(values.len(), slice, false)?;
                range.and_then(|range| values.get(range)).unwrap_or_default().to_vec()
            }
        };
        Ok(Content::Many { values, star })
    }

    /// Of an associative array the first value has the number 1 here, and nothing the number 0.
    fn slice_of_entries(&mut self, mut values: Vec<Bytes>, slice: Slice<'_>) -> Run<Vec<Bytes>> {
        let whole = Slice { length: None, ..slice };
        let Some(range) = self.bounds(values.len() + 1, whole, false)? else { return Ok(Vec::new()) };
        let from = range.start.max(1) - 1;
        if from >= values.len() {
            return Ok(Vec::new());
        }
        let found = values.split_off(from);
        // bash has taken one before it counts.
        let length = slice.length.map(|(length, expression)| (if length == 0 { 1 } else { length }, expression));
        self.first_of(found, Slice { length, ..slice })
    }

    /// As many of them as are asked for.
    fn first_of(&mut self, mut values: Vec<Bytes>, slice: Slice<'_>) -> Run<Vec<Bytes>> {
        match slice.length {
            Some((length, expression)) if length < 0 => return self.refuse_length(expression),
            Some((length, _)) => values.truncate(usize::try_from(length).unwrap_or(usize::MAX)),
            None => {}
        }
        Ok(values)
    }

    fn refuse_length<T>(&mut self, expression: &Arith) -> Run<T> {
        self.discard([&expression.text.raw[..], b": substring expression < 0"].concat())
    }

    /// The value of the variable that is meant, if it is one.
    fn value_meant(&self, target: &Target) -> Option<&Value> {
        let Target::Var(name) = target else { return None };
        let name = self.variable_meant(name)?;
        self.vars.get(&name).map(|var| &var.value)
    }

    /// Whether nothing of the content has this place, not even its end.
    fn is_beyond(&self, offset: i64, content: &Content, target: &Target) -> bool {
        let count = match (content, target) {
            (Content::Unset, _) => 0,
            (Content::One(text), _) => char_count(text),
            (Content::Many { values, .. }, Target::Special(_)) => values.len() + 1,
            (Content::Many { values, .. }, Target::Positional(_)) => values.len(),
            (Content::Many { values, .. }, Target::Var(_)) => match self.value_meant(target) {
                // Of a place behind the last one nothing begins either.
                Some(Value::Indexed(map)) => {
                    return super::position(map, offset).is_none_or(|at| map.range(at..).next().is_none());
                }
                // The first one has the number 1.
                Some(Value::Assoc(map)) => map.len() + 1,
                Some(Value::Text(_)) => values.iter().map(|text| char_count(text)).sum(),
                _ => values.len(),
            },
        };
        let count = i64::try_from(count).unwrap_or(i64::MAX);
        if offset < 0 { offset.saturating_add(count) < 0 } else { offset > count }
    }

    /// The places within `count` characters or values; `None` when the start lies outside.
    fn bounds(&mut self, count: usize, slice: Slice<'_>, is_text: bool) -> Run<Option<Range<usize>>> {
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
                    return self.refuse_length(expression);
                }
                to
            }
            Some((length, _)) => from.saturating_add(length).min(count),
        };
        Ok(Some(usize::try_from(from).unwrap_or(0)..usize::try_from(to).unwrap_or(0)))
    }
}

/// The elements from a place on: offsets into sparse arrays are subscripts, not places.
fn elements_from(map: &BTreeMap<u64, Bytes>, offset: i64) -> Vec<Bytes> {
    super::position(map, offset)
        .map(|from| map.range(from..).map(|(_, value)| value.clone()).collect())
        .unwrap_or_default()
}
