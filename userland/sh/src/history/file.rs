//! History files: an entry is one line, or several if time lines separate the entries.

use tidebox_rt::{self as rt, Errno, Open};

use super::Entry;
use crate::ir::Bytes;
use crate::state::Shell;

/// Returns whether a line of a file is the time of the entry after it.
fn tells_time(line: &[u8]) -> bool {
    line.first() == Some(&b'#') && line.get(1).is_some_and(u8::is_ascii_digit)
}

impl Shell {
    /// The file that `HISTFILE` names.
    pub(crate) fn history_path(&mut self) -> Option<Bytes> {
        self.lookup(b"HISTFILE").filter(|path| !path.is_empty())
    }

    fn read_file(&mut self, path: &[u8]) -> Result<Bytes, Errno> {
        let fd = self.open_path(path, Open { read: true, ..Open::default() })?;
        let text = self.read_all(fd);
        self.io.close(fd);
        Ok(text)
    }

    /// Adds the entries of a file starting at a line.
    pub(crate) fn read_history(&mut self, path: &[u8], from: usize) -> Result<(), Errno> {
        let text = self.read_file(path)?;
        if tells_time(&text) && self.lookup(b"HISTTIMEFORMAT").is_some() {
            self.history.timed = true;
        }
        let now = self.history.now();
        let (mut number, mut at) = (0, None);
        // A last line without a newline is incomplete.
        for line in text.split_inclusive(|&b| b == b'\n').filter_map(|line| line.strip_suffix(b"\n")) {
            let line = line.strip_suffix(b"\r").unwrap_or(line);
            if tells_time(line) {
                let digits = line.iter().skip(1).take_while(|b| b.is_ascii_digit());
                at = Some(digits.fold(0_u64, |n, b| n.saturating_mul(10).saturating_add(u64::from(b - b'0'))));
                continue;
            }
            number += 1;
            if number <= from || line.is_empty() {
                continue;
            }
            let joins = at.is_none() && self.history.timed;
            match self.history.entries.back_mut().filter(|_| joins) {
                Some(entry) => entry.text.extend([b"\n", line].concat()),
                None => self.history.append(line.to_vec(), at.take().or(now)),
            }
        }
        self.history.file_lines = number;
        Ok(())
    }

    /// The entries starting at an index, in the format of a file.
    fn entries_as_text(&mut self, from: usize) -> Bytes {
        let timed = self.lookup(b"HISTTIMEFORMAT").is_some();
        let mut text = Bytes::new();
        for Entry { text: entry, at } in self.history.entries.iter().skip(from) {
            if let Some(at) = at.filter(|_| timed) {
                text.extend(format!("#{at}\n").into_bytes());
            }
            text.extend_from_slice(entry);
            text.push(b'\n');
        }
        text
    }

    fn write_file(&mut self, path: &[u8], text: &[u8], append: bool) -> Result<(), Errno> {
        let how = Open { write: true, create: true, truncate: !append, append, ..Open::default() };
        let is_new = rt::stat(path, true).is_err();
        let fd = self.open_path(path, how)?;
        if is_new {
            // Only the owner may read typed commands. A failed chmod is ignored.
            let _ = rt::chmod(path, 0o600);
        }
        let written = rt::write_all(fd, text);
        self.io.close(fd);
        written
    }

    /// Writes all entries to a file.
    pub(crate) fn write_history(&mut self, path: &[u8]) -> Result<(), Errno> {
        let text = self.entries_as_text(0);
        self.write_file(path, &text, false)?;
        self.history.file_lines = self.history.entries.len();
        Ok(())
    }

    /// Adds the entries to a file that no file has yet.
    pub(crate) fn append_history(&mut self, path: &[u8]) -> Result<(), Errno> {
        let new = self.history.unsaved.min(self.history.entries.len());
        if new > 0 {
            let text = self.entries_as_text(self.history.entries.len() - new);
            self.write_file(path, &text, true)?;
            self.history.file_lines += new;
        }
        self.history.unsaved = 0;
        Ok(())
    }

    /// Leaves the list in `HISTFILE` when the shell ends.
    pub(crate) fn save_history(&mut self) {
        if !self.options.history || self.history.unsaved == 0 || self.process.forked {
            return;
        }
        let Some(path) = self.history_path() else { return };
        // As in bash, errors at the end of a shell are not reported.
        let _ = if self.history.unsaved <= self.history.entries.len() || self.options.histappend {
            self.append_history(&path)
        } else {
            self.write_history(&path)
        };
        self.shorten_file_as_wanted();
    }

    /// Truncates the file to its newest entries.
    pub(super) fn shorten_history_file(&mut self, max_entries: usize) {
        let Some(path) = self.history_path() else { return };
        let Ok(text) = self.read_file(&path) else { return };
        let lines: Vec<&[u8]> = text.split_inclusive(|&b| b == b'\n').collect();
        // A time line belongs to the entry after it.
        let mut starts: Vec<usize> =
            (0..lines.len()).filter(|&at| lines.get(at).is_some_and(|line| !tells_time(line))).collect();
        if starts.len() > max_entries {
            let last_removed = starts.drain(..starts.len() - max_entries).next_back().unwrap_or(0);
            // A file that cannot be written keeps its length.
            let _ = self.write_file(&path, &lines.get(last_removed + 1..).unwrap_or_default().concat(), false);
        }
        self.history.file_lines = self.history.file_lines.min(max_entries);
    }
}
