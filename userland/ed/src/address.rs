//! Line addresses.

use crate::session::{CommandError, Session};

/// The lines of a command, and the number of addresses given.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Range {
    pub(crate) first: usize,
    pub(crate) last: usize,
    pub(crate) given: usize,
}

/// The rest of a command line.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Cursor<'a>(pub(crate) &'a [u8]);

impl<'a> Cursor<'a> {
    pub(crate) fn peek(&self) -> Option<u8> {
        self.0.first().copied()
    }

    pub(crate) fn next(&mut self) -> Option<u8> {
        let (first, rest) = self.0.split_first()?;
        self.0 = rest;
        Some(*first)
    }

    pub(crate) fn skip_blanks(&mut self) {
        while matches!(self.peek(), Some(b' ' | b'\t')) {
            self.next();
        }
    }

    fn number(&mut self) -> Option<i64> {
        let digits = self.0.iter().take_while(|byte| byte.is_ascii_digit()).count();
        let (digits, rest) = self.0.split_at_checked(digits)?;
        let number = std::str::from_utf8(digits).ok()?.parse().ok()?;
        self.0 = rest;
        Some(number)
    }

    /// Reads a text up to and including a delimiter. Backslashes quote the delimiter; false if it is missing.
    pub(crate) fn until(&mut self, delimiter: u8) -> (Vec<u8>, bool) {
        let mut text = Vec::new();
        let mut bracket = false;
        while let Some(byte) = self.next() {
            match byte {
                _ if byte == delimiter && !bracket => return (text, true),
                b'\\' if !bracket => {
                    let next = self.next();
                    if next != Some(delimiter) {
                        text.push(b'\\');
                    }
                    text.extend(next);
                }
                b'[' if !bracket => {
                    bracket = true;
                    text.push(byte);
                    // A bracket or a caret at the start belongs to the set.
                    for special in [b'^', b']'] {
                        if self.peek() == Some(special) {
                            text.extend(self.next());
                        }
                    }
                }
                b']' => {
                    bracket = false;
                    text.push(byte);
                }
                _ => text.push(byte),
            }
        }
        (text, false)
    }
}

impl Session {
    /// Parses addresses. Without any, the range is the current line and `given` is 0. Of more than two, the last two count.
    pub(crate) fn range(&mut self, cursor: &mut Cursor<'_>) -> Result<Range, CommandError> {
        let here = as_i64(self.buffer.current);
        let (mut first, mut last, mut given) = (here, here, 0);
        if let Some(address) = self.address(cursor)? {
            (first, last, given) = (address, address, 1);
        }
        loop {
            cursor.skip_blanks();
            let separator = match cursor.peek() {
                Some(byte @ (b',' | b';' | b'%')) => byte,
                _ => break,
            };
            cursor.next();
            if separator == b';' && given > 0 {
                self.buffer.current = self.checked(last)?;
            }
            // An omitted address before a separator is the first line, or the current one.
            first = match (given, separator) {
                (0, b';') => here,
                (0, _) => 1.min(as_i64(self.buffer.len())),
                _ => last,
            };
            let second = if separator == b'%' { None } else { self.address(cursor)? };
            let left_out = if given == 0 { as_i64(self.buffer.len()) } else { first };
            last = second.unwrap_or(left_out);
            given = 2;
        }
        let (first, last) = (self.checked(first)?, self.checked(last)?);
        if given == 2 && first > last {
            return Err(CommandError::new("Invalid address"));
        }
        Ok(Range { first, last, given })
    }

    fn checked(&self, address: i64) -> Result<usize, CommandError> {
        usize::try_from(address)
            .ok()
            .filter(|address| *address <= self.buffer.len())
            .ok_or_else(|| CommandError::new("Invalid address"))
    }

    /// Parses one address with its offsets.
    pub(crate) fn address(&mut self, cursor: &mut Cursor<'_>) -> Result<Option<i64>, CommandError> {
        let mut at = None;
        loop {
            cursor.skip_blanks();
            let here = as_i64(self.buffer.current);
            match cursor.peek() {
                Some(b'0'..=b'9') => {
                    let number = cursor.number().ok_or_else(|| CommandError::new("Bad address"))?;
                    at = Some(at.map_or(number, |at: i64| at.saturating_add(number)));
                }
                Some(sign @ (b'+' | b'-' | b'^')) => {
                    cursor.next();
                    let number = cursor.number().unwrap_or(1);
                    let number = if sign == b'+' { number } else { -number };
                    at = Some(at.unwrap_or(here).saturating_add(number));
                }
                Some(b'.') if at.is_none() => {
                    cursor.next();
                    at = Some(here);
                }
                Some(b'$') if at.is_none() => {
                    cursor.next();
                    at = Some(as_i64(self.buffer.len()));
                }
                Some(mark @ (b'/' | b'?')) if at.is_none() => {
                    cursor.next();
                    let (pattern, closed) = cursor.until(mark);
                    self.suffix_prints = !closed;
                    self.set_pattern(&pattern)?;
                    at = Some(as_i64(self.search(mark == b'/')?));
                }
                Some(b'\'') if at.is_none() => {
                    cursor.next();
                    let letter = cursor
                        .next()
                        .filter(u8::is_ascii_lowercase)
                        .ok_or_else(|| CommandError::new("Invalid mark character"))?;
                    let line = self.buffer.marked(letter).ok_or_else(|| CommandError::new("Invalid address"))?;
                    at = Some(as_i64(line));
                }
                _ => return Ok(at),
            }
        }
    }

    /// The next line that matches the pattern, from the current one, wrapping around.
    fn search(&self, forward: bool) -> Result<usize, CommandError> {
        let count = self.buffer.len();
        for step in 1..=count {
            let number = match forward {
                true => (self.buffer.current + step - 1) % count + 1,
                false => (self.buffer.current + 2 * count - step - 1) % count + 1,
            };
            if self.matches(number)? {
                return Ok(number);
            }
        }
        Err(CommandError::new("No match"))
    }
}

pub(crate) fn as_i64(number: usize) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}
