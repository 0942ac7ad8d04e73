//! History references in a line: `!!`, `!text`, `^old^new^` and others.

use std::collections::VecDeque;

use super::Entry;
use crate::ir::Bytes;
use crate::state::Shell;

/// The characters of `histchars`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Marks {
    pub(super) event: u8,
    substitution: u8,
    /// Starts a comment, in which references are not expanded, and the time lines of a history file.
    pub(super) comment: u8,
}

impl Default for Marks {
    fn default() -> Self {
        Self { event: b'!', substitution: b'^', comment: b'#' }
    }
}

impl Marks {
    /// The characters with this value of `histchars`. Missing ones keep their values.
    pub(super) fn changed(self, value: Option<&[u8]>) -> Self {
        let Some(value) = value else { return Self::default() };
        let at = |at: usize, or: u8| value.get(at).copied().unwrap_or(or);
        Self { event: at(0, 0), substitution: at(1, self.substitution), comment: at(2, self.comment) }
    }
}

/// State that references leave for later ones.
#[derive(Debug, Default)]
pub(crate) struct Memory {
    /// The text of the newest `!?text?`, and the word that it was found in.
    pub(super) searched: Option<Bytes>,
    pub(super) matched: Option<Bytes>,
    /// The newest substitution.
    pub(super) old: Option<Bytes>,
    pub(super) new: Bytes,
}

/// The result of expanding a line.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Expanded {
    /// There was nothing to expand.
    Same,
    Line(Bytes),
    /// It is to be shown and remembered, but not run.
    Print(Bytes),
}

#[derive(Clone, Copy, Debug)]
pub(super) enum Fault {
    Event,
    Words,
    Substitution,
    Modifier,
    NoSubstitution,
}

impl Fault {
    fn text(self) -> &'static str {
        match self {
            Self::Event => "event not found",
            Self::Words => "bad word specifier",
            Self::Substitution => "substitution failed",
            Self::Modifier => "unrecognized history modifier",
            Self::NoSubstitution => "no previous substitution",
        }
    }
}

pub(super) struct Expander<'h> {
    pub(super) entries: &'h VecDeque<Entry>,
    /// Number of newest entries that references ignore.
    pub(super) hidden: usize,
    pub(super) base: usize,
    pub(super) memory: &'h mut Memory,
    pub(super) marks: Marks,
    extglob: bool,
    posix: bool,
    /// The quotation that the line starts in.
    quotation: Option<u8>,
}

/// The text of one reference.
struct Reference {
    text: Bytes,
    end: usize,
    print: bool,
}

impl Shell {
    /// Replaces the references in a line without its newline, or returns the error.
    pub(crate) fn expand_history(
        &mut self,
        line: &[u8],
        quotation: Option<u8>,
        hidden: usize,
    ) -> Result<Expanded, Bytes> {
        let marks = match self.history.marks {
            Some(marks) => marks,
            None => {
                let marks = Marks::default().changed(self.lookup(b"histchars").as_deref());
                *self.history.marks.insert(marks)
            }
        };
        let mut expander = Expander {
            entries: &self.history.entries,
            hidden,
            base: self.history.base,
            memory: &mut self.history.memory,
            marks,
            extglob: self.options.extglob,
            posix: self.options.posix,
            quotation,
        };
        expander.expand(line)
    }
}

