//! Search in one file.

use std::io::Read;
use std::ops::Range;

use memchr::{memchr, memrchr};
use tidebox_gnu::message::error_text;
use tidebox_gnu::regex::Regex;

use crate::input::Input;
use crate::options::{Binary, Listing, Options};
use crate::output::{Line, Output};

/// Result of a search.
#[derive(Debug, Default)]
pub(crate) struct Summary {
    /// Number of selected lines.
    pub(crate) selected: u64,
    /// The file contains a zero byte.
    pub(crate) binary: bool,
    /// Bytes read after the last requested line.
    pub(crate) unused: u64,
    /// Error that ended the search early.
    pub(crate) error: Option<String>,
}

/// Searches one file and prints its lines.
pub(crate) struct Searcher<'a> {
    options: &'a Options,
    regex: &'a Regex,
    out: &'a mut Output,
    found: Summary,
    /// Print lines. False for binary files.
    prints: bool,
    /// Number of context lines still to print.
    pending: usize,
    /// End of the lines that are printed or skipped.
    done: usize,
    /// Lines between the last printed one and the buffer were dropped.
    apart: bool,
    /// End of the counted lines, and their number.
    counted: usize,
    lines: u64,
    /// The maximum number of lines is selected.
    full: bool,
    /// End of the last of them.
    last: Option<u64>,
}

impl<'a> Searcher<'a> {
    pub(crate) fn new(options: &'a Options, regex: &'a Regex, out: &'a mut Output) -> Self {
        let prints = options.prints_lines();
        let found = Summary::default();
        Self {
            options,
            regex,
            out,
            found,
            prints,
            pending: 0,
            done: 0,
            apart: true,
            counted: 0,
            lines: 0,
            full: false,
            last: None,
        }
    }

    pub(crate) fn search(mut self, from: impl Read) -> Summary {
        let mut input = Input::new(from);
        // Start of the first line not yet searched.
        let mut next = 0;
        loop {
            let before = input.bytes().len();
            let count = match input.read() {
                Ok(count) => count,
                Err(error) => {
                    self.found.error = Some(error_text(&error));
                    return self.found;
                }
            };
            if !self.look_at(&mut input, before) {
                return Summary::default();
            }
            let bytes = input.bytes();
            let fresh = bytes.get(before.max(next)..).unwrap_or_default();
            let end = match memrchr(self.options.regex.terminator, fresh) {
                _ if input.ended => bytes.len(),
                Some(at) => before.max(next) + at + 1,
                None => continue,
            };
            let text = bytes.get(..end).unwrap_or_default();
            let go_on = self.lines(text, next, input.offset);
            if !go_on || count == 0 || self.out.is_broken() {
                if let Some(after) = self.last {
                    self.found.unused = (input.offset + input.bytes().len() as u64).saturating_sub(after);
                }
                return self.found;
            }
            next = end - self.forget(&mut input, end);
        }
    }

    /// Checks new data for zero bytes. Returns `false` if the file is skipped as binary.
    fn look_at(&mut self, input: &mut Input<impl Read>, before: usize) -> bool {
        if self.options.binary == Binary::Text || self.options.regex.terminator == 0 {
            return true;
        }
        let fresh = input.bytes_mut().get_mut(before..).unwrap_or_default();
        if !self.found.binary && memchr(0, fresh).is_none() {
            // A file that is skipped if binary is checked before any line of it is searched.
            let checks = self.options.binary == Binary::Never && self.options.regex.unicode && before == 0;
            return !(checks && std::str::from_utf8(fresh).is_err_and(|error| error.error_len().is_some()));
        }
        if self.options.binary == Binary::Never {
            return false;
        }
        self.found.binary = true;
        self.prints = false;
        // As in GNU grep, zero bytes then end lines, so that lines stay short.
        fresh.iter_mut().filter(|byte| **byte == 0).for_each(|byte| *byte = b'\n');
        true
    }

    /// Drops unneeded lines. Returns their size in bytes.
    fn forget(&mut self, input: &mut Input<impl Read>, end: usize) -> usize {
        self.count_to(input.bytes(), end);
        let keep = match self.options.before {
            Some(lines) if self.prints => self.back(input.bytes(), end, lines),
            _ => end,
        };
        input.forget(keep);
        self.apart |= self.done < keep;
        self.done = self.done.saturating_sub(keep);
        self.counted = self.counted.saturating_sub(keep);
        keep
    }

    /// Start of the `lines` lines before `end`, but not before printed lines.
    fn back(&self, text: &[u8], end: usize, lines: usize) -> usize {
        let mut at = end;
        for _ in 0..lines {
            if at <= self.done {
                break;
            }
            let before = text.get(self.done..at - 1).unwrap_or_default();
            at = memrchr(self.options.regex.terminator, before).map_or(self.done, |found| self.done + found + 1);
        }
        at
    }

