//! Text splitting by blanks, by separators, by field patterns and by widths.

use std::ops::Range;
use std::rc::Rc;

use crate::pattern::Pattern;
use crate::text;

/// A splitting method.
#[derive(Clone, Debug)]
pub(crate) enum Splitter {
    /// Runs of blanks and newlines; those around the text do not count.
    Blanks,
    Byte(u8),
    /// Every character is a field.
    Chars,
    Separator(Rc<Pattern>),
    Widths(Rc<[Width]>),
    Content(Rc<Pattern>),
}

/// One width of `FIELDWIDTHS`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Width {
    pub(crate) skip: usize,
    /// `None` takes the rest.
    pub(crate) chars: Option<usize>,
}

/// Receiver of the split: fields and the separators around them.
pub(crate) trait Find {
    fn field(&mut self, range: Range<usize>);
    /// A separator after a field; there may also be one before the first field.
    fn separator(&mut self, _range: Range<usize>) {}
}

impl<F: FnMut(Range<usize>)> Find for F {
    fn field(&mut self, range: Range<usize>) {
        self(range);
    }
}

impl Splitter {
    /// The separator for a text: one blank is special, other single characters are literal.
    pub(crate) fn of(separator: &[u8], ignore_case: bool) -> Self {
        match separator {
            b" " => Self::Blanks,
            b"" => Self::Chars,
            b"\\" => Self::Byte(b'\\'),
            // A single letter ignores `IGNORECASE`.
            [byte] if byte.is_ascii() => Self::Byte(*byte),
            _ => Self::Separator(Rc::new(Pattern::new(separator.to_vec(), ignore_case))),
        }
    }

    /// `newline_splits` adds newlines to a single-character separator only.
    pub(crate) fn split(&self, text: &[u8], newline_splits: bool, find: &mut impl Find) -> Result<(), String> {
        match self {
            Self::Blanks => blanks(text, find),
            Self::Byte(byte) => bytes(*byte, newline_splits, text, find),
            Self::Chars => {
                let mut at = 0;
                while at < text.len() {
                    let length = text::char_len(text.get(at..).unwrap_or_default());
                    find.field(at..at + length);
                    at += length;
                    if at < text.len() {
                        find.separator(at..at);
                    }
                }
            }
            Self::Separator(pattern) => return separated(pattern, text, find),
            Self::Widths(widths) => by_width(widths, text, find),
            Self::Content(pattern) => return by_content(pattern, text, find),
        }
        Ok(())
    }
}

#[inline]
pub(crate) fn is_blank(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'\n')
}

fn blanks(text: &[u8], find: &mut impl Find) {
    if text.is_empty() {
        return;
    }
    let mut at = 0;
    let mut first = true;
    loop {
        let start = at;
        while text.get(at).is_some_and(|byte| is_blank(*byte)) {
            at += 1;
        }
        if at > start || first {
            find.separator(start..at);
        }
        if at >= text.len() {
            return;
        }
        first = false;
        let start = at;
        while text.get(at).is_some_and(|byte| !is_blank(*byte)) {
            at += 1;
        }
        find.field(start..at);
    }
}

fn bytes(separator: u8, newline_splits: bool, text: &[u8], find: &mut impl Find) {
    if text.is_empty() {
        return;
    }
    let mut start = 0;
    let mut ends = |at: usize| {
        find.field(start..at);
        find.separator(at..at + 1);
        start = at + 1;
    };
    if newline_splits {
        memchr::memchr2_iter(separator, b'\n', text).for_each(&mut ends);
    } else {
        memchr::memchr_iter(separator, text).for_each(&mut ends);
    }
    find.field(start..text.len());
}

fn separated(pattern: &Pattern, text: &[u8], find: &mut impl Find) -> Result<(), String> {
    if text.is_empty() {
        return Ok(());
    }
    let mut start = 0;
    let mut from = 0;
    while from <= text.len() {
        let Some(found) = pattern.find(text, from)? else {
            break;
        };
        // An empty match does not separate.
        if found.is_empty() {
            from = found.end + 1;
            continue;
        }
        find.field(start..found.start);
        find.separator(found.clone());
        (start, from) = (found.end, found.end);
    }
    find.field(start..text.len());
    Ok(())
}

fn by_width(widths: &[Width], text: &[u8], find: &mut impl Find) {
    let mut at = 0;
    for width in widths {
        at += text::offset_of(text.get(at..).unwrap_or_default(), width.skip);
        if at >= text.len() {
            return;
        }
        let rest = text.get(at..).unwrap_or_default();
        let length = width.chars.map_or(rest.len(), |chars| text::offset_of(rest, chars));
        find.field(at..at + length);
        at += length;
    }
}

fn by_content(pattern: &Pattern, text: &[u8], find: &mut impl Find) -> Result<(), String> {
    let (mut from, mut separator) = (0, 0);
    let mut non_empty = false;
    if text.is_empty() {
        return Ok(());
    }
    while from <= text.len() {
        let Some(found) = pattern.find(text, from)? else {
            break;
        };
        if found.is_empty() && non_empty && found.start == separator {
            // Directly after a field, an empty match does not count.
            non_empty = false;
            from = found.end + text::char_len(text.get(found.end..).unwrap_or_default()).max(1);
            continue;
        }
        find.separator(separator..found.start);
        find.field(found.clone());
        separator = found.end;
        non_empty = !found.is_empty();
        from = if found.is_empty() {
            found.end + text::char_len(text.get(found.end..).unwrap_or_default()).max(1)
        } else {
            found.end
        };
    }
    find.separator(separator.min(text.len())..text.len());
    Ok(())
}
