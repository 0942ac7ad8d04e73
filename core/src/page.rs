//! Extraction of a page of lines from a possibly large file, with an exact window.

use crate::error::{FileError, FileErrorCode};
use crate::file::LineWindow;

/// Maximum text of one page, in bytes. A page of 2,000 lines is usually far below; larger ones would be truncated by every tool
/// that shows them to a model. The Python reference has the same limit.
pub const PAGE_BYTES: usize = 500 * 1024;

/// Number of bytes searched for a NUL byte. Text has none, and a file that starts without one is rarely binary: git's rule and
/// number.
const BINARY_SNIFF_BYTES: u64 = 8000;

/// Reads a file in chunks and keeps one page of it.
///
/// The whole file must be read: only its end determines the number of lines and whether it is text.
#[derive(Debug)]
pub struct PageReader {
    offset: u64,
    limit: u64,
    /// Number of newlines read.
    ends: u64,
    bytes: u64,
    ends_in_newline: bool,
    page: Vec<u8>,
    overflow: bool,
    text: Utf8Validator,
}

/// A page of lines.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Page {
    /// The lines with their newlines.
    pub text: String,
    /// The lines of the page. `None` for an empty file and if the limit was zero.
    pub window: Option<LineWindow>,
    /// The only line of the page exceeds [`PAGE_BYTES`] and was truncated.
    pub line_cut: bool,
    /// The file is empty.
    pub empty_file: bool,
}

impl PageReader {
    /// Creates a reader that keeps `limit` lines after the first `offset`.
    pub fn new(offset: u64, limit: u64) -> Self {
        Self {
            offset,
            limit,
            ends: 0,
            bytes: 0,
            ends_in_newline: true,
            page: Vec::new(),
            overflow: false,
            text: Utf8Validator::default(),
        }
    }

    /// Adds the next chunk of the file.
    pub fn push(&mut self, chunk: &[u8]) {
        let Some(last) = chunk.last() else { return };
        self.text.push(chunk, self.bytes);
        self.bytes = self.bytes.saturating_add(chunk.len() as u64);
        self.ends_in_newline = *last == b'\n';
        let end = self.offset.saturating_add(self.limit);
        let mut rest = chunk;
        while !rest.is_empty() {
            let in_page = self.ends >= self.offset && self.ends < end;
            // Newlines until the page starts, or is full; `None` after the page.
            let turn = if self.ends < self.offset { self.offset } else { end };
            let taken = match turn.checked_sub(self.ends).filter(|missing| *missing > 0) {
                Some(missing) => self.advance(rest, missing),
                None => self.advance(rest, u64::MAX),
            };
            let (part, behind) = rest.split_at_checked(taken).unwrap_or((rest, b""));
            if in_page {
                self.keep(part);
            }
            rest = behind;
        }
    }

    /// Returns whether the bytes read can be text. Once false it stays false.
    pub fn is_text(&self) -> bool {
        self.text.valid
    }

    /// Returns the page, or `None` if the file is not text.
    ///
    /// # Errors
    /// [`FileErrorCode::PastEnd`] if the file has no line at the offset; an empty file has an empty page at any offset.
    pub fn finish(mut self) -> Result<Option<Page>, FileError> {
        if !self.text.finish() {
            return Ok(None);
        }
        let total = self.ends.saturating_add(u64::from(!self.ends_in_newline));
        if total == 0 || self.limit == 0 {
            return Ok(Some(Page { empty_file: total == 0, ..Page::default() }));
        }
        if self.offset >= total {
            let message = format!("Line offset {} exceeds file length ({total} lines)", self.offset);
            return Err(FileError::new(FileErrorCode::PastEnd, message));
        }
        let line_cut = self.overflow && self.truncate_overflow();
        let lines = count_newlines(&self.page).saturating_add(u64::from(self.page.last() != Some(&b'\n')));
        let start = self.offset.saturating_add(1);
        let window = LineWindow { start, end: self.offset.saturating_add(lines).min(total), total };
        // The whole file was validated, and pages end after newlines or between characters.
        let text = String::from_utf8(self.page).unwrap_or_else(|bad| String::from_utf8_lossy(bad.as_bytes()).into());
        Ok(Some(Page { text, window: Some(window), line_cut, empty_file: false }))
    }

