//! Reader of input records.

use std::ops::Range;
use std::rc::Rc;

use tidebox_rt::{Errno, Fd};

use crate::pattern::Pattern;

/// Bytes per read.
const CHUNK: usize = 64 * 1024;

/// Record separator (`RS`).
#[derive(Clone, Debug)]
pub(crate) enum Ending {
    Byte(u8),
    /// Empty lines.
    Paragraph,
    Pattern(Rc<Pattern>),
}

impl Ending {
    pub(crate) fn of(separator: &[u8], ignore_case: bool) -> Self {
        match separator {
            b"" => Self::Paragraph,
            [byte] if byte.is_ascii() && !(ignore_case && byte.is_ascii_alphabetic()) => Self::Byte(*byte),
            _ => Self::Pattern(Rc::new(Pattern::new(separator.to_vec(), ignore_case))),
        }
    }
}

/// A source of records.
#[derive(Debug)]
pub(crate) struct Input {
    pub(crate) fd: Fd,
    buffer: Vec<u8>,
    start: usize,
    end: usize,
    ended: bool,
    /// True until the first record is read.
    fresh: bool,
}

/// The read error, if one occurred.
#[derive(Debug)]
pub(crate) enum ReadError {
    Read(Errno),
    Pattern(String),
}

impl Input {
    pub(crate) fn new(fd: Fd) -> Self {
        Self { fd, buffer: Vec::new(), start: 0, end: 0, ended: false, fresh: true }
    }

    fn pending(&self) -> &[u8] {
        self.buffer.get(self.start..self.end).unwrap_or_default()
    }

    /// Reads more input after the buffered bytes. Returns whether there was more.
    fn fill(&mut self) -> Result<bool, ReadError> {
        if self.ended {
            return Ok(false);
        }
        if self.start > 0 {
            self.buffer.copy_within(self.start..self.end, 0);
            self.end -= self.start;
            self.start = 0;
        }
        if self.buffer.len() - self.end < CHUNK {
            let room = (self.buffer.len() * 2).max(CHUNK * 2);
            self.buffer.resize(room, 0);
        }
        let room = self.buffer.get_mut(self.end..).unwrap_or_default();
        let count = loop {
            match tidebox_rt::read(self.fd, room) {
                Err(Errno::INTR) => {}
                Err(error) => return Err(ReadError::Read(error)),
                Ok(count) => break count,
            }
        };
        self.ended = count == 0;
        self.end += count;
        Ok(count > 0)
    }

    /// Appends the next record to `record` and its terminator to `terminator`. Returns `false` at the end.
    #[inline]
    pub(crate) fn next(
        &mut self,
        ending: &Ending,
        record: &mut Vec<u8>,
        terminator: &mut Vec<u8>,
    ) -> Result<bool, ReadError> {
        terminator.clear();
        match ending {
            Ending::Byte(byte) => self.until_byte(*byte, record, terminator),
            Ending::Paragraph => self.paragraph(record, terminator),
            Ending::Pattern(pattern) => self.until_pattern(pattern, record, terminator),
        }
    }

    fn until_byte(&mut self, byte: u8, record: &mut Vec<u8>, terminator: &mut Vec<u8>) -> Result<bool, ReadError> {
        let mut searched = 0;
        loop {
            let pending = self.pending();
            if let Some(at) = memchr::memchr(byte, pending.get(searched..).unwrap_or_default()) {
                let at = searched + at;
                record.extend_from_slice(pending.get(..at).unwrap_or_default());
                terminator.push(byte);
                self.start += at + 1;
                return Ok(true);
            }
            searched = pending.len();
            if !self.fill()? {
                return Ok(self.remainder(record));
            }
        }
    }

    /// Makes the rest of the input the last record.
    fn remainder(&mut self, record: &mut Vec<u8>) -> bool {
        let pending = self.pending();
        if pending.is_empty() {
            return false;
        }
        record.extend_from_slice(pending);
        self.start = self.end;
        true
    }

    fn paragraph(&mut self, record: &mut Vec<u8>, terminator: &mut Vec<u8>) -> Result<bool, ReadError> {
        // Line ends before the first record do not count.
        loop {
            let pending = self.pending();
            let skip = pending.iter().take_while(|byte| **byte == b'\n').count();
            let all = skip == pending.len();
            self.start += skip;
            if !all || !self.fill()? {
                break;
            }
        }
        loop {
            let pending = self.pending();
            let end = memchr::memmem::find(pending, b"\n\n");
            let run = |at: usize| pending.iter().skip(at).take_while(|byte| **byte == b'\n').count();
            if let Some(at) = end
                && (self.ended || at + run(at) < pending.len())
            {
                let ends = run(at);
                record.extend_from_slice(pending.get(..at).unwrap_or_default());
                terminator.extend_from_slice(pending.get(at..at + ends).unwrap_or_default());
                self.start += at + ends;
                return Ok(true);
            }
            if !self.fill()? {
                if end.is_some() {
                    continue;
                }
                if !self.remainder(record) {
                    return Ok(false);
                }
                if record.last() == Some(&b'\n') {
                    record.pop();
                    terminator.push(b'\n');
                }
                return Ok(true);
            }
        }
    }

    fn until_pattern(
        &mut self,
        pattern: &Pattern,
        record: &mut Vec<u8>,
        terminator: &mut Vec<u8>,
    ) -> Result<bool, ReadError> {
        loop {
            let pending = self.pending();
            let found = match self.find(pattern, pending) {
                Ok(found) => found,
                Err(error) => return Err(ReadError::Pattern(error)),
            };
            // A match that reaches the end could be longer with what follows.
            if let Some(found) = found
                && (self.ended || found.end < pending.len())
            {
                record.extend_from_slice(pending.get(..found.start).unwrap_or_default());
                terminator.extend_from_slice(pending.get(found.clone()).unwrap_or_default());
                self.start += found.end;
                self.fresh = false;
                return Ok(true);
            }
            if !self.fill()? && self.ended {
                let again = self.find(pattern, self.pending()).map_err(ReadError::Pattern)?;
                if again.is_some() {
                    continue;
                }
                if !self.remainder(record) {
                    return Ok(false);
                }
                return Ok(true);
            }
        }
    }

    /// The first non-empty match.
    fn find(&self, pattern: &Pattern, text: &[u8]) -> Result<Option<Range<usize>>, String> {
        let mut from = 0;
        while let Some(found) = pattern.find(text, from)? {
            if !found.is_empty() {
                // `^` matches only at the start of the file.
                if found.start == 0 && !self.fresh && pattern.source().first() == Some(&b'^') {
                    from = 1;
                    continue;
                }
                return Ok(Some(found));
            }
            from = found.end + 1;
            if from > text.len() {
                break;
            }
        }
        Ok(None)
    }
}
