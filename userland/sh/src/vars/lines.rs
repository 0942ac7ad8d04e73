//! The environment of a program, in one piece.

use std::ops::Range;

/// Lines that lie one after the other, so that a shell which starts many programs asks for memory once for each.
#[derive(Debug, Default)]
pub(crate) struct Lines {
    bytes: Vec<u8>,
    lines: Vec<Range<usize>>,
}

impl Lines {
    pub(crate) fn with_capacity(lines: usize, bytes: usize) -> Self {
        Self { bytes: Vec::with_capacity(bytes), lines: Vec::with_capacity(lines) }
    }

    /// Adds a line, which is these pieces.
    pub(crate) fn push(&mut self, pieces: &[&[u8]]) {
        let start = self.bytes.len();
        for piece in pieces {
            self.bytes.extend_from_slice(piece);
        }
        self.lines.push(start..self.bytes.len());
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = &[u8]> {
        self.lines.iter().map(|line| self.bytes.get(line.clone()).unwrap_or_default())
    }
}
