//! Line selection of commands.

use tidebox_gnu::regex::Regex;

use super::{Machine, Range};
use crate::script::{Address, Command, End, Lines, Pattern};

impl<'a> Machine<'a> {
    pub(super) fn regex(&mut self, pattern: Pattern) -> Option<&'a Regex> {
        let script = self.script;
        let found = match pattern {
            Pattern::Number(number) => script.regexes.get(number),
            Pattern::Last => self.last,
        };
        if found.is_none() {
            self.failure = Some("-e expression #1, char 0: no previous regular expression".to_owned());
        }
        self.last = found;
        found
    }

    pub(super) fn fits(&mut self, pattern: Pattern) -> bool {
        let Some(regex) = self.regex(pattern) else {
            return false;
        };
        match regex.find_in_line(&self.space, 0) {
            Ok(found) => found.is_some(),
            Err(error) => {
                self.failure = Some(error.to_string());
                false
            }
        }
    }

    pub(super) fn is_at(&mut self, address: Address) -> bool {
        let number = self.input.number;
        match address {
            Address::Zero => false,
            Address::Number(wanted) => number == wanted,
            Address::Last => self.input.is_last(),
            Address::Step { first, step: 0 } => number == first,
            Address::Step { first, step } => number >= first && (number - first).is_multiple_of(step),
            Address::Matching(pattern) => self.fits(pattern),
        }
    }

    pub(super) fn selects(&mut self, command: &Command) -> bool {
        match &command.lines {
            Lines::All => true,
            Lines::One(address) => self.is_at(*address),
            Lines::Range { from, to, number } => self.in_range(*from, *to, *number),
        }
    }

    pub(super) fn in_range(&mut self, from: Address, to: End, range: usize) -> bool {
        let line = self.input.number;
        let state = self.ranges.get(range).copied().unwrap_or(Range::Closed);
        let open = match state {
            Range::Open(until) => Some(until),
            Range::Closed => None,
        };
        let (selected, next) = match open {
            Some(until) => self.goes_on(to, until, line),
            None if !self.is_at(from) => (false, Range::Closed),
            None => {
                let until = match to {
                    End::Number(number) => Some(number),
                    End::Plus(count) => Some(line.saturating_add(count)),
                    End::Multiple(0) => Some(line),
                    End::Multiple(step) => Some(line.div_ceil(step).saturating_mul(step)),
                    End::Last | End::Matching(_) => None,
                };
                // A range whose end has already passed is one line long.
                let ends = until.is_some_and(|until| until <= line) || (to == End::Last && self.input.is_last());
                (true, if ends { Range::Closed } else { Range::Open(until) })
            }
        };
        if let Some(state) = self.ranges.get_mut(range) {
            *state = next;
        }
        selected
    }

    /// Returns whether a line is in an open range, and the new state of the range.
    pub(super) fn goes_on(&mut self, to: End, until: Option<u64>, line: u64) -> (bool, Range) {
        let ends = match (to, until) {
            (_, Some(until)) if line > until => return (false, Range::Closed),
            (_, Some(until)) => line == until,
            (End::Matching(pattern), None) => self.fits(pattern),
            _ => self.input.is_last(),
        };
        (true, if ends { Range::Closed } else { Range::Open(until) })
    }
}
