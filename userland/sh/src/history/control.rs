//! Filtering of history entries by `HISTCONTROL`.

use crate::state::Shell;

impl Shell {
    /// Returns whether a line becomes an entry. Removes its duplicates if requested.
    pub(crate) fn admits(&mut self, line: &[u8]) -> bool {
        let control = self.lookup(b"HISTCONTROL").unwrap_or_default();
        let wants = |what: &[u8]| control.split(|&b| b == b':').any(|word| word == what);
        let both = wants(b"ignoreboth");
        if (both || wants(b"ignorespace")) && line.starts_with(b" ") {
            return false;
        }
        let newest = self.history.entries.back().map(Vec::as_slice);
        if (both || wants(b"ignoredups")) && newest == Some(line) {
            return false;
        }
        if wants(b"erasedups") {
            self.history.entries.retain(|entry| entry != line);
        }
        true
    }
}
