//! Subscripts of arrays.

use super::word::Stop;
use super::{Parse, Parser, arith};
use crate::ir::{Subscript, Word};

impl Parser<'_> {
    /// `[..]` with its brackets; `None`, with nothing read, when it is empty.
    pub(super) fn subscript(&mut self) -> Parse<Option<Subscript>> {
        let (start, line) = (self.pos, self.line);
        self.pos += 1;
        match self.word_until(Stop::Bracket, false) {
            // An empty subscript is reported when something is assigned to it.
            Ok(key) if !key.raw.is_empty() || matches!(self.peek_at(1), Some(b'=' | b'+')) => {
                self.pos += 1;
                Ok(Some(subscript_of(key)))
            }
            Err(_) if self.peek().is_none() => Err(self.unclosed(b']', line)),
            _ => {
                self.pos = start;
                self.line = line;
                Ok(None)
            }
        }
    }
}

/// A subscript from its text as a word.
pub(super) fn subscript_of(key: Word) -> Subscript {
    // Single quotes do not quote in an expression.
    let quotes = key.raw.contains(&b'\'') && !key.raw.windows(2).any(|pair| pair == b"$'");
    let plain = if quotes { arith::arith_of_source(&key.raw) } else { None };
    let index = plain.unwrap_or_else(|| arith::from_word(key.clone()));
    Subscript { key, index, dynamic: false }
}

/// A subscript whose text has been expanded.
pub(crate) fn subscript_of_text(text: &[u8]) -> Subscript {
    Subscript {
        key: Word { parts: vec![crate::ir::Part::Quoted(text.to_vec())], raw: text.into(), braces: false },
        index: subscript_from_text(text).index,
        dynamic: false,
    }
}

/// Parses a text as an unquoted word, if it is one.
pub(crate) fn word_from_text(text: &[u8]) -> Option<Word> {
    let mut parser = Parser::new(text, 1, std::rc::Rc::from(&b""[..]));
    let word = parser.whole_unquoted().ok()?;
    Some(Word { braces: super::word::may_brace(&word.parts), ..word })
}

/// Parses a subscript that was created at run time.
pub(crate) fn subscript_from_text(text: &[u8]) -> Subscript {
    let mut parser = Parser::new(text, 1, std::rc::Rc::from(&b""[..]));
    let literal = || Word { parts: vec![crate::ir::Part::Quoted(text.to_vec())], raw: text.into(), braces: false };
    Subscript { dynamic: true, ..subscript_of(parser.whole_unquoted().unwrap_or_else(|_| literal())) }
}
