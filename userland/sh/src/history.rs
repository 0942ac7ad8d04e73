//! The list of commands that were read, which `set -o history` switches on.

use crate::ir::Bytes;
use crate::state::Shell;

/// Commands that are kept when `HISTSIZE` says nothing else.
const KEPT: usize = 500;

#[derive(Debug, Default)]
pub(crate) struct History {
    pub(crate) entries: Vec<Entry>,
    /// The number of the first entry.
    pub(crate) base: usize,
    /// Entries that no file has yet.
    pub(crate) unsaved: usize,
    /// Lines of the file that are known here.
    pub(crate) file_lines: usize,
}

#[derive(Clone, Debug)]
pub(crate) struct Entry {
    pub(crate) text: Bytes,
    /// When it was read, in seconds since the epoch.
    pub(crate) at: u64,
}

impl History {
    pub(crate) fn push(&mut self, text: Bytes) {
        self.entries.push(Entry { text, at: tidebox_rt::realtime_ns() / 1_000_000_000 });
        self.unsaved += 1;
    }

    /// The number of the first entry, counted from 1.
    pub(crate) fn first(&self) -> usize {
        self.base + 1
    }
}

impl Shell {
    /// Takes note of a command that was just read, as `HISTCONTROL` and `HISTSIZE` want it.
    #[inline(never)]
    pub(crate) fn remember_command(&mut self, text: &[u8]) {
        let text = text.strip_suffix(b"\n").unwrap_or(text);
        if text.trim_ascii().is_empty() {
            return;
        }
        let control = self.lookup(b"HISTCONTROL").unwrap_or_default();
        let wants = |what: &[u8]| control.split(|&b| b == b':').any(|word| word == what || word == b"ignoreboth");
        if wants(b"ignorespace") && text.starts_with(b" ") {
            return;
        }
        let line = on_one_line(text.trim_ascii_start());
        let newest = self.history.entries.last().map(|entry| &entry.text);
        if wants(b"ignoredups") && newest == Some(&line) {
            return;
        }
        if control.split(|&b| b == b':').any(|word| word == b"erasedups") {
            self.history.entries.retain(|entry| entry.text != line);
        }
        self.history.push(line);
        let kept = self.lookup(b"HISTSIZE").and_then(|text| crate::parse::plain_number(&text));
        let kept = kept.map_or(Some(KEPT), |n| usize::try_from(n).ok());
        if let Some(kept) = kept
            && self.history.entries.len() > kept
        {
            let extra = self.history.entries.len() - kept;
            self.history.entries.drain(..extra);
            self.history.base += extra;
        }
    }
}

/// A command of several lines as one: newlines become semicolons where the grammar wants one.
fn on_one_line(text: &[u8]) -> Bytes {
    if !text.contains(&b'\n') || text.windows(2).any(|pair| pair == b"<<") {
        return text.to_vec();
    }
    let mut line = Bytes::new();
    for part in text.split(|&b| b == b'\n').map(<[u8]>::trim_ascii).filter(|part| !part.is_empty()) {
        if !line.is_empty() {
            let last = line.rsplit(|b| b.is_ascii_whitespace()).next().unwrap_or_default();
            let open = matches!(last, b"do" | b"then" | b"else" | b"in" | b"{" | b"(")
                || line.ends_with(b"&&")
                || line.ends_with(b"|")
                || line.ends_with(b";")
                || line.ends_with(b"&");
            line.extend_from_slice(if open { b" " } else { b"; " });
        }
        line.extend_from_slice(part);
    }
    line
}
