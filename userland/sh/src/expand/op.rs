//! Operators of parameter expansion that edit text.

use super::case::{self, Case};
use super::param::Content;
use crate::character::char_len;
use crate::ir::{Arith, Bytes, Index, Op, Param, Replace, Target, Word};
use crate::pattern::{Pattern, Style};
use crate::state::{Run, Shell};
use crate::vars::Value;

/// Characters of a text; bytes that are no UTF-8 count one by one.
pub(crate) fn char_count(text: &[u8]) -> usize {
    if text.is_ascii() {
        return text.len();
    }
    let (mut at, mut count) = (0, 0);
    while at < text.len() {
        at += char_len(text.get(at..).unwrap_or_default()).max(1);
        count += 1;
    }
    count
}

/// The bytes of characters `from..to`.
fn char_range(text: &[u8], from: usize, to: usize) -> &[u8] {
    if text.is_ascii() {
        return text.get(from.min(text.len())..to.min(text.len())).unwrap_or_default();
    }
    let (mut at, mut count, mut start) = (0, 0, text.len());
    while at < text.len() && count < to {
        if count == from {
            start = at;
        }
        at += char_len(text.get(at..).unwrap_or_default()).max(1);
        count += 1;
    }
    text.get(start.min(at)..at).unwrap_or_default()
}

/// What an operator does to one value.
type Edit = Box<dyn Fn(&[u8]) -> Bytes>;

impl Shell {
    pub(crate) fn pattern_style(&self) -> Style {
        Style { extended: self.options.extglob, fold: self.options.nocasematch }
    }

    fn compile(&mut self, word: &Word, fold: bool, quoted: bool) -> Run<Pattern> {
        let text = self.expand_operator_pattern(word, quoted)?;
        Ok(Pattern::new(&text, Style { extended: self.options.extglob, fold }))
    }

    /// Applies an operator to each value of a parameter, which stands between double quotes if `quoted`.
    pub(crate) fn edit(&mut self, content: Content, op: &Op, quoted: bool) -> Run<Content> {
        let fold = self.options.nocasematch;
        match &content {
            // Where there is nothing to edit, pattern and replacement are not expanded either.
            Content::Unset => return Ok(content),
            Content::Many { values, .. } if values.is_empty() => return Ok(content),
            Content::One(text) if text.is_empty() && matches!(op, Op::Strip { .. }) => return Ok(content),
            _ => {}
        }
        let edit: Edit = match op {
            Op::Strip { suffix, longest, pattern } => {
                let pattern = self.compile(pattern, false, quoted)?;
                let (suffix, longest) = (*suffix, *longest);
                Box::new(move |text| pattern.within(text, || strip(&pattern, text, suffix, longest).to_vec()))
            }
            Op::Replace { how, pattern, with } => {
                let pattern = self.compile(pattern, fold, quoted)?;
                let (with, amp) = self.replacement(with)?;
                let how = *how;
                Box::new(move |text| {
                    // Characters of the text stay whole here.
                    let whole: &[u8] = if matches!(how, Replace::First | Replace::All) { b"" } else { text };
                    pattern.within(whole, || replace(&pattern, text, how, &with, amp))
                })
            }
            Op::Case { how, all, pattern } => {
                let pattern = match pattern {
                    Some(word) => Some(self.compile(word, false, quoted)?),
                    None => None,
                };
                let all = *all;
                let case = match how {
                    b'^' => Case::Upper,
                    b',' => Case::Lower,
                    _ => Case::Other,
                };
                Box::new(move |text| {
                    case::change(text, |char, first| {
                        let matches = pattern.as_ref().is_none_or(|pattern| pattern.matches(char));
                        (matches && (first || all)).then_some(case)
                    })
                })
            }
            _ => return Ok(content),
        };
        Ok(match content {
            Content::Unset => Content::Unset,
            Content::One(text) => Content::One(edit(&text)),
            Content::Many { values, star } => {
                Content::Many { values: values.iter().map(|value| edit(value)).collect(), star }
            }
        })
    }

    /// The text after the second slash; whether `&` in it stands for what matched.
    fn replacement(&mut self, with: &Word) -> Run<(Bytes, bool)> {
        if self.options.patsub_replacement {
            let text = self.expand_as(&with.parts, super::Mode::Replacement)?;
            let marked = text.iter().any(|b| matches!(b, b'&' | b'\\'));
            return Ok((text, marked));
        }
        Ok((self.expand_text(with)?, false))
    }

