//! The environment of a program in one allocation.

use std::ops::Range;

/// Consecutive lines, so that starting a program needs one allocation.
#[derive(Debug, Default)]
pub(crate) struct Lines {
    bytes: Vec<u8>,
    lines: Vec<Range<usize>>,
}

impl Lines {
    pub(crate) fn with_capacity(lines: usize, bytes: usize) -> Self {
        Self { bytes: Vec::with_capacity(bytes), lines: Vec::with_capacity(lines) }
    }

    /// Adds a line, the concatenation of these parts.
    pub(crate) fn push(&mut self, parts: &[&[u8]]) {
        let start = self.bytes.len();
        for part in parts {
            self.bytes.extend_from_slice(part);
        }
        self.lines.push(start..self.bytes.len());
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = &[u8]> {
        self.lines.iter().map(|line| self.bytes.get(line.clone()).unwrap_or_default())
    }
}
