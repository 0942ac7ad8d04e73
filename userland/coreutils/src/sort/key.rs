//! Keys: which part of a line counts, and how it is compared.

use tidebox_gnu::message::quote_value;

use super::numeric::number_of_suffix;

/// Whether a byte parts fields where no separator is said.
pub(super) fn is_blank(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'\n')
}

/// How keys are compared; the letters of the options.
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
    /// Sets what a letter stands for; `start` and `end` say where `b` counts. False for other letters.
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
            // What is in no dictionary covers what is not printable.
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

    /// Whether nothing was said but perhaps the direction.
    pub(super) fn is_plain(&self) -> bool {
        Self { reverse: false, ..*self } == Self::default()
    }

    /// Takes away what another one has too.
    pub(super) fn without(&mut self, other: &Self) {
        if (self.dictionary, self.printable) == (other.dictionary, other.printable) {
            (self.dictionary, self.printable) = (false, false);
        }
        self.skip_blanks_at_start &= !other.skip_blanks_at_start;
        self.skip_blanks_at_end &= !other.skip_blanks_at_end;
        self.fold &= !other.fold;
        self.general &= !other.general;
        self.human &= !other.human;
        self.month &= !other.month;
        self.numeric &= !other.numeric;
        self.random &= !other.random;
        self.reverse &= !other.reverse;
        self.version &= !other.version;
    }

    pub(super) fn is_numeric(&self) -> bool {
        self.numeric || self.general || self.human
    }

    /// The options as letters, in their order.
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

    /// Orderings that cannot be had together are told of.
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

/// A key: from where to where in a line, both counted from 0.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Key {
    pub(super) ordering: Ordering,
    /// Fields and characters to skip before the key; `None` for a key that is the whole line.
    pub(super) start: Option<(usize, usize)>,
    /// The field that the key ends in, and characters of it; 0 is all of the field. `None` is the end of the line.
    pub(super) end: Option<(usize, usize)>,
    /// It was written in the way of old, `+1 -2`.
    pub(super) obsolete: bool,
}

impl Key {
    /// Reads the value of `-k`. An error is the message.
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

    /// Reads letters, and answers what is behind them.
    pub(super) fn letters<'t>(&mut self, mut text: &'t [u8], start: bool, end: bool) -> &'t [u8] {
        while let [letter, rest @ ..] = text {
            if !self.ordering.set(*letter, start, end) {
                break;
            }
            text = rest;
        }
        text
    }

    /// The part of a line that the key is, as a range.
    pub(super) fn range(&self, line: &[u8], tab: Option<u8>) -> (usize, usize) {
        let begin = self.begin(line, tab);
        let end = self.limit(line, tab);
        (begin, end.max(begin))
    }

    fn begin(&self, line: &[u8], tab: Option<u8>) -> usize {
        let (fields, chars) = self.start.unwrap_or((0, 0));
        let mut at = skip_fields(line, 0, fields, tab, true);
        if self.ordering.skip_blanks_at_start {
            at = skip(line, at, is_blank);
        }
        at.saturating_add(chars).min(line.len())
    }

    fn limit(&self, line: &[u8], tab: Option<u8>) -> usize {
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

/// Goes behind so many fields; `past` says whether also behind the separator that ends the last of them.
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

/// A number at the beginning of a text, and what is behind it. Too large a number stands for the largest.
pub(super) fn count<'t>(text: &'t [u8], what: &str) -> Result<(usize, &'t [u8]), String> {
    let (digits, rest) = number_of_suffix(text);
    if digits.is_empty() {
        return Err(format!("{what}: invalid count at start of {}", quote_value(text)));
    }
    let value = std::str::from_utf8(digits).ok().and_then(|digits| digits.parse().ok());
    Ok((value.unwrap_or(usize::MAX), rest))
}
