//! Subscripts of arrays.

use super::word::Stop;
use super::{Parse, Parser, arith};
use crate::ir::{Part, Subscript, Word};

impl Parser<'_> {
    /// `[..]` with its brackets; `None`, with nothing read, when it is empty.
    pub(super) fn subscript(&mut self) -> Parse<Option<Subscript>> {
        let (start, line) = (self.pos, self.line);
        self.pos += 1;
        match self.word_until(Stop::Bracket, false) {
            // An empty subscript is reported when something is assigned to it.
            Ok(key) if !key.raw.is_empty() || matches!(self.peek_at(1), Some(b'=' | b'+')) => {
                self.pos += 1;
                Ok(Some(self.subscript_of(key)))
            }
            Err(_) if self.peek().is_none() => Err(self.unclosed(b']', line)),
            _ => {
                self.pos = start;
                self.line = line;
                Ok(None)
            }
        }
    }

    /// A subscript from its text as a word.
    pub(super) fn subscript_of(&self, key: Word) -> Subscript {
        // Single quotes do not quote in an expression.
        let is_quoted = key.parts.iter().any(|part| matches!(part, Part::Quoted(_)));
        let has_quotes = key.raw.contains(&b'\'') && !key.raw.windows(2).any(|pair| pair == b"$'");
        let reads_again = is_quoted && has_quotes && !self.is_second_reading;
        match reads_again.then(|| arith::arith_of_source(&key.raw)).flatten() {
            Some(index) => Subscript { key, index, dynamic: false },
            None => subscript_of_parts(key),
        }
    }
}

/// A subscript from the parts of a word.
pub(super) fn subscript_of_parts(key: Word) -> Subscript {
    Subscript { index: arith::from_word(key.clone()), key, dynamic: false }
}

/// A subscript whose text has been expanded.
pub(crate) fn subscript_of_text(text: &[u8]) -> Subscript {
    Subscript {
        key: Word { parts: vec![Part::Quoted(text.to_vec())], raw: text.into(), braces: false },
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
    let literal = || Word { parts: vec![Part::Quoted(text.to_vec())], raw: text.into(), braces: false };
    let key = parser.whole_unquoted().unwrap_or_else(|_| literal());
    Subscript { dynamic: true, ..parser.subscript_of(key) }
}
