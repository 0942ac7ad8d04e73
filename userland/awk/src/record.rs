//! The record and its fields, which are split lazily.

use std::ops::Range;

use crate::split::{Splitter, is_blank};
use crate::text::Text;
use crate::value::Value;

/// Maximum number of fields in a record.
pub(crate) const MAX_FIELDS: usize = 10_000_000;

/// The current record.
#[derive(Debug)]
pub(crate) struct Record {
    line: Vec<u8>,
    /// Positions of the fields split until now.
    ranges: Vec<Range<usize>>,
    /// Start of the unsplit rest of the line; `None` if all of it is split.
    rest: Option<usize>,
    /// The fields as values, after one of them was assigned.
    values: Option<Vec<Value>>,
    /// True if the line must be rebuilt from the fields before it is read.
    stale: bool,
    /// True if the program assigned `$0`, which is then numeric only if the value came from input.
    whole: Option<Value>,
    splitter: Splitter,
    newline_splits: bool,
    /// Error of the field separator's regular expression.
    pub(crate) trouble: Option<String>,
}

impl Record {
    pub(crate) fn new() -> Self {
        Self {
            line: Vec::new(),
            ranges: Vec::new(),
            rest: None,
            values: None,
            stale: false,
            whole: Some(Value::input(b"")),
            splitter: Splitter::Blanks,
            newline_splits: false,
            trouble: None,
        }
    }

    /// Clears the buffer for the next record. The caller writes the record into it.
    pub(crate) fn renew(&mut self) -> &mut Vec<u8> {
        self.ranges.clear();
        self.rest = Some(0);
        self.values = None;
        self.stale = false;
        self.whole = None;
        self.line.clear();
        &mut self.line
    }

    /// Replaces the record by a value.
    pub(crate) fn set(&mut self, value: Value, format: &[u8]) {
        let text = value.to_text(format);
        self.renew().extend_from_slice(text.bytes());
        self.whole = Some(match value {
            Value::Number(_) | Value::Text(_) | Value::Input(_) => value,
            _ => Value::Unset,
        });
    }

    /// Sets the splitter of the following records.
    pub(crate) fn set_splitter(&mut self, splitter: Splitter, newline_splits: bool) {
        self.split_all();
        self.splitter = splitter;
        self.newline_splits = newline_splits;
    }

    /// The line, rebuilt if a field was assigned.
    #[inline]
    pub(crate) fn line(&mut self, separator: &[u8], format: &[u8]) -> &[u8] {
        if self.stale {
            self.rebuild(separator, format);
        }
        &self.line
    }

    #[cold]
    pub(crate) fn rebuild(&mut self, separator: &[u8], format: &[u8]) {
        if !std::mem::take(&mut self.stale) {
            return;
        }
        let mut line = Vec::new();
        for (at, value) in self.values.iter().flatten().enumerate() {
            if at > 0 {
                line.extend_from_slice(separator);
            }
            value.write(format, &mut line);
        }
        self.line = line;
        self.whole = None;
    }

    /// `$0` as a value.
    pub(crate) fn whole(&mut self, separator: &[u8], format: &[u8]) -> Value {
        if self.stale {
            self.rebuild(separator, format);
        }
        self.whole.clone().unwrap_or_else(|| Value::input(&self.line))
    }

    /// The number of fields.
    pub(crate) fn count(&mut self) -> usize {
        self.split_all();
        self.values.as_ref().map_or(self.ranges.len(), Vec::len)
    }

    /// One field; a field after the last one has no value.
    #[inline]
    pub(crate) fn field(&mut self, number: usize) -> Value {
        if let Some(values) = &self.values {
            return values.get(number.wrapping_sub(1)).cloned().unwrap_or(Value::input(b""));
        }
        self.split_to(number);
        match self.ranges.get(number.wrapping_sub(1)) {
            Some(range) => Value::input(self.line.get(range.clone()).unwrap_or_default()),
            None => Value::input(b""),
        }
    }

    /// Splits until the given number of fields is found.
    #[inline]
    fn split_to(&mut self, wanted: usize) {
        let Some(mut at) = self.rest else {
            return;
        };
        match &self.splitter {
            Splitter::Blanks => {
                let line = self.line.as_slice();
                while self.ranges.len() < wanted {
                    while line.get(at).is_some_and(|byte| is_blank(*byte)) {
                        at += 1;
                    }
                    if at >= line.len() {
                        self.rest = None;
                        return;
                    }
                    let start = at;
                    while line.get(at).is_some_and(|byte| !is_blank(*byte)) {
                        at += 1;
                    }
                    self.ranges.push(start..at);
                }
                self.rest = Some(at);
            }
            Splitter::Byte(byte) if !self.newline_splits => {
                if self.line.is_empty() {
                    self.rest = None;
                    return;
                }
                while self.ranges.len() < wanted {
                    let rest = self.line.get(at..).unwrap_or_default();
                    match memchr::memchr(*byte, rest) {
                        Some(length) => {
                            self.ranges.push(at..at + length);
                            at += length + 1;
                        }
                        None => {
                            self.ranges.push(at..self.line.len());
                            self.rest = None;
                            return;
                        }
                    }
                }
                self.rest = Some(at);
            }
            splitter => {
                let ranges = &mut self.ranges;
                let outcome =
                    splitter.split(&self.line, self.newline_splits, &mut |range: Range<usize>| ranges.push(range));
                self.trouble = outcome.err();
                self.rest = None;
            }
        }
    }

    pub(crate) fn split_all(&mut self) {
        self.split_to(usize::MAX);
    }

    /// The fields as assignable values.
    fn own(&mut self) -> &mut Vec<Value> {
        self.split_all();
        self.values.get_or_insert_with(|| {
            let bytes = |range: &Range<usize>| self.line.get(range.clone()).unwrap_or_default();
            self.ranges.iter().map(|range| Value::input(bytes(range))).collect()
        })
    }

    /// Assigns a field that is not `$0`.
    pub(crate) fn set_field(&mut self, number: usize, value: Value) {
        let values = self.own();
        if values.len() < number {
            values.resize(number, Value::input(b""));
        }
        if let Some(field) = values.get_mut(number.wrapping_sub(1)) {
            *field = value;
        }
        self.stale = true;
    }

    /// Assigns `NF`.
    pub(crate) fn set_count(&mut self, count: usize) {
        self.own().resize(count, Value::input(b""));
        self.stale = true;
    }

    pub(crate) fn text(&mut self, separator: &[u8], format: &[u8]) -> Text {
        Text::new(self.line(separator, format))
    }
}
