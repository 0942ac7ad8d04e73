//! Commands that change the text.

use super::{Done, no_address, wrong};
use crate::address::{Cursor, Range};
use crate::buffer::Line;
use crate::session::Session;

impl Session {
    pub(super) fn add(&mut self, letter: u8, range: Range, cursor: &mut Cursor<'_>) -> Done {
        let suffix = self.suffix(cursor)?;
        self.start_change();
        let behind = match letter {
            b'a' => range.last,
            b'i' => range.last.saturating_sub(1),
            _ => {
                let first = range.first.max(1);
                self.cut = self.buffer.remove(first, range.last.max(first));
                first - 1
            }
        };
        let lines = self.read_text();
        if lines.is_empty() && letter != b'c' {
            self.buffer.current = range.last;
        } else if !lines.is_empty() {
            self.buffer.insert(behind, lines);
        }
        self.show_current(suffix)
    }

    pub(super) fn delete(&mut self, range: Range, cursor: &mut Cursor<'_>) -> Done {
        let range = self.lines_of(range)?;
        let suffix = self.suffix(cursor)?;
        self.start_change();
        self.cut = self.buffer.remove(range.first, range.last);
        self.show_current(suffix)
    }

    pub(super) fn join(&mut self, range: Range, cursor: &mut Cursor<'_>) -> Done {
        let range = match range.given {
            0 => Range { first: self.buffer.current, last: self.buffer.current + 1, given: 2 },
            1 => Range { first: range.last, last: range.last, given: 2 },
            _ => range,
        };
        if range.first == 0 || range.last > self.buffer.len() {
            return Err(wrong("Invalid address"));
        }
        let suffix = self.suffix(cursor)?;
        if range.first < range.last {
            self.start_change();
            let taken = self.buffer.remove(range.first, range.last);
            let joined: Vec<u8> = taken.iter().flat_map(|line| line.iter().copied()).collect();
            self.cut = taken;
            self.buffer.insert(range.first - 1, vec![Line::from(joined)]);
        }
        self.show_current(suffix)
    }

    /// `m` and `t`: move or copy lines after another one.
    pub(super) fn place(&mut self, letter: u8, range: Range, cursor: &mut Cursor<'_>) -> Done {
        let range = self.lines_of(range)?;
        let behind = match self.address(cursor)? {
            Some(behind) => usize::try_from(behind).ok().filter(|behind| *behind <= self.buffer.len()),
            None => Some(self.buffer.current),
        };
        let behind = behind.ok_or_else(|| wrong("Invalid address"))?;
        let suffix = self.suffix(cursor)?;
        if letter == b't' {
            self.start_change();
            let copies = self.buffer.lines(range.first, range.last).iter().map(|line| Line::from(&**line)).collect();
            self.buffer.insert(behind, copies);
            return self.show_current(suffix);
        }
        if (range.first..range.last).contains(&behind) {
            return Err(wrong("Invalid destination"));
        }
        self.start_change();
        let count = range.last - range.first + 1;
        let taken = self.buffer.remove(range.first, range.last);
        let behind = if behind >= range.last { behind - count } else { behind };
        self.buffer.insert(behind, taken);
        self.show_current(suffix)
    }

    /// `x`: inserts the cut lines after a line.
    pub(super) fn put(&mut self, range: Range, cursor: &mut Cursor<'_>) -> Done {
        let behind = if range.given > 0 { range.last } else { self.buffer.current };
        let suffix = self.suffix(cursor)?;
        if self.cut.is_empty() {
            return Err(wrong("Nothing to put"));
        }
        self.start_change();
        let copies = self.cut.iter().map(|line| Line::from(&**line)).collect();
        self.buffer.insert(behind, copies);
        self.show_current(suffix)
    }

    /// `y`: copies lines for `x`.
    pub(super) fn yank(&mut self, range: Range, cursor: &mut Cursor<'_>) -> Done {
        let range = self.lines_of(range)?;
        let suffix = self.suffix(cursor)?;
        self.cut = self.buffer.lines(range.first, range.last).to_vec();
        self.show_current(suffix)
    }

    pub(super) fn undo(&mut self, range: Range, cursor: &mut Cursor<'_>) -> Done {
        no_address(range)?;
        let suffix = self.suffix(cursor)?;
        if !self.buffer.undo() {
            return Err(wrong("Nothing to undo"));
        }
        self.show_current(suffix)
    }
}