impl Expander<'_> {
    pub(super) fn expand(&mut self, line: &[u8]) -> Result<Expanded, Bytes> {
        if self.marks.event == 0 {
            return Ok(Expanded::Same);
        }
        if line.first() == Some(&self.marks.substitution) {
            let event = self.marks.event;
            return self.replace(&[&[event, event, b':', b's'], line].concat());
        }
        self.replace(line)
    }

    fn starts_comment(&self, line: &[u8], at: usize) -> bool {
        let blank = at.checked_sub(1).is_none_or(|before| line.get(before).is_some_and(|&b| super::word::is_blank(b)));
        line.get(at) == Some(&self.marks.comment) && blank
    }

    /// Returns whether the mark at `at` starts a reference, and is not part of `[!..]`, `${!..}`, `$!` or `!(..)`.
    fn refers(&self, line: &[u8], at: usize, quote: Option<u8>) -> bool {
        let before = line.get(..at).unwrap_or_default();
        let after = line.get(at + 1..).unwrap_or_default();
        let quoted = quote == Some(b'\'') || (quote == Some(b'"') && (self.posix || after.first() == Some(&b'"')));
        let syntax = before.ends_with(b"$")
            || (before.ends_with(b"${") && after.contains(&b'}'))
            || (before.ends_with(b"[") && after.contains(&b']'))
            || (self.extglob && after.first() == Some(&b'('));
        !quoted && !syntax && !matches!(after.first(), None | Some(b' ' | b'\t' | b'\n' | b'\r' | b'='))
    }

    /// Replaces the references of a line.
    fn replace(&mut self, line: &[u8]) -> Result<Expanded, Bytes> {
        let mut out = Bytes::with_capacity(line.len());
        let mut quote = self.quotation.filter(|quote| matches!(quote, b'\'' | b'"'));
        let (mut found, mut print, mut at) = (false, false, 0);
        while let Some(&byte) = line.get(at) {
            if byte == self.marks.event && self.refers(line, at, quote) {
                let reference = self.reference(line, at, quote, &out)?;
                out.extend_from_slice(&reference.text);
                (found, print, at) = (true, print | reference.print, reference.end);
                continue;
            }
            let mut end = at + 1;
            match (quote, byte) {
                (Some(open), _) if open == byte => quote = None,
                (Some(b'\''), _) => {}
                (_, b'\\') => end = at + 2,
                (None, b'"') => quote = Some(byte),
                (None, b'\'') => end = single_quoted_end(line, at) + 1,
                (None, _) if self.starts_comment(line, at) => end = line.len(),
                _ => {}
            }
            out.extend_from_slice(line.get(at..end.min(line.len())).unwrap_or_default());
            at = end;
        }
        Ok(match (found, print) {
            (false, _) => Expanded::Same,
            (true, false) => Expanded::Line(out),
            (true, true) => Expanded::Print(out),
        })
    }

    /// The reference at `at`; `so_far` is the line before it.
    fn reference(&mut self, line: &[u8], at: usize, quote: Option<u8>, so_far: &[u8]) -> Result<Reference, Bytes> {
        let (event, next) = match line.get(at + 1) {
            Some(b':' | b'$' | b'*' | b'%' | b'^') => (self.event(&[self.marks.event; 2], 0, None).0, at + 1),
            Some(b'#') => (Some(so_far.to_vec()), at + 2),
            _ => self.event(line, at, quote),
        };
        let fault = |fault: Fault, from: usize, to: usize| {
            [line.get(from..to).unwrap_or_default(), b": ", fault.text().as_bytes()].concat()
        };
        let event = event.ok_or_else(|| fault(Fault::Event, at, next))?;
        let (text, modifiers) = match self.words(line, next, &event) {
            Ok(Some(picked)) => picked,
            Ok(None) => (event, next),
            Err(kind) => return Err(fault(kind, next, bad_words_end(line, next))),
        };
        let modified = self.modify(line, modifiers, text).map_err(|(kind, from, to)| fault(kind, from, to))?;
        Ok(Reference { text: modified.text, end: modified.end, print: modified.print })
    }
}

/// The end of the text that an error message about an invalid word designator shows.
fn bad_words_end(line: &[u8], at: usize) -> usize {
    let rest = line.get(at..).unwrap_or_default();
    let colon = usize::from(rest.first() == Some(&b':'));
    let len =
        rest.iter().skip(colon).take_while(|b| b.is_ascii_digit() || matches!(b, b'-' | b'$' | b'^' | b'*')).count();
    at + colon + len
}

/// Offset of the quote that closes the one at `at`, or the end of the line.
fn single_quoted_end(line: &[u8], at: usize) -> usize {
    let escapes = at > 0 && line.get(at - 1) == Some(&b'$');
    let mut end = at + 1;
    while let Some(&byte) = line.get(end) {
        match byte {
            b'\'' => return end,
            b'\\' if escapes => end += 2,
            _ => end += 1,
        }
    }
    end
}
