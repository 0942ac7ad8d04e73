//! The list of commands that were read, which `set -o history` switches on. References such as `!!` to it do not exist.

mod control;
mod file;

use std::collections::VecDeque;

use crate::ir::Bytes;

/// Maximum number of entries.
const MAX_ENTRIES: usize = 500;

#[derive(Debug, Default)]
pub(crate) struct History {
    /// Commands; one of several lines contains newlines.
    pub(crate) entries: VecDeque<Bytes>,
    /// Number of entries removed from the start of the list. The others keep their numbers.
    pub(crate) base: usize,
    /// Entries of this shell that no file has yet.
    unsaved: usize,
    /// The command that was read last has an entry.
    pub(crate) added: bool,
    /// Commands are read line by line, and each line is recorded before the next.
    pub(crate) reads_lines: bool,
}

impl History {
    /// Adds an entry of this shell.
    fn push(&mut self, text: Bytes) {
        self.unsaved += 1;
        self.append(text);
    }

    /// Adds a line to the newest entry.
    fn extend(&mut self, line: &[u8]) {
        if let Some(entry) = self.entries.back_mut() {
            entry.push(b'\n');
            entry.extend_from_slice(line);
        }
    }

    /// Adds an entry that may come from a file, and removes the oldest beyond the maximum.
    fn append(&mut self, text: Bytes) {
        self.entries.push_back(text);
        if self.entries.len() > MAX_ENTRIES {
            self.entries.pop_front();
            self.base += 1;
        }
        self.unsaved = self.unsaved.min(self.entries.len());
    }

    /// Removes an entry, which must exist.
    pub(crate) fn remove(&mut self, at: usize) {
        self.entries.remove(at);
        self.unsaved = self.unsaved.min(self.entries.len());
    }

    pub(crate) fn clear(&mut self) {
        self.entries.clear();
        self.base = 0;
        self.unsaved = 0;
    }

    /// The number of the first entry, counted from 1.
    pub(crate) fn first(&self) -> usize {
        self.base + 1
    }
}
