//! Filtering of history entries by `HISTCONTROL` and `HISTIGNORE`.

use crate::ir::Bytes;
use crate::pattern::{self, Pattern, Style};
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
        let newest = self.history.entries.back().map(|entry| &entry.text[..]);
        if (both || wants(b"ignoredups")) && newest == Some(line) {
            return false;
        }
        if self.is_ignored(line) {
            return false;
        }
        if wants(b"erasedups") {
            self.history.entries.retain(|entry| entry.text != line);
        }
        true
    }

    /// Returns whether a pattern of `HISTIGNORE` matches the whole line.
    fn is_ignored(&mut self, line: &[u8]) -> bool {
        let Some(patterns) = self.lookup(b"HISTIGNORE").filter(|patterns| !patterns.is_empty()) else { return false };
        let newest = self.history.entries.back().map(|entry| entry.text.clone()).unwrap_or_default();
        let style = Style { extended: self.options.extglob, ..Style::default() };
        split_patterns(&patterns).iter().any(|text| {
            let text = with_newest(text, &newest);
            Pattern::new(&text, style).matches(line)
        })
    }
}

/// The patterns of a list, separated by unescaped colons.
fn split_patterns(list: &[u8]) -> Vec<Bytes> {
    let mut patterns = vec![Bytes::new()];
    let mut escaped = false;
    for &byte in list {
        if byte == b':' && !escaped {
            patterns.push(Bytes::new());
        } else if let Some(last) = patterns.last_mut() {
            last.push(byte);
        }
        escaped = byte == b'\\' && !escaped;
    }
    patterns.retain(|pattern| !pattern.is_empty());
    patterns
}

/// A pattern in which `&` is the newest entry.
fn with_newest(text: &[u8], newest: &[u8]) -> Bytes {
    let mut out = Bytes::new();
    let mut bytes = text.iter().copied();
    while let Some(byte) = bytes.next() {
        match byte {
            b'&' => pattern::escape_into(&mut out, newest),
            b'\\' => match bytes.next() {
                Some(b'&') => out.push(b'&'),
                other => {
                    out.push(b'\\');
                    out.extend(other);
                }
            },
            _ => out.push(byte),
        }
    }
    out
}
