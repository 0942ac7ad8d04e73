//! Regular expressions: `match`, `sub`, `gsub`, `gensub`, `split`.

use std::ops::Range;
use std::rc::Rc;

use super::{Location, Machine, Outcome, fatal};
use crate::array::{Array, Key};
use crate::compile::slot;
use crate::pattern::Pattern;
use crate::replacement::Replacement;
use crate::split::{Find, Splitter};
use crate::text::{self, Text};
use crate::value::Value;

/// Maximum number of cached dynamic regular expressions.
const MAX_KEPT: usize = 500;

/// Fields and separators of `split`, as elements.
struct Parts<'t> {
    text: &'t [u8],
    fields: Array,
    separators: Option<Array>,
    count: i32,
    /// Returns whether a field exists: the separator before the first field has the number 0.
    number: i32,
    /// Text between fields is a separator even if it is empty.
    by_content: bool,
}

impl Find for Parts<'_> {
    fn field(&mut self, range: Range<usize>) {
        self.count += 1;
        self.fields.set(&Key::Integer(self.count), Value::input(self.text.get(range).unwrap_or_default()));
    }

    fn separator(&mut self, range: Range<usize>) {
        self.number = self.count;
        if self.count == 0 && range.is_empty() && !self.by_content {
            return;
        }
        if let Some(separators) = &mut self.separators {
            separators.set(&Key::Integer(self.number), Value::text(self.text.get(range).unwrap_or_default()));
        }
    }
}

impl Machine {
    /// A constant in its current form; `IGNORECASE` may have changed.
    pub(super) fn constant_pattern(&mut self, pattern: &Rc<Pattern>) -> Rc<Pattern> {
        if pattern.ignores_case() == self.settings.ignore_case {
            return Rc::clone(pattern);
        }
        self.pattern_of(pattern.source())
    }

    /// The regular expression for a text.
    pub(super) fn pattern_of(&mut self, source: &[u8]) -> Rc<Pattern> {
        if let Some(pattern) = self.patterns.get(source)
            && pattern.ignores_case() == self.settings.ignore_case
        {
            return Rc::clone(pattern);
        }
        if self.patterns.len() >= MAX_KEPT {
            self.patterns.clear();
        }
        let pattern = Rc::new(Pattern::new(source.to_vec(), self.settings.ignore_case));
        self.patterns.insert(source.to_vec(), Rc::clone(&pattern));
        pattern
    }

    pub(super) fn pop_pattern(&mut self) -> Outcome<Rc<Pattern>> {
        match self.pop() {
            Value::Regex(pattern) => Ok(self.constant_pattern(&pattern)),
            value => {
                let text = self.text_of(&value);
                Ok(self.pattern_of(text.bytes()))
            }
        }
    }

    pub(super) fn match_function(&mut self, count: usize) -> Outcome<()> {
        let array = match count {
            3 => match self.pop() {
                Value::Array(handle) => Some(handle),
                _ => return fatal("match: third argument is not an array"),
            },
            _ => None,
        };
        let pattern = self.pop_pattern()?;
        let text = self.pop_text();
        let bytes = text.bytes();
        let (found, groups) = match &array {
            None => (pattern.find(bytes, 0).or_else(fatal)?, Vec::new()),
            Some(_) => {
                let groups = pattern.groups(bytes, 0).or_else(fatal)?.unwrap_or_default();
                (groups.first().cloned().flatten(), groups)
            }
        };
        if let Some(array) = &array {
            let mut array = array.borrow_mut();
            array.clear();
            for (number, group) in groups.iter().enumerate() {
                if let Some(group) = group {
                    self.note_group(&mut array, bytes, number, group);
                }
            }
        }
        let (start, length) = match &found {
            Some(found) => {
                let start = text::chars_before(bytes, found.start) + 1;
                let matched = bytes.get(found.clone()).unwrap_or_default();
                (start as f64, text::chars_before(matched, matched.len()) as f64)
            }
            None => (0.0, -1.0),
        };
        self.globals[slot("RSTART") as usize] = Value::Number(start);
        self.globals[slot("RLENGTH") as usize] = Value::Number(length);
        self.push(Value::Number(start));
        Ok(())
    }

