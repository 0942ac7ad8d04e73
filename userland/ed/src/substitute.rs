//! `s`: replaces matches of a pattern.

use tidebox_gnu::regex::Groups;

use crate::address::{Cursor, Range};
use crate::buffer::Line;
use crate::session::{CommandError, Session, Step};
use crate::show::Suffix;

/// The last replacement, for `s` alone.
#[derive(Clone, Debug, Default)]
pub(crate) struct Substitution {
    replacement: Vec<u8>,
    every: bool,
    count: usize,
    suffix: Suffix,
}

impl Session {
    pub(crate) fn substitute(&mut self, range: Range, cursor: &mut Cursor<'_>) -> Result<Step, CommandError> {
        let range = self.lines_of(range)?;
        let substitution = match cursor.peek() {
            None | Some(b'0'..=b'9' | b'g' | b'p' | b'r' | b'n' | b'l') => self.again(cursor)?,
            Some(b' ') => return Err(CommandError::new("Invalid pattern delimiter")),
            Some(_) => self.read_substitution(cursor)?,
        };
        self.substitution = Some(substitution.clone());
        self.start_change();
        let (mut number, mut left, mut last) = (range.first, range.last - range.first + 1, None);
        while left > 0 {
            left -= 1;
            let Some(line) = self.buffer.line(number).cloned() else {
                break;
            };
            let Some(text) = self.replaced(&line, &substitution)? else {
                number += 1;
                continue;
            };
            let lines: Vec<Line> = text.split(|byte| *byte == b'\n').map(Line::from).collect();
            let count = lines.len();
            self.buffer.replace(number, lines);
            number += count;
            last = Some(number - 1);
        }
        match last {
            Some(last) => {
                self.buffer.current = last;
                self.show_current(substitution.suffix)
            }
            None if self.scripted.is_some() => Ok(Step::Next),
            None => Err(CommandError::new("No match")),
        }
    }

    /// Repeats the last substitution with other flags.
    fn again(&mut self, cursor: &mut Cursor<'_>) -> Result<Substitution, CommandError> {
        let mut substitution =
            self.substitution.clone().ok_or_else(|| CommandError::new("No previous substitution"))?;
        substitution.suffix = Suffix::default();
        flags(&mut substitution, cursor)?;
        Ok(substitution)
    }

    fn read_substitution(&mut self, cursor: &mut Cursor<'_>) -> Result<Substitution, CommandError> {
        let delimiter = cursor.next().ok_or_else(|| CommandError::new("Invalid pattern delimiter"))?;
        let (pattern, closed) = cursor.until(delimiter);
        if !closed {
            return Err(CommandError::new("Missing pattern delimiter"));
        }
        self.set_pattern(&pattern)?;
        let mut substitution = Substitution { count: 1, ..Substitution::default() };
        let mut closed = false;
        while let Some(byte) = cursor.next() {
            match byte {
                _ if byte == delimiter => {
                    closed = true;
                    break;
                }
                b'\\' => match cursor.next() {
                    Some(next) if next == delimiter && next != b'&' => substitution.replacement.push(next),
                    Some(next) => substitution.replacement.extend([b'\\', next]),
                    // A line that ends in a backslash continues on the next one.
                    None => {
                        substitution.replacement.extend(b"\\\n");
                        let Some(rest) = self.read_line() else {
                            return Err(CommandError::new("Unexpected end-of-file"));
                        };
                        return self.continued(substitution, rest, delimiter);
                    }
                },
                byte => substitution.replacement.push(byte),
            }
        }
        if closed {
            flags(&mut substitution, cursor)?;
        } else {
            substitution.suffix = substitution.suffix.with(b'p');
        }
        self.take_percent(substitution)
    }

