//! String functions.

use std::ops::Range;

use super::{Machine, Outcome, fatal};
use crate::format;
use crate::text::{self, Text};
use crate::value::Value;

/// Converts the case of a text.
pub(super) fn change_case(bytes: &[u8], upper: bool, out: &mut Vec<u8>) {
    if bytes.is_ascii() || text::chars_are_bytes() {
        let from = out.len();
        out.extend_from_slice(bytes);
        let copied = out.get_mut(from..).unwrap_or_default();
        if upper {
            copied.make_ascii_uppercase()
        } else {
            copied.make_ascii_lowercase()
        }
        return;
    }
    for chunk in bytes.utf8_chunks() {
        for char in chunk.valid().chars() {
            // One character maps to one character, as in C.
            let mut changed: (Option<char>, Option<char>) = match upper {
                true => (char.to_uppercase().next(), char.to_uppercase().nth(1)),
                false => (char.to_lowercase().next(), char.to_lowercase().nth(1)),
            };
            if changed.1.is_some() {
                changed.0 = Some(char);
            }
            let mut room = [0; 4];
            out.extend_from_slice(changed.0.unwrap_or(char).encode_utf8(&mut room).as_bytes());
        }
        // Invalid characters become the replacement character, as in GNU awk.
        for _ in chunk.invalid() {
            out.extend_from_slice("\u{fffd}".as_bytes());
        }
    }
}

impl Machine {
    /// Warns once if characters are counted in a text with invalid bytes.
    pub(super) fn doubt(&mut self, text: &Text) {
        let settled = self.doubted || text::chars_are_bytes();
        if settled || text.bytes().is_ascii() || std::str::from_utf8(text.bytes()).is_ok() {
            return;
        }
        self.doubted = true;
        self.warn("Invalid multibyte data detected. There may be a mismatch between your data and your locale");
    }

    pub(super) fn length(&mut self, count: usize) -> Outcome<()> {
        let length = match count {
            0 => {
                let line = self.record.line(&self.settings.field_separator, &self.settings.conversion);
                if line.is_ascii() {
                    line.len()
                } else {
                    let line = Text::new(line);
                    self.doubt(&line);
                    line.chars()
                }
            }
            _ => match self.pop() {
                Value::Array(handle) => handle.borrow().len(),
                value => {
                    let text = self.text_of(&value);
                    self.doubt(&text);
                    text.chars()
                }
            },
        };
        self.push(Value::Number(length as f64));
        Ok(())
    }

    pub(super) fn substr(&mut self, count: usize) -> Outcome<()> {
        let length = if count == 3 { self.pop_number() } else { f64::INFINITY };
        let start = self.pop_number();
        let text = self.pop_text();
        self.doubt(&text);
        let part = self.part(&text, start, length);
        let value = Value::text(text.bytes().get(part).unwrap_or_default());
        self.push(value);
        Ok(())
    }

    /// The bytes of a number of characters from a start character.
    fn part(&self, text: &Text, start: f64, length: f64) -> Range<usize> {
        // Parts of characters are cut off. A start before the text means its start.
        let start = if start >= 1.0 { start.trunc() } else { 1.0 };
        let length = length.trunc();
        if length.is_nan() || length < 1.0 {
            return 0..0;
        }
        let bytes = text.bytes();
        let chars = text.chars();
        let end = (start + length).min(chars as f64 + 1.0);
        if start >= end {
            return 0..0;
        }
        let (from, to) = (start as usize - 1, end as usize - 1);
        if chars == bytes.len() {
            return from..to;
        }
        let from_byte = text::offset_of(bytes, from);
        let rest = bytes.get(from_byte..).unwrap_or_default();
        from_byte..from_byte + text::offset_of(rest, to - from)
    }

    pub(super) fn index(&mut self) -> Outcome<()> {
        let wanted = self.pop_text();
        let text = self.pop_text();
        self.doubt(&text);
        let (bytes, wanted) = (text.bytes(), wanted.bytes());
        let found = if self.settings.ignore_case {
            let (mut folded, mut folded_wanted) = (Vec::new(), Vec::new());
            change_case(bytes, false, &mut folded);
            change_case(wanted, false, &mut folded_wanted);
            memchr::memmem::find(&folded, &folded_wanted).map(|at| text::chars_before(&folded, at))
        } else {
            memchr::memmem::find(bytes, wanted).map(|at| text::chars_before(bytes, at))
        };
        self.push(Value::Number(found.map_or(0.0, |at| at as f64 + 1.0)));
        Ok(())
    }

    pub(super) fn sprintf(&mut self, count: usize) -> Outcome<()> {
        let mut out = Vec::new();
        self.format(count, &mut out)?;
        self.push(Value::Text(Text::from_vec(out)));
        Ok(())
    }

    /// Formats with the format and values on the stack.
    pub(super) fn format(&mut self, count: usize, out: &mut Vec<u8>) -> Outcome<()> {
        let from = self.stack.len().saturating_sub(count);
        let values = self.stack.get(from..).unwrap_or_default();
        if let Some(Value::Array(_)) = values.iter().find(|value| matches!(value, Value::Array(_))) {
            return fatal("attempt to use array in a scalar context");
        }
        let (first, rest) = match values.split_first() {
            Some((first, rest)) => (first.to_text(&self.settings.conversion), rest),
            None => return Ok(()),
        };
        let outcome = format::write(first.bytes(), rest, &self.settings.conversion, out);
        self.stack.truncate(from);
        outcome.or_else(fatal)
    }
}
