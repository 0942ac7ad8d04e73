//! Bodies of here-documents.

use std::rc::Rc;

use super::{Parse, Parser, Pending, SyntaxError, SyntaxErrorKind};
use crate::ir::{Bytes, Index, Op, Param, Part, Target, Word};

impl Parser<'_> {
    /// Reads the bodies that wait, the position being at the start of a line or at the end of the text.
    pub(super) fn read_pending(&mut self) -> Parse<()> {
        let start = self.pos;
        let mut ends = Vec::new();
        for pending in std::mem::take(&mut self.pending) {
            self.read_body(pending)?;
            ends.push(self.pos);
        }
        self.finish_functions(start, &ends);
        Ok(())
    }

    fn read_body(&mut self, pending: Pending) -> Parse<()> {
        let (start, first_line) = (self.pos, self.line);
        let begins = first_line.saturating_sub(1).max(pending.line);
        let pending = Pending { line: begins, ..pending };
        let mut text = Bytes::new();
        loop {
            if self.peek().is_none() {
                self.unfinished.push((self.last_line(), begins, pending.document.delimiter.clone()));
                break;
            }
            let mut line = self.one_line(!pending.document.quoted, &pending);
            // The delimiter itself may start with tabs.
            if pending.document.strip_tabs && line != pending.document.delimiter {
                let tabs = line.iter().position(|&b| b != b'\t').unwrap_or(line.len());
                line.drain(..tabs);
            }
            if line == pending.document.delimiter {
                break;
            }
            text.extend_from_slice(&line);
            text.push(b'\n');
        }
        let word = if pending.document.quoted {
            Word { raw: text.as_slice().into(), parts: vec![Part::Quoted(text)], braces: false }
        } else {
            self.expanded_body(start, first_line, text)?
        };
        // The body is set once. A second parse of the same text has the same result.
        let _ = pending.document.body.set(word);
        Ok(())
    }

    /// The body at an offset, whose text is expanded. It may hold further here-documents: if it were read with each attempt to read
    /// the text around it, that would take twice as long at each level. Such text is within a substitution.
    fn expanded_body(&mut self, start: usize, line: u32, text: Bytes) -> Parse<Word> {
        if let Some(word) = self.bodies.get(&start)
            && *word.raw == *text
        {
            return Ok(word.clone());
        }
        let word = match self.inner(&text, line).whole_text() {
            Err(error) if matches!(error.kind, SyntaxErrorKind::TooDeep) => return Err(error),
            Err(error) => invalid_body(&text, &error),
            // It is printed as it stands.
            Ok(word) => Word { raw: text.into(), ..word },
        };
        if self.substitutions > 0 {
            self.bodies.insert(start, word.clone());
        }
        Ok(word)
    }

    /// One line without its end. In an unquoted body a backslash before the end joins it with the next.
    fn one_line(&mut self, joins: bool, pending: &Pending) -> Bytes {
        let mut line = Bytes::new();
        loop {
            let rest = self.rest();
            let end = rest.iter().position(|&b| b == b'\n');
            let text = rest.get(..end.unwrap_or(rest.len())).unwrap_or_default();
            // Inside `$( )` the delimiter may be followed by the closing parenthesis.
            if let (true, Some(len)) = (self.substitutions > 0 && line.is_empty(), closed_delimiter(text, pending)) {
                self.pos += len;
                self.unfinished.push((self.line, pending.line, pending.document.delimiter.clone()));
                return pending.document.delimiter.clone();
            }
            line.extend_from_slice(text);
            self.pos += text.len();
            if end.is_some() {
                self.bump();
            }
            let backslashes = text.iter().rev().take_while(|&&b| b == b'\\').count();
            if !joins || backslashes % 2 == 0 || end.is_none() {
                return line;
            }
            line.pop();
        }
    }
}

/// A body with a syntax error, which is reported when the body is expanded.
fn invalid_body(text: &[u8], error: &SyntaxError) -> Word {
    let op = Op::Invalid(Box::new(error.clone()));
    let param = Param { target: Target::Special(b'?'), index: Index::None, indirect: false, op, raw: text.into() };
    Word { parts: vec![Part::Param(Rc::new(param))], raw: text.into(), braces: false }
}

/// The length of the delimiter at the start of this line if a parenthesis follows it on the line.
fn closed_delimiter(text: &[u8], pending: &Pending) -> Option<usize> {
    let tabs = if pending.document.strip_tabs { text.iter().take_while(|&&b| b == b'\t').count() } else { 0 };
    let rest = text.get(tabs..)?.strip_prefix(&pending.document.delimiter[..])?;
    rest.contains(&b')').then(|| text.len() - rest.len())
}
