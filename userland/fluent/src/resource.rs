//! The text of a file of messages, and where each message begins.

use std::ops::Range;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicUsize, Ordering};

use fluent_syntax::parser::ParserError;

/// A file of messages.
#[derive(Debug)]
pub struct FluentResource {
    text: String,
    entries: OnceLock<Vec<Entry>>,
    /// The entry after the one found last. Tools ask for their messages nearly in the order of the file, so that a search
    /// which begins here usually ends here.
    next: AtomicUsize,
}

#[derive(Debug)]
struct Entry {
    id: Range<usize>,
    value: Range<usize>,
}

impl FluentResource {
    /// Takes the text of a file. It is not checked: what is no message is passed over when messages are looked up.
    pub fn try_new(text: String) -> Result<Self, (Self, Vec<ParserError>)> {
        Ok(Self { text, entries: OnceLock::new(), next: AtomicUsize::new(0) })
    }

    /// The value of a message as it is written.
    pub(crate) fn find(&self, id: &str) -> Option<&str> {
        let entries = self.entries.get_or_init(|| index(&self.text));
        let start = self.next.load(Ordering::Relaxed).min(entries.len());
        let (before, after) = entries.split_at(start);
        let (at, entry) = (start..)
            .zip(after)
            .chain((0..).zip(before))
            .find(|(_, entry)| self.text.get(entry.id.clone()) == Some(id))?;
        self.next.store(at.saturating_add(1), Ordering::Relaxed);
        self.text.get(entry.value.clone())
    }
}

/// Finds the messages. One begins at a letter in the first column and goes on over blank lines, indented lines and
/// lines that close a placeable.
fn index(text: &str) -> Vec<Entry> {
    let bytes = text.as_bytes();
    // A line of a file of messages is about 64 bytes long; growing step by step costs more than a little too much room.
    let mut entries: Vec<Entry> = Vec::with_capacity(bytes.len() / 64);
    // Whether the line belongs to the last entry, unless something else begins on it.
    let mut open = false;
    let mut at = 0;
    while let Some(line) = bytes.get(at..).filter(|rest| !rest.is_empty()) {
        let length = memchr::memchr(b'\n', line).map_or(line.len(), |end| end + 1);
        let end = at + length;
        match line.first() {
            Some(first) if first.is_ascii_alphabetic() => {
                let id = line.iter().take_while(|byte| is_id(**byte)).count();
                let value = line.get(id..length).and_then(value_after);
                open = value.is_some();
                if let Some(value) = value {
                    entries.push(Entry { id: at..at + id, value: end - value.len()..end });
                }
            }
            Some(b' ' | b'}' | b'\n' | b'\r') => {
                if let Some(entry) = entries.last_mut().filter(|_| open) {
                    entry.value.end = end;
                }
            }
            _ => open = false,
        }
        at = end;
    }
    entries
}

fn is_id(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'_'
}

/// What follows the equals sign.
fn value_after(mut rest: &[u8]) -> Option<&[u8]> {
    while let Some((b' ', tail)) = rest.split_first() {
        rest = tail;
    }
    rest.strip_prefix(b"=")
}
