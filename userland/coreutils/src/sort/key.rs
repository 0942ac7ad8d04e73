//! Sort keys: the compared part of a line, and its ordering.

use tidebox_gnu::message::quote_value;

use super::numeric::split_digits;

/// Returns whether a byte separates fields without `-t`.
pub(super) fn is_blank(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'\n')
}

/// Ordering options of a key.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Ordering {
    pub(super) skip_blanks_at_start: bool,
    pub(super) skip_blanks_at_end: bool,
    pub(super) dictionary: bool,
    pub(super) fold: bool,
    pub(super) general: bool,
    pub(super) human: bool,
    pub(super) printable: bool,
    pub(super) month: bool,
    pub(super) numeric: bool,
    pub(super) random: bool,
    pub(super) reverse: bool,
    pub(super) version: bool,
}

impl Ordering {
    /// Sets the option of a letter. `start` and `end` select the ends that `b` applies to. Returns false for other letters.
    pub(super) fn set(&mut self, letter: u8, start: bool, end: bool) -> bool {
        match letter {
            b'b' => {
                self.skip_blanks_at_start |= start;
                self.skip_blanks_at_end |= end;
            }
            b'd' => self.dictionary = true,
            b'f' => self.fold = true,
            b'g' => self.general = true,
            b'h' => self.human = true,
            // Dictionary order excludes unprintable characters too.
            b'i' => self.printable = !self.dictionary,
            b'M' => self.month = true,
            b'n' => self.numeric = true,
            b'R' => self.random = true,
            b'r' => self.reverse = true,
            b'V' => self.version = true,
            _ => return false,
        }
        true
    }

    /// Returns whether no option except `r` is set.
    pub(super) fn is_plain(&self) -> bool {
        Self { reverse: false, ..*self } == Self::default()
    }

    pub(super) fn is_numeric(&self) -> bool {
        self.numeric || self.general || self.human
    }

    /// Returns the letters of the options in alphabetical order.
    pub(super) fn letters(&self) -> String {
        let all = [
            ('b', self.skip_blanks_at_start || self.skip_blanks_at_end),
            ('d', self.dictionary),
            ('f', self.fold),
            ('g', self.general),
            ('h', self.human),
            ('i', self.printable && !self.dictionary),
            ('M', self.month),
            ('n', self.numeric),
            ('R', self.random),
            ('r', self.reverse),
            ('V', self.version),
        ];
        all.iter().filter(|(_, is)| *is).map(|(letter, _)| *letter).collect()
    }

    /// Rejects orderings that exclude each other. The error is the message.
    pub(super) fn check(&self) -> Result<(), String> {
        let text = self.version || self.random || self.dictionary || self.printable;
        let kinds = [self.numeric, self.general, self.human, self.month, text];
        if kinds.iter().filter(|is| **is).count() < 2 {
            return Ok(());
        }
        let shown = Self { skip_blanks_at_start: false, skip_blanks_at_end: false, reverse: false, ..*self };
        Err(format!("options '-{}' are incompatible", shown.letters()))
    }
}

/// A sort key. Fields and characters are counted from 0.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Key {
    pub(super) ordering: Ordering,
    /// Fields and characters to skip before the key; `None` for a key that is the whole line.
    pub(super) start: Option<(usize, usize)>,
    /// Last field of the key, and its characters; 0 includes the whole field. `None` is the end of the line.
    pub(super) end: Option<(usize, usize)>,
}

impl Key {
    /// Parses the value of `-k`. The error is the message.
    pub(super) fn parse(spec: &[u8]) -> Result<Self, String> {
        let wrong = |message: &str| Err(format!("{message}: invalid field specification {}", quote_value(spec)));
        let mut key = Self::default();
        let (mut field, mut rest) = count(spec, "invalid number at field start")?;
        if field == 0 {
            return wrong("field number is zero");
        }
        field -= 1;
        let mut char = 0;
        if let [b'.', after @ ..] = rest {
            (char, rest) = count(after, "invalid number after '.'")?;
            if char == 0 {
                return wrong("character offset is zero");
            }
            char -= 1;
        }
        key.start = Some((field, char)).filter(|start| *start != (0, 0));
        rest = key.letters(rest, true, false);
        if let [b',', after @ ..] = rest {
            (field, rest) = count(after, "invalid number after ','")?;
            if field == 0 {
                return wrong("field number is zero");
            }
            char = 0;
            if let [b'.', after @ ..] = rest {
                (char, rest) = count(after, "invalid number after '.'")?;
            }
            key.end = Some((field - 1, char));
            rest = key.letters(rest, false, true);
        }
        if rest.is_empty() { Ok(key) } else { wrong("stray character in field spec") }
    }

    /// Parses option letters and returns the text after them.
    fn letters<'t>(&mut self, mut text: &'t [u8], start: bool, end: bool) -> &'t [u8] {
        while let [letter, rest @ ..] = text {
            if !self.ordering.set(*letter, start, end) {
                break;
            }
            text = rest;
        }
        text
    }

    /// Returns the range of the key in a line.
    pub(super) fn range(&self, line: &[u8], tab: Option<u8>) -> (usize, usize) {
        let start = self.start_of(line, tab);
        (start, self.end_of(line, tab).max(start))
    }

    fn start_of(&self, line: &[u8], tab: Option<u8>) -> usize {
        let (fields, chars) = self.start.unwrap_or((0, 0));
        let mut at = skip_fields(line, 0, fields, tab, true);
        if self.ordering.skip_blanks_at_start {
            at = skip(line, at, is_blank);
        }
        at.saturating_add(chars).min(line.len())
    }

    fn end_of(&self, line: &[u8], tab: Option<u8>) -> usize {
        let Some((fields, chars)) = self.end else {
            return line.len();
        };
        if chars == 0 {
            return skip_fields(line, 0, fields.saturating_add(1), tab, false);
        }
        let mut at = skip_fields(line, 0, fields, tab, true);
        if self.ordering.skip_blanks_at_end {
            at = skip(line, at, is_blank);
        }
        at.saturating_add(chars).min(line.len())
    }
}

fn skip(line: &[u8], from: usize, what: impl Fn(u8) -> bool) -> usize {
    let rest = line.get(from..).unwrap_or_default();
    from + rest.iter().position(|byte| !what(*byte)).unwrap_or(rest.len())
}

/// Returns the position after `fields` fields. With `past` it is also after the separator that ends the last of them.
fn skip_fields(line: &[u8], mut at: usize, fields: usize, tab: Option<u8>, past: bool) -> usize {
    for left in (0..fields).rev() {
        if at >= line.len() {
            break;
        }
        match tab {
            Some(tab) => {
                let rest = line.get(at..).unwrap_or_default();
                at += memchr::memchr(tab, rest).unwrap_or(rest.len());
                if at < line.len() && (left > 0 || past) {
                    at += 1;
                }
            }
            None => at = skip(line, skip(line, at, is_blank), |byte| !is_blank(byte)),
        }
    }
    at
}

/// Parses a number at the start of a text. Returns it with the text after it. Numbers that are too large become the largest one.
fn count<'t>(text: &'t [u8], what: &str) -> Result<(usize, &'t [u8]), String> {
    let (digits, rest) = split_digits(text);
    if digits.is_empty() {
        return Err(format!("{what}: invalid count at start of {}", quote_value(text)));
    }
    let value = std::str::from_utf8(digits).ok().and_then(|digits| digits.parse().ok());
    Ok((value.unwrap_or(usize::MAX), rest))
}