    fn continued(
        &mut self,
        mut substitution: Substitution,
        rest: Vec<u8>,
        delimiter: u8,
    ) -> Result<Substitution, CommandError> {
        let mut rest = rest;
        loop {
            let mut cursor = Cursor(&rest);
            let mut next_line = false;
            let mut closed = false;
            while let Some(byte) = cursor.next() {
                match byte {
                    _ if byte == delimiter => {
                        closed = true;
                        break;
                    }
                    b'\\' => match cursor.next() {
                        Some(next) => substitution.replacement.extend([b'\\', next]),
                        None => next_line = true,
                    },
                    byte => substitution.replacement.push(byte),
                }
            }
            if !next_line {
                if closed {
                    flags(&mut substitution, &mut cursor)?;
                } else {
                    substitution.suffix = substitution.suffix.with(b'p');
                }
                return self.take_percent(substitution);
            }
            substitution.replacement.extend(b"\\\n");
            rest = self.read_line().ok_or_else(|| CommandError::new("Unexpected end-of-file"))?;
        }
    }

    /// A single percent sign means the last replacement.
    fn take_percent(&self, mut substitution: Substitution) -> Result<Substitution, CommandError> {
        if substitution.replacement == b"%" {
            let last = self.substitution.as_ref().ok_or_else(|| CommandError::new("No previous substitution"))?;
            substitution.replacement.clone_from(&last.replacement);
        }
        Ok(substitution)
    }

    /// The line with its replacements; `None` without a match.
    fn replaced(&self, line: &[u8], substitution: &Substitution) -> Result<Option<Vec<u8>>, CommandError> {
        let pattern = self.pattern()?;
        let (mut out, mut from, mut copied, mut count, mut changed) = (Vec::new(), 0, 0, 0, false);
        while from <= line.len() {
            let found = pattern.captures(line, from).map_err(|error| CommandError::new(&error.to_string()))?;
            let Some(groups) = found else {
                break;
            };
            let Some(whole) = groups.first().cloned().flatten() else {
                break;
            };
            if whole.is_empty() && substitution.every {
                return Err(CommandError::new("Infinite substitution loop"));
            }
            count += 1;
            if count >= substitution.count {
                out.extend_from_slice(line.get(copied..whole.start).unwrap_or_default());
                expand(&substitution.replacement, line, &groups, &mut out);
                copied = whole.end;
                changed = true;
                if !substitution.every {
                    break;
                }
            }
            from = if whole.is_empty() { whole.end + 1 } else { whole.end };
        }
        out.extend_from_slice(line.get(copied..).unwrap_or_default());
        Ok(changed.then_some(out))
    }
}

fn flags(substitution: &mut Substitution, cursor: &mut Cursor<'_>) -> Result<(), CommandError> {
    while let Some(byte) = cursor.next() {
        match byte {
            b'g' => substitution.every = true,
            b'l' | b'n' | b'p' => substitution.suffix = substitution.suffix.with(byte),
            b'0'..=b'9' => {
                let mut digits = vec![byte];
                while let Some(digit) = cursor.peek().filter(u8::is_ascii_digit) {
                    digits.push(digit);
                    cursor.next();
                }
                let count = String::from_utf8_lossy(&digits).parse::<usize>().unwrap_or(0);
                if count == 0 {
                    return Err(CommandError::new("Invalid command suffix"));
                }
                substitution.count = count;
            }
            b'r' => {}
            _ => return Err(CommandError::new("Invalid command suffix")),
        }
    }
    Ok(())
}

/// Appends a replacement: `&` is the match, `\1` a group.
fn expand(replacement: &[u8], line: &[u8], groups: &Groups, out: &mut Vec<u8>) {
    let group =
        |number: usize| groups.get(number).cloned().flatten().and_then(|range| line.get(range)).unwrap_or_default();
    let mut bytes = replacement.iter();
    while let Some(byte) = bytes.next() {
        match byte {
            b'&' => out.extend_from_slice(group(0)),
            b'\\' => match bytes.next() {
                Some(digit @ b'0'..=b'9') => out.extend_from_slice(group(usize::from(digit - b'0'))),
                Some(other) => out.push(*other),
                None => {}
            },
            byte => out.push(*byte),
        }
    }
}