    /// Counts newlines in `bytes` up to the one numbered `missing`, and returns the length up to and including it.
    fn advance(&mut self, bytes: &[u8], missing: u64) -> usize {
        let found = count_newlines(bytes);
        if found < missing {
            self.ends = self.ends.saturating_add(found);
            return bytes.len();
        }
        self.ends = self.ends.saturating_add(missing);
        let nth = usize::try_from(missing - 1).unwrap_or(usize::MAX);
        let at = bytes.iter().enumerate().filter(|(_, byte)| **byte == b'\n').nth(nth);
        at.map_or(bytes.len(), |(at, _)| at + 1)
    }

    fn keep(&mut self, part: &[u8]) {
        let room = PAGE_BYTES.saturating_sub(self.page.len());
        self.overflow |= part.len() > room;
        self.page.extend_from_slice(part.get(..room).unwrap_or(part));
    }

    /// Truncates a page over the limit after its last whole line, or between characters if it has none, and returns true in the
    /// second case.
    fn truncate_overflow(&mut self) -> bool {
        if let Some(end) = self.page.iter().rposition(|byte| *byte == b'\n') {
            self.page.truncate(end + 1);
            return false;
        }
        let whole = std::str::from_utf8(&self.page).map_or_else(|bad| bad.valid_up_to(), str::len);
        self.page.truncate(whole);
        true
    }
}

/// Counts eight bytes at a time: WebAssembly has no vector instructions without a feature that the kernel is not built with.
fn count_newlines(bytes: &[u8]) -> u64 {
    const LOW: u64 = u64::from_ne_bytes([0x7f; 8]);
    const NEWLINES: u64 = u64::from_ne_bytes([b'\n'; 8]);
    let (words, rest) = bytes.as_chunks::<8>();
    let in_words = words.iter().map(|word| {
        let other = u64::from_ne_bytes(*word) ^ NEWLINES;
        // The high bit of each byte is clear in the sum if the byte is zero.
        u64::from((!(((other & LOW) + LOW) | other | LOW)).count_ones())
    });
    in_words.sum::<u64>() + rest.iter().map(|byte| u64::from(*byte == b'\n')).sum::<u64>()
}

/// Validates UTF-8 in chunks that may end within a character.
#[derive(Debug)]
struct Utf8Validator {
    valid: bool,
    /// Start of a character at the end of the last chunk.
    partial: Vec<u8>,
}

impl Default for Utf8Validator {
    fn default() -> Self {
        Self { valid: true, partial: Vec::new() }
    }
}

impl Utf8Validator {
    fn push(&mut self, chunk: &[u8], at: u64) {
        if !self.valid {
            return;
        }
        let near = usize::try_from(BINARY_SNIFF_BYTES.saturating_sub(at)).unwrap_or(usize::MAX);
        if chunk.iter().take(near).any(|byte| *byte == 0) {
            self.valid = false;
            return;
        }
        let mut rest = chunk;
        while !self.partial.is_empty() {
            let Some((next, behind)) = rest.split_first() else { return };
            self.partial.push(*next);
            rest = behind;
            match std::str::from_utf8(&self.partial) {
                Ok(_) => self.partial.clear(),
                Err(bad) if bad.error_len().is_some() => {
                    self.valid = false;
                    return;
                }
                Err(_) => {}
            }
        }
        if let Err(bad) = std::str::from_utf8(rest) {
            self.valid = bad.error_len().is_none();
            self.partial.extend_from_slice(rest.get(bad.valid_up_to()..).unwrap_or_default());
        }
    }

    fn finish(&self) -> bool {
        self.valid && self.partial.is_empty()
    }
}

#[cfg(test)]
mod tests;
