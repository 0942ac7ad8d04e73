//! Cutting a page of lines out of a file that may be large, with a window that tells the truth.

use crate::error::{FileError, FileErrorCode};
use crate::file::LineWindow;

/// The most text that one page holds, in bytes. A page of 2,000 lines stays far below; one that does not would be cut by
/// every tool that shows it to a model. The Python reference has the same bound.
pub const PAGE_BYTES: usize = 500 * 1024;

/// How far a NUL byte is looked for. Text has none, and what begins without one is rarely binary: git's rule, and its
/// number.
const NUL_WITHIN_BYTES: u64 = 8000;

/// Reads a file piece by piece and keeps one page of it.
///
/// The whole file has to pass: its number of lines, and whether it is text at all, show only at its end.
#[derive(Debug)]
pub struct PageReader {
    offset: u64,
    limit: u64,
    /// Line ends seen.
    ends: u64,
    bytes: u64,
    ends_in_newline: bool,
    page: Vec<u8>,
    overflow: bool,
    text: TextCheck,
}

/// A page of lines.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Page {
    /// The lines with their ends.
    pub text: String,
    /// Which lines. `None` for an empty file and when no lines were asked for.
    pub window: Option<LineWindow>,
    /// The only line of the page is longer than [`PAGE_BYTES`] and was cut.
    pub line_cut: bool,
    /// The file holds nothing at all.
    pub empty_file: bool,
}

impl PageReader {
    /// Keeps `limit` lines after the first `offset`.
    pub fn new(offset: u64, limit: u64) -> Self {
        Self {
            offset,
            limit,
            ends: 0,
            bytes: 0,
            ends_in_newline: true,
            page: Vec::new(),
            overflow: false,
            text: TextCheck::default(),
        }
    }

    /// Takes the next piece of the file.
    pub fn push(&mut self, piece: &[u8]) {
        let Some(last) = piece.last() else { return };
        self.text.push(piece, self.bytes);
        self.bytes = self.bytes.saturating_add(piece.len() as u64);
        self.ends_in_newline = *last == b'\n';
        let end = self.offset.saturating_add(self.limit);
        let mut rest = piece;
        while !rest.is_empty() {
            let in_page = self.ends >= self.offset && self.ends < end;
            // How many line ends until the page begins, or is full; never again behind it.
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

    /// Whether what has passed so far can be text. Once false it stays false.
    pub fn is_text(&self) -> bool {
        self.text.good
    }

    /// The page, or `None` when the file is not text.
    ///
    /// # Errors
    /// [`FileErrorCode::PastEnd`] when the file has no line at the offset; an empty file has an empty page at any.
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
        let line_cut = self.overflow && self.cut_overflow();
        let lines = count_newlines(&self.page).saturating_add(u64::from(self.page.last() != Some(&b'\n')));
        let start = self.offset.saturating_add(1);
        let window = LineWindow { start, end: self.offset.saturating_add(lines).min(total), total };
        // The whole file passed the check, and pages end at line ends or between characters.
        let text = String::from_utf8(self.page).unwrap_or_else(|bad| String::from_utf8_lossy(bad.as_bytes()).into());
        Ok(Some(Page { text, window: Some(window), line_cut, empty_file: false }))
    }

    /// Counts line ends in `bytes` up to the one numbered `missing`, and returns the length up to and with it.
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

    /// Cuts a page that was too long behind its last whole line, or between characters when it has none; then true.
    fn cut_overflow(&mut self) -> bool {
        if let Some(end) = self.page.iter().rposition(|byte| *byte == b'\n') {
            self.page.truncate(end + 1);
            return false;
        }
        let whole = std::str::from_utf8(&self.page).map_or_else(|bad| bad.valid_up_to(), str::len);
        self.page.truncate(whole);
        true
    }
}

/// Counting without looking for each one's place, and in bytes that cannot overflow, which the compiler turns into vector
/// instructions.
fn count_newlines(bytes: &[u8]) -> u64 {
    let in_chunk = |chunk: &[u8]| chunk.iter().map(|byte| u8::from(*byte == b'\n')).sum::<u8>();
    bytes.chunks(usize::from(u8::MAX)).map(|chunk| u64::from(in_chunk(chunk))).sum()
}

/// Checks UTF-8 over pieces that may end within a character.
#[derive(Debug)]
struct TextCheck {
    good: bool,
    /// The beginning of a character at the end of the last piece.
    begun: Vec<u8>,
}

impl Default for TextCheck {
    fn default() -> Self {
        Self { good: true, begun: Vec::new() }
    }
}

impl TextCheck {
    fn push(&mut self, piece: &[u8], at: u64) {
        if !self.good {
            return;
        }
        let near = usize::try_from(NUL_WITHIN_BYTES.saturating_sub(at)).unwrap_or(usize::MAX);
        if piece.iter().take(near).any(|byte| *byte == 0) {
            self.good = false;
            return;
        }
        let mut rest = piece;
        while !self.begun.is_empty() {
            let Some((next, behind)) = rest.split_first() else { return };
            self.begun.push(*next);
            rest = behind;
            match std::str::from_utf8(&self.begun) {
                Ok(_) => self.begun.clear(),
                Err(bad) if bad.error_len().is_some() => {
                    self.good = false;
                    return;
                }
                Err(_) => {}
            }
        }
        if let Err(bad) = std::str::from_utf8(rest) {
            self.good = bad.error_len().is_none();
            self.begun.extend_from_slice(rest.get(bad.valid_up_to()..).unwrap_or_default());
        }
    }

    fn finish(&self) -> bool {
        self.good && self.begun.is_empty()
    }
}

#[cfg(test)]
mod tests;
