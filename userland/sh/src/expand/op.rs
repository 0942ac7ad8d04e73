//! Operators of parameter expansion that edit text.

use super::case::{self, Case};
use super::param::Content;
use crate::character::char_len;
use crate::ir::{Bytes, Op, Replace, Word};
use crate::pattern::{Pattern, Style};
use crate::state::{EvalResult, Shell};

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
pub(super) fn char_range(text: &[u8], from: usize, to: usize) -> &[u8] {
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

/// The effect of an operator on one value.
type Edit = Box<dyn Fn(&[u8]) -> Bytes>;

impl Shell {
    pub(crate) fn pattern_style(&self) -> Style {
        Style { extended: self.options.extglob, fold: self.options.nocasematch }
    }

    fn compile(&mut self, word: &Word, fold: bool) -> EvalResult<Pattern> {
        let text = self.expand_pattern(word)?;
        Ok(Pattern::new(&text, Style { extended: self.options.extglob, fold }))
    }

    /// Applies an operator to each value of a parameter.
    pub(crate) fn edit(&mut self, content: Content, op: &Op) -> EvalResult<Content> {
        let fold = self.options.nocasematch;
        match &content {
            // Without a value, pattern and replacement are not expanded either.
            Content::Unset => return Ok(content),
            Content::Many { values, .. } if values.is_empty() => return Ok(content),
            Content::One(text) if text.is_empty() && matches!(op, Op::Strip { .. }) => return Ok(content),
            _ => {}
        }
        let edit: Edit = match op {
            Op::Strip { suffix, longest, pattern } => {
                let pattern = self.compile(pattern, false)?;
                let (suffix, longest) = (*suffix, *longest);
                Box::new(move |text| pattern.within(text, || strip(&pattern, text, suffix, longest).to_vec()))
            }
            Op::Replace { how, pattern, with } => {
                let pattern = self.compile(pattern, fold)?;
                let with = self.replacement(with)?;
                let how = *how;
                Box::new(move |text| {
                    // Characters of the text stay whole here.
                    let whole: &[u8] = if matches!(how, Replace::First | Replace::All) { b"" } else { text };
                    pattern.within(whole, || replace(&pattern, text, how, &with))
                })
            }
            Op::Case { how, all, pattern } => {
                let pattern = match pattern {
                    Some(word) => Some(self.compile(word, false)?),
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
        Ok(content.each(|text| edit(text)))
    }

    /// The expanded text after the second slash.
    fn replacement(&mut self, with: &Word) -> EvalResult<Replacement> {
        if self.options.patsub_replacement {
            let text = self.expand_as(&with.parts, super::Mode::Replacement)?;
            let marked = text.iter().any(|b| matches!(b, b'&' | b'\\'));
            return Ok(Replacement { text, marked });
        }
        Ok(Replacement { text: self.expand_text(with)?, marked: false })
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

/// The replacement of a match.
struct Replacement {
    text: Bytes,
    /// It has an unquoted `&`, which is replaced by the match.
    marked: bool,
}

impl Replacement {
    fn put(&self, out: &mut Bytes, matched: &[u8]) {
        if self.marked { expand_ampersand(out, &self.text, matched) } else { out.extend_from_slice(&self.text) }
    }
}

/// `/`, `//`, `/#`, `/%`.
fn replace(pattern: &Pattern, text: &[u8], how: Replace, with: &Replacement) -> Bytes {
    let mut out = Bytes::with_capacity(text.len());
    if text.is_empty() && how != Replace::Suffix {
        let anchored = how == Replace::Prefix && pattern.is_nothing();
        if anchored || (pattern.starts_with_star() && pattern.fits(b"")) {
            with.put(&mut out, b"");
        }
        return out;
    }
    match how {
        Replace::Prefix => replace_prefix(pattern, text, with, &mut out),
        Replace::Suffix => replace_suffix(pattern, text, with, &mut out),
        Replace::First | Replace::All if pattern.is_nothing() => out.extend_from_slice(text),
        Replace::First | Replace::All => replace_within(pattern, text, how == Replace::All, with, &mut out),
    }
    out
}

fn replace_prefix(pattern: &Pattern, text: &[u8], with: &Replacement, out: &mut Bytes) {
    let end = pattern.ends(text).last().copied();
    if let Some(end) = end {
        with.put(out, text.get(..end).unwrap_or_default());
    }
    out.extend_from_slice(text.get(end.unwrap_or(0)..).unwrap_or_default());
}

fn replace_suffix(pattern: &Pattern, text: &[u8], with: &Replacement, out: &mut Bytes) {
    let kept = strip(pattern, text, true, true);
    out.extend_from_slice(kept);
    let matched = text.get(kept.len()..).unwrap_or_default();
    if !matched.is_empty() || pattern.fits(b"") {
        with.put(out, matched);
    }
}

/// Replaces the first match wherever it starts, or all of them.
fn replace_within(pattern: &Pattern, text: &[u8], all: bool, with: &Replacement, out: &mut Bytes) {
    let literal = pattern.literal();
    let mut at = 0;
    while at < text.len() {
        let rest = text.get(at..).unwrap_or_default();
        let end = match &literal {
            Some(literal) => rest.starts_with(literal).then_some(literal.len()),
            None => pattern.ends(rest).last().copied(),
        };
        if let Some(end) = end {
            with.put(out, rest.get(..end).unwrap_or_default());
            at += end;
            if !all {
                break;
            }
        }
        // After an empty match the search continues at the next character.
        if end.unwrap_or(0) == 0 {
            let len = char_len(rest).max(1);
            out.extend_from_slice(rest.get(..len).unwrap_or_default());
            at += len;
        }
    }
    out.extend_from_slice(text.get(at..).unwrap_or_default());
}

/// Replaces each unquoted `&` in the replacement by the match.
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
