//! Addresses, and the patterns in them.

use tidebox_gnu::regex::{self, Dialect, Regex, Subject};

use super::{Parser, Result};
use crate::script::{Address, End, Lines, Pattern};

impl<'a> Parser<'a> {
    pub(super) fn lines(&mut self) -> Result<Lines> {
        let Some(from) = self.address()? else {
            return Ok(Lines::All);
        };
        self.skip_blanks();
        if self.peek() != Some(b',') {
            // Only `0r` is valid: before the first line.
            if from == Address::Zero && self.peek() != Some(b'r') {
                self.next();
                return self.error("invalid usage of line address 0");
            }
            return Ok(Lines::One(from));
        }
        self.next();
        self.skip_blanks();
        let to = self.range_end()?;
        if from == Address::Zero && !matches!(to, End::Matching(_)) {
            self.next();
            return self.error("invalid usage of line address 0");
        }
        let number = self.script.ranges;
        self.script.ranges += 1;
        Ok(Lines::Range { from, to, number })
    }

    pub(super) fn range_end(&mut self) -> Result<End> {
        match self.peek() {
            Some(sign @ (b'+' | b'~')) => {
                self.next();
                let number = self.number().unwrap_or(0);
                Ok(if sign == b'+' { End::Plus(number) } else { End::Multiple(number) })
            }
            _ => Ok(match self.address()? {
                Some(Address::Number(number)) => End::Number(number),
                Some(Address::Step { first, .. }) => End::Number(first),
                Some(Address::Zero) => End::Number(0),
                Some(Address::Last) => End::Last,
                Some(Address::Matching(pattern)) => End::Matching(pattern),
                None => {
                    self.next();
                    return self.error("unexpected `,'");
                }
            }),
        }
    }

    pub(super) fn address(&mut self) -> Result<Option<Address>> {
        match self.peek() {
            Some(b'$') => {
                self.next();
                Ok(Some(Address::Last))
            }
            Some(b'/') => {
                self.next();
                self.matching(b'/').map(Some)
            }
            Some(b'\\') => {
                self.next();
                let Some(delimiter) = self.next() else {
                    return self.error("unterminated address regex");
                };
                self.matching(delimiter).map(Some)
            }
            Some(b'0'..=b'9') => {
                let first = self.number().unwrap_or(0);
                self.skip_blanks();
                if self.peek() == Some(b'~') {
                    self.next();
                    let step = self.number().unwrap_or(0);
                    return Ok(Some(Address::Step { first, step }));
                }
                Ok(Some(if first == 0 { Address::Zero } else { Address::Number(first) }))
            }
            Some(b'+' | b'~') => {
                self.next();
                self.error_at(self.used + 1, "invalid usage of +N or ~N as first address")
            }
            _ => Ok(None),
        }
    }

    pub(super) fn matching(&mut self, delimiter: u8) -> Result<Address> {
        let Some(source) = self.delimited(delimiter, true)? else {
            return self.error("unterminated address regex");
        };
        let (mut ignore_case, mut lines) = (false, false);
        loop {
            match self.peek() {
                Some(b'I') => ignore_case = true,
                Some(b'M') => lines = true,
                _ => break,
            }
            self.next();
        }
        Ok(Address::Matching(self.pattern(source, ignore_case, lines)?))
    }

    pub(super) fn pattern(&mut self, source: Vec<u8>, ignore_case: bool, lines: bool) -> Result<Pattern> {
        if source.is_empty() {
            if ignore_case || lines {
                return self.error("cannot specify modifiers on empty regexp");
            }
            return Ok(Pattern::Last);
        }
        let options = regex::Options {
            dialect: if self.options.extended { Dialect::Extended } else { Dialect::Basic },
            ignore_case,
            whole_line: false,
            misplaced: regex::StrayOperators::AllRefused,
            whole_word: false,
            subject: if lines { Subject::TextOfLines } else { Subject::Text },
            terminator: self.options.delimiter,
            captures: true,
            unicode: self.options.unicode,
        };
        match Regex::new(&[source], &options) {
            Ok(regex) => {
                self.script.regexes.push(regex);
                Ok(Pattern::Number(self.script.regexes.len() - 1))
            }
            Err(error) => self.error(error),
        }
    }
}
