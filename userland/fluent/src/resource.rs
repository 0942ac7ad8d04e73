//! The text of a message file, and lookup of messages in it.

use std::sync::atomic::{AtomicUsize, Ordering};

use fluent_syntax::parser::ParserError;
use memchr::{memchr, memmem};

/// Lines scanned after the last message found before the whole text is searched.
const NEAR_LINES: usize = 8;

/// A file of messages.
#[derive(Debug)]
pub struct FluentResource {
    text: String,
    /// End of the message found last. Tools request their messages nearly in the order of the file, so the next one usually
    /// starts here.
    next: AtomicUsize,
}

impl FluentResource {
    /// Stores the text of a file without validation: lines that are not messages are skipped during lookup.
    pub fn try_new(text: String) -> Result<Self, (Self, Vec<ParserError>)> {
        Ok(Self { text, next: AtomicUsize::new(0) })
    }

    /// Returns the source text of a message value.
    pub(crate) fn find(&self, id: &str) -> Option<&str> {
        let start = self.near(id).or_else(|| self.anywhere(id))?;
        let end = value_end(self.text.as_bytes(), start);
        self.next.store(end, Ordering::Relaxed);
        self.text.get(start..end)
    }

    /// Scans the next few lines. Returns the start of the value.
    fn near(&self, id: &str) -> Option<usize> {
        let text = self.text.as_bytes();
        let mut at = self.next.load(Ordering::Relaxed);
        for _ in 0..NEAR_LINES {
            if let Some(value) = value_at(text, at, id) {
                return Some(value);
            }
            at += memchr(b'\n', text.get(at..)?)? + 1;
        }
        None
    }

    fn anywhere(&self, id: &str) -> Option<usize> {
        if id.is_empty() {
            return None;
        }
        let text = self.text.as_bytes();
        memmem::find_iter(text, id).find_map(|at| {
            let begins_line = at == 0 || text.get(at - 1) == Some(&b'\n');
            if begins_line { value_at(text, at, id) } else { None }
        })
    }
}

/// Returns the start of the value of the message at `at`, if it has this name.
fn value_at(text: &[u8], at: usize, id: &str) -> Option<usize> {
    let first = text.get(at)?;
    let rest = text.get(at..)?.strip_prefix(id.as_bytes())?;
    let blanks = rest.iter().take_while(|byte| **byte == b' ').count();
    (first.is_ascii_alphabetic() && rest.get(blanks) == Some(&b'=')).then_some(at + id.len() + blanks + 1)
}

/// Returns the end of a value: before a line that is neither blank, nor indented, nor closes a placeable.
fn value_end(text: &[u8], start: usize) -> usize {
    let mut at = start;
    loop {
        let rest = text.get(at..).unwrap_or_default();
        let Some(end) = memchr(b'\n', rest) else {
            return text.len();
        };
        at += end + 1;
        if !matches!(text.get(at), Some(b' ' | b'}' | b'\n' | b'\r')) {
            return at;
        }
    }
}
