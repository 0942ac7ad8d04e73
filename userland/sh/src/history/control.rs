//! Lines that become entries of the history, as `HISTCONTROL` says.

use crate::state::Shell;

impl Shell {
    /// Records a line of a command: as a new entry, or as a part of the entry of its command.
    pub(crate) fn record_line(&mut self, line: &[u8], first: bool) {
        let text = line.strip_suffix(b"\n").unwrap_or(line);
        if first {
            self.history.added = !text.is_empty() && self.admits(text);
            if self.history.added {
                self.history.push(text.to_vec());
            }
        } else if self.history.added {
            self.history.extend(text);
        }
    }

    /// Returns whether a line becomes an entry.
    fn admits(&mut self, line: &[u8]) -> bool {
        let control = self.lookup(b"HISTCONTROL").unwrap_or_default();
        let wants = |what: &[u8]| control.split(|&b| b == b':').any(|word| word == what || word == b"ignoreboth");
        let hidden = wants(b"ignorespace") && line.starts_with(b" ");
        let repeated = wants(b"ignoredups") && self.history.entries.back().is_some_and(|newest| newest == line);
        !hidden && !repeated
    }
}
