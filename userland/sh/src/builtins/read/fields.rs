//! Fields of a line that `read` has read.

use super::End;
use crate::character::char_len;
use crate::ir::Bytes;

/// A line that was read.
pub(super) struct Line {
    pub(super) text: Bytes,
    /// True for each byte that a backslash escaped.
    pub(super) quoted: Vec<bool>,
    pub(super) end: End,
}

impl Line {
    /// All of the text as a variable gets it.
    pub(super) fn whole(self) -> Bytes {
        self.text
    }

    /// A stretch of the text as a variable gets it.
    fn value(&self, start: usize, end: usize) -> Bytes {
        self.text.get(start..end).unwrap_or_default().to_vec()
    }
}

/// An iterator over the fields of a line.
pub(super) struct Fields<'a> {
    line: &'a Line,
    ifs: &'a [u8],
    at: usize,
}

impl<'a> Fields<'a> {
    pub(super) fn new(line: &'a Line, ifs: &'a [u8]) -> Self {
        Self { line, ifs, at: 0 }
    }

    /// The length of the separator at this offset, or 0.
    fn separator(&self, at: usize) -> usize {
        let Some(byte) = self.line.text.get(at) else { return 0 };
        if self.line.quoted.get(at).copied().unwrap_or(false) {
            return 0;
        }
        if byte.is_ascii() {
            return usize::from(self.ifs.contains(byte));
        }
        let rest = self.line.text.get(at..).unwrap_or_default();
        let len = char_len(rest).max(1);
        let char = rest.get(..len).unwrap_or_default();
        let mut known = self.ifs;
        while !known.is_empty() {
            let (first, others) = known.split_at(char_len(known).clamp(1, known.len()));
            if first == char {
                return len;
            }
            known = others;
        }
        0
    }

    fn is_space(&self, at: usize) -> bool {
        self.separator(at) > 0 && matches!(self.line.text.get(at), Some(b' ' | b'\t' | b'\n'))
    }

    fn skip_space(&mut self) {
        while self.is_space(self.at) {
            self.at += 1;
        }
    }

    pub(super) fn next_field(&mut self) -> Option<Bytes> {
        self.skip_space();
        if self.at >= self.line.text.len() {
            return None;
        }
        let start = self.at;
        while self.at < self.line.text.len() && self.separator(self.at) == 0 {
            self.at += char_len(self.line.text.get(self.at..).unwrap_or_default()).max(1);
        }
        let field = self.line.value(start, self.at);
        self.skip_separator();
        Some(field)
    }

    /// White space and at most one other separator.
    fn skip_separator(&mut self) {
        self.skip_space();
        let len = self.separator(self.at);
        if len > 0 {
            self.at += len;
            self.skip_space();
        }
    }

    /// The value of the last variable: inner separators stay, trailing white space is removed, and so is a single separator
    /// after the only field.
    pub(super) fn remainder(&mut self) -> Bytes {
        self.skip_space();
        let start = self.at;
        let mut probe = Fields { at: start, ..*self };
        if let Some(only) = probe.next_field()
            && probe.at >= self.line.text.len()
        {
            return only;
        }
        // After several words, trailing white space is removed even if it was escaped.
        let is_trimmed = |byte: &u8| matches!(byte, b' ' | b'\t' | b'\n') && self.ifs.contains(byte);
        let rest = self.line.text.get(start..).unwrap_or_default();
        let end = rest.iter().rposition(|byte| !is_trimmed(byte)).map_or(start, |last| start + last + 1);
        self.line.value(start, end)
    }
}
