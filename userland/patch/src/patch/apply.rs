//! Applies hunks to a file in memory.

use super::hunk::{Hunk, Mark};

/// The partial output.
#[derive(Debug)]
pub(crate) struct Work<'a> {
    pub(crate) input: Vec<&'a [u8]>,
    output: Vec<u8>,
    /// Lines of the input already processed.
    pub(crate) frozen: usize,
    /// Difference in lines between output and processed input.
    pub(crate) grown: i64,
}

impl<'a> Work<'a> {
    pub(crate) fn new(input: Vec<&'a [u8]>) -> Self {
        Self { input, output: Vec::new(), frozen: 0, grown: 0 }
    }

    pub(super) fn push(&mut self, bytes: &[u8]) {
        // Output after a last line without a line end adds one.
        if self.output.last().is_some_and(|last| *last != b'\n') {
            self.output.push(b'\n');
        }
        self.output.extend_from_slice(bytes);
    }

    /// Copies the input up to a line, counted from 0.
    pub(super) fn copy_to(&mut self, end: usize) {
        while self.frozen < end {
            if let Some(line) = self.input.get(self.frozen).copied() {
                self.push(line);
            }
            self.frozen += 1;
        }
    }

    /// Applies a hunk at a line, counted from 1. Context is copied from the file, which may differ from the hunk's.
    pub(crate) fn apply(&mut self, hunk: &Hunk, at: i64) {
        let mut line = usize::try_from(at - 1).unwrap_or(0);
        for part in &hunk.lines {
            match part.mark {
                Mark::Context => line += 1,
                Mark::Old => {
                    self.copy_to(line);
                    line += 1;
                    self.frozen = self.frozen.max(line);
                }
                Mark::New => {
                    self.copy_to(line);
                    self.push(&part.text);
                }
            }
        }
        self.grown += hunk.new_lines() - hunk.old_lines();
    }

    /// Returns the whole file.
    pub(crate) fn finish(mut self) -> Vec<u8> {
        self.copy_to(self.input.len());
        self.output
    }
}
