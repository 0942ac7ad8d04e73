//! The list of commands that were read, which `set -o history` switches on. References such as `!!` to it do not exist.

mod control;
mod file;
mod recorder;

use std::collections::VecDeque;

use crate::ir::Bytes;
use crate::state::Shell;

pub(crate) use recorder::LinePosition;

/// The default of `HISTSIZE`.
const KEPT: usize = 500;

#[derive(Debug, Default)]
pub(crate) struct History {
    pub(crate) entries: VecDeque<Bytes>,
    /// Number of entries removed from the start of the list. The others keep their numbers.
    pub(crate) base: usize,
    /// Entries of this shell that no file has yet.
    pub(crate) unsaved: usize,
    /// Maximum number of entries; `None` until `HISTSIZE` is applied.
    max_entries: Option<usize>,
    /// The command that was read last has an entry.
    pub(crate) added: bool,
    /// The newest entry is one of `history -s`.
    pub(crate) pushed: bool,
    /// Commands are read line by line, and each line is expanded and recorded before the next.
    pub(crate) reads_lines: bool,
}

impl History {
    /// Adds an entry of this shell, and removes the oldest beyond the maximum.
    pub(crate) fn push(&mut self, text: Bytes) {
        self.added = true;
        self.pushed = false;
        self.unsaved += 1;
        self.append(text);
    }

    /// Adds an entry that may come from a file.
    fn append(&mut self, text: Bytes) {
        if self.max_entries == Some(0) {
            return;
        }
        self.entries.push_back(text);
        if let Some(max_entries) = self.max_entries
            && self.entries.len() > max_entries
        {
            self.entries.pop_front();
            self.base += 1;
        }
    }

    /// Removes the newest entry.
    pub(crate) fn pop(&mut self) {
        if self.entries.pop_back().is_some() {
            self.unsaved = self.unsaved.saturating_sub(1);
        }
    }

    /// Removes a range of entries, which must exist.
    pub(crate) fn remove(&mut self, from: usize, to: usize) {
        self.entries.drain(from..=to);
        self.unsaved = self.unsaved.saturating_sub(to - from + 1);
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

    /// Sets the maximum number of entries and removes the oldest ones beyond it.
    fn limit(&mut self, max_entries: Option<usize>) {
        self.max_entries = max_entries;
        if let Some(max_entries) = max_entries {
            let extra = self.entries.len().saturating_sub(max_entries);
            self.entries.drain(..extra);
            // As in bash, the count restarts at the number of entries just removed.
            if extra > 0 {
                self.base = extra - 1;
            }
            self.unsaved = self.unsaved.min(max_entries);
        }
    }
}

impl Shell {
    /// Applies a new value of `HISTSIZE`; `None` if it was unset.
    pub(crate) fn history_size_changed(&mut self, value: Option<&[u8]>) {
        match value.filter(|text| !text.is_empty()) {
            None => self.history.limit(None),
            Some(text) => {
                if let Some(max_entries) = crate::parse::plain_number(text) {
                    self.history.limit(usize::try_from(max_entries).ok());
                }
            }
        }
    }

    /// Starts `set -o history`: applies the size and reads the file.
    pub(crate) fn start_history(&mut self) {
        if self.history.unsaved > 0 {
            return;
        }
        let size = match self.lookup(b"HISTSIZE") {
            Some(size) => size,
            None => {
                let size = KEPT.to_string().into_bytes();
                self.vars.entry(&b"HISTSIZE"[..].into()).value = crate::vars::Value::Text(size.clone());
                size
            }
        };
        self.history_size_changed(Some(&size));
        if let Some(path) = self.history_path() {
            // A missing file has no entries.
            let _ = self.read_history(&path);
        }
    }
}
