//! History files: a line is an entry.

use tidebox_rt::{self as rt, Errno, Open};

use crate::ir::Bytes;
use crate::state::Shell;

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

    /// Adds the entries of a file. A last line without a newline is incomplete, and lines with times are skipped.
    pub(crate) fn read_history(&mut self, path: &[u8]) -> Result<(), Errno> {
        let text = self.read_file(path)?;
        for line in text.split_inclusive(|&b| b == b'\n').filter_map(|line| line.strip_suffix(b"\n")) {
            let line = line.strip_suffix(b"\r").unwrap_or(line);
            let is_time = line.first() == Some(&b'#') && line.get(1).is_some_and(u8::is_ascii_digit);
            if !line.is_empty() && !is_time {
                self.history.append(line.to_vec());
            }
        }
        Ok(())
    }

    /// The entries starting at an index, in the format of a file.
    fn entries_as_text(&self, from: usize) -> Bytes {
        self.history.entries.iter().skip(from).flat_map(|entry| [&entry[..], b"\n"].concat()).collect()
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
        self.write_file(path, &text, false)
    }

    /// Adds the entries to a file that no file has yet.
    pub(crate) fn append_history(&mut self, path: &[u8]) -> Result<(), Errno> {
        let new = self.history.unsaved.min(self.history.entries.len());
        if new > 0 {
            let text = self.entries_as_text(self.history.entries.len() - new);
            self.write_file(path, &text, true)?;
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
    }
}