    fn note_group(&self, array: &mut Array, bytes: &[u8], number: usize, group: &Range<usize>) {
        let matched = bytes.get(group.clone()).unwrap_or_default();
        let key = |word: &str| {
            let mut key = number.to_string().into_bytes();
            key.extend_from_slice(&self.settings.subscript_separator);
            key.extend_from_slice(word.as_bytes());
            Key::of_bytes(&key)
        };
        array.set(&Key::Integer(number as i32), Value::input(matched));
        let start = text::chars_before(bytes, group.start) + 1;
        array.set(&key("start"), Value::Number(start as f64));
        array.set(&key("length"), Value::Number(text::chars_before(matched, matched.len()) as f64));
    }

    pub(super) fn split(&mut self, count: usize, by_content: bool) -> Outcome<()> {
        let name = if by_content { "patsplit" } else { "split" };
        let separators = match count {
            4 => match self.pop() {
                Value::Array(handle) => Some(handle),
                _ => return fatal(format!("{name}: fourth argument is not an array")),
            },
            _ => None,
        };
        let splitter = if by_content {
            Splitter::Content(if count >= 3 { self.pop_pattern()? } else { self.default_content() })
        } else {
            self.pop_splitter(count)?
        };
        let Value::Array(fields) = self.pop() else {
            return fatal(format!("{name}: second argument is not an array"));
        };
        if let Some(separators) = &separators
            && Rc::ptr_eq(separators, &fields)
        {
            return fatal(format!("{name}: cannot use the same array for second and fourth args"));
        }
        let text = self.pop_text();
        let mut parts = Parts {
            text: text.bytes(),
            fields: Array::Empty,
            separators: separators.as_ref().map(|_| Array::Empty),
            count: 0,
            number: 0,
            by_content,
        };
        splitter.split(text.bytes(), false, &mut parts).or_else(fatal)?;
        let Parts { fields: found, separators: between, count, .. } = parts;
        *fields.borrow_mut() = found;
        if let (Some(separators), Some(between)) = (separators, between) {
            *separators.borrow_mut() = between;
        }
        self.push(Value::Number(f64::from(count)));
        Ok(())
    }

    fn default_content(&mut self) -> Rc<Pattern> {
        let pattern = self.global("FPAT").to_text(&self.settings.conversion);
        self.pattern_of(pattern.bytes())
    }

    fn pop_splitter(&mut self, count: usize) -> Outcome<Splitter> {
        if count < 3 {
            let separator = self.global("FS").to_text(&self.settings.conversion);
            return Ok(self.splitter_of(separator.bytes()));
        }
        match self.pop() {
            Value::Regex(pattern) => {
                let pattern = self.constant_pattern(&pattern);
                // A constant of one blank does not mean a run of blanks.
                Ok(if pattern.source().is_empty() { Splitter::Chars } else { Splitter::Separator(pattern) })
            }
            value => {
                let separator = self.text_of(&value);
                Ok(self.splitter_of(separator.bytes()))
            }
        }
    }

    fn splitter_of(&mut self, separator: &[u8]) -> Splitter {
        match separator {
            [] | [_] => Splitter::of(separator, self.settings.ignore_case),
            _ => Splitter::Separator(self.pattern_of(separator)),
        }
    }

    /// `sub` and `gsub`. With three arguments the last one is a value, and its change is discarded.
    pub(super) fn substitute(&mut self, all: bool, count: usize) -> Outcome<()> {
        let in_vain = if count == 3 { Some(self.pop_text()) } else { None };
        let spot = if in_vain.is_some() { None } else { self.spots.pop() };
        let replacement = self.pop_text();
        let pattern = self.pop_pattern()?;
        let text = match (&in_vain, &spot) {
            (Some(text), _) => text.clone(),
            (None, Some(Location::Field(0))) => {
                self.record.text(&self.settings.field_separator, &self.settings.conversion)
            }
            (None, Some(spot)) => {
                let value = self.read_spot(spot)?;
                self.text_of(&value)
            }
            (None, None) => return fatal("nothing to substitute in"),
        };
        let replacement = Replacement::plain(replacement.bytes());
        let mut out = Vec::new();
        let changed = replace_matches(&pattern, text.bytes(), all, &replacement, &mut out)?;
        if changed > 0
            && let Some(spot) = spot
        {
            self.write_spot(&spot, Value::Text(Text::from_vec(out)))?;
        }
        self.push(Value::Number(changed as f64));
        Ok(())
    }

