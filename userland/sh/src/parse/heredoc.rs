//! Bodies of here-documents.

use std::rc::Rc;

use super::{Parse, Parser, Pending, Place, Problem, SyntaxError};
use crate::ir::{Broken, Bytes, Index, Op, Param, Part, Target, Word};

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

    /// Reads the bodies that wait behind whole commands and a token that does not belong there, or before a newline that does
    /// not, as bash does before it says so. Answers the line where it stands then; `None` when nothing waits.
    pub(crate) fn read_bodies_behind(&mut self, error: &SyntaxError) -> Option<u32> {
        let token =
            matches!(error.problem, Problem::Unexpected(_) | Problem::Near(_)) && error.place == Place::Commands;
        if !token || self.pending.is_empty() || !(self.behind_commands || self.peek() == Some(b'\n')) {
            return None;
        }
        while let Some(byte) = self.peek() {
            self.bump();
            if byte == b'\n' {
                break;
            }
        }
        // A mistake in a body is told when that is expanded, which it never is now.
        let _ = self.read_pending();
        Some(self.last_line())
    }

    fn read_body(&mut self, pending: Pending) -> Parse<()> {
        let first_line = self.line;
        let begins = first_line.saturating_sub(1).max(pending.line);
        let pending = Pending { line: begins, ..pending };
        let mut text = Bytes::new();
        loop {
            if self.peek().is_none() {
                self.unfinished.push((self.last_line(), begins, pending.document.delimiter.clone()));
                break;
            }
            let mut line = self.one_line(!pending.document.quoted, &pending);
            // Its end may have tabs of its own.
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
            let mut inner = self.inner(&text, first_line);
            match inner.whole_text() {
                Err(error) if matches!(error.problem, Problem::TooDeep) => return Err(error),
                Err(error) => broken(&text, error, first_line, inner),
                // It is printed as it stands.
                Ok(word) => Word { raw: text.as_slice().into(), ..word },
            }
        };
        // A placeholder is filled once; a second try would come from the same text read again, with the same result.
        let _ = pending.document.body.set(word);
        Ok(())
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
                self.cut_line = Some((self.line.saturating_add(self.recounted), self.pos));
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

/// A body with a mistake, which bash complains about when it is expanded.
fn broken(text: &[u8], error: SyntaxError, first_line: u32, inner: Parser<'_>) -> Word {
    let opened = |open: &[u8]| text.windows(open.len()).rposition(|window| window == open);
    let mut shown = text;
    let op = match (error.problem.clone(), inner.broken_from) {
        (_, Some(from)) if error.place == Place::Substitution => {
            let (before, rest) = text.split_at(from.min(text.len()));
            let newlines = before.iter().filter(|&&b| b == b'\n').count();
            let start = first_line.saturating_add(u32::try_from(newlines).unwrap_or(0));
            let skip = error.line.saturating_sub(start) as usize;
            let (from, skip) = match inner.cut_line {
                Some((line, at)) if line == error.line => (text.get(at..).unwrap_or_default(), 0),
                _ => (rest, skip),
            };
            let line = from.split(|&b| b == b'\n').nth(skip).unwrap_or_default();
            Op::Broken(Box::new(Broken { error, shown: line.to_vec(), start, unfinished: inner.unfinished }))
        }
        (Problem::Unclosed(b'`'), _) => {
            shown = opened(b"`").and_then(|at| text.get(at..)).unwrap_or(text);
            Op::Unclosed(b'`')
        }
        (Problem::Unclosed(close @ (b')' | b']')), _) => Op::Unclosed(close),
        _ => {
            let last = opened(b"${").and_then(|at| text.get(at + 2..)).unwrap_or_default();
            let operator = last.get(super::token::name_len(last)).is_some_and(|b| b":-=?+#%/^,@".contains(b));
            if operator { Op::Unclosed(b'}') } else { Op::Bad }
        }
    };
    let param = Param { target: Target::Special(b'?'), index: Index::None, indirect: false, op, raw: shown.into() };
    Word { parts: vec![Part::Param(Rc::new(param))], raw: text.into(), braces: false }
}

/// How long the delimiter at the start of this line is, when a parenthesis follows it on the line.
fn closed_delimiter(text: &[u8], pending: &Pending) -> Option<usize> {
    let tabs = if pending.document.strip_tabs { text.iter().take_while(|&&b| b == b'\t').count() } else { 0 };
    let rest = text.get(tabs..)?.strip_prefix(&pending.document.delimiter[..])?;
    rest.contains(&b')').then(|| text.len() - rest.len())
}
