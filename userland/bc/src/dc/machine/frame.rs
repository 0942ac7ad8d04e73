//! Running texts: sources, and the macros they call.

use super::super::source::Source;
use super::super::value::Value;
use super::Machine;

/// Maximum depth of macro calls, tail calls excluded.
const MAX_DEPTH: usize = 1_000_000;

/// A running text.
pub(super) struct Frame {
    pub(super) source: Source,
    /// Number of finished macros that this one replaced (tail calls), for `Q`.
    pub(super) replaced: usize,
}

impl Machine {
    /// Runs a source to its end.
    pub(in crate::dc) fn run(&mut self, source: Source) {
        self.frames = vec![Frame { source, replaced: 0 }];
        while !self.quit && !self.frames.is_empty() {
            match self.next() {
                Some(command) => self.command(command),
                None => {
                    self.frames.pop();
                }
            }
        }
    }

    pub(super) fn next(&mut self) -> Option<u8> {
        if let Some(held) = self.held.take() {
            return Some(held);
        }
        let frame = self.frames.last_mut()?;
        if matches!(frame.source, Source::Standard) {
            self.output.flush_before_reading(&self.standard);
        }
        match frame.source.next(&mut self.standard) {
            Ok(byte) => byte,
            Err(errno) => {
                self.report(&format!("error reading input: {}", errno.text()));
                (self.quit, self.code) = (true, 1);
                None
            }
        }
    }

    /// Runs a string; pushes any other value.
    pub(super) fn execute(&mut self, value: Value) {
        let text = match value {
            Value::String(text) => text,
            number => return self.stack.push(number),
        };
        // A tail call replaces the calling macro, so that loops do not grow.
        let mut replaced = 0;
        if self.frames.len() > 1
            && let Some(ended) = self.frames.pop_if(|frame| frame.source.is_at_end())
        {
            replaced = ended.replaced + 1;
        }
        if self.frames.len() >= MAX_DEPTH {
            self.report("macros are nested too deep");
            self.quit = true;
            return;
        }
        self.frames.push(Frame { source: Source::text(text), replaced });
    }

    pub(super) fn unwind(&mut self, levels: usize) {
        let mut left = levels;
        while left > 0
            && let Some(frame) = self.frames.last_mut()
        {
            if frame.replaced >= left {
                frame.replaced -= left;
                // The remaining levels are macros replaced by tail calls.
                frame.source = Source::text(Vec::new());
                return;
            }
            left -= frame.replaced + 1;
            self.frames.pop();
        }
    }

    /// Returns whether the commands came from the command line. Ending those early is not an error.
    pub(super) fn runs_expression(&self) -> bool {
        self.frames.first().is_some_and(|frame| matches!(frame.source, Source::Text(..)))
    }

    pub(super) fn unexpected_end(&mut self) {
        if matches!(self.frames.last(), Some(Frame { source: Source::Text(..), .. })) {
            self.report("unexpected EOS");
        } else {
            self.report("unexpected EOF");
            self.code = 1;
        }
    }
}
