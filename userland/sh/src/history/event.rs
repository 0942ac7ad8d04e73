//! Which entry a reference means, and which words of it.

use std::ops::Range;

use super::expand::{Expander, Fault};
use super::word;
use crate::ir::Bytes;

impl Expander<'_> {
    /// The entry that a reference at `at` means, and where the reference goes on. Text that is looked for ends at `quote`, too.
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
            let place = if back { count.checked_sub(number) } else { number.checked_sub(self.base + 1) };
            return (place.filter(|place| *place < count).and_then(|place| self.entry(place)), end);
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
        let mut wanted = rest.get(..len).unwrap_or_default().to_vec();
        let end = start + len + usize::from(within && rest.get(len) == Some(&b'?'));
        if wanted.is_empty() {
            match self.memory.searched.clone().filter(|_| within) {
                Some(searched) => wanted = searched,
                None => return (None, end),
            }
        }
        for entry in self.entries.iter().take(count).rev() {
            if !within {
                if entry.text.starts_with(&wanted) {
                    return (Some(entry.text.clone()), end);
                }
            } else if let Some(found) = entry.text.windows(wanted.len()).rposition(|part| part == wanted) {
                self.memory.matched = Some(word::word_at(&entry.text, found, self.marks.comment).to_vec());
                self.memory.searched = Some(wanted);
                return (Some(entry.text.clone()), end);
            }
        }
        (None, end)
    }

    /// The words that a designator at `at` picks from an entry, with where it ends; `None` when there is no designator.
    pub(super) fn words(&self, text: &[u8], at: usize, entry: &[u8]) -> Result<Option<(Bytes, usize)>, Fault> {
        let colon = text.get(at) == Some(&b':');
        let start = at + usize::from(colon);
        let mut at = start;
        let byte = |at: usize| text.get(at).copied().unwrap_or(0);
        let words = word::words(entry, self.marks.comment);
        let pick = |first: Place, last: Place| pick(&words, entry, first, last).ok_or(Fault::Words);
        match byte(at) {
            b'%' => return Ok(Some((self.memory.matched.clone().unwrap_or_default(), at + 1))),
            b'*' => return Ok(Some((pick(Place::At(1), Place::Last).unwrap_or_default(), at + 1))),
            b'$' => return Ok(Some((pick(Place::Last, Place::Last)?, at + 1))),
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
                Place::At(1)
            }
            b'*' => {
                at += 1;
                Place::Last
            }
            b'-' => {
                at += 1;
                match byte(at) {
                    b'0'..=b'9' => Place::At(number(text, &mut at)),
                    b'$' => {
                        at += 1;
                        Place::Last
                    }
                    b'^' => {
                        at += 1;
                        Place::At(1)
                    }
                    _ => Place::LastButOne,
                }
            }
            _ => Place::At(first),
        };
        Ok(Some((pick(Place::At(first), last)?, at)))
    }
}

#[derive(Clone, Copy)]
enum Place {
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

/// The words from one to another, with a blank between them; `None` when there are no such words.
fn pick(words: &[Range<usize>], entry: &[u8], first: Place, last: Place) -> Option<Bytes> {
    let start = match first {
        Place::At(at) => at,
        Place::LastButOne | Place::Last => words.len().checked_sub(1)?,
    };
    let end = match last {
        Place::At(at) if at >= start => at.checked_add(1)?,
        Place::At(_) => return None,
        Place::LastButOne => words.len().saturating_sub(1),
        Place::Last => words.len(),
    };
    if start >= words.len() {
        return None;
    }
    let picked: Vec<&[u8]> = words.get(start..end)?.iter().filter_map(|word| entry.get(word.clone())).collect();
    Some(picked.join(&b' '))
}