    /// Searches whole lines from `next`. Returns `false` if the rest of the file is irrelevant.
    fn lines(&mut self, text: &[u8], next: usize, offset: u64) -> bool {
        let mut at = next;
        while at < text.len() {
            if self.full {
                // The maximum is reached, so only trailing context remains.
                return self.unselected(text, at..text.len(), offset);
            }
            let hit = match self.regex.find_line(text, at) {
                Ok(hit) => hit,
                Err(error) => {
                    self.found.error = Some(error.to_string());
                    return false;
                }
            };
            let gap = at..hit.as_ref().map_or(text.len(), |hit| hit.start);
            at = hit.as_ref().map_or(text.len(), |hit| hit.end.saturating_add(1)).min(text.len());
            let go_on = if self.options.invert {
                self.each_line(text, gap, offset) && hit.is_none_or(|hit| self.unselected(text, hit.start..at, offset))
            } else {
                self.unselected(text, gap, offset) && hit.is_none_or(|hit| self.selected(text, hit, offset))
            };
            if !go_on {
                return false;
            }
        }
        true
    }

    /// Selects all lines of a range.
    fn each_line(&mut self, text: &[u8], range: Range<usize>, offset: u64) -> bool {
        let mut at = range.start;
        while at < range.end {
            let end = line_end(text, at, range.end, self.options.regex.terminator);
            if !self.selected(text, at..end, offset) {
                return false;
            }
            at = end + 1;
            if self.full {
                return self.unselected(text, at..range.end, offset);
            }
        }
        true
    }

    /// Skips lines; the first ones may be context.
    fn unselected(&mut self, text: &[u8], range: Range<usize>, offset: u64) -> bool {
        let mut at = range.start;
        while self.pending > 0 && at < range.end {
            let end = line_end(text, at, range.end, self.options.regex.terminator);
            self.print(text, at..end, offset, false);
            self.pending -= 1;
            at = end + 1;
        }
        !(self.full && self.pending == 0)
    }

    fn selected(&mut self, text: &[u8], line: Range<usize>, offset: u64) -> bool {
        if self.full {
            return false;
        }
        self.found.selected += 1;
        self.full = self.options.max_count.is_some_and(|most| self.found.selected >= most);
        if self.full {
            let end = line.end.saturating_add(1).min(text.len());
            self.last = Some(offset.saturating_add(end as u64));
        }
        if !self.prints {
            let counts = self.options.listing == Listing::Count && !self.options.quiet;
            return counts && !self.full;
        }
        let first = self.back(text, line.start, self.options.before.unwrap_or(0));
        if self.options.before.is_some() || self.options.after.is_some() {
            self.out.separate(!self.apart && first == self.done);
        }
        let mut at = first;
        while at < line.start {
            let end = line_end(text, at, line.start, self.options.regex.terminator);
            self.print(text, at..end, offset, false);
            at = end + 1;
        }
        self.print(text, line, offset, true);
        if !self.prints {
            return false;
        }
        self.pending = self.options.after.unwrap_or(0);
        !(self.full && self.pending == 0)
    }

    /// Returns whether a line contains invalid text in the locale. The file is then binary and printing stops.
    fn is_no_text(&mut self, text: &[u8], line: &Range<usize>, selected: bool) -> bool {
        let bytes = text.get(line.clone()).unwrap_or_default();
        let checks = self.prints && self.options.regex.unicode && self.options.binary != Binary::Text;
        if !checks || std::str::from_utf8(bytes).is_ok() || (self.options.only_matching && !selected) {
            return false;
        }
        self.found.binary = true;
        self.prints = false;
        true
    }

    fn print(&mut self, text: &[u8], line: Range<usize>, offset: u64, selected: bool) {
        if !self.prints || self.is_no_text(text, &line, selected) {
            return;
        }
        if self.options.line_numbers {
            self.count_to(text, line.start);
        }
        self.done = line.end.saturating_add(1).min(text.len());
        self.apart = false;
        let printed = Line {
            text: text.get(line.clone()).unwrap_or_default(),
            number: self.lines + 1,
            offset: offset.saturating_add(line.start as u64),
            selected,
        };
        if let Err(error) = self.out.line(self.options, self.regex, &printed) {
            self.found.error = Some(error.to_string());
        }
    }

    /// Counts lines up to `end`.
    fn count_to(&mut self, text: &[u8], end: usize) {
        if self.options.line_numbers {
            let passed = text.get(self.counted..end).unwrap_or_default();
            self.lines += memchr::memchr_iter(self.options.regex.terminator, passed).count() as u64;
        }
        self.counted = end;
    }
}

fn line_end(text: &[u8], at: usize, limit: usize, terminator: u8) -> usize {
    memchr(terminator, text.get(at..limit).unwrap_or_default()).map_or(limit, |end| at + end)
}
