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
    pub(crate) entries: VecDeque<Entry>,
    /// Number of entries removed from the start of the list. The others keep their numbers.
    pub(crate) base: usize,
    /// Entries of this shell that no file has yet.
    pub(crate) unsaved: usize,
    /// Number of lines of the file that were read or written.
    pub(crate) file_lines: usize,
    /// Maximum number of entries; `None` until `HISTSIZE` is applied.
    max_entries: Option<usize>,
    /// The command that was read last has an entry.
    pub(crate) added: bool,
    /// The newest entry is one of `history -s`.
    pub(crate) pushed: bool,
    /// Commands are read line by line, and each line is expanded and recorded before the next.
    pub(crate) reads_lines: bool,
    /// Times of entries are recorded, because the list is on or `HISTTIMEFORMAT` was set.
    tells_times: bool,
    /// A file with time lines was read, so that an entry may have several lines.
    timed: bool,
}

#[derive(Clone, Debug)]
pub(crate) struct Entry {
    pub(crate) text: Bytes,
    /// Time of reading, in seconds since the epoch; `None` if not recorded.
    pub(crate) at: Option<u64>,
}

impl History {
    /// Adds an entry of this shell, and removes the oldest beyond the maximum.
    pub(crate) fn push(&mut self, text: Bytes) {
        self.added = true;
        self.pushed = false;
        self.unsaved += 1;
        self.append(text, self.now());
    }

    /// Adds an entry that may come from a file.
    fn append(&mut self, text: Bytes, at: Option<u64>) {
        if self.max_entries == Some(0) {
            return;
        }
        self.entries.push_back(Entry { text, at });
        if let Some(max_entries) = self.max_entries
            && self.entries.len() > max_entries
        {
            self.entries.pop_front();
            self.base += 1;
        }
    }

    fn now(&self) -> Option<u64> {
        self.tells_times.then(|| tidebox_rt::realtime_ns() / 1_000_000_000)
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
    /// Applies a new value of a variable that configures the list; `None` if it was unset.
    pub(crate) fn history_variable_changed(&mut self, name: &[u8], value: Option<&[u8]>) {
        match name {
            b"HISTSIZE" => match value.filter(|text| !text.is_empty()) {
                None => self.history.limit(None),
                Some(text) => {
                    if let Some(max_entries) = crate::parse::plain_number(text) {
                        self.history.limit(usize::try_from(max_entries).ok());
                    }
                }
            },
            b"HISTFILESIZE" => {
                let max_entries = value.and_then(crate::parse::plain_number);
                if let Some(max_entries) = max_entries.and_then(|max_entries| usize::try_from(max_entries).ok()) {
                    self.shorten_history_file(max_entries);
                }
            }
            _ => self.history.tells_times = true,
        }
    }

    /// Starts `set -o history`: applies the size and reads the file.
    pub(crate) fn start_history(&mut self) {
        self.history.tells_times = true;
        if self.history.unsaved > 0 {
            return;
        }
        let size = match self.lookup(b"HISTSIZE") {
            Some(size) => size,
            None => {
                let size = KEPT.to_string().into_bytes();
                self.set_plain(b"HISTSIZE", size.clone());
                size
            }
        };
        self.history_variable_changed(b"HISTSIZE", Some(&size));
        if self.lookup(b"HISTFILESIZE").is_none() {
            self.set_plain(b"HISTFILESIZE", size);
        }
        self.shorten_file_as_wanted();
        if let Some(path) = self.history_path() {
            // A missing file has no entries.
            let _ = self.read_history(&path, 0);
        }
    }

    /// Cuts the file to `HISTFILESIZE`.
    fn shorten_file_as_wanted(&mut self) {
        let size = self.lookup(b"HISTFILESIZE");
        self.history_variable_changed(b"HISTFILESIZE", size.as_deref());
    }

    fn set_plain(&mut self, name: &[u8], value: Bytes) {
        self.vars.entry(&name.into()).value = crate::vars::Value::Text(value);
    }
}