    /// The number of the match that `gensub` replaces; `None` for all of them.
    fn which_match(&mut self, how: &Value) -> Option<usize> {
        if let Value::Text(text) | Value::Input(text) = how
            && matches!(text.bytes().first(), Some(b'g' | b'G'))
        {
            return None;
        }
        let number = how.number();
        if number < 1.0 {
            let shown = how.to_text(&self.settings.conversion);
            let shown = String::from_utf8_lossy(shown.bytes()).into_owned();
            self.warn(&format!("gensub: third argument `{shown}' treated as 1"));
        }
        Some(number.max(1.0) as usize)
    }

    pub(super) fn gensub(&mut self, count: usize) -> Outcome<()> {
        let text = match count {
            4 => self.pop_text(),
            _ => self.record.text(&self.settings.field_separator, &self.settings.conversion),
        };
        let how = self.pop();
        let replacement = self.pop_text();
        let pattern = self.pop_pattern()?;
        let which = self.which_match(&how);
        let replacement = Replacement::with_groups(replacement.bytes());
        let with_groups = replacement.names_groups();
        let bytes = text.bytes();
        let mut out = Vec::new();
        let (mut from, mut copied, mut seen) = (0, 0, 0);
        let mut last_end = None;
        while from <= bytes.len() {
            let groups = if with_groups {
                pattern.groups(bytes, from).or_else(fatal)?
            } else {
                pattern.find(bytes, from).or_else(fatal)?.map(|found| vec![Some(found)])
            };
            let Some(groups) = groups else { break };
            let Some(found) = groups.first().cloned().flatten() else { break };
            if found.is_empty() && last_end == Some(found.start) {
                from = behind_match(bytes, &found);
                continue;
            }
            seen += 1;
            if which.is_none_or(|which| which == seen) {
                out.extend_from_slice(bytes.get(copied..found.start).unwrap_or_default());
                replacement.append(&mut out, |number| {
                    let group = groups.get(number).cloned().flatten();
                    group.and_then(|group| bytes.get(group)).unwrap_or_default()
                });
                copied = found.end;
            }
            if which == Some(seen) {
                break;
            }
            last_end = Some(found.end);
            from = behind_match(bytes, &found);
        }
        out.extend_from_slice(bytes.get(copied..).unwrap_or_default());
        self.push(Value::Text(Text::from_vec(out)));
        Ok(())
    }
}

/// Copies a text with all matches, or the first one, replaced. Returns the number of replacements; without any, nothing is
/// copied.
fn replace_matches(
    pattern: &Pattern,
    bytes: &[u8],
    all: bool,
    replacement: &Replacement,
    out: &mut Vec<u8>,
) -> Outcome<usize> {
    let (mut from, mut copied, mut count) = (0, 0, 0);
    let mut last_end = None;
    while from <= bytes.len() {
        let Some(found) = pattern.find(bytes, from).or_else(fatal)? else {
            break;
        };
        // Directly after a match, an empty match does not count.
        let behind = found.is_empty() && last_end == Some(found.start);
        if !behind {
            if count == 0 {
                out.reserve(bytes.len() + 16);
            }
            out.extend_from_slice(bytes.get(copied..found.start).unwrap_or_default());
            replacement.append(out, |_| bytes.get(found.clone()).unwrap_or_default());
            copied = found.end;
            count += 1;
            if !all {
                break;
            }
        }
        last_end = Some(found.end);
        from = behind_match(bytes, &found);
    }
    if count > 0 {
        out.extend_from_slice(bytes.get(copied..).unwrap_or_default());
    }
    Ok(count)
}

/// Position to continue the search after a match; after an empty match, skips one character.
fn behind_match(bytes: &[u8], found: &Range<usize>) -> usize {
    match found.is_empty() {
        true => found.end + text::char_len(bytes.get(found.end..).unwrap_or_default()).max(1),
        false => found.end,
    }
}
