//! Event and word designators: the entry that a reference means, and its words.

use std::ops::Range;

use super::expand::{Expander, Fault};
use super::word;
use crate::ir::Bytes;

impl Expander<'_> {
    /// The entry that a reference at `at` means, and the end of the reference. A search string also ends at `quote`.
    pub(super) fn event(&mut self, text: &[u8], at: usize, quote: Option<u8>) -> (Option<Bytes>, usize) {
        let at = at + 1;
        let rest = text.get(at..).unwrap_or_default();
        let count = self.entries.len().saturating_sub(self.hidden);
        if rest.first() == Some(&self.marks.event) {
            return (count.checked_sub(1).and_then(|at| self.entry(at)), at + 1);
        }
        let (back, digits_from) = match rest {
            [b'-', b'0'..=b'9', ..] => (true, 1),
            _ => (false, 0),
        };
        let digits = rest.iter().skip(digits_from).take_while(|b| b.is_ascii_digit()).count();
        if digits > 0 {
            let end = at + digits_from + digits;
            let digits = text.get(at + digits_from..end).unwrap_or_default();
            let number = digits.iter().fold(0_usize, |n, b| n.saturating_mul(10).saturating_add(usize::from(b - b'0')));
            let position = if back { count.checked_sub(number) } else { number.checked_sub(self.base + 1) };
            return (position.filter(|position| *position < count).and_then(|position| self.entry(position)), end);
        }
        self.search(text, at, quote, count)
    }

    fn entry(&self, at: usize) -> Option<Bytes> {
        self.entries.get(at).map(|entry| entry.text.clone())
    }

    /// `!text` and `!?text?`: the newest entry that starts with it or has it.
    fn search(&mut self, text: &[u8], at: usize, quote: Option<u8>, count: usize) -> (Option<Bytes>, usize) {
        let within = text.get(at) == Some(&b'?');
        let start = at + usize::from(within);
        let rest = text.get(start..).unwrap_or_default();
        let ends = |at: usize, byte: u8| match (within, byte) {
            (_, b'\n') => true,
            (true, _) => byte == b'?',
            (false, b' ' | b'\t' | b':' | b';' | b'&' | b'(' | b')' | b'|' | b'<' | b'>') => true,
            // A designator of words starts here.
            (false, b'^' | b'$' | b'*' | b'%' | b'-') => at > 0,
            (false, _) => Some(byte) == quote,
        };
        let len = rest.iter().enumerate().position(|(at, &b)| ends(at, b)).unwrap_or(rest.len());
        let mut requested = rest.get(..len).unwrap_or_default().to_vec();
        let end = start + len + usize::from(within && rest.get(len) == Some(&b'?'));
        if requested.is_empty() {
            match self.memory.searched.clone().filter(|_| within) {
                Some(searched) => requested = searched,
                None => return (None, end),
            }
        }
        for entry in self.entries.iter().take(count).rev() {
            if !within {
                if entry.text.starts_with(&requested) {
                    return (Some(entry.text.clone()), end);
                }
            } else if let Some(found) = entry.text.windows(requested.len()).rposition(|part| part == requested) {
                self.memory.matched = Some(word::word_at(&entry.text, found, self.marks.comment).to_vec());
                self.memory.searched = Some(requested);
                return (Some(entry.text.clone()), end);
            }
        }
        (None, end)
    }

    /// The words that a designator at `at` selects from an entry, and its end; `None` without a designator.
    pub(super) fn words(&self, text: &[u8], at: usize, entry: &[u8]) -> Result<Option<(Bytes, usize)>, Fault> {
        let colon = text.get(at) == Some(&b':');
        let start = at + usize::from(colon);
        let mut at = start;
        let byte = |at: usize| text.get(at).copied().unwrap_or(0);
        let words = word::words(entry, self.marks.comment);
        let pick = |first: WordPosition, last: WordPosition| pick(&words, entry, first, last).ok_or(Fault::Words);
        match byte(at) {
            b'%' => return Ok(Some((self.memory.matched.clone().unwrap_or_default(), at + 1))),
            b'*' => return Ok(Some((pick(WordPosition::At(1), WordPosition::Last).unwrap_or_default(), at + 1))),
            b'$' => return Ok(Some((pick(WordPosition::Last, WordPosition::Last)?, at + 1))),
            _ => {}
        }
        let first = match byte(at) {
            b'-' => 0,
            b'^' => {
                at += 1;
                1
            }
            b'0'..=b'9' if colon => number(text, &mut at),
            _ => return Ok(None),
        };
        let last = match byte(at) {
            b'^' => {
                at += 1;
                WordPosition::At(1)
            }
            b'*' => {
                at += 1;
                WordPosition::Last
            }
            b'-' => {
                at += 1;
                match byte(at) {
                    b'0'..=b'9' => WordPosition::At(number(text, &mut at)),
                    b'$' => {
                        at += 1;
                        WordPosition::Last
                    }
                    b'^' => {
                        at += 1;
                        WordPosition::At(1)
                    }
                    _ => WordPosition::LastButOne,
                }
            }
            _ => WordPosition::At(first),
        };
        Ok(Some((pick(WordPosition::At(first), last)?, at)))
    }
}

#[derive(Clone, Copy)]
enum WordPosition {
    At(usize),
    LastButOne,
    Last,
}

fn number(text: &[u8], at: &mut usize) -> usize {
    let mut value = 0_usize;
    while let Some(digit) = text.get(*at).filter(|b| b.is_ascii_digit()) {
        value = value.saturating_mul(10).saturating_add(usize::from(digit - b'0'));
        *at += 1;
    }
    value
}

/// A range of words, separated by blanks; `None` if the range is invalid.
fn pick(words: &[Range<usize>], entry: &[u8], first: WordPosition, last: WordPosition) -> Option<Bytes> {
    let start = match first {
        WordPosition::At(at) => at,
        WordPosition::LastButOne | WordPosition::Last => words.len().checked_sub(1)?,
    };
    let end = match last {
        WordPosition::At(at) if at >= start => at.checked_add(1)?,
        WordPosition::At(_) => return None,
        WordPosition::LastButOne => words.len().saturating_sub(1),
        WordPosition::Last => words.len(),
    };
    if start >= words.len() {
        return None;
    }
    let picked: Vec<&[u8]> = words.get(start..end)?.iter().filter_map(|word| entry.get(word.clone())).collect();
    Some(picked.join(&b' '))
}