    /// `${x:offset:length}`, of a text, of the positional parameters or of an array.
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
        let wanted = match length {
            Some(length) if !self.is_beyond(offset, &content, target) => Some(self.evaluate_for(param, length)?),
            _ => None,
        };
        let is_text = match target {
            Target::Var(name) => self
                .variable_meant(name)
                .is_some_and(|name| matches!(self.vars.get(&name).map(|var| &var.value), Some(Value::Text(_)))),
            _ => false,
        };
        let content = match content {
            // A plain variable stays a text, also where all its elements are asked for.
            Content::Many { values, star } if is_text => {
                let text = values.concat();
                // Beyond its ends there is no element, not even an empty one.
                if !star && offset.unsigned_abs() > char_count(&text) as u64 {
                    return Ok(Content::Many { values: Vec::new(), star });
                }
                Content::One(text)
            }
            content => content,
        };
        let (values, star) = match content {
            Content::Many { values, star } => (values, star),
            Content::Unset => return Ok(Content::One(Bytes::new())),
            Content::One(text) => {
                let count = char_count(&text);
                let Some((from, to)) = self.bounds(count, offset, wanted.zip(length), true)? else {
                    return Ok(Content::Unset);
                };
                return Ok(Content::One(char_range(&text, from, to).to_vec()));
            }
        };
        let mut values = values;
        if matches!(target, Target::Special(_)) {
            values.insert(0, self.name.clone());
            if offset < 0 && wanted.is_none_or(|w| w >= 0) && offset.unsigned_abs() as usize > values.len() {
                return Ok(Content::Many { values: Vec::new(), star });
            }
        } else if let (Target::Var(name), Index::At | Index::Star) = (target, index)
            && let Some(meant) = self.variable_meant(name)
            && let Some(Value::Indexed(map)) = self.vars.get(&meant).map(|var| &var.value)
        {
            // Offsets into sparse arrays are subscripts, not places.
            let Some(from) = super::position(map, offset) else {
                return Ok(Content::Many { values: Vec::new(), star });
            };
            let found: Vec<Bytes> = map.range(from..).map(|(_, value)| value.clone()).collect();
            match wanted {
                _ if found.is_empty() => return Ok(Content::Many { values: found, star }),
                Some(wanted) if wanted < 0 => {
                    let expression = length.map_or(&b""[..], |length| &length.text.raw);
                    return self.discard([expression, b": substring expression < 0"].concat());
                }
                Some(wanted) => {
                    let values = found.into_iter().take(usize::try_from(wanted).unwrap_or(usize::MAX)).collect();
                    return Ok(Content::Many { values, star });
                }
                None => return Ok(Content::Many { values: found, star }),
            }
        } else if let (Target::Var(name), Index::At | Index::Star) = (target, index)
            && let Some(meant) = self.variable_meant(name)
            && let Some(Value::Assoc(_)) = self.vars.get(&meant).map(|var| &var.value)
        {
            // The first one has the number 1 here, and nothing the number 0.
            values.insert(0, Bytes::new());
            let Some((from, _)) =
                self.bounds(values.len(), offset, None, false)?.filter(|(from, _)| *from < values.len())
            else {
                return Ok(Content::Many { values: Vec::new(), star });
            };
            values = values.split_off(from.max(1));
            if let Some(wanted) = wanted.filter(|wanted| *wanted >= 0) {
                // bash has taken one before it counts.
                values.truncate(usize::try_from(wanted).unwrap_or(usize::MAX).max(1));
            }
            if wanted.is_none_or(|wanted| wanted >= 0) {
                return Ok(Content::Many { values, star });
            }
            let Some((from, to)) = self.bounds(values.len(), 0, wanted.zip(length), false)? else {
                return Ok(Content::Many { values: Vec::new(), star });
            };
            return Ok(Content::Many { values: values.get(from..to).unwrap_or_default().to_vec(), star });
        }
        let Some((from, to)) = self.bounds(values.len(), offset, wanted.zip(length), false)? else {
            return Ok(Content::Many { values: Vec::new(), star });
        };
        let values = values.get(from..to).unwrap_or_default().to_vec();
        Ok(Content::Many { values, star })
    }

    /// Whether nothing of the content has this place, not even its end.
    fn is_beyond(&self, offset: i64, content: &Content, target: &Target) -> bool {
        let count = match (content, target) {
            (Content::Unset, _) => 0,
            (Content::One(text), _) => char_count(text),
            (Content::Many { values, .. }, Target::Special(_)) => values.len() + 1,
            (Content::Many { values, .. }, Target::Positional(_)) => values.len(),
            (Content::Many { values, .. }, Target::Var(name)) => {
                match self.variable_meant(name).and_then(|name| self.vars.get(&name)).map(|var| &var.value) {
                    // Of a place behind the last one nothing begins either.
                    Some(Value::Indexed(map)) => {
                        return super::position(map, offset).is_none_or(|at| map.range(at..).next().is_none());
                    }
                    // The first one has the number 1.
                    Some(Value::Assoc(map)) => map.len() + 1,
                    Some(Value::Text(_)) => values.iter().map(|text| char_count(text)).sum(),
                    _ => values.len(),
                }
            }
        };
        let count = i64::try_from(count).unwrap_or(i64::MAX);
        if offset < 0 { offset.saturating_add(count) < 0 } else { offset > count }
    }

    /// Start and end within `count` characters or values; `None` when the start lies outside.
    fn bounds(
        &mut self,
        count: usize,
        offset: i64,
        length: Option<(i64, &Arith)>,
        text: bool,
    ) -> Run<Option<(usize, usize)>> {
        let count = i64::try_from(count).unwrap_or(i64::MAX);
        let from = if offset < 0 { offset.saturating_add(count) } else { offset };
        if from < 0 || from > count {
            return Ok(None);
        }
        let to = match length {
            None => count,
            Some((length, expression)) if length < 0 => {
                let to = count.saturating_add(length);
                if !text || to < from {
                    return self.discard([&expression.text.raw[..], b": substring expression < 0"].concat());
                }
                to
            }
            Some((length, _)) => from.saturating_add(length).min(count),
        };
        Ok(Some((usize::try_from(from).unwrap_or(0), usize::try_from(to).unwrap_or(0))))
    }
}

