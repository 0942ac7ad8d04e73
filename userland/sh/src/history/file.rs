//! History files, with one entry per line.

use tidebox_rt::{self as rt, Errno, Open};

use crate::ir::Bytes;
use crate::state::Shell;

impl Shell {
    /// The file that `HISTFILE` names.
    pub(crate) fn history_path(&mut self) -> Option<Bytes> {
        self.lookup(b"HISTFILE").filter(|path| !path.is_empty())
    }

    /// Starts `set -o history`: reads the file.
    pub(crate) fn start_history(&mut self) {
        if self.history.entries.is_empty()
            && let Some(path) = self.history_path()
        {
            // A missing file has no entries.
            let _ = self.read_history(&path);
        }
    }

    /// Adds the entries of a file.
    pub(crate) fn read_history(&mut self, path: &[u8]) -> Result<(), Errno> {
        let fd = self.open_path(path, Open { read: true, ..Open::default() })?;
        let text = self.read_all(fd);
        self.io.close(fd);
        for line in text.split(|&b| b == b'\n').filter(|line| !line.is_empty()) {
            self.history.append(line.to_vec());
        }
        Ok(())
    }

    /// Writes all entries to a file, or adds those to it that no file has yet.
    pub(crate) fn write_history(&mut self, path: &[u8], append: bool) -> Result<(), Errno> {
        let count = self.history.entries.len();
        let new = if append { self.history.unsaved } else { count };
        if append && new == 0 {
            return Ok(());
        }
        let entries = self.history.entries.iter().skip(count - new);
        let text = entries.flat_map(|entry| [&entry[..], b"\n"]).collect::<Vec<_>>().concat();
        let is_new = rt::stat(path, true).is_err();
        let fd = self.open_path(path, Open { write: true, create: true, truncate: !append, append, ..Open::default() })?;
        if is_new {
            // Only the owner may read typed commands. A failed chmod is ignored.
            let _ = rt::chmod(path, 0o600);
        }
        let written = rt::write_all(fd, &text);
        self.io.close(fd);
        self.history.unsaved = 0;
        written
    }

    /// Leaves the list in `HISTFILE` when the shell ends.
    pub(crate) fn save_history(&mut self) {
        if self.options.history
            && !self.process.forked
            && let Some(path) = self.history_path()
        {
            // As in bash, errors at the end of a shell are not reported.
            let _ = self.write_history(&path, true);
        }
    }
}