/// `#`, `##`, `%`, `%%`.
fn strip<'a>(pattern: &Pattern, text: &'a [u8], suffix: bool, longest: bool) -> &'a [u8] {
    if let Some(literal) = pattern.literal() {
        let stripped = if suffix { text.strip_suffix(&literal[..]) } else { text.strip_prefix(&literal[..]) };
        return stripped.unwrap_or(text);
    }
    if !suffix {
        let ends = pattern.ends(text);
        let end = if longest { ends.last() } else { ends.first() };
        return end.and_then(|&end| text.get(end..)).unwrap_or(text);
    }
    let mut starts = vec![text.len()];
    let mut at = 0;
    while at < text.len() {
        starts.push(at);
        at += char_len(text.get(at..).unwrap_or_default()).max(1);
    }
    starts.sort_unstable();
    let matches = |&&start: &&usize| pattern.fits(text.get(start..).unwrap_or_default());
    let start = if longest { starts.iter().find(matches) } else { starts.iter().rev().find(matches) };
    start.and_then(|&start| text.get(..start)).unwrap_or(text)
}

/// `/`, `//`, `/#`, `/%`.
fn replace(pattern: &Pattern, text: &[u8], how: Replace, with: &[u8], amp: bool) -> Bytes {
    let put = |out: &mut Bytes, matched: &[u8]| {
        if amp { expand_ampersand(out, with, matched) } else { out.extend_from_slice(with) }
    };
    let mut out = Bytes::with_capacity(text.len());
    if text.is_empty() && how != Replace::Suffix {
        let anchored = how == Replace::Prefix && pattern.is_nothing();
        if anchored || (pattern.starts_with_star() && pattern.fits(b"")) {
            put(&mut out, b"");
        }
        return out;
    }
    match how {
        Replace::Prefix => {
            let end = pattern.ends(text).last().copied();
            if let Some(end) = end {
                put(&mut out, text.get(..end).unwrap_or_default());
            }
            out.extend_from_slice(text.get(end.unwrap_or(0)..).unwrap_or_default());
            return out;
        }
        Replace::Suffix => {
            let kept = strip(pattern, text, true, true);
            out.extend_from_slice(kept);
            let matched = text.get(kept.len()..).unwrap_or_default();
            if !matched.is_empty() || pattern.fits(b"") {
                put(&mut out, matched);
            }
            return out;
        }
        Replace::First | Replace::All => {}
    }
    let literal = pattern.literal();
    if pattern.is_nothing() {
        return text.to_vec();
    }
    let mut at = 0;
    while at < text.len() {
        let rest = text.get(at..).unwrap_or_default();
        let end = match &literal {
            Some(literal) => rest.starts_with(literal).then_some(literal.len()),
            None => pattern.ends(rest).last().copied(),
        };
        match end {
            Some(0) => {
                put(&mut out, b"");
                if how == Replace::First {
                    break;
                }
                let len = char_len(rest).max(1);
                out.extend_from_slice(rest.get(..len).unwrap_or_default());
                at += len;
            }
            Some(end) => {
                put(&mut out, rest.get(..end).unwrap_or_default());
                at += end;
                if how == Replace::First {
                    break;
                }
            }
            None => {
                let len = char_len(rest).max(1);
                out.extend_from_slice(rest.get(..len).unwrap_or_default());
                at += len;
            }
        }
    }
    out.extend_from_slice(text.get(at..).unwrap_or_default());
    out
}

/// An unquoted `&` in the replacement is what matched; a backslash takes that from it.
fn expand_ampersand(out: &mut Bytes, with: &[u8], matched: &[u8]) {
    let mut bytes = with.iter();
    while let Some(&byte) = bytes.next() {
        match byte {
            b'\\' if matches!(bytes.as_slice().first(), Some(b'&' | b'\\')) => out.extend(bytes.next()),
            b'&' => out.extend_from_slice(matched),
            _ => out.push(byte),
        }
    }
}
